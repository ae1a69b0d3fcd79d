/* Reservations that are suspended and resumed, by example. Fails if a reservation keeps
 * its place although it could begin sooner, or although another job took the place, if
 * it is seen while it is suspended, or if it is lost. Random streams of these
 * operations: src/sched/test/test_plan_random.c. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/machine/match_private.h"
#include "match/planner/bookings.h"
#include "match/planner/suspend.h"
#include "match/test/build.h"
#include "match/test/verify.h"

#define NODES 4

/* n0 to n3 of 4 cores. Job K runs on node K - 1 until 100 * K. */
struct rig {
    struct machine *g;
    struct matcher *m;
    struct match_request *node, *core, *two; /* nodes: 1, and 2 */
};

static struct match_request *request (const char *tree)
{
    struct error err;
    return build_request (tree, 0, NULL, &err);
}

static void setup (struct rig *k, const char *policy)
{
    struct rset *r;

    k->g = machine_create ("cluster");
    k->m = matcher_create (k->g, match_policy_find (policy));
    k->node = request ("node=1!>slot=1>core=1");
    k->two = request ("node=2!>slot=1>core=1");
    k->core = request ("slot=1>core=1");
    for (int i = 0; i < NODES; i++) {
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        struct machine_node_spec spec = { .name = name, .cores = 4 };
        machine_node_add (k->g, &spec, NULL);
    }
    for (uint64_t job = 1; job <= NODES; job++) {
        assert_int_equal (
            match_allocate (k->m, job, k->node, 0, 100.0 * (double)job, &r, NULL), 0);
        rset_destroy (r);
    }
}

static void teardown (struct rig *k)
{
    struct error why;

    if (planner_verify (k->m->p, &why) < 0)
        fail_msg ("%s", why.text);
    match_request_destroy (k->node);
    match_request_destroy (k->two);
    match_request_destroy (k->core);
    matcher_destroy (k->m);
    machine_destroy (k->g);
}

static void reserve (struct rig *k, uint64_t job, const struct match_request *req,
                     double duration, double wanted)
{
    double start = 0;
    int rc;

    while ((rc = match_reserve (k->m, job, req, 0, duration, &start, NULL))
           == -EINPROGRESS)
        assert_true (match_search_goes_on (k->m, job, 0));
    assert_int_equal (rc, 0);
    assert_true (start == wanted);
}

/* The result of match_resume(), and the start if there is a place. */
static void resume (struct rig *k, uint64_t job, const struct match_request *req,
                    double duration, int rc, double wanted)
{
    struct booking *b = booking_find (k->m->p, job);
    double start = b ? match_seconds (booking_start (b)) : 0;

    assert_int_equal (match_resume (k->m, job, req, 0, duration, &start), rc);
    assert_true ((booking_find (k->m->p, job) != NULL) == (rc >= 0));
    if (rc >= 0)
        assert_true (start == wanted);
}

/* This holds while nothing becomes free. */
static void test_stays (void **state)
{
    (void)state;
    struct rig k;
    setup (&k, "lonode");
    reserve (&k, 11, k.two, 50, 200);
    reserve (&k, 12, k.two, 500, 250);
    match_plan_made (k.m);
    match_suspend (k.m, 12);
    match_suspend (k.m, 11);
    resume (&k, 11, k.two, 50, 0, 200);
    resume (&k, 12, k.two, 500, 0, 250);
    assert_int_equal (match_cancel (k.m, 4), 0);
    match_suspend (k.m, 12);
    match_suspend (k.m, 11);
    resume (&k, 11, k.two, 50, 1, 100);
    resume (&k, 12, k.two, 500, 1, 150);
    teardown (&k);
}

static void test_sooner_and_now (void **state)
{
    (void)state;
    struct rig k;
    setup (&k, "lonode");
    reserve (&k, 11, k.node, 50, 100);
    reserve (&k, 12, k.node, 50, 150);
    match_plan_made (k.m);
    match_cancel (k.m, 3);
    match_suspend (k.m, 12);
    match_suspend (k.m, 11);
    resume (&k, 11, k.node, 50, -EAGAIN, 0);
    resume (&k, 12, k.node, 50, -EAGAIN, 0); /* the first job has no booking */
    teardown (&k);
}

/* Jobs that are booked meanwhile do not see it, and it gives way. */
static void test_taken (void **state)
{
    (void)state;
    struct rig k;
    setup (&k, "lonode");
    reserve (&k, 11, k.node, 50, 100);
    reserve (&k, 12, k.node, 50, 150);
    reserve (&k, 13, k.core, 50, 200);
    match_plan_made (k.m);
    for (uint64_t job = 13; job >= 11; job--)
        match_suspend (k.m, job);
    reserve (&k, 20, k.node, 30, 100);
    resume (&k, 11, k.node, 50, 1, 130);
    resume (&k, 12, k.node, 50, 1, 180);
    resume (&k, 13, k.core, 50, 1, 200); /* on another node */
    teardown (&k);
}

/* Its claims are out of the lists while many matches run; then it and its
 * nodes may vanish. */
static void test_goes_meanwhile (void **state)
{
    (void)state;
    struct rig k;
    setup (&k, "lonode");
    reserve (&k, 11, k.node, 50, 100);
    reserve (&k, 12, k.node, 50, 150);
    reserve (&k, 13, k.two, 50, 200);
    match_plan_made (k.m);
    match_cancel (k.m, 1);
    for (uint64_t job = 13; job >= 11; job--)
        match_suspend (k.m, job);
    resume (&k, 11, k.node, 50, -EAGAIN, 0);
    assert_true (booking_find (k.m->p, 13)->unlisted);
    assert_int_equal (match_cancel (k.m, 12), 0);
    machine_node_remove (k.g, 0);
    resume (&k, 13, k.two, 50, 1, 300);
    assert_int_equal (match_cancel (k.m, 13), 0);
    assert_int_equal (planner_count (k.m->p), NODES - 1);
    teardown (&k);
}

/* If the order of the nodes depends on free amounts, the search starts again. */
static void test_other_policies (void **state)
{
    (void)state;
    struct rig k;
    setup (&k, "bestfit");
    reserve (&k, 11, k.node, 50, 100);
    match_plan_made (k.m);
    match_suspend (k.m, 11);
    resume (&k, 11, k.node, 50, 1, 100);
    teardown (&k);
}

/* A job without a possible time. */
static void test_no_time (void **state)
{
    (void)state;
    struct rig k;
    double start = 7;
    setup (&k, "lonode");
    match_plan_made (k.m);
    assert_int_equal (match_resume (k.m, 11, k.core, 0, 50, &start), 0);
    assert_true (start == 7);
    match_cancel (k.m, 1);
    assert_int_equal (match_resume (k.m, 11, k.core, 0, 50, &start), -EBUSY);
    teardown (&k);
}

/* -- searches in steps -- */

/* Jobs 11 to 18 have two cores each, two of them on a node: n2 is free from 400 on, n3
 * from 600, n1 from 900. Job 10 requests three cores on each of two nodes: in total
 * there are enough from 300 on. */
static void fill_by_halves (struct rig *k)
{
    static const double ends[2 * NODES] = { 100, 1000, 200, 900, 300, 400, 500, 600 };
    struct match_request *half = request ("node=1>slot=1>core=2");
    struct rset *r;

    for (uint64_t job = 1; job <= NODES; job++)
        assert_int_equal (match_cancel (k->m, job), 0);
    for (uint64_t i = 0; i < 2 * NODES; i++) {
        assert_int_equal (match_allocate (k->m, 11 + i, half, 0, ends[i], &r, NULL), 0);
        rset_destroy (r);
    }
    match_request_destroy (half);
    match_request_destroy (k->two);
    k->two = request ("node=2>slot=1>core=3");
}

/* The window that begins at 400, and no other. */
static void begin_search (struct rig *k)
{
    double start = 0;

    setup (k, "lonode");
    fill_by_halves (k);
    match_search_in_pieces (k->m, 1);
    assert_int_equal (match_reserve (k->m, 10, k->two, 0, 50, &start, NULL),
                      -EINPROGRESS);
    assert_null (booking_find (k->m->p, 10));
    assert_true (match_search_goes_on (k->m, 10, 0));
    assert_false (match_search_goes_on (k->m, 9, 0));
    assert_false (match_search_goes_on (k->m, 10, 650)); /* it would go on at 600 */
}

static void test_search_goes_on (void **state)
{
    (void)state;
    struct rig k;

    begin_search (&k);
    reserve (&k, 10, k.two, 50, 600);
    assert_false (match_search_goes_on (k.m, 10, 0));
    teardown (&k);
}

/* Freed resources may be useful in a window that the search has passed. */
static void test_search_begins_again (void **state)
{
    (void)state;
    struct rig k;

    begin_search (&k);
    assert_int_equal (match_cancel (k.m, 17), 0);
    assert_int_equal (match_cancel (k.m, 18), 0);
    assert_false (match_search_goes_on (k.m, 10, 0));
    reserve (&k, 10, k.two, 50, 400);
    teardown (&k);
}

static void test_search_is_of_one_request (void **state)
{
    (void)state;
    struct rig k;

    begin_search (&k);
    match_search_forget (k.m, 10); /* the job has another request now */
    reserve (&k, 10, k.node, 50, 400);
    teardown (&k);
}

/* However often something becomes free: steps grow, and the search ends. */
static void test_search_ends (void **state)
{
    (void)state;
    struct rig k;
    double start = 0;
    unsigned n = 0;

    begin_search (&k);
    do {
        planner_changed (k.m->p, GRAPH_NONE);
        assert_true (++n < 20);
    } while (match_reserve (k.m, 10, k.two, 0, 50, &start, NULL) == -EINPROGRESS);
    assert_true (n > 1);
    assert_true (start == 600);
    teardown (&k);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_stays),
        cmocka_unit_test (test_sooner_and_now),
        cmocka_unit_test (test_taken),
        cmocka_unit_test (test_goes_meanwhile),
        cmocka_unit_test (test_other_policies),
        cmocka_unit_test (test_no_time),
        cmocka_unit_test (test_search_goes_on),
        cmocka_unit_test (test_search_begins_again),
        cmocka_unit_test (test_search_is_of_one_request),
        cmocka_unit_test (test_search_ends),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

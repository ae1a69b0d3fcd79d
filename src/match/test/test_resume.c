/* Reservations that are set aside and resumed, by example. What would be wrong: one that keeps
 * its place though it could begin sooner, or though somebody took it; one that is seen while
 * it is suspended; one that is lost. Random streams of all this: src/sched/test/
 * test_plan_random.c. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/match_private.h"
#include "match/planner_private.h"
#include "match/test/build.h"

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

    assert_int_equal (match_reserve (k->m, job, req, 0, duration, &start, NULL), 0);
    assert_true (start == wanted);
}

/* -> what match_resume() says; when it has a place, at that time. */
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

/* As long as nothing became free. */
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
    resume (&k, 12, k.node, 50, -EAGAIN, 0); /* nothing was booked for the first one */
    teardown (&k);
}

/* Whoever is booked meanwhile does not see it, and it makes way. */
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

/* Its claims are out of the lists while many matches come; it may go then, and its nodes. */
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
    assert_true (booking_find (k.m->p, 13)->away);
    assert_int_equal (match_cancel (k.m, 12), 0);
    machine_node_remove (k.g, 0);
    resume (&k, 13, k.two, 50, 1, 300);
    assert_int_equal (match_cancel (k.m, 13), 0);
    assert_int_equal (match_job_count (k.m), NODES - 1);
    teardown (&k);
}

/* Where the order of the nodes depends on what is free all is looked for again. */
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

/* A job for which there was no time. */
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

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_stays),          cmocka_unit_test (test_sooner_and_now),
        cmocka_unit_test (test_taken),          cmocka_unit_test (test_goes_meanwhile),
        cmocka_unit_test (test_other_policies), cmocka_unit_test (test_no_time),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

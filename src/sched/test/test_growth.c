/* Nodes that do not exist and that a pending job lacks. Fails if there are more than the
 * job needs or than can be made, if a node counts for two jobs, if nodes are requested
 * although nodes of the machine are free sooner, or if the real machine changes. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "match/machine/match_private.h"
#include "match/test/build.h"
#include "sched/growth.h"
#include "sched/sched.h"

#define NOW 1000.0
#define NREQ 8

struct fixture {
    struct machine *g; /* n0, n1: 4 cores, 4,096 MiB */
    struct matcher *m;
    struct growth_kind kinds[2]; /* spot: 4 nodes of 8 cores; big: 2 of 16 with gpus */
    struct match_request *reqs[NREQ];
    size_t nreqs;
    struct rset *running[2];
    size_t nrunning;
    struct growth *x;
};

static const struct machine_node_spec spot = { .cores = 8, .memory_mib = 8192 };
static const struct machine_node_spec big = { .cores = 16,
                                              .gpus = 2,
                                              .memory_mib = 8192 };

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));

    f->g = machine_create ("cluster");
    f->m = matcher_create (f->g, match_policy_find ("lonode"));
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        struct machine_node_spec spec = { .name = name, .cores = 4, .memory_mib = 4096 };
        assert_true (machine_node_add (f->g, &spec, NULL) >= 0);
    }
    f->kinds[0] = (struct growth_kind){ &spot, 4, 60 };
    f->kinds[1] = (struct growth_kind){ &big, 2, 60 };
    *state = f;
    return 0;
}

static int teardown (void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < f->nreqs; i++)
        match_request_destroy (f->reqs[i]);
    for (size_t i = 0; i < f->nrunning; i++)
        rset_destroy (f->running[i]);
    growth_destroy (f->x);
    matcher_destroy (f->m);
    machine_destroy (f->g);
    free (f);
    return 0;
}

static const struct match_request *request (struct fixture *f, const char *text)
{
    struct error err;

    assert_true (f->nreqs < NREQ);
    f->reqs[f->nreqs] = build_request (text, 0, NULL, &err);
    assert_non_null (f->reqs[f->nreqs]);
    return f->reqs[f->nreqs++];
}

/* A job that runs on the real machine from NOW on. */
static void run (struct fixture *f, uint64_t id, const char *text, double duration)
{
    assert_int_equal (match_allocate (f->m, id, request (f, text), NOW, duration,
                                      &f->running[f->nrunning], NULL),
                      0);
    f->nrunning++;
}

static void model (struct fixture *f, bool as_it_is)
{
    f->x = growth_create (f->g, f->m, match_policy_find ("lonode"), f->kinds, 2, as_it_is,
                          NOW);
    assert_non_null (f->x);
    for (size_t i = 0; as_it_is && i < f->nrunning; i++)
        assert_int_equal (growth_run (f->x, i + 1, f->running[i]), 0);
}

/* "0:3x8+0": three nodes of kind 0, with 8 cores and no GPU on each; "": the job starts
 * now; "-": it waits, but lacks no node. */
static void plan (struct fixture *f, uint64_t id, const char *text, const char *expected)
{
    struct growth_job job = { id, request (f, text), 100 };
    struct growth_need needs[2] = { 0 };
    char got[100] = "";
    size_t len = 0;
    bool waits;
    int n = growth_plan (f->x, &job, NOW, needs, &waits);

    assert_true (n >= 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal (needs[i].job, id);
        len += (size_t)snprintf (got + len, sizeof (got) - len, "%s%zu:%ux%u+%u",
                                 i ? " " : "", needs[i].kind, needs[i].nodes,
                                 needs[i].cores, needs[i].gpus);
    }
    if (n == 0 && waits)
        snprintf (got, sizeof (got), "-");
    assert_string_equal (got, expected);
}

static void test_exactly_what_lacks (void **state)
{
    struct fixture *f = *state;

    model (f, true);
    plan (f, 10, "node=3>slot=1>core=8", "0:3x8+0");
}

/* Nodes of the machine are used first. */
static void test_beside_what_there_is (void **state)
{
    struct fixture *f = *state;

    model (f, true);
    plan (f, 10, "node=3>slot=1>core=2", "0:1x2+0");
}

static void test_fits (void **state)
{
    struct fixture *f = *state;

    model (f, true);
    plan (f, 10, "node=2>slot=1>core=4", "");
}

static void test_no_node_twice (void **state)
{
    struct fixture *f = *state;

    model (f, true);
    plan (f, 10, "node=3>slot=1>core=8", "0:3x8+0");
    plan (f, 11, "node=2>slot=1>core=8", "0:1x8+0 1:1x8+0");
    plan (f, 12, "node=2>slot=1>core=8", "1:1x8+0"); /* one is still half free */
    plan (f, 13, "node=2>slot=1>core=8", "-");
}

/* Part of a requested node is free: the next job uses it. */
static void test_shares_what_was_asked_for (void **state)
{
    struct fixture *f = *state;

    run (f, 1, "node=2>slot=1>core=4", 0);
    model (f, true);
    plan (f, 10, "node=1>slot=1>core=5", "0:1x5+0");
    plan (f, 11, "node=1!>slot=1>core=5", "0:1x8+0"); /* not shared */
    plan (f, 12, "node=1>slot=1>core=3", "-");
}

/* The job could start as soon with nodes of either kind, or sooner with the second. */
static void test_sooner_is_better (void **state)
{
    struct fixture *f = *state;

    f->kinds[1].delay = 30;
    model (f, true);
    plan (f, 10, "node=1>slot=1>core=5", "1:1x5+0");
}

/* New nodes would be idle until the running jobs have ended. */
static void test_waits_for_others_besides (void **state)
{
    struct fixture *f = *state;

    run (f, 1, "node=2>slot=1>core=4", 600);
    model (f, true);
    plan (f, 10, "node=7>slot=1>core=4", "-");
}

static void test_later_kind_for_what_only_it_has (void **state)
{
    struct fixture *f = *state;

    model (f, true);
    plan (f, 10, "node=2>slot=1>(core=1,gpu=1)", "1:2x1+1");
    plan (f, 11, "node=1>slot=1>(core=1,gpu=2)", "-");
}

static void test_never_above_what_is_possible (void **state)
{
    struct fixture *f = *state;

    model (f, true);
    plan (f, 10, "node=7>slot=1>core=8", "-");
    plan (f, 11, "node=6>slot=1>core=8", "0:4x8+0 1:2x8+0");
}

static void test_none_possible (void **state)
{
    struct fixture *f = *state;

    f->kinds[0].possible = f->kinds[1].possible = 0;
    model (f, true);
    plan (f, 10, "node=1>slot=1>core=8", "-");
    plan (f, 11, "node=1>slot=1>core=4", "");
}

/* Both nodes are free 50 s from now, before new ones would be there. */
static void test_waits_for_what_is_free_soon (void **state)
{
    struct fixture *f = *state;

    run (f, 1, "node=2>slot=1>core=4", 50);
    model (f, true);
    plan (f, 10, "node=1>slot=1>core=4", "-");
    plan (f, 11, "node=2>slot=1>core=4", "0:1x4+0"); /* the first job has one of them */
}

static void test_does_not_wait_for_what_is_free_late (void **state)
{
    struct fixture *f = *state;

    run (f, 1, "node=2>slot=1>core=4", 61);
    model (f, true);
    plan (f, 10, "node=1>slot=1>core=4", "0:1x4+0");
}

/* Nodes that are down or reserved do not count. */
static void test_down_and_windows (void **state)
{
    struct fixture *f = *state;
    struct hostlist *nodes = hostlist_decode ("n1", HOSTLIST_MAX, NULL);

    machine_node_set_state (f->g, machine_node_find (f->g, "n0"), MACHINE_NODE_DOWN, "x");
    assert_int_equal (
        match_window_book (f->m, MATCH_WINDOW_FIRST, "resv", nodes, NOW + 50, NOW + 500),
        0);
    model (f, true);
    plan (f, 10, "node=1>slot=1>core=4", "0:1x4+0");
    hostlist_destroy (nodes);
}

static void test_strangers (void **state)
{
    struct fixture *f = *state;

    machine_node_set_foreign (f->g, machine_node_find (f->g, "n0"), 1, 0, 0, NULL);
    model (f, true);
    plan (f, 10, "node=2>slot=1>core=4", "0:1x4+0");
}

static void test_could_run (void **state)
{
    struct fixture *f = *state;
    struct error why = { 0 };

    run (f, 1, "node=2>slot=1>core=4", 0);
    model (f, false);
    assert_int_equal (growth_could_run (f->x, request (f, "node=8>slot=1>core=4"), &why),
                      0);
    assert_int_equal (growth_could_run (f->x, request (f, "node=9>slot=1>core=4"), &why),
                      -ENOENT);
    assert_true (why.text[0]);
}

/* More nodes than can be made: the number is bounded, and further jobs get none. */
static void test_at_the_bound (void **state)
{
    struct fixture *f = *state;

    f->kinds[0].possible = UINT32_MAX;
    f->kinds[1].possible = 0;
    model (f, true);
    plan (f, 10, "node=10000>slot=1>core=8", "0:10000x8+0");
    plan (f, 11, "node=1>slot=1>core=8", "-");
}

/* The real machine is unchanged: the same jobs fit as before. */
static void test_machine_is_left_alone (void **state)
{
    struct fixture *f = *state;
    uint64_t generation = match_generation (f->m), layout = match_layout (f->m);

    model (f, true);
    plan (f, 10, "node=4>slot=1>core=8", "0:4x8+0");
    assert_int_equal (match_generation (f->m), generation);
    assert_int_equal (match_layout (f->m), layout);
    assert_int_equal (machine_node_count (f->g), 2);
    assert_int_equal (planner_count (f->m->p), 0);
}

/* The queue reports its first jobs, in its order. */
static void test_front (void **state)
{
    struct fixture *f = *state;
    struct sched *s = sched_create (f->m, queue_policy_find ("easy"), 0);
    const struct match_request *req = request (f, "node=9>slot=1>core=8");
    const struct sched_entry *front[2];

    sched_queue_set (s, 0, true);
    for (uint64_t id = 1; id <= 4; id++) {
        struct sched_entry e = { .id = id,
                                 .priority = id == 3 ? 9 : 1,
                                 .held = id == 1,
                                 .duration = (double)id,
                                 .req = req };
        assert_int_equal (sched_enqueue (s, &e), 0);
    }
    assert_int_equal (sched_front (s, front, 2), 2);
    assert_int_equal (front[0]->id, 3);
    assert_int_equal (front[1]->id, 2);
    assert_ptr_equal (front[0]->req, req);
    assert_true (front[1]->duration == 2);
    sched_destroy (s);
}

int main (void)
{
#define CASE(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE (test_exactly_what_lacks),
        CASE (test_beside_what_there_is),
        CASE (test_fits),
        CASE (test_no_node_twice),
        CASE (test_shares_what_was_asked_for),
        CASE (test_sooner_is_better),
        CASE (test_waits_for_others_besides),
        CASE (test_later_kind_for_what_only_it_has),
        CASE (test_never_above_what_is_possible),
        CASE (test_none_possible),
        CASE (test_waits_for_what_is_free_soon),
        CASE (test_does_not_wait_for_what_is_free_late),
        CASE (test_down_and_windows),
        CASE (test_strangers),
        CASE (test_could_run),
        CASE (test_at_the_bound),
        CASE (test_machine_is_left_alone),
        CASE (test_front),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* The time at which a request fits. Fails if a fitting time is not found, or if a
 * wrong time is found. */
#include "match/test/machine_test.h"

#include <errno.h>

#include "match/planner/planner_state.h"
#include "match/search/search.h"

#define NODE0 "/cluster0/rack0/node0"
#define NODE1 "/cluster0/rack0/node1"

/* -- matching over time -- */

static int match (struct planner *p, enum search_op op, uint64_t job,
                  const struct shape *s, int64_t now, int64_t duration, int64_t *start)
{
    struct selection *sel = NULL;
    struct error err = { 0 };
    int rc = search_match (p, op, job, s, now, duration, &sel, &err);

    if (start)
        *start = sel ? sel->start : -1;
    assert_true (rc == 0 || err.text[0]);
    selection_destroy (sel);
    return rc;
}

#define ORELSE SEARCH_ALLOCATE_ORELSE_RESERVE

static void test_earliest_time (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    struct shape *core3 = machine_shape ("{type: slot, count: 1, label: a, with: "
                                         "[{type: core, count: 3}]}");
    struct shape *node2 = machine_shape ("{type: slot, count: 2, label: a, with: "
                                         "[{type: node, count: 1}]}");
    struct shape *core5 = machine_shape ("{type: slot, count: 1, label: a, with: "
                                         "[{type: core, count: 5}]}");
    struct planner_job job;
    int64_t at;

    assert_int_equal (match (p, ORELSE, 1, core3, 0, 100, &at), 0);
    assert_int_equal (at, 0);
    assert_int_equal (match (p, ORELSE, 2, core3, 0, 50, &at), 0);
    assert_int_equal (at, 0);
    assert_int_equal (match (p, SEARCH_ALLOCATE, 3, core3, 0, 50, &at), -EBUSY);
    assert_int_equal (match (p, SEARCH_ALLOCATE, 1, core3, 0, 50, &at), -EEXIST);
    assert_int_equal (match (p, ORELSE, 3, node2, 0, 10, &at), 0);
    assert_int_equal (at, 100);
    assert_int_equal (match (p, ORELSE, 4, core3, 0, 50, &at), 0);
    assert_int_equal (at, 50); /* before job 3 */
    assert_int_equal (match (p, ORELSE, 5, core3, 0, 51, &at), 0);
    assert_int_equal (at, 110); /* after job 3 */
    assert_true (planner_find (p, 5, &job));
    assert_true (job.reserved);
    assert_int_equal (job.end, 161);
    machine_verify (p);
    assert_int_equal (match (p, ORELSE, 6, core5, 0, 5, &at), -ENODEV);
    assert_int_equal (match (p, SEARCH_ALLOCATE, 6, core5, 0, 5, &at), -EBUSY);
    assert_int_equal (
        match (p, SEARCH_ALLOCATE_WITH_SATISFIABILITY, 6, core5, 0, 5, &at), -ENODEV);
    assert_int_equal (
        match (p, SEARCH_ALLOCATE_WITH_SATISFIABILITY, 6, node2, 0, 5, &at), -EBUSY);
    assert_int_equal (match (p, SEARCH_SATISFIABILITY, 1, node2, 0, 5, &at), 0);
    assert_int_equal (at, -1);
    assert_int_equal (match (p, SEARCH_SATISFIABILITY, 1, core5, 0, 5, &at), -ENODEV);
    assert_int_equal (planner_count (p), 5);
    assert_int_equal (match (p, SEARCH_WITHOUT_ALLOCATING_FUTURE, 1, node2, 0, 5, &at),
                      0);
    assert_int_equal (at, 161);
    assert_int_equal (match (p, SEARCH_WITHOUT_ALLOCATING, 1, node2, 0, 5, &at), -EBUSY);
    assert_int_equal (planner_count (p), 5);
    shape_destroy (core3);
    shape_destroy (core5);
    shape_destroy (node2);
    machine_done (p);
}

/* One booking ends as another begins: the sums stay the same, but a request fits then. */
static void test_time_that_no_sum_tells (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    uint32_t gpu = machine_find (p->g, NODE1 "/gpu0");
    struct shape *s =
        machine_shape ("{type: node, count: 1, with: [{type: slot, count: 1, "
                       "label: a, with: [{type: core, count: 4}, {type: "
                       "gpu, count: 2}]}]}");
    struct error err = { 0 };
    int64_t at;

    assert_int_equal (graph_remove (p->g, gpu, &err), 0);
    planner_changed (p, GRAPH_NONE);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 4, 0, 0, 70), 0);
    assert_int_equal (machine_book (p, 2, true, NODE1 "/core0", 4, 0, 70, 200), 0);
    assert_int_equal (match (p, ORELSE, 3, s, 0, 10, &at), 0);
    assert_int_equal (at, 70);
    shape_destroy (s);
    machine_done (p);
}

/* A late job: the plan assumes that it ends at once. */
static void test_late_job (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    struct shape *node = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: node, count: 1}]}");
    int64_t at;

    assert_int_equal (match (p, ORELSE, 1, node, 0, 10, &at), 0);
    assert_int_equal (match (p, ORELSE, 2, node, 20, 10, &at), 0);
    assert_int_equal (at, 21);
    assert_int_equal (match (p, ORELSE, 3, node, 20, 10, &at), 0);
    assert_int_equal (at, 31);
    machine_verify (p);
    shape_destroy (node);
    machine_done (p);
}

/* A booking without an end never ends. */
static void test_forever (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    struct shape *node = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: node, count: 1}]}");
    int64_t at;

    assert_int_equal (match (p, ORELSE, 1, node, 0, PLANNER_FOREVER, &at), 0);
    assert_int_equal (match (p, ORELSE, 2, node, 0, 1000, &at), 0);
    assert_int_equal (match (p, ORELSE, 3, node, 0, PLANNER_FOREVER, &at), 0);
    assert_int_equal (at, 1000);
    assert_int_equal (match (p, ORELSE, 4, node, 0, 1, &at), -EBUSY);
    assert_int_equal (match (p, SEARCH_ALLOCATE_WITH_SATISFIABILITY, 4, node, 0, 5, &at),
                      -EBUSY);
    machine_verify (p);
    shape_destroy (node);
    machine_done (p);
}

/* Down nodes are skipped now and later, but count for satisfiability. */
static void test_down_nodes (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    uint32_t n0 = machine_find (p->g, NODE0);
    struct shape *node2 = machine_shape ("{type: slot, count: 2, label: a, with: "
                                         "[{type: node, count: 1}]}");
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 3}]}");
    int64_t at;

    graph_set_flag (p->g, n0, 0, GRAPH_DOWN, true);
    planner_changed (p, n0);
    assert_int_equal (match (p, ORELSE, 1, core, 0, 10, &at), 0);
    assert_true (planner_has (p, 1, machine_find (p->g, NODE1), 0, true));
    assert_int_equal (match (p, ORELSE, 2, core, 0, 10, &at), 0);
    assert_int_equal (at, 10);
    assert_int_equal (match (p, ORELSE, 3, node2, 0, 10, &at), -EBUSY);
    assert_int_equal (match (p, SEARCH_SATISFIABILITY, 3, node2, 0, 10, &at), 0);
    assert_int_equal (
        match (p, SEARCH_ALLOCATE_WITH_SATISFIABILITY, 3, node2, 0, 10, &at), -EBUSY);
    assert_int_equal (
        match (p, SEARCH_ALLOCATE_WITH_SATISFIABILITY, 3, core, 0, 10, &at), -EBUSY);
    graph_set_flag (p->g, n0, 0, GRAPH_DOWN, false);
    planner_changed (p, n0);
    assert_int_equal (match (p, ORELSE, 3, node2, 0, 10, &at), 0);
    assert_int_equal (at, 20);
    machine_verify (p);
    shape_destroy (node2);
    shape_destroy (core);
    machine_done (p);
}

/* Jobs that share nodes: a node that one of them leaves is not whole yet, and the plan
 * must find the time when it is. */
static void test_shared_nodes_and_whole_ones (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 1}]}");
    struct shape *node2 = machine_shape ("{type: slot, count: 2, label: a, with: "
                                         "[{type: node, count: 1}]}");
    int64_t at;

    for (uint64_t i = 1; i <= 8; i++)
        assert_int_equal (match (p, ORELSE, i, core, 0, 10 * (int64_t)i, &at), 0);
    machine_verify (p);
    assert_int_equal (match (p, ORELSE, 9, node2, 0, 10, &at), 0);
    assert_int_equal (at, 80);
    for (uint64_t i = 1; i <= 7; i++) {
        assert_int_equal (planner_cancel (p, i), 0);
        machine_verify (p);
    }
    assert_int_equal (match (p, ORELSE, 10, node2, 0, 80, &at), 0);
    assert_int_equal (at, 90);
    shape_destroy (core);
    shape_destroy (node2);
    machine_done (p);
}

/* xor_slots: at each time the variants are tried in turn. */
static void test_variants (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    struct shape *s = machine_shape (
        "{type: node, count: 1, with: [{type: xor_slot, count: 1, label: a, "
        "with: [{type: core, count: 4}]}, {type: xor_slot, count: 1, label: "
        "b, with: [{type: gpu, count: 2}]}]}");
    int64_t at;

    assert_non_null (s->other);
    assert_int_equal (match (p, ORELSE, 1, s, 0, 10, &at), 0);
    assert_int_equal (match (p, ORELSE, 2, s, 0, 20, &at), 0);
    assert_int_equal (at, 0);
    assert_true (planner_has (p, 2, machine_find (p->g, NODE0 "/gpu0"), 1, false)
                 != planner_has (p, 1, machine_find (p->g, NODE0 "/gpu0"), 1, false));
    assert_int_equal (match (p, ORELSE, 3, s, 0, 5, &at), 0);
    assert_int_equal (at, 10);
    machine_verify (p);
    shape_destroy (s);
    machine_done (p);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_earliest_time),
        cmocka_unit_test (test_time_that_no_sum_tells),
        cmocka_unit_test (test_late_job),
        cmocka_unit_test (test_forever),
        cmocka_unit_test (test_down_nodes),
        cmocka_unit_test (test_shared_nodes_and_whole_ones),
        cmocka_unit_test (test_variants),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

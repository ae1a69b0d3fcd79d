/* Each allocation of the planner fails in turn. Fails on a crash, on a leak (ASan), if
 * a job is booked in part, or if sums no longer match the bookings.
 *
 * Linked with --wrap for malloc and related functions, so that only allocations of src/
 * fail.
 */
#include "match/test/machine_test.h"

#include <errno.h>

#include "common/test/torture.h"
#include "match/planner/levels.h"
#include "match/search/search.h"

/* The input of a step, made again for each try, and the required state after it. */
struct world {
    struct graph *g;
    struct planner *p;
    struct selection *some, *other;
    struct shape *shape;
    size_t count; /* jobs */
};

static void world_make (struct world *w)
{
    const struct planner_options opt = { 0 };

    *w = (struct world){ .g = machine_of (2, 2) };
    w->p = planner_create (w->g, match_policy_find ("low"), &opt);
    w->shape =
        machine_shape ("{type: slot, count: 2, label: a, with: [{type: core, count: "
                       "3}]}");
    for (uint64_t job = 1; job <= 16; job++) { /* as many as fit at once */
        char path[64];
        snprintf (path, sizeof (path), "/cluster0/rack0/node0/core%d", (int)job % 4);
        assert_int_equal (machine_book (w->p, job, true, path, 1, 0, (int64_t)job * 10,
                                        (int64_t)job * 10 + 7),
                          0);
    }
    assert_int_equal (machine_book (w->p, 20, false, "/cluster0/rack1", 1, 0, 0, 50), 0);
    w->some = selection_create ();
    machine_pick (w->some, w->g, "/cluster0/rack0/node1", 1, 0);
    machine_pick (w->some, w->g, "/cluster0/rack0/node0/memory0", 1, 3);
    machine_pick (w->some, w->g, "/cluster0/rack0/node0/gpu0", 2, 0);
    w->some->end = 9;
    w->other = machine_select (w->g, "/cluster0/rack1/node2/core1", 2, 0, 0, 0);
    w->count = planner_count (w->p);
}

static void world_destroy (struct world *w)
{
    planner_destroy (w->p);
    selection_destroy (w->some);
    selection_destroy (w->other);
    shape_destroy (w->shape);
    graph_destroy (w->g);
}

/* Lets the first, the second, ... allocation of the step fail, until the step needs
 * fewer. The step returns 0 or -ENOMEM, and then the number of jobs is unchanged. */
static void torture (void (*before) (struct world *w), int (*step) (struct world *w),
                     long least)
{
    long n = 0;

    for (bool reached = true; reached; n++) {
        struct world w;
        world_make (&w);
        if (before)
            before (&w);
        torture_countdown = n;
        int rc = step (&w);
        reached = torture_countdown < 0;
        torture_countdown = -1;
        assert_true (rc == 0 || rc == -ENOMEM);
        if (rc == -ENOMEM)
            assert_int_equal (planner_count (w.p), w.count);
        machine_verify (w.p);
        assert_int_equal (levels_update (w.p), 0);
        machine_verify (w.p);
        world_destroy (&w);
    }
    assert_true (n > least);
}

static void make_levels (struct world *w)
{
    assert_int_equal (levels_update (w->p), 0);
}

static int step_levels (struct world *w)
{
    return levels_update (w->p);
}

/* Nodes come, between others and behind all. */
static int step_nodes (struct world *w)
{
    for (int i = 0; i < 40; i++) {
        struct graph_spec spec = {
            .type = "node", .id = 100 - i, .rank = -1, .uniq = -1
        };
        planner_begin_change (w->p, GRAPH_NONE);
        uint32_t node = graph_add (w->p->g, w->p->g->root, &spec, NULL);
        planner_end_change (w->p, node);
        if (node == GRAPH_NONE)
            return -ENOMEM;
    }
    return levels_update (w->p);
}

static int step_update (struct world *w)
{
    return planner_update (w->p, 30, w->some, false, NULL);
}

/* No room for another claim. */
static void fill (struct world *w)
{
    make_levels (w);
    for (int64_t t = 1000; w->p->claims_live < w->p->claims_alloc; t++, w->count++)
        assert_int_equal (machine_book (w->p, (uint64_t)t, true,
                                        "/cluster0/rack0/node1/core0", 1, 0, t, t + 1),
                          0);
}

static int step_part (struct world *w)
{
    bool empty;

    return planner_cancel_part (w->p, 20, w->other, &empty);
}

static int step_match (struct world *w)
{
    struct selection *s = NULL;
    int rc = search_match (w->p, SEARCH_ALLOCATE, 30, w->shape, 0, 5, &s, NULL);

    assert_true ((rc == 0) == (s != NULL));
    selection_destroy (s);
    return rc;
}

/* Nodes with a further parent, and a request that reaches them through it. */
static void share_nodes (struct world *w, const char *request)
{
    uint32_t pool = machine_add (w->g, w->g->root, "pool", 0, 1, 1, 0);

    machine_add (w->g, pool, "licence", 0, 1, 1, 0);
    for (int i = 1; i <= 3; i++) {
        char path[64];
        snprintf (path, sizeof (path), "/cluster0/rack%d/node%d", i / 2, i);
        assert_int_equal (
            graph_associate (w->g, pool, machine_find (w->g, path), NULL, NULL), 0);
    }
    planner_changed (w->p, GRAPH_NONE);
    shape_destroy (w->shape);
    w->shape = machine_shape (request);
    make_levels (w);
}

static void share_parts (struct world *w)
{
    share_nodes (w, "{type: pool, count: 1, with: [{type: node, count: 1, with: [{type: "
                    "core, count: 2, exclusive: true}]}]}");
}

static void share_whole (struct world *w)
{
    share_nodes (w, "{type: pool, count: 1, exclusive: true}");
    assert_int_equal (planner_cancel (w->p, 20), 0);
    w->count--;
}

static int step_reserve (struct world *w)
{
    return search_match (w->p, SEARCH_ALLOCATE_ORELSE_RESERVE, 30, w->shape, 0, 50, NULL,
                         NULL);
}

/* Operations that cannot fail: they succeed without memory. */
static int step_cancel (struct world *w)
{
    assert_int_equal (planner_extend (w->p, 16, 199, NULL), 0);
    assert_int_equal (planner_cancel (w->p, 20), 0);
    return 0;
}

static int step_selection (struct world *w)
{
    struct selection *s = planner_selection (w->p, 20);
    int rc = s ? 0 : -ENOMEM;

    selection_destroy (s);
    return rc;
}

static int step_track (struct world *w)
{
    return planner_track (w->p, "rack");
}

static int step_create (struct world *w)
{
    const struct planner_options opt = { 0 };
    struct graph *g = w->g;

    planner_destroy (w->p);
    w->p = planner_create (g, match_policy_find ("low"), &opt);
    if (w->p)
        return 0;
    torture_countdown = -1;
    w->p = planner_create (g, match_policy_find ("low"), &opt);
    torture_countdown = -2;
    w->count = 0;
    return -ENOMEM;
}

static void test_levels (void **state)
{
    (void)state;
    torture (NULL, step_levels, 5);
    torture (make_levels, step_nodes, 5);
}

static void test_update (void **state)
{
    (void)state;
    torture (NULL, step_update, 1);
    torture (make_levels, step_update, 1);
}

static void test_part (void **state)
{
    (void)state;
    torture (fill, step_part, 1);
    torture (fill, step_update, 1);
}

static void test_match (void **state)
{
    (void)state;
    torture (make_levels, step_match, 3);
    torture (NULL, step_match, 10);
    torture (make_levels, step_reserve, 3);
}

static void test_ways (void **state)
{
    (void)state;
    torture (share_parts, step_match, 6);
    torture (share_whole, step_match, 6);
    torture (share_whole, step_reserve, 6);
}

static void test_cancel (void **state)
{
    (void)state;
    torture (NULL, step_cancel, 0);
    torture (make_levels, step_cancel, 0);
}

static void test_small (void **state)
{
    (void)state;
    torture (NULL, step_selection, 1);
    torture (NULL, step_track, 0);
    torture (NULL, step_create, 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_levels), cmocka_unit_test (test_update),
        cmocka_unit_test (test_part),   cmocka_unit_test (test_match),
        cmocka_unit_test (test_cancel), cmocka_unit_test (test_ways),
        cmocka_unit_test (test_small),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

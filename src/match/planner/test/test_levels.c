/* The levels: indexes above the nodes, in step with graph and claims. Fails if nodes
 * have another order than the policy's, if a change of the graph loses or moves a
 * booking, or if a summary differs from a recount. */
#include "match/test/machine_test.h"

#include <errno.h>

#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/search/search.h"

#define NODE0 "/cluster0/rack0/node0"
#define NODE1 "/cluster0/rack0/node1"

/* -- levels -- */

static void test_order_of_nodes (void **state)
{
    (void)state;
    for (int high = 0; high < 2; high++) {
        struct planner *p = machine_planner (machine_of (3, 3), high ? "high" : "low");
        assert_int_equal (levels_update (p), 0);
        const struct upper *root = levels_upper (p, p->g->root);
        const struct upper *rack =
            levels_upper (p, machine_find (p->g, "/cluster0/rack1"));
        assert_int_equal (root->nnodes, 9);
        assert_int_equal (root->nkids, 3);
        assert_int_equal (root->nloose, 0);
        assert_int_equal (root->nown, 0);
        assert_int_equal (rack->nnodes, 3);
        assert_int_equal (rack->nown, 3);
        assert_int_equal (rack->nkids, 0);
        assert_false (p->any_loose);
        assert_true (p->type_upper[graph_type_find (p->g, "rack")]);
        assert_false (p->type_upper[GRAPH_CLUSTER]);
        for (size_t i = 0; i < 9; i++)
            assert_int_equal (graph_vertex (p->g, root->nodes[i])->id, high ? 8 - i : i);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal (graph_vertex (p->g, rack->nodes[i])->id,
                              high ? 5 - i : 3 + i);
        assert_null (levels_upper (p, machine_find (p->g, NODE0)));
        assert_int_equal (levels_dim (p, GRAPH_NODE), 0);
        assert_int_equal (levels_dim (p, GRAPH_CORE), 1);
        assert_int_equal (levels_dim (p, (uint16_t)graph_type_find (p->g, "rack")), -1);
        machine_done (p);
    }
}

/* Repeated ids: the order of the graph decides, for both directions of the policy. */
static void test_equal_scores (void **state)
{
    (void)state;
    for (int high = 0; high < 2; high++) {
        struct graph *g = graph_create ();
        uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0), nodes[9];
        for (int r = 0; r < 3; r++) {
            uint32_t rack = machine_add (g, root, "rack", r, 1, 1, 0);
            for (int n = 0; n < 3; n++)
                nodes[r * 3 + n] = machine_add (g, rack, "node", n, 1, 1, 0);
        }
        struct planner *p = machine_planner (g, high ? "high" : "low");
        assert_int_equal (levels_update (p), 0);
        const struct upper *a = levels_upper (p, root);
        for (size_t i = 0; i < 9; i++)
            assert_int_equal (a->nodes[i], nodes[i % 3 * 3 + (high ? 2 - i / 3 : i / 3)]);
        machine_done (p);
    }
}

/* Vertices beside nodes, nodes inside nodes, and a group without a vertex above. */
static void test_odd_graphs (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t rack = machine_add (g, root, "rack", 0, 1, 1, 0);
    uint32_t pdu = machine_add (g, rack, "pdu", 0, 1, 1, 0);
    uint32_t node = machine_add (g, rack, "node", 0, 1, 1, 0);
    uint32_t inner = machine_add (g, node, "node", 1, 1, 1, 0);
    machine_add (g, inner, "core", 0, 8, 1, 0);
    machine_add (g, pdu, "power", 0, 1, 500, GRAPH_DIVISIBLE);
    uint32_t cores = machine_add (g, root, "core", 0, 3, 1, 0);
    uint32_t box = machine_add (g, root, "rack", 1, 1, 1, 0);
    machine_add (g, box, "core", 0, 2, 1, 0);
    struct planner *p = machine_planner (g, "low");
    struct window now = { .at = 0, .end = 10, .now = true };

    assert_int_equal (levels_update (p), 0);
    const struct upper *a = levels_upper (p, root);
    assert_true (p->any_loose);
    assert_int_equal (a->nnodes, 1);
    assert_int_equal (a->nodes[0], node);
    assert_int_equal (a->nown, 0);
    assert_int_equal (a->nkids, 1);
    assert_int_equal (a->nloose, 2);
    assert_int_equal (a->loose[0], cores);
    assert_int_equal (a->loose[1], box);
    assert_int_equal (levels_upper (p, node)->nnodes, 1);
    assert_int_equal (levels_upper (p, node)->nodes[0], inner);
    assert_null (levels_upper (p, inner));
    assert_int_equal (planner_free (p, GRAPH_CORE), 13);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "power")), 500);
    assert_int_equal (machine_book (p, 1, false, "/cluster0/core1", 1, 0, 0, 9), 0);
    assert_int_equal (
        machine_book (p, 2, false, "/cluster0/rack0/node0/node1/core5", 2, 0, 0, 9), 0);
    assert_int_equal (
        machine_book (p, 3, false, "/cluster0/rack0/pdu0/power0", 1, 100, 0, 9), 0);
    assert_int_equal (machine_book (p, 4, false, "/cluster0/rack1", 1, 0, 0, 9), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 8);
    assert_int_equal (planner_free (p, GRAPH_NODE), 0);
    assert_false (claims_untouched (p, node, &now));
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "power")), 400);
    assert_int_equal (planner_cancel (p, 4), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 10);
    graph_set_flag (g, rack, 0, GRAPH_DOWN, true);
    planner_changed (p, rack);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "power")), 0);
    machine_done (p);
}

/* A node in a node in a node: walks continue inside, and the content belongs
 * to the outermost. */
static void test_nodes_in_nodes (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t outer = machine_add (g, root, "node", 0, 1, 1, 0);
    uint32_t board = machine_add (g, outer, "board", 0, 1, 1, 0), middle[2], inner[2];
    struct shape *s = machine_shape ("{type: slot, count: 1, label: a, with: "
                                     "[{type: core, count: 2}]}");
    for (int i = 0; i < 2; i++) {
        middle[i] = machine_add (g, board, "node", 2 - i, 1, 1, 0);
        inner[i] = machine_add (g, middle[i], "node", 7 + i, 1, 1, 0);
        machine_add (g, inner[i], "core", 0, 2, 1, 0);
    }
    machine_add (g, outer, "gpu", 0, 2, 1, 0);
    struct planner *p = machine_planner (g, "low");
    struct planner_job job;

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (levels_upper (p, root)->nnodes, 1);
    assert_int_equal (levels_upper (p, outer)->nkids, 1);
    assert_int_equal (levels_upper (p, outer)->kids[0], board);
    assert_int_equal (levels_upper (p, outer)->nloose, 1);
    assert_int_equal (levels_upper (p, outer)->nown, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (levels_upper (p, outer)->nodes[i], middle[1 - i]);
        assert_int_equal (levels_upper (p, board)->nodes[i], middle[1 - i]);
        assert_int_equal (levels_upper (p, middle[i])->nodes[0], inner[i]);
        assert_null (levels_upper (p, inner[i]));
    }
    for (uint64_t i = 1; i <= 2; i++) {
        assert_int_equal (planner_free (p, GRAPH_CORE), 6 - 2 * (int64_t)i);
        assert_int_equal (search_match (p, SEARCH_ALLOCATE, i, s, 0, 9, NULL, NULL), 0);
        machine_verify (p);
    }
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 4, s, 0, 9, NULL, NULL),
                      -EBUSY);
    assert_int_equal (
        search_match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 4, s, 0, 9, NULL, NULL), 0);
    assert_true (planner_find (p, 4, &job));
    assert_int_equal (job.start, 9);
    shape_destroy (s);
    machine_done (p);
}

/* No nodes, no vertices above them, no graph. */
static void test_no_nodes (void **state)
{
    (void)state;
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 1}]}");
    struct error err = { 0 };

    for (int kind = 0; kind < 3; kind++) {
        struct graph *g = graph_create ();
        struct planner *p = machine_planner (g, "low");
        assert_int_equal (search_match (p, SEARCH_ALLOCATE, 1, core, 0, 5, NULL, &err),
                          -EBUSY);
        assert_int_equal (
            search_match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 1, core, 0, 5, NULL, &err),
            -ENODEV);
        assert_int_equal (planner_free (p, GRAPH_CORE), 0);
        if (kind > 0) {
            uint32_t root =
                machine_add (g, GRAPH_NONE, kind > 1 ? "node" : "cluster", 0, 1, 1, 0);
            machine_add (g, root, "core", 0, 2, 1, 0);
            planner_changed (p, GRAPH_NONE);
            assert_int_equal (
                search_match (p, SEARCH_ALLOCATE, 1, core, 0, 5, NULL, &err), 0);
            assert_int_equal (planner_free (p, GRAPH_CORE), 1);
            assert_int_equal (
                search_match (p, SEARCH_ALLOCATE, 2, core, 0, 5, NULL, &err), 0);
            assert_int_equal (search_match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 3, core,
                                            0, 5, NULL, &err),
                              0);
        }
        machine_done (p);
    }
    shape_destroy (core);
}

/* A drained node is recounted alone: its neighbours' entries stay. */
static void test_drain_is_local (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (2, 4), "low");
    uint32_t n1 = machine_find (p->g, NODE1), core = machine_find (p->g, NODE1 "/core0");
    struct index_key key;

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, NODE1 "/core0", 2, 0, 0, 10), 0);
    const struct level_node *nodes = p->nodes;
    const struct index *index = p->upper[0].index;
    graph_set_flag (p->g, n1, 0, GRAPH_DRAINED, true);
    planner_changed (p, n1);
    assert_int_equal (levels_update (p), 0);
    assert_ptr_equal (p->nodes, nodes);
    assert_ptr_equal (p->upper[0].index, index);
    machine_verify (p);
    index_get (index, 1, &key);
    assert_int_equal (key.free[0], -1);
    assert_int_equal (key.ever[1], 4);
    assert_int_equal (planner_free (p, GRAPH_CORE), 28);
    graph_set_flag (p->g, n1, 0, GRAPH_DRAINED, false);
    planner_changed (p, n1);
    graph_set_flag (p->g, core, 3, GRAPH_DOWN, true);
    planner_changed (p, core);
    assert_int_equal (levels_update (p), 0);
    assert_ptr_equal (p->nodes, nodes);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 29);
    index_get (index, 1, &key);
    assert_int_equal (key.free[1], 1);
    /* Two changes at once, or an unreported change: no shortcut. */
    graph_set_flag (p->g, machine_find (p->g, NODE0), 0, GRAPH_DOWN, true);
    graph_set_flag (p->g, core, 3, GRAPH_DOWN, false);
    planner_changed (p, core);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 26);
    machine_done (p);
}

static void test_graph_grows_and_shrinks (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    uint32_t rack = machine_find (p->g, "/cluster0/rack0");
    uint32_t core = machine_find (p->g, NODE0 "/core0");
    struct error err = { 0 };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 4, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, false, NODE1 "/core0", 1, 0, 0, 10), 0);
    uint32_t node = machine_add (p->g, rack, "node", 9, 1, 1, 0);
    machine_add (p->g, node, "core", 0, 6, 1, 0);
    planner_changed (p, node);
    assert_int_equal (planner_cancel (p, 2), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 10);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 10);
    assert_int_equal (graph_remove (p->g, node, &err), 0);
    planner_changed (p, rack);
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    assert_int_equal (graph_remove (p->g, machine_find (p->g, NODE0), &err), -EBUSY);
    /* Fewer cores than busy ones: the rest goes when it is given back. */
    assert_int_equal (graph_resize (p->g, core, 1, 1, &err), 0);
    planner_changed (p, core);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (graph_vertex (p->g, core)->n, 4);
    assert_int_equal (planner_cancel (p, 1), 0);
    assert_int_equal (graph_vertex (p->g, core)->n, 1);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 5);
    machine_done (p);
}

/* A unit from the middle of a run, in a group that is to shrink: the rest stays. */
static void test_part_of_what_is_to_shrink (void **state)
{
    (void)state;
    for (int from_end = 0; from_end < 2; from_end++) {
        struct graph *g = graph_create ();
        uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
        uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
        uint32_t core = machine_add (g, node, "core", 0, 200, 1, 0);
        struct planner *p = machine_planner (g, "low");
        struct error err = { 0 };
        bool empty;
        assert_int_equal (
            machine_book (p, 1, false, "/cluster0/node0/core0", 200, 0, 0, 9), 0);
        assert_int_equal (graph_resize (g, core, 2, 1, &err), 0);
        planner_changed (p, core);
        autoselection struct selection *s = machine_select (
            g, from_end ? "/cluster0/node0/core150" : "/cluster0/node0/core1",
            from_end ? 50 : 100, 0, 0, 0);
        assert_int_equal (planner_cancel_part (p, 1, s, &empty), 0);
        assert_false (empty);
        assert_int_equal (graph_vertex (g, core)->n, from_end ? 150 : 200);
        assert_int_equal (planner_has (p, 1, core, 149, false), true);
        assert_int_equal (planner_has (p, 1, core, 1, false), from_end);
        assert_int_equal (levels_update (p), 0);
        machine_verify (p);
        assert_int_equal (planner_cancel (p, 1), 0);
        assert_int_equal (graph_vertex (g, core)->n, 2);
        machine_done (p);
    }
}

/* Dimensions: the fixed ones, the requested ones, then the most frequent types in
 * nodes. */
static void test_dimensions (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
    uint32_t socket = machine_add (g, node, "socket", 0, 1, 1, 0);
    static const char *const types[] = { "core", "few", "some", "many", "more", "most" };
    for (size_t i = 0; i < ARRAY_SIZE (types); i++)
        machine_add (g, socket, types[i], 0, (uint32_t)i * 3 + 1, 1, 0);
    struct planner *p = machine_planner (g, "low");

    assert_int_equal (planner_track (p, "socket"), 0);
    assert_int_equal (planner_track (p, "few"), 0);
    assert_int_equal (planner_track (p, "nowhere"), 0);
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (p->ntypes, TYPE_DIMS);
    static const char *const want[] = { "node",   "core", "gpu",  "memory",
                                        "socket", "few",  "most", "more" };
    for (unsigned d = 0; d < TYPE_DIMS; d++)
        assert_string_equal (graph_type_name (g, p->dims[d]), want[d]);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "socket")), 1);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "many")), 10);
    machine_done (p);
}

/* More than the numbers can hold: not summed, and nothing overflows. */
static void test_huge_sizes (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
    machine_add (g, node, "memory", 0, GRAPH_UNITS_MAX, GRAPH_SIZE_MAX, 0);
    machine_add (g, node, "core", 0, 2, 1, 0);
    struct planner *p = machine_planner (g, "low");
    struct shape *s = machine_shape ("{type: slot, count: 2, label: a, with: "
                                     "[{type: core, count: 1}]}");
    struct error err = { 0 };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (levels_dim (p, GRAPH_MEMORY), -1);
    assert_int_equal (
        machine_book (p, 1, false, "/cluster0/node0/memory5", 1 << 19, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, "/cluster0/node0", 1, 0, 10, 20), 0);
    assert_int_equal (
        search_match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 3, s, 0, 11, NULL, &err), 0);
    machine_verify (p);
    shape_destroy (s);
    machine_done (p);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_order_of_nodes),
        cmocka_unit_test (test_equal_scores),
        cmocka_unit_test (test_odd_graphs),
        cmocka_unit_test (test_nodes_in_nodes),
        cmocka_unit_test (test_no_nodes),
        cmocka_unit_test (test_drain_is_local),
        cmocka_unit_test (test_graph_grows_and_shrinks),
        cmocka_unit_test (test_part_of_what_is_to_shrink),
        cmocka_unit_test (test_dimensions),
        cmocka_unit_test (test_huge_sizes),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

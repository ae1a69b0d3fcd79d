/* Nodes that move, leave or are partly used by others. Fails if a name, path or rank
 * leads to a node's old place, if depths and marks of the old place remain, if a
 * refusal changes anything, if leaving units count as permanent, or if withheld
 * amounts are allocated. */
#include "common/test/unit.h"

#include <errno.h>

#include "match/test/machine_test.h"

struct site { /* cluster0 > rack0 > node0 .. node2; rack1 (no nodes) */
    struct graph *g;
    uint32_t root, rack[2], node[3];
};

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int id, int rank,
                     uint32_t count)
{
    struct graph_spec spec = { .type = type,
                               .id = id,
                               .rank = rank,
                               .count = count,
                               .uniq = -1,
                               .leaf = count > 1 };
    uint32_t v = graph_add (g, parent, &spec, NULL);
    assert_int_not_equal (v, GRAPH_NONE);
    return v;
}

static struct site site_make (void)
{
    struct site s = { .g = graph_create () };
    s.root = add (s.g, GRAPH_NONE, "cluster", 0, -1, 1);
    for (int i = 0; i < 2; i++)
        s.rack[i] = add (s.g, s.root, "rack", i, -1, 1);
    for (int i = 0; i < 3; i++) {
        s.node[i] = add (s.g, s.rack[0], "node", i, i, 1);
        uint32_t socket = add (s.g, s.node[i], "socket", 0, i, 1);
        add (s.g, socket, "core", 0, i, 4);
    }
    return s;
}

static void assert_at (const struct graph *g, const char *path, uint32_t v)
{
    uint32_t found = GRAPH_NONE, unit;
    int rc = graph_find_path (g, path, &found, &unit);
    assert_int_equal (rc, v == GRAPH_NONE ? -ENOENT : 0);
    assert_int_equal (found, v);
}

static void test_move (void **state)
{
    (void)state;
    struct site s = site_make ();
    uint64_t layout = s.g->layout;
    uint32_t socket = graph_vertex (s.g, s.node[1])->first;
    assert_int_equal (graph_move (s.g, s.node[1], s.rack[0], NULL), 0);
    assert_int_equal (s.g->layout, layout); /* the node exists already */
    assert_int_equal (graph_move (s.g, s.node[1], s.rack[1], NULL), 0);
    assert_true (s.g->layout > layout);
    assert_at (s.g, "/cluster0/rack0/node1", GRAPH_NONE);
    assert_at (s.g, "/cluster0/rack1/node1/socket0", socket);
    assert_int_equal (graph_find_rank (s.g, 1), s.node[1]);
    assert_int_equal (graph_find_node (s.g, "node1"), s.node[1]);
    assert_true (graph_vertex (s.g, s.rack[1])->flags & GRAPH_UPPER);
    assert_int_equal (graph_vertex (s.g, s.node[0])->next, s.node[2]);
    assert_int_equal (graph_move (s.g, s.node[1], s.root, NULL), 0);
    assert_false (graph_vertex (s.g, s.rack[1])->flags & GRAPH_UPPER);
    assert_int_equal (graph_vertex (s.g, s.node[1])->depth, 1);
    assert_int_equal (graph_vertex (s.g, graph_vertex (s.g, socket)->first)->depth, 3);
    assert_at (s.g, "/cluster0/node1/socket0/core3", graph_vertex (s.g, socket)->first);
    graph_destroy (s.g);
}

/* Parents with few and with many children, because the look-up differs. */
static void test_move_many (void **state)
{
    (void)state;
    struct site s = site_make ();
    for (int i = 3; i < 60; i++)
        add (s.g, s.rack[0], "node", i, i, 1);
    for (int i = 0; i < 60; i++) {
        char path[64];
        uint32_t v = graph_find_rank (s.g, i);
        assert_int_equal (graph_move (s.g, v, s.rack[1], NULL), 0);
        snprintf (path, sizeof (path), "/cluster0/rack1/node%d", i);
        assert_at (s.g, path, v);
        snprintf (path, sizeof (path), "/cluster0/rack0/node%d", i);
        assert_at (s.g, path, GRAPH_NONE);
    }
    assert_int_equal (graph_vertex (s.g, s.rack[0])->first, GRAPH_NONE);
    assert_int_equal (graph_remove (s.g, s.rack[0], NULL), 0);
    assert_int_equal (graph_unit_count (s.g), 2 + 60 + 3 + 12);
    graph_destroy (s.g);
}

static void test_move_refused (void **state)
{
    (void)state;
    struct site s = site_make ();
    uint32_t socket = graph_vertex (s.g, s.node[0])->first;
    uint32_t cores = graph_vertex (s.g, socket)->first;
    uint32_t other = add (s.g, s.rack[1], "node", 0, 9, 1);
    uint32_t odd = add (s.g, s.node[2], "socket", 7, 70, 1);
    uint64_t layout = s.g->layout;
    struct error err = { 0 };
    assert_int_equal (graph_move (s.g, s.node[0], s.rack[1], &err), -EEXIST);
    assert_string_equal (err.text, "/cluster0/rack0/node0 cannot move below "
                                   "/cluster0/rack1: that name is there already");
    assert_int_equal (graph_move (s.g, s.rack[0], s.rack[1], NULL), -EINVAL);
    assert_int_equal (graph_move (s.g, s.node[0], cores, NULL), -EINVAL);
    assert_int_equal (graph_move (s.g, s.node[0], socket, NULL), -EINVAL);
    assert_int_equal (graph_move (s.g, s.node[0], s.node[0], NULL), -EINVAL);
    assert_int_equal (graph_move (s.g, s.node[0], 999, NULL), -EINVAL);
    assert_int_equal (graph_move (s.g, 999, s.root, NULL), -EINVAL);
    assert_int_equal (graph_move (s.g, s.node[2], s.rack[1], NULL), -EINVAL);
    assert_int_equal (graph_remove (s.g, odd, NULL), 0);
    layout = s.g->layout;
    assert_int_equal (graph_move (s.g, s.node[2], s.rack[1], NULL), 0);
    assert_true (s.g->layout > layout);
    uint32_t deep = other;
    while (graph_vertex (s.g, deep)->depth < GRAPH_DEPTH_MAX - 3)
        deep = add (s.g, deep, "box", 0, -1, 1);
    assert_int_equal (graph_move (s.g, s.node[1], deep, NULL), -E2BIG);
    graph_destroy (s.g);
}

static void test_leaving (void **state)
{
    (void)state;
    struct site s = site_make ();
    struct planner *p =
        planner_create (s.g, match_policy_find ("low"), &(struct planner_options){ 0 });
    struct shape *two = machine_shape ("{type: node, count: 3, with: [{type: slot, "
                                       "count: 1, label: a, with: [{type: core, count: "
                                       "4}]}]}");
    struct error why = { 0 };
    uint64_t layout = s.g->layout;
    assert_int_equal (graph_set_leaving (s.g, s.node[0], false), 0);
    assert_int_equal (s.g->layout, layout);
    assert_int_equal (search_match (p, SEARCH_SATISFIABILITY, 0, two, 0, 9, NULL, &why),
                      0);
    assert_int_equal (graph_set_flag (s.g, s.node[0], GRAPH_NONE, GRAPH_DOWN, true), 0);
    planner_changed (p, s.node[0]);
    assert_int_equal (search_match (p, SEARCH_SATISFIABILITY, 0, two, 0, 9, NULL, &why),
                      0); /* the node may come back */
    assert_int_equal (graph_set_leaving (s.g, s.node[0], true), 0);
    planner_changed (p, s.node[0]);
    assert_true (graph_is_leaving (s.g, s.node[0]));
    assert_false (graph_is_up (s.g, s.node[0], 0));
    assert_int_equal (search_match (p, SEARCH_SATISFIABILITY, 0, two, 0, 9, NULL, &why),
                      -ENODEV);
    assert_int_equal (planner_verify (p, &why), 0);
    assert_int_equal (graph_set_leaving (s.g, s.node[0], false), 0);
    planner_changed (p, s.node[0]);
    assert_true (graph_is_up (s.g, s.node[0], 0));
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 1, two, 0, 9, NULL, &why), 0);
    assert_int_equal (planner_verify (p, &why), 0);
    shape_destroy (two);
    planner_destroy (p);
    graph_destroy (s.g);
}

/* A group that shrank keeps busy units, but they do not count as permanent. */
static void test_surplus_is_not_for_ever (void **state)
{
    (void)state;
    struct site s = site_make ();
    uint32_t v = graph_vertex (s.g, graph_vertex (s.g, s.node[0])->first)->first;
    graph_vertex (s.g, v)->busy.bits = 8;
    assert_int_equal (graph_resize (s.g, v, 2, 1, NULL), 0);
    assert_int_equal (graph_vertex (s.g, v)->n, 4);
    assert_int_equal (graph_ever_word (s.g, v, 0), 3);
    assert_int_equal (graph_down_word (s.g, v, 0), 12);
    assert_int_equal (graph_set_leaving (s.g, v, true), 0);
    assert_int_equal (graph_ever_word (s.g, v, 0), 0);
    assert_int_equal (graph_down_word (s.g, v, 0), 15);
    assert_int_equal (graph_set_leaving (s.g, v, false), 0);
    assert_int_equal (graph_ever_word (s.g, v, 0), 3);
    graph_vertex (s.g, v)->busy.bits = 0;
    graph_trim (s.g, v);
    assert_int_equal (graph_ever_word (s.g, v, 0), 3);
    assert_int_equal (graph_vertex (s.g, v)->n, 2);
    graph_destroy (s.g);
}

static void test_withheld (void **state)
{
    (void)state;
    struct graph *g = machine_of (1, 1); /* a node with 16 of memory */
    uint32_t memory = GRAPH_NONE, node = graph_vertex (g, g->root)->first;
    while (graph_vertex (g, node)->type != GRAPH_NODE)
        node = graph_vertex (g, node)->first;
    GRAPH_CHILDREN (g, node, c)
    {
        if (graph_vertex (g, c)->type == GRAPH_MEMORY)
            memory = c;
    }
    struct planner *p =
        planner_create (g, match_policy_find ("low"), &(struct planner_options){ 0 });
    struct shape *s = machine_shape ("{type: slot, count: 1, label: a, with: [{type: "
                                     "memory, count: 10}]}");
    struct error err = { 0 };
    assert_int_equal (graph_set_withheld (g, node, 1), -EINVAL);
    assert_int_equal (graph_set_withheld (g, memory, 17), -EINVAL);
    assert_int_equal (graph_set_withheld (g, memory, -1), -EINVAL);
    assert_int_equal (graph_set_withheld (g, memory, 7), 0);
    planner_changed (p, memory);
    assert_int_equal (graph_withheld (g, memory), 7);
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 1, s, 0, 9, NULL, &err),
                      -EBUSY);
    assert_int_equal (search_match (p, SEARCH_SATISFIABILITY, 1, s, 0, 9, NULL, &err),
                      0);
    assert_int_equal (planner_free (p, GRAPH_MEMORY), 9);
    assert_int_equal (planner_verify (p, &err), 0);
    assert_int_equal (graph_set_withheld (g, memory, 6), 0);
    planner_changed (p, memory);
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 1, s, 0, 9, NULL, &err), 0);
    assert_int_equal (planner_free (p, GRAPH_MEMORY), 0);
    assert_int_equal (planner_verify (p, &err), 0);
    assert_int_equal (graph_resize (g, memory, 1, 4, NULL), 0);
    assert_int_equal (graph_withheld (g, memory), 4);
    assert_int_equal (graph_set_withheld (g, memory, 0), 0);
    assert_int_equal (graph_withheld (g, memory), 0);
    shape_destroy (s);
    planner_destroy (p);
    graph_destroy (g);
}

static void test_all_properties (void **state)
{
    (void)state;
    struct site s = site_make ();
    uint32_t v = graph_vertex (s.g, graph_vertex (s.g, s.node[0])->first)->first;
    const char *const first[] = { "b", "1", "a", "", NULL }, *const next[] = { "c", "3",
                                                                               NULL };
    const char *const bad[] = { "x", "1", "x", "2", NULL }, *const empty[] = { NULL };
    struct error err = { 0 };
    assert_int_equal (graph_set_properties (s.g, v, first, NULL), 0);
    assert_int_equal (graph_set_property (s.g, v, 2, "own", "1"), 0);
    assert_string_equal (graph_property (s.g, v, 1, "b"), "1");
    assert_int_equal (graph_set_properties (s.g, v, bad, &err), -EINVAL);
    assert_string_equal (err.text, "properties: 'x' has two values");
    assert_string_equal (graph_property (s.g, v, 1, "b"), "1");
    assert_int_equal (graph_set_properties (s.g, v, next, NULL), 0);
    assert_null (graph_property (s.g, v, 1, "b"));
    assert_string_equal (graph_property (s.g, v, 1, "c"), "3");
    assert_string_equal (graph_property (s.g, v, 2, "own"), "1");
    assert_null (graph_property (s.g, v, 2, "c"));
    uint64_t layout = s.g->layout;
    assert_int_equal (graph_set_properties (s.g, v, next, NULL), 0);
    assert_int_equal (s.g->layout, layout);
    assert_int_equal (graph_set_properties (s.g, v, empty, NULL), 0);
    assert_null (graph_property (s.g, v, 1, "c"));
    graph_destroy (s.g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_move),
        cmocka_unit_test (test_move_many),
        cmocka_unit_test (test_move_refused),
        cmocka_unit_test (test_leaving),
        cmocka_unit_test (test_surplus_is_not_for_ever),
        cmocka_unit_test (test_withheld),
        cmocka_unit_test (test_all_properties),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* The resource graph. Fails if a name, path or rank leads to another vertex, if a group
 * is split or joined wrongly, if status or properties belong to a wrong unit, if a
 * refusal changes anything, or if a limit does not hold. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "match/graph/graph.h"

static const struct graph_spec none = { .id = -1, .uniq = -1, .rank = -1 };

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int64_t id)
{
    struct graph_spec s = none;
    struct error err = { 0 };
    s.type = type;
    s.id = id;
    uint32_t v = graph_add (g, parent, &s, &err);
    assert_string_equal (err.text, "");
    return v;
}

static uint32_t add_group (struct graph *g, uint32_t parent, const char *type, int64_t id,
                           uint32_t count)
{
    struct graph_spec s = none;
    struct error err = { 0 };
    s.type = type;
    s.id = id;
    s.count = count;
    s.leaf = true;
    uint32_t v = graph_add (g, parent, &s, &err);
    assert_string_equal (err.text, "");
    return v;
}

static uint32_t add_named (struct graph *g, uint32_t parent, const char *type,
                           const char *name)
{
    struct graph_spec s = none;
    s.type = type;
    s.name = name;
    return graph_add (g, parent, &s, NULL);
}

static void assert_path (const struct graph *g, uint32_t v, uint32_t unit,
                         const char *path)
{
    autostrbuf struct strbuf sb;
    uint32_t found, found_unit;
    strbuf_init (&sb, 1 << 20);
    assert_int_equal (graph_path (g, v, unit, &sb), 0);
    assert_string_equal (sb.buf, path);
    assert_int_equal (graph_find_path (g, path, &found, &found_unit), 0);
    assert_int_equal (found, v);
    assert_int_equal (found_unit, unit);
}

static bool has_path (const struct graph *g, const char *path)
{
    uint32_t v, unit;
    return graph_find_path (g, path, &v, &unit) == 0;
}

/* -- shape and names -- */

static void test_tree (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    assert_int_equal (g->root, GRAPH_NONE);
    assert_false (has_path (g, "/cluster0"));
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    uint32_t rack = add (g, root, "rack", 1), empty = add (g, root, "rack", 2);
    assert_false (graph_vertex (g, root)->flags & GRAPH_UPPER);
    uint32_t node = add (g, rack, "node", 3);
    uint32_t cores = add_group (g, node, "core", 0, 36);
    assert_int_equal (g->root, root);
    assert_true (graph_vertex (g, root)->flags & GRAPH_UPPER);
    assert_true (graph_vertex (g, rack)->flags & GRAPH_UPPER);
    assert_false (graph_vertex (g, empty)->flags & GRAPH_UPPER);
    assert_false (graph_vertex (g, node)->flags & GRAPH_UPPER);
    assert_path (g, root, 0, "/cluster0");
    assert_path (g, cores, 0, "/cluster0/rack1/node3/core0");
    assert_path (g, cores, 35, "/cluster0/rack1/node3/core35");
    assert_int_equal (graph_vertex (g, cores)->depth, 3);
    assert_int_equal (graph_unit_count (g), 40);
    assert_int_equal (graph_type_count (g, GRAPH_CORE), 36);
    assert_int_equal (graph_node_of (g, cores), node);
    assert_int_equal (graph_node_of (g, rack), GRAPH_NONE);
    assert_int_equal (graph_type_find (g, "rack"), graph_vertex (g, rack)->type);
    assert_int_equal (graph_type_find (g, "socket"), -1);
    static const char *const wrong[] = { "",
                                         "cluster0",
                                         "/",
                                         "/cluster0/",
                                         "//cluster0",
                                         "/cluster1",
                                         "/cluster0/rack",
                                         "/cluster0/rack1/node3/core36",
                                         "/cluster0/rack1/node3/core00",
                                         "/cluster0/rack1/node3/core",
                                         "/cluster0/rack1/node3/core-1",
                                         "/cluster0/rack1/node3/core0/core0",
                                         "/cluster0/rack1/node3/core4294967296" };
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++)
        assert_false (has_path (g, wrong[i]));
    graph_destroy (g);
}

static void test_names (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct graph_spec s = none;
    char buf[8];
    uint32_t root = add (g, GRAPH_NONE, "cluster", -1);
    assert_path (g, root, 0, "/cluster");
    s.type = "memory";
    s.basename = "hbm";
    s.unit = "GB";
    s.id = 2;
    uint32_t hbm = graph_add (g, root, &s, NULL);
    assert_string_equal (graph_basename (g, hbm), "hbm");
    assert_string_equal (graph_unit_name (g, hbm), "GB");
    assert_string_equal (graph_unit_name (g, root), "");
    assert_path (g, hbm, 0, "/cluster/hbm2");
    s.name = "scratch";
    uint32_t scratch = graph_add (g, root, &s, NULL);
    assert_path (g, scratch, 0, "/cluster/scratch");
    assert_string_equal (graph_basename (g, scratch), "hbm");
    assert_string_equal (graph_name (g, scratch, 0, buf, sizeof (buf)), "scratch");
    assert_string_equal (graph_name (g, scratch, 0, buf, 4), "scr");
    s.name = "hbm3"; /* its default name */
    s.id = 3;
    uint32_t third = graph_add (g, root, &s, NULL);
    assert_int_equal (graph_vertex (g, third)->extra, graph_vertex (g, hbm)->extra);
    assert_path (g, third, 0, "/cluster/hbm3");
    graph_destroy (g);
}

/* Duplicate paths of any origin, in a parent with `pad` more children. */
static void clashes (uint32_t pad)
{
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    for (uint32_t i = 0; i < pad; i++)
        add (g, root, "rack", i);
    add_group (g, root, "core", 10, 90);
    uint32_t digit = add_group (g, root, "core1", 10, 5); /* core110 .. core114 */
    assert_int_not_equal (add_named (g, root, "x", "core5"), GRAPH_NONE);
    static const struct {
        const char *type, *name;
        int64_t id;
        uint32_t count;
        const char *said;
    } taken[] = {
        { "core", NULL, 99, 1, "/cluster0/core99 is there already" },
        { "core", NULL, 1, 10, "/cluster0: one of core1 to 10 is there already" },
        { "core", NULL, 5, 1, "/cluster0/core5 is there already" },
        { "core", NULL, 2, 5, "/cluster0: one of core2 to 6 is there already" },
        { "core", NULL, 111, 1, "/cluster0/core111 is there already" },
        { "core", NULL, 100, 20, "/cluster0: one of core100 to 119 is there already" },
        { "core1", NULL, 7, 1, "/cluster0/core17 is there already" },
        { "core1", NULL, 0, 2, "/cluster0: one of core10 to 1 is there already" },
        { "core11", NULL, 4, 1, "/cluster0/core114 is there already" },
        { "x", "core98", -1, 1, "/cluster0/core98 is there already" },
        { "x", "core112", 4, 1, "/cluster0/core112 is there already" },
        { "core5", NULL, -1, 1, "/cluster0/core5 is there already" },
    };
    uint64_t layout = g->layout, units = graph_unit_count (g);
    for (size_t i = 0; i < ARRAY_SIZE (taken); i++) {
        struct graph_spec s = none;
        struct error err = { 0 };
        s.type = taken[i].type;
        s.name = taken[i].name;
        s.id = taken[i].id;
        s.count = taken[i].count;
        assert_int_equal (graph_add (g, root, &s, &err), GRAPH_NONE);
        assert_int_equal (err.code, EEXIST);
        assert_string_equal (err.text, taken[i].said);
    }
    assert_int_equal (g->layout, layout);
    assert_int_equal (graph_unit_count (g), units);
    assert_int_equal (graph_type_find (g, "core11"), -1); /* the type was never added */
    add_group (g, root, "core", 115, 5);
    add_group (g, root, "core", 100, 10);
    add (g, root, "core", 1);
    add (g, root, "core1", 0x7fffffff); /* core12147483647: no id is so large */
    assert_path (g, digit, 3, "/cluster0/core113");
    /* the same names below another parent */
    uint32_t other = add (g, root, "node", 7);
    assert_path (g, add_group (g, other, "core", 10, 90), 7, "/cluster0/node7/core17");
    graph_destroy (g);
}

static void test_clashes (void **state)
{
    (void)state;
    clashes (0);
    clashes (12); /* with these the parent passes 16 children */
    clashes (300);
}

static void test_many_children (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), groups[64], nodes[64];
    for (uint32_t i = 0; i < 64; i++) {
        nodes[i] = add (g, root, "node", i);
        groups[i] = add_group (g, root, "ssd", 5000 * i, 1 + i * i); /* all levels */
    }
    for (uint32_t i = 0; i < 64; i++) {
        char path[64];
        uint32_t v, unit;
        for (uint32_t k = 0; k <= 1 + i * i; k++) {
            snprintf (path, sizeof (path), "/cluster0/ssd%u", 5000 * i + k);
            int rc = graph_find_path (g, path, &v, &unit);
            assert_int_equal (rc, k == 1 + i * i ? -ENOENT : 0);
            if (rc == 0)
                assert_true (v == groups[i] && unit == k);
        }
        snprintf (path, sizeof (path), "/cluster0/node%u", i);
        assert_path (g, nodes[i], 0, path);
    }
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal (graph_remove (g, groups[i], NULL), 0);
        assert_int_equal (graph_remove (g, nodes[i], NULL), 0);
    }
    assert_int_equal (graph_vertex (g, root)->first, GRAPH_NONE);
    assert_int_equal (graph_unit_count (g), 1);
    assert_false (has_path (g, "/cluster0/node1"));
    add (g, root, "node", 1);
    assert_true (has_path (g, "/cluster0/node1"));
    graph_destroy (g);
}

static void test_nodes_and_ranks (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), racks[3], nodes[9];
    struct graph_spec s = none;
    for (uint32_t i = 0; i < 3; i++)
        racks[i] = add (g, root, "rack", i);
    for (uint32_t i = 0; i < 9; i++) { /* node0 and rank 0 in each rack */
        s.type = "node";
        s.id = s.rank = i / 3;
        nodes[i] = graph_add (g, racks[i % 3], &s, NULL);
        s.type = "core";
        s.id = 0;
        assert_int_not_equal (graph_add (g, nodes[i], &s, NULL), GRAPH_NONE);
    }
    for (uint32_t i = 0; i < 9; i++) { /* the first remaining one, in any order */
        static const uint8_t order[] = { 1, 0, 2, 3, 4, 5, 8, 7, 6 };
        static const uint8_t first[] = { 0, 0, 2, 3, 4, 5, 6, 6, 6 };
        char name[16];
        snprintf (name, sizeof (name), "node%u", i / 3);
        assert_int_equal (graph_find_node (g, name), nodes[first[i]]);
        assert_int_equal (graph_find_rank (g, (int32_t)i / 3), nodes[first[i]]);
        assert_int_equal (graph_remove (g, nodes[order[i]], NULL), 0);
    }
    assert_int_equal (graph_find_node (g, "node0"), GRAPH_NONE);
    assert_int_equal (graph_find_rank (g, 0), GRAPH_NONE);
    assert_int_equal (graph_find_rank (g, -1), GRAPH_NONE);
    assert_false (graph_vertex (g, root)->flags & GRAPH_UPPER);
    /* without a node: the outermost vertex, but a node takes precedence */
    s.rank = 4;
    s.type = "core";
    uint32_t deep = graph_add (g, racks[0], &s, NULL);
    assert_int_equal (graph_find_rank (g, 4), deep);
    s.type = "blade";
    uint32_t blade = graph_add (g, root, &s, NULL);
    assert_int_equal (graph_find_rank (g, 4), blade);
    s.type = "node";
    uint32_t node = graph_add (g, blade, &s, NULL);
    assert_int_equal (graph_find_rank (g, 4), node);
    assert_int_equal (graph_find_node (g, "node0"), node);
    assert_int_equal (graph_remove (g, blade, NULL), 0);
    assert_int_equal (graph_find_rank (g, 4), deep);
    graph_destroy (g);
}

/* -- groups -- */

static void test_join (void **state)
{
    (void)state;
    static const char *const fast[] = { "class", "fast", NULL };
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), node = add (g, root, "node", 0);
    struct graph_spec s = none;
    s.type = "core";
    s.leaf = true;
    s.id = 3;
    uint32_t v = graph_add (g, node, &s, NULL);
    for (s.id = 4; s.id < 200; s.id++) {
        char name[16];
        snprintf (name, sizeof (name), "core%d", (int)s.id);
        s.name = s.id % 2 ? name : NULL;
        assert_int_equal (graph_add (g, node, &s, NULL), v);
    }
    assert_int_equal (graph_vertex (g, v)->n, 197);
    assert_path (g, v, 196, "/cluster0/node0/core199");
    assert_int_equal (graph_vertex (g, v)->uniq, 2);
    s.name = NULL;
    s.count = 10;
    assert_int_equal (graph_add (g, node, &s, NULL), v);
    assert_int_equal (graph_vertex (g, v)->n, 207);
    /* each of these is of another kind */
    struct graph_spec next = s, other;
    next.id = 210;
    next.uniq = 209;
    next.count = 1;
    for (int i = 0; i < 10; i++) {
        other = next;
        other.leaf = i != 0;
        other.id += i == 1;
        other.uniq += i == 2;
        other.rank = i == 3 ? 1 : -1;
        other.size = i == 4 ? 2 : 1;
        other.flags = i == 5 ? GRAPH_DOWN : i == 6 ? GRAPH_DIVISIBLE : 0;
        other.unit = i == 7 ? "GHz" : NULL;
        other.properties = i == 8 ? fast : NULL;
        other.name = i == 9 ? "odd" : NULL;
        uint32_t w = graph_add (g, node, &other, NULL);
        assert_int_not_equal (w, v);
        assert_int_equal (graph_remove (g, w, NULL), 0);
    }
    assert_int_not_equal (graph_add (g, root, &next, NULL), v); /* another parent */
    assert_int_equal (graph_vertex (g, v)->n, 207);
    assert_int_equal (graph_add (g, node, &next, NULL), v);
    assert_int_equal (graph_vertex (g, v)->n, 208);
    graph_destroy (g);
}

static void test_join_what_is_a_leaf (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    uint32_t s0 = add (g, root, "socket", 0); /* this vertex may get children */
    assert_int_not_equal (add_group (g, root, "socket", 1, 1), s0);
    uint32_t leaf = add_group (g, root, "disk", 0, 1);
    add (g, leaf, "part", 0); /* the vertex was a group of one */
    assert_int_not_equal (add_group (g, root, "disk", 1, 1), leaf);
    uint32_t node = add_group (g, root, "node", 0, 1);
    assert_int_not_equal (add_group (g, root, "node", 1, 1), node);
    graph_destroy (g);
}

/* -- refusals -- */

static void test_fields (void **state)
{
    (void)state;
    char longest[257];
    memset (longest, 'x', 256);
    longest[256] = 0;
    const char *twice[] = { "a", "1", "a", "2", NULL };
    const char *odd[] = { "a", NULL };
    const char *nameless[] = { "", "1", NULL };
    struct {
        struct graph_spec s;
        const char *said; /* the beginning of the message */
    } bad[] = {
        { { .type = NULL }, "type: it is missing" },
        { { .type = "" }, "type: ''" },
        { { .type = "a b" }, "type: 'a b'" },
        { { .type = longest }, "type: 'xxx" },
        { { .type = "a", .basename = "" }, "basename: ''" },
        { { .type = "a", .basename = longest }, "basename: 'xxx" },
        { { .type = "a", .name = "a/b" }, "name: 'a/b'" },
        { { .type = "a", .name = "a\tb" }, "name: character 2 is U+0009" },
        { { .type = "a", .unit = longest }, "unit: 'xxx" },
        { { .type = "a", .id = -2 }, "id: -2 is not from -1 to 2147483647" },
        { { .type = "a", .id = INT32_MAX, .count = 2 },
          "id: 2147483647 is not from -1 to 2147483646" },
        { { .type = "a", .size = -1 }, "size: -1 is not from 0 to 1125899906842624" },
        { { .type = "a", .size = GRAPH_SIZE_MAX + 1 }, "size: 1125899906842625" },
        { { .type = "a", .uniq = -2 }, "uniq: -2" },
        { { .type = "a", .uniq = INT64_MAX }, "uniq: 9223372036854775807" },
        { { .type = "a", .rank = -2 }, "rank: -2" },
        { { .type = "a", .flags = GRAPH_UPPER }, "flags: 8" },
        { { .type = "a", .count = GRAPH_UNITS_MAX + 1 }, "count: 1048577 is not" },
        { { .type = "a", .count = 2, .id = -1 }, "count: 2 a: several need an id" },
        { { .type = "a", .count = 2, .name = "b" }, "count: 2 a: one name" },
        { { .type = "a", .count = 2, .flags = GRAPH_DIVISIBLE }, "count: 2 a: a div" },
        { { .type = "node", .count = 2 }, "count: 2 node: a node is" },
        { { .type = "a", .properties = twice }, "properties: 'a' has two values" },
        { { .type = "a", .properties = odd }, "properties: 'a' has no value" },
        { { .type = "a", .properties = nameless }, "properties: '' is empty" },
    };
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    uint64_t layout = g->layout;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        assert_int_equal (graph_add (g, root, &bad[i].s, &err), GRAPH_NONE);
        assert_int_equal (err.code, EINVAL);
        err.text[strlen (bad[i].said)] = 0;
        assert_string_equal (err.text, bad[i].said);
    }
    assert_int_equal (g->layout, layout);
    assert_int_equal (graph_vertex (g, root)->first, GRAPH_NONE);
    longest[255] = 0; /* the longest allowed name */
    assert_int_not_equal (add_named (g, root, "a", longest), GRAPH_NONE);
    struct graph_spec s = none;
    s.type = "a";
    s.basename = longest;
    s.id = INT32_MAX;
    assert_int_not_equal (graph_add (g, root, &s, NULL), GRAPH_NONE);
    graph_destroy (g);
}

static void test_parents (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct error err = { 0 };
    struct graph_spec s = none;
    s.type = "x";
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    assert_int_equal (graph_add (g, GRAPH_NONE, &s, &err), GRAPH_NONE);
    assert_int_equal (err.code, EEXIST);
    assert_string_equal (err.text, "/cluster0 is the root already");
    assert_int_equal (graph_add (g, 17, &s, &err), GRAPH_NONE);
    assert_int_equal (err.code, EINVAL);
    uint32_t group = add_group (g, root, "core", 0, 2);
    assert_int_equal (graph_add (g, group, &s, &err), GRAPH_NONE);
    assert_int_equal (err.code, EINVAL);
    assert_string_equal (err.text, "/cluster0/core0 is one of a group of 2 leaves: "
                                   "nothing can be below it");
    assert_int_equal (graph_remove (g, group, NULL), 0);
    assert_int_equal (graph_add (g, group, &s, &err), GRAPH_NONE); /* the group is gone */
    assert_int_equal (err.code, EINVAL);
    assert_int_equal (graph_remove (g, group, &err), -EINVAL);
    uint32_t v = root;
    for (unsigned d = 1; d < GRAPH_DEPTH_MAX; d++)
        v = add (g, v, "x", 1);
    assert_int_equal (graph_vertex (g, v)->depth, GRAPH_DEPTH_MAX - 1);
    assert_int_equal (graph_add (g, v, &s, &err), GRAPH_NONE);
    assert_int_equal (err.code, E2BIG);
    assert_memory_equal (err.text, "/cluster0/x1/x1", 15);
    graph_destroy (g);
}

static void test_types_are_bounded (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct graph_spec s = none;
    char type[16];
    s.type = type;
    snprintf (type, sizeof (type), "cluster");
    uint32_t root = graph_add (g, GRAPH_NONE, &s, NULL);
    for (unsigned i = GRAPH_TYPE_FIRST; i < GRAPH_TYPES_MAX; i++) {
        snprintf (type, sizeof (type), "t%u", i);
        assert_int_not_equal (graph_add (g, root, &s, NULL), GRAPH_NONE);
    }
    struct error err = { 0 };
    snprintf (type, sizeof (type), "straw");
    assert_int_equal (graph_add (g, root, &s, &err), GRAPH_NONE);
    assert_int_equal (err.code, E2BIG);
    assert_string_equal (err.text, "type: 'straw' is one more than 1024");
    graph_destroy (g);
}

static void test_units_are_bounded (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct error err = { 0 };
    char base[16];
    struct graph_spec s = none;
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), first = GRAPH_NONE, v = first;
    s.type = "core";
    s.id = 0;
    for (unsigned i = 0; i < 256; i++) {
        snprintf (base, sizeof (base), "c%ux", i);
        s.basename = base;
        s.count = GRAPH_UNITS_MAX - (i == 0 ? 2 : 0); /* the root is a unit, too */
        v = graph_add (g, root, &s, &err);
        first = i == 0 ? v : first;
        assert_int_not_equal (v, GRAPH_NONE);
    }
    s.basename = "straw";
    s.count = 2;
    assert_int_equal (graph_add (g, root, &s, &err), GRAPH_NONE);
    assert_int_equal (err.code, E2BIG);
    assert_string_equal (err.text, "more than 268435456 vertices");
    assert_int_equal (graph_resize (g, first, GRAPH_UNITS_MAX, 1, NULL), -E2BIG);
    assert_int_equal (graph_resize (g, first, GRAPH_UNITS_MAX - 1, 1, NULL), 0);
    assert_int_equal (graph_resize (g, v, 5, 1, NULL), 0);
    assert_int_equal (graph_resize (g, first, GRAPH_UNITS_MAX, 1, NULL), 0);
    graph_destroy (g);
}

static void test_remove (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct error err = { 0 };
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), rack = add (g, root, "rack", 0);
    uint32_t node = add (g, rack, "node", 0), cores = add_group (g, node, "core", 0, 100);
    uint32_t after = add (g, root, "rack", 1);
    graph_vertex (g, cores)->nclaims = 1;
    uint64_t layout = g->layout;
    assert_int_equal (graph_remove (g, rack, &err), -EBUSY);
    assert_string_equal (err.text, "/cluster0/rack0/node0/core0 is in use");
    assert_int_equal (g->layout, layout);
    assert_path (g, cores, 99, "/cluster0/rack0/node0/core99");
    graph_vertex (g, cores)->nclaims = 0;
    assert_int_equal (graph_remove (g, rack, &err), 0);
    assert_true (g->layout > layout);
    assert_int_equal (graph_vertex (g, node)->n, 0);
    assert_int_equal (graph_unit_count (g), 2);
    assert_int_equal (graph_type_count (g, GRAPH_CORE), 0);
    assert_int_equal (graph_find_node (g, "node0"), GRAPH_NONE);
    assert_false (graph_vertex (g, root)->flags & GRAPH_UPPER);
    uint32_t nv = g->nv;
    add (g, after, "node", 0); /* handles are reused */
    add (g, after, "node", 1);
    add (g, after, "node", 2);
    assert_int_equal (g->nv, nv);
    assert_int_equal (graph_remove (g, root, &err), 0);
    assert_int_equal (g->root, GRAPH_NONE);
    assert_int_equal (graph_unit_count (g), 0);
    assert_path (g, add (g, GRAPH_NONE, "cluster", 9), 0, "/cluster9");
    graph_destroy (g);
}

/* Nodes are added and removed forever: the orders are renumbered before they overflow. */
static void test_orders_end (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), v[4];
    for (uint32_t i = 0; i < 4; i++)
        v[i] = add (g, root, "node", i);
    for (uint32_t i = 0; i < 4; i++)
        graph_vertex (g, v[i])->order = UINT32_MAX - 10 + 3 * i;
    uint32_t last = add (g, root, "node", 4);
    assert_int_equal (graph_vertex (g, root)->last, last);
    uint32_t order = 0, id = 0;
    GRAPH_CHILDREN (g, root, c)
    {
        assert_int_equal (graph_vertex (g, c)->id, id++);
        assert_true (c == v[0] || graph_vertex (g, c)->order > order);
        order = graph_vertex (g, c)->order;
    }
    assert_int_equal (id, 5);
    graph_destroy (g);
}

/* -- sizes -- */

static void book (struct graph *g, uint32_t v, uint32_t unit, bool on)
{
    struct graph_vertex *x = graph_vertex (g, v);
    uint64_t *word = x->n > 64 ? &x->busy.map[unit / 64] : &x->busy.bits;
    *word ^= UINT64_C (1) << unit % 64;
    x->nclaims += on ? 1 : UINT32_MAX;
}

static void test_resize (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct error err = { 0 };
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    uint32_t v = add_group (g, root, "core", 2, 60);
    add (g, root, "core", 700);
    book (g, v, 3, true);
    assert_int_equal (graph_resize (g, v, 130, 1, &err), 0); /* bits become a map */
    assert_int_equal (graph_vertex (g, v)->n, 130);
    assert_true (graph_vertex (g, v)->busy.map[0] == 8);
    assert_true (graph_vertex (g, v)->busy.map[2] == 0);
    assert_path (g, v, 129, "/cluster0/core131");
    assert_int_equal (graph_vertex (g, v)->uniq, 62); /* its next ids were taken */
    assert_int_equal (graph_resize (g, v, 700, 1, &err), -EEXIST);
    assert_string_equal (err.text, "/cluster0/core700 has the name of a later unit");
    book (g, v, 70, true);
    book (g, v, 129, true);
    assert_int_equal (graph_resize (g, v, 50, 1, &err), 0);
    assert_int_equal (graph_vertex (g, v)->n, 130); /* busy to the end: kept as down */
    assert_true (graph_down_word (g, v, 0) == UINT64_MAX << 50);
    assert_true (graph_down_word (g, v, 1) == UINT64_MAX);
    assert_true (graph_down_word (g, v, 2) == 3);
    assert_true (graph_is_up (g, v, 49) && !graph_is_up (g, v, 50));
    book (g, v, 129, false);
    graph_trim (g, v);
    assert_int_equal (graph_vertex (g, v)->n, 71);
    assert_true (graph_vertex (g, v)->busy.map[1] == 64);
    assert_false (has_path (g, "/cluster0/core73"));
    graph_vertex (g, v)->nreserved = 1;
    book (g, v, 70, false);
    graph_trim (g, v); /* only the planner knows the reserved units */
    assert_int_equal (graph_vertex (g, v)->n, 71);
    graph_vertex (g, v)->nreserved = 0;
    graph_trim (g, v);
    assert_int_equal (graph_vertex (g, v)->n, 50);
    assert_true (graph_vertex (g, v)->busy.bits == 8); /* and the map bits */
    assert_true (graph_down_word (g, v, 0) == 0);
    assert_int_equal (graph_unit_count (g), 52);
    graph_destroy (g);
}

static void test_resize_and_back (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    uint32_t v = add_group (g, root, "core", 0, 8);
    book (g, v, 7, true);
    assert_int_equal (graph_resize (g, v, 2, 1, NULL), 0);
    assert_true (graph_down_word (g, v, 0) == 0xfc);
    assert_int_not_equal (add_group (g, root, "core", 8, 1), v); /* does not join */
    assert_int_equal (graph_resize (g, v, 8, 1, NULL), 0);
    assert_true (graph_down_word (g, v, 0) == 0);
    assert_int_equal (graph_resize (g, v, 4, 1, NULL), 0);
    assert_int_equal (graph_resize (g, v, 6, 1, NULL), 0);
    assert_true (graph_down_word (g, v, 0) == 0xc0);
    book (g, v, 7, false);
    graph_trim (g, v);
    assert_int_equal (graph_vertex (g, v)->n, 6);
    graph_destroy (g);
}

static void test_resize_refused (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct graph_spec s = none;
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), node = add (g, root, "node", 0);
    uint32_t cores = add_group (g, node, "core", INT32_MAX - 3, 2);
    uint32_t named = add_named (g, node, "gpu", "big");
    s.type = "memory";
    s.size = 100;
    s.flags = GRAPH_DIVISIBLE;
    uint32_t memory = graph_add (g, node, &s, NULL);
    static const struct {
        int which;
        uint32_t count;
        int64_t size;
    } bad[] = { { 0, 2, 1 },   { 1, 2, 1 },
                { 2, 0, 1 },   { 2, 2, 2 },
                { 2, 5, 1 },   { 3, 2, 1 },
                { 4, 2, 100 }, { 4, 1, 0 },
                { 4, 1, -5 },  { 2, GRAPH_UNITS_MAX + 1, 1 } };
    uint32_t of[] = { root, node, cores, named, memory };
    uint64_t layout = g->layout;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        assert_int_equal (
            graph_resize (g, of[bad[i].which], bad[i].count, bad[i].size, &err), -EINVAL);
        assert_memory_equal (err.text, "/cluster0", 9);
    }
    assert_int_equal (g->layout, layout);
    graph_vertex (g, memory)->used = 60;
    assert_int_equal (graph_resize (g, memory, 1, 50, NULL), 0);
    assert_int_equal (graph_vertex (g, memory)->size, 50);
    assert_int_equal (graph_vertex (g, memory)->used, 60);
    assert_int_equal (graph_resize (g, cores, 4, 1, NULL), 0);
    graph_destroy (g);
}

/* -- status -- */

static void test_status (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    uint32_t v = add_group (g, root, "core", 0, 70);
    assert_true (graph_is_up (g, v, 69) && graph_is_up (g, v, GRAPH_NONE));
    uint64_t layout = g->layout;
    assert_int_equal (graph_set_flag (g, v, 69, GRAPH_DOWN, true), 0);
    assert_int_equal (graph_set_flag (g, v, 1, GRAPH_DRAINED, true), 0);
    assert_int_equal (graph_set_flag (g, v, 1, GRAPH_DOWN, false), 0);
    assert_int_equal (g->layout, layout + 2);
    assert_true (graph_down_word (g, v, 0) == 2);
    assert_true (graph_down_word (g, v, 1) == 32);
    assert_false (graph_is_up (g, v, GRAPH_NONE));
    assert_false (graph_vertex (g, v)->flags & (GRAPH_DOWN | GRAPH_DRAINED));
    assert_int_equal (graph_set_flag (g, v, GRAPH_NONE, GRAPH_DOWN, true), 0);
    assert_true (graph_vertex (g, v)->flags & GRAPH_DOWN);
    assert_true (graph_down_word (g, v, 1) == 63);
    assert_true (graph_down_word (g, v, 2) == 0);
    assert_int_equal (graph_set_flag (g, v, 5, GRAPH_DOWN, false), 0); /* all but one */
    assert_true (graph_down_word (g, v, 0) == ~UINT64_C (32));
    assert_int_equal (graph_set_flag (g, v, GRAPH_NONE, GRAPH_DOWN, false), 0);
    assert_true (graph_down_word (g, v, 0) == 2); /* still drained */
    assert_int_equal (graph_set_flag (g, v, 1, GRAPH_DRAINED, false), 0);
    assert_true (graph_is_up (g, v, GRAPH_NONE));
    assert_int_equal (graph_set_flag (g, root, 0, GRAPH_DOWN, true), 0);
    assert_true (graph_vertex (g, root)->flags & GRAPH_DOWN);
    assert_false (graph_is_up (g, root, 0));
    assert_int_equal (graph_set_flag (g, v, 70, GRAPH_DOWN, true), -EINVAL);
    assert_int_equal (graph_set_flag (g, v, 0, GRAPH_UPPER, true), -EINVAL);
    graph_destroy (g);
}

/* -- properties -- */

static void test_properties (void **state)
{
    (void)state;
    static const char *const given[] = { "zone", "a",   "arm", "",  "class",
                                         "2",    "arm", "",    NULL };
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    struct graph_spec s = none;
    const char *key, *value;
    s.type = "core";
    s.id = 0;
    s.count = 4;
    s.properties = given;
    uint32_t v = graph_add (g, root, &s, NULL);
    static const char *const sorted[] = { "arm", "", "class", "2", "zone", "a" };
    for (size_t i = 0; i < 3; i++) {
        assert_true (graph_property_at (g, v, 2, i, &key, &value));
        assert_string_equal (key, sorted[2 * i]);
        assert_string_equal (value, sorted[2 * i + 1]);
    }
    assert_false (graph_property_at (g, v, 2, 3, &key, &value));
    assert_null (graph_property (g, v, 0, "cla"));
    uint64_t layout = g->layout;
    assert_int_equal (graph_set_property (g, v, 1, "class", "3"), 0);
    assert_int_equal (graph_set_property (g, v, 1, "arm", NULL), 0);
    assert_int_equal (graph_set_property (g, v, 3, "class", "2"), 0); /* unchanged */
    assert_int_equal (g->layout, layout + 2);
    assert_string_equal (graph_property (g, v, 0, "class"), "2");
    assert_string_equal (graph_property (g, v, 1, "class"), "3");
    assert_string_equal (graph_property (g, v, GRAPH_NONE, "class"), "2");
    assert_null (graph_property (g, v, 1, "arm"));
    assert_int_equal (graph_set_property (g, v, GRAPH_NONE, "zone", "b"), 0);
    assert_string_equal (graph_property (g, v, 0, "zone"), "b");
    assert_string_equal (graph_property (g, v, 1, "zone"), "b");
    assert_string_equal (graph_property (g, v, 1, "class"), "3");
    assert_int_equal (graph_set_property (g, v, GRAPH_NONE, "class", NULL), 0);
    assert_null (graph_property (g, v, 1, "class"));
    assert_int_equal (graph_set_property (g, v, 4, "class", "1"), -EINVAL);
    assert_int_equal (graph_set_property (g, v, 0, "", "1"), -EINVAL);
    graph_destroy (g);
}

static void test_property_bounds (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    static char value[65537], key[1025];
    memset (value, 'v', 65536);
    memset (key, 'k', 1024);
    assert_int_equal (graph_set_property (g, root, 0, "a", value), -EINVAL);
    assert_int_equal (graph_set_property (g, root, 0, "a", value + 1), 0);
    assert_int_equal (graph_set_property (g, root, 0, key, ""), -EINVAL);
    assert_int_equal (graph_set_property (g, root, 0, key + 1, ""), 0);
    char name[16];
    for (int i = 0; i < 1022; i++) {
        snprintf (name, sizeof (name), "p%d", i);
        assert_int_equal (graph_set_property (g, root, 0, name, name), 0);
    }
    assert_int_equal (graph_set_property (g, root, 0, "more", ""), -EINVAL);
    assert_int_equal (graph_set_property (g, root, 0, "p77", ""), 0);
    assert_string_equal (graph_property (g, root, 0, "p1021"), "p1021");
    graph_destroy (g);
}

/* Thousands of nodes with the same labels use only the memory of their vertices. And
 * the requirement: at most 150 bytes for each named thing. */
static void test_memory (void **state)
{
    (void)state;
    static const char *const labels[] = {
        "kubernetes.io/arch",          "amd64", "pool", "big",
        "topology.kubernetes.io/zone", "a",     NULL
    };
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0);
    struct graph_spec s = none;
    for (int64_t i = 0; i < 2000; i++) {
        s.type = "node";
        s.id = i;
        s.properties = labels;
        uint32_t node = graph_add (g, root, &s, NULL);
        add_group (g, node, "core", 0, 36);
        add_group (g, node, "gpu", 0, 4);
    }
    assert_true (graph_memory (g) < 2000 * 3 * 200);
    assert_true (graph_memory (g) / graph_unit_count (g) < 150 / 4);
    size_t before = graph_memory (g);
    for (uint32_t v = 0; v < g->nv; v++) {
        if (graph_vertex (g, v)->type == GRAPH_NODE)
            assert_int_equal (graph_set_property (g, v, 0, "pool", "small"), 0);
    }
    assert_true (graph_memory (g) < before + 1024);
    graph_destroy (g);
}

/* -- subsystems -- */

static void test_edges (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    struct graph_edge e;
    assert_string_equal (graph_subsystem (g), "containment");
    assert_int_equal (graph_set_subsystem (g, "power"), 0);
    assert_int_equal (graph_set_subsystem (g, "a/b"), -EINVAL);
    assert_string_equal (graph_subsystem (g), "power");
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), node = add (g, root, "node", 0);
    uint32_t cores = add_group (g, node, "core", 0, 4);
    struct graph_edge in[] = {
        { "network", "connects", root, 0, node, 0 },
        { "network", NULL, node, 0, cores, 3 },
        { "water", "cools", root, 0, cores, 1 },
        { "network", "connects", root, 0, root, 0 },
    };
    for (size_t i = 0; i < ARRAY_SIZE (in); i++)
        assert_int_equal (graph_edge_add (g, &in[i]), 0);
    assert_true (graph_edge_at (g, "network", 1, &e));
    assert_true (e.from == node && e.to == cores && e.to_unit == 3 && !e.type);
    assert_true (graph_edge_at (g, "water", 0, &e));
    assert_string_equal (e.type, "cools");
    assert_false (graph_edge_at (g, "network", 3, &e) || graph_edge_at (g, "x", 0, &e));
    struct graph_edge bad[] = {
        { "power", NULL, root, 0, node, 0 }, { "a b", NULL, root, 0, node, 0 },
        { NULL, NULL, root, 0, node, 0 },    { "x", NULL, root, 0, cores, 4 },
        { "x", NULL, 99, 0, cores, 0 },
    };
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_int_equal (graph_edge_add (g, &bad[i]), -EINVAL);
    for (int i = 2; i < 66; i++) { /* with network and water: two too many */
        char name[16];
        snprintf (name, sizeof (name), "s%d", i);
        struct graph_edge more = { name, NULL, root, 0, root, 0 };
        assert_int_equal (graph_edge_add (g, &more), i < 64 ? 0 : -E2BIG);
    }
    assert_int_equal (graph_resize (g, cores, 3, 1, NULL), 0); /* unit 3 had a child */
    assert_true (graph_edge_at (g, "network", 1, &e));
    assert_true (e.from == root && e.to == root);
    assert_int_equal (graph_remove (g, node, NULL), 0);
    assert_true (graph_edge_at (g, "network", 0, &e) && e.to == root);
    assert_false (graph_edge_at (g, "network", 1, &e)
                  || graph_edge_at (g, "water", 0, &e));
    graph_destroy (g);
}

static void test_subsystem_paths (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0), v = GRAPH_NONE;
    for (uint32_t i = 0; i < 80; i++) { /* paths do not keep units apart */
        char path[32];
        uint32_t w = add_group (g, root, "core", i, 1);
        v = i == 0 ? w : v;
        assert_int_equal (w, v);
        snprintf (path, sizeof (path), "/power/core%u", i);
        assert_int_equal (graph_set_path_in (g, v, i, "power", path), 0);
    }
    assert_null (graph_path_in (g, v, 7, "network"));
    assert_int_equal (graph_set_path_in (g, v, 7, "network", "/net/port7"), 0);
    assert_string_equal (graph_path_in (g, v, 7, "network"), "/net/port7");
    assert_string_equal (graph_path_in (g, v, 79, "power"), "/power/core79");
    assert_int_equal (graph_set_path_in (g, v, 7, "power", "/p"), 0);
    assert_string_equal (graph_path_in (g, v, 7, "power"), "/p");
    assert_int_equal (graph_set_path_in (g, v, 7, "power", NULL), 0);
    assert_null (graph_path_in (g, v, 7, "power"));
    assert_string_equal (graph_path_in (g, v, 7, "network"), "/net/port7");
    assert_int_equal (graph_set_path_in (g, v, 80, "power", "/p"), -EINVAL);
    assert_int_equal (graph_resize (g, v, 20, 1, NULL), 0);
    assert_int_equal (graph_resize (g, v, 80, 1, NULL), 0);
    assert_null (graph_path_in (g, v, 79, "power")); /* path of another unit */
    assert_string_equal (graph_path_in (g, v, 19, "power"), "/power/core19");
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_tree),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_clashes),
        cmocka_unit_test (test_many_children),
        cmocka_unit_test (test_nodes_and_ranks),
        cmocka_unit_test (test_join),
        cmocka_unit_test (test_join_what_is_a_leaf),
        cmocka_unit_test (test_fields),
        cmocka_unit_test (test_parents),
        cmocka_unit_test (test_types_are_bounded),
        cmocka_unit_test (test_units_are_bounded),
        cmocka_unit_test (test_remove),
        cmocka_unit_test (test_orders_end),
        cmocka_unit_test (test_resize),
        cmocka_unit_test (test_resize_and_back),
        cmocka_unit_test (test_resize_refused),
        cmocka_unit_test (test_status),
        cmocka_unit_test (test_properties),
        cmocka_unit_test (test_property_bounds),
        cmocka_unit_test (test_memory),
        cmocka_unit_test (test_edges),
        cmocka_unit_test (test_subsystem_paths),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

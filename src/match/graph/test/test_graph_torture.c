/* Each allocation fails in turn while a graph is changed and a selection is completed.
 * Fails on a crash, on a leak (ASan), if the graph differs from before a failed change,
 * or if a failure is not reported. Linked with --wrap for malloc and related functions,
 * so that only allocations of src/ fail, not those of shared libraries. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/test/torture.h"
#include "match/graph/selection.h"

/* -- a graph, and all its data -- */

struct rig {
    struct graph *g;
    uint32_t root, node, cores, gpus, memory, many;
};

static int add (struct graph *g, uint32_t parent, const struct graph_spec *spec,
                uint32_t *ret)
{
    struct error err = { 0 };
    uint32_t v = graph_add (g, parent, spec, &err);
    if (ret)
        *ret = v;
    return v == GRAPH_NONE ? -err.code : 0;
}

static void rig_build (struct rig *rig)
{
    static const char *const labels[] = { "arch", "arm", "zone", "a", NULL };
    struct graph *g = rig->g = graph_create ();
    struct graph_spec s = { .type = "cluster", .rank = -1, .uniq = -1 };
    assert_int_equal (add (g, GRAPH_NONE, &s, &rig->root), 0);
    s.type = "node";
    s.rank = 0;
    s.properties = labels;
    assert_int_equal (add (g, rig->root, &s, &rig->node), 0);
    s.type = "memory";
    s.flags = GRAPH_DIVISIBLE;
    s.size = 64;
    assert_int_equal (add (g, rig->node, &s, &rig->memory), 0);
    s = (struct graph_spec){ .type = "gpu", .rank = 0, .uniq = -1, .count = 8 };
    assert_int_equal (add (g, rig->node, &s, &rig->gpus), 0);
    s = (struct graph_spec){ .type = "core", .rank = 0, .uniq = -1, .count = 64 };
    s.leaf = true;
    s.properties = labels;
    assert_int_equal (add (g, rig->node, &s, &rig->cores), 0);
    s = (struct graph_spec){ .type = "rack", .id = 1, .rank = -1, .uniq = -1 };
    assert_int_equal (add (g, rig->root, &s, &rig->many), 0);
    s.type = "disk";
    for (s.id = 0; s.id < 31; s.id += 2)
        assert_int_equal (add (g, rig->many, &s, NULL), 0);
    assert_int_equal (graph_set_property (g, rig->cores, 3, "zone", "b"), 0);
    assert_int_equal (graph_set_flag (g, rig->cores, 4, GRAPH_DRAINED, true), 0);
    assert_int_equal (graph_set_path_in (g, rig->cores, 5, "power", "/p5"), 0);
}

static void tell_unit (const struct graph *g, uint32_t v, uint32_t unit,
                       struct strbuf *sb)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    const char *key, *value, *power = graph_path_in (g, v, unit, "power");
    uint32_t found, found_unit;
    size_t from = sb->len;
    assert_int_equal (graph_path (g, v, unit, sb), 0);
    assert_int_equal (graph_find_path (g, sb->buf + from, &found, &found_unit), 0);
    assert_true (found == v && found_unit == unit);
    strbuf_addf (sb, " %s %s %d %jd %jd %d %s", graph_basename (g, v),
                 graph_unit_name (g, v), x->rank, (intmax_t)x->size,
                 (intmax_t)(x->uniq + unit), graph_is_up (g, v, unit),
                 power ? power : "");
    for (size_t i = 0; graph_property_at (g, v, unit, i, &key, &value); i++)
        strbuf_addf (sb, " %s=%s", key, value);
    strbuf_addch (sb, '\n');
}

static void tell (const struct graph *g, uint32_t v, struct strbuf *sb)
{
    for (uint32_t i = 0; i < graph_vertex (g, v)->n; i++)
        tell_unit (g, v, i, sb);
    GRAPH_CHILDREN (g, v, c)
    {
        tell (g, c, sb);
    }
}

static char *told (const struct graph *g)
{
    struct strbuf sb;
    struct graph_edge e;
    strbuf_init (&sb, 1 << 20);
    strbuf_addf (&sb, "%s %ju %d %u %u\n", graph_subsystem (g), (uintmax_t)g->layout,
                 graph_type_find (g, "fpga"), graph_find_node (g, "node0"),
                 graph_find_rank (g, 7));
    tell (g, g->root, &sb);
    for (size_t i = 0; graph_edge_at (g, "water", i, &e); i++)
        strbuf_addf (&sb, "%u %u %s\n", e.from, e.to, e.type);
    for (size_t i = 0; graph_edge_at (g, graph_subsystem (g), i, &e); i++)
        strbuf_addf (&sb, "%u also below %u: %s\n", e.to, e.from, e.type);
    return strbuf_detach (&sb);
}

/* -- steps that may fail -- */

static int add_group (struct rig *rig)
{
    static const char *const properties[] = { "speed", "9", "arch", "arm", NULL };
    struct graph_spec s = { .type = "fpga",
                            .basename = "f",
                            .unit = "MHz",
                            .count = 100,
                            .rank = 7,
                            .uniq = -1,
                            .properties = properties };
    return add (rig->g, rig->node, &s, NULL);
}

static int add_namesake (struct rig *rig)
{
    struct graph_spec s = { .type = "node", .name = "node0", .uniq = -1, .id = 5 };
    return add (rig->g, rig->many, &s, NULL); /* this is the 17th child */
}

static int add_to_group (struct rig *rig)
{
    static const char *const labels[] = { "arch", "arm", "zone", "a", NULL };
    struct graph_spec s = { .type = "core", .id = 64, .leaf = true };
    uint32_t v;
    s.uniq = graph_vertex (rig->g, rig->cores)->uniq + 64;
    s.properties = labels;
    int rc = add (rig->g, rig->node, &s, &v);
    assert_true (rc < 0 || v == rig->cores);
    return rc;
}

static int resize_up (struct rig *rig)
{
    return graph_resize (rig->g, rig->cores, 200, 1, NULL);
}

static int resize_down (struct rig *rig)
{
    struct graph_vertex *x = graph_vertex (rig->g, rig->gpus);
    x->busy.bits = 128; /* the last unit: it stays as down */
    x->nclaims = 1;
    return graph_resize (rig->g, rig->gpus, 7, 1, NULL);
}

static int flag_unit (struct rig *rig)
{
    return graph_set_flag (rig->g, rig->cores, 9, GRAPH_DOWN, true);
}

static int property_of_unit (struct rig *rig)
{
    return graph_set_property (rig->g, rig->cores, 9, "new", "thing");
}

static int property_of_all (struct rig *rig)
{
    return graph_set_property (rig->g, rig->cores, GRAPH_NONE, "new", "thing");
}

static int first_property (struct rig *rig)
{
    return graph_set_property (rig->g, rig->root, 0, "new", "thing");
}

static int path (struct rig *rig)
{
    return graph_set_path_in (rig->g, rig->memory, 0, "power", "/m");
}

static int path_again (struct rig *rig)
{
    return graph_set_path_in (rig->g, rig->cores, 5, "power", "/q5");
}

static int edge (struct rig *rig)
{
    struct graph_edge e = { "water", "cools", rig->root, 0, rig->cores, 63 };
    return graph_edge_add (rig->g, &e);
}

static int associate (struct rig *rig)
{
    return graph_associate (rig->g, rig->many, rig->memory, "backs", NULL);
}

static int subsystem (struct rig *rig)
{
    return graph_set_subsystem (rig->g, "site");
}

static int select_units (struct rig *rig)
{
    autoselection struct selection *s = selection_create ();
    static const struct {
        uint32_t unit, count;
    } runs[] = { { 40, 20 }, { 0, 50 }, { 3, 3 }, { 45, 1 } };
    for (size_t i = 0; s && i < ARRAY_SIZE (runs); i++) {
        struct pick *p = selection_add (s, rig->g, rig->cores, runs[i].unit,
                                        runs[i].count, GRAPH_NONE);
        if (!p)
            return -ENOMEM;
        p->label = (uint16_t)(4 - i);
    }
    if (!s)
        return -ENOMEM;
    int rc = selection_add_way (s, rig->cores, rig->many);
    if (rc == 0)
        rc = selection_complete (s, rig->g);
    assert_int_equal (s->n, rc < 0 ? ARRAY_SIZE (runs) : 8);
    assert_int_equal (s->picks[s->n - 1].unit, rc < 0 ? 45 : 50);
    return rc;
}

/* Lets the n-th allocation of a step fail; returns false if the step needed fewer. */
static bool torture (int (*change) (struct rig *rig), long n)
{
    struct rig rig;
    rig_build (&rig);
    char *before = told (rig.g);
    torture_countdown = n;
    int rc = change (&rig);
    bool reached = torture_countdown < 0;
    torture_countdown = -1;
    char *after = told (rig.g);
    assert_true (rc == 0 || (reached && rc == -ENOMEM));
    if (rc < 0)
        assert_string_equal (after, before);
    else if (change != select_units)
        assert_string_not_equal (after, before);
    free (before);
    free (after);
    graph_destroy (rig.g);
    return reached;
}

static void test_changes (void **state)
{
    (void)state;
    static int (*const changes[]) (
        struct rig *) = { add_group,   add_namesake, add_to_group,     resize_up,
                          resize_down, flag_unit,    property_of_all,  first_property,
                          path,        path_again,   property_of_unit, edge,
                          associate,   subsystem,    select_units };
    for (size_t i = 0; i < ARRAY_SIZE (changes); i++) {
        long n = 0;
        while (torture (changes[i], n))
            n++;
        assert_true (n >= 1); /* each step allocates */
    }
}

static void test_create (void **state)
{
    (void)state;
    bool done = false;
    for (long n = 0; !done; n++) {
        torture_countdown = n;
        struct graph *g = graph_create ();
        done = torture_countdown >= 0;
        torture_countdown = -1;
        assert_int_equal (g != NULL, done);
        graph_destroy (g);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_changes),
                                        cmocka_unit_test (test_create) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* test_graph_unit.c - single units leave their groups; nodes that share a name */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "match/graph/graph.h"

struct world {
    struct graph *g;
    uint32_t node, cores, memory;
};

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int64_t id,
                     uint32_t count)
{
    const char *const properties[] = { "speed", "1", NULL };
    struct graph_spec spec = { .type = type,
                               .id = id,
                               .uniq = -1,
                               .count = count,
                               .rank = -1,
                               .leaf = count > 1,
                               .properties = count > 1 ? properties : NULL };
    uint32_t v = graph_add (g, parent, &spec, NULL);

    assert_int_not_equal (v, GRAPH_NONE);
    return v;
}

/* cluster0/node0 with n cores and then a memory. */
static void make (struct world *w, uint32_t n)
{
    w->g = graph_create ();
    w->node = add (w->g, add (w->g, GRAPH_NONE, "cluster", 0, 1), "node", 0, 1);
    w->cores = add (w->g, w->node, "core", 0, n);
    w->memory = add (w->g, w->node, "memory", 0, 1);
}

static bool find (const struct world *w, unsigned core, uint32_t *v, uint32_t *unit)
{
    char path[64];

    snprintf (path, sizeof (path), "/cluster0/node0/core%u", core);
    return graph_find_path (w->g, path, v, unit) == 0;
}

/* Exactly these cores exist, each with its old id and number, before memory0. */
static void expect (const struct world *w, uint32_t n, const bool *there)
{
    uint32_t v, unit, seen = 0, last = GRAPH_NONE;
    char name[32], want[32];

    for (unsigned core = 0; core < n; core++) {
        assert_int_equal (find (w, core, &v, &unit), there[core]);
        if (!there[core])
            continue;
        snprintf (want, sizeof (want), "core%u", core);
        assert_string_equal (graph_name (w->g, v, unit, name, sizeof (name)), want);
        assert_int_equal (graph_vertex (w->g, v)->uniq + unit, 2 + core);
        seen++;
    }
    assert_int_equal (graph_type_count (w->g, GRAPH_CORE), seen);
    assert_int_equal (graph_unit_count (w->g), seen + 3);
    GRAPH_CHILDREN (w->g, w->node, c)
    {
        if (last != GRAPH_NONE) {
            assert_true (graph_vertex (w->g, last)->order
                         < graph_vertex (w->g, c)->order);
            assert_int_equal (graph_vertex (w->g, c)->prev, last);
        }
        last = c;
    }
    assert_int_equal (last, w->memory);
}

static void any_unit_in_any_order (void **state)
{
    static const uint32_t sizes[] = { 2, 5, 64, 65, 200 };
    static const unsigned steps[] = { 1, 3, 7 }; /* coprime to sizes except 5, 65 */

    (void)state;
    for (size_t s = 0; s < ARRAY_SIZE (sizes); s++) {
        for (size_t k = 0; k < ARRAY_SIZE (steps); k++) {
            uint32_t n = sizes[s], v, unit;
            bool there[200];
            struct world w;

            make (&w, n);
            memset (there, true, sizeof (there));
            for (unsigned i = 0; i < n; i++) {
                unsigned core = (i * steps[k] + n / 2) % n;
                if (!there[core])
                    continue;
                assert_true (find (&w, core, &v, &unit));
                assert_int_equal (graph_remove_unit (w.g, v, unit, NULL), 0);
                there[core] = false;
                expect (&w, n, there);
            }
            graph_destroy (w.g);
        }
    }
}

static void what_units_have_stays_with_them (void **state)
{
    struct graph_edge e = { .subsystem = "power", .to_unit = 70 };
    struct world w;
    uint32_t v, unit;

    (void)state;
    make (&w, 100);
    assert_int_equal (graph_set_flag (w.g, w.cores, 3, GRAPH_DOWN, true), 0);
    assert_int_equal (graph_set_flag (w.g, w.cores, 80, GRAPH_DRAINED, true), 0);
    assert_int_equal (graph_set_property (w.g, w.cores, 81, "speed", "2"), 0);
    assert_int_equal (graph_set_property (w.g, w.cores, 82, "speed", NULL), 0);
    assert_int_equal (graph_set_path_in (w.g, w.cores, 83, "power", "/p/core83"), 0);
    e.from = w.node;
    e.to = w.cores;
    for (e.to_unit = 49; e.to_unit <= 51; e.to_unit++)
        assert_int_equal (graph_edge_add (w.g, &e), 0);
    assert_int_equal (graph_remove_unit (w.g, w.cores, 50, NULL), 0);

    assert_true (find (&w, 3, &v, &unit) && !graph_is_up (w.g, v, unit));
    assert_true (find (&w, 80, &v, &unit) && !graph_is_up (w.g, v, unit));
    assert_true (find (&w, 79, &v, &unit) && graph_is_up (w.g, v, unit));
    assert_string_equal (graph_property (w.g, v, unit, "speed"), "1");
    assert_true (find (&w, 81, &v, &unit));
    assert_string_equal (graph_property (w.g, v, unit, "speed"), "2");
    assert_true (find (&w, 82, &v, &unit));
    assert_null (graph_property (w.g, v, unit, "speed"));
    assert_true (find (&w, 83, &v, &unit));
    assert_string_equal (graph_path_in (w.g, v, unit, "power"), "/p/core83");
    assert_true (graph_edge_at (w.g, "power", 0, &e));
    assert_true (e.to == w.cores && e.to_unit == 49);
    assert_true (graph_edge_at (w.g, "power", 1, &e));
    assert_true (find (&w, 51, &v, &unit) && e.to == v && e.to_unit == unit);
    assert_false (graph_edge_at (w.g, "power", 2, &e));
    graph_destroy (w.g);
}

static void what_is_booked_or_not_there_is_refused (void **state)
{
    struct error err = { 0 };
    struct world w;

    (void)state;
    make (&w, 4);
    assert_int_equal (graph_remove_unit (w.g, w.cores, 4, &err), -EINVAL);
    assert_int_equal (graph_remove_unit (w.g, 1000, 0, &err), -EINVAL);
    graph_vertex (w.g, w.cores)->nclaims = 1;
    assert_int_equal (graph_remove_unit (w.g, w.cores, 1, &err), -EBUSY);
    assert_non_null (strstr (err.text, "/cluster0/node0/core0"));
    graph_vertex (w.g, w.cores)->nclaims = 0;
    assert_int_equal (graph_unit_count (w.g), 7);
    graph_destroy (w.g);
}

static uint32_t add_node (struct graph *g, uint32_t root, int32_t rank)
{
    struct graph_spec spec = {
        .type = "node", .name = "host", .id = rank, .uniq = -1, .rank = rank
    };

    return graph_add (g, root, &spec, NULL);
}

static void ranks_may_share_a_host (void **state)
{
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0, 1), v, unit;
    uint32_t a = add_node (g, root, 0), b = add_node (g, root, 1),
             c = add_node (g, root, 2);

    (void)state;
    assert_true (a != GRAPH_NONE && b != GRAPH_NONE && c != GRAPH_NONE);
    assert_int_equal (add_node (g, root, 1), GRAPH_NONE);
    assert_int_equal (add_node (g, root, -1), GRAPH_NONE);
    assert_int_equal (graph_find_rank (g, 1), b);
    assert_int_equal (graph_find_node (g, "host"), a);
    assert_int_equal (graph_find_path (g, "/cluster0/host", &v, &unit), 0);
    assert_true (v == a || v == b || v == c);
    assert_int_equal (graph_remove (g, a, NULL), 0);
    assert_int_equal (graph_find_node (g, "host"), b);
    assert_int_equal (graph_find_path (g, "/cluster0/host", &v, &unit), 0);
    assert_int_equal (graph_remove (g, b, NULL), 0);
    assert_int_equal (graph_remove (g, c, NULL), 0);
    assert_int_equal (graph_find_path (g, "/cluster0/host", &v, &unit), -ENOENT);
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (any_unit_in_any_order),
        cmocka_unit_test (what_units_have_stays_with_them),
        cmocka_unit_test (what_is_booked_or_not_there_is_refused),
        cmocka_unit_test (ranks_may_share_a_host),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

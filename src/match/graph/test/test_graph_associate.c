/* Further parents. Fails if a list lacks an edge or has another order, if there is a
 * cycle, too many or too long ways, if an edge outlives its ends, if a vertex with
 * several parents becomes a unit of a group, or if a refusal changes anything. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "match/graph/graph.h"
#include "match/test/chance.h"

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int64_t id,
                     bool leaf)
{
    struct graph_spec s = {
        .type = type, .id = id, .uniq = -1, .rank = -1, .leaf = leaf
    };
    struct error err = { 0 };
    uint32_t v = graph_add (g, parent, &s, &err);
    assert_string_equal (err.text, "");
    return v;
}

static void associate (struct graph *g, uint32_t parent, uint32_t v)
{
    struct error err = { 0 };
    assert_int_equal (graph_associate (g, parent, v, NULL, &err), 0);
    assert_string_equal (err.text, "");
}

static void refused (struct graph *g, uint32_t parent, uint32_t v, int code,
                     const char *text)
{
    struct error err = { 0 };
    uint64_t layout = g->layout;
    size_t n = graph_further_count (g);
    assert_int_equal (graph_associate (g, parent, v, NULL, &err), -code);
    assert_string_equal (err.text, text);
    assert_int_equal (graph_further_count (g), n);
    assert_int_equal (g->layout, layout);
}

static void assert_children (const struct graph *g, uint32_t parent, const uint32_t *want,
                             size_t n)
{
    size_t i = 0;
    GRAPH_FURTHER (g, parent, c)
    {
        assert_true (i < n);
        assert_int_equal (c, want[i++]);
    }
    assert_int_equal (i, n);
    assert_int_equal (!!(graph_vertex (g, parent)->flags & GRAPH_FURTHER_CHILDREN),
                      n > 0);
}

static void assert_parents (const struct graph *g, uint32_t v, const uint32_t *want,
                            size_t n)
{
    uint32_t at = GRAPH_NONE;
    for (size_t i = 0; i < n; i++)
        assert_int_equal (graph_further_parent (g, v, &at), want[i]);
    assert_int_equal (graph_further_parent (g, v, &at), GRAPH_NONE);
    assert_int_equal (!!(graph_vertex (g, v)->flags & GRAPH_FURTHER_PARENTS), n > 0);
}

/* -- a machine with storage of its racks, which two file systems share -- */

struct rig {
    struct graph *g;
    uint32_t root, rack[3], unit[3], fs[2];
};

static struct rig build (void)
{
    struct rig r = { .g = graph_create () };
    r.root = add (r.g, GRAPH_NONE, "cluster", 0, false);
    for (int i = 0; i < 3; i++) {
        r.rack[i] = add (r.g, r.root, "rack", i, false);
        r.unit[i] = add (r.g, r.rack[i], "storage", i, false);
    }
    for (int i = 0; i < 2; i++)
        r.fs[i] = add (r.g, r.root, "fs", i, i == 0);
    return r;
}

static void test_lists (void **state)
{
    (void)state;
    struct rig r = build ();
    struct graph *g = r.g;
    struct graph_edge e;
    uint64_t layout = g->layout;
    assert_int_equal (graph_further_count (g), 0);
    assert_children (g, r.fs[0], NULL, 0);
    assert_true (graph_is_leaf (g, r.fs[0]));
    associate (g, r.fs[0], r.unit[2]);
    associate (g, r.fs[1], r.unit[1]);
    assert_int_equal (graph_associate (g, r.fs[0], r.unit[0], "backs", NULL), 0);
    associate (g, r.fs[1], r.unit[2]);
    assert_true (g->layout > layout);
    assert_int_equal (graph_further_count (g), 4);
    assert_children (g, r.fs[0], (uint32_t[]){ r.unit[2], r.unit[0] }, 2);
    assert_children (g, r.fs[1], (uint32_t[]){ r.unit[1], r.unit[2] }, 2);
    assert_parents (g, r.unit[2], r.fs, 2);
    assert_parents (g, r.unit[0], r.fs, 1);
    assert_parents (g, r.rack[0], NULL, 0);
    assert_false (graph_is_leaf (g, r.fs[0]));
    assert_int_equal (graph_vertex (g, r.fs[0])->first, GRAPH_NONE);
    assert_true (graph_edge_at (g, "containment", 2, &e));
    assert_true (e.from == r.fs[0] && e.to == r.unit[0]);
    assert_string_equal (e.type, "backs");
    assert_true (graph_edge_at (g, "containment", 3, &e) && !e.type);
    assert_false (graph_edge_at (g, "containment", 4, &e));
    graph_destroy (g);
}

static void test_refused (void **state)
{
    (void)state;
    struct rig r = build ();
    struct graph *g = r.g;
    struct error err = { 0 };
    uint32_t cores = add (g, r.rack[0], "core", 0, true);
    assert_int_equal (add (g, r.rack[0], "core", 1, true), cores);
    associate (g, r.fs[0], r.rack[1]);
    refused (g, r.root, 99, EINVAL, "there is no vertex 99");
    refused (g, 99, r.root, EINVAL, "there is no vertex 99");
    refused (g, r.fs[0], cores, EINVAL,
             "/cluster0/rack0/core0 is one of a group of 2 leaves: these have no further "
             "parents or children");
    refused (g, cores, r.fs[0], EINVAL,
             "/cluster0/rack0/core0 is one of a group of 2 leaves: these have no further "
             "parents or children");
    refused (
        g, r.unit[0], r.unit[0], EINVAL,
        "/cluster0/rack0/storage0 cannot be below /cluster0/rack0/storage0, which is "
        "below it");
    refused (g, r.fs[0], r.root, EINVAL,
             "/cluster0 cannot be below /cluster0/fs0, which is below it");
    refused (g, r.unit[1], r.fs[0], EINVAL,
             "/cluster0/fs0 cannot be below /cluster0/rack1/storage1, which is below it");
    refused (g, r.fs[0], r.rack[1], EEXIST,
             "/cluster0/rack1 is below /cluster0/fs0 already");
    refused (g, r.root, r.rack[1], EEXIST, "/cluster0/rack1 is below /cluster0 already");
    assert_int_equal (graph_associate (g, r.fs[1], r.rack[1], "", &err), -EINVAL);
    assert_int_equal (graph_further_count (g), 1);
    graph_destroy (g);
}

static void test_too_deep (void **state)
{
    (void)state;
    struct rig r = build ();
    struct graph *g = r.g;
    struct graph_spec s = { .type = "x", .uniq = -1, .rank = -1 };
    struct error err = { 0 };
    uint32_t v = r.root, deep[GRAPH_DEPTH_MAX] = { 0 };
    for (int d = 1; d < GRAPH_DEPTH_MAX; d++)
        deep[d] = v = add (g, v, "box", 0, false);
    refused (g, deep[62], r.rack[0], E2BIG,
             "/cluster0/rack0/storage0: more than 64 levels");
    associate (g, deep[61], r.rack[0]);
    assert_int_equal (graph_add (g, r.unit[0], &s, &err), GRAPH_NONE);
    assert_string_equal (err.text, "/cluster0/rack0/storage0: more than 64 levels");
    add (g, r.rack[0], "x", 0, false);
    graph_destroy (g);
}

/* Each step has two ways, so the number of ways doubles. */
static void test_too_many_ways (void **state)
{
    (void)state;
    struct rig r = build ();
    struct graph *g = r.g;
    uint32_t top = r.rack[0], below;
    for (int i = 0; i < 8; i++) {
        uint32_t left = add (g, top, "left", 0, false);
        uint32_t right = add (g, top, "right", 0, false);
        below = add (g, left, "step", i, false);
        associate (g, right, below);
        top = below;
    }
    below = add (g, r.rack[1], "last", 0, false);
    refused (g, top, below, E2BIG,
             "/cluster0/rack1/last0: more than 256 ways lead to it");
    below = add (g, top, "last", 0, false);
    refused (g, r.rack[1], below, E2BIG,
             "/cluster0/rack0/left0/step0/left0/step1/left0/step2/left0/step3/left0/"
             "step4/left0/step5/left0/step6/left0/step7/last0: more than 256 ways lead "
             "to it");
    graph_destroy (g);
}

static void test_removed (void **state)
{
    (void)state;
    struct rig r = build ();
    struct graph *g = r.g;
    for (int i = 0; i < 3; i++) {
        associate (g, r.fs[0], r.unit[i]);
        associate (g, r.fs[1], r.unit[i]);
    }
    assert_int_equal (graph_remove (g, r.rack[1], NULL), 0);
    assert_children (g, r.fs[0], (uint32_t[]){ r.unit[0], r.unit[2] }, 2);
    assert_parents (g, r.unit[2], r.fs, 2);
    assert_int_equal (graph_remove (g, r.fs[0], NULL), 0);
    assert_parents (g, r.unit[2], &r.fs[1], 1);
    assert_int_equal (graph_further_count (g), 2);
    assert_int_equal (graph_remove (g, r.fs[1], NULL), 0);
    assert_parents (g, r.unit[2], NULL, 0);
    assert_int_equal (graph_further_count (g), 0);
    /* their handles are reused for vertices without further parents */
    for (int i = 0; i < 6; i++)
        assert_children (g, add (g, r.root, "new", i, false), NULL, 0);
    graph_destroy (g);
}

static void test_stays_alone (void **state)
{
    (void)state;
    struct rig r = build ();
    struct graph *g = r.g;
    struct error err = { 0 };
    uint32_t disk = add (g, r.rack[0], "disk", 0, true);
    associate (g, r.fs[0], disk);
    assert_int_not_equal (add (g, r.rack[0], "disk", 1, true), disk);
    assert_int_equal (graph_resize (g, disk, 2, 1, &err), -EINVAL);
    assert_string_equal (err.text,
                         "/cluster0/rack0/disk0 cannot be 2: it has several parents");
    assert_int_equal (graph_resize (g, r.fs[0], 2, 1, &err), -EINVAL);
    assert_string_equal (err.text, "/cluster0/fs0 cannot be 2: it has children");
    graph_destroy (g);
}

/* -- compared with a table of ancestors -- */

#define MANY 24

struct model {
    struct graph *g;
    uint32_t v[MANY]; /* GRAPH_NONE: no vertex */
    int tree[MANY];   /* its parent, or -1 */
    int list[MANY * MANY][2];
    size_t n;
};

static bool is_edge (const struct model *m, int up, int v)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->list[i][0] == up && m->list[i][1] == v)
            return true;
    return m->tree[v] == up;
}

/* The number of ways to v; *ret_longest is the longest. */
static unsigned ways (const struct model *m, int v, unsigned *ret_longest)
{
    unsigned n = v == 0, longest = 0, one;
    for (int up = 0; up < MANY; up++) {
        if (m->v[up] == GRAPH_NONE || !is_edge (m, up, v))
            continue;
        n += ways (m, up, &one);
        longest = MAX (longest, one + 1);
    }
    *ret_longest = longest;
    return n;
}

static bool reaches (const struct model *m, int top, int v)
{
    for (int up = 0; up < MANY; up++)
        if (m->v[up] != GRAPH_NONE && is_edge (m, up, v)
            && (up == top || reaches (m, top, up)))
            return true;
    return top == v;
}

static int expected (struct model *m, int up, int v)
{
    unsigned longest;
    int rc = 0;
    if (reaches (m, v, up))
        return -EINVAL;
    if (is_edge (m, up, v))
        return -EEXIST;
    m->list[m->n][0] = up;
    m->list[m->n++][1] = v;
    for (int i = 0; i < MANY && rc == 0; i++)
        if (m->v[i] != GRAPH_NONE && ways (m, i, &longest) > GRAPH_WAYS_MAX)
            rc = -E2BIG;
    m->n -= rc < 0;
    return rc;
}

static void drop (struct model *m, int v)
{
    size_t kept = 0;
    m->v[v] = GRAPH_NONE;
    for (int i = 0; i < MANY; i++)
        if (m->v[i] != GRAPH_NONE && m->tree[i] == v)
            drop (m, i);
    m->tree[v] = -1;
    for (size_t i = 0; i < m->n; i++)
        if (m->list[i][0] != v && m->list[i][1] != v)
            memmove (m->list[kept++], m->list[i], sizeof (m->list[i]));
    m->n = kept;
}

static void check (const struct model *m)
{
    assert_int_equal (graph_further_count (m->g), m->n);
    for (int v = 0; v < MANY; v++) {
        uint32_t down[MANY * MANY], up[MANY * MANY];
        size_t ndown = 0, nup = 0;
        if (m->v[v] == GRAPH_NONE)
            continue;
        for (size_t i = 0; i < m->n; i++) {
            if (m->list[i][0] == v)
                down[ndown++] = m->v[m->list[i][1]];
            if (m->list[i][1] == v)
                up[nup++] = m->v[m->list[i][0]];
        }
        assert_children (m->g, m->v[v], down, ndown);
        assert_parents (m->g, m->v[v], up, nup);
    }
}

static void test_random (void **state)
{
    (void)state;
    unsigned seen[4] = { 0 };
    chance_begin ("test_random");
    for (int turn = 0; turn < 40; turn++) {
        struct model m = { .g = graph_create () };
        memset (m.v, 0xff, sizeof (m.v));
        memset (m.tree, 0xff, sizeof (m.tree));
        m.v[0] = add (m.g, GRAPH_NONE, "top", 0, false);
        for (int step = 0; step < 150; step++) {
            int a = (int)chance_below (MANY), b = (int)chance_below (MANY);
            if (m.v[a] == GRAPH_NONE)
                continue;
            if (m.v[b] == GRAPH_NONE) {
                m.v[b] = add (m.g, m.v[a], "v", b, false);
                m.tree[b] = a;
            } else if (b > 0 && chance_below (20) == 0) {
                assert_int_equal (graph_remove (m.g, m.v[b], NULL), 0);
                drop (&m, b);
            } else {
                int want = expected (&m, a, b);
                assert_int_equal (graph_associate (m.g, m.v[a], m.v[b], NULL, NULL),
                                  want);
                seen[want == 0 ? 0 : want == -EINVAL ? 1 : want == -EEXIST ? 2 : 3]++;
            }
            check (&m);
        }
        graph_destroy (m.g);
    }
    for (int i = 0; i < 3; i++) /* too many ways are rare, so three tries */
        assert_true (seen[i] > 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_lists),    cmocka_unit_test (test_refused),
        cmocka_unit_test (test_too_deep), cmocka_unit_test (test_too_many_ways),
        cmocka_unit_test (test_removed),  cmocka_unit_test (test_stays_alone),
        cmocka_unit_test (test_random),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

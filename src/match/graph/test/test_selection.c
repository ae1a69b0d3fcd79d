/* Selections. Fails if picks have another order than the graph, if a way to the root is
 * missing or repeated, if different runs are joined or equal runs are split, or if
 * marks are lost when picks are united. Random selections are compared with a table
 * with a line for each unit of the graph. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "match/test/inspect.h"

#define RACKS 3
#define NODES 4 /* in each rack */
#define CORES 9 /* in each node: 0-3, and separately 10-14 */

struct world {
    struct graph *g;
    uint32_t root, rack[RACKS], node[RACKS * NODES];
    uint32_t low[RACKS * NODES], high[RACKS * NODES], memory[RACKS * NODES];
};

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int64_t id,
                     uint32_t count)
{
    struct graph_spec s = { .type = type,
                            .id = id,
                            .count = count,
                            .uniq = -1,
                            .rank = -1,
                            .size = strcmp (type, "memory") == 0 ? 64 : 1,
                            .flags = strcmp (type, "memory") == 0 ? GRAPH_DIVISIBLE : 0 };
    uint32_t v = graph_add (g, parent, &s, NULL);
    assert_int_not_equal (v, GRAPH_NONE);
    return v;
}

/* Handles are not in the order of the graph: nodes are added to the racks in turn. */
static struct world world_make (void)
{
    struct world w = { .g = graph_create () };
    w.root = add (w.g, GRAPH_NONE, "cluster", 0, 1);
    for (unsigned i = 0; i < RACKS; i++)
        w.rack[i] = add (w.g, w.root, "rack", i, 1);
    for (unsigned n = 0; n < NODES; n++) {
        for (unsigned r = 0; r < RACKS; r++) {
            unsigned i = r * NODES + n;
            w.node[i] = add (w.g, w.rack[r], "node", i, 1);
            w.low[i] = add (w.g, w.node[i], "core", 0, 4);
            w.memory[i] = add (w.g, w.node[i], "memory", 0, 1);
            w.high[i] = add (w.g, w.node[i], "core", 10, 5);
        }
    }
    return w;
}

/* "cluster0 rack1 node4 core0-3x": x exclusive, c claimed, :n slots, =n label, *n an
 * amount other than the size. */
static char *text_of (const struct selection *s, const struct graph *g)
{
    struct strbuf sb;
    strbuf_init (&sb, 1 << 20);
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        char name[32];
        graph_name (g, p->v, p->unit, name, sizeof (name));
        strbuf_addf (&sb, "%s%s", i ? " " : "", name);
        if (p->count > 1)
            strbuf_addf (&sb, "+%u", p->count - 1);
        strbuf_addf (&sb, "%s%s", p->exclusive ? "x" : "", p->claimed ? "c" : "");
        if (p->slots)
            strbuf_addf (&sb, ":%u", p->slots);
        if (p->label)
            strbuf_addf (&sb, "=%u", p->label);
        if (p->amount != graph_vertex (g, p->v)->size)
            strbuf_addf (&sb, "*%jd", (intmax_t)p->amount);
        if (i > 0)
            assert_true (selection_is_further (s, g, p)
                         || s->picks[p->parent].v == graph_vertex (g, p->v)->parent);
        else
            assert_int_equal (p->parent, GRAPH_NONE);
    }
    return strbuf_detach (&sb);
}

static void assert_completes (struct selection *s, const struct graph *g, const char *to)
{
    for (int again = 0; again < 2; again++) { /* a complete selection stays unchanged */
        assert_int_equal (selection_complete (s, g), 0);
        char *text = text_of (s, g);
        assert_string_equal (text, to);
        free (text);
    }
}

static struct pick *claim (struct selection *s, const struct graph *g, uint32_t v,
                           uint32_t unit, uint32_t count)
{
    struct pick *p = selection_add (s, g, v, unit, count, GRAPH_NONE);
    assert_non_null (p);
    p->exclusive = p->claimed = true;
    return p;
}

static void test_ways (void **state)
{
    (void)state;
    struct world w = world_make ();
    autoselection struct selection *s = selection_create ();
    assert_completes (s, w.g, "");
    claim (s, w.g, w.high[5], 1, 2);
    assert_completes (s, w.g, "cluster0 rack1 node5 core11+1xc");
    claim (s, w.g, w.low[0], 3, 1); /* before all others */
    claim (s, w.g, w.rack[2], 0, 1);
    assert_completes (s, w.g,
                      "cluster0 rack0 node0 core3xc rack1 node5 core11+1xc rack2xc");
    assert_int_equal (s->picks[0].amount, 1);
    assert_int_equal (s->picks[3].parent, 2);
    assert_int_equal (s->picks[6].parent, 5);
    graph_destroy (w.g);
}

static void test_runs (void **state)
{
    (void)state;
    struct world w = world_make ();
    autoselection struct selection *s = selection_create ();
    claim (s, w.g, w.high[0], 4, 1);
    claim (s, w.g, w.high[0], 0, 1);
    claim (s, w.g, w.low[0], 0, 4);
    claim (s, w.g, w.high[0], 2, 1);
    claim (s, w.g, w.high[0], 3, 1);
    assert_completes (s, w.g, "cluster0 rack0 node0 core0+3xc core10xc core12+2xc");
    claim (s, w.g, w.high[0], 1, 1)->label = 3; /* fits between, but differs */
    assert_completes (s, w.g,
                      "cluster0 rack0 node0 core0+3xc core10xc core11xc=3 core12+2xc");
    graph_destroy (w.g);
}

static void test_overlaps (void **state)
{
    (void)state;
    struct world w = world_make ();
    autoselection struct selection *s = selection_create ();
    claim (s, w.g, w.high[0], 0, 4);
    selection_add (s, w.g, w.high[0], 2, 3, GRAPH_NONE)->exclusive = true;
    assert_completes (s, w.g, "cluster0 rack0 node0 core10+3xc core14x");
    selection_add (s, w.g, w.high[0], 0, 5, GRAPH_NONE)->label = 9;
    selection_add (s, w.g, w.high[0], 1, 1, GRAPH_NONE)->label = 4;
    assert_completes (
        s, w.g, "cluster0 rack0 node0 core10xc=9 core11xc=4 core12+1xc=9 core14x=9");
    claim (s, w.g, w.high[0], 4, 1); /* now equal to those before it */
    assert_completes (s, w.g, "cluster0 rack0 node0 core10xc=9 core11xc=4 core12+2xc=9");
    graph_destroy (w.g);
}

static void test_united (void **state)
{
    (void)state;
    struct world w = world_make ();
    autoselection struct selection *s = selection_create ();
    for (int slot = 0; slot < 3; slot++) { /* slots with a core and some memory each */
        selection_add (s, w.g, w.node[6], 0, 1, GRAPH_NONE)->slots = 1;
        claim (s, w.g, w.low[6], (uint32_t)slot, 1)->label = 2;
        claim (s, w.g, w.memory[6], 0, 1)->amount = 10;
    }
    assert_completes (s, w.g, "cluster0 rack1 node6:3 core0+2xc=2 memory0xc*30");
    /* a vertex that is only on the way does not tell the amount */
    selection_add (s, w.g, w.memory[6], 0, 1, GRAPH_NONE);
    assert_completes (s, w.g, "cluster0 rack1 node6:3 core0+2xc=2 memory0xc*30");
    claim (s, w.g, w.node[6], 0, 1);
    claim (s, w.g, w.memory[6], 0, 1)->amount = INT64_MAX;
    assert_completes (
        s, w.g, "cluster0 rack1 node6xc:3 core0+2xc=2 memory0xc*9223372036854775807");
    graph_destroy (w.g);
}

/* Node 0 also belongs to racks 1 and 2, and has the memory of node 5 as well. */
static void associate (const struct world *w)
{
    assert_int_equal (graph_associate (w->g, w->rack[2], w->node[0], NULL, NULL), 0);
    assert_int_equal (graph_associate (w->g, w->rack[1], w->node[0], NULL, NULL), 0);
    assert_int_equal (graph_associate (w->g, w->node[0], w->memory[5], NULL, NULL), 0);
}

static void test_further (void **state)
{
    (void)state;
    struct world w = world_make ();
    autoselection struct selection *s = selection_create ();
    associate (&w);
    claim (s, w.g, w.low[0], 0, 1);
    claim (s, w.g, w.low[8], 0, 1);
    claim (s, w.g, w.memory[5], 0, 1);
    assert_completes (s, w.g,
                      "cluster0 rack0 node0 core0xc rack1 node5 memory0xc rack2 node8 "
                      "core0xc");
    claim (s, w.g, w.low[1], 0, 1);
    assert_int_equal (selection_add_way (s, w.node[0], w.rack[2]), 0);
    assert_int_equal (selection_add_way (s, w.node[0], w.rack[1]), 0); /* too late */
    assert_int_equal (selection_add_way (s, w.node[1], w.rack[1]), 0); /* no such edge */
    assert_completes (s, w.g,
                      "cluster0 rack0 node1 core0xc rack1 node5 memory0xc rack2 node8 "
                      "core0xc node0 core0xc");
    assert_false (selection_is_further (s, w.g, &s->picks[0]));
    assert_false (selection_is_further (s, w.g, &s->picks[2]));
    assert_true (selection_is_further (s, w.g, &s->picks[10]));
    assert_int_equal (selection_add_way (s, w.memory[5], w.node[0]), 0);
    /* ways that no longer lead to a pick stay */
    assert_completes (s, w.g,
                      "cluster0 rack0 node1 core0xc rack1 node5 rack2 node8 core0xc "
                      "node0 core0xc memory0xc");
    assert_true (selection_is_further (s, w.g, &s->picks[9]));
    assert_true (selection_is_further (s, w.g, &s->picks[11]));
    assert_int_equal (selection_count (s, w.g, GRAPH_CORE), 3);
    graph_destroy (w.g);
}

static void test_count (void **state)
{
    (void)state;
    struct world w = world_make ();
    autoselection struct selection *s = selection_create ();
    claim (s, w.g, w.low[0], 0, 2);
    claim (s, w.g, w.node[1], 0, 1);
    selection_add (s, w.g, w.low[1], 0, 4, GRAPH_NONE)->exclusive = true; /* below it */
    selection_add (s, w.g, w.low[2], 0, 1, GRAPH_NONE);                   /* not chosen */
    assert_int_equal (selection_complete (s, w.g), 0);
    assert_int_equal (selection_count (s, w.g, GRAPH_CORE), 6);
    assert_int_equal (selection_count (s, w.g, GRAPH_NODE), 1);
    assert_int_equal (selection_count (s, w.g, GRAPH_GPU), 0);
    graph_destroy (w.g);
}

/* Deep and wide: orders that need more than one number. */
static void test_wide_orders (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    autoselection struct selection *s = selection_create ();
    uint32_t v = add (g, GRAPH_NONE, "cluster", 0, 1), leaf[2][12];
    for (int d = 0; d < 12; d++) {
        for (int i = 0; i < 100; i++)
            add (g, v, "x", i, 1);
        for (int i = 0; i < 2; i++)
            leaf[i][d] = add (g, v, "leaf", i, 1);
        v = add (g, v, "box", 0, 1);
    }
    for (int d = 12; d-- > 0;) {
        for (int i = 2; i-- > 0;)
            claim (s, g, leaf[i][d], 0, 1);
    }
    assert_completes (
        s, g,
        "cluster0 leaf0xc leaf1xc box0 leaf0xc leaf1xc box0 leaf0xc leaf1xc "
        "box0 leaf0xc leaf1xc box0 leaf0xc leaf1xc box0 leaf0xc leaf1xc box0 "
        "leaf0xc leaf1xc box0 leaf0xc leaf1xc box0 leaf0xc leaf1xc box0 "
        "leaf0xc leaf1xc box0 leaf0xc leaf1xc box0 leaf0xc leaf1xc");
    graph_destroy (g);
}

/* Vertices above each other, with ways too wide for one number. */
static void test_wide_ways (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    autoselection struct selection *s = selection_create ();
    uint32_t v = add (g, GRAPH_NONE, "cluster", 0, 1), box[2][10];
    for (uint32_t d = 0; d < 10; d++) {
        for (uint32_t i = 0; i < 2; i++)
            box[i][d] = add (g, v, "box", i, 1);
        graph_vertex (g, box[1][d])->order = UINT32_MAX / 2;
        v = box[d % 2][d];
    }
    for (uint32_t d = 10; d-- > 0;)
        claim (s, g, box[1][d], 0, 1);
    for (uint32_t d = 0; d < 10; d++)
        claim (s, g, box[0][d], 0, 1)->slots = d;
    assert_completes (s, g,
                      "cluster0 box0xc box0xc:1 box1xc box0xc:2 box0xc:3 box1xc box0xc:4 "
                      "box0xc:5 box1xc box0xc:6 box0xc:7 box1xc box0xc:8 box0xc:9 box1xc "
                      "box1xc box1xc box1xc box1xc box1xc");
    graph_destroy (g);
}

/* -- random selections -- */

#define UNITS_MAX 400

struct line { /* a unit of the graph, in its order */
    uint32_t v, unit;
    struct pick p; /* count 0: not selected */
};

struct table {
    struct line line[UNITS_MAX];
    size_t n;
    /* by handle: the further parent above the vertex, or none */
    uint32_t via[UNITS_MAX];
};

static void list_units (const struct graph *g, uint32_t v, struct table *t)
{
    for (uint32_t i = 0; i < graph_vertex (g, v)->n; i++)
        t->line[t->n++] = (struct line){ .v = v, .unit = i };
    GRAPH_CHILDREN (g, v, c)
    {
        if (t->via[c] == GRAPH_NONE)
            list_units (g, c, t);
    }
    GRAPH_FURTHER (g, v, c)
    {
        if (t->via[c] == v)
            list_units (g, c, t);
    }
}

static uint32_t parent_of (const struct table *t, const struct graph *g, uint32_t v)
{
    return t->via[v] == GRAPH_NONE ? graph_vertex (g, v)->parent : t->via[v];
}

static struct pick *line_of (struct table *t, uint32_t v, uint32_t unit)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->line[i].v == v && t->line[i].unit == unit)
            return &t->line[i].p;
    }
    fail ();
    return NULL;
}

static void table_add (struct table *t, const struct graph *g, const struct pick *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct pick *l = line_of (t, p->v, p->unit + i);
        bool divisible = graph_vertex (g, p->v)->flags & GRAPH_DIVISIBLE;
        if (l->count == 0 || (p->claimed && !l->claimed))
            l->amount = p->amount;
        else if (p->claimed == l->claimed)
            l->amount = p->claimed && divisible ? l->amount + p->amount
                                                : MAX (l->amount, p->amount);
        l->count = 1;
        l->exclusive |= p->exclusive;
        l->claimed |= p->claimed;
        l->slots += p->slots;
        if (p->label && (l->label == 0 || p->label < l->label))
            l->label = p->label;
    }
    uint32_t up = parent_of (t, g, p->v);
    for (; up != GRAPH_NONE; up = parent_of (t, g, up)) {
        struct pick *l = line_of (t, up, 0);
        l->amount = l->count ? l->amount : graph_vertex (g, up)->size;
        l->count = 1;
    }
}

static bool alike (const struct pick *a, const struct pick *b)
{
    return a->exclusive == b->exclusive && a->claimed == b->claimed
           && a->slots == b->slots && a->label == b->label && a->amount == b->amount;
}

static void assert_is (const struct selection *s, const struct graph *g,
                       const struct table *t)
{
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct line *l = &t->line[i];
        if (l->p.count == 0)
            continue;
        bool goes_on = i > 0 && t->line[i - 1].v == l->v && t->line[i - 1].p.count > 0
                       && alike (&t->line[i - 1].p, &l->p);
        at += !goes_on;
        assert_true (at >= 1 && at <= s->n);
        const struct pick *p = &s->picks[at - 1];
        assert_int_equal (p->v, l->v);
        assert_true (p->unit <= l->unit && l->unit < p->unit + p->count);
        assert_true (goes_on || p->unit == l->unit);
        assert_true (alike (p, &l->p));
        if (at == 1)
            assert_int_equal (p->parent, GRAPH_NONE);
        else
            assert_int_equal (s->picks[p->parent].v, parent_of (t, g, p->v));
    }
    assert_int_equal (at, s->n);
    for (size_t i = 0; i < s->n; i++) { /* and no other pick */
        for (uint32_t k = 0; k < s->picks[i].count; k++)
            assert_int_equal (
                line_of ((struct table *)t, s->picks[i].v, s->picks[i].unit + k)->count,
                1);
    }
}

static uint32_t below (uint64_t *random, uint32_t n)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 33) % n);
}

static void random_pick (struct selection *s, const struct graph *g, struct table *t,
                         uint64_t *random)
{
    uint32_t v = t->line[below (random, (uint32_t)t->n)].v;
    uint32_t n = graph_vertex (g, v)->n, unit = below (random, n);
    struct pick *p =
        selection_add (s, g, v, unit, 1 + below (random, n - unit), below (random, 9));
    assert_non_null (p);
    p->claimed = below (random, 2);
    p->exclusive = p->claimed || below (random, 2);
    p->label = (uint16_t)(below (random, 3) ? 0 : 1 + below (random, 3));
    p->slots = graph_vertex (g, v)->type == GRAPH_NODE ? below (random, 3) : 0;
    if (graph_vertex (g, v)->flags & GRAPH_DIVISIBLE)
        p->amount = 1 + below (random, 8);
    table_add (t, g, p);
}

/* Some vertices are below a further parent. */
static void random_ways (struct selection *s, const struct world *w, struct table *t,
                         uint64_t *random)
{
    const uint32_t ways[][2] = { { w->node[0], w->rack[2] },
                                 { w->node[0], w->rack[1] },
                                 { w->memory[5], w->node[0] } };
    memset (t->via, 0xff, sizeof (t->via));
    for (size_t i = 0; i < ARRAY_SIZE (ways); i++) {
        uint32_t v = ways[i][0], via = ways[i][1];
        if (below (random, 4) == 0 && t->via[v] == GRAPH_NONE) {
            t->via[v] = via;
            assert_int_equal (selection_add_way (s, v, via), 0);
        }
    }
    t->n = 0;
    list_units (w->g, w->root, t);
}

static void test_random (void **state)
{
    (void)state;
    struct world w = world_make ();
    uint64_t random = UINT64_C (0x1234567887654321);
    static struct table t;
    associate (&w);
    for (int round = 0; round < 6000; round++) {
        autoselection struct selection *s = selection_create ();
        memset (&t, 0, sizeof (t));
        random_ways (s, &w, &t, &random);
        uint32_t n = 1 + below (&random, round % 2 ? 6 : 60);
        for (uint32_t i = 0; i < n; i++) {
            random_pick (s, w.g, &t, &random);
            if (below (&random, 20) == 0)
                assert_int_equal (selection_complete (s, w.g), 0);
        }
        assert_int_equal (selection_complete (s, w.g), 0);
        assert_is (s, w.g, &t);
    }
    graph_destroy (w.g);
}

/* Many long picks of one group, each inside the one before: the work is still
 * only that of sorting. */
static void test_nested (void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    struct graph *g = graph_create ();
    autoselection struct selection *s = selection_create ();
    uint32_t v = add (g, add (g, GRAPH_NONE, "cluster", 0, 1), "core", 0, 2 * N);
    for (uint32_t i = 0; i < N; i++)
        claim (s, g, v, i, 2 * (N - i))->label = (uint16_t)(1 + i % 7);
    assert_int_equal (selection_complete (s, g), 0);
    assert_int_equal (selection_count (s, g, GRAPH_CORE), 2 * N);
    assert_int_equal (s->n, 2);
    assert_int_equal (s->picks[1].label, 1);
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_ways),        cmocka_unit_test (test_runs),
        cmocka_unit_test (test_overlaps),    cmocka_unit_test (test_united),
        cmocka_unit_test (test_further),     cmocka_unit_test (test_count),
        cmocka_unit_test (test_wide_orders), cmocka_unit_test (test_wide_ways),
        cmocka_unit_test (test_random),      cmocka_unit_test (test_nested),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

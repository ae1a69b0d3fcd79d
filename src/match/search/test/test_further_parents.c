/* Vertices with several parents in a match. Fails if a vertex is not found below one of
 * its parents, or found twice, if a unit is given to one job below one parent and to
 * another below the other, if an answer has another way, or if a vertex that is taken as
 * a whole is not complete. Random graphs are compared with a check of every vertex. */
#include "match/test/machine_test.h"

#include <errno.h>

#include "match/planner/planner_state.h"
#include "match/search/search.h"
#include "match/test/chance.h"

static const struct planner_options always = { 0 };

static void associate (struct graph *g, const char *parent, const char *child)
{
    struct error err = { 0 };

    if (graph_associate (g, machine_find (g, parent), machine_find (g, child), NULL, &err)
        < 0)
        fail_msg ("%s", err.text);
}

/* "cluster0(rack0(node0xc core0-1xc))": x exclusive, c claimed. */
static size_t tell (const struct selection *s, const struct graph *g, size_t i,
                    struct strbuf *sb)
{
    const struct pick *p = &s->picks[i];
    char name[80];
    size_t at = i + 1;

    strbuf_adds (sb, graph_name (g, p->v, p->unit, name, sizeof (name)));
    if (p->count > 1)
        strbuf_addf (sb, "-%u", graph_vertex (g, p->v)->id + p->unit + p->count - 1);
    strbuf_addf (sb, "%s%s", p->exclusive ? "x" : "", p->claimed ? "c" : "");
    while (at < s->n && s->picks[at].parent == i) {
        strbuf_addch (sb, at == i + 1 ? '(' : ' ');
        at = tell (s, g, at, sb);
    }
    if (at > i + 1)
        strbuf_addch (sb, ')');
    return at;
}

static int match (struct planner *p, enum search_op op, uint64_t job,
                  const char *resources, struct selection **ret)
{
    struct shape *shape = machine_shape (resources);
    struct error why = { 0 };
    int rc = search_match (p, op, job, shape, 0, 10, ret, &why);

    shape_destroy (shape);
    machine_verify (p);
    return rc;
}

static void allocates (struct planner *p, uint64_t job, const char *resources,
                       const char *expected)
{
    autoselection struct selection *s = NULL;
    autostrbuf struct strbuf sb;

    assert_int_equal (match (p, SEARCH_ALLOCATE, job, resources, &s), 0);
    strbuf_init (&sb, 1 << 20);
    assert_int_equal (tell (s, p->g, 0, &sb), s->n);
    assert_string_equal (sb.buf, expected);
}

static void is_busy (struct planner *p, const char *resources)
{
    autoselection struct selection *s = NULL;

    assert_int_equal (match (p, SEARCH_ALLOCATE, 999, resources, &s), -EBUSY);
    assert_int_equal (match (p, SEARCH_SATISFIABILITY, 999, resources, NULL), 0);
}

static void done (struct planner *p)
{
    struct graph *g = planner_graph (p);

    for (struct planner_job j = { 0 }; planner_next (p, j.job, &j);)
        assert_int_equal (planner_cancel (p, j.job), 0);
    machine_verify (p);
    planner_destroy (p);
    graph_destroy (g);
}

/* Two racks of two nodes and a box of 4 disks each; the pool also has both boxes. */
static struct planner *storage (const char *policy)
{
    struct graph *g = machine_of (2, 2);

    for (int r = 0; r < 2; r++) {
        char rack[40];
        snprintf (rack, sizeof (rack), "/cluster0/rack%d", r);
        uint32_t box = machine_add (g, machine_find (g, rack), "box", r, 1, 1, 0);
        machine_add (g, box, "disk", 0, 4, 1, 0);
    }
    machine_add (g, g->root, "pool", 0, 1, 1, 0);
    associate (g, "/cluster0/pool0", "/cluster0/rack0/box0");
    associate (g, "/cluster0/pool0", "/cluster0/rack1/box1");
    return planner_create (g, match_policy_find (policy), &always);
}

#define DISKS(n) "{type: disk, count: " #n ", exclusive: true}"
#define BOX(with) "{type: box, count: 1, with: [" with "]}"
#define RACK(with) "{type: rack, count: 1, with: [" with "]}"
#define POOL(with) "{type: pool, count: 1, with: [" with "]}"

static void test_either_way (void **state)
{
    (void)state;
    struct planner *p = storage ("low");

    allocates (p, 1, POOL (BOX (DISKS (3))), "cluster0(pool0(box0(disk0-2xc)))");
    allocates (p, 2, POOL (DISKS (4)), /* searched inside */
               "cluster0(pool0(box0(disk3xc) box1(disk0-2xc)))");
    is_busy (p, RACK (BOX (DISKS (2))));
    allocates (p, 3, RACK (BOX (DISKS (1))), "cluster0(rack1(box1(disk3xc)))");
    is_busy (p, DISKS (1));
    assert_int_equal (planner_cancel (p, 2), 0);
    allocates (p, 4, DISKS (4), "cluster0(rack0(box0(disk3xc)) rack1(box1(disk0-2xc)))");
    done (p);
    p = storage ("high");
    allocates (p, 1, POOL (BOX (DISKS (3))), "cluster0(pool0(box1(disk1-3xc)))");
    allocates (p, 2, RACK (BOX (DISKS (3))), "cluster0(rack0(box0(disk1-3xc)))");
    done (p);
    p = storage ("first");
    allocates (p, 1, POOL (BOX (DISKS (3))), "cluster0(pool0(box1(disk1-3xc)))");
    allocates (p, 2, POOL (BOX (DISKS (3))), "cluster0(pool0(box0(disk1-3xc)))");
    done (p);
}

/* Slots in a vertex also use its further children. */
static void test_slots (void **state)
{
    (void)state;
    struct planner *p = storage ("low");

    allocates (p, 1,
               POOL ("{type: slot, count: 2, label: a, with: [" BOX (DISKS (2)) "]}"),
               "cluster0(pool0(box0xc(disk0-1x) box1xc(disk0-1x)))");
    is_busy (p, RACK (BOX (DISKS (1))));
    done (p);
}

/* Later, and then at the start time. */
static void test_reserved (void **state)
{
    (void)state;
    struct planner *p = storage ("low");
    autoselection struct selection *s = NULL, *t = NULL;
    struct error why = { 0 };

    allocates (p, 1, RACK (BOX (DISKS (4))), "cluster0(rack0(box0(disk0-3xc)))");
    allocates (p, 2, RACK (BOX (DISKS (2))), "cluster0(rack1(box1(disk0-1xc)))");
    assert_int_equal (
        match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 3, POOL (BOX (DISKS (3))), &s), 0);
    assert_int_equal (s->start, 10);
    assert_int_equal (
        match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 4, RACK (BOX (DISKS (3))), &t), 0);
    assert_int_equal (t->start, 10); /* the other box */
    assert_int_equal (planner_extend (p, 1, 12, &why), -EBUSY);
    done (p);
}

/* -- whole vertices -- */

#define WHOLE(type) "{type: " type ", count: 1, exclusive: true}"
#define IN_RACK0(x)                                                                      \
    "rack0xc(node0x(core0-3x gpu0-1x memory0x) node1x(core0-3x gpu0-1x memory0x)" x ")"

static void test_whole_parent (void **state)
{
    (void)state;
    struct planner *p = storage ("low");

    allocates (p, 1, WHOLE ("rack"), "cluster0(" IN_RACK0 (" box0x(disk0-3x)") ")");
    allocates (p, 2, POOL (DISKS (4)), "cluster0(pool0(box1(disk0-3xc)))");
    is_busy (p, POOL (DISKS (1)));
    is_busy (p, WHOLE ("pool"));
    assert_int_equal (planner_cancel (p, 2), 0);
    is_busy (p, WHOLE ("pool"));
    assert_int_equal (planner_cancel (p, 1), 0);
    allocates (p, 3, WHOLE ("pool"),
               "cluster0(pool0xc(box0xc(disk0-3x) box1xc(disk0-3x)))");
    is_busy (p, DISKS (1));
    is_busy (p, WHOLE ("rack"));
    allocates (p, 4, RACK ("{type: node, count: 1, exclusive: true}"),
               "cluster0(rack0(node0xc(core0-3x gpu0-1x memory0x)))");
    done (p);
}

/* A booking is restored as it was. */
static void test_booked (void **state)
{
    (void)state;
    struct planner *p = storage ("low"), *q = storage ("low");
    autoselection struct selection *s = NULL, *t = NULL;
    struct error why = { 0 };

    assert_int_equal (match (p, SEARCH_ALLOCATE, 1, WHOLE ("pool"), &s), 0);
    assert_int_equal (match (p, SEARCH_ALLOCATE, 2, WHOLE ("rack"), &t), -EBUSY);
    assert_int_equal (planner_update (q, 1, s, false, &why), 0);
    assert_int_equal (planner_update (q, 2, s, false, &why), -EBUSY);
    assert_int_equal (planner_remake (&q, &why), 0);
    machine_verify (q);
    is_busy (q, DISKS (1));
    done (p);
    done (q);
}

/* -- several siblings of a request -- */

static void test_siblings (void **state)
{
    (void)state;
    struct planner *p = storage ("low");

    allocates (p, 1, RACK (BOX (DISKS (3))) ", " POOL (BOX (DISKS (2))),
               "cluster0(rack0(box0(disk0-2xc)) pool0(box1(disk0-1xc)))");
    is_busy (p, RACK (BOX (DISKS (2))) ", " POOL (BOX (DISKS (2))));
    assert_int_equal (planner_cancel (p, 1), 0);
    allocates (p, 2, POOL (BOX (DISKS (2))) ", " RACK (BOX (DISKS (3))),
               "cluster0(rack1(box1(disk0-2xc)) pool0(box0(disk0-1xc)))");
    assert_int_equal (planner_cancel (p, 2), 0);
    /* one of them is below the other: not both */
    assert_int_equal (
        match (p, SEARCH_SATISFIABILITY, 3, WHOLE ("pool") ", " WHOLE ("rack"), NULL),
        -ENODEV);
    allocates (p, 4, WHOLE ("pool") ", " RACK ("{type: core, count: 1, exclusive: true}"),
               "cluster0(rack0(node0(core0xc)) "
               "pool0xc(box0xc(disk0-3x) box1xc(disk0-3x)))");
    done (p);
}

/* -- nodes -- */

/* PDUs that feed two nodes each; the second also feeds node 1, the third only
 * nodes of other PDUs. */
static struct planner *power (const char *policy)
{
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "panel", 0, 1, 1, 0);

    for (int i = 0; i < 3; i++) {
        uint32_t pdu = machine_add (g, root, "pdu", i, 1, 1, 0);
        for (int n = 2 * i; n < 2 * i + 2 && i < 2; n++)
            machine_add (g, machine_add (g, pdu, "node", n, 1, 1, 0), "core", 0, 4, 1, 0);
    }
    associate (g, "/panel0/pdu1", "/panel0/pdu0/node1");
    associate (g, "/panel0/pdu2", "/panel0/pdu0/node0");
    associate (g, "/panel0/pdu2", "/panel0/pdu1/node3");
    return planner_create (g, match_policy_find (policy), &always);
}

#define PDU(with) "{type: pdu, count: 1, with: [" with "]}"
#define NODES(n) "{type: node, count: " #n ", exclusive: true}"

static void test_nodes (void **state)
{
    (void)state;
    struct planner *p = power ("low");

    allocates (p, 1, PDU (NODES (3)),
               "panel0(pdu1(node2xc(core0-3x) node3xc(core0-3x) node1xc(core0-3x)))");
    is_busy (p, PDU (NODES (2)));
    allocates (p, 2, NODES (1), "panel0(pdu0(node0xc(core0-3x)))");
    is_busy (p, NODES (1));
    assert_int_equal (planner_cancel (p, 1), 0);
    assert_int_equal (planner_cancel (p, 2), 0);
    allocates (p, 3, "{type: pdu, count: 2, with: [" NODES (2) "]}",
               "panel0(pdu0(node0xc(core0-3x) node1xc(core0-3x)) "
               "pdu1(node2xc(core0-3x) node3xc(core0-3x)))");
    assert_int_equal (planner_cancel (p, 3), 0);
    /* the lowest of all, not the first found */
    allocates (p, 4, "{type: node, count: 2, exclusive: true}",
               "panel0(pdu0(node0xc(core0-3x) node1xc(core0-3x)))");
    allocates (p, 5, PDU (NODES (1)), "panel0(pdu1(node2xc(core0-3x)))");
    allocates (p, 6, PDU (NODES (1)), "panel0(pdu1(node3xc(core0-3x)))");
    is_busy (p, PDU (NODES (1)));
    done (p);
}

/* Each PDU with a node of its own; one of them has only further children. */
static void test_nodes_of_each (void **state)
{
    (void)state;
    static const char *const policies[] = { "low",    "high",     "first",
                                            "lonode", "locality", "spread" };

    for (size_t i = 0; i < ARRAY_SIZE (policies); i++) {
        struct planner *p = power (policies[i]);
        autoselection struct selection *s = NULL;
        assert_int_equal (match (p, SEARCH_ALLOCATE, 1,
                                 "{type: pdu, count: 3, with: [" NODES (1) "]}", &s),
                          0);
        assert_int_equal (selection_count (s, p->g, GRAPH_NODE), 3);
        assert_int_equal (s->n, 1 + 3 + 3 * 2);
        is_busy (p, "{type: pdu, count: 2, with: [" NODES (1) "]}");
        done (p);
    }
}

static void test_slots_of_nodes (void **state)
{
    (void)state;
    struct planner *p = power ("low");

    allocates (p, 1, PDU ("{type: slot, count: 3, label: a, with: [" NODES (1) "]}"),
               "panel0(pdu1(node2xc(core0-3x) node3xc(core0-3x) node1xc(core0-3x)))");
    allocates (p, 2, "{type: slot, count: 2, label: a, with: [{type: core, count: 2}]}",
               "panel0(pdu0(node0(core0-3xc)))");
    done (p);
}

/* A switch that only knows racks of other parents; their indexes find the content. */
static void test_racks (void **state)
{
    (void)state;
    struct planner *p = storage ("low");
    struct graph *g = p->g;

    machine_add (g, g->root, "switch", 0, 1, 1, 0);
    associate (g, "/cluster0/switch0", "/cluster0/rack1");
    allocates (p, 1, "{type: switch, count: 1, with: [" NODES (1) "]}",
               "cluster0(switch0(rack1(node2xc(core0-3x gpu0-1x memory0x))))");
    allocates (p, 2, "{type: switch, count: 1, with: [" BOX (DISKS (1)) "]}",
               "cluster0(switch0(rack1(box1(disk0xc))))");
    is_busy (p, "{type: switch, count: 1, with: [" NODES (2) "]}");
    /* one through the switch, and one beside it */
    assert_int_equal (planner_cancel (p, 1), 0);
    allocates (
        p, 3,
        "{type: switch, count: 1, with: [" NODES (
            1) "]}, "
               "{type: rack, count: 1, with: [{type: gpu, count: 1, exclusive: true}]}",
        "cluster0(rack0(node0(gpu0xc)) "
        "switch0(rack1(node2xc(core0-3x gpu0-1x memory0x))))");
    done (p);
}

/* Disks that nodes share: no node has a disk of its own. */
static void test_shared_by_nodes (void **state)
{
    (void)state;
    struct planner *p = storage ("low");
    struct graph *g = p->g;

    associate (g, "/cluster0/rack0/node0", "/cluster0/rack0/box0");
    associate (g, "/cluster0/rack0/node1", "/cluster0/rack0/box0");
    allocates (p, 1, "{type: node, count: 1, with: [" BOX (DISKS (3)) "]}",
               "cluster0(rack0(node0(box0(disk0-2xc))))");
    is_busy (p, "{type: node, count: 1, with: [" BOX (DISKS (2)) "]}");
    is_busy (p, "{type: node, count: 3, exclusive: true}"); /* with the box */
    allocates (p, 2, "{type: node, count: 1, with: [" BOX (DISKS (1)) "]}",
               "cluster0(rack0(node0(box0(disk3xc))))");
    done (p);
}

static void test_down (void **state)
{
    (void)state;
    struct planner *p = storage ("low");
    uint32_t box = machine_find (p->g, "/cluster0/rack0/box0");

    assert_int_equal (graph_set_flag (p->g, box, GRAPH_NONE, GRAPH_DOWN, true), 0);
    planner_changed (p, box);
    allocates (p, 1, POOL (BOX (DISKS (2))), "cluster0(pool0(box1(disk0-1xc)))");
    is_busy (p, POOL (DISKS (3)));
    is_busy (p, "{type: rack, count: 2, with: [" BOX (DISKS (1)) "]}");
    done (p);
}

/* The graph changes between matches. */
static void test_changes (void **state)
{
    (void)state;
    struct planner *p = storage ("low");
    struct graph *g = p->g;

    allocates (p, 1, POOL (BOX (DISKS (2))), "cluster0(pool0(box0(disk0-1xc)))");
    assert_int_equal (graph_remove (g, machine_find (g, "/cluster0/pool0"), NULL), 0);
    planner_changed (p, GRAPH_NONE);
    allocates (p, 2, RACK (BOX (DISKS (4))), "cluster0(rack1(box1(disk0-3xc)))");
    machine_add (g, g->root, "pool", 1, 1, 1, 0);
    associate (g, "/cluster0/pool1", "/cluster0/rack0/box0");
    planner_changed (p, GRAPH_NONE);
    allocates (p, 3, POOL (BOX (DISKS (1))), "cluster0(pool1(box0(disk2xc)))");
    is_busy (p, POOL (DISKS (2)));
    done (p);
}

/* -- random graphs -- */

/* Tops (racks and pools) have boxes, boxes have units; both may have further parents. */
struct world {
    struct graph *g;
    struct planner *p;
    const char *box, *unit; /* types */
    uint32_t tops[12], boxes[24];
    unsigned ntops, nboxes;
};

static void random_graph (struct world *w)
{
    struct graph *g = w->g = graph_create ();
    bool nodes = chance_below (2);

    w->box = nodes ? "node" : "box";
    w->unit = nodes ? "core" : "disk";
    w->ntops = w->nboxes = 0;
    machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    for (unsigned i = 0; i < 2 + chance_below (9); i++) {
        bool inner = i > 0 && chance_below (4) == 0;
        uint32_t up = inner ? w->tops[chance_below (w->ntops)] : g->root;
        const char *type = chance_below (2) ? "rack" : "pool";
        w->tops[w->ntops++] = machine_add (g, up, type, i, 1, 1, 0);
    }
    for (unsigned i = 0; i < 1 + chance_below (12); i++) {
        uint32_t up = w->tops[chance_below (w->ntops)];
        w->boxes[w->nboxes++] = machine_add (g, up, w->box, i, 1, 1, 0);
        machine_add (g, w->boxes[i], w->unit, 0, (uint32_t)(1 + chance_below (4)), 1, 0);
    }
    for (unsigned i = 0; i < chance_below (20); i++) {
        uint32_t up = w->tops[chance_below (w->ntops)];
        uint32_t v = chance_below (3) ? w->boxes[chance_below (w->nboxes)]
                                      : w->tops[chance_below (w->ntops)];
        graph_associate (g, up, v, NULL, NULL); /* or a refusal */
    }
}

static bool is_taken (const struct world *w, uint32_t v)
{
    return planner_is_allocated (w->p, v, 0);
}

static int64_t free_units (const struct world *w, uint32_t box)
{
    uint32_t v = graph_vertex (w->g, box)->first;
    int64_t n = 0;

    for (uint32_t i = 0; i < graph_vertex (w->g, v)->n; i++)
        n += !planner_is_allocated (w->p, v, i);
    return is_taken (w, box) ? 0 : n;
}

static bool is_child (const struct world *w, uint32_t v, uint32_t top)
{
    uint32_t at = GRAPH_NONE, up;

    if (graph_vertex (w->g, v)->parent == top)
        return true;
    while ((up = graph_further_parent (w->g, v, &at)) != GRAPH_NONE)
        if (up == top)
            return true;
    return false;
}

/* No vertex at or below v, by any way, is booked, and nothing covers any of them. */
static bool is_untouched (const struct world *w, uint32_t v)
{
    for (unsigned i = 0; i < w->ntops; i++)
        if (graph_is_below (w->g, w->tops[i], v) && is_taken (w, w->tops[i]))
            return false;
    for (unsigned i = 0; i < w->nboxes; i++)
        if (graph_is_below (w->g, w->boxes[i], v)
            && free_units (w, w->boxes[i])
                   < graph_vertex (w->g, graph_vertex (w->g, w->boxes[i])->first)->n)
            return false;
    return true;
}

struct wish {
    const char *top;
    int64_t boxes, units; /* 0: not requested */
    bool boxes_whole, top_whole;
};

static void wish_text (const struct world *w, const struct wish *x, char *text,
                       size_t size)
{
    char units[100] = "", boxes[200] = "";

    if (x->units)
        snprintf (units, sizeof (units),
                  ", with: [{type: %s, count: %d, exclusive: true}]", w->unit,
                  (int)x->units);
    if (x->boxes)
        snprintf (boxes, sizeof (boxes), ", with: [{type: %s, count: %d%s%s}]", w->box,
                  (int)x->boxes, x->boxes_whole ? ", exclusive: true" : "", units);
    snprintf (text, size, "{type: %s, count: 1%s%s}", x->top,
              x->top_whole ? ", exclusive: true" : "", boxes);
}

/* By a way without a taken vertex. */
static bool reaches (const struct world *w, uint32_t top, uint32_t v)
{
    if (is_taken (w, top))
        return false;
    if (top == v)
        return true;
    GRAPH_CHILDREN (w->g, top, c)
    {
        if (reaches (w, c, v))
            return true;
    }
    GRAPH_FURTHER (w->g, top, c)
    {
        if (reaches (w, c, v))
            return true;
    }
    return false;
}

static bool box_does (const struct world *w, const struct wish *x, uint32_t box)
{
    return x->boxes_whole ? is_untouched (w, box) : free_units (w, box) >= x->units;
}

/* Its own boxes if it has some, otherwise all boxes below it. */
static bool top_does (const struct world *w, const struct wish *x, uint32_t top)
{
    int64_t own = 0, n = 0, all = 0;

    if (x->top_whole && !is_untouched (w, top))
        return false;
    for (unsigned i = 0; i < w->nboxes; i++) {
        bool does = reaches (w, top, w->boxes[i]) && box_does (w, x, w->boxes[i]);
        all += does;
        own += is_child (w, w->boxes[i], top);
        n += does && is_child (w, w->boxes[i], top);
    }
    return (own > 0 ? n : all) >= x->boxes;
}

/* A check of every vertex; inside a vertex of the type the search stops. */
static bool can_be (const struct world *w, const struct wish *x, uint32_t v)
{
    if (is_taken (w, v))
        return false;
    if (strcmp (graph_type_name (w->g, graph_vertex (w->g, v)->type), x->top) == 0)
        return top_does (w, x, v);
    GRAPH_CHILDREN (w->g, v, c)
    {
        if (can_be (w, x, c))
            return true;
    }
    GRAPH_FURTHER (w->g, v, c)
    {
        if (can_be (w, x, c))
            return true;
    }
    return false;
}

/* A vertex of one job belongs to no other job: counted before and after. */
static int64_t count_free (const struct world *w)
{
    int64_t n = 0;

    for (unsigned i = 0; i < w->nboxes; i++)
        n += free_units (w, w->boxes[i]);
    return n;
}

static void check_parents (const struct world *w, const struct selection *s)
{
    for (size_t i = 1; i < s->n; i++)
        assert_true (is_child (w, s->picks[i].v, s->picks[s->picks[i].parent].v));
    for (size_t i = 1; i < s->n; i++) /* each vertex once */
        for (size_t j = 1; j < i; j++)
            assert_true (s->picks[i].v != s->picks[j].v
                         || s->picks[i].parent == s->picks[j].parent);
}

/* All bookings end at 10: a request that can ever fit fits then. */
static void check_reserved (struct world *w, uint64_t job, const char *text)
{
    autoselection struct selection *s = NULL;
    int ever = match (w->p, SEARCH_SATISFIABILITY, job, text, NULL);

    assert_int_equal (match (w->p, SEARCH_ALLOCATE_ORELSE_RESERVE, job, text, &s), ever);
    if (ever < 0)
        return;
    assert_int_equal (s->start, 10);
    check_parents (w, s);
    assert_int_equal (planner_cancel (w->p, job), 0);
}

static bool one_match (struct world *w, uint64_t job, const struct wish *x)
{
    autoselection struct selection *s = NULL;
    char text[400];
    bool expected = can_be (w, x, w->g->root);
    int64_t before = count_free (w);

    wish_text (w, x, text, sizeof (text));
    int rc = match (w->p, SEARCH_ALLOCATE, job, text, &s);
    if (rc != (expected ? 0 : -EBUSY))
        fail_msg ("%s: %d, but it should%s fit", text, rc, expected ? "" : "not");
    if (rc < 0) {
        check_reserved (w, job, text);
        return false;
    }
    check_parents (w, s);
    if (!x->top_whole && !x->boxes_whole)
        assert_int_equal (before - count_free (w), x->boxes * x->units);
    else
        assert_int_equal (
            before - count_free (w),
            selection_count (s, w->g, (uint16_t)graph_type_find (w->g, w->unit)));
    return true;
}

/* Two siblings that may compete for the same vertices: the answer is complete,
 * or there is none. */
static bool two_match (struct world *w, uint64_t job, const struct wish *x,
                       const struct wish *y)
{
    autoselection struct selection *s = NULL;
    char text[900], one[400], other[400];
    int64_t before = count_free (w);

    wish_text (w, x, one, sizeof (one));
    wish_text (w, y, other, sizeof (other));
    snprintf (text, sizeof (text), "%s, %s", one, other);
    int rc = match (w->p, SEARCH_ALLOCATE, job, text, &s);
    if (rc < 0) {
        assert_int_equal (rc, -EBUSY);
        return false;
    }
    check_parents (w, s);
    if (x->units && y->units)
        assert_int_equal (before - count_free (w),
                          x->boxes * x->units + y->boxes * y->units);
    return true;
}

static struct wish random_wish (void)
{
    struct wish x = { .top = chance_below (2) ? "rack" : "pool" };

    if (chance_below (8) == 0) {
        x.top_whole = true;
        return x;
    }
    x.boxes = 1 + (int64_t)chance_below (3);
    if (chance_below (3) == 0)
        x.boxes_whole = true;
    else
        x.units = 1 + (int64_t)chance_below (3);
    return x;
}

static void test_random (void **state)
{
    (void)state;
    static const char *const policies[] = { "low",    "high",     "first",  "lonode",
                                            "hinode", "locality", "spread", "bestfit" };
    uint64_t given = 0;

    chance_begin ("test_random");
    for (int turn = 0; turn < 300; turn++) {
        struct world w;
        random_graph (&w);
        w.p = planner_create (
            w.g, match_policy_find (policies[chance_below (ARRAY_SIZE (policies))]),
            &always);
        for (uint64_t job = 1; job < 30; job++) {
            struct wish x = random_wish (), y = random_wish ();
            given += strcmp (x.top, y.top) != 0 && chance_below (3) == 0
                         ? two_match (&w, job, &x, &y)
                         : one_match (&w, job, &x);
            if (chance_below (3) == 0)
                planner_cancel (w.p, 1 + chance_below (job));
        }
        done (w.p);
    }
    assert_true (given > 300);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_either_way),      cmocka_unit_test (test_slots),
        cmocka_unit_test (test_reserved),        cmocka_unit_test (test_whole_parent),
        cmocka_unit_test (test_booked),          cmocka_unit_test (test_siblings),
        cmocka_unit_test (test_nodes),           cmocka_unit_test (test_nodes_of_each),
        cmocka_unit_test (test_slots_of_nodes),  cmocka_unit_test (test_racks),
        cmocka_unit_test (test_shared_by_nodes), cmocka_unit_test (test_down),
        cmocka_unit_test (test_changes),         cmocka_unit_test (test_random),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

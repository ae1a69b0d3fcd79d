/* Random streams of bookings on random small graphs. After each step all kept sums are
 * recounted (planner_verify), and the verdict is compared with a check of each unit for
 * each job. In the end all jobs are cancelled: the indexes must equal their first
 * state. Nodes come, go and move: indexes that were changed node by node must equal
 * indexes that are built at once. */
#include "match/test/machine_test.h"

#include <errno.h>
#include <inttypes.h>

#include "match/index/profile.h"
#include "match/planner/bookings.h"
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/suspend.h"
#include "match/search/search.h"
#include "match/test/chance.h"

#define ROUNDS 150
#define STEPS 60
#define JOBS 24 /* ids 1 .. */
#define TIMES 40

static uint64_t below (uint64_t n)
{
    return chance_below (n);
}

static bool one_in (uint64_t n)
{
    return below (n) == 0;
}

/* -- graphs -- */

static void random_leaves (struct graph *g, uint32_t v)
{
    static const uint32_t cores[] = { 1, 2, 5, 64, 65, 130 };

    machine_add (g, v, "core", 0, cores[below (6)], 1, 0);
    if (one_in (2))
        machine_add (g, v, "gpu", 0, 1 + (uint32_t)below (3), 1, 0);
    if (one_in (2))
        machine_add (g, v, "memory", 0, 1, 1 + (int64_t)below (9), GRAPH_DIVISIBLE);
    if (one_in (3))
        machine_add (g, v, "disk", 0, 1 + (uint32_t)below (2), 3, 0);
}

static void random_node (struct graph *g, uint32_t parent, int64_t id)
{
    uint32_t node = machine_add (g, parent, "node", id, 1, 1, 0);

    if (one_in (2)) {
        random_leaves (g, node);
    } else {
        for (uint32_t i = 0, n = 1 + (uint32_t)below (2); i < n; i++)
            random_leaves (g, machine_add (g, node, "socket", i, 1, 1, 0));
    }
    if (one_in (8))
        random_leaves (g, machine_add (g, node, "node", id + 100, 1, 1, 0));
}

static struct graph *random_graph (void)
{
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    int64_t id = 0;

    for (uint32_t r = 0, n = (uint32_t)below (3); r < n; r++) {
        uint32_t rack = machine_add (g, root, "rack", r, 1, 1, 0);
        for (uint64_t i = below (4); i > 0; i--)
            random_node (g, rack, id++);
        if (one_in (4))
            machine_add (g, rack, "memory", 0, 1, 8, GRAPH_DIVISIBLE);
    }
    for (uint64_t i = below (3); i > 0; i--)
        random_node (g, root, 20 - id++);
    if (one_in (3))
        random_leaves (g, root);
    if (one_in (4))
        random_leaves (g, machine_add (g, root, "box", 0, 1, 1, 0));
    return g;
}

static uint32_t random_vertex (const struct graph *g)
{
    uint32_t v;

    do {
        v = (uint32_t)below (g->nv);
    } while (graph_vertex (g, v)->n == 0);
    return v;
}

static bool is_pool (const struct graph *g, uint32_t v)
{
    return (graph_vertex (g, v)->flags & GRAPH_DIVISIBLE) != 0;
}

static bool is_at_or_below (const struct graph *g, uint32_t v, uint32_t top)
{
    while (v != GRAPH_NONE && v != top)
        v = graph_vertex (g, v)->parent;
    return v == top;
}

/* -- selections -- */

static bool clashes (const struct graph *g, const struct selection *s, uint32_t v)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_at_or_below (g, v, s->picks[i].v) || is_at_or_below (g, s->picks[i].v, v))
            return true;
    return false;
}

/* Picks of unrelated vertices. */
static struct selection *random_selection (const struct graph *g)
{
    struct selection *s = selection_create ();

    for (uint64_t i = 1 + below (4); i > 0; i--) {
        uint32_t v = random_vertex (g);
        if (clashes (g, s, v))
            continue;
        const struct graph_vertex *x = graph_vertex (g, v);
        uint32_t unit = (uint32_t)below (x->n);
        struct pick *p =
            selection_add (s, g, v, unit, 1 + (uint32_t)below (x->n - unit), GRAPH_NONE);
        p->claimed = p->exclusive = true;
        if (is_pool (g, v))
            p->amount = 1 + (int64_t)below ((uint64_t)x->size);
    }
    assert_int_equal (selection_complete (s, g), 0);
    s->start = (int64_t)below (TIMES);
    s->end = one_in (10) ? PLANNER_FOREVER : s->start + 1 + (int64_t)below (TIMES / 2);
    return s;
}

/* -- the slow reference -- */

static bool counts (const struct planner_job *j, const struct selection *s, bool reserved)
{
    return (!reserved && !j->reserved) || (j->start < s->end && s->start < j->end);
}

static int64_t amount_of (const struct planner *p, uint64_t job, uint32_t v)
{
    autoselection struct selection *s = planner_selection (p, job);

    for (size_t i = 0; i < s->n; i++)
        if (s->picks[i].v == v && s->picks[i].claimed)
            return s->picks[i].amount;
    return 0;
}

/* For a start now, allocated units count from now on: until their end, or forever
 * after a late end. */
static bool has_then (const struct planner_job *j, const struct selection *s,
                      bool reserved, int64_t t)
{
    if (!reserved && !j->reserved)
        return t < j->end || j->end <= s->start;
    return j->start <= t && t < j->end;
}

static int64_t taken_at (const struct planner *p, const struct selection *s,
                         bool reserved, uint32_t v, int64_t t)
{
    int64_t sum = 0;

    for (uint64_t job = 1; job <= JOBS; job++) {
        struct planner_job j;
        if (planner_find (p, job, &j) && has_then (&j, s, reserved, t))
            sum += amount_of (p, job, v);
    }
    return sum;
}

/* The use only rises when a job begins. */
static bool pool_is_short (const struct planner *p, const struct selection *s,
                           bool reserved, const struct pick *pick)
{
    int64_t left = graph_vertex (p->g, pick->v)->size - pick->amount;
    struct planner_job j;

    if (taken_at (p, s, reserved, pick->v, s->start) > left)
        return true;
    for (uint64_t job = 1; job <= JOBS; job++)
        if (planner_find (p, job, &j) && j.start > s->start && j.start < s->end
            && taken_at (p, s, reserved, pick->v, j.start) > left)
            return true;
    return false;
}

static bool is_in_way (const struct planner *p, uint64_t job, const struct pick *pick)
{
    const struct graph_vertex *x = graph_vertex (p->g, pick->v);

    if (x->first != GRAPH_NONE)
        return planner_has (p, job, pick->v, 0, true);
    if (is_pool (p->g, pick->v)) {
        return x->parent != GRAPH_NONE && planner_has (p, job, x->parent, 0, false);
    }
    for (uint32_t u = pick->unit; u < pick->unit + pick->count; u++)
        if (planner_has (p, job, pick->v, u, false))
            return true;
    return false;
}

static int slow_verdict (const struct planner *p, const struct selection *s,
                         bool reserved)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *pick = &s->picks[i];
        if (!pick->claimed)
            continue;
        for (uint64_t job = 1; job <= JOBS; job++) {
            struct planner_job j;
            if (planner_find (p, job, &j) && counts (&j, s, reserved)
                && is_in_way (p, job, pick))
                return -EBUSY;
        }
        if (is_pool (p->g, pick->v) && pool_is_short (p, s, reserved, pick))
            return -EBUSY;
    }
    return 0;
}

/* At any time no unit is allocated twice, and no pool beyond its size. */
static void expect_no_share (const struct planner *p, uint32_t v)
{
    int64_t used = 0;

    CLAIMS (p, v, i)
    {
        const struct claim *c = &p->claims[i];
        struct window now = { .now = true, .at = INT64_MAX, .end = INT64_MAX };
        if (c->reserved)
            continue;
        used += c->amount;
        assert_int_equal (claims_in_way (p, c, &now), GRAPH_NONE);
    }
    assert_true (!is_pool (p->g, v) || used <= graph_vertex (p->g, v)->size);
}

static void verify (struct planner *p)
{
    machine_verify (p);
    for (uint32_t v = 0; v < p->g->nv; v++)
        if (graph_vertex (p->g, v)->n > 0)
            expect_no_share (p, v);
}

/* -- steps -- */

static uint64_t random_job (const struct planner *p, bool booked)
{
    struct planner_job j;

    for (int i = 0; i < 50; i++) {
        uint64_t job = 1 + below (JOBS);
        if (planner_find (p, job, &j) == booked)
            return job;
    }
    return 0;
}

static void step_update (struct planner *p)
{
    autoselection struct selection *s = random_selection (p->g);
    uint64_t job = random_job (p, false);
    bool reserved = one_in (2);
    struct error err = { 0 };

    if (!job)
        return;
    int want = slow_verdict (p, s, reserved);
    int rc = planner_update (p, job, s, reserved, &err);
    if (rc != want)
        fail_msg ("update: %d, expected %d: %s", rc, want, err.text);
    assert_true (rc == 0 || err.text[0]);
}

static void step_cancel (struct planner *p)
{
    uint64_t job = random_job (p, true);

    if (job)
        assert_int_equal (planner_cancel (p, job), 0);
}

static bool covers (const struct graph *g, const struct selection *s, uint32_t v,
                    uint32_t unit)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        if (p->claimed && is_at_or_below (g, v, p->v)
            && (p->v != v || is_pool (g, v)
                || (unit >= p->unit && unit < p->unit + p->count)))
            return true;
    }
    return false;
}

/* Some units below v are given back (a vertex that the job has as a whole is split). */
static bool breaks (const struct planner *p, const struct selection *s, uint32_t v)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->picks[i].claimed && s->picks[i].v != v
            && is_at_or_below (p->g, s->picks[i].v, v))
            return true;
    return false;
}

/* True if the job will keep some of the pool. */
static bool some_left (const struct planner *p, uint64_t job, const struct selection *s,
                       uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    bool whole = planner_has (p, job, x->parent, 0, false);
    int64_t left = whole ? x->size : amount_of (p, job, v);

    for (size_t i = 0; i < s->n; i++)
        if (s->picks[i].claimed && s->picks[i].v == v)
            left -= s->picks[i].amount;
    return left > 0 && !covers (p->g, s, x->parent, 0);
}

/* Before the step: whether the job should have the unit after it. */
static bool will_have (const struct planner *p, uint64_t job, const struct selection *s,
                       uint32_t v, uint32_t unit)
{
    if (!planner_has (p, job, v, unit, false))
        return false;
    if (is_pool (p->g, v) && covers (p->g, s, v, unit))
        return some_left (p, job, s, v);
    return !covers (p->g, s, v, unit) && !breaks (p, s, v);
}

static void step_part (struct planner *p)
{
    static bool has[128][256]; /* vertices, units: large enough */
    autoselection struct selection *s = random_selection (p->g);
    uint64_t job = random_job (p, true);
    struct planner_job j;
    bool empty;

    if (!job)
        return;
    assert_true (p->g->nv <= 128);
    for (uint32_t v = 0; v < p->g->nv; v++)
        for (uint32_t u = 0; u < graph_vertex (p->g, v)->n; u++)
            has[v][u] = will_have (p, job, s, v, u);
    assert_int_equal (planner_cancel_part (p, job, s, &empty), 0);
    assert_int_equal (empty, !planner_find (p, job, &j));
    for (uint32_t v = 0; v < p->g->nv; v++) /* units may be gone: graph_resize() */
        for (uint32_t u = 0; u < graph_vertex (p->g, v)->n; u++)
            if (planner_has (p, job, v, u, false) != has[v][u])
                fail_msg ("unit %u of vertex %u: %d", u, v, !has[v][u]);
}

/* An extension is a second booking of the same for the additional time. */
static void step_extend (struct planner *p)
{
    uint64_t job = random_job (p, true);
    struct error err = { 0 };
    struct planner_job j;
    int want = 0;

    if (!job)
        return;
    assert_true (planner_find (p, job, &j));
    int64_t end =
        one_in (8) ? PLANNER_FOREVER : j.start + (int64_t)below (TIMES); /* 0: refused */
    if (end == j.start) {
        want = -EINVAL;
    } else if (end > j.end) {
        autoselection struct selection *s = planner_selection (p, job);
        s->start = j.end;
        s->end = end;
        want = slow_verdict (p, s, true);
    }
    assert_int_equal (planner_extend (p, job, end, &err), want);
    assert_true (want == 0 || err.text[0]);
    assert_true (planner_find (p, job, &j));
    assert_int_equal (j.end == end, want == 0 || j.end == end);
}

static void step_match (struct planner *p)
{
    static const char *const requests[] = {
        "{type: slot, count: 1, label: a, with: [{type: core, count: 1}]}",
        "{type: slot, count: 2, label: a, with: [{type: core, count: 2}]}",
        "{type: slot, count: {min: 1, max: 3}, label: a, with: [{type: node, count: 1}]}",
        "{type: node, count: 1, with: [{type: slot, count: 1, label: a, with: [{type: "
        "core, count: 3}, {type: gpu, count: 1}]}]}",
        "{type: node, count: 2, with: [{type: slot, count: 1, label: a, with: [{type: "
        "memory, count: 2}, {type: core, count: 1}]}]}",
        "{type: rack, count: 1, exclusive: true, with: [{type: slot, count: 1, label: a, "
        "with: [{type: node, count: 1}]}]}",
    };
    size_t from = p->policy.node_exclusive ? 2 : 0; /* picks that name the node */
    struct shape *s =
        machine_shape (requests[from + below (ARRAY_SIZE (requests) - from)]);
    autoselection struct selection *sel = NULL;
    uint64_t job = random_job (p, false);
    int64_t now = (int64_t)below (TIMES), duration = 1 + (int64_t)below (TIMES / 2);
    struct error err = { 0 };

    if (!job) {
        shape_destroy (s);
        return;
    }
    enum search_op op = one_in (2) ? SEARCH_ALLOCATE : SEARCH_ALLOCATE_ORELSE_RESERVE;
    int rc = search_match (p, op, job, s, now, duration, &sel, &err);
    assert_true (rc == 0 || rc == -EBUSY || rc == -ENODEV);
    assert_true ((rc == 0) == (sel != NULL));
    if (rc == 0) { /* each chosen unit is really free */
        struct planner_job j;
        assert_true (planner_find (p, job, &j));
        assert_int_equal (j.start, sel->start);
        assert_int_equal (j.end, sel->start + duration);
        assert_int_equal (planner_cancel (p, job), 0);
        assert_int_equal (slow_verdict (p, sel, j.reserved), 0);
        if (planner_update (p, job, sel, j.reserved, &err) < 0)
            fail_msg ("a chosen unit is not free: %s", err.text);
    } else {
        assert_true (err.text[0]);
    }
    shape_destroy (s);
}

static void step_status (struct planner *p)
{
    uint32_t v = random_vertex (p->g);
    uint32_t unit = (uint32_t)below (graph_vertex (p->g, v)->n);
    uint8_t flag = one_in (2) ? GRAPH_DOWN : GRAPH_DRAINED;

    assert_int_equal (
        graph_set_flag (p->g, v, one_in (4) ? GRAPH_NONE : unit, flag, one_in (3)), 0);
    if (!one_in (5))
        planner_changed (p, v);
    else
        assert_int_equal (levels_update (p), 0); /* detects it without a report */
}

static void step_size (struct planner *p)
{
    uint32_t v = random_vertex (p->g);
    const struct graph_vertex *x = graph_vertex (p->g, v);
    struct error err;

    if (x->first != GRAPH_NONE || x->type == GRAPH_NODE)
        return;
    if (is_pool (p->g, v)) /* a pool only grows: bookings must stay within it */
        graph_resize (p->g, v, 1, x->size + (int64_t)below (3), &err);
    else
        graph_resize (p->g, v, 1 + (uint32_t)below (x->n + 2), x->size, &err);
    planner_changed (p, v);
}

static void step_shape (struct planner *p, int64_t id)
{
    struct error err;

    if (one_in (2)) {
        uint32_t v = random_vertex (p->g);
        if (v != p->g->root)
            graph_remove (p->g, v, &err);
    } else {
        random_node (p->g, p->g->root, id);
    }
    if (!one_in (3))
        planner_changed (p, GRAPH_NONE);
}

static void step (struct planner *p, int64_t number)
{
    switch (below (12)) {
    case 0:
    case 1:
    case 2:
        step_update (p);
        break;
    case 3:
    case 4:
        step_match (p);
        break;
    case 5:
        step_cancel (p);
        break;
    case 6:
    case 7:
        step_part (p);
        break;
    case 8:
        step_extend (p);
        break;
    case 9:
    case 10:
        step_status (p);
        break;
    default:
        if (one_in (2))
            step_size (p);
        else if (one_in (3))
            step_shape (p, 1000 + number);
    }
}

/* -- all operations -- */

static const struct match_policy *random_policy (void)
{
    size_t n = 0;

    while (match_policies[n])
        n++;
    return match_policies[below (n)];
}

/* Keys of all nodes in all indexes, in their present state. */
static size_t all_keys (const struct planner *p, struct index_key **ret)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nupper; i++)
        n += p->upper[i].nnodes;
    *ret = calloc (n + 1, sizeof (**ret));
    n = 0;
    for (size_t i = 0; i < p->nupper; i++)
        for (size_t k = 0; k < p->upper[i].places; k++)
            if (p->upper[i].nodes[k] != NOWHERE)
                index_get (p->upper[i].index, k, &(*ret)[n++]);
    return n;
}

/* -- change by change -- */

/* By type: a type that is in no node any more keeps its dimension until all is made
 * again. */
static void dump_amounts (const struct planner *p, const int64_t *free,
                          const int64_t *ever, FILE *f)
{
    for (int t = 0; t < GRAPH_TYPES_MAX; t++)
        if (p->dim_of[t] >= 0 && ever[p->dim_of[t]] > 0)
            fprintf (f, "    type %d: %" PRId64 " of %" PRId64 "\n", t,
                     free[p->dim_of[t]], ever[p->dim_of[t]]);
}

static void dump_sums (const struct planner *p, const char *what, const int64_t *sums,
                       FILE *f)
{
    for (int t = 0; t < GRAPH_TYPES_MAX; t++)
        if (p->dim_of[t] > 0 && sums[p->dim_of[t]] != 0 && p->nupper > 0
            && index_most_ever (p->upper[0].index, (unsigned)p->dim_of[t]) > 0)
            fprintf (f, "%s, type %d: %" PRId64 "\n", what, t, sums[p->dim_of[t]]);
}

static void dump_node (const struct planner *p, const struct level_node *node, FILE *f)
{
    fprintf (f, "node %" PRIu32 ": %" PRIu32 " claims, %" PRIu32 " reserved, ", node->v,
             node->nclaims, node->nreserved);
    fprintf (f, "down %d, properties %d, load %" PRId64 ", score %" PRId64 "\n",
             node->down, node->properties, node->load, node->score);
    dump_amounts (p, node->up, node->ever, f);
}

static void dump_upper (const struct planner *p, const struct upper *a, FILE *f)
{
    fprintf (f, "above %" PRIu32 ": %zu own, %" PRId64 " whole\n", a->v, a->nown,
             a->whole);
    for (size_t i = 0; i < a->places; i++) {
        struct index_key key;
        if (a->nodes[i] == NOWHERE)
            continue;
        index_get (a->index, i, &key);
        fprintf (f, "  node %" PRIu32 " until %" PRId64 ", %" PRId64 "\n", a->nodes[i],
                 key.soonest, key.measure);
        dump_amounts (p, key.free, key.ever, f);
    }
    for (size_t i = 0; i < a->nloose; i++)
        fprintf (f, "  loose %" PRIu32 "\n", a->loose[i]);
    for (size_t i = 0; i < a->nkids; i++)
        fprintf (f, "  kid %" PRIu32 "\n", a->kids[i]);
    for (const struct upper *k = levels_next_kid (a, NULL); k; k = levels_next_kid (a, k))
        fprintf (f, "  next %" PRIu32 "\n", k->v);
}

/* Whole nodes (dimension 0) depend on the booking: not compared. */
static void dump_time (const struct planner *p, int64_t t, FILE *f)
{
    int64_t sums[INDEX_DIMS];

    profile_at (p->profile, t, sums);
    fprintf (f, "at %" PRId64 "\n", t);
    dump_sums (p, "profile", sums, f);
}

/* Ids, and types that had children, only grow until a rebuild: they are left out. */
static void dump_types (const struct planner *p, FILE *f)
{
    fprintf (f, "any loose %d, nested %d\n", p->any_loose, p->nested);
    for (int t = 0; t < GRAPH_TYPES_MAX; t++)
        if (p->type_upper[t] || p->type_loose[t] || p->type_shared[t])
            fprintf (f, "type %d: %d %d %d\n", t, p->type_upper[t], p->type_loose[t],
                     p->type_shared[t]);
}

static void dump_nodes (const struct planner *p, uint32_t v, FILE *f)
{
    if (graph_vertex (p->g, v)->type == GRAPH_NODE) {
        dump_node (p, levels_node (p, v), f);
        return;
    }
    GRAPH_CHILDREN (p->g, v, child)
    {
        dump_nodes (p, child, f);
    }
}

/* All data of the nodes, as text. */
static char *dump (const struct planner *p)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream (&text, &len);

    assert_non_null (f);
    dump_types (p, f);
    dump_nodes (p, p->g->root, f);
    for (size_t i = 0; i < p->nupper; i++)
        dump_upper (p, &p->upper[i], f);
    for (size_t i = 0; i < p->ninner; i++)
        dump_upper (p, &p->inner[i], f);
    dump_sums (p, "total", p->total, f);
    dump_sums (p, "loose", p->loose_free, f);
    dump_time (p, 0, f);
    for (const struct booking *b = p->by_job; b; b = b->hh.next) {
        dump_time (p, b->start, f);
        if (b->end != PLANNER_FOREVER)
            dump_time (p, b->end, f);
    }
    assert_int_equal (fclose (f), 0);
    return text;
}

/* test_streams() checks the verdicts; this test checks the resulting state. */
static void step_book (struct planner *p)
{
    autoselection struct selection *s = random_selection (p->g);
    uint64_t job = random_job (p, false);

    if (job)
        planner_update (p, job, s, one_in (2), NULL);
}

static void step_end (struct planner *p)
{
    uint64_t job = random_job (p, true);
    struct planner_job j;

    if (job && planner_find (p, job, &j))
        planner_extend (p, job, j.start + 1 + (int64_t)below (TIMES), NULL);
}

/* A reservation is suspended while other jobs come, and gets its place back if it is
 * free. */
static void step_aside (struct planner *p)
{
    uint64_t job = random_job (p, true);
    struct booking *b = job ? booking_find (p, job) : NULL;

    if (!b || !b->reserved)
        return;
    booking_suspend (p, b);
    if (one_in (2))
        booking_unlist_suspended (p);
    for (uint64_t n = below (4); n > 0; n--) {
        assert_int_equal (levels_update (p), 0);
        if (one_in (3))
            step_book (p);
    }
    if (booking_is_taken (p, b))
        assert_int_equal (planner_cancel (p, job), 0);
    else
        booking_resume (p, b);
}

static void step_told (struct planner *p)
{
    uint32_t v = random_vertex (p->g);
    uint32_t unit = (uint32_t)below (graph_vertex (p->g, v)->n);

    assert_int_equal (graph_set_flag (p->g, v, unit,
                                      one_in (2) ? GRAPH_DOWN : GRAPH_DRAINED,
                                      one_in (3)),
                      0);
    planner_changed (p, v);
}

/* A node comes below any vertex above nodes, with contents or without. */
static void come (struct planner *p, int64_t id)
{
    uint32_t parent, node;
    struct graph_spec spec = { .type = "node", .id = id, .rank = -1, .uniq = -1 };

    do {
        parent = random_vertex (p->g);
    } while (parent != p->g->root && !levels_is_upper (graph_vertex (p->g, parent)));
    planner_begin_change (p, GRAPH_NONE);
    node = graph_add (p->g, parent, &spec, NULL);
    if (node != GRAPH_NONE && one_in (2))
        random_leaves (p->g, node);
    planner_end_change (p, node);
    if (node == GRAPH_NONE || one_in (3))
        return;
    machine_add (p->g, node, "core", 200, 1 + (uint32_t)below (70), 1, 0);
    planner_changed (p, node);
}

/* An outermost node; GRAPH_NONE: there is none. */
static uint32_t random_outer (const struct planner *p)
{
    for (int i = 0; i < 100; i++) {
        uint32_t v = random_vertex (p->g);
        if (graph_vertex (p->g, v)->type == GRAPH_NODE && levels_node_of (p, v) == v)
            return v;
    }
    return GRAPH_NONE;
}

/* It goes, if nothing is booked there, or moves. */
static void go_or_move (struct planner *p)
{
    uint32_t node = random_outer (p), parent = random_vertex (p->g);

    if (node == GRAPH_NONE)
        return;
    planner_begin_change (p, node);
    if (one_in (2)) {
        graph_move (p->g, node, parent, NULL);
        planner_end_change (p, node);
    } else {
        int rc = graph_remove (p->g, node, NULL);
        planner_end_change (p, rc == 0 ? GRAPH_NONE : node);
    }
}

/* What is left is for test_streams(): a node may have come below what the job has. */
static void step_give (struct planner *p)
{
    autoselection struct selection *s = random_selection (p->g);
    uint64_t job = random_job (p, true);
    bool empty;

    if (job)
        assert_int_equal (planner_cancel_part (p, job, s, &empty), 0);
}

static void step_node (struct planner *p, int64_t id)
{
    switch (below (10)) {
    case 0:
    case 1:
        step_book (p);
        break;
    case 2:
        step_cancel (p);
        break;
    case 3:
        step_give (p);
        break;
    case 4:
        step_end (p);
        break;
    case 5:
        step_aside (p);
        break;
    case 6:
        come (p, id);
        break;
    case 7:
    case 8:
        go_or_move (p);
        break;
    default:
        if (one_in (4))
            step_size (p);
        else
            step_told (p);
    }
}

static void expect_as_anew (struct planner *p)
{
    autofree char *changed = NULL, *rebuilt = NULL;

    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    changed = dump (p);
    planner_changed (p, GRAPH_NONE);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    rebuilt = dump (p);
    assert_string_equal (changed, rebuilt);
}

static void cancel_all (struct planner *p)
{
    struct planner_job j;

    for (uint64_t at = 0; planner_next (p, at, &j); at = j.job)
        assert_int_equal (planner_cancel (p, j.job), 0);
    assert_int_equal (planner_count (p), 0);
    expect_as_anew (p);
}

static void test_streams (void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct match_policy *policy = random_policy ();
        struct graph *g = random_graph ();
        struct planner_options opt = { .together_slots = one_in (2) };
        struct planner *p = planner_create (g, policy, &opt);
        if (one_in (2))
            planner_track (p, "socket");
        for (int i = 0; i < STEPS; i++) {
            step (p, i);
            verify (p);
            if (one_in (2)) {
                assert_int_equal (levels_update (p), 0);
                machine_verify (p);
            }
        }
        cancel_all (p);
        planner_destroy (p);
        graph_destroy (g);
    }
}

static void test_nodes (void **state)
{
    (void)state;
    size_t changes = 0, rebuilt = 0;

    for (int round = 0; round < 4 * ROUNDS; round++) {
        struct graph *g = random_graph ();
        struct planner_options opt = { 0 };
        struct planner *p = planner_create (g, random_policy (), &opt);
        for (int i = 0; i < 60 && g->nv < 100; i++) {
            uint64_t made = p->made;
            step_node (p, 1000 + (int64_t)below (50));
            verify (p);
            if (one_in (2))
                assert_int_equal (levels_update (p), 0);
            changes++;
            rebuilt += p->made - made;
            if (one_in (10))
                expect_as_anew (p);
        }
        expect_as_anew (p);
        cancel_all (p);
        planner_destroy (p);
        graph_destroy (g);
    }
    assert_true (rebuilt < changes / 3); /* else too little of it happens */
}

/* Without a rebuild since then; *made: how many there were. */
static void expect_same_order (struct planner *p, uint64_t *made)
{
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (p->made, *made);
    expect_as_anew (p);
    *made = p->made;
}

/* Many nodes come at one place of the order, and go again: none costs a rebuild, and the
 * indexes stay small. */
static void test_crowd (void **state)
{
    (void)state;
    static const char *const policies[] = { "low", "high", "hinode", "bestfit", "first" };

    for (size_t i = 0; i < ARRAY_SIZE (policies); i++) {
        struct planner *p = machine_planner (machine_of (3, 10), policies[i]);
        uint32_t node[1000];
        assert_int_equal (levels_update (p), 0);
        uint64_t made = p->made;
        for (int64_t n = 0; n < 1000; n++) {
            planner_begin_change (p, GRAPH_NONE);
            node[n] = machine_add (p->g, p->g->root, "node", n % 2 ? 5000 - n : 1000 + n,
                                   1, 1, 0);
            planner_end_change (p, node[n]);
            if (n % 100 == 0)
                expect_same_order (p, &made);
        }
        expect_same_order (p, &made);
        assert_true (p->upper[0].places < 2 * 1030);
        for (size_t n = 0; n < 1000; n++) {
            planner_begin_change (p, node[n]);
            assert_int_equal (graph_remove (p->g, node[n], NULL), 0);
            planner_end_change (p, GRAPH_NONE);
        }
        expect_same_order (p, &made);
        machine_done (p);
    }
}

/* A cancel in another order than the bookings restores the same bytes. */
static void test_cancel_restores (void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct graph *g = random_graph ();
        struct planner_options opt = { 0 };
        struct planner *p = planner_create (g, match_policy_find ("bestfit"), &opt);
        autofree struct index_key *before = NULL, *after = NULL;
        size_t n, size = 0;
        assert_int_equal (levels_update (p), 0);
        for (int i = 0; i < 10; i++)
            step_update (p);
        n = all_keys (p, &before);
        size = planner_count (p);
        for (uint64_t job = 100; job < 120; job++) {
            autoselection struct selection *s = random_selection (g);
            planner_update (p, job, s, one_in (2), NULL);
        }
        for (uint64_t job = 100; job < 120; job++)
            planner_cancel (p, job < 110 ? 2 * job - 100 : 2 * job - 119);
        assert_int_equal (planner_count (p), size);
        assert_int_equal (all_keys (p, &after), n);
        assert_memory_equal (before, after, n * sizeof (*before));
        machine_verify (p);
        planner_destroy (p);
        graph_destroy (g);
    }
}

/* -- ordered.h -- */

static void test_ordered (void **state)
{
    (void)state;
    enum { LINKS = 500 };
    static struct ordered_link links[LINKS];
    static bool in[LINKS];
    struct ordered o = { 0 };
    size_t n = 0;

    for (int i = 0; i < 20000; i++) {
        size_t k = below (LINKS);
        if (in[k])
            ordered_remove (&o, &links[k]);
        else
            ordered_insert (&o, &links[k], below (one_in (2) ? 50 : UINT64_MAX));
        in[k] = !in[k];
        n += in[k] ? 1 : (size_t)-1;
        assert_int_equal (o.n, n);
        uint64_t key = below (60), least = UINT64_MAX, first = UINT64_MAX;
        for (size_t j = 0; j < LINKS; j++) {
            if (in[j] && links[j].key > key && links[j].key < least)
                least = links[j].key;
            if (in[j] && links[j].key < first)
                first = links[j].key;
        }
        const struct ordered_link *l = ordered_above (&o, key);
        assert_int_equal (l ? l->key : UINT64_MAX, least);
        l = ordered_first (&o);
        assert_int_equal (l ? l->key : UINT64_MAX, first);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_streams), cmocka_unit_test (test_nodes),
        cmocka_unit_test (test_crowd),   cmocka_unit_test (test_cancel_restores),
        cmocka_unit_test (test_ordered),
    };
    chance_begin ("test_planner_random");
    return cmocka_run_group_tests (tests, NULL, NULL);
}

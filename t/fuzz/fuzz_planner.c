/* fuzz_planner.c - any bytes as a machine and a stream of operations on it: matches of
 * any request, any bookings and releases, times, and changes of the machine; after each
 * operation all summaries are recounted, and in the end nothing is left
 *
 * Parser: match/planner/planner.c match/planner/bookings.c
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match/planner/planner_state.h"
#include "match/search/search.h"
#include "match/test/inspect.h"
#include "match/test/verify.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define STEPS_MAX 40
#define UNITS_MAX 400
#define JOBS 16

struct input {
    const uint8_t *data;
    size_t size;
};

struct world {
    struct input in;
    struct graph *g;
    struct planner *p;
    int64_t now;
};

/* 0 .. n - 1; 0 when there are no more bytes. */
static unsigned below (struct input *in, unsigned n)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++ % n;
}

/* Mostly small, sometimes at the ends of the range. */
static int64_t any_number (struct input *in)
{
    static const int64_t ends[] = { INT64_MIN,     -1,        0,
                                    INT64_MAX - 1, INT64_MAX, GRAPH_SIZE_MAX,
                                    UINT32_MAX,    INT32_MAX };
    unsigned n = below (in, 64);

    return n < 56 ? n : ends[n - 56];
}

/* -- the machine -- */

static const char *const types[] = { "node", "core", "gpu",    "memory",
                                     "rack", "slot", "socket", "storage" };

static uint32_t add (struct world *w, uint32_t parent, const char *type, unsigned n,
                     int64_t size, uint8_t flags)
{
    static int64_t id;
    struct graph_spec spec = { .type = type,
                               .id = parent == GRAPH_NONE ? (id = 0) : (id += n),
                               .count = n,
                               .size = size,
                               .uniq = -1,
                               .rank = -1,
                               .flags = flags };
    struct error err;

    return graph_add (w->g, parent, &spec, &err);
}

static void add_parts (struct world *w, uint32_t v)
{
    unsigned what = below (&w->in, 64);

    add (w, v, "core", 1 + what % 4, 1, 0);
    if (what & 4)
        add (w, v, "gpu", 1 + what / 32, 1, 0);
    if (what & 8)
        add (w, v, "memory", 1, 1 + what % 8, what & 16 ? GRAPH_DIVISIBLE : 0);
}

static void add_node (struct world *w, uint32_t parent)
{
    uint32_t node = add (w, parent, "node", 1, 1, 0);
    unsigned sockets = below (&w->in, 6);

    if (sockets < 3)
        add_parts (w, node);
    for (unsigned i = 3; i < sockets; i++)
        add_parts (w, add (w, node, "socket", 1, 1, 0));
    if (sockets == 2)
        add_node (w, node); /* a node in a node */
}

static void add_nodes (struct world *w, uint32_t parent)
{
    unsigned n = below (&w->in, 4);

    for (unsigned i = 0; i < n; i++)
        add_node (w, parent);
    if (n == 3 || n == 0)
        add (w, parent, "storage", 1, 10, GRAPH_DIVISIBLE);
}

static void make_machine (struct world *w)
{
    uint32_t root = add (w, GRAPH_NONE, "cluster", 1, 1, 0);
    unsigned racks = below (&w->in, 4);

    for (unsigned i = 0; i < racks; i++)
        add_nodes (w, add (w, root, "rack", 1, 1, 0));
    if (racks != 2)
        add_nodes (w, root);
}

static uint32_t any_vertex (struct world *w)
{
    uint32_t v = below (&w->in, w->g->nv ? MIN (w->g->nv, 255) : 1);

    return v < w->g->nv && w->g->v[v].n > 0 ? v : w->g->root;
}

/* -- requests -- */

static void ask (struct world *w, struct jobspec_resource *r, unsigned depth)
{
    unsigned what = below (&w->in, 256), n = 1 + what / 8 % 4, kids = below (&w->in, 4);

    *r = (struct jobspec_resource){
        .type = (char *)types[what % 8],
        .count = { .min = n, .max = what & 64 ? n + 3 : n, .op = '+', .operand = 1 },
        .exclusive = what > 240 ? JOBSPEC_TRUE : JOBSPEC_UNSET,
    };
    if (what % 8 == 5 && what > 200)
        r->type = what & 1 ? "or_slot" : "xor_slot";
    if (depth == 4)
        return;
    if (kids == 0 && strstr (r->type, "slot"))
        kids = 1;
    r->with = calloc (kids + 1, sizeof (*r->with));
    for (; r->nwith < kids; r->nwith++)
        ask (w, &r->with[r->nwith], depth + 1);
}

static void ask_no_more (struct jobspec_resource *r)
{
    for (size_t i = 0; i < r->nwith; i++)
        ask_no_more (&r->with[i]);
    free (r->with);
}

/* -- operations -- */

static void check_why (const struct error *why)
{
    assert (why->code && why->text[0] && !strchr (why->text, '\n'));
}

static void do_match (struct world *w)
{
    enum search_op op = (enum search_op)below (&w->in, 6);
    uint64_t job = 1 + below (&w->in, JOBS);
    struct jobspec_resource top[2];
    size_t n = 1 + below (&w->in, 3) / 2;
    struct selection *s = NULL;
    struct error why = { 0 };
    unsigned flags = below (&w->in, 4);

    for (size_t i = 0; i < n; i++)
        ask (w, &top[i], 0);
    struct shape *shape = shape_compile (top, n, NULL, flags, &why);
    for (size_t i = 0; i < n; i++)
        ask_no_more (&top[i]);
    if (!shape) {
        check_why (&why);
        return;
    }
    shape->node_memory = flags == 3 ? below (&w->in, 8) : 0;
    int rc = search_match (w->p, op, job, shape, w->now, any_number (&w->in), &s, &why);
    if (rc < 0) {
        assert (!s);
        check_why (&why);
    } else if (op != SEARCH_SATISFIABILITY) {
        assert (s && s->start >= w->now && s->end > s->start);
        for (size_t i = 1; i < s->n; i++)
            assert (s->picks[i].parent < i);
    }
    selection_destroy (s);
    shape_destroy (shape);
}

/* Picks of anything, also of missing vertices. */
static struct selection *any_selection (struct world *w)
{
    struct selection *s = selection_create ();
    unsigned n = below (&w->in, 5);

    for (unsigned i = 0; i < n; i++) {
        uint32_t v = any_vertex (w);
        struct pick *p = selection_add (s, w->g, v, below (&w->in, 5),
                                        1 + below (&w->in, 4), GRAPH_NONE);
        unsigned how = below (&w->in, 8);
        p->claimed = how != 0;
        p->exclusive = how > 1;
        if (how > 5)
            p->amount = any_number (&w->in);
        if (how == 5)
            p->unit = (uint32_t)any_number (&w->in);
    }
    s->start = below (&w->in, 2) ? w->now : any_number (&w->in);
    s->end = any_number (&w->in);
    return s;
}

static void do_update (struct world *w)
{
    struct selection *s = any_selection (w);
    struct error why = { 0 };
    uint64_t job = 1 + below (&w->in, JOBS);
    bool fits = true;

    for (size_t i = 0; i < s->n; i++) /* otherwise they cannot be sorted */
        fits = fits && s->picks[i].unit < graph_vertex (w->g, s->picks[i].v)->n;
    if (below (&w->in, 2) && fits)
        selection_complete (s, w->g);
    if (planner_update (w->p, job, s, below (&w->in, 2), &why) < 0)
        check_why (&why);
    selection_destroy (s);
}

static void do_cancel_part (struct world *w)
{
    struct selection *s = any_selection (w);
    bool empty;

    planner_cancel_part (w->p, 1 + below (&w->in, JOBS), s, &empty);
    selection_destroy (s);
}

static void do_change (struct world *w)
{
    uint32_t v = any_vertex (w), unit = below (&w->in, 5);
    struct error err;
    int64_t amount = any_number (&w->in);

    if (unit == 4)
        unit = GRAPH_NONE;
    switch (below (&w->in, 10)) {
    case 0:
    case 1:
        graph_set_flag (w->g, v, unit, GRAPH_DOWN, below (&w->in, 2));
        break;
    case 2:
        graph_set_flag (w->g, v, unit, GRAPH_DRAINED, below (&w->in, 2));
        break;
    case 3:
        graph_resize (w->g, v, 1 + below (&w->in, 8), amount, &err);
        break;
    case 4:
        if (v != w->g->root)
            graph_remove (w->g, v, &err);
        break;
    case 5:
        if (v != w->g->root)
            graph_set_leaving (w->g, v, below (&w->in, 2));
        break;
    case 6:
        graph_set_withheld (w->g, v, amount);
        break;
    case 7:
        graph_move (w->g, v, any_vertex (w), &err);
        break;
    case 8:
        graph_set_property (w->g, v, unit, "p", below (&w->in, 2) ? "" : NULL);
        break;
    default:
        if (graph_unit_count (w->g) < UNITS_MAX)
            add (w, v, types[below (&w->in, 5)], 1 + below (&w->in, 3), 1, 0);
    }
    planner_changed (w->p, below (&w->in, 2) ? v : GRAPH_NONE);
}

/* Some bookings end; a new planner takes over the others, as far as their
 * units still exist. */
static void do_remake (struct world *w)
{
    struct error err = { 0 };

    for (uint64_t job = 1; below (&w->in, 2) && job <= JOBS; job++)
        planner_cancel (w->p, job);
    if (planner_remake (&w->p, &err) < 0)
        check_why (&err);
}

static void step (struct world *w)
{
    uint64_t job;
    struct error err = { 0 };

    switch (below (&w->in, 16)) {
    case 0:
        do_update (w);
        break;
    case 1:
        do_cancel_part (w);
        break;
    case 2:
        job = 1 + below (&w->in, JOBS);
        if (planner_extend (w->p, job, any_number (&w->in), &err) < 0)
            check_why (&err);
        break;
    case 3:
    case 4:
        w->now += below (&w->in, 16);
        break;
    case 5:
        do_remake (w);
        break;
    case 6:
    case 7:
        planner_cancel (w->p, 1 + below (&w->in, JOBS));
        break;
    case 8:
    case 9:
    case 10:
        do_change (w);
        break;
    default:
        do_match (w);
    }
    if (planner_verify (w->p, &err) < 0) {
        fprintf (stderr, "%s\n", err.text);
        abort ();
    }
}

static void check_end (struct world *w)
{
    struct error err;

    for (uint64_t job = 1; job <= JOBS; job++)
        planner_cancel (w->p, job);
    assert (planner_count (w->p) == 0 && planner_verify (w->p, &err) == 0);
    for (uint32_t v = 0; v < w->g->nv; v++) {
        const struct graph_vertex *x = graph_vertex (w->g, v);
        assert (x->n == 0 || (x->nclaims == 0 && x->used == 0));
    }
    for (uint32_t v = 0; v < w->g->nv; v++)
        assert (w->g->v[v].n == 0 || w->g->v[v].n > 64 || w->g->v[v].busy.bits == 0);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct world w = { .in = { data, size }, .g = graph_create () };
    struct planner_options opt = { 0 };
    size_t n = 0;

    while (match_policies[n])
        n++;
    const struct match_policy *policy = match_policies[below (&w.in, (unsigned)n)];
    opt.together_slots = below (&w.in, 8) == 0;
    make_machine (&w);
    w.p = planner_create (w.g, policy, &opt);
    for (int i = 0; i < STEPS_MAX && w.in.size > 0; i++)
        step (&w);
    check_end (&w);
    planner_destroy (w.p);
    graph_destroy (w.g);
    return 0;
}

/* random_world.c - see random_world.h */
#include "common/test/unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match/search/test/random_world.h"
#include "match/test/chance.h"

/* -- a story -- */

static char story[1 << 16];
static size_t told;

void tell (const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    int n = vsnprintf (story + told, sizeof (story) - told, fmt, ap);
    va_end (ap);
    told = MIN (told + (size_t)MAX (n, 0), sizeof (story) - 1);
}

static uint64_t seed_now;

void wrong (const char *fmt, ...)
{
    char text[2048];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    printf ("%s", story);
    fflush (stdout);
    fail_msg ("FLUXQ_TEST_SEED=%" PRIu64 " FLUXQ_TEST_GRAPHS=1: %s", seed_now, text);
    abort ();
}

bool one_in (uint64_t n)
{
    return chance_below (n) == 0;
}

size_t below (size_t n)
{
    return chance_below (n);
}

int64_t between (int64_t least, int64_t most)
{
    return least + (int64_t)chance_below ((uint64_t)(most - least + 1));
}

/* -- machines -- */

static uint32_t add (struct world *w, uint32_t parent, const char *type, int64_t id,
                     int64_t count, int64_t size, uint8_t flags)
{
    const char *const fast[] = { REF_PROPERTY, "", NULL };
    struct graph_spec spec = { .type = type,
                               .id = id,
                               .count = (uint32_t)count,
                               .size = size,
                               .uniq = -1,
                               .rank = -1,
                               .flags = flags,
                               .properties = one_in (3) ? fast : NULL };
    struct error err;
    uint32_t v = graph_add (w->g, parent, &spec, &err);

    if (v == GRAPH_NONE)
        wrong ("%s%" PRId64 ": %s", type, id, err.text);
    w->all_one = w->all_one && size == 1 && !(flags & GRAPH_DIVISIBLE);
    return v;
}

/* Units of one type, perhaps with a gap, or in single vertices. */
static void add_units (struct world *w, uint32_t parent, const char *type, int64_t id,
                       int n)
{
    int first = n > 1 && one_in (4) ? (int)between (1, n - 1) : n;

    if (n == 0)
        return;
    add (w, parent, type, id, first, 1, 0);
    if (first < n)
        add (w, parent, type, id + first + between (0, 1), n - first, 1, 0);
}

static void add_memory (struct world *w, uint32_t parent, int64_t id)
{
    const struct plan *t = &w->plan;

    if (t->memory == 0)
        return;
    if (t->divisible) {
        add (w, parent, "memory", id, 1, t->memory * t->memories, GRAPH_DIVISIBLE);
        return;
    }
    for (int i = 0; i < t->memories; i++)
        add (w, parent, "memory", id + i, 1, one_in (4) ? t->memory + 1 : t->memory, 0);
}

/* The content of a node. */
static void add_parts (struct world *w, uint32_t node)
{
    const struct plan *t = &w->plan;
    int cores = one_in (5) ? (int)between (1, 4) : t->cores;
    int gpus = one_in (5) ? (int)between (0, 2) : t->gpus;

    for (int s = 0; s < t->sockets; s++) {
        uint32_t socket = add (w, node, "socket", s, 1, 1, one_in (20) ? GRAPH_DOWN : 0);
        add_units (w, socket, "core", s * 10, cores);
        if (!t->mixed) {
            add_units (w, socket, "gpu", s * 10, gpus);
            add_memory (w, socket, s * 10);
        }
    }
    if (t->sockets > 0 && !t->mixed)
        return;
    if (t->sockets == 0)
        add_units (w, node, "core", 0, cores);
    add_units (w, node, "gpu", 0, gpus);
    add_memory (w, node, 0);
}

static void add_node (struct world *w, uint32_t parent)
{
    const struct plan *t = &w->plan;
    int64_t id = w->plan.next_node++;
    uint32_t node = add (w, parent, "node", t->shuffled ? (id * 7 + 3) % 31 : id, 1, 1,
                         one_in (12) ? GRAPH_DOWN : 0);

    if (!t->bare)
        add_parts (w, node);
}

static void add_nodes (struct world *w, uint32_t parent)
{
    int64_t nodes = one_in (4) ? between (1, 3) : w->plan.nodes;

    if (w->plan.no_node || (w->plan.loose && parent != w->g->root && one_in (6))) {
        add_parts (w, parent);
        return;
    }
    if (w->plan.loose && one_in (2))
        add (w, parent, "storage", w->plan.next_rack, 1, between (1, 3), 0);
    for (int64_t i = 0; i < nodes; i++)
        add_node (w, parent);
    if (w->plan.loose && one_in (3))
        add (w, parent, "storage", w->plan.next_rack + 50, 2, 1, 0);
}

static void add_racks (struct world *w, uint32_t parent)
{
    for (int r = 0; r < w->plan.racks; r++) {
        uint32_t rack = add (w, parent, "rack", w->plan.next_rack++, 1, 1,
                             one_in (20) ? GRAPH_DOWN : 0);
        add_nodes (w, rack);
    }
    if (w->plan.racks == 0 || (w->plan.mixed && one_in (2)))
        add_nodes (w, parent);
}

static void make_machine (struct world *w)
{
    struct plan *t = &w->plan;

    *t = (struct plan){ .racks = one_in (2) ? (int)between (1, 3) : 0,
                        .nodes = (int)between (1, 3),
                        .sockets = one_in (3) ? 2 : 0,
                        .cores = (int)between (1, 4),
                        .gpus = (int)between (0, 2),
                        .memory = one_in (2) ? between (1, 3) : 0,
                        .memories = (int)between (1, 3),
                        .divisible = one_in (2),
                        .loose = one_in (5),
                        .mixed = one_in (4),
                        .shuffled = one_in (6),
                        .bare = one_in (16),
                        .no_node = one_in (12) };
    t->zones = t->racks > 0 && one_in (6) ? 2 : 0;
    w->all_one = true;
    uint32_t root = add (w, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    for (int z = 0; z < t->zones; z++)
        add_racks (w, add (w, root, "zone", z, 1, 1, 0));
    if (t->zones == 0)
        add_racks (w, root);
}

static void tell_machine (const struct world *w)
{
    for (int i = 0; i < w->ref->nv; i++) {
        const struct ref_vertex *x = &w->ref->v[i];
        int depth = 0;
        for (int up = x->parent; up >= 0; up = w->ref->v[up].parent)
            depth++;
        tell ("%*s%s%" PRId64, 2 * depth, "", x->type, x->id);
        if (x->size != 1 || x->divisible)
            tell (" of %" PRId64 "%s", x->size, x->divisible ? ", divisible" : "");
        tell ("%s%s  (%d)", x->up ? "" : " down", x->fast ? " fast" : "", i);
        tell (x->unit == 0 ? "  vertex %" PRIu32 "\n" : "\n", x->v);
    }
}

void world_make (struct world *w, uint64_t seed)
{
    static const struct {
        const char *name;
        struct ref_policy policy;
    } rows[] = {
        { "low", { .high = false } },
        { "high", { .high = true } },
        { "first",
          { .high = true, .node_centric = true, .first = true, .measured = true } },
        { "lonode", { .node_centric = true } },
        { "hinode", { .high = true, .node_centric = true } },
        { "lonodex", { .node_centric = true, .node_exclusive = true } },
        { "hinodex", { .high = true, .node_centric = true, .node_exclusive = true } },
        { "firstnodex",
          { .high = true, .node_centric = true, .node_exclusive = true, .first = true } },
    };
    size_t i;
    struct planner_options opt = { 0 };

    chance_state = seed_now = seed;
    told = 0;
    story[0] = '\0';
    *w = (struct world){ .g = graph_create (), .next_job = 1 };
    w->ref = calloc (1, sizeof (*w->ref));
    i = one_in (3) ? below (ARRAY_SIZE (rows)) : below (3);
    w->ref->policy = rows[i].policy;
    make_machine (w);
    ref_load (w->ref, w->g);
    w->p = planner_create (w->g, match_policy_find (rows[i].name), &opt);
    tell ("policy %s\n", rows[i].name);
    tell_machine (w);
}

void world_release (struct world *w)
{
    planner_destroy (w->p);
    graph_destroy (w->g);
    ref_release (w->ref);
    free (w->ref);
}

/* -- requests -- */

static void set_sizes (struct ref_req *r, int64_t n)
{
    static const int64_t gap[] = { 1, 3, 4 };

    if (!one_in (5)) {
        r->sizes[r->nsizes++] = n;
    } else if (one_in (3)) {
        for (int64_t i = 1; i <= 8; i *= 2) /* 1 to 8, doubling */
            r->sizes[r->nsizes++] = i;
    } else if (one_in (2)) {
        for (size_t i = 0; i < 3; i++)
            r->sizes[r->nsizes++] = gap[i];
    } else {
        for (int64_t i = n; i <= n + 2; i++)
            r->sizes[r->nsizes++] = i;
    }
}

static int ask (struct ref_request *q, int parent, const char *type, int64_t n)
{
    struct ref_req *r = &q->r[q->n];

    *r = (struct ref_req){ .parent = parent };
    snprintf (r->type, sizeof (r->type), "%s", type);
    set_sizes (r, n);
    r->exclusive = strcmp (type, "slot") != 0 && one_in (12);
    r->fast = strcmp (type, "slot") != 0 && one_in (20);
    return q->n++;
}

/* The content of a slot, or of a node without one. */
static void ask_parts (const struct world *w, struct ref_request *q, int parent)
{
    bool socket = w->plan.sockets > 0 && one_in (6);

    if (socket)
        parent = ask (q, parent, "socket", between (1, 2));
    if (socket && one_in (2))
        return;
    if (!one_in (8))
        ask (q, parent, "core", between (1, 3));
    if (w->plan.gpus > 0 && one_in (3))
        ask (q, parent, "gpu", between (1, 2));
    if (w->plan.memory > 0 && one_in (2))
        ask (q, parent, "memory", between (1, w->plan.memory + 1));
    if (w->plan.loose && one_in (8))
        ask (q, parent, "storage", between (1, 2));
    if (q->r[q->n - 1].parent != parent)
        ask (q, parent, "core", 1);
}

static void ask_slot (const struct world *w, struct ref_request *q, int parent,
                      bool nodes)
{
    int slot = ask (q, parent, "slot", between (1, 3));

    if (one_in (12)) {
        int outer = slot;
        slot = ask (q, slot, "slot", between (1, 2));
        if (one_in (2))
            ask (q, outer, one_in (2) ? "core" : "gpu", 1);
    }
    if (!nodes) {
        ask_parts (w, q, slot);
        return;
    }
    int node = ask (q, slot, "node", between (1, 2));
    if (one_in (2))
        ask_parts (w, q, node);
}

/* In a node: a slot, perhaps with something beside it or a second slot, or the parts
 * alone. */
static void ask_in_node (const struct world *w, struct ref_request *q, int node)
{
    if (one_in (8)) {
        ask_parts (w, q, node);
        return;
    }
    ask_slot (w, q, node, false);
    if (one_in (8))
        ask_slot (w, q, node, false);
    else if (w->plan.memory > 0 && one_in (6))
        ask (q, node, "memory", between (1, w->plan.memory));
    else if (one_in (10))
        ask (q, node, "core", 1);
}

static void ask_node (const struct world *w, struct ref_request *q, int parent)
{
    int node = ask (q, parent, "node", between (1, 3));

    q->r[node].exclusive = one_in (4);
    if (!one_in (8))
        ask_in_node (w, q, node);
}

static void ask_request (const struct world *w, struct ref_request *q)
{
    int top = -1;

    *q = (struct ref_request){ .fast = one_in (10) };
    if (w->plan.zones > 0 && one_in (8))
        top = ask (q, top, "zone", 1);
    if (w->plan.racks > 0 && one_in (4))
        top = ask (q, top, "rack", between (1, 2));
    switch (below (6)) {
    case 0:
    case 1:
        ask_node (w, q, top);
        break;
    case 2:
        ask_slot (w, q, top, true);
        break;
    default:
        ask_slot (w, q, top, false);
    }
    if (w->plan.loose && one_in (2))
        ask (q, top, "storage", between (1, 2));
    else if (one_in (12))
        ask_slot (w, q, top, false);
    if (top >= 0 && one_in (8))
        q->r[top].exclusive = true;
}

/* The same in a jobspec. */
static struct jobspec_resource resource_of (const struct ref_request *q, int i)
{
    const struct ref_req *r = &q->r[i];
    int64_t last = r->sizes[r->nsizes - 1];
    struct jobspec_resource x = {
        .type = (char *)r->type,
        .count = { .min = r->sizes[0], .max = last, .op = '+', .operand = 1 },
        .exclusive = r->exclusive ? JOBSPEC_TRUE : JOBSPEC_UNSET,
    };

    if (r->nsizes == 4)
        x.count.op = '*', x.count.operand = 2;
    if (r->nsizes == 3 && last == 4 && r->sizes[0] == 1) {
        x.sizes = idset_create ();
        for (int k = 0; k < r->nsizes; k++)
            idset_add (x.sizes, (uint32_t)r->sizes[k]);
    }
    if (r->fast)
    x.requires = json_pack ("{s:[s]}", "properties", REF_PROPERTY);
    for (int c = i + 1; c < q->n; c++) {
        if (q->r[c].parent != i)
            continue;
        x.with = realloc (x.with, (x.nwith + 1) * sizeof (*x.with));
        x.with[x.nwith++] = resource_of (q, c);
    }
    return x;
}

static void release_resource (struct jobspec_resource *x)
{
    for (size_t i = 0; i < x->nwith; i++)
        release_resource (&x->with[i]);
    free (x->with);
    idset_destroy (x->sizes);
    json_decref (x->requires);
}

static void tell_request (const struct ref_request *q, int parent)
{
    const char *before = "";

    for (int i = 0; i < q->n; i++) {
        const struct ref_req *r = &q->r[i];
        if (r->parent != parent)
            continue;
        tell ("%s%s=", before, r->type);
        for (int k = 0; k < r->nsizes; k++)
            tell ("%s%" PRId64, k > 0 ? "|" : "", r->sizes[k]);
        tell ("%s%s", r->exclusive ? "!" : "", r->fast ? "?fast" : "");
        for (int c = i + 1; c < q->n; c++)
            if (q->r[c].parent == i) {
                tell (">(");
                tell_request (q, i);
                tell (")");
                break;
            }
        before = ", ";
    }
}

void request_make (const struct world *w, struct asked *a)
{
    struct jobspec_resource top[REF_REQS];
    json_t *fast = json_pack ("{s:[s]}", "properties", REF_PROPERTY);
    bool leaves = one_in (3);
    struct error err = { 0 };
    size_t n = 0;

    do {
        ask_request (w, &a->q);
        n = 0;
        for (int i = 0; i < a->q.n; i++)
            if (a->q.r[i].parent < 0)
                top[n++] = resource_of (&a->q, i);
        a->shape = shape_compile (top, n, a->q.fast ? fast : NULL,
                                  leaves ? SHAPE_BOOK_LEAVES : 0, &err);
        for (size_t i = 0; i < n; i++)
            release_resource (&top[i]);
    } while (!a->shape && err.code == ENOTSUP); /* the same type twice side by side */
    json_decref (fast);
    if (!a->shape)
        wrong ("a request is refused: %s", err.text);
    for (int i = 0; i < a->q.n; i++) {
        bool leaf = true;
        for (int c = i + 1; c < a->q.n; c++)
            leaf = leaf && a->q.r[c].parent != i;
        a->q.r[i].taken = leaves && leaf;
    }
    if (w->plan.divisible && w->plan.memory > 0 && one_in (5)) {
        a->q.node_memory = between (1, w->plan.memory * w->plan.memories);
        a->shape->node_memory = a->q.node_memory;
        tell ("[%" PRId64 " on each node] ", a->q.node_memory);
    }
    tell_request (&a->q, -1);
    tell ("%s%s", a->q.fast ? " on fast nodes" : "", leaves ? " with its leaves" : "");
}

/* counts.c - see counts.h */
#include "tools/match/counts.h"

#include <inttypes.h>
#include <string.h>

struct sums {
    int64_t total, used;
};

struct counts {
    const struct graph *g;
    const struct filter *filters;
    size_t nfilters;
    int types[OPTIONS_FILTERS_MAX]; /* numbers of those that are counted; -1: not there */
    const char *names[OPTIONS_FILTERS_MAX];
    size_t ntypes;
    struct sums *sums; /* by vertex and type */
};

static int type_index (const struct counts *c, int type)
{
    for (size_t i = 0; i < c->ntypes; i++) {
        if (c->types[i] == type)
            return (int)i;
    }
    return -1;
}

static void add_type (struct counts *c, const char *name)
{
    for (size_t i = 0; i < c->ntypes; i++) {
        if (!strcmp (c->names[i], name))
            return;
    }
    c->names[c->ntypes] = name;
    c->types[c->ntypes++] = graph_type_find (c->g, name);
}

static struct sums *sums_at (const struct counts *c, uint32_t v)
{
    return c->sums + (size_t)v * c->ntypes;
}

/* Depth is bounded by GRAPH_DEPTH_MAX. */
static void add_totals (struct counts *c, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (c->g, v);
    int i = type_index (c, x->type);

    if (i >= 0)
        sums_at (c, v)[i].total += (int64_t)x->n * x->size;
    GRAPH_CHILDREN (c->g, v, child)
    {
        add_totals (c, child);
        for (size_t k = 0; k < c->ntypes; k++)
            sums_at (c, v)[k].total += sums_at (c, child)[k].total;
    }
}

static void add_used (struct counts *c, uint32_t v, int i, int64_t amount)
{
    for (; v != GRAPH_NONE; v = graph_vertex (c->g, v)->parent)
        sums_at (c, v)[i].used += amount;
}

/* Depth is bounded by GRAPH_DEPTH_MAX. */
static void fill (struct counts *c, uint32_t v)
{
    for (size_t i = 0; i < c->ntypes; i++)
        sums_at (c, v)[i].used = sums_at (c, v)[i].total;
    GRAPH_CHILDREN (c->g, v, child)
    fill (c, child);
}

/* A claimed vertex that has children is used with all below it; nothing there is claimed
 * besides. */
static void add_pick (struct counts *c, const struct pick *p)
{
    const struct graph_vertex *x = graph_vertex (c->g, p->v);
    int type = type_index (c, x->type);

    if (x->first == GRAPH_NONE) {
        if (type >= 0)
            add_used (c, p->v, type, (int64_t)p->count * p->amount);
        return;
    }
    fill (c, p->v);
    for (size_t i = 0; i < c->ntypes; i++)
        add_used (c, x->parent, (int)i, sums_at (c, p->v)[i].total);
}

static int add_job (struct counts *c, const struct planner *p, uint64_t job)
{
    autoselection struct selection *s = planner_selection (p, job);

    if (!s)
        return planner_find (p, job, &(struct planner_job){ .job = 0 }) ? -1 : 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->picks[i].claimed)
            add_pick (c, &s->picks[i]);
    }
    return 0;
}

static int add_jobs (struct counts *c, const struct planner *p, uint64_t job, int64_t now)
{
    struct planner_job j;
    int rc = 0;

    if (job > 0)
        return add_job (c, p, job);
    for (uint64_t after = 0; rc == 0 && planner_next (p, after, &j); after = j.job) {
        if (!j.reserved && j.start <= now && now < j.end)
            rc = add_job (c, p, j.job);
    }
    return rc;
}

/* -- from outside -- */

struct counts *counts_create (const struct planner *p, const struct filter *filters,
                              size_t nfilters, uint64_t job, int64_t now)
{
    struct counts *c = calloc (1, sizeof (*c));

    if (!c)
        return NULL;
    c->g = planner_graph (p);
    c->filters = filters;
    c->nfilters = nfilters;
    for (size_t i = 0; i < nfilters; i++)
        add_type (c, filters[i].type);
    c->sums = calloc ((size_t)c->g->nv * c->ntypes + 1, sizeof (*c->sums));
    if (c->sums && c->g->root != GRAPH_NONE) {
        add_totals (c, c->g->root);
        if (add_jobs (c, p, job, now) == 0)
            return c;
    }
    counts_destroy (c);
    return NULL;
}

void counts_destroy (struct counts *c)
{
    if (c)
        free (c->sums);
    free (c);
}

/* Is the type kept at vertices of v's type? */
static bool is_kept (const struct counts *c, uint32_t v, size_t type)
{
    const char *at = graph_type_name (c->g, graph_vertex (c->g, v)->type);

    if (!strcmp (at, c->names[type]))
        return false;
    for (size_t i = 0; i < c->nfilters; i++) {
        const struct filter *f = &c->filters[i];
        if (!strcmp (f->type, c->names[type])
            && (!strcmp (f->at, "ALL") || !strcmp (f->at, at)))
            return true;
    }
    return false;
}

json_t *counts_to_json (const struct counts *c, uint32_t v)
{
    json_t *o = json_object ();
    char text[64];

    if (graph_vertex (c->g, v)->first == GRAPH_NONE)
        goto none;
    for (size_t i = 0; i < c->ntypes; i++) {
        const struct sums *sums = &sums_at (c, v)[i];
        if (!is_kept (c, v, i))
            continue;
        snprintf (text, sizeof (text), "used:%" PRId64 ", total:%" PRId64, sums->used,
                  sums->total);
        if (json_object_set_new (o, c->names[i], json_string (text)) < 0)
            goto none;
    }
    if (json_object_size (o) > 0)
        return o;
none:
    json_decref (o);
    return NULL;
}

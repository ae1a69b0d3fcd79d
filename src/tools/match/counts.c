/* counts.c - see counts.h */
#include "tools/match/counts.h"

#include <inttypes.h>

struct sums {
    int64_t total, used;
};

struct counts {
    const struct graph *g;
    const struct planner *p;
    const struct options *opt;
    bool leaf[GRAPH_TYPES_MAX];      /* types of leaves */
    int16_t place[GRAPH_TYPES_MAX];  /* position of a type among the sums, -1: not
                                      * counted */
    uint16_t types[GRAPH_TYPES_MAX]; /* the counted types */
    size_t ntypes;
    struct sums *sums; /* by vertex and type */
};

static struct sums *sums_at (const struct counts *c, uint32_t v)
{
    return c->sums + (size_t)v * c->ntypes;
}

/* -- which types -- */

static void add_type (struct counts *c, int type)
{
    if (type < 0 || c->place[type] >= 0)
        return;
    c->place[type] = (int16_t)c->ntypes;
    c->types[c->ntypes++] = (uint16_t)type;
}

static void choose_types (struct counts *c)
{
    memset (c->place, -1, sizeof (c->place));
    for (size_t i = 0; i < c->opt->nfilters; i++)
        add_type (c, graph_type_find (c->g, c->opt->filters[i].type));
    for (uint32_t v = 0; v < c->g->nv; v++) {
        const struct graph_vertex *x = graph_vertex (c->g, v);
        if (x->n == 0 || x->first != GRAPH_NONE)
            continue;
        c->leaf[x->type] = true;
        add_type (c, x->type);
    }
}

static bool is_kept (const struct counts *c, uint16_t at, uint16_t type)
{
    const char *at_name = graph_type_name (c->g, at);
    const char *name = graph_type_name (c->g, type);

    if (at == type)
        return false;
    if (at == GRAPH_CLUSTER && c->leaf[type])
        return true;
    for (size_t i = 0; i < c->opt->nfilters; i++) {
        const struct filter *f = &c->opt->filters[i];
        if (!strcmp (f->type, name)
            && (!strcmp (f->at, "ALL") || !strcmp (f->at, at_name)))
            return true;
    }
    return false;
}

/* -- sums -- */

/* Depth is bounded by GRAPH_DEPTH_MAX. */
static void add_totals (struct counts *c, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (c->g, v);

    if (c->place[x->type] >= 0)
        sums_at (c, v)[c->place[x->type]].total += (int64_t)x->n * x->size;
    GRAPH_CHILDREN (c->g, v, child)
    {
        add_totals (c, child);
        for (size_t k = 0; k < c->ntypes; k++)
            sums_at (c, v)[k].total += sums_at (c, child)[k].total;
    }
}

/* Units of a pick that the job still has: it may have given some back, and vertices may
 * be gone. */
static int64_t units_left (const struct counts *c, uint64_t job, const struct pick *p)
{
    int64_t n = 0;

    if (p->v >= c->g->nv)
        return 0;
    for (uint32_t unit = p->unit; unit < p->unit + p->count; unit++)
        n += unit < graph_vertex (c->g, p->v)->n
             && planner_has (c->p, job, p->v, unit, false);
    return n;
}

static void add_pick (struct counts *c, uint64_t job, const struct pick *p)
{
    int64_t n = p->exclusive ? units_left (c, job, p) : 0;
    int place = n > 0 ? c->place[graph_vertex (c->g, p->v)->type] : -1;

    if (place < 0)
        return;
    for (uint32_t v = p->v; v != GRAPH_NONE; v = graph_vertex (c->g, v)->parent)
        sums_at (c, v)[place].used += n * p->amount;
}

static void add_job (struct counts *c, const struct job_info *job)
{
    for (size_t i = 0; job->given && i < job->given->n; i++)
        add_pick (c, job->id, &job->given->picks[i]);
}

static void add_used (struct counts *c, struct jobs *jobs, uint64_t id)
{
    for (struct job_info *job = jobs_first (jobs); job; job = jobs_next (job)) {
        if (id > 0 ? job->id == id : job->state == JOB_ALLOCATED)
            add_job (c, job);
    }
}

/* -- from outside -- */

struct counts *counts_create (const struct session *s, uint64_t job)
{
    struct counts *c = calloc (1, sizeof (*c));

    if (!c)
        return NULL;
    c->g = s->graph;
    c->p = s->planner;
    c->opt = s->opt;
    choose_types (c);
    c->sums = calloc ((size_t)c->g->nv + 1, (c->ntypes + 1) * sizeof (*c->sums));
    if (!c->sums) {
        counts_destroy (c);
        return NULL;
    }
    if (c->g->root != GRAPH_NONE)
        add_totals (c, c->g->root);
    add_used (c, s->jobs, job);
    return c;
}

void counts_destroy (struct counts *c)
{
    if (c)
        free (c->sums);
    free (c);
}

json_t *counts_to_json (const struct counts *c, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (c->g, v);
    json_t *o = x->first == GRAPH_NONE ? NULL : json_object ();
    char text[64];

    for (size_t i = 0; o && i < c->ntypes; i++) {
        const struct sums *sums = &sums_at (c, v)[i];
        if (!is_kept (c, x->type, c->types[i]))
            continue;
        snprintf (text, sizeof (text), "used:%" PRId64 ", total:%" PRId64, sums->used,
                  sums->total);
        json_object_set_new (o, graph_type_name (c->g, c->types[i]), json_string (text));
    }
    if (json_object_size (o) > 0)
        return o;
    json_decref (o);
    return NULL;
}

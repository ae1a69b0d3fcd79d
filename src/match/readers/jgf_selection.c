/* jgf_selection.c - a job's resources, from JGF: finds its vertices in the graph by their
 * paths and makes picks of them
 *
 * The text repeats the data of each vertex; if the graph differs, the text is about
 * another machine and is rejected.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "match/readers/jgf.h"
#include "match/readers/jgf_document.h"
#include "match/readers/jgf_paths.h"

struct found {
    uint32_t v, unit; /* v GRAPH_NONE: ignored */
    uint32_t i;       /* in the document */
};

struct choice {
    const struct graph *g;
    const struct jgf_document *d;
    struct found *found; /* by vertex of the document */
    size_t n;            /* vertices that are in the graph */
    bool *whole;         /* by handle: exclusive and with children; or NULL */
};

/* -- the vertices in the graph -- */

static bool is_divisible (const struct graph *g, uint32_t v)
{
    return graph_vertex (g, v)->flags & GRAPH_DIVISIBLE;
}

static int check_same (const struct choice *c, const struct found *f, struct error *err)
{
    const struct graph_vertex *have = graph_vertex (c->g, f->v);
    const struct jgf_vertex *want = &c->d->v[f->i];
    const char *type = graph_type_name (c->g, have->type);

    if (strcmp (want->type, type) != 0)
        return error_set (
            err, EINVAL, "jgf: graph.nodes[%u].metadata.type: '%s', but %s is a %s", f->i,
            want->type, jgf_path (want, graph_subsystem (c->g)), type);
    if (want->rank != have->rank)
        return error_set (
            err, EINVAL,
            "jgf: graph.nodes[%u].metadata.rank: %" PRId32 ", but %s has rank %" PRId32,
            f->i, want->rank, jgf_path (want, graph_subsystem (c->g)), have->rank);
    if (want->size == have->size
        || (want->size < have->size && is_divisible (c->g, f->v)))
        return 0;
    return error_set (
        err, EINVAL,
        "jgf: graph.nodes[%u].metadata.size: %" PRId64 ", but %s has %" PRId64, f->i,
        want->size, jgf_path (want, graph_subsystem (c->g)), have->size);
}

static int find_one (struct choice *c, struct jgf_paths *paths, uint32_t i,
                     struct error *err)
{
    const struct jgf_vertex *v = &c->d->v[i];
    const char *path = jgf_path (v, graph_subsystem (c->g));
    struct found *f = &c->found[i];

    *f = (struct found){ .v = GRAPH_NONE, .i = i };
    if (!path
        || (c->d->freed && v->rank >= 0 && idset_has (c->d->freed, (uint32_t)v->rank)))
        return 0;
    int rc = jgf_paths_find (paths, path, &f->v, &f->unit);
    if (rc == -ENOENT)
        return error_set (err, ENOENT,
                          "jgf: graph.nodes[%u].metadata.paths.%s: there is no vertex %s",
                          i, graph_subsystem (c->g), path);
    if (rc == -EEXIST)
        return error_set (err, EINVAL,
                          "jgf: graph.nodes[%u].metadata.paths.%s: several vertices are "
                          "at %s",
                          i, graph_subsystem (c->g), path);
    if (rc < 0)
        return error_no_memory (err, "jgf");
    c->n++;
    return check_same (c, f, err);
}

static int find_all (struct choice *c, struct error *err)
{
    struct jgf_paths paths = { .g = c->g };
    int rc = 0;

    for (uint32_t i = 0; i < c->d->nv && rc == 0; i++)
        rc = find_one (c, &paths, i, err);
    jgf_paths_release (&paths);
    if (rc < 0)
        return rc;
    if (c->n == 0 && !c->d->freed)
        return error_set (err, EINVAL,
                          "jgf: graph.nodes: no vertex has a path in the subsystem '%s'",
                          graph_subsystem (c->g));
    return 0;
}

static int compare_found (const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int check_doubles (struct choice *c, struct error *err)
{
    struct found *f = c->found;

    qsort (f, c->d->nv, sizeof (*f), compare_found);
    for (size_t k = 1; k < c->n; k++) {
        if (compare_found (&f[k - 1], &f[k]) == 0)
            return error_set (err, EINVAL,
                              "jgf: graph.nodes[%u]: has the path of graph.nodes[%u]",
                              MAX (f[k].i, f[k - 1].i), MIN (f[k].i, f[k - 1].i));
    }
    return 0;
}

/* -- picks -- */

/* For vertices with several parents: adds the parent below which the text has the
 * vertex. */
static int add_ways (const struct choice *c, struct selection *s)
{
    int rc = 0;

    if (graph_further_count (c->g) == 0)
        return 0;
    for (size_t k = 0; k < c->d->ne && rc == 0; k++) {
        const struct jgf_edge *e = &c->d->e[k];
        uint32_t from = c->found[e->source].v, to = c->found[e->target].v;
        if (from != GRAPH_NONE && to != GRAPH_NONE
            && strcmp (e->subsystem, graph_subsystem (c->g)) == 0)
            rc = selection_add_way (s, to, from);
    }
    return rc;
}

static int add_pick (struct selection *s, const struct graph *g, uint32_t v,
                     uint32_t unit, uint32_t count, struct pick **ret)
{
    *ret = selection_add (s, g, v, unit, count, GRAPH_NONE);
    return *ret ? 0 : -ENOMEM;
}

static void mark_whole (const struct choice *c)
{
    for (size_t k = 0; k < c->n; k++) {
        uint32_t v = c->found[k].v;
        if (c->d->v[c->found[k].i].exclusive)
            c->whole[v] = !graph_is_leaf (c->g, v);
    }
}

static bool is_below_whole (const struct choice *c, uint32_t v)
{
    for (v = graph_vertex (c->g, v)->parent; v != GRAPH_NONE;
         v = graph_vertex (c->g, v)->parent) {
        if (c->whole[v])
            return true;
    }
    return false;
}

static int add_found (const struct choice *c, const struct found *f, struct selection *s)
{
    const struct jgf_vertex *v = &c->d->v[f->i];
    struct pick *p;

    if (add_pick (s, c->g, f->v, f->unit, 1, &p) < 0)
        return -ENOMEM;
    p->amount = v->size;
    p->exclusive = v->exclusive;
    p->claimed = v->exclusive || is_divisible (c->g, f->v);
    return 0;
}

/* Adds all below v, by every way; depth is bounded by GRAPH_DEPTH_MAX. */
static int add_below (const struct choice *c, uint32_t v, struct selection *s)
{
    struct pick *p;
    int rc = 0;

    GRAPH_CHILDREN (c->g, v, child)
    {
        if (rc == 0)
            rc = add_pick (s, c->g, child, 0, graph_vertex (c->g, child)->n, &p);
        if (rc < 0)
            return rc;
        p->exclusive = true;
        rc = add_below (c, child, s);
    }
    GRAPH_FURTHER (c->g, v, child)
    {
        if (rc == 0)
            rc = add_pick (s, c->g, child, 0, 1, &p);
        if (rc == 0)
            rc = selection_add_way (s, child, v);
        if (rc < 0)
            return rc;
        p->exclusive = p->claimed = true;
        rc = add_below (c, child, s);
    }
    return rc;
}

static int add_picks (const struct choice *c, struct selection *s)
{
    int rc = 0;

    if (c->whole)
        mark_whole (c);
    for (size_t k = 0; k < c->n && rc == 0; k++) {
        const struct found *f = &c->found[k];
        if (c->whole && is_below_whole (c, f->v))
            continue; /* added with the rest there */
        rc = add_found (c, f, s);
        if (rc == 0 && c->whole && c->whole[f->v])
            rc = add_below (c, f->v, s);
    }
    return rc;
}

/* Books the vertices below an exclusive vertex with it, except its further children.
 * Parents come first. */
static void claim_once (struct selection *s, const struct graph *g)
{
    for (size_t k = 1; k < s->n; k++) {
        if (!s->picks[s->picks[k].parent].exclusive
            || selection_is_further (s, g, &s->picks[k]))
            continue;
        s->picks[k].exclusive = true;
        s->picks[k].claimed = false;
    }
}

static int choose (struct choice *c, struct selection **ret, struct error *err)
{
    autoselection struct selection *s = selection_create ();
    int rc = s ? find_all (c, err) : error_no_memory (err, "jgf");

    if (rc == 0 && add_ways (c, s) < 0)
        rc = error_no_memory (err, "jgf");
    if (rc == 0)
        rc = check_doubles (c, err); /* from here on in the order of the graph */
    if (rc < 0)
        return rc;
    if (add_picks (c, s) < 0 || selection_complete (s, c->g) < 0)
        return error_no_memory (err, "jgf");
    claim_once (s, c->g);
    *ret = s;
    s = NULL;
    return 0;
}

int jgf_read_selection (const struct graph *g, const char *text, size_t len,
                        bool shorthand, struct selection **ret, struct error *err)
{
    autojgf struct jgf_document d = { 0 };
    int rc = jgf_document_parse (&d, text, len, err);
    struct choice c = { .g = g, .d = &d };

    if (rc < 0)
        return rc;
    c.found = calloc (d.nv + 1, sizeof (*c.found));
    c.whole = shorthand ? calloc ((size_t)g->nv + 1, sizeof (*c.whole)) : NULL;
    rc = c.found && (c.whole || !shorthand) ? choose (&c, ret, err)
                                            : error_no_memory (err, "jgf");
    free (c.found);
    free (c.whole);
    return rc;
}

/* jgf_tree.c - see jgf_tree.h
 *
 * Edges are sorted by their sources. Removing vertices that no edge leads to, and then
 * their edges, until nothing is left, shows that there is no cycle (Kahn, Topological
 * sorting of large networks, 1962); a second walk from the roots gives the order.
 */
#include "match/readers/jgf_tree.h"

struct build {
    struct jgf_tree *t;
    const struct jgf_document *d;
    uint32_t *start; /* by vertex: its first place in out; the next start is its end */
    uint32_t *out;   /* edges of the subsystem by source, otherwise in the document's
                      * order */
    uint32_t *in;    /* by vertex: number of edges of the subsystem that lead to it */
    uint32_t *waiting; /* buffer for all vertices */
    bool *member;
    size_t nmembers;
};

static bool is_here (const struct build *b, size_t e)
{
    return !strcmp (b->d->e[e].subsystem, b->t->subsystem);
}

/* Counting sort: start[i + 2] first counts the edges of i; then start[i + 1] is the place
 * of the next one, and finally the end of i. */
static void sort_edges (struct build *b)
{
    const struct jgf_document *d = b->d;

    for (size_t e = 0; e < d->ne; e++)
        b->start[d->e[e].source + 2] += is_here (b, e);
    for (size_t i = 1; i <= d->nv; i++)
        b->start[i + 1] += b->start[i];
    for (size_t e = 0; e < d->ne; e++) {
        if (is_here (b, e))
            b->out[b->start[d->e[e].source + 1]++] = (uint32_t)e;
    }
}

/* Finds the tree parent of each vertex. */
static int hang (struct build *b, struct error *err)
{
    const struct jgf_document *d = b->d;
    struct jgf_tree *t = b->t;

    for (size_t e = 0; e < d->ne; e++) {
        const struct jgf_edge *edge = &d->e[e];
        if (!is_here (b, e))
            continue;
        b->member[edge->source] = b->member[edge->target] = true;
        t->parent[edge->source] = true;
        t->shared[edge->target] = b->in[edge->target]++ > 0;
        if (t->edge[edge->target] == GRAPH_NONE)
            t->edge[edge->target] = (uint32_t)e;
        else if (d->e[t->edge[edge->target]].source == edge->source)
            return error_set (err, EINVAL,
                              "jgf: graph.edges[%zu]: is the same as "
                              "graph.edges[%u]",
                              e, t->edge[edge->target]);
    }
    return 0;
}

static int count_members (struct build *b, struct error *err)
{
    for (size_t i = 0; i < b->d->nv; i++) {
        bool has_path = jgf_path (&b->d->v[i], b->t->subsystem);
        if (b->member[i] && !has_path)
            return error_set (err, EINVAL,
                              "jgf: graph.nodes[%zu].metadata.paths.%s: required, as an "
                              "edge of '%s' leads to it or from it",
                              i, b->t->subsystem, b->t->subsystem);
        b->member[i] = has_path;
        b->nmembers += has_path;
        if (has_path && b->in[i] == 0)
            b->t->roots[b->t->nroots++] = (uint32_t)i;
    }
    return 0;
}

/* Reports a cycle. The remaining vertices have edges from other remaining ones; going
 * back along these ends in a cycle. Spoils out. */
static int report_cycle (struct build *b, struct error *err)
{
    const struct jgf_document *d = b->d;
    uint32_t at = GRAPH_NONE, *before = b->waiting;

    for (size_t e = 0; e < d->ne; e++) {
        const struct jgf_edge *edge = &d->e[e];
        if (is_here (b, e) && b->in[edge->source] > 0 && b->in[edge->target] > 0)
            before[at = edge->target] = edge->source;
    }
    for (size_t i = 0; i < d->nv; i++)
        at = before[at];
    return error_set (
        err, EINVAL,
        "jgf: graph.nodes[%u]: edges of '%s' lead from it back to it, by way "
        "of graph.nodes[%u]",
        at, b->t->subsystem, before[at]);
}

static int check_cycles (struct build *b, struct error *err)
{
    const struct jgf_document *d = b->d;
    size_t n = b->t->nroots, done = 0;

    if (n > 0)
        memcpy (b->waiting, b->t->roots, n * sizeof (*b->waiting));
    while (done < n) {
        uint32_t i = b->waiting[done++];
        for (uint32_t k = b->start[i]; k < b->start[i + 1]; k++) {
            uint32_t target = d->e[b->out[k]].target;
            if (--b->in[target] == 0)
                b->waiting[n++] = target;
        }
    }
    return done < b->nmembers ? report_cycle (b, err) : 0;
}

static void set_order (struct build *b)
{
    struct jgf_tree *t = b->t;
    size_t n = 0;

    for (size_t r = t->nroots; r-- > 0;)
        b->waiting[n++] = t->roots[r];
    while (n > 0) {
        uint32_t i = b->waiting[--n];
        t->order[t->n++] = i;
        for (uint32_t k = b->start[i + 1]; k-- > b->start[i];) {
            uint32_t target = b->d->e[b->out[k]].target;
            if (t->edge[target] == b->out[k])
                b->waiting[n++] = target;
        }
    }
}

static int build_all (struct build *b, struct error *err)
{
    int rc = hang (b, err);

    if (rc == 0)
        rc = count_members (b, err);
    if (rc < 0)
        return rc;
    sort_edges (b);
    rc = check_cycles (b, err);
    if (rc == 0)
        set_order (b);
    return rc;
}

static void *array_of (size_t n, size_t size)
{
    return calloc (n + 2, size);
}

int jgf_tree_build (struct jgf_tree *t, const struct jgf_document *d,
                    const char *subsystem, struct error *err)
{
    struct build b = { .t = t, .d = d };
    int rc;

    *t = (struct jgf_tree){ .subsystem = subsystem };
    t->edge = array_of (d->nv, sizeof (*t->edge));
    t->order = array_of (d->nv, sizeof (*t->order));
    t->roots = array_of (d->nv, sizeof (*t->roots));
    t->parent = array_of (d->nv, sizeof (*t->parent));
    t->shared = array_of (d->nv, sizeof (*t->shared));
    b.start = array_of (d->nv, sizeof (*b.start));
    b.out = array_of (d->ne, sizeof (*b.out));
    b.in = array_of (d->nv, sizeof (*b.in));
    b.waiting = array_of (d->nv, sizeof (*b.waiting));
    b.member = array_of (d->nv, sizeof (*b.member));
    if (!t->edge || !t->order || !t->roots || !t->parent || !t->shared || !b.start
        || !b.out || !b.in || !b.waiting || !b.member) {
        rc = error_set (err, ENOMEM, "jgf: out of memory");
    } else {
        memset (t->edge, 0xff, d->nv * sizeof (*t->edge));
        rc = build_all (&b, err);
    }
    free (b.start);
    free (b.out);
    free (b.in);
    free (b.waiting);
    free (b.member);
    if (rc < 0)
        jgf_tree_release (t);
    return rc;
}

int jgf_tree_check_root (const struct jgf_tree *t, const struct jgf_document *d,
                         struct error *err)
{
    if (t->nroots == 0)
        return error_set (err, EINVAL,
                          "jgf: graph.nodes: no vertex has a path in the subsystem '%s'",
                          t->subsystem);
    for (size_t r = 0; r < t->nroots; r++) {
        const char *path = jgf_path (&d->v[t->roots[r]], t->subsystem);
        if (strchr (path + 1, '/'))
            return error_set (err, EINVAL,
                              "jgf: graph.nodes[%u]: no edge of '%s' leads to it",
                              t->roots[r], t->subsystem);
    }
    if (t->nroots == 1)
        return 0;
    return error_set (err, EINVAL,
                      "jgf: graph.nodes[%u]: is a second root in '%s' beside "
                      "graph.nodes[%u]",
                      t->roots[1], t->subsystem, t->roots[0]);
}

void jgf_tree_release (struct jgf_tree *t)
{
    free (t->edge);
    free (t->order);
    free (t->roots);
    free (t->parent);
    free (t->shared);
    memset (t, 0, sizeof (*t));
}

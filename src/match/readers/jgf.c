/* jgf.c - format "jgf": a graph in JSON Graph Format (RFC 40)
 *
 *     text --> document --> tree of one subsystem --> vertices, parents first
 *                                                     |
 *                              further parents; edges and paths of the other subsystems
 *
 * A subgraph that is attached also has vertices that the graph has already. These are
 * found by their paths first; then the new ones are added, and removed again if one is
 * rejected.
 */
#include "match/readers/jgf.h"

#include <inttypes.h>

#include "match/readers/jgf_paths.h"
#include "match/readers/jgf_tree.h"

struct making {
    struct graph *g;
    const struct jgf_document *d;
    const struct jgf_tree *t;
    struct place {
        uint32_t v, unit; /* v GRAPH_NONE: not in the graph */
        bool old;         /* it existed before */
        bool odd;         /* its path differs from the names on the way */
    } * at;               /* by vertex of the document */
    const char **properties;
    size_t nproperties; /* capacity */
    bool renumber;      /* new vertices get numbers other than the document's */
};

/* -- a vertex -- */

/* key, value, ..., NULL; or NULL. */
static int list_properties (struct making *m, const json_t *o, const char *const **ret)
{
    size_t need = 2 * json_object_size (o) + 1, n = 0;
    const char *key;
    json_t *value;

    *ret = NULL;
    if (!o)
        return 0;
    if (need > m->nproperties) {
        const char **more = realloc (m->properties, need * sizeof (*more));
        if (!more)
            return -ENOMEM;
        m->properties = more;
        m->nproperties = need;
    }
    json_object_foreach ((json_t *)o, key, value) {
        m->properties[n++] = key;
        m->properties[n++] = json_string_value (value);
    }
    m->properties[n] = NULL;
    *ret = m->properties;
    return 0;
}

/* True if the path is that of its parent and its name. */
static bool is_usual_path (const struct making *m, uint32_t i, uint32_t parent)
{
    const struct jgf_vertex *v = &m->d->v[i];
    const char *path = jgf_path (v, m->t->subsystem);
    const char *above =
        parent == GRAPH_NONE ? "" : jgf_path (&m->d->v[parent], m->t->subsystem);
    char name[JGF_NAME_MAX + 24];
    size_t len = strlen (above);

    if (parent != GRAPH_NONE && m->at[parent].odd)
        return false;
    return !strncmp (path, above, len) && path[len] == '/'
           && !strcmp (path + len + 1, jgf_name (v, name, sizeof (name)));
}

static int add_paths (struct making *m, uint32_t i, struct error *err)
{
    const struct place *at = &m->at[i];
    const char *subsystem;
    json_t *path;

    json_object_foreach ((json_t *)m->d->v[i].paths, subsystem, path) {
        if (!at->odd && !strcmp (subsystem, m->t->subsystem))
            continue;
        int rc = graph_set_path_in (m->g, at->v, at->unit, subsystem,
                                    json_string_value (path));
        if (rc == -ENOMEM)
            return error_no_memory (err, "jgf");
        if (rc < 0)
            return error_set (
                err, -rc,
                "jgf: graph.nodes[%u].metadata.paths.%s: cannot be kept: the "
                "path is too long, or there are too many subsystems",
                i, subsystem);
    }
    return 0;
}

static int add_vertex (struct making *m, uint32_t i, struct error *err)
{
    const struct jgf_vertex *v = &m->d->v[i];
    uint32_t parent = jgf_tree_parent (m->t, m->d, i);
    struct place *at = &m->at[i];
    struct error why = { 0 };
    struct graph_spec spec = {
        .type = v->type,
        .basename = v->basename,
        .name = v->name,
        .id = v->number,
        .size = v->size,
        .uniq = m->renumber ? -1 : v->uniq,
        .rank = v->rank,
        .flags = v->down ? GRAPH_DOWN : 0,
        .leaf = !m->t->parent[i] && !m->t->shared[i] && strcmp (v->type, "node") != 0,
    };

    if (list_properties (m, v->properties, &spec.properties) < 0)
        return error_no_memory (err, "jgf");
    at->odd = !is_usual_path (m, i, parent);
    at->v = graph_add (m->g, parent == GRAPH_NONE ? GRAPH_NONE : m->at[parent].v, &spec,
                       &why);
    if (at->v == GRAPH_NONE)
        return error_set (err, why.code, "jgf: graph.nodes[%u]: %s", i, why.text);
    at->unit = graph_vertex (m->g, at->v)->n - 1;
    return add_paths (m, i, err);
}

/* -- beside the tree -- */

static int add_further (struct making *m, size_t k, const struct place *from,
                        const struct place *to, struct error *err)
{
    struct error why = { 0 };
    int rc = graph_associate (m->g, from->v, to->v, m->d->e[k].type, &why);

    if (rc < 0)
        error_set (err, -rc, "jgf: graph.edges[%zu]: %s", k, why.text);
    return rc;
}

static int add_edge (struct making *m, size_t k, const struct place *from,
                     const struct place *to, struct error *err)
{
    const struct jgf_edge *e = &m->d->e[k];
    struct graph_edge edge = {
        .subsystem = e->subsystem,
        .type = e->type,
        .from = from->v,
        .from_unit = from->unit,
        .to = to->v,
        .to_unit = to->unit,
    };
    int rc = graph_edge_add (m->g, &edge);

    if (rc == -ENOMEM)
        return error_no_memory (err, "jgf");
    if (rc < 0)
        return error_set (err, -rc,
                          "jgf: graph.edges[%zu].metadata.subsystem: '%s' is not a "
                          "name of a subsystem, or one too many",
                          k, e->subsystem);
    return 0;
}

static int add_edges (struct making *m, struct error *err)
{
    int rc = 0;

    for (size_t k = 0; k < m->d->ne && rc == 0; k++) {
        const struct jgf_edge *e = &m->d->e[k];
        const struct place *from = &m->at[e->source], *to = &m->at[e->target];
        if (m->t->edge[e->target] == k || from->v == GRAPH_NONE || to->v == GRAPH_NONE
            || (from->old && to->old))
            continue;
        rc = strcmp (e->subsystem, m->t->subsystem) != 0
                 ? add_edge (m, k, from, to, err)
                 : add_further (m, k, from, to, err);
    }
    return rc;
}

/* Rejects two vertices at one path. The graph itself checks paths made of names. */
static int check_paths (const struct making *m, struct error *err)
{
    struct jgf_paths paths = { .g = m->g };
    int rc = 0;

    for (size_t k = 0; k < m->t->n && rc == 0; k++) {
        uint32_t i = m->t->order[k], v, unit;
        const char *path = jgf_path (&m->d->v[i], m->t->subsystem);
        if (!m->at[i].odd)
            continue;
        rc = jgf_paths_find (&paths, path, &v, &unit);
        if (rc == -ENOMEM)
            error_no_memory (err, "jgf");
        else if (rc < 0 || v != m->at[i].v || unit != m->at[i].unit)
            rc =
                error_set (err, EEXIST,
                           "jgf: graph.nodes[%u].metadata.paths.%s: another vertex is at "
                           "%s",
                           i, m->t->subsystem, path);
    }
    jgf_paths_release (&paths);
    return rc;
}

static int add_all (struct making *m, struct error *err)
{
    int rc = 0;

    for (size_t k = 0; k < m->t->n && rc == 0; k++) {
        if (!m->at[m->t->order[k]].old)
            rc = add_vertex (m, m->t->order[k], err);
    }
    if (rc == 0)
        rc = add_edges (m, err);
    return rc == 0 ? check_paths (m, err) : rc;
}

static int making_init (struct making *m, struct error *err)
{
    m->at = malloc ((m->d->nv + 1) * sizeof (*m->at));
    if (!m->at)
        return error_no_memory (err, "jgf");
    for (size_t i = 0; i < m->d->nv; i++)
        m->at[i] = (struct place){ .v = GRAPH_NONE };
    return 0;
}

static void making_release (struct making *m)
{
    free (m->at);
    free (m->properties);
}

int jgf_read (struct graph *g, const char *text, size_t len,
              const struct match_reader_options *opt, struct error *err)
{
    const char *subsystem = opt && opt->subsystem ? opt->subsystem : "containment";
    autojgf struct jgf_document d = { 0 };
    autojgftree struct jgf_tree t = { 0 };
    struct making m = { .g = g, .d = &d, .t = &t };
    int rc = jgf_document_parse (&d, text, len, err);

    if (rc == 0)
        rc = jgf_tree_build (&t, &d, subsystem, err);
    if (rc == 0)
        rc = jgf_tree_check_root (&t, &d, err);
    if (rc == 0 && (rc = graph_set_subsystem (g, subsystem)) < 0)
        error_set (err, -rc, "jgf: '%s' cannot be the main subsystem", subsystem);
    if (rc == 0)
        rc = making_init (&m, err);
    if (rc == 0)
        rc = add_all (&m, err);
    making_release (&m);
    return rc;
}

/* -- into a graph that has vertices -- */

static int check_old (const struct making *m, uint32_t i, struct error *err)
{
    const struct graph_vertex *have = graph_vertex (m->g, m->at[i].v);
    const struct jgf_vertex *want = &m->d->v[i];
    const char *type = graph_type_name (m->g, have->type);

    if (!strcmp (want->type, type) && want->rank == have->rank)
        return 0;
    return error_set (err, EEXIST,
                      "jgf: graph.nodes[%u]: is a %s of rank %" PRId32
                      ", but at %s is a %s of rank %" PRId32 " already",
                      i, want->type, want->rank, jgf_path (want, m->t->subsystem), type,
                      have->rank);
}

static int check_new (const struct making *m, uint32_t i, struct error *err)
{
    uint32_t parent = jgf_tree_parent (m->t, m->d, i);
    const struct place *at;

    if (parent == GRAPH_NONE)
        return error_set (
            err, EINVAL,
            "jgf: graph.nodes[%u]: no edge of '%s' leads to it from a vertex "
            "that the graph has, and %s is not in the graph",
            i, m->t->subsystem, jgf_path (&m->d->v[i], m->t->subsystem));
    at = &m->at[parent];
    if (!at->old || graph_vertex (m->g, at->v)->n == 1)
        return 0;
    return error_set (
        err, EINVAL,
        "jgf: graph.nodes[%u]: nothing can be put below %s, which is one of "
        "%u alike without children",
        i, jgf_path (&m->d->v[parent], m->t->subsystem), graph_vertex (m->g, at->v)->n);
}

/* Finds the vertices that the graph has already, and checks that the others can be
 * added. */
static int find_old (struct making *m, struct error *err)
{
    struct jgf_paths paths = { .g = m->g };
    int rc = 0;

    for (size_t k = 0; k < m->t->n && rc == 0; k++) {
        uint32_t i = m->t->order[k];
        struct place *at = &m->at[i];
        rc = jgf_paths_find (&paths, jgf_path (&m->d->v[i], m->t->subsystem), &at->v,
                             &at->unit);
        at->old = rc == 0;
        at->odd =
            rc == 0 && graph_path_in (m->g, at->v, at->unit, m->t->subsystem) != NULL;
        if (rc == -ENOMEM)
            error_no_memory (err, "jgf");
        else
            rc = at->old ? check_old (m, i, err) : check_new (m, i, err);
    }
    jgf_paths_release (&paths);
    return rc;
}

static int check_edges (const struct making *m, struct error *err)
{
    for (size_t k = 0; k < m->d->ne; k++) {
        const struct jgf_edge *e = &m->d->e[k];
        if (strcmp (e->subsystem, m->t->subsystem) != 0)
            continue;
        if (m->at[e->target].old && !m->at[e->source].old)
            return error_set (
                err, EINVAL,
                "jgf: graph.edges[%zu]: leads from a new vertex to one that "
                "the graph has",
                k);
    }
    return 0;
}

static int compare_uniq (const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* True if one of the n sorted numbers is from first to last. */
static bool has_number (const int64_t *sorted, size_t n, int64_t first, int64_t last)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sorted[low] <= last;
}

/* If the graph has the number of a new vertex already, all new vertices get other
 * numbers. */
static int check_numbers (struct making *m, struct error *err)
{
    int64_t *sorted = malloc ((m->d->nv + 1) * sizeof (*sorted));
    size_t n = 0;

    if (!sorted)
        return error_no_memory (err, "jgf");
    for (size_t k = 0; k < m->t->n; k++) {
        if (!m->at[m->t->order[k]].old)
            sorted[n++] = m->d->v[m->t->order[k]].uniq;
    }
    qsort (sorted, n, sizeof (*sorted), compare_uniq);
    for (uint32_t v = 0; v < m->g->nv && !m->renumber; v++) {
        const struct graph_vertex *x = graph_vertex (m->g, v);
        m->renumber = x->n > 0 && has_number (sorted, n, x->uniq, x->uniq + x->n - 1);
    }
    free (sorted);
    return 0;
}

/* Removes the last ones first: a unit added to a group is then its last unit. What is
 * below a new vertex goes with it. */
static void take_away (struct making *m)
{
    for (size_t k = m->t->n; k-- > 0;) {
        uint32_t i = m->t->order[k], parent = jgf_tree_parent (m->t, m->d, i);
        const struct place *at = &m->at[i];
        if (at->old || at->v == GRAPH_NONE || !m->at[parent].old)
            continue;
        if (at->unit == 0)
            graph_remove (m->g, at->v, NULL);
        else
            graph_resize (m->g, at->v, at->unit, graph_vertex (m->g, at->v)->size, NULL);
    }
}

int jgf_attach (struct graph *g, const char *text, size_t len,
                const struct match_reader_options *opt, struct error *err)
{
    autojgf struct jgf_document d = { 0 };
    autojgftree struct jgf_tree t = { 0 };
    struct making m = { .g = g, .d = &d, .t = &t };
    int rc = jgf_document_parse (&d, text, len, err);

    (void)opt; /* the graph has its subsystem */
    if (rc == 0)
        rc = jgf_tree_build (&t, &d, graph_subsystem (g), err);
    if (rc == 0)
        rc = making_init (&m, err);
    if (rc == 0)
        rc = find_old (&m, err);
    if (rc == 0)
        rc = check_edges (&m, err);
    if (rc == 0)
        rc = check_numbers (&m, err);
    if (rc == 0 && (rc = add_all (&m, err)) < 0)
        take_away (&m);
    making_release (&m);
    return rc;
}

static int read_selection (const struct graph *g, const char *text, size_t len,
                           struct selection **ret, struct error *err)
{
    return jgf_read_selection (g, text, len, false, ret, err);
}

const struct match_reader match_reader_jgf = {
    .name = "jgf",
    .summary = "JSON Graph Format (RFC 40)",
    .read = jgf_read,
    .attach = jgf_attach,
    .read_selection = read_selection,
};

/* grug.c - format "grug": a graph made from a recipe in GraphML
 *
 *     text --> recipe --> plan --> vertices of one subsystem, depth first
 *                                  |
 *           further parents; edges and paths of the other subsystems
 *
 * Leaves that differ only in their numbers are added as one group, so time and memory
 * depend on the number of vertices with something below them. The map from vertices of
 * the plan to those of the graph is kept only if associations need it.
 */
#include <errno.h>
#include <string.h>

#include "match/readers/grug_plan.h"
#include "match/readers/reader.h"

#define PATH_LENGTH_MAX (64 * 1024)

/* How the vertices of a class are added. */
struct kind {
    bool in_tree;
    bool leaf;       /* the vertex has no children or associations below it in the tree,
                      * and is not shared */
    bool listed;     /* edges beside the tree may end at it */
    bool shared;     /* it may have several parents in the tree */
    bool odd;        /* its path may differ from the names on the way */
    uint32_t *steps; /* steps of the tree that continue from a vertex of the class */
    size_t nsteps;
    struct unit {
        uint32_t v, unit; /* in the graph; v GRAPH_NONE: not added */
    } * at;               /* by number in the class, if listed */
};

/* A vertex whose children are being made. */
struct frame {
    uint32_t vertex; /* in the plan */
    uint32_t v;      /* in the graph */
    const struct kind *kind;
    size_t step;        /* in kind->steps */
    const uint32_t *at; /* its places in the step, or NULL: not looked up yet */
    size_t n, k;
    uint32_t own; /* at[0] for steps without list */
    uint32_t i;   /* among the children made at one place */
};

struct pair {
    uint32_t from, to;
    size_t step;
};

struct making {
    struct graph *g;
    const struct grug_plan *p;
    const char *subsystem;
    uint32_t root;      /* class */
    struct kind *kinds; /* by class */
    struct frame open[GRAPH_DEPTH_MAX + 1];
    size_t nopen;
    /* edges of the tree's subsystem to vertices with another tree parent */
    struct pair *extra;
    size_t nextra, extra_alloc;
    struct error *err;
};

static bool is_main (const struct making *m, const struct grug_edge *e)
{
    return !strcmp (e->subsystem, m->subsystem);
}

static uint32_t class_of (const struct making *m, uint32_t vertex)
{
    return grug_plan_class (m->p, vertex);
}

/* -- classes: which type is below which -- */

/* Calls fn with the classes of the step's sources and targets, place by place; once for a
 * step without lists, which has one class of each. */
static void for_classes (struct making *m, size_t step,
                         void (*fn) (struct making *m, size_t step, uint32_t from,
                                     uint32_t to, void *arg),
                         void *arg)
{
    const struct grug_step *s = &m->p->steps[step];
    size_t n = s->from.list ? s->from.n : MIN (s->from.n, 1);

    for (size_t k = 0; k < n; k++)
        fn (m, step, class_of (m, grug_set_get (&s->from, k)),
            s->to ? class_of (m, s->to[k]) : s->made, arg);
}

/* The classes as a small graph: ways[a * n + b] is set if the tree may lead from a to
 * b. */
static void mark_way (struct making *m, size_t step, uint32_t from, uint32_t to,
                      void *arg)
{
    bool *ways = arg;

    (void)step;
    ways[from * m->p->nclasses + to] = true;
}

static void mark_reached (struct making *m, const bool *ways, uint32_t *waiting)
{
    size_t n = 0, nclasses = m->p->nclasses;

    m->kinds[m->root].in_tree = true;
    waiting[n++] = m->root;
    while (n > 0) {
        uint32_t c = waiting[--n];
        for (uint32_t to = 0; to < nclasses; to++) {
            if (!ways[c * nclasses + to] || m->kinds[to].in_tree)
                continue;
            m->kinds[to].in_tree = true;
            waiting[n++] = to;
        }
    }
}

/* Removes classes that no way leads to, with the ways from them, until none is left;
 * otherwise there is a cycle. */
static int check_cycles (struct making *m, const bool *ways, uint32_t *waiting)
{
    size_t n = m->p->nclasses, ready = 0, left = 0;
    autofree uint32_t *in = calloc (n, sizeof (*in));
    uint32_t c = 0;

    if (!in)
        return error_no_memory (m->err, "grug");
    for (size_t from = 0; from < n; from++) {
        left += m->kinds[from].in_tree;
        for (size_t to = 0; to < n && m->kinds[from].in_tree; to++)
            in[to] += ways[from * n + to];
    }
    if (in[m->root] == 0)
        waiting[ready++] = m->root;
    for (; ready > 0; left--) {
        c = waiting[--ready];
        for (uint32_t to = 0; to < n; to++) {
            if (ways[c * n + to] && --in[to] == 0)
                waiting[ready++] = to;
        }
    }
    if (left == 0)
        return 0;
    for (c = m->root; !m->kinds[c].in_tree || in[c] == 0; c = (c + 1) % (uint32_t)n)
        ;
    return error_set (
        m->err, EINVAL,
        "grug: line %ld: node '%s': edges of '%s' would lead in a circle to "
        "it or above it",
        m->p->classes[c].node->line, m->p->classes[c].node->id, m->subsystem);
}

static int look_at_ways (struct making *m)
{
    size_t n = m->p->nclasses;
    bool *ways = calloc (n * n, sizeof (*ways));
    uint32_t *waiting = calloc (n, sizeof (*waiting));
    int rc = ways && waiting ? 0 : error_no_memory (m->err, "grug");

    for (size_t s = 0; s < m->p->nsteps && rc == 0; s++) {
        if (is_main (m, m->p->steps[s].edge))
            for_classes (m, s, mark_way, ways);
    }
    if (rc == 0) {
        mark_reached (m, ways, waiting);
        rc = check_cycles (m, ways, waiting);
    }
    free (ways);
    free (waiting);
    return rc;
}

/* -- classes: how they are made -- */

static void add_step (struct making *m, size_t step, uint32_t from, uint32_t to,
                      void *arg)
{
    struct kind *kind = &m->kinds[from];

    (void)to, (void)arg;
    if (kind->nsteps == 0 || kind->steps[kind->nsteps - 1] != step)
        kind->steps[kind->nsteps++] = (uint32_t)step;
}

static void mark_listed (struct making *m, size_t step, uint32_t from, uint32_t to,
                         void *arg)
{
    (void)step, (void)arg;
    m->kinds[from].listed = m->kinds[to].listed = true;
}

static void mark_shared (struct making *m, size_t step, uint32_t from, uint32_t to,
                         void *arg)
{
    (void)step, (void)from, (void)arg;
    m->kinds[to].shared = m->kinds[to].odd = true;
}

static void mark_odd (struct making *m, size_t step, uint32_t from, uint32_t to,
                      void *arg)
{
    (void)step, (void)from, (void)arg;
    m->kinds[to].odd = true;
}

static int list_steps (struct making *m)
{
    for (size_t c = 0; c < m->p->nclasses; c++) {
        m->kinds[c].steps = calloc (m->p->nsteps + 1, sizeof (*m->kinds[c].steps));
        if (!m->kinds[c].steps)
            return error_no_memory (m->err, "grug");
    }
    for (size_t s = 0; s < m->p->nsteps; s++) {
        const struct grug_step *step = &m->p->steps[s];
        if (is_main (m, step->edge))
            for_classes (m, s, add_step, NULL);
        if (step->to || !is_main (m, step->edge))
            for_classes (m, s, mark_listed, NULL);
        if (step->to && is_main (m, step->edge))
            for_classes (m, s, mark_shared, NULL);
        if (!step->to && !is_main (m, step->edge))
            for_classes (m, s, mark_odd, NULL);
    }
    return 0;
}

/* Children of odd classes are odd; they come later. */
static void spread_odd (struct making *m)
{
    for (size_t c = 0; c < m->p->nclasses; c++) {
        const struct grug_class *class = &m->p->classes[c];
        const struct grug_set *from = &m->p->steps[class->step].from;
        if (strcmp (class->node->subsystem, m->subsystem) != 0
            || (!class->root && class->n > 0
                && m->kinds[class_of (m, grug_set_get (from, 0))].odd))
            m->kinds[c].odd = true;
    }
}

static int settle_kinds (struct making *m)
{
    for (size_t c = 0; c < m->p->nclasses; c++) {
        const struct grug_class *class = &m->p->classes[c];
        struct kind *kind = &m->kinds[c];
        kind->leaf =
            kind->nsteps == 0 && !kind->shared && strcmp (class->node->type, "node") != 0;
        kind->listed = kind->listed && kind->in_tree;
        if (!kind->in_tree || !(kind->listed || kind->odd))
            continue;
        if (class->n > GRUG_PAIRS_MAX)
            return error_set (m->err, E2BIG,
                              "grug: line %ld: node '%s': %u vertices are too many for "
                              "several subsystems, at most %u can be in them",
                              class->node->line, class->node->id, class->n,
                              GRUG_PAIRS_MAX);
        kind->at = malloc ((class->n + 1) * sizeof (*kind->at));
        if (!kind->at)
            return error_no_memory (m->err, "grug");
        memset (kind->at, 0xff, class->n * sizeof (*kind->at));
    }
    return 0;
}

static int find_root (struct making *m)
{
    for (uint32_t c = 0; c < m->p->nclasses; c++) {
        const struct grug_class *class = &m->p->classes[c];
        m->root = c;
        if (class->root && !strcmp (class->node->subsystem, m->subsystem))
            return 0;
    }
    return error_set (m->err, EINVAL,
                      "grug: the recipe has no root in subsystem '%s' from which an edge "
                      "leads",
                      m->subsystem);
}

static int prepare (struct making *m)
{
    int rc = find_root (m);

    if (rc < 0)
        return rc;
    m->kinds = calloc (m->p->nclasses, sizeof (*m->kinds));
    if (!m->kinds)
        return error_no_memory (m->err, "grug");
    rc = look_at_ways (m);
    if (rc == 0)
        rc = list_steps (m);
    if (rc < 0)
        return rc;
    spread_odd (m);
    return settle_kinds (m);
}

/* -- vertices -- */

static struct graph_spec spec_of (const struct making *m, uint32_t vertex, uint32_t c)
{
    const struct grug_class *class = &m->p->classes[c];

    return (struct graph_spec){
        .type = class->node->type,
        .basename = class->node->basename,
        .unit = class->node->unit[0] ? class->node->unit : NULL,
        .id = grug_plan_id (m->p, vertex),
        .count = 1,
        .size = class->node->size,
        .uniq = vertex,
        .rank = class->rank < 0 ? -1 : class->rank + (int32_t)(vertex - class->first),
        .leaf = m->kinds[c].leaf,
    };
}

static int add_to_graph (struct making *m, uint32_t parent, const struct graph_spec *spec,
                         uint32_t c, uint32_t *ret)
{
    *ret = graph_add (m->g, parent, spec, m->err);
    if (*ret != GRAPH_NONE)
        return 0;
    return error_prefix (m->err, "grug: line %ld: node '%s'", m->p->classes[c].node->line,
                         m->p->classes[c].node->id);
}

/* Sets the path of the vertex in the subsystem, if it differs from the names. */
static int set_path (struct making *m, uint32_t vertex, const struct unit *at,
                     const char *subsystem)
{
    struct strbuf path = STRBUF_INIT (PATH_LENGTH_MAX);
    struct strbuf usual = STRBUF_INIT (PATH_LENGTH_MAX);
    int rc = grug_plan_path (m->p, vertex, subsystem, m->p->nsteps, &path);

    if (rc == 0 && !strcmp (subsystem, m->subsystem))
        rc = graph_path (m->g, at->v, at->unit, &usual);
    if (rc == 0 && strcmp (path.buf, usual.buf) != 0)
        rc = graph_set_path_in (m->g, at->v, at->unit, subsystem, path.buf);
    strbuf_release (&path);
    strbuf_release (&usual);
    if (rc == 0 || rc == -ENOENT)
        return 0;
    return error_set (m->err, -rc, "grug: line %ld: node '%s': %s",
                      m->p->classes[class_of (m, vertex)].node->line,
                      m->p->classes[class_of (m, vertex)].node->id,
                      rc == -ENOMEM ? "out of memory" : "the path is too long");
}

static int set_paths (struct making *m, uint32_t vertex, uint32_t c,
                      const struct unit *at)
{
    const char *own = m->p->classes[c].node->subsystem;
    int rc = m->kinds[c].odd ? set_path (m, vertex, at, m->subsystem) : 0;

    if (rc == 0 && strcmp (own, m->subsystem) != 0)
        rc = set_path (m, vertex, at, own);
    for (size_t s = 0; s < m->p->nsteps && rc == 0; s++) {
        const struct grug_step *step = &m->p->steps[s];
        const uint32_t *where;
        if (!is_main (m, step->edge) && grug_step_to (step, vertex, &where) > 0)
            rc = set_path (m, vertex, at, step->edge->subsystem);
    }
    return rc;
}

static int enter (struct making *m, uint32_t vertex, uint32_t v, uint32_t c)
{
    if (m->nopen == ARRAY_SIZE (m->open))
        return error_set (
            m->err, EINVAL, "grug: line %ld: node '%s': is more than %d levels deep",
            m->p->classes[c].node->line, m->p->classes[c].node->id, GRAPH_DEPTH_MAX);
    m->open[m->nopen++] =
        (struct frame){ .vertex = vertex, .v = v, .kind = &m->kinds[c] };
    return 0;
}

static int add_one (struct making *m, uint32_t parent, uint32_t vertex)
{
    uint32_t c = class_of (m, vertex);
    struct graph_spec spec = spec_of (m, vertex, c);
    const struct kind *kind = &m->kinds[c];
    struct unit at;
    int rc = add_to_graph (m, parent, &spec, c, &at.v);

    if (rc < 0)
        return rc;
    at.unit = graph_vertex (m->g, at.v)->n - 1;
    if (kind->at) {
        kind->at[vertex - m->p->classes[c].first] = at;
        rc = set_paths (m, vertex, c, &at);
    }
    return rc == 0 && kind->nsteps > 0 ? enter (m, vertex, at.v, c) : rc;
}

/* Adds n leaves with consecutive ids. */
static int add_run (struct making *m, uint32_t parent, uint32_t first, uint32_t n,
                    uint32_t c)
{
    for (uint32_t done = 0; done < n;) {
        struct graph_spec spec = spec_of (m, first + done, c);
        uint32_t v;
        spec.count = MIN (n - done, GRAPH_UNITS_MAX);
        int rc = add_to_graph (m, parent, &spec, c, &v);
        if (rc < 0)
            return rc;
        done += spec.count;
    }
    return 0;
}

static bool is_run (const struct making *m, const struct grug_edge *e, uint32_t c)
{
    return m->kinds[c].leaf && !m->kinds[c].at && e->id_scope >= 0
           && (e->id_scope == 0 || e->id_stride == 1);
}

/* -- the walk -- */

/* True if this place of this step gives the tree parent of the vertex: the place where
 * the vertex was made, if in the tree, else its first association there. */
static bool hangs_here (const struct making *m, uint32_t vertex, size_t step, uint32_t k)
{
    const struct grug_class *class = &m->p->classes[class_of (m, vertex)];

    if (class->root ? !strcmp (class->node->subsystem, m->subsystem)
                    : is_main (m, m->p->steps[class->step].edge))
        return false;
    for (size_t s = 0; s <= step; s++) {
        const struct grug_step *other = &m->p->steps[s];
        const uint32_t *at;
        size_t n = is_main (m, other->edge) ? grug_step_to (other, vertex, &at) : 0;
        for (size_t j = 0; j < n; j++) {
            if (m->kinds[class_of (m, grug_set_get (&other->from, at[j]))].in_tree)
                return s == step && at[j] == k;
        }
    }
    return false;
}

static int add_extra (struct making *m, uint32_t from, uint32_t to, size_t step)
{
    if (array_reserve (&m->extra, &m->extra_alloc, m->nextra + 1, sizeof (*m->extra)) < 0)
        return error_no_memory (m->err, "grug");
    m->extra[m->nextra++] = (struct pair){ from, to, step };
    return 0;
}

/* Makes the next of the vertices at one place of a step. */
static int make_next (struct making *m, struct frame *f, const struct grug_step *s)
{
    uint32_t scale = (uint32_t)s->edge->scale;
    uint32_t first = m->p->classes[s->made].first + f->at[f->k] * scale;
    uint32_t i = f->i;

    if (i < scale && is_run (m, s->edge, s->made)) {
        f->i = scale;
        return add_run (m, f->v, first, scale, s->made);
    }
    if (i == scale) {
        f->k++;
        f->i = 0;
        return 0;
    }
    f->i++;
    return add_one (m, f->v, first + i);
}

static int take_next (struct making *m, struct frame *f, size_t step)
{
    const struct grug_step *s = &m->p->steps[step];
    uint32_t k = f->at[f->k];

    if (!s->to)
        return make_next (m, f, s);
    f->k++;
    if (hangs_here (m, s->to[k], step, k))
        return add_one (m, f->v, s->to[k]);
    return add_extra (m, f->vertex, s->to[k], step);
}

/* Does one step below the innermost open vertex, or closes it. */
static int go_on (struct making *m)
{
    struct frame *f = &m->open[m->nopen - 1];
    size_t step;

    if (f->step == f->kind->nsteps) {
        m->nopen--;
        return 0;
    }
    step = f->kind->steps[f->step];
    if (!f->at) {
        f->n = grug_step_from (&m->p->steps[step], f->vertex, &f->at, &f->own);
        f->k = f->i = 0;
    }
    if (f->k == f->n) {
        f->step++;
        f->at = NULL;
        return 0;
    }
    return take_next (m, f, step);
}

static int make_tree (struct making *m)
{
    int rc = add_one (m, GRAPH_NONE, m->p->classes[m->root].first);

    while (rc == 0 && m->nopen > 0)
        rc = go_on (m);
    return rc;
}

/* -- beside the tree -- */

static const struct unit *unit_of (const struct making *m, uint32_t vertex)
{
    uint32_t c = class_of (m, vertex);
    const struct unit *at = m->kinds[c].at;

    if (!at)
        return NULL;
    at += vertex - m->p->classes[c].first;
    return at->v == GRAPH_NONE ? NULL : at;
}

static int add_edge (struct making *m, const struct grug_edge *e, uint32_t from,
                     uint32_t to)
{
    const struct unit *a = unit_of (m, from), *b = unit_of (m, to);
    struct graph_edge edge = {
        .subsystem = e->subsystem,
        .type = e->relation[0] ? e->relation : NULL,
    };

    if (!a || !b)
        return 0;
    edge.from = a->v;
    edge.from_unit = a->unit;
    edge.to = b->v;
    edge.to_unit = b->unit;
    int rc = graph_edge_add (m->g, &edge);
    if (rc == 0)
        return 0;
    return error_set (m->err, -rc,
                      rc == -ENOMEM
                          ? "grug: line %ld: edge '%s': out of memory"
                          : "grug: line %ld: edge '%s': its subsystem is not the name of "
                            "one, or one too many",
                      e->line, e->id);
}

static int add_step_edges (struct making *m, const struct grug_step *s)
{
    uint32_t scale = s->to ? 1 : (uint32_t)s->edge->scale;
    uint32_t first = s->to ? 0 : m->p->classes[s->made].first;
    int rc = 0;

    if (!s->to && !m->kinds[s->made].in_tree)
        return 0;
    for (size_t k = 0; k < s->from.n && rc == 0; k++) {
        uint32_t from = grug_set_get (&s->from, k);
        for (uint32_t i = 0; i < scale && rc == 0; i++)
            rc = add_edge (m, s->edge, from,
                           s->to ? s->to[k] : first + (uint32_t)k * scale + i);
    }
    return rc;
}

/* Two edges of the recipe may make equal associations. */
static int add_further (struct making *m, const struct grug_edge *e,
                        const struct unit *from, const struct unit *to)
{
    struct error why = { 0 };
    int rc =
        graph_associate (m->g, from->v, to->v, e->relation[0] ? e->relation : NULL, &why);

    if (rc == 0 || rc == -EEXIST)
        return 0;
    return error_set (m->err, -rc, "grug: line %ld: edge '%s': %s", e->line, e->id,
                      why.text);
}

static int add_all_further (struct making *m)
{
    int rc = 0;

    for (size_t k = 0; k < m->nextra && rc == 0; k++) {
        const struct pair *x = &m->extra[k];
        const struct unit *from = unit_of (m, x->from), *to = unit_of (m, x->to);
        if (from && to)
            rc = add_further (m, m->p->steps[x->step].edge, from, to);
    }
    return rc;
}

static int add_edges (struct making *m)
{
    int rc = add_all_further (m);

    for (size_t s = 0; s < m->p->nsteps && rc == 0; s++) {
        if (!is_main (m, m->p->steps[s].edge))
            rc = add_step_edges (m, &m->p->steps[s]);
    }
    return rc;
}

static int make (struct making *m)
{
    int rc = prepare (m);

    if (rc == 0 && (rc = graph_set_subsystem (m->g, m->subsystem)) < 0)
        error_set (m->err, -rc, "grug: '%s' cannot be the main subsystem", m->subsystem);
    if (rc == 0)
        rc = make_tree (m);
    if (rc == 0)
        rc = add_edges (m);
    for (size_t c = 0; m->kinds && c < m->p->nclasses; c++) {
        free (m->kinds[c].steps);
        free (m->kinds[c].at);
    }
    free (m->kinds);
    free (m->extra);
    return rc;
}

static int grug_read (struct graph *g, const char *text, size_t len,
                      const struct match_reader_options *opt, struct error *err)
{
    struct error unread = { 0 };
    struct grug_recipe r;
    struct grug_plan p;
    struct making m = {
        .g = g,
        .p = &p,
        .subsystem = opt && opt->subsystem ? opt->subsystem : "containment",
        .err = err ? err : &unread,
    };
    int rc = grug_recipe_parse (&r, text, len, m.err);

    if (rc < 0)
        return rc;
    rc = grug_plan_make (&p, &r, m.err);
    if (rc == 0) {
        rc = make (&m);
        grug_plan_release (&p);
    }
    grug_recipe_release (&r);
    return rc;
}

const struct match_reader match_reader_grug = {
    .name = "grug",
    .summary = "a recipe for a graph, in GraphML",
    .read = grug_read,
};

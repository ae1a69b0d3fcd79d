/* grug_plan.c - see grug_plan.h */
#include "match/readers/grug_plan.h"

#include <inttypes.h>

#define PATH_LENGTH_MAX (64 * 1024)
#define PATHS_LENGTH_MAX (1u << 30)

/* The walk over the recipe. */
struct walk {
    struct grug_plan *p;
    const struct grug_recipe *r;
    struct grug_set *made; /* by recipe node: the vertices made */
    bool *seen;            /* by recipe node */
    uint32_t *start, *out; /* edges by source */
    uint32_t *open, *next; /* entered recipe nodes, and their next edges */
    size_t nopen;
    int64_t *scales; /* the MULTIPLY edges on the way to here, with those of finished
                      * siblings that an association did not remove */
    size_t nscales;
    size_t npairs, nassociations; /* pairs, including compared paths; steps */
    int32_t nranks;
    struct error *err;
};

/* -- numbers -- */

uint32_t grug_plan_class (const struct grug_plan *p, uint32_t v)
{
    size_t low = 0, high = p->nclasses;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->classes[middle].first <= v)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

int64_t grug_plan_id (const struct grug_plan *p, uint32_t v)
{
    const struct grug_class *c = &p->classes[grug_plan_class (p, v)];
    int64_t source, number;

    if (c->root)
        return 0;
    const struct grug_edge *e = p->steps[c->step].edge;
    if (e->id_scope < 0)
        return -1;
    source = (v - c->first) / e->scale;
    number = (v - c->first) % e->scale;
    if (c->around == 0)
        return e->id_start + number;
    return e->id_start + (source % c->around * e->scale + number) * e->id_stride;
}

/* Returns buf. */
static const char *grug_plan_name (const struct grug_plan *p, uint32_t v,
                                   char buf[static GRUG_NAME_SIZE])
{
    const char *basename = p->classes[grug_plan_class (p, v)].node->basename;
    int64_t id = grug_plan_id (p, v);

    if (id == -1)
        snprintf (buf, GRUG_NAME_SIZE, "%s", basename);
    else
        snprintf (buf, GRUG_NAME_SIZE, "%s%" PRId64, basename, id);
    return buf;
}

static size_t find_run (const uint32_t *by, const uint32_t *values, size_t n, uint32_t v,
                        const uint32_t **ret_at)
{
    size_t low = 0, high = n, end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values[by[middle]] < v)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < n && values[by[end]] == v; end++)
        ;
    *ret_at = by + low;
    return end - low;
}

size_t grug_step_from (const struct grug_step *s, uint32_t v, const uint32_t **ret_at,
                       uint32_t *ret)
{
    if (s->from.list)
        return find_run (s->by_from, s->from.list, s->from.n, v, ret_at);
    *ret = v - s->from.first;
    *ret_at = ret;
    return v >= s->from.first && *ret < s->from.n;
}

size_t grug_step_to (const struct grug_step *s, uint32_t v, const uint32_t **ret_at)
{
    return s->to ? find_run (s->by_to, s->to, s->from.n, v, ret_at) : 0;
}

/* Finds the last association of v in the subsystem before that step: its step, and its
 * source. */
static bool find_association (const struct grug_plan *p, uint32_t v,
                              const char *subsystem, size_t before, size_t *ret_step,
                              uint32_t *ret_source)
{
    for (size_t s = before; s-- > 0;) {
        const struct grug_step *step = &p->steps[s];
        const uint32_t *at;
        size_t n;
        if (!step->to || strcmp (step->edge->subsystem, subsystem) != 0)
            continue;
        n = grug_step_to (step, v, &at);
        if (n > 0) {
            *ret_step = s;
            *ret_source = grug_set_get (&step->from, at[n - 1]);
            return true;
        }
    }
    return false;
}

/* Bottom-up: "/core0", "/node3", ... */
int grug_plan_path (const struct grug_plan *p, uint32_t v, const char *subsystem,
                    size_t before, struct strbuf *sb)
{
    uint32_t way[2 * GRUG_ITEMS_MAX];
    char name[GRUG_NAME_SIZE];
    size_t n = 0;

    for (;;) {
        const struct grug_class *c = &p->classes[grug_plan_class (p, v)];
        uint32_t source;
        if (find_association (p, v, subsystem, before, &before, &source)) {
            way[n++] = v;
        } else if (strcmp (c->node->subsystem, subsystem) != 0) {
            break;
        } else {
            way[n++] = v;
            if (c->root)
                break;
            source = grug_set_get (&p->steps[c->step].from,
                                   (v - c->first) / p->steps[c->step].edge->scale);
            before = c->step;
        }
        v = source;
    }
    for (size_t k = n; k-- > 0;) {
        strbuf_addch (sb, '/');
        strbuf_adds (sb, grug_plan_name (p, way[k], name));
    }
    if (sb->err)
        return sb->err;
    return n > 0 ? 0 : -ENOENT;
}

/* -- making vertices -- */

static int add_class (struct walk *w, const struct grug_node *node, bool root, size_t n,
                      uint32_t *ret)
{
    struct grug_plan *p = w->p;
    struct grug_class *c = &p->classes[p->nclasses];

    if (n > GRUG_VERTICES_MAX - p->nvertices)
        return error_set (
            w->err, E2BIG,
            "grug: line %ld: with the %zu of node '%s' the recipe makes %zu "
            "vertices, more than %u",
            node->line, n, node->id, n + p->nvertices, GRUG_VERTICES_MAX);
    *c = (struct grug_class){
        .node = node,
        .first = p->nvertices,
        .n = (uint32_t)n,
        .step = (uint32_t)p->nsteps,
        .root = root,
        .rank = -1,
    };
    if (!strcmp (node->type, "node")) {
        c->rank = w->nranks;
        w->nranks += (int32_t)n;
    }
    p->nvertices += (uint32_t)n;
    *ret = (uint32_t)p->nclasses++;
    return 0;
}

/* Two roots of one subsystem are one root. */
static int make_root (struct walk *w, uint32_t i)
{
    const struct grug_node *node = &w->r->nodes[i];
    uint32_t c = 0;

    while (c < w->p->nclasses
           && !(w->p->classes[c].root
                && !strcmp (w->p->classes[c].node->subsystem, node->subsystem)))
        c++;
    int rc = c < w->p->nclasses ? 0 : add_class (w, node, true, 1, &c);
    if (rc == 0)
        w->made[i] = (struct grug_set){ .n = 1, .first = w->p->classes[c].first };
    return rc;
}

/* Number of sources that share one run of ids: the product of the scales of the levels in
 * its scope. */
static int64_t ids_around (const struct walk *w, const struct grug_edge *e)
{
    int64_t around = 1;

    for (size_t h = 0; h < w->nscales && (int64_t)h < e->id_scope; h++) {
        around *= w->scales[w->nscales - 1 - h];
        if (around > GRUG_VERTICES_MAX)
            return GRUG_VERTICES_MAX; /* there are no more sources */
    }
    return MAX (around, 1);
}

/* Places by (value, place). */
static int sort_list (struct walk *w, const uint32_t *values, size_t n, uint32_t **ret)
{
    autofree uint64_t *both = malloc ((n + 1) * sizeof (*both));
    uint32_t *by = malloc ((n + 1) * sizeof (*by));

    *ret = by;
    if (!both || !by)
        return error_no_memory (w->err, "grug");
    for (size_t k = 0; k < n; k++)
        both[k] = (uint64_t)values[k] << 32 | k;
    qsort (both, n, sizeof (*both), compare_u64);
    for (size_t k = 0; k < n; k++)
        by[k] = (uint32_t)both[k];
    return 0;
}

static int multiply (struct walk *w, const struct grug_edge *e, struct grug_step *s)
{
    size_t n = 0;
    uint32_t c;

    if (__builtin_mul_overflow (s->from.n, (size_t)e->scale, &n))
        n = SIZE_MAX - GRUG_VERTICES_MAX;
    int rc = add_class (w, &w->r->nodes[e->target], false, n, &c);
    if (rc < 0)
        return rc;
    s->made = c;
    w->p->classes[c].around = e->id_scope > 0 ? ids_around (w, e) : 0;
    w->made[e->target] = (struct grug_set){ .n = n, .first = w->p->classes[c].first };
    w->scales[w->nscales++] = e->scale;
    return s->from.list ? sort_list (w, s->from.list, s->from.n, &s->by_from) : 0;
}

/* -- associations -- */

/* Lists all vertices of the type made so far. */
static int list_type (struct walk *w, const char *type, uint32_t **ret, size_t *ret_n)
{
    const struct grug_plan *p = w->p;
    size_t n = 0;

    for (size_t c = 0; c < p->nclasses; c++)
        n += !strcmp (p->classes[c].node->type, type) ? p->classes[c].n : 0;
    *ret_n = n;
    if (n > GRUG_PAIRS_MAX)
        return error_set (
            w->err, E2BIG,
            "grug: %zu vertices of type %s are too many to be associated, at "
            "most %u can",
            n, type, GRUG_PAIRS_MAX);
    *ret = malloc ((n + 1) * sizeof (**ret));
    if (!*ret)
        return error_no_memory (w->err, "grug");
    n = 0;
    for (size_t c = 0; c < p->nclasses; c++) {
        if (strcmp (p->classes[c].node->type, type) != 0)
            continue;
        for (uint32_t k = 0; k < p->classes[c].n; k++)
            (*ret)[n++] = p->classes[c].first + k;
    }
    return 0;
}

/* Paths cut to the part that must be equal, one after the other. */
struct prefixes {
    struct strbuf text;
    size_t *at; /* n + 1: start of each */
    size_t n;
    uint32_t *sorted; /* places by (prefix, place) */
};

static const char *prefix_of (const struct prefixes *x, size_t k, size_t *ret_len)
{
    *ret_len = x->at[k + 1] - x->at[k];
    return x->text.buf + x->at[k];
}

/* Length of the first levels of a path, with their slash; the whole path if up is 0, 0 if
 * the path has no more than `up` levels. */
static size_t cut_path (const char *path, size_t len, int64_t up)
{
    int64_t slashes = 0;

    for (size_t i = 0; i < len; i++)
        slashes += path[i] == '/';
    if (up >= slashes)
        return 0;
    for (size_t i = 0; i < len && up > 0; i++) {
        if (path[i] == '/' && --slashes < up)
            return i + 1;
    }
    return len;
}

static int add_prefix (struct prefixes *x, const struct grug_plan *p, uint32_t v,
                       const struct grug_edge *e, int64_t up)
{
    autostrbuf struct strbuf path = STRBUF_INIT (PATH_LENGTH_MAX);
    size_t len;
    int rc = grug_plan_path (p, v, e->at_subsystem, p->nsteps, &path);

    x->at[x->n++] = x->text.len;
    if (rc == 0) {
        len = cut_path (path.buf, path.len, up);
        strbuf_add (&x->text, path.buf, len);
        if (len > 0 && path.buf[len - 1] != '/')
            strbuf_addch (&x->text, '/');
    }
    x->at[x->n] = x->text.len;
    return rc < 0 && rc != -ENOENT ? rc : x->text.err;
}

static int compare_prefixes (const struct prefixes *x, size_t a, const struct prefixes *y,
                             size_t b)
{
    size_t alen, blen;
    const char *atext = prefix_of (x, a, &alen), *btext = prefix_of (y, b, &blen);
    int rc = memcmp (atext, btext, MIN (alen, blen));

    return rc != 0 ? rc : (alen > blen) - (alen < blen);
}

static int compare_sorted (const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int rc = compare_prefixes (arg, x, arg, y);

    return rc != 0 ? rc : (x > y) - (x < y);
}

static int prefixes_init (struct prefixes *x, const struct grug_plan *p,
                          const struct grug_set *set, const struct grug_edge *e,
                          int64_t up)
{
    int rc = 0;

    *x = (struct prefixes){ .n = 0 };
    strbuf_init (&x->text, PATHS_LENGTH_MAX);
    x->at = malloc ((set->n + 1) * sizeof (*x->at));
    x->sorted = malloc ((set->n + 1) * sizeof (*x->sorted));
    if (!x->at || !x->sorted)
        return -ENOMEM;
    for (size_t k = 0; k < set->n && rc == 0; k++) {
        rc = add_prefix (x, p, grug_set_get (set, k), e, up);
        x->sorted[k] = (uint32_t)k;
    }
    if (rc == 0 && x->n > 0)
        qsort_r (x->sorted, x->n, sizeof (*x->sorted), compare_sorted, x);
    return rc;
}

static void prefixes_release (struct prefixes *x)
{
    strbuf_release (&x->text);
    free (x->at);
    free (x->sorted);
}

/* First of the sorted prefixes of x that equals y's number k. */
static size_t find_prefix (const struct prefixes *x, const struct prefixes *y, size_t k)
{
    size_t low = 0, high = x->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_prefixes (x, x->sorted[middle], y, k) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The pairs of one association while they are gathered. */
struct pairs {
    struct walk *w;
    const struct grug_edge *e;
    uint32_t *from, *to;
    size_t n, alloc;
};

static int pairs_reserve (struct pairs *x, size_t alloc)
{
    uint32_t *from = realloc (x->from, alloc * sizeof (*from));
    uint32_t *to = realloc (x->to, alloc * sizeof (*to));

    x->from = from ? from : x->from;
    x->to = to ? to : x->to;
    if (!from || !to)
        return error_no_memory (x->w->err, "grug");
    x->alloc = alloc;
    return 0;
}

/* Limits the work, so that no recipe takes long. */
static int count_work (struct pairs *x, size_t n)
{
    struct walk *w = x->w;

    w->npairs += n;
    if (w->npairs <= GRUG_PAIRS_MAX)
        return 0;
    return error_set (w->err, E2BIG,
                      "grug: line %ld: edge '%s': more than %u associations", x->e->line,
                      x->e->id, GRUG_PAIRS_MAX);
}

static int add_pair (struct pairs *x, uint32_t from, uint32_t to)
{
    int rc = count_work (x, 1);

    if (from == to)
        return error_set (x->w->err, EINVAL,
                          "grug: line %ld: edge '%s' would lead from vertices to "
                          "themselves",
                          x->e->line, x->e->id);
    if (rc == 0 && x->n == x->alloc)
        rc = pairs_reserve (x, 2 * x->alloc);
    if (rc < 0)
        return rc;
    x->from[x->n] = from;
    x->to[x->n++] = to;
    return 0;
}

static int pair_all (struct pairs *x, const struct grug_set *from,
                     const struct grug_set *to)
{
    int rc = 0;

    for (size_t k = 0; k < from->n && rc == 0; k++) {
        for (size_t j = 0; j < to->n && rc == 0; j++)
            rc = add_pair (x, grug_set_get (from, k), grug_set_get (to, j));
    }
    return rc;
}

static int compare_paths (struct pairs *x, const struct prefixes *above,
                          const struct prefixes *below, const struct grug_set *from,
                          const struct grug_set *to)
{
    int rc = 0;

    for (size_t k = 0; k < from->n && rc == 0; k++) {
        for (size_t j = find_prefix (below, above, k); j < below->n && rc == 0; j++) {
            if (compare_prefixes (below, below->sorted[j], above, k) != 0)
                break;
            rc =
                add_pair (x, grug_set_get (from, k), grug_set_get (to, below->sorted[j]));
        }
    }
    return rc;
}

static int pair_by_path (struct pairs *x, const struct grug_set *from,
                         const struct grug_set *to)
{
    const struct walk *w = x->w;
    struct prefixes above = { .n = 0 }, below = { .n = 0 };
    int rc = count_work (x, (from->n + to->n) * (1 + w->nassociations));

    if (rc < 0)
        return rc;
    rc = prefixes_init (&above, w->p, from, x->e, x->e->up_of_source);
    if (rc == 0)
        rc = prefixes_init (&below, w->p, to, x->e, x->e->up_of_target);
    if (rc < 0)
        error_set (w->err, -rc, "grug: line %ld: edge '%s': %s", x->e->line, x->e->id,
                   rc == -ENOMEM ? "out of memory" : "the paths are too long");
    else
        rc = compare_paths (x, &above, &below, from, to);
    prefixes_release (&above);
    prefixes_release (&below);
    return rc;
}

static int find_pairs (struct walk *w, const struct grug_set *from, struct pairs *x)
{
    autofree uint32_t *list = NULL;
    struct grug_set to = { 0 };
    int rc = pairs_reserve (x, 64);

    if (rc < 0 || from->n == 0)
        return rc;
    rc = count_work (x, from->n);
    if (rc == 0)
        rc = list_type (w, w->r->nodes[x->e->target].type, &list, &to.n);
    to.list = list;
    if (rc < 0)
        return rc;
    return x->e->method == GRUG_ASSOCIATE ? pair_all (x, from, &to)
                                          : pair_by_path (x, from, &to);
}

static int associate (struct walk *w, const struct grug_edge *e, struct grug_step *s)
{
    struct pairs x = { .w = w, .e = e };
    int rc = find_pairs (w, &s->from, &x);

    s->made = GRUG_NONE;
    s->from = (struct grug_set){ .n = x.n, .list = x.from };
    s->to = x.to;
    if (rc == 0)
        rc = sort_list (w, x.from, x.n, &s->by_from);
    if (rc == 0)
        rc = sort_list (w, x.to, x.n, &s->by_to);
    w->made[e->target] = (struct grug_set){ .n = x.n, .list = x.to };
    w->nassociations++;
    return rc;
}

/* -- the walk -- */

static int take_step (struct walk *w, const struct grug_edge *e)
{
    struct grug_step *s = &w->p->steps[w->p->nsteps];
    int rc = 0;

    if (w->r->nodes[e->source].root && w->made[e->source].n == 0)
        rc = make_root (w, e->source);
    *s = (struct grug_step){ .edge = e, .from = w->made[e->source] };
    if (rc == 0)
        rc = e->method == GRUG_MULTIPLY ? multiply (w, e, s) : associate (w, e, s);
    w->p->nsteps++;
    return rc;
}

static void enter (struct walk *w, uint32_t i)
{
    w->seen[i] = true;
    w->next[i] = w->start[i];
    w->open[w->nopen++] = i;
}

static int walk_from (struct walk *w, uint32_t root)
{
    int rc = 0;

    enter (w, root);
    while (w->nopen > 0 && rc == 0) {
        uint32_t i = w->open[w->nopen - 1];
        if (w->next[i] == w->start[i + 1]) { /* its edges are done */
            w->nscales -= w->nscales > 0;
            w->nopen--;
            continue;
        }
        const struct grug_edge *e = &w->r->edges[w->out[w->next[i]++]];
        if (w->seen[e->target])
            continue;
        rc = take_step (w, e);
        enter (w, e->target);
    }
    return rc;
}

static void sort_edges (struct walk *w)
{
    const struct grug_recipe *r = w->r;

    for (size_t e = 0; e < r->nedges; e++)
        w->start[r->edges[e].source + 2]++;
    for (size_t i = 1; i <= r->nnodes; i++)
        w->start[i + 1] += w->start[i];
    for (size_t e = 0; e < r->nedges; e++)
        w->out[w->start[r->edges[e].source + 1]++] = (uint32_t)e;
}

static int walk_all (struct walk *w)
{
    int rc = 0;

    sort_edges (w);
    for (size_t i = 0; i < w->r->nnodes && rc == 0; i++) {
        if (!w->seen[i])
            rc = walk_from (w, (uint32_t)i);
    }
    return rc;
}

static void *array_of (size_t n, size_t size)
{
    return calloc (n + 2, size);
}

int grug_plan_make (struct grug_plan *p, const struct grug_recipe *r, struct error *err)
{
    struct walk w = { .p = p, .r = r, .err = err };
    int rc;

    memset (p, 0, sizeof (*p));
    p->classes = array_of (2 * r->nnodes, sizeof (*p->classes));
    p->steps = array_of (r->nnodes, sizeof (*p->steps));
    w.made = array_of (r->nnodes, sizeof (*w.made));
    w.seen = array_of (r->nnodes, sizeof (*w.seen));
    w.start = array_of (r->nnodes, sizeof (*w.start));
    w.out = array_of (r->nedges, sizeof (*w.out));
    w.open = array_of (r->nnodes, sizeof (*w.open));
    w.next = array_of (r->nnodes, sizeof (*w.next));
    w.scales = array_of (r->nnodes, sizeof (*w.scales));
    if (!p->classes || !p->steps || !w.made || !w.seen || !w.start || !w.out || !w.open
        || !w.next || !w.scales)
        rc = error_no_memory (err, "grug");
    else
        rc = walk_all (&w);
    free (w.made);
    free (w.seen);
    free (w.start);
    free (w.out);
    free (w.open);
    free (w.next);
    free (w.scales);
    if (rc < 0)
        grug_plan_release (p);
    return rc;
}

void grug_plan_release (struct grug_plan *p)
{
    for (size_t s = 0; s < p->nsteps; s++) {
        if (p->steps[s].made == GRUG_NONE)
            free ((uint32_t *)p->steps[s].from.list);
        free (p->steps[s].to);
        free (p->steps[s].by_from);
        free (p->steps[s].by_to);
    }
    free (p->classes);
    free (p->steps);
    memset (p, 0, sizeof (*p));
}

/* find.c - see find.h
 *
 * An expression becomes a small tree of terms. One walk down the graph evaluates the tree
 * for each unit, and carries along the states that hold for all below a vertex (down,
 * allocated, reserved). Claims are read only where a vertex has some. A match is selected
 * as a whole, with the vertices on the way to it.
 */
#include "match/search/find.h"

#include <strings.h>

#include "common/hostlist.h"
#include "common/parse.h"

#define TERMS_MAX 1024
#define DEPTH_MAX 32
#define WORD_MAX (1 << 16)

enum kind {
    AND,
    OR,
    UP,
    DOWN,
    ALLOCATED,
    NOT_ALLOCATED,
    RESERVED,
    NOT_RESERVED,
    ALL,
    NOTHING,
    NAMES,
    PROPERTY,
    JOB_ALLOCATED,
    JOB_RESERVED,
    JOB_SPAN,
    JOB_TAG,
};

struct term {
    enum kind kind;
    struct term *left, *right; /* of AND and OR */
    char *word;                /* of PROPERTY */
    char **names;              /* of NAMES: sorted, without regard to case */
    size_t nnames;
    uint64_t job;
};

struct find {
    struct term *root;
    size_t nterms;
    bool counts;
    uint64_t job; /* of the last jobid term, 0: none */
};

/* -- terms -- */

static void term_destroy (struct term *t)
{
    if (!t)
        return;
    term_destroy (t->left);
    term_destroy (t->right);
    for (size_t i = 0; i < t->nnames; i++)
        free (t->names[i]);
    free (t->names);
    free (t->word);
    free (t);
}

static struct term *term_create (struct find *f, enum kind kind, struct error *err)
{
    if (++f->nterms > TERMS_MAX)
        return error_null (error_set (err, E2BIG, "more than %d terms", TERMS_MAX));
    struct term *t = calloc (1, sizeof (*t));
    if (!t)
        error_set (err, ENOMEM, "no memory");
    else
        t->kind = kind;
    return t;
}

static int compare_names (const void *a, const void *b)
{
    return strcasecmp (*(char *const *)a, *(char *const *)b);
}

static int set_names (struct term *t, const char *value, struct error *err)
{
    struct hostlist *hl = hostlist_decode (value, HOSTLIST_MAX, err);

    if (!hl)
        return -EINVAL;
    size_t n = hostlist_count (hl);
    t->names = calloc (n ? n : 1, sizeof (*t->names));
    while (t->names && t->nnames < n) {
        t->names[t->nnames] = strdup (hostlist_nth (hl, t->nnames));
        if (!t->names[t->nnames])
            break;
        t->nnames++;
    }
    hostlist_destroy (hl);
    if (t->nnames < n || !t->names)
        return error_set (err, ENOMEM, "no memory");
    qsort (t->names, n, sizeof (*t->names), compare_names);
    return 0;
}

/* Values that a key accepts, and their terms. */
static const struct {
    const char *key, *value;
    enum kind kind;
} fixed[] = {
    { "status", "up", UP },
    { "status", "down", DOWN },
    { "sched-now", "allocated", ALLOCATED },
    { "sched-now", "free", NOT_ALLOCATED },
    { "sched-future", "reserved", RESERVED },
    { "sched-future", "free", NOT_RESERVED },
    { "agfilter", "true", ALL },
    { "agfilter", "t", ALL },
    { "agfilter", "false", NOTHING },
    { "agfilter", "f", NOTHING },
};

/* Keys with free values. */
static const struct {
    const char *key;
    enum kind kind;
} keys[] = {
    { "names", NAMES },
    { "property", PROPERTY },
    { "jobid-alloc", JOB_ALLOCATED },
    { "jobid-reserved", JOB_RESERVED },
    { "jobid-span", JOB_SPAN },
    { "jobid-tag", JOB_TAG },
};

static int set_value (struct find *f, struct term *t, const char *key, const char *value,
                      struct error *err)
{
    int64_t job;

    switch (t->kind) {
    case NAMES:
        return set_names (t, value, err);
    case PROPERTY:
        t->word = strdup (value);
        return t->word ? 0 : error_set (err, ENOMEM, "no memory");
    default:
        if (parse_int (value, 0, INT64_MAX, &job, key, err) < 0)
            return -EINVAL;
        t->job = (uint64_t)job;
        f->job = t->job;
        return 0;
    }
}

static struct term *parse_free_value (struct find *f, const char *key, const char *value,
                                      struct error *err)
{
    struct term *t = NULL;

    for (size_t i = 0; i < ARRAY_SIZE (keys); i++) {
        if (strcmp (keys[i].key, key) != 0)
            continue;
        t = term_create (f, keys[i].kind, err);
        if (t && set_value (f, t, key, value, err) < 0) {
            term_destroy (t);
            return NULL;
        }
        return t;
    }
    return error_null (error_set (err, EINVAL, "%s: no such term", key));
}

/* word: KEY=VALUE, split in place. */
static struct term *parse_word (struct find *f, char *word, struct error *err)
{
    char *value = strchr (word, '=');
    bool known = false;

    if (!value || !value[1])
        return error_null (error_set (err, EINVAL, "%s: expected KEY=VALUE", word));
    *value++ = '\0';
    for (size_t i = 0; i < ARRAY_SIZE (fixed); i++) {
        if (strcmp (fixed[i].key, word) != 0)
            continue;
        known = true;
        if (strcasecmp (fixed[i].value, value) != 0)
            continue;
        if (!strcmp (word, "agfilter"))
            f->counts = fixed[i].kind == ALL;
        return term_create (f, fixed[i].kind, err);
    }
    if (!known)
        return parse_free_value (f, word, value, err);
    return error_null (error_set (err, EINVAL, "%s=%s: no such value", word, value));
}

/* -- the expression -- */

struct parser {
    struct find *f;
    const char *at;
    unsigned depth;
    struct error *err;
};

static struct term *parse_or (struct parser *p);

static size_t next_word (struct parser *p)
{
    p->at += strspn (p->at, " \t");
    return strcspn (p->at, " \t()");
}

static bool take_word (struct parser *p, const char *word)
{
    size_t len = next_word (p);

    if (len != strlen (word) || strncmp (p->at, word, len) != 0)
        return false;
    p->at += len;
    return true;
}

static struct term *parse_parenthesis (struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return error_null (error_set (
            p->err, EINVAL, "more than %d parentheses in each other", DEPTH_MAX));
    p->at++;
    struct term *t = parse_or (p);
    p->depth--;
    if (!t)
        return NULL;
    next_word (p);
    if (*p->at != ')') {
        error_set (p->err, EINVAL, "a parenthesis is not closed");
        term_destroy (t);
        return NULL;
    }
    p->at++;
    return t;
}

static struct term *parse_operand (struct parser *p)
{
    size_t len = next_word (p);
    autofree char *word = NULL;

    if (*p->at == '(')
        return parse_parenthesis (p);
    if (len == 0 || len > WORD_MAX)
        return error_null (error_set (p->err, EINVAL, "expected a term %s",
                                      *p->at ? "before )" : "at the end"));
    word = strndup (p->at, len);
    p->at += len;
    if (!word)
        return error_null (error_set (p->err, ENOMEM, "no memory"));
    return parse_word (p->f, word, p->err);
}

/* left OP right, both owned; right NULL: failed. */
static struct term *join (struct parser *p, enum kind kind, struct term *left,
                          struct term *right)
{
    struct term *t = right ? term_create (p->f, kind, p->err) : NULL;

    if (!t) {
        term_destroy (left);
        term_destroy (right);
        return NULL;
    }
    t->left = left;
    t->right = right;
    return t;
}

/* True if an operand follows, or "and" with one. Words in a row mean and. */
static bool and_follows (struct parser *p)
{
    size_t len = next_word (p);

    if (*p->at == '\0' || *p->at == ')')
        return false;
    return !(len == 2 && !strncmp (p->at, "or", 2));
}

static struct term *parse_and (struct parser *p)
{
    struct term *t = parse_operand (p);

    while (t && and_follows (p)) {
        take_word (p, "and");
        t = join (p, AND, t, parse_operand (p));
    }
    return t;
}

static struct term *parse_or (struct parser *p)
{
    struct term *t = parse_and (p);

    while (t && take_word (p, "or"))
        t = join (p, OR, t, parse_and (p));
    return t;
}

struct find *find_compile (const char *text, struct error *err)
{
    struct find *f = calloc (1, sizeof (*f));
    struct parser p = { .f = f, .at = text, .err = err };

    if (!f)
        return error_null (error_set (err, ENOMEM, "no memory"));
    f->root = parse_or (&p);
    next_word (&p);
    if (f->root && *p.at == '\0')
        return f;
    if (f->root)
        error_set (err, EINVAL, "a ) without its (");
    find_destroy (f);
    return NULL;
}

void find_destroy (struct find *f)
{
    if (f)
        term_destroy (f->root);
    free (f);
}

bool find_wants_counts (const struct find *f, uint64_t *ret_job)
{
    *ret_job = f->job;
    return f->counts;
}

/* -- matching vertices -- */

struct about { /* states that apply to a unit */
    bool down, allocated, reserved;
};

struct run {
    const struct find *f;
    const struct planner *p;
    const struct graph *g;
    struct selection *s;
};

static bool has_name (const struct term *t, const struct graph *g, uint32_t v,
                      uint32_t unit)
{
    char buf[256], *name = buf;

    graph_name (g, v, unit, buf, sizeof (buf));
    return bsearch (&name, t->names, t->nnames, sizeof (*t->names), compare_names);
}

static bool has_property (const struct term *t, const struct graph *g, uint32_t v,
                          uint32_t unit)
{
    const char *key, *value;

    for (size_t i = 0; graph_property_at (g, v, unit, i, &key, &value); i++) {
        if (!strcasecmp (key, t->word))
            return true;
    }
    return false;
}

static bool has_job (const struct term *t, const struct planner *p, uint32_t v,
                     uint32_t unit)
{
    struct planner_job job;

    if (!planner_find (p, t->job, &job))
        return false;
    switch (t->kind) {
    case JOB_ALLOCATED:
        return !job.reserved && planner_has (p, t->job, v, unit, false);
    case JOB_RESERVED:
        return job.reserved && planner_has (p, t->job, v, unit, false);
    case JOB_SPAN: /* if sums over what is below are kept */
        return graph_vertex (planner_graph (p), v)->first != GRAPH_NONE
               && planner_has (p, t->job, v, unit, true);
    default:
        return planner_has (p, t->job, v, unit, true);
    }
}

static bool matches (const struct run *r, const struct term *t, uint32_t v, uint32_t unit,
                     const struct about *a)
{
    switch (t->kind) {
    case AND:
        return matches (r, t->left, v, unit, a) && matches (r, t->right, v, unit, a);
    case OR:
        return matches (r, t->left, v, unit, a) || matches (r, t->right, v, unit, a);
    case UP:
        return !a->down;
    case DOWN:
        return a->down;
    case ALLOCATED:
        return a->allocated;
    case NOT_ALLOCATED:
        return !a->allocated;
    case RESERVED:
        return a->reserved;
    case NOT_RESERVED:
        return !a->reserved;
    case ALL:
        return true;
    case NOTHING:
        return false;
    case NAMES:
        return has_name (t, r->g, v, unit);
    case PROPERTY:
        return has_property (t, r->g, v, unit);
    default:
        return has_job (t, r->p, v, unit);
    }
}

static struct about about_unit (const struct run *r, uint32_t v, uint32_t unit,
                                const struct about *above)
{
    const struct graph_vertex *vertex = graph_vertex (r->g, v);
    struct about a = *above;

    a.down = a.down || !graph_is_up (r->g, v, unit);
    if (vertex->nclaims > 0) {
        a.allocated = a.allocated || planner_is_allocated (r->p, v, unit);
        a.reserved = a.reserved || planner_is_reserved (r->p, v, unit);
    }
    return a;
}

static int choose (struct run *r, uint32_t v, uint32_t unit, uint32_t count,
                   uint32_t parent)
{
    struct pick *pick = selection_add (r->s, r->g, v, unit, count, parent);

    if (!pick)
        return -ENOMEM;
    pick->exclusive = true;
    return 0;
}

/* Finds units of a vertex without children, in runs. Nothing is counted below them. */
static int find_units (struct run *r, uint32_t v, uint32_t parent,
                       const struct about *above)
{
    uint32_t n = graph_vertex (r->g, v)->n, from = 0;

    if (r->f->counts)
        return 0;
    for (uint32_t unit = 0; unit <= n; unit++) {
        if (unit < n) {
            struct about a = about_unit (r, v, unit, above);
            if (matches (r, r->f->root, v, unit, &a))
                continue;
        }
        if (unit > from && choose (r, v, from, unit - from, parent) < 0)
            return -ENOMEM;
        from = unit + 1;
    }
    return 0;
}

/* Depth is bounded by GRAPH_DEPTH_MAX. */
static int find_below (struct run *r, uint32_t v, uint32_t parent,
                       const struct about *above)
{
    size_t mine = r->s->n;

    if (graph_vertex (r->g, v)->first == GRAPH_NONE)
        return find_units (r, v, parent, above);
    struct about a = about_unit (r, v, 0, above);
    int rc = choose (r, v, 0, 1, parent);
    GRAPH_CHILDREN (r->g, v, child)
    {
        if (rc == 0)
            rc = find_below (r, child, (uint32_t)mine, &a);
    }
    if (rc == 0 && r->s->n == mine + 1 && !matches (r, r->f->root, v, 0, &a))
        r->s->n = mine;
    return rc;
}

int find_run (const struct find *f, const struct planner *p, struct selection **ret)
{
    struct run r = { .f = f, .p = p, .g = planner_graph (p), .s = selection_create () };
    struct about nothing = { .down = false };
    int rc = r.s ? 0 : -ENOMEM;

    if (rc == 0 && r.g->root != GRAPH_NONE)
        rc = find_below (&r, r.g->root, GRAPH_NONE, &nothing);
    if (rc < 0) {
        selection_destroy (r.s);
        return rc;
    }
    *ret = r.s;
    return 0;
}

/* graph_draft.c - a graph_spec, checked, in the graph's own numbers */

#include "common/printable.h"
#include "match/graph/graph_private.h"

#define WORD_MAX 63
#define UNIQ_MAX (INT64_C (1) << 62)

/* -- types -- */

const char *graph_type_name (const struct graph *g, uint16_t type)
{
    return g->p->types[type].name;
}

int graph_type_find (const struct graph *g, const char *name)
{
    const struct graph_private *p = g->p;
    uint32_t i, hash = graph_hash (p->seed, name, strlen (name));
    for (size_t at = SIZE_MAX;
         (i = table_next (&p->type_names, hash, &at)) != GRAPH_NONE;) {
        if (strcmp (p->types[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

int type_make (struct graph_private *p, const char *name)
{
    if (p->ntypes >= GRAPH_TYPES_MAX)
        return -E2BIG;
    if (array_reserve (&p->types, &p->types_alloc, p->ntypes + 1, sizeof (*p->types)) < 0
        || table_reserve (&p->type_names, 1) < 0)
        return -ENOMEM;
    char *copy = strdup (name);
    if (!copy)
        return -ENOMEM;
    table_add (&p->type_names, graph_hash (p->seed, name, strlen (name)),
               (uint32_t)p->ntypes);
    p->types[p->ntypes++] = (struct graph_type){ .name = copy };
    return 0;
}

/* Removes the last type, made for a vertex that was not added. */
static void type_undo (struct graph_private *p)
{
    autofree char *name = p->types[--p->ntypes].name;
    table_replace (&p->type_names, graph_hash (p->seed, name, strlen (name)),
                   (uint32_t)p->ntypes, GRAPH_NONE);
}

/* -- checks -- */

int check_word (const char *what, const char *word, struct error *err)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_.-";
    if (!word)
        return error_set (err, EINVAL, "%s: it is missing", what);
    size_t len = strlen (word);
    if (len < 1 || len > WORD_MAX || strspn (word, allowed) != len)
        return error_set (err, EINVAL,
                          "%s: '%.80s' is not 1 to %d letters, digits, '_', '.', '-'",
                          what, word, WORD_MAX);
    return 0;
}

/* Types of vendors' resources are "vendor.com/thing", qualified ones "gpu:a100". As '/'
 * separates names in a path, such a vertex has a name of its own. */
static int check_type (const struct graph_spec *s, struct error *err)
{
    char plain[WORD_MAX + 2];

    if (!s->type || !s->basename)
        return check_word ("type", s->type, err);
    snprintf (plain, sizeof (plain), "%s", s->type);
    for (char *c = plain; (c = strpbrk (c, "/:"));)
        *c = '_';
    return check_word ("type", plain, err);
}

static int check_name (const char *what, const char *name, struct error *err)
{
    if (!name)
        return 0;
    size_t len = strlen (name);
    if (len < 1 || len > GRAPH_NAME_MAX)
        return error_set (err, EINVAL, "%s: '%.80s' is not 1 to %d characters long", what,
                          name, GRAPH_NAME_MAX);
    if (strchr (name, '/'))
        return error_set (err, EINVAL, "%s: '%.80s' has a '/'", what, name);
    return printable_check (name, what, err);
}

static int check_number (const char *what, int64_t n, int64_t min, int64_t max,
                         struct error *err)
{
    if (n >= min && n <= max)
        return 0;
    return error_set (err, EINVAL, "%s: %jd is not from %jd to %jd", what, (intmax_t)n,
                      (intmax_t)min, (intmax_t)max);
}

/* More than one unit: only leaves with different ids. */
static int check_group (const struct graph_spec *s, struct error *err)
{
    const char *bar = strcmp (s->type, "node") == 0 ? "a node is a vertex of its own"
                      : s->flags & GRAPH_DIVISIBLE  ? "a divisible vertex has one unit"
                      : s->name                     ? "one name cannot be that of several"
                      : s->id < 0                   ? "several need an id"
                                                    : NULL;
    if (bar)
        return error_set (err, EINVAL, "count: %u %s: %s", s->count, s->type, bar);
    return check_number ("count", s->count, 1, GRAPH_UNITS_MAX, err);
}

static int check_spec (const struct graph_spec *s, struct error *err)
{
    int rc;
    uint32_t count = MAX (s->count, 1);
    if ((rc = check_type (s, err)) < 0
        || (rc = check_name ("basename", s->basename, err)) < 0
        || (rc = check_name ("name", s->name, err)) < 0
        || (count > 1 && (rc = check_group (s, err)) < 0))
        return rc;
    if (s->unit && strlen (s->unit) > WORD_MAX)
        return error_set (err, EINVAL, "unit: '%.80s' is longer than %d characters",
                          s->unit, WORD_MAX);
    if ((s->flags & ~GRAPH_SPEC_FLAGS) != 0)
        return error_set (err, EINVAL, "flags: %d are not for the caller to set",
                          s->flags);
    if ((rc = check_number ("id", s->id, -1, (int64_t)INT32_MAX - count + 1, err)) < 0
        || (rc = check_number ("size", s->size, 0, GRAPH_SIZE_MAX, err)) < 0
        || (rc = check_number ("uniq", s->uniq, -1, UNIQ_MAX, err)) < 0)
        return rc;
    return check_number ("rank", s->rank, -1, INT32_MAX, err);
}

static int check_parent (const struct graph *g, uint32_t parent, uint32_t count,
                         struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };
    if (parent == GRAPH_NONE && g->root != GRAPH_NONE)
        return error_set (err, EEXIST, "%s is the root already",
                          names_path (g, g->root, &sb));
    if (parent == GRAPH_NONE)
        return count == 1 ? 0 : error_set (err, EINVAL, "count: %u roots", count);
    if (!graph_is_live (g, parent))
        return error_set (err, EINVAL, "parent: there is no vertex %u", parent);
    const struct graph_vertex *x = graph_vertex (g, parent);
    if (x->n > 1)
        return error_set (err, EINVAL,
                          "%s is one of a group of %u leaves: nothing can be below it",
                          names_path (g, parent, &sb), x->n);
    if (further_depth (g, parent) + 1 >= GRAPH_DEPTH_MAX)
        return error_set (err, E2BIG, "%s: more than %d levels",
                          names_path (g, parent, &sb), GRAPH_DEPTH_MAX);
    return 0;
}

/* -- the draft -- */

static bool is_default_name (const struct graph_spec *s, const char *base)
{
    size_t len = strlen (base);
    char id[16] = "";
    if (s->id >= 0)
        snprintf (id, sizeof (id), "%d", (int)s->id);
    return strncmp (s->name, base, len) == 0 && strcmp (s->name + len, id) == 0;
}

static int draft_extra (struct graph *g, struct draft *d, struct error *err)
{
    struct graph_private *p = g->p;
    const struct graph_spec *s = d->spec;
    const char *base = s->basename ? s->basename : s->type;
    struct extra e = { 0 };
    int rc = set_get (p, s->properties, &e.properties, err);
    if (rc < 0)
        return rc;
    bool named = s->name && !is_default_name (s, base);
    e.basename = text_get (p, strcmp (base, s->type) == 0 ? NULL : base);
    e.name = text_get (p, named ? s->name : NULL);
    e.unit = text_get (p, s->unit && s->unit[0] ? s->unit : NULL);
    d->title = (struct title){ named ? s->name : base, 0, named ? -1 : s->id, d->count };
    d->title.len = strlen (d->title.text);
    if (e.basename == GRAPH_NONE || e.name == GRAPH_NONE || e.unit == GRAPH_NONE) {
        text_put (p, e.basename);
        text_put (p, e.name);
        text_put (p, e.unit);
        set_put (p, e.properties);
        rc = -ENOMEM;
    } else {
        rc = extra_get (p, &e, &d->extra);
    }
    return rc < 0 ? error_set (err, ENOMEM, "out of memory") : 0;
}

static int draft_type (struct graph *g, struct draft *d, struct error *err)
{
    int type = graph_type_find (g, d->spec->type);
    if (type < 0) {
        int rc = type_make (g->p, d->spec->type);
        if (rc == -E2BIG)
            return error_set (err, E2BIG, "type: '%s' is one more than %d", d->spec->type,
                              GRAPH_TYPES_MAX);
        if (rc < 0)
            return error_set (err, ENOMEM, "out of memory");
        type = (int)g->p->ntypes - 1;
        d->new_type = true;
    }
    d->type = (uint16_t)type;
    return 0;
}

void draft_drop (struct graph *g, struct draft *d)
{
    extra_put (g->p, d->extra);
    if (d->new_type)
        type_undo (g->p);
}

int draft_make (struct graph *g, const struct graph_spec *spec, uint32_t parent,
                struct draft *ret, struct error *err)
{
    int rc;
    *ret = (struct draft){ .spec = spec,
                           .count = MAX (spec->count, 1),
                           .size = spec->size ? spec->size : 1,
                           .flags = spec->flags };
    if ((rc = check_spec (spec, err)) < 0
        || (rc = check_parent (g, parent, ret->count, err)) < 0
        || (rc = draft_type (g, ret, err)) < 0)
        return rc;
    if ((rc = draft_extra (g, ret, err)) < 0)
        draft_drop (g, ret);
    return rc;
}

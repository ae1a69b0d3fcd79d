/* constraint.c - see constraint.h. Host names are sorted by hash and name, so that a
 * look-up compares numbers, and no choice of names makes it slow; ranks are one set.
 */

#include "common/hostlist.h"
#include "jobspec/attributes/requires.h"
#include "match/request/constraint.h"

#define LEVELS_MAX 32
#define OPERATORS_MAX 1000
#define PROPERTIES_MAX 1000

enum op { OP_AND, OP_OR, OP_NOT, OP_PROPERTIES, OP_HOSTLIST, OP_RANKS };

struct word {
    char *text;
    uint64_t hash; /* of the host name */
};

struct constraint {
    enum op op;
    struct constraint **args; /* of and, or, not */
    struct word *words;       /* properties as written, or host names, sorted */
    size_t nargs, nwords, alloc;
    struct idset *ranks;
};

/* Counts are over the whole constraint, as each operator and property is evaluated for a
 * node. */
struct compiler {
    unsigned levels, operators, properties;
    size_t hosts;
    struct error *err;
};

static struct constraint *compile_object (struct compiler *cc, const json_t *o);

void constraint_destroy (struct constraint *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->nargs; i++)
        constraint_destroy (c->args[i]);
    for (size_t i = 0; i < c->nwords; i++)
        free (c->words[i].text);
    free (c->args);
    free (c->words);
    idset_destroy (c->ranks);
    free (c);
}

/* -- compile: each value of an operator's list is added by the operator's own function
 * -- */

/* FNV-1a, 64 bits (draft-eastlake-fnv). */
static uint64_t hash_of (const char *text)
{
    uint64_t h = UINT64_C (0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C (0x100000001b3);
    return h;
}

static int add_word (struct compiler *cc, struct constraint *c, const char *word)
{
    if (array_reserve (&c->words, &c->alloc, c->nwords + 1, sizeof (*c->words)) < 0)
        return error_set (cc->err, ENOMEM, "constraints: out of memory");
    char *text = strdup (word);
    if (!text)
        return error_set (cc->err, ENOMEM, "constraints: out of memory");
    c->words[c->nwords++] = (struct word){ text, hash_of (word) };
    return 0;
}

static int add_arg (struct compiler *cc, struct constraint *c, const json_t *v)
{
    struct constraint **args =
        realloc (c->args, (c->nargs + 1) * sizeof (struct constraint *));
    if (!args)
        return error_set (cc->err, ENOMEM, "constraints: out of memory");
    c->args = args;
    if (!(c->args[c->nargs] = compile_object (cc, v)))
        return -EINVAL;
    c->nargs++;
    return 0;
}

static int add_property (struct compiler *cc, struct constraint *c, const json_t *v)
{
    const char *name = json_string_value (v);
    const char *bare = name + (*name == '^');
    if (!*bare || strpbrk (bare, "!&'\"^`|()"))
        return error_set (cc->err, EINVAL, "constraints: '%s' is not a property's name",
                          name);
    if (++cc->properties > PROPERTIES_MAX)
        return error_set (cc->err, E2BIG, "constraints: more than %d properties",
                          PROPERTIES_MAX);
    return add_word (cc, c, name);
}

static int add_hosts (struct compiler *cc, struct constraint *c, const json_t *v)
{
    struct hostlist *hl = hostlist_decode (json_string_value (v),
                                           JOBSPEC_HOSTS_MAX - cc->hosts, cc->err);
    if (!hl)
        return error_prefix (cc->err, "constraints: hostlist");
    int rc = 0;
    cc->hosts += hostlist_count (hl);
    for (size_t i = 0; rc == 0 && i < hostlist_count (hl); i++)
        rc = add_word (cc, c, hostlist_nth (hl, i));
    hostlist_destroy (hl);
    return rc;
}

/* Accepts one rank as a number, as Fluxion does. */
static struct idset *read_ranks (const json_t *v, struct error *err)
{
    char text[24];

    if (json_is_string (v))
        return idset_decode (json_string_value (v), IDSET_MAX, err);
    snprintf (text, sizeof (text), "%" JSON_INTEGER_FORMAT, json_integer_value (v));
    return idset_decode (text, 1, err);
}

static struct idset *unite_ranks (struct compiler *cc, const json_t *values)
{
    struct idset *all = NULL, **sets = calloc (json_array_size (values), sizeof (*sets));
    size_t n = 0;
    json_t *v;

    if (!sets)
        error_set (cc->err, ENOMEM, "constraints: out of memory");
    while (sets && (v = json_array_get (values, n))
           && (sets[n] = read_ranks (v, cc->err)))
        n++;
    if (sets && n < json_array_size (values))
        error_prefix (cc->err, "constraints: ranks");
    else if (sets && !(all = idset_unite (sets, n)))
        error_set (cc->err, ENOMEM, "constraints: out of memory");
    while (n > 0)
        idset_destroy (sets[--n]);
    free (sets);
    return all;
}

static const struct op_kind {
    const char *name;
    bool of_strings; /* otherwise of objects */
    int (*add) (struct compiler *cc, struct constraint *c, const json_t *v); /* or NULL */
} operators[] = {
    [OP_AND] = { "and", false, add_arg },
    [OP_OR] = { "or", false, add_arg },
    [OP_NOT] = { "not", false, add_arg },
    [OP_PROPERTIES] = { "properties", true, add_property },
    [OP_HOSTLIST] = { "hostlist", true, add_hosts },
    [OP_RANKS] = { "ranks", true, NULL }, /* all at once, see unite_ranks() */
};

static int compare_words (const void *a, const void *b)
{
    const struct word *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return strcmp (x->text, y->text);
}

static bool is_value (enum op op, const json_t *v)
{
    if (op == OP_RANKS && json_is_integer (v))
        return true;
    return operators[op].of_strings ? json_is_string (v) : json_is_object (v);
}

static int finish_values (struct compiler *cc, struct constraint *c, const json_t *values)
{
    size_t n = json_array_size (values);

    if (c->op == OP_NOT && c->nargs > 1)
        return error_set (cc->err, EINVAL, "constraints: not: takes one value, got %zu",
                          c->nargs);
    if (c->op == OP_RANKS && n > 0 && !(c->ranks = unite_ranks (cc, values)))
        return -EINVAL;
    if ((c->op == OP_HOSTLIST && c->nwords == 0)
        || (c->op == OP_RANKS && (!c->ranks || idset_count (c->ranks) == 0)))
        return error_set (cc->err, EINVAL, "constraints: %s: names no node",
                          operators[c->op].name);
    if (c->op == OP_HOSTLIST)
        qsort (c->words, c->nwords, sizeof (*c->words), compare_words);
    return 0;
}

static int compile_values (struct compiler *cc, struct constraint *c,
                           const json_t *values)
{
    const struct op_kind *op = &operators[c->op];
    if (!json_is_array (values))
        return error_set (cc->err, EINVAL, "constraints: %s: expected an array, got %s",
                          op->name, json_type_name (values));
    size_t i;
    json_t *v;
    json_array_foreach (values, i, v) {
        if (!is_value (c->op, v))
            return error_set (
                cc->err, EINVAL, "constraints: %s[%zu]: expected %s, got %s", op->name, i,
                op->of_strings ? "a string" : "an object", json_type_name (v));
        int rc = op->add ? op->add (cc, c, v) : 0;
        if (rc < 0)
            return rc;
    }
    return finish_values (cc, c, values);
}

static struct constraint *compile_operator (struct compiler *cc, const char *name,
                                            const json_t *values)
{
    size_t op = 0;
    while (op < ARRAY_SIZE (operators) && strcmp (operators[op].name, name) != 0)
        op++;
    if (op == ARRAY_SIZE (operators))
        return error_null (error_set (cc->err, EINVAL,
                                      "constraints: unknown operator '%s' (and, or, not, "
                                      "properties, hostlist, ranks)",
                                      name));
    struct constraint *c = calloc (1, sizeof (*c));
    if (!c)
        return error_null (error_set (cc->err, ENOMEM, "constraints: out of memory"));
    c->op = (enum op)op;
    if (compile_values (cc, c, values) < 0) {
        constraint_destroy (c);
        return NULL;
    }
    return c;
}

static struct constraint *compile_object (struct compiler *cc, const json_t *o)
{
    if (!json_is_object (o))
        return error_null (error_set (cc->err, EINVAL,
                                      "constraints: expected an object, got %s",
                                      json_type_name (o)));
    struct constraint *all = calloc (1, sizeof (*all)); /* OP_AND */
    if (!all)
        return error_null (error_set (cc->err, ENOMEM, "constraints: out of memory"));
    const char *name;
    json_t *values;
    cc->levels++;
    json_object_foreach ((json_t *)o, name, values) {
        struct constraint **args = NULL;
        if (cc->levels > LEVELS_MAX || ++cc->operators > OPERATORS_MAX)
            error_set (cc->err, E2BIG, "constraints: more than %d levels or %d operators",
                       LEVELS_MAX, OPERATORS_MAX);
        else if (!(args = realloc (all->args, (all->nargs + 1) * sizeof (*args))))
            error_set (cc->err, ENOMEM, "constraints: out of memory");
        if (args)
            all->args = args;
        if (!args || !(args[all->nargs] = compile_operator (cc, name, values))) {
            constraint_destroy (all);
            return NULL;
        }
        all->nargs++;
    }
    cc->levels--;
    if (all->nargs != 1)
        return all;
    struct constraint *only = all->args[0];
    all->nargs = 0;
    constraint_destroy (all);
    return only;
}

struct constraint *constraint_compile (const json_t *o, struct error *err)
{
    struct compiler cc = { .err = err };
    return compile_object (&cc, o);
}

/* -- evaluate -- */

/* The vertex and unit in question. */
struct subject {
    const struct graph *g;
    uint32_t v, unit;
    struct word name; /* text NULL until needed */
    char buf[288];    /* for the name */
};

static bool has_all_words (const struct constraint *c, const struct subject *s)
{
    for (size_t i = 0; i < c->nwords; i++) {
        const char *word = c->words[i].text;
        bool forbidden = *word == '^';
        if ((graph_property (s->g, s->v, s->unit, word + forbidden) != NULL) == forbidden)
            return false;
    }
    return true;
}

static bool is_in_hostlist (const struct constraint *c, struct subject *s)
{
    if (!s->name.text) {
        graph_name (s->g, s->v, s->unit, s->buf, sizeof (s->buf));
        s->name.text = s->buf;
        s->name.hash = hash_of (s->name.text);
    }
    return bsearch (&s->name, c->words, c->nwords, sizeof (*c->words), compare_words);
}

static bool is_in_ranks (const struct constraint *c, const struct subject *s)
{
    int rank = graph_vertex (s->g, s->v)->rank;

    return rank >= 0 && idset_has (c->ranks, (uint32_t)rank);
}

static bool allows (const struct constraint *c, struct subject *s);

static bool allows_arg (const struct constraint *c, struct subject *s, bool wanted)
{
    for (size_t i = 0; i < c->nargs; i++) {
        if (allows (c->args[i], s) == wanted)
            return true;
    }
    return false;
}

static bool allows (const struct constraint *c, struct subject *s)
{
    switch (c->op) {
    case OP_AND:
        return !allows_arg (c, s, false);
    case OP_OR:
        return c->nargs == 0 || allows_arg (c, s, true);
    case OP_NOT:
        return c->nargs == 1 && !allows (c->args[0], s);
    case OP_PROPERTIES:
        return has_all_words (c, s);
    case OP_HOSTLIST:
        return is_in_hostlist (c, s);
    case OP_RANKS:
        return is_in_ranks (c, s);
    }
    return false;
}

bool constraint_allows_vertex (const struct constraint *c, const struct graph *g,
                               uint32_t v, uint32_t unit)
{
    struct subject s;

    if (!c)
        return true;
    s.g = g;
    s.v = v;
    s.unit = unit;
    s.name.text = NULL;
    return allows (c, &s);
}

/* Skips *i of them. */
static const char *property (const struct constraint *c, size_t *i)
{
    const char *found = NULL;

    for (size_t k = 0; c->op == OP_PROPERTIES && k < c->nwords; k++)
        if (*c->words[k].text != '^' && (*i)-- == 0)
            return c->words[k].text;
    for (size_t k = 0; c->op == OP_AND && k < c->nargs && !found; k++)
        found = property (c->args[k], i);
    return found;
}

const char *constraint_property (const struct constraint *c, size_t i)
{
    return c ? property (c, &i) : NULL;
}

/* -- why nothing is allowed -- */

#define HOSTS_SHOWN 4

static void add_why_hosts (const struct constraint *c, struct strbuf *sb)
{
    if (c->nwords > HOSTS_SHOWN) {
        strbuf_addf (sb, ": none is one of the %zu that it names", c->nwords);
        return;
    }
    for (size_t i = 0; i < c->nwords; i++)
        strbuf_addf (sb, "%s%s", i ? " or " : ": none is ", c->words[i].text);
}

void constraint_add_why (const struct constraint *c, constraint_some_f *some,
                         const void *arg, struct strbuf *sb)
{
    if (c->op == OP_HOSTLIST)
        add_why_hosts (c, sb);
    for (size_t i = 0; c->op == OP_PROPERTIES && i < c->nwords; i++) {
        struct constraint one = { .op = c->op, .words = &c->words[i], .nwords = 1 };
        bool forbidden = *c->words[i].text == '^';
        if (some (&one, arg))
            continue;
        strbuf_addf (sb, ": %s the property %s", forbidden ? "all have" : "none has",
                     c->words[i].text + forbidden);
        return;
    }
    for (size_t i = 0; c->op == OP_AND && i < c->nargs; i++) {
        if (some (c->args[i], arg))
            continue;
        constraint_add_why (c->args[i], some, arg, sb);
        return;
    }
}

#include <errno.h>
#include <string.h>

#include "common/hostlist.h"
#include "match/constraint.h"

#define LEVELS_MAX 32
#define OPERATORS_MAX 1000
#define HOSTS_MAX 65536

enum op { OP_AND, OP_OR, OP_NOT, OP_PROPERTIES, OP_HOSTLIST, OP_RANKS };

struct constraint {
    enum op op;
    struct constraint **args; /* of and, or, not */
    char **words;             /* properties as written, or host names, sorted */
    size_t nargs, nwords, alloc;
    struct idset *ranks;
};

struct compiler {
    unsigned levels, operators;
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
        free (c->words[i]);
    free (c->args);
    free (c->words);
    idset_destroy (c->ranks);
    free (c);
}

size_t constraint_memory (const struct constraint *c)
{
    if (!c)
        return 0;
    size_t sum =
        sizeof (*c) + c->nargs * sizeof (*c->args) + c->alloc * sizeof (*c->words);
    for (size_t i = 0; i < c->nargs; i++)
        sum += constraint_memory (c->args[i]);
    for (size_t i = 0; i < c->nwords; i++)
        sum += strlen (c->words[i]) + 1;
    return sum;
}

/* -- compile: each value of an operator's list is added by the operator's own function
 * -- */

static int add_word (struct compiler *cc, struct constraint *c, const char *word)
{
    if (c->nwords == HOSTS_MAX)
        return error_set (cc->err, E2BIG, "constraints: more than %d names", HOSTS_MAX);
    if (c->nwords == c->alloc) {
        size_t more = c->alloc ? 2 * c->alloc : 4;
        char **words = realloc (c->words, more * sizeof (*words));
        if (!words)
            return error_set (cc->err, ENOMEM, "constraints: out of memory");
        c->words = words;
        c->alloc = more;
    }
    if (!(c->words[c->nwords] = strdup (word)))
        return error_set (cc->err, ENOMEM, "constraints: out of memory");
    c->nwords++;
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
    return add_word (cc, c, name);
}

static int add_hosts (struct compiler *cc, struct constraint *c, const json_t *v)
{
    struct hostlist *hl = hostlist_decode (json_string_value (v), cc->err);
    if (!hl)
        return error_prefix (cc->err, "constraints: hostlist");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < hostlist_count (hl); i++)
        rc = add_word (cc, c, hostlist_nth (hl, i));
    hostlist_destroy (hl);
    return rc;
}

static int add_ranks (struct compiler *cc, struct constraint *c, const json_t *v)
{
    struct idset *ids = idset_decode (json_string_value (v), cc->err);
    if (!ids)
        return error_prefix (cc->err, "constraints: ranks");
    if (!c->ranks) {
        c->ranks = ids;
        return 0;
    }
    int rc = 0;
    for (uint32_t first = idset_first (ids), last; rc == 0 && first != IDSET_END;
         first = idset_next (ids, last)) {
        for (last = first; idset_has (ids, last + 1);)
            last++;
        rc = idset_add_range (c->ranks, first, last);
    }
    idset_destroy (ids);
    return rc < 0 ? error_set (cc->err, ENOMEM, "constraints: out of memory") : 0;
}

static const struct op_kind {
    const char *name;
    bool of_strings; /* else of objects */
    int (*add) (struct compiler *cc, struct constraint *c, const json_t *v);
} operators[] = {
    [OP_AND] = { "and", false, add_arg },
    [OP_OR] = { "or", false, add_arg },
    [OP_NOT] = { "not", false, add_arg },
    [OP_PROPERTIES] = { "properties", true, add_property },
    [OP_HOSTLIST] = { "hostlist", true, add_hosts },
    [OP_RANKS] = { "ranks", true, add_ranks },
};

static int compare_words (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
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
        if (op->of_strings ? !json_is_string (v) : !json_is_object (v))
            return error_set (
                cc->err, EINVAL, "constraints: %s[%zu]: expected %s, got %s", op->name, i,
                op->of_strings ? "a string" : "an object", json_type_name (v));
        int rc = op->add (cc, c, v);
        if (rc < 0)
            return rc;
    }
    if (c->op == OP_NOT && c->nargs > 1)
        return error_set (cc->err, EINVAL, "constraints: not: takes one value, got %zu",
                          c->nargs);
    if ((c->op == OP_HOSTLIST && c->nwords == 0)
        || (c->op == OP_RANKS && (!c->ranks || idset_count (c->ranks) == 0)))
        return error_set (cc->err, EINVAL, "constraints: %s: names no node", op->name);
    if (c->op == OP_HOSTLIST)
        qsort (c->words, c->nwords, sizeof (*c->words), compare_words);
    return 0;
}

static struct constraint *compile_operator (struct compiler *cc, const char *name,
                                            const json_t *values)
{
    size_t op = 0;
    while (op < ARRAY_SIZE (operators) && strcmp (operators[op].name, name) != 0)
        op++;
    if (op == ARRAY_SIZE (operators)) {
        error_set (cc->err, EINVAL,
                   "constraints: unknown operator '%s' (and, or, not, "
                   "properties, hostlist, ranks)",
                   name);
        return NULL;
    }
    struct constraint *c = calloc (1, sizeof (*c));
    if (!c) {
        error_set (cc->err, ENOMEM, "constraints: out of memory");
        return NULL;
    }
    c->op = (enum op)op;
    if (compile_values (cc, c, values) < 0) {
        constraint_destroy (c);
        return NULL;
    }
    return c;
}

static struct constraint *compile_object (struct compiler *cc, const json_t *o)
{
    if (!json_is_object (o)) {
        error_set (cc->err, EINVAL, "constraints: expected an object, got %s",
                   json_type_name (o));
        return NULL;
    }
    struct constraint *all = calloc (1, sizeof (*all)); /* OP_AND */
    if (!all) {
        error_set (cc->err, ENOMEM, "constraints: out of memory");
        return NULL;
    }
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

static bool allows_all_words (const struct constraint *c, const struct machine_node *n)
{
    for (size_t i = 0; i < c->nwords; i++) {
        const char *word = c->words[i];
        bool forbidden = *word == '^';
        if (machine_node_has_property (n, word + forbidden) == forbidden)
            return false;
    }
    return true;
}

static bool allows_arg (const struct constraint *c, const struct machine_node *n,
                        bool wanted)
{
    for (size_t i = 0; i < c->nargs; i++) {
        if (constraint_allows (c->args[i], n) == wanted)
            return true;
    }
    return false;
}

bool constraint_allows (const struct constraint *c, const struct machine_node *n)
{
    if (!c)
        return true;
    switch (c->op) {
    case OP_AND:
        return !allows_arg (c, n, false);
    case OP_OR:
        return c->nargs == 0 || allows_arg (c, n, true);
    case OP_NOT:
        return c->nargs == 1 && !constraint_allows (c->args[0], n);
    case OP_PROPERTIES:
        return allows_all_words (c, n);
    case OP_HOSTLIST:
        return bsearch (&n->name, c->words, c->nwords, sizeof (*c->words), compare_words);
    case OP_RANKS:
        return idset_has (c->ranks, (uint32_t)n->index);
    }
    return false;
}

/* requires.c - see requires.h. One function a level of the grammar:
 *
 *     any     all { ("|" | "or") all }
 *     all     one { ["&" | "and"] one }
 *     one     ("not" | "-") one | "(" any ")" | [OPERATOR ":"] NAME
 */
#include "jobspec/attributes/requires.h"

#include "common/hostlist.h"
#include "common/idset.h"

#define DEPTH_MAX 16
#define NAME_BYTES 1024

struct reader {
    const char *p;
    const char *text, *where;
    unsigned depth;
    struct error *err;
};

static const struct operator_name {
    const char *name, *canonical;
} operator_names[] = { { "property", "properties" }, { "properties", "properties" },
                       { "host", "hostlist" },       { "hosts", "hostlist" },
                       { "hostlist", "hostlist" },   { "rank", "ranks" },
                       { "ranks", "ranks" } };

static json_t *read_any (struct reader *r);

static json_t *fail (struct reader *r, const char *what)
{
    if (r->err && !r->err->code)
        error_set (r->err, EINVAL, "%s: '%.200s': %s", r->where, r->text, what);
    return NULL;
}

static json_t *no_memory (struct reader *r)
{
    return error_null (error_no_memory (r->err, r->where));
}

static void skip_blanks (struct reader *r)
{
    r->p += strspn (r->p, " \t");
}

/* Take a whole word: "or", but not the start of "orange". */
static bool take_word (struct reader *r, const char *word)
{
    size_t n = strlen (word);

    skip_blanks (r);
    if (strncmp (r->p, word, n) != 0 || (r->p[n] && !strchr (" \t(\"'", r->p[n])))
        return false;
    r->p += n;
    return true;
}

/* Take a sign, single or doubled: & or &&. */
static bool take_sign (struct reader *r, char c)
{
    skip_blanks (r);
    if (*r->p != c)
        return false;
    r->p += c != '-' && r->p[1] == c ? 2 : 1;
    return true;
}

/* -- names -- */

static json_t *hosts_object (struct reader *r, const char *hosts)
{
    return requires_hosts (hosts, r->where, NULL, r->err);
}

static json_t *ranks_object (struct reader *r, const char *ranks)
{
    struct idset *ids = idset_decode (ranks, IDSET_MAX, NULL);
    bool fine = ids && idset_count (ids) > 0;

    idset_destroy (ids);
    if (!fine)
        return fail (r, "after rank: come numbers, as in 0-3,7");
    return json_pack ("{s:[s]}", "ranks", ranks);
}

static json_t *property_object (struct reader *r, const char *name)
{
    const char *bare = name + (*name == '^');

    if (strpbrk (bare, "*[]"))
        return fail (r,
                     "counts (gpu*2) and [a|b] are not supported; a|b means any of both");
    if (!*bare || strpbrk (bare, "!&'\"^`|(),"))
        return fail (r, "a property's name cannot contain ! & ' \" ^ ` | ( ) ,");
    return json_pack ("{s:[s]}", "properties", name);
}

/* The operator before a ':' at *name, such as "host"; advances *name past the ':'. */
static const char *operator_of (struct reader *r, const char **name)
{
    const char *colon = strchr (*name, ':');
    size_t n = colon ? (size_t)(colon - *name) : 0;

    if (!colon)
        return "properties";
    for (size_t i = 0; i < ARRAY_SIZE (operator_names); i++) {
        if (strlen (operator_names[i].name) == n
            && strncmp (operator_names[i].name, *name, n) == 0) {
            *name = colon + 1;
            return operator_names[i].canonical;
        }
    }
    fail (r, "expected host, rank or property before ':'");
    return NULL;
}

/* Read a name up to the next sign of the grammar; quoted parts are taken literally,
 * without their quotes. */
static int read_name (struct reader *r, struct strbuf *sb)
{
    char quote = '\0';

    skip_blanks (r);
    for (; *r->p && (quote || !strchr (" \t()|&", *r->p)); r->p++) {
        if (quote && *r->p == quote)
            quote = '\0';
        else if (!quote && (*r->p == '"' || *r->p == '\''))
            quote = *r->p;
        else
            strbuf_addch (sb, *r->p);
    }
    if (quote)
        fail (r, "a quote has no end");
    else if (sb->err)
        fail (r, "a name is too long");
    else if (sb->len == 0)
        fail (r, *r->p ? "a name is missing" : "it ends too early");
    else
        return 0;
    return -EINVAL;
}

static json_t *read_term (struct reader *r)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (NAME_BYTES);

    if (read_name (r, &sb) < 0)
        return NULL;
    const char *name = sb.buf, *op = operator_of (r, &name);
    if (!op)
        return NULL;
    if (!strcmp (op, "hostlist"))
        return hosts_object (r, name);
    return !strcmp (op, "ranks") ? ranks_object (r, name) : property_object (r, name);
}

/* -- operators -- */

static json_t *read_one (struct reader *r)
{
    json_t *o;

    if (r->depth >= DEPTH_MAX)
        return fail (r, "too many parentheses and nots in each other");
    r->depth++;
    if (take_word (r, "not") || take_sign (r, '-')) {
        o = read_one (r);
        o = o ? json_pack ("{s:[o]}", "not", o) : NULL;
    } else if (*r->p == '(') {
        r->p++;
        o = read_any (r);
        skip_blanks (r);
        if (o && *r->p != ')') {
            json_decref (o);
            o = fail (r, "a ')' is missing");
        }
        r->p += o != NULL;
    } else {
        o = read_term (r);
    }
    r->depth--;
    return o;
}

/* Whether another element follows without a sign in between. */
static bool goes_on (struct reader *r)
{
    skip_blanks (r);
    if (!*r->p || *r->p == ')' || *r->p == '|')
        return false;
    const char *before = r->p;
    bool is_or = take_word (r, "or");
    r->p = before;
    return !is_or;
}

/* {op: list}, or the only element of the list; steals the list. */
static json_t *join (struct reader *r, const char *op, json_t *list)
{
    json_t *o = json_array_size (list) == 1 ? json_incref (json_array_get (list, 0))
                                            : json_pack ("{s:O}", op, list);

    json_decref (list);
    return o ? o : no_memory (r);
}

/* Append o to the list. False: o is NULL or there is no memory, and the list is freed. */
static bool append (json_t *list, json_t *o)
{
    if (json_array_append_new (list, o) == 0)
        return true;
    json_decref (list);
    return false;
}

static json_t *read_all (struct reader *r)
{
    json_t *list = json_array ();

    if (!append (list, read_one (r)))
        return NULL;
    while (goes_on (r)) {
        if (!take_sign (r, '&'))
            take_word (r, "and");
        if (!append (list, read_one (r)))
            return NULL;
    }
    return join (r, "and", list);
}

static json_t *read_any (struct reader *r)
{
    json_t *list = json_array ();

    if (!append (list, read_all (r)))
        return NULL;
    while (take_sign (r, '|') || take_word (r, "or"))
        if (!append (list, read_all (r)))
            return NULL;
    return join (r, "or", list);
}

json_t *requires_parse (const char *text, const char *where, struct error *err)
{
    struct error own = { 0 };
    struct reader r = {
        .p = text, .text = text, .where = where, .err = err ? err : &own
    };

    r.err->code = 0;
    if (strlen (text) > REQUIRES_MAX)
        return error_null (
            error_set (r.err, E2BIG, "%s: more than %d bytes", where, REQUIRES_MAX));
    json_t *o = read_any (&r);
    skip_blanks (&r);
    if (o && *r.p) {
        json_decref (o);
        o = fail (&r, "there is one ')' too many");
    }
    if (!o && !r.err->code)
        no_memory (&r);
    return o;
}

static int by_name (const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp (*x, *y);
}

/* The number of different names; a name counts once. SIZE_MAX: no memory. */
static size_t count_names (const struct hostlist *hl)
{
    size_t n = hostlist_count (hl), different = 0;
    const char **names = calloc (n + 1, sizeof (*names));

    if (!names)
        return SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        names[i] = hostlist_nth (hl, i);
    qsort (names, n, sizeof (*names), by_name);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || strcmp (names[i - 1], names[i]) != 0;
    free (names);
    return different;
}

json_t *requires_hosts (const char *hosts, const char *where, uint32_t *ret_n,
                        struct error *err)
{
    autohostlist struct hostlist *hl = hostlist_decode (hosts, JOBSPEC_HOSTS_MAX, err);
    size_t n = hl ? count_names (hl) : 0;

    if (n == SIZE_MAX)
        return error_null (error_no_memory (err, where));
    if (!hl)
        error_prefix (err, "%s", where);
    else if (n == 0)
        error_set (err, EINVAL, "%s: needs names of nodes, as in node[1-4]", where);
    if (n == 0)
        return NULL;
    if (ret_n)
        *ret_n = (uint32_t)n;
    json_t *o = json_pack ("{s:[s]}", "hostlist", hosts);
    if (!o)
        error_no_memory (err, where);
    return o;
}

/* dependency.c - see dependency.h
 */
#include "jobspec/attributes/dependency.h"

#include <math.h>

#include "common/parse.h"
#include "jobspec/attributes/array.h"

#define TEXT_MAX (64 * 1024)
#define MINUTES_MAX ((int64_t)(DEPENDENCY_DELAY_MAX / 60))
#define BEGIN_MAX 1e10 /* the year 2286 */
#define KINDS "after, afterany, afterok, afternotok, aftercorr, singleton"

static const char *const names[] = {
    [DEPENDENCY_AFTER] = "after",         [DEPENDENCY_AFTERANY] = "afterany",
    [DEPENDENCY_AFTEROK] = "afterok",     [DEPENDENCY_AFTERNOTOK] = "afternotok",
    [DEPENDENCY_AFTERCORR] = "aftercorr", [DEPENDENCY_SINGLETON] = "singleton",
};

static int kind_of (const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        if (!strcmp (name, names[i]))
            return (int)i;
    }
    return -1;
}

void dependencies_release (struct dependencies *d)
{
    free (d->list);
    *d = (struct dependencies){ 0 };
}

/* Make room for n more dependencies. */
static int grow (struct dependencies *d, size_t n, const char *where, struct error *err)
{
    struct dependency *more;

    if (n > DEPENDENCIES_MAX || d->n + n > DEPENDENCIES_MAX)
        return error_set (err, ERANGE, "%s: a job may wait for %d others at most", where,
                          DEPENDENCIES_MAX);
    if (!(more = realloc (d->list, (d->n + n) * sizeof (*more))))
        return error_no_memory (err, where);
    d->list = more;
    return 0;
}

static int add (struct dependencies *d, const struct dependency *one, const char *where,
                struct error *err)
{
    int rc = grow (d, 1, where, err);

    if (rc == 0)
        d->list[d->n++] = *one;
    return rc;
}

int dependencies_append (struct dependencies *d, const struct dependencies *more,
                         const char *where, struct error *err)
{
    int rc = more->n ? grow (d, more->n, where, err) : 0;

    if (rc == 0 && more->n) {
        memcpy (d->list + d->n, more->list, more->n * sizeof (*more->list));
        d->n += more->n;
    }
    return rc;
}

/* -- text -- */

/* "37", or "12_3" */
static int parse_id (const char *text, struct dependency *one, const char *where,
                     struct error *err)
{
    uint32_t task;

    if (array_name_parse (text, &one->id, &task, where, NULL) < 0)
        return error_set (err, EINVAL, "%s: '%.64s' is not the number of a job", where,
                          text);
    one->array = task != IDSET_END ? one->id : 0;
    one->task = one->array ? task : 0;
    return 0;
}

/* "37", or "37+5" of after; replaces the '+' in the text. */
static int parse_antecedent (struct dependency *one, char *text, const char *where,
                             struct error *err)
{
    char *plus = strchr (text, '+');
    char place[80];
    int64_t minutes;

    one->delay = 0;
    if (!plus)
        return parse_id (text, one, where, err);
    if (one->kind != DEPENDENCY_AFTER)
        return error_set (err, EINVAL,
                          "%s: '%.64s': only 'after' may have minutes behind a '+'",
                          where, text);
    *plus++ = '\0';
    snprintf (place, sizeof (place), "%.60s: minutes", where);
    int rc = parse_int (plus, 0, MINUTES_MAX, &minutes, place, err);
    if (rc < 0)
        return rc;
    one->delay = (double)minutes * 60;
    return parse_id (text, one, where, err);
}

static int unknown_kind (const char *name, const char *where, struct error *err)
{
    if (*name && name[strspn (name, "0123456789_+")] == '\0')
        return error_set (err, EINVAL,
                          "%s: '%.64s' does not name the condition; write "
                          "afterok:%.64s, for example",
                          where, name, name);
    return error_set (err, EINVAL, "%s: '%.64s' is not one of " KINDS, where, name);
}

/* "afterok:37:38"; changes the text. */
static int parse_item (struct dependencies *d, char *item, const char *where,
                       struct error *err)
{
    const char *name = strsep (&item, ":");
    int kind = kind_of (name), rc = 0;
    struct dependency one = { .kind = (enum dependency_kind)kind };
    char *id;

    if (kind < 0)
        return unknown_kind (name, where, err);
    if (kind == DEPENDENCY_SINGLETON)
        return item ? error_set (err, EINVAL,
                                 "%s: singleton names no job: it is of the jobs with the "
                                 "same name",
                                 where)
                    : add (d, &one, where, err);
    if (!item)
        return error_set (err, EINVAL, "%s: '%s' names no job; write %s:ID", where, name,
                          name);
    while (rc == 0 && (id = strsep (&item, ":"))) {
        rc = parse_antecedent (&one, id, where, err);
        if (rc == 0)
            rc = add (d, &one, where, err);
    }
    return rc;
}

int dependencies_parse (struct dependencies *d, const char *text, const char *where,
                        struct error *err)
{
    bool any = strchr (text, '?') != NULL;
    int rc = 0;

    *d = (struct dependencies){ .any = any };
    if (any && strchr (text, ','))
        return error_set (err, EINVAL,
                          "%s: '%.64s' mixes ',' (all) and '?' (one is enough)", where,
                          text);
    if (strlen (text) > TEXT_MAX)
        return error_set (err, ERANGE, "%s: is longer than %d bytes", where, TEXT_MAX);
    autofree char *copy = strdup (text);
    char *rest = copy, *item;
    if (!copy)
        return error_no_memory (err, where);
    while (rc == 0 && (item = strsep (&rest, any ? "?" : ",")))
        rc = parse_item (d, item, where, err);
    if (rc < 0)
        dependencies_release (d);
    return rc;
}

int dependencies_add_text (struct strbuf *sb, const struct dependencies *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct dependency *one = &d->list[i];
        bool same = i > 0 && !d->any && one->id && one->kind == d->list[i - 1].kind;

        if (!same)
            strbuf_addf (sb, "%s%s", i == 0 ? "" : d->any ? "?" : ",", names[one->kind]);
        if (one->array)
            strbuf_addf (sb, ":%ju_%u", (uintmax_t)one->array, one->task);
        else if (one->id)
            strbuf_addf (sb, ":%ju", (uintmax_t)one->id);
        if (one->delay > 0)
            strbuf_addf (sb, "+%.0f", ceil (one->delay / 60));
    }
    return sb->err;
}

/* -- JSON -- */

static json_t *object_of (const struct dependency *one)
{
    char id[40] = "";

    if (one->array)
        snprintf (id, sizeof (id), "%ju_%u", (uintmax_t)one->array, one->task);
    else if (one->id)
        snprintf (id, sizeof (id), "%ju", (uintmax_t)one->id);
    json_t *o = json_pack ("{s:s, s:s}", "scheme", names[one->kind], "value", id);
    if (o && one->delay > 0
        && json_object_set_new (o, "delay", json_real (one->delay)) < 0) {
        json_decref (o);
        return NULL;
    }
    return o;
}

json_t *dependencies_to_json (const struct dependencies *d)
{
    json_t *list = json_array ();

    if (d->any) {
        autostrbuf struct strbuf text = STRBUF_INIT (TEXT_MAX);
        dependencies_add_text (&text, d);
        json_decref (list);
        return text.err ? NULL
                        : json_pack ("[{s:s, s:s}]", "scheme", "any", "value", text.buf);
    }
    for (size_t i = 0; list && i < d->n; i++) {
        if (json_array_append_new (list, object_of (&d->list[i])) < 0) {
            json_decref (list);
            list = NULL;
        }
    }
    return list;
}

static int read_begin (const char *value, double *ret_begin, const char *where,
                       struct error *err)
{
    char *end;
    double t = strtod (value, &end);

    if (*end || end == value || !(t >= 0 && t <= BEGIN_MAX))
        return error_set (err, EINVAL,
                          "%s.value: '%.64s' is not a time in seconds since 1970", where,
                          value);
    *ret_begin = t;
    return 0;
}

/* Read the value of one object; d has the dependencies read before. */
static int read_value (struct dependencies *d, struct dependency *one, const char *value,
                       const char *where, struct error *err)
{
    char place[128];

    snprintf (place, sizeof (place), "%s.value", where);
    if (one->kind == DEPENDENCY_SINGLETON && *value)
        return error_set (err, EINVAL, "%s: singleton has none, only \"\"", place);
    if (one->kind != DEPENDENCY_SINGLETON && parse_id (value, one, place, err) < 0)
        return -EINVAL;
    return add (d, one, where, err);
}

static int read_any (struct dependencies *d, const char *value, const char *where,
                     struct error *err)
{
    char place[128];

    snprintf (place, sizeof (place), "%s.value", where);
    if (d->n > 0)
        return error_set (err, EINVAL, "%s: 'any' does not go with others", where);
    if (strchr (value, ','))
        return error_set (err, EINVAL, "%s: '%.64s' has a ','; write '?' between", place,
                          value);
    int rc = dependencies_parse (d, value, place, err);
    d->any = rc == 0;
    return rc;
}

static int read_object (struct dependencies *d, const json_t *o, const char *where,
                        double *begin, struct error *err)
{
    static const char *const keys[] = { "scheme", "value", "delay", NULL };
    struct dependency one = { 0 };
    const char *scheme, *value;
    double t = 0;
    int rc;

    if (!json_is_object (o))
        return error_set (err, EINVAL, "%s: expected an object, got %s", where,
                          json_type_name (o));
    if ((rc = json_get_string (o, "scheme", &scheme, JSON_REQUIRED, where, err)) < 0
        || (rc = json_get_string (o, "value", &value, JSON_REQUIRED, where, err)) < 0
        || (rc = json_only_keys (o, keys, where, err)) < 0
        || (rc = json_get_double (o, "delay", 0, DEPENDENCY_DELAY_MAX, &one.delay,
                                  JSON_OPTIONAL_KEY, where, err))
               < 0)
        return rc;
    if (rc == 1 && strcmp (scheme, "after") != 0)
        return error_set (err, EINVAL, "%s.delay: is only for scheme 'after'", where);
    if (!strcmp (scheme, "begin-time")) {
        if ((rc = read_begin (value, &t, where, err)) == 0)
            *begin = MAX (*begin, t);
        return rc;
    }
    if (d->any)
        return error_set (err, EINVAL, "%s: does not go with 'any' before it", where);
    if (!strcmp (scheme, "any"))
        return read_any (d, value, where, err);
    int kind = kind_of (scheme);
    if (kind < 0)
        return error_set (err, EINVAL,
                          "%s.scheme: fluxq does not know '%.32s'; there is " KINDS
                          ", any, begin-time",
                          where, scheme);
    one.kind = (enum dependency_kind)kind;
    return read_value (d, &one, value, where, err);
}

int dependencies_from_json (struct dependencies *d, const json_t *array,
                            const char *where, double *ret_begin, struct error *err)
{
    size_t n = json_array_size (array);
    double begin = -1;
    char place[96];

    *d = (struct dependencies){ 0 };
    if (n > DEPENDENCIES_MAX + 1)
        return grow (d, n, where, err);
    for (size_t i = 0; i < n; i++) {
        snprintf (place, sizeof (place), "%.64s[%zu]", where, i);
        int rc = read_object (d, json_array_get (array, i), place, &begin, err);
        if (rc < 0) {
            dependencies_release (d);
            return rc;
        }
    }
    if (begin >= 0)
        *ret_begin = begin;
    return 0;
}

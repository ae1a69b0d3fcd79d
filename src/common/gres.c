/* gres.c - see gres.h */
#include "common/gres.h"

#include <ctype.h>
#include <inttypes.h>

#include "common/parse.h"

/* -- names -- */

bool gres_name_is_valid (const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_-./:";
    static const char *const taken[] = { "cluster",  "node",   "slot",        "or_slot",
                                         "xor_slot", "socket", "numa",        "core",
                                         "pu",       "gpu",    "none",        "memory",
                                         "zone",     "rack",   "storage_node" };
    size_t len = strlen (name);
    const char *slash = strchr (name, '/');

    if (len == 0 || len > GRES_NAME_MAX || strspn (name, allowed) != len
        || !isalnum ((unsigned char)name[0]) || !isalnum ((unsigned char)name[len - 1])
        || (slash && strchr (slash + 1, '/')))
        return false;
    for (const char *c = name; (c = strpbrk (c, "/:")); c++)
        if (!isalnum ((unsigned char)c[1]))
            return false;
    for (size_t i = 0; i < ARRAY_SIZE (taken); i++)
        if (!strcmp (name, taken[i]))
            return false;
    return !gres_is_reserved (name);
}

bool gres_is_reserved (const char *name)
{
    return !strcmp (name, GRES_CPU_MILLI) || !strcmp (name, GRES_TMP_DISK);
}

/* -- lists -- */

/* The index of the name, or the index at which to insert it. */
static size_t find (const struct gres_list *l, const char *name, bool *ret_found)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp (l->v[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = low < l->n && !strcmp (l->v[low].name, name);
    return low;
}

int64_t gres_get (const struct gres_list *l, const char *name)
{
    bool found;
    size_t i = find (l, name, &found);

    return found ? l->v[i].count : 0;
}

static void drop (struct gres_list *l, size_t i)
{
    free (l->v[i].name);
    l->n--;
    memmove (&l->v[i], &l->v[i + 1], (l->n - i) * sizeof (*l->v));
}

int gres_set (struct gres_list *l, const char *name, int64_t count)
{
    bool found;
    size_t i = find (l, name, &found);

    if (found && count > 0)
        l->v[i].count = count;
    else if (found)
        drop (l, i);
    if (found || count <= 0)
        return 0;
    struct gres *v = realloc (l->v, (l->n + 1) * sizeof (*v));
    char *copy = strdup (name);
    if (v)
        l->v = v;
    if (!v || !copy) {
        free (copy);
        return -ENOMEM;
    }
    memmove (&v[i + 1], &v[i], (l->n - i) * sizeof (*v));
    v[i] = (struct gres){ copy, count };
    l->n++;
    return 0;
}

int gres_add (struct gres_list *l, const struct gres_list *more, int sign)
{
    int rc = 0;

    for (size_t i = 0; i < more->n && rc == 0; i++) {
        int64_t sum, by = sign < 0 ? -more->v[i].count : more->v[i].count;
        if (__builtin_add_overflow (gres_get (l, more->v[i].name), by, &sum))
            sum = INT64_MAX;
        rc = gres_set (l, more->v[i].name, sum);
    }
    return rc;
}

int gres_copy (struct gres_list *to, const struct gres_list *from)
{
    int rc = 0;

    *to = (struct gres_list){ 0 };
    for (size_t i = 0; i < from->n && rc == 0; i++)
        rc = gres_set (to, from->v[i].name, from->v[i].count);
    if (rc < 0)
        gres_release (to);
    return rc;
}

bool gres_equal (const struct gres_list *a, const struct gres_list *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].count != b->v[i].count || strcmp (a->v[i].name, b->v[i].name) != 0)
            return false;
    return true;
}

void gres_release (struct gres_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free (l->v[i].name);
    free (l->v);
    *l = (struct gres_list){ 0 };
}

/* -- text -- */

/* Read a number with an optional k, m or g; false: no count. */
static bool read_count (const char *text, int64_t *ret)
{
    static const char units[] = "kmg";
    size_t digits = strspn (text, "0123456789");
    const char *unit =
        text[digits] ? strchr (units, tolower ((unsigned char)text[digits])) : NULL;
    char number[16];

    if (digits == 0 || (text[digits] && (!unit || text[digits + 1])))
        return false;
    *ret = INT64_MAX; /* too large: the caller's range check refuses it */
    if (digits >= sizeof (number))
        return true;
    snprintf (number, sizeof (number), "%.*s", (int)digits, text);
    if (parse_int (number, 0, INT64_C (1) << 50, ret, "", NULL) < 0)
        *ret = INT64_MAX;
    for (long i = unit ? unit - units + 1 : 0; i > 0 && *ret < GRES_COUNT_MAX; i--)
        *ret *= 1024;
    return true;
}

static int read_entry (char *entry, struct gres_list *ret, const char *where,
                       struct error *err)
{
    char *colon = strrchr (entry, ':');
    int64_t count = 1;

    if (colon && read_count (colon + 1, &count))
        *colon = '\0';
    if (!gres_name_is_valid (entry) && strcmp (entry, "gpu") != 0)
        return error_set (
            err, EINVAL,
            "%s: '%.80s' cannot be a generic resource; write NAME, NAME:COUNT or "
            "NAME:TYPE:COUNT",
            where, entry);
    if (count < 1 || count > GRES_COUNT_MAX)
        return error_set (err, ERANGE, "%s: the count of %s must be from 1 to %d", where,
                          entry, GRES_COUNT_MAX);
    if (gres_get (ret, entry) > 0)
        return error_set (err, EINVAL, "%s: %s is listed twice; give the total", where,
                          entry);
    if (ret->n == GRES_LIST_MAX)
        return error_set (err, ERANGE, "%s: more than %d names", where, GRES_LIST_MAX);
    return gres_set (ret, entry, count) < 0 ? error_no_memory (err, where) : 0;
}

int gres_parse (const char *text, struct gres_list *ret, const char *where,
                struct error *err)
{
    autofree char *copy = strdup (text);
    int rc = copy ? 0 : error_no_memory (err, where);

    *ret = (struct gres_list){ 0 };
    if (rc == 0 && !strcmp (text, "none"))
        return 0;
    for (char *entry = copy, *comma; rc == 0 && entry; entry = comma) {
        if ((comma = strchr (entry, ',')))
            *comma++ = '\0';
        rc = read_entry (entry, ret, where, err);
    }
    if (rc < 0)
        gres_release (ret);
    return rc;
}

void strbuf_add_gres (struct strbuf *sb, const struct gres_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        strbuf_addf (sb, "%s%s:%" PRId64, i ? "," : "", l->v[i].name, l->v[i].count);
}

/* -- JSON -- */

json_t *gres_to_json (const struct gres_list *l)
{
    json_t *o = json_object ();

    for (size_t i = 0; o && i < l->n; i++) {
        if (json_object_set_new (o, l->v[i].name, json_integer (l->v[i].count)) < 0) {
            json_decref (o);
            return NULL;
        }
    }
    return o;
}

static bool is_amount (const char *name)
{
    return gres_name_is_valid (name) || gres_is_reserved (name);
}

int gres_from_json (const json_t *o, struct gres_list *ret, const char *where,
                    struct error *err)
{
    const char *name;
    json_t *v;

    if (!json_is_object (o) || json_object_size (o) > GRES_LIST_MAX + GRES_RESERVED)
        return error_set (err, EINVAL, "%s: expected an object of at most %d names",
                          where, GRES_LIST_MAX);
    json_object_foreach ((json_t *)o, name, v) {
        int64_t n = json_is_integer (v) ? json_integer_value (v) : 0;
        if (!is_amount (name) || n < 1 || n > GRES_COUNT_MAX)
            return error_set (err, EINVAL,
                              "%s: '%.80s' is not a generic resource with a count from 1 "
                              "to %d",
                              where, name, GRES_COUNT_MAX);
        if (gres_set (ret, name, n) < 0)
            return error_no_memory (err, where);
    }
    return 0;
}

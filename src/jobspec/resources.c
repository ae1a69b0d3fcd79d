/* resources.c - the tree of resource vertices of a jobspec (RFC 14, RFC 45)
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "jobspec/jobspec_private.h"
#include "jobspec/text.h"

struct reader {
    struct jobspec *js;
    size_t nvertices;
    struct error *err;
};

/* -- counts -- */

static int count_number (const json_t *v, const struct place *at, int64_t *ret,
                         struct error *err)
{
    json_int_t n;

    if (!json_is_integer (v))
        return jobspec_fail (err, at, "expected a positive integer, got %s",
                             json_type_name (v));
    n = json_integer_value (v);
    if (n < 1)
        return jobspec_fail (err, at,
                             "%" JSON_INTEGER_FORMAT " is not a positive integer", n);
    if (n > JOBSPEC_COUNT_MAX)
        return jobspec_fail (err, at, "%" JSON_INTEGER_FORMAT " is more than %d", n,
                             JOBSPEC_COUNT_MAX);
    *ret = n;
    return 0;
}

static int count_check (const struct jobspec_count *c, const struct place *at,
                        struct error *err)
{
    if (c->max < c->min)
        return jobspec_fail (err, at, "max %jd is less than min %jd", (intmax_t)c->max,
                             (intmax_t)c->min);
    if (c->op != '+' && c->operand < 2)
        return jobspec_fail (err, at, "with operator '%c' the operand must be 2 or more",
                             c->op);
    if (c->op == '^' && c->min < 2)
        return jobspec_fail (err, at, "with operator '^' min must be 2 or more");
    return 0;
}

static int count_operator (const char *text, const struct place *at, char *ret,
                           struct error *err)
{
    if (strlen (text) != 1 || !strchr ("+*^", text[0]))
        return jobspec_fail (err, at, "operator '%.16s' is not one of + * ^", text);
    *ret = text[0];
    return 0;
}

static int count_object (const json_t *v, const struct place *at, struct jobspec_count *c,
                         struct error *err)
{
    const char *key;
    json_t *value;

    c->min = 0;
    c->max = JOBSPEC_COUNT_MAX;
    json_object_foreach ((json_t *)v, key, value) {
        struct place here = { at, key, 0 };
        int rc;

        if (!strcmp (key, "min"))
            rc = count_number (value, &here, &c->min, err);
        else if (!strcmp (key, "max"))
            rc = count_number (value, &here, &c->max, err);
        else if (!strcmp (key, "operand"))
            rc = count_number (value, &here, &c->operand, err);
        else if (strcmp (key, "operator"))
            rc = jobspec_fail (err, &here, "unknown key");
        else if (!json_is_string (value))
            rc = jobspec_fail (err, &here, "expected a string, got %s",
                               json_type_name (value));
        else
            rc = count_operator (json_string_value (value), &here, &c->op, err);
        if (rc < 0)
            return rc;
    }
    if (c->min == 0)
        return jobspec_fail (err, at, "the key 'min' is missing");
    if (!json_object_get (v, "operator") != !json_object_get (v, "operand"))
        return jobspec_fail (err, at, "operator and operand must be given together");
    return 0;
}

/* Digits at *s without a leading zero; moves *s behind them. */
static int range_number (const char **s, const struct place *at, int64_t *ret,
                         struct error *err)
{
    int64_t n = 0;

    if (**s < '1' || **s > '9')
        return jobspec_fail (err, at, "a positive number is expected at '%.16s'", *s);
    for (; isdigit ((unsigned char)**s); (*s)++) {
        n = n * 10 + (**s - '0');
        if (n > JOBSPEC_COUNT_MAX)
            return jobspec_fail (err, at, "a number is more than %d", JOBSPEC_COUNT_MAX);
    }
    *ret = n;
    return 0;
}

/* RFC 45: min, min-max or min+, then :operand and :operator, perhaps in brackets. */
static int count_range (const char *s, const struct place *at, struct jobspec_count *c,
                        struct error *err)
{
    bool brackets = *s == '[';

    if (strchr (s, ','))
        return jobspec_fail (
            err, at,
            "a list of counts ('%.32s') is not supported by fluxq; give a range "
            "(min-max:operand:operator)",
            s);
    s += brackets;
    if (range_number (&s, at, &c->min, err) < 0)
        return -EINVAL;
    c->max = c->min;
    if (*s == '+') {
        c->max = JOBSPEC_COUNT_MAX;
        s++;
    } else if (*s == '-') {
        s++;
        if (range_number (&s, at, &c->max, err) < 0)
            return -EINVAL;
    }
    if (*s == ':') {
        s++;
        if (range_number (&s, at, &c->operand, err) < 0)
            return -EINVAL;
        if (*s == ':') {
            char op[2] = { s[1], '\0' };

            if (count_operator (op, at, &c->op, err) < 0)
                return -EINVAL;
            s += 2;
        }
    }
    if (strcmp (s, brackets ? "]" : ""))
        return jobspec_fail (err, at, "'%.16s' does not belong to a range", s);
    return 0;
}

static int parse_count (const json_t *v, const struct place *at, struct jobspec_count *c,
                        struct error *err)
{
    int rc;

    *c = (struct jobspec_count){ .op = '+', .operand = 1 };
    if (json_is_object (v))
        rc = count_object (v, at, c, err);
    else if (json_is_string (v))
        rc = count_range (json_string_value (v), at, c, err);
    else {
        rc = count_number (v, at, &c->min, err);
        c->max = c->min;
    }
    return rc < 0 ? rc : count_check (c, at, err);
}

/* -- vertices -- */

static int parse_vertex (struct reader *rd, const json_t *v, const struct place *at,
                         unsigned depth, bool in_slot, struct jobspec_resource *r);

/* The children; *ret is allocated and counted as far as read also on failure. */
static int parse_list (struct reader *rd, const json_t *list, const struct place *at,
                       unsigned depth, bool in_slot, struct jobspec_resource **ret,
                       size_t *ret_count)
{
    size_t n = json_array_size (list);

    if (!json_is_array (list))
        return jobspec_fail (rd->err, at, "expected a list, got %s",
                             json_type_name (list));
    if (n == 0)
        return jobspec_fail (rd->err, at, "must have at least one resource");
    if (depth > JOBSPEC_DEPTH_MAX)
        return jobspec_fail (rd->err, at, "more than %d levels", JOBSPEC_DEPTH_MAX);
    rd->nvertices += n;
    if (rd->nvertices > JOBSPEC_VERTICES_MAX)
        return jobspec_fail (rd->err, at, "more than %d resources in all",
                             JOBSPEC_VERTICES_MAX);
    *ret = calloc (n, sizeof (**ret));
    if (!*ret)
        return error_set (rd->err, ENOMEM, "jobspec: out of memory");
    *ret_count = n;
    for (size_t i = 0; i < n; i++) {
        struct place here = { at, NULL, i };
        int rc = parse_vertex (rd, json_array_get (list, i), &here, depth, in_slot,
                               &(*ret)[i]);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int take_string (struct reader *rd, const json_t *v, const struct place *at,
                        bool name, char **ret)
{
    const char *s = json_string_value (v);

    if (!s)
        return jobspec_fail (rd->err, at, "expected a string, got %s",
                             json_type_name (v));
    if (strlen (s) != json_string_length (v)
        || !(name ? text_is_name (s) : text_is_line (s, 255)))
        return jobspec_fail (rd->err, at, "'%.64s' is not a %s", s,
                             name ? "name of a resource type"
                                  : "text of 1 to 255 bytes in a line");
    *ret = strdup (s);
    return *ret ? 0 : error_set (rd->err, ENOMEM, "jobspec: out of memory");
}

static int vertex_key (struct reader *rd, const char *key, const json_t *value,
                       const struct place *at, struct jobspec_resource *r)
{
    struct place here = { at, key, 0 };

    if (!strcmp (key, "type"))
        return take_string (rd, value, &here, true, &r->type);
    if (!strcmp (key, "unit"))
        return take_string (rd, value, &here, false, &r->unit);
    if (!strcmp (key, "label"))
        return take_string (rd, value, &here, false, &r->label);
    if (!strcmp (key, "count"))
        return parse_count (value, &here, &r->count, rd->err);
    if (!strcmp (key, "with"))
        return 0; /* later: what it may have depends on the type */
    if (!strcmp (key, "id"))
        return jobspec_fail (rd->err, &here,
                             "asking for resources by id is not supported by fluxq");
    if (strcmp (key, "exclusive"))
        return jobspec_fail (rd->err, &here, "unknown key");
    if (!json_is_boolean (value))
        return jobspec_fail (rd->err, &here, "expected true or false, got %s",
                             json_type_name (value));
    r->exclusive = json_is_true (value) ? JOBSPEC_TRUE : JOBSPEC_FALSE;
    return 0;
}

static int check_memory (struct reader *rd, const struct jobspec_resource *r,
                         const struct place *at)
{
    struct place unit = { at, "unit", 0 }, count = { at, "count", 0 };
    int64_t mib;

    switch (jobspec_memory_mib (r->unit, r->count.min, &mib)) {
    case 0:
        return 0;
    case -ERANGE:
        return jobspec_fail (rd->err, &count, "more memory than 2^40 MiB");
    default:
        return jobspec_fail (rd->err, &unit,
                             "'%.16s' is not a unit of memory (MiB, GiB, MB, ...)",
                             r->unit);
    }
}

static int parse_vertex (struct reader *rd, const json_t *v, const struct place *at,
                         unsigned depth, bool in_slot, struct jobspec_resource *r)
{
    struct place with_at = { at, "with", 0 };
    const json_t *with;
    const char *key;
    json_t *value;
    bool slot;

    r->exclusive = JOBSPEC_UNSET;
    if (!json_is_object (v))
        return jobspec_fail (rd->err, at, "expected an object, got %s",
                             json_type_name (v));
    json_object_foreach ((json_t *)v, key, value) {
        int rc = vertex_key (rd, key, value, at, r);

        if (rc < 0)
            return rc;
    }
    if (!r->type || r->count.min == 0)
        return jobspec_fail (rd->err, at, "the key '%s' is missing",
                             r->type ? "count" : "type");
    slot = !strcmp (r->type, "slot");
    with = json_object_get (v, "with");
    if (slot && in_slot)
        return jobspec_fail (rd->err, at, "a slot inside a slot");
    if (slot && (!r->label || !with))
        return jobspec_fail (rd->err, at, "a slot needs the key '%s'",
                             r->label ? "with" : "label");
    if (!strcmp (r->type, "memory") && check_memory (rd, r, at) < 0)
        return -EINVAL;
    if (!with)
        return 0;
    return parse_list (rd, with, &with_at, depth + 1, in_slot || slot, &r->with,
                       &r->nwith);
}

/* -- labels -- */

struct labels {
    const char *label[JOBSPEC_VERTICES_MAX];
    size_t n;
};

static void collect_labels (const struct jobspec_resource *r, size_t n, struct labels *l)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i].label)
            l->label[l->n++] = r[i].label;
        collect_labels (r[i].with, r[i].nwith, l);
    }
}

static int compare_labels (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static int check_labels (const struct jobspec *js, struct error *err)
{
    struct place at = { NULL, "resources", 0 };
    struct labels l = { .n = 0 };

    collect_labels (js->resources, js->nresources, &l);
    qsort (l.label, l.n, sizeof (l.label[0]), compare_labels);
    for (size_t i = 1; i < l.n; i++) {
        if (!strcmp (l.label[i - 1], l.label[i]))
            return jobspec_fail (err, &at, "two have the label '%.64s'", l.label[i]);
    }
    return 0;
}

/* -- the tree -- */

int jobspec_parse_resources (struct jobspec *js, const json_t *list, struct error *err)
{
    struct place at = { NULL, "resources", 0 };
    struct reader rd = { .js = js, .err = err };
    int rc = parse_list (&rd, list, &at, 1, false, &js->resources, &js->nresources);

    return rc < 0 ? rc : check_labels (js, err);
}

static void release (struct jobspec_resource *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        release (r[i].with, r[i].nwith);
        free (r[i].type);
        free (r[i].unit);
        free (r[i].label);
    }
    free (r);
}

void jobspec_release_resources (struct jobspec *js)
{
    release (js->resources, js->nresources);
    js->resources = NULL;
    js->nresources = 0;
}

static const struct jobspec_resource *find_slot (const struct jobspec_resource *r,
                                                 size_t n, const char *label)
{
    for (size_t i = 0; i < n; i++) {
        const struct jobspec_resource *found;

        if (!strcmp (r[i].type, "slot") && !strcmp (r[i].label, label))
            return &r[i];
        found = find_slot (r[i].with, r[i].nwith, label);
        if (found)
            return found;
    }
    return NULL;
}

const struct jobspec_resource *jobspec_find_slot (const struct jobspec *js,
                                                  const char *label)
{
    return find_slot (js->resources, js->nresources, label);
}

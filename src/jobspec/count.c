/* count.c - the count of a resource: a number, a dictionary (RFC 14), a range (RFC 45), or
 * a set of numbers (RFC 22)
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "jobspec/jobspec_private.h"

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

static int count_object (const json_t *v, bool general, const struct place *at,
                         struct jobspec_count *c, struct error *err)
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
    if (general && json_object_get (v, "operator") && !json_object_get (v, "max"))
        return jobspec_fail (err, at, "with an operator the key 'max' is needed");
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

/* The greatest member: the next after so many is none. */
static int64_t last_of (const struct idset *ids)
{
    uint32_t lo = idset_first (ids), hi = JOBSPEC_COUNT_MAX;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (idset_next (ids, mid) == IDSET_END)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* RFC 22: "1,4,8-10". Numbers without a gap are a range like others. */
static int count_set (const char *s, const struct place *at, struct jobspec_resource *r,
                      struct error *err)
{
    struct error why = { 0 };
    struct idset *ids = idset_decode (s, &why);

    if (!ids)
        return why.code == ENOMEM ? error_set (err, ENOMEM, "jobspec: out of memory")
                                  : jobspec_fail (err, at, "%s", why.text);
    r->count.min = idset_first (ids);
    r->count.max = last_of (ids);
    if (r->count.min < 1) {
        idset_destroy (ids);
        return jobspec_fail (err, at, "'%.32s' has 0 in it", s);
    }
    if (r->count.max - r->count.min + 1 == idset_count (ids))
        idset_destroy (ids);
    else
        r->sizes = ids;
    return 0;
}

static int count_text (const char *s, bool general, const struct place *at,
                       struct jobspec_resource *r, struct error *err)
{
    if (!strchr (s, ','))
        return count_range (s, at, &r->count, err);
    if (general)
        return count_set (s, at, r, err);
    return jobspec_fail (
        err, at,
        "a list of counts ('%.32s') is not supported by fluxq; give a range "
        "(min-max:operand:operator)",
        s);
}

int jobspec_parse_count (const json_t *v, bool general, const struct place *at,
                         struct jobspec_resource *r, struct error *err)
{
    int rc;

    r->count = (struct jobspec_count){ .op = '+', .operand = 1 };
    if (json_is_object (v))
        rc = count_object (v, general, at, &r->count, err);
    else if (json_is_string (v))
        rc = count_text (json_string_value (v), general, at, r, err);
    else {
        rc = count_number (v, at, &r->count.min, err);
        r->count.max = r->count.min;
    }
    return rc < 0 ? rc : count_check (&r->count, at, err);
}

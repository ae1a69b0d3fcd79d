/* count.c - the count of a resource: a number, a dictionary (RFC 14), a range (RFC 45),
 * or a set of numbers (RFC 22)
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "jobspec/jobspec_private.h"

static int count_number (const json_t *v, const struct place *at, int64_t *ret,
                         struct error *err)
{
    if (!json_is_integer (v))
        return jobspec_fail (err, at, "expected a positive integer, got %s",
                             json_type_name (v));
    json_int_t n = json_integer_value (v);
    if (n < 1)
        return jobspec_fail (err, at,
                             "%" JSON_INTEGER_FORMAT " is not a positive integer", n);
    if (n > JOBSPEC_COUNT_MAX)
        return jobspec_fail (err, at, "%" JSON_INTEGER_FORMAT " is more than %d", n,
                             JOBSPEC_COUNT_MAX);
    *ret = n;
    return 0;
}

static int count_check (const struct jobspec_count *c, struct error *err)
{
    if (c->max < c->min)
        return error_set (err, EINVAL, "max %jd is less than min %jd", (intmax_t)c->max,
                          (intmax_t)c->min);
    if (c->op != '+' && c->operand < 2)
        return error_set (err, EINVAL, "with operator '%c' the operand must be 2 or more",
                          c->op);
    if (c->op == '^' && c->min < 2)
        return error_set (err, EINVAL, "with operator '^' min must be 2 or more");
    return 0;
}

static int count_operator (const char *text, char *ret, struct error *err)
{
    if (strlen (text) != 1 || !strchr ("+*^", text[0]))
        return error_set (err, EINVAL, "operator '%.16s' is not one of + * ^", text);
    *ret = text[0];
    return 0;
}

static int count_object (const json_t *v, bool general, const struct place *at,
                         struct jobspec_count *c, struct error *err)
{
    const char *key;
    json_t *value;

    struct error why = { 0 };

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
        else if ((rc = count_operator (json_string_value (value), &c->op, &why)) < 0)
            rc = jobspec_fail (err, &here, "%s", why.text);
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

/* -- as text -- */

/* Read digits at *s without a leading zero and advance *s past them. */
static int range_number (const char **s, int64_t *ret, struct error *err)
{
    int64_t n = 0;

    if (**s < '1' || **s > '9')
        return error_set (err, EINVAL, "a positive number is expected %s%.16s%s",
                          **s ? "at '" : "at its end", *s, **s ? "'" : "");
    for (; isdigit ((unsigned char)**s); (*s)++) {
        n = n * 10 + (**s - '0');
        if (n > JOBSPEC_COUNT_MAX)
            return error_set (err, EINVAL, "a number is more than %d", JOBSPEC_COUNT_MAX);
    }
    *ret = n;
    return 0;
}

/* RFC 45: min, min-max or min+, then :operand and :operator, optionally in brackets. */
static int count_range (const char *s, struct jobspec_count *c, struct error *err)
{
    bool brackets = *s == '[';

    s += brackets;
    if (range_number (&s, &c->min, err) < 0)
        return -EINVAL;
    c->max = c->min;
    if (*s == '+') {
        c->max = JOBSPEC_COUNT_MAX;
        s++;
    } else if (*s == '-') {
        s++;
        if (range_number (&s, &c->max, err) < 0)
            return -EINVAL;
    }
    if (*s == ':') {
        s++;
        if (range_number (&s, &c->operand, err) < 0)
            return -EINVAL;
        if (*s == ':') {
            char op[2] = { s[1], '\0' };

            if (count_operator (op, &c->op, err) < 0)
                return -EINVAL;
            s += 2;
        }
    }
    if (strcmp (s, brackets ? "]" : ""))
        return error_set (err, EINVAL, "'%.16s' does not belong to a range", s);
    return 0;
}

/* The greatest id of the set, by bisection: no id follows it. */
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

/* RFC 22: "1,4,8-10". A list without gaps becomes a range. */
static int count_set (const char *s, struct jobspec_count *c, struct idset **ret_sizes,
                      struct error *err)
{
    struct error why = { 0 };

    if (strlen (s) > JOBSPEC_COUNT_TEXT_MAX)
        return error_set (err, EINVAL,
                          "a list of more than %d characters; write a range with steps, such "
                          "as 2-4096:2",
                          JOBSPEC_COUNT_TEXT_MAX);
    struct idset *ids = idset_decode (s, JOBSPEC_COUNT_MAX, &why);
    if (!ids)
        return why.code == ENOMEM
                   ? error_no_memory (err, NULL)
                   : error_set (err, EINVAL,
                                "not a list of rising numbers, such as 1,2,4,8-10");
    c->min = idset_first (ids);
    c->max = last_of (ids);
    if (c->min < 1) {
        idset_destroy (ids);
        return error_set (err, EINVAL, "'%.32s' has 0 in it", s);
    }
    if (c->max - c->min + 1 == idset_count (ids))
        idset_destroy (ids);
    else
        *ret_sizes = ids;
    return 0;
}

int jobspec_count_parse (const char *text, struct jobspec_count *ret,
                         struct idset **ret_sizes, struct error *err)
{
    *ret = (struct jobspec_count){ .op = '+', .operand = 1 };
    *ret_sizes = NULL;
    int rc = strchr (text, ',') ? count_set (text, ret, ret_sizes, err)
                                : count_range (text, ret, err);
    return rc < 0 ? rc : count_check (ret, err);
}

int jobspec_count_reaches (const struct jobspec_count *c, struct error *err)
{
    int64_t last = jobspec_count_fit (c, c->max);
    char steps[32];

    if (last == c->max || c->max == JOBSPEC_COUNT_MAX)
        return 0;
    if (c->op != '+')
        snprintf (steps, sizeof (steps), "%jd:%c", (intmax_t)c->operand, c->op);
    else
        snprintf (steps, sizeof (steps), "%jd", (intmax_t)c->operand);
    if (last == c->min)
        return error_set (err, EINVAL,
                          "its steps (%s) miss max %jd, so that %jd is the only size",
                          steps, (intmax_t)c->max, (intmax_t)c->min);
    return error_set (
        err, EINVAL, "its steps (%s) miss max %jd: the last size is %jd; use %jd-%jd:%s",
        steps, (intmax_t)c->max, (intmax_t)last, (intmax_t)c->min, (intmax_t)last, steps);
}

void jobspec_count_add (struct strbuf *sb, const struct jobspec_count *c,
                        const struct idset *sizes)
{
    if (sizes) {
        strbuf_add_idset (sb, sizes);
        return;
    }
    strbuf_addf (sb, "%jd", (intmax_t)c->min);
    if (c->max == JOBSPEC_COUNT_MAX && c->max != c->min)
        strbuf_adds (sb, "+");
    else if (c->max != c->min)
        strbuf_addf (sb, "-%jd", (intmax_t)c->max);
    if (c->max != c->min && (c->op != '+' || c->operand != 1))
        strbuf_addf (sb, ":%jd", (intmax_t)c->operand);
    if (c->max != c->min && c->op != '+')
        strbuf_addf (sb, ":%c", c->op);
}

/* -- in a document -- */

static int in_place (int rc, const struct error *why, const struct place *at,
                     struct error *err)
{
    if (rc == 0)
        return 0;
    return rc == -ENOMEM ? error_no_memory (err, "jobspec")
                         : jobspec_fail (err, at, "%s", why->text);
}

int jobspec_parse_count (const json_t *v, bool general, const struct place *at,
                         struct jobspec_resource *r, struct error *err)
{
    struct error why = { 0 };
    int rc;

    if (json_is_string (v)) {
        rc = jobspec_count_parse (json_string_value (v), &r->count, &r->sizes, &why);
    } else {
        r->count = (struct jobspec_count){ .op = '+', .operand = 1 };
        if (json_is_object (v))
            rc = count_object (v, general, at, &r->count, err);
        else if ((rc = count_number (v, at, &r->count.min, err)) == 0)
            r->count.max = r->count.min;
        if (rc < 0)
            return rc;
        rc = count_check (&r->count, &why);
    }
    if (rc == 0 && !general && !r->sizes)
        rc = jobspec_count_reaches (&r->count, &why);
    return in_place (rc, &why, at, err);
}

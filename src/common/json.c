/* json.c - see json.h */
#include "common/json.h"

json_t *json_parse (const char *text, size_t len, const char *what, struct error *err)
{
    json_error_t e;
    errno = 0; /* jansson reports a lack of memory as a fault of the text, or not at all */
    json_t *v = json_loadb (text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);

    if (!v && errno == ENOMEM)
        error_no_memory (err, what);
    else if (!v)
        error_set (err, EINVAL, "%s: line %d column %d: %s", what, e.line, e.column,
                   e.text);
    return v;
}

const char *json_type_name (const json_t *v)
{
    if (!v)
        return "nothing";
    switch (json_typeof (v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    default:
        return "null";
    }
}

/* Set an error that begins with "job.name"; where ("job") can be NULL or empty. */
static int fail_at (struct error *err, int errnum, const char *where, const char *key,
                    const char *problem)
{
    return error_set (err, errnum, "%s%s%s: %s", where ? where : "",
                      where && where[0] ? "." : "", key, problem);
}

static int wrong_type (struct error *err, const char *where, const char *key,
                       const char *expected, const json_t *v)
{
    char problem[128];

    snprintf (problem, sizeof (problem), "expected %s, got %s", expected,
              json_type_name (v));
    return fail_at (err, EINVAL, where, key, problem);
}

static int expect_object (const json_t *o, const char *where, struct error *err)
{
    if (json_is_object (o))
        return 0;
    return error_set (err, EINVAL, "%s%sexpected an object, got %s", where ? where : "",
                      where && where[0] ? ": " : "", json_type_name (o));
}

/* Find the value of key: 1 and *ret; 0: absent and optional; or negative errno. */
static int look_up (const json_t *o, const char *key, json_t **ret, enum json_need need,
                    const char *where, struct error *err)
{
    int rc = expect_object (o, where, err);

    if (rc < 0)
        return rc;
    *ret = json_object_get (o, key);
    if (*ret)
        return 1;
    return need == JSON_REQUIRED
               ? fail_at (err, EINVAL, where, key, "required but missing")
               : 0;
}

const char *json_text (const json_t *o, const char *key)
{
    const char *text = json_string_value (json_object_get (o, key));

    return text ? text : "";
}

int json_get_string (const json_t *o, const char *key, const char **ret,
                     enum json_need need, const char *where, struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, &v, need, where, err);

    if (rc <= 0)
        return rc;
    if (!json_is_string (v))
        return wrong_type (err, where, key, "a string", v);
    *ret = json_string_value (v);
    return 1;
}

int json_get_int (const json_t *o, const char *key, int64_t min, int64_t max,
                  int64_t *ret, enum json_need need, const char *where, struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, &v, need, where, err);

    if (rc <= 0)
        return rc;
    if (!json_is_integer (v))
        return wrong_type (err, where, key, "an integer", v);
    int64_t n = json_integer_value (v);
    if (n < min || n > max) {
        char problem[128];
        if (max == INT64_MAX)
            snprintf (problem, sizeof (problem), "%jd is below %jd", (intmax_t)n,
                      (intmax_t)min);
        else
            snprintf (problem, sizeof (problem), "%jd is not from %jd to %jd",
                      (intmax_t)n, (intmax_t)min, (intmax_t)max);
        return fail_at (err, ERANGE, where, key, problem);
    }
    *ret = n;
    return 1;
}

int json_get_double (const json_t *o, const char *key, double min, double max,
                     double *ret, enum json_need need, const char *where,
                     struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, &v, need, where, err);

    if (rc <= 0)
        return rc;
    if (!json_is_number (v))
        return wrong_type (err, where, key, "a number", v);
    double n = json_number_value (v);
    if (!(n >= min && n <= max)) {
        char problem[128];
        snprintf (problem, sizeof (problem), "%g is not from %g to %g", n, min, max);
        return fail_at (err, ERANGE, where, key, problem);
    }
    *ret = n;
    return 1;
}

int json_get_bool (const json_t *o, const char *key, bool *ret, enum json_need need,
                   const char *where, struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, &v, need, where, err);

    if (rc <= 0)
        return rc;
    if (!json_is_boolean (v))
        return wrong_type (err, where, key, "a boolean", v);
    *ret = json_is_true (v);
    return 1;
}

int json_get_object (const json_t *o, const char *key, json_t **ret, enum json_need need,
                     const char *where, struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, &v, need, where, err);

    if (rc <= 0)
        return rc;
    if (!json_is_object (v))
        return wrong_type (err, where, key, "an object", v);
    *ret = v;
    return 1;
}

int json_get_array (const json_t *o, const char *key, json_t **ret, enum json_need need,
                    const char *where, struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, &v, need, where, err);

    if (rc <= 0)
        return rc;
    if (!json_is_array (v))
        return wrong_type (err, where, key, "an array", v);
    *ret = v;
    return 1;
}

static bool is_listed (const char *const list[], const char *word)
{
    for (size_t i = 0; list[i]; i++) {
        if (!strcmp (list[i], word))
            return true;
    }
    return false;
}

int json_only_keys (const json_t *o, const char *const keys[], const char *where,
                    struct error *err)
{
    int rc = expect_object (o, where, err);

    if (rc < 0)
        return rc;
    for (void *iter = json_object_iter ((json_t *)o); iter;
         iter = json_object_iter_next ((json_t *)o, iter)) {
        const char *key = json_object_iter_key (iter);
        if (is_listed (keys, key))
            continue;
        struct strbuf sb = STRBUF_INIT (ERROR_TEXT_MAX);
        strbuf_adds (&sb, "unknown key");
        for (size_t i = 0; keys[i]; i++)
            strbuf_addf (&sb, "%s%s", i == 0 ? " (known: " : ", ", keys[i]);
        strbuf_adds (&sb, keys[0] ? ")" : "");
        rc = fail_at (err, EINVAL, where, key, sb.buf);
        strbuf_release (&sb);
        return rc;
    }
    return 0;
}

static int add_chunk (const char *data, size_t len, void *arg)
{
    return strbuf_add (arg, data, len);
}

int strbuf_add_json_value (struct strbuf *sb, const json_t *v)
{
    if (sb->err)
        return sb->err;
    if (json_dump_callback (v, add_chunk, sb, JSON_COMPACT | JSON_ENCODE_ANY) < 0
        && !sb->err)
        sb->err = v ? -ENOMEM : -EINVAL;
    return sb->err;
}

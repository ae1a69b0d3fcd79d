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
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",
        [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a number with a fraction",
        [JSON_TRUE] = "a boolean",
        [JSON_FALSE] = "a boolean",
        [JSON_NULL] = "null",
    };

    return v ? names[json_typeof (v)] : "nothing";
}

/* Set an error that begins with "job.name"; where ("job") can be NULL or empty. */
static int fail_at (struct error *err, int errnum, const char *where, const char *key,
                    const char *problem)
{
    return error_set (err, errnum, "%s%s%s: %s", where ? where : "",
                      where && where[0] ? "." : "", key, problem);
}

static int expect_object (const json_t *o, const char *where, struct error *err)
{
    if (json_is_object (o))
        return 0;
    return error_set (err, EINVAL, "%s%sexpected an object, got %s", where ? where : "",
                      where && where[0] ? ": " : "", json_type_name (o));
}

#define TYPE(name) (1u << JSON_##name)

/* Find the value of key: 1 and *ret; 0: absent and optional; or negative errno. types:
 * the accepted ones, which `expected` names. */
static int look_up (const json_t *o, const char *key, unsigned types,
                    const char *expected, json_t **ret, enum json_need need,
                    const char *where, struct error *err)
{
    json_t *v = json_object_get (o, key);
    char problem[128];
    int rc = expect_object (o, where, err);

    if (rc < 0)
        return rc;
    if (!v && need == JSON_REQUIRED)
        return fail_at (err, EINVAL, where, key, "required but missing");
    if (v && !(types & (1u << json_typeof (v)))) {
        snprintf (problem, sizeof (problem), "expected %s, got %s", expected,
                  json_type_name (v));
        return fail_at (err, EINVAL, where, key, problem);
    }
    if (v)
        *ret = v;
    return v != NULL;
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
    int rc = look_up (o, key, TYPE (STRING), "a string", &v, need, where, err);

    if (rc <= 0)
        return rc;
    *ret = json_string_value (v);
    return 1;
}

int json_get_int (const json_t *o, const char *key, int64_t min, int64_t max,
                  int64_t *ret, enum json_need need, const char *where, struct error *err)
{
    json_t *v;
    int rc = look_up (o, key, TYPE (INTEGER), "an integer", &v, need, where, err);

    if (rc <= 0)
        return rc;
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
    int rc =
        look_up (o, key, TYPE (INTEGER) | TYPE (REAL), "a number", &v, need, where, err);

    if (rc <= 0)
        return rc;
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
    int rc =
        look_up (o, key, TYPE (TRUE) | TYPE (FALSE), "a boolean", &v, need, where, err);

    if (rc <= 0)
        return rc;
    *ret = json_is_true (v);
    return 1;
}

int json_get_object (const json_t *o, const char *key, json_t **ret, enum json_need need,
                     const char *where, struct error *err)
{
    return look_up (o, key, TYPE (OBJECT), "an object", ret, need, where, err);
}

int json_get_array (const json_t *o, const char *key, json_t **ret, enum json_need need,
                    const char *where, struct error *err)
{
    return look_up (o, key, TYPE (ARRAY), "an array", ret, need, where, err);
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

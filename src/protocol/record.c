/* record.c - reads and writes structures as records of text */
#include "protocol/record.h"

#include "common/parse.h"

static void *member (const void *base, const struct record_field *f)
{
    return (char *)base + f->offset;
}

/* -- reading -- */

/* "WHAT: NAME: problem", -EINVAL. */
static int bad (const struct record *r, const char *problem, struct error *err)
{
    return error_set (err, EINVAL, "%s: %s: %s", r->what, r->name, problem);
}

int record_take (struct record_text *text, struct record *ret, struct error *err)
{
    const char *p = text->data;
    const char *end = p + text->len;
    size_t n = 0, len = 0;

    ret->what = text->what;
    if (text->len == 0)
        return 0;
    while (p < end && *p != ' ' && *p != '\n' && n < sizeof (ret->name) - 1)
        ret->name[n++] = *p++;
    ret->name[n] = '\0';
    if (n == 0 || p == end || *p++ != ' ')
        return bad (ret, "no length", err);
    const char *digits = p;
    for (; p < end && *p >= '0' && *p <= '9' && len <= text->longest; p++)
        len = len * 10 + (size_t)(*p - '0');
    if (p == digits || p == end || *p++ != '\n')
        return bad (ret, "no length", err);
    if ((size_t)(end - p) <= len || p[len] != '\n')
        return bad (ret, "its length is wrong, or the file is cut", err);
    ret->data = p;
    ret->len = len;
    text->data = p + len + 1;
    text->len = (size_t)(end - text->data);
    return memchr (p, '\0', len) ? bad (ret, "has a NUL byte", err) : 1;
}

static int read_number (const struct record_field *f, void *base, const struct record *r,
                        struct error *err)
{
    autofree char *text = strndup (r->data, r->len);
    char what[96];
    int64_t n;

    if (!text)
        return error_errno (err, ENOMEM, "%s", r->what);
    snprintf (what, sizeof (what), "%s: %s", r->what, r->name);
    if (parse_int (text, f->min, f->max, &n, what, err) < 0)
        return -EINVAL;
    switch (f->type) {
    case RECORD_BOOLEAN:
        *(bool *)member (base, f) = n != 0;
        break;
    case RECORD_U32:
        *(uint32_t *)member (base, f) = (uint32_t)n;
        break;
    case RECORD_SECONDS:
        *(double *)member (base, f) = (double)n / 1000;
        break;
    default:
        *(uint64_t *)member (base, f) = (uint64_t)n;
    }
    return 0;
}

int record_read (const struct record_field *fields, size_t n, void *base, uint64_t *seen,
                 const struct record *r, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp (r->name, fields[i].name))
            continue;
        if (*seen & UINT64_C (1) << i)
            return bad (r, "occurs twice", err);
        *seen |= UINT64_C (1) << i;
        if (fields[i].type != RECORD_STRING)
            return read_number (&fields[i], base, r, err);
        char *s = strndup (r->data, r->len);
        *(char **)member (base, &fields[i]) = s;
        return s ? 0 : error_errno (err, ENOMEM, "%s", r->what);
    }
    return bad (r, "unknown record", err);
}

void *record_room (void *array, size_t n, size_t size)
{
    if (n == 0)
        return realloc (array, 9 * size);
    if (n >= 8 && (n & (n - 1)) == 0)
        return realloc (array, (2 * n + 1) * size);
    return array;
}

int record_append (char ***array, size_t *n, const struct record *r, struct error *err)
{
    char *s = strndup (r->data, r->len);
    char **p = s ? record_room (*array, *n, sizeof (*p)) : NULL;

    if (!p) {
        free (s);
        return error_errno (err, ENOMEM, "%s", r->what);
    }
    *array = p;
    p[(*n)++] = s;
    p[*n] = NULL;
    return 0;
}

int record_append_env (char ***array, size_t *n, const struct record *r,
                       struct error *err)
{
    const char *equals = memchr (r->data, '=', r->len);

    return equals && equals != r->data ? record_append (array, n, r, err)
                                       : bad (r, "not NAME=VALUE", err);
}

/* -- writing -- */

void record_add_one (struct strbuf *sb, const char *name, const char *data, size_t len)
{
    strbuf_addf (sb, "%s %zu\n", name, len);
    strbuf_add (sb, data, len);
    strbuf_addch (sb, '\n');
}

/* The number of a field as in the text; -1: it cannot be written. */
static int64_t field_number (const struct record_field *f, const void *base)
{
    uint64_t n = 0;
    double seconds;

    switch (f->type) {
    case RECORD_BOOLEAN:
        n = *(bool *)member (base, f);
        break;
    case RECORD_U32:
        n = *(uint32_t *)member (base, f);
        break;
    case RECORD_SECONDS:
        seconds = *(double *)member (base, f);
        if (!(seconds >= 0 && seconds <= (double)f->max / 1000))
            return -1;
        n = (uint64_t)(seconds * 1000 + 0.5);
        break;
    default:
        n = *(uint64_t *)member (base, f);
    }
    return n > (uint64_t)INT64_MAX ? -1 : (int64_t)n;
}

static int write_field (const struct record_field *f, const void *base, struct strbuf *sb)
{
    char text[32];

    if (f->type == RECORD_STRING) {
        const char *s = *(char **)member (base, f);
        if (s)
            record_add_one (sb, f->name, s, strlen (s));
        return 0;
    }
    int64_t n = field_number (f, base);
    if (n < f->min || n > f->max)
        return -EINVAL;
    int len = snprintf (text, sizeof (text), "%jd", (intmax_t)n);
    record_add_one (sb, f->name, text, (size_t)len);
    return 0;
}

int record_write (const struct record_field *fields, size_t n, const void *base,
                  struct strbuf *sb)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = write_field (&fields[i], base, sb);
    return rc;
}

void record_add_strings (struct strbuf *sb, const char *name, char *const *array,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        record_add_one (sb, name, array[i], strlen (array[i]));
}

/* -- the rest -- */

void record_free_strings (char **array, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free (array[i]);
    free (array);
}

void record_release (const struct record_field *fields, size_t n, void *base)
{
    for (size_t i = 0; i < n; i++) {
        if (fields[i].type != RECORD_STRING)
            continue;
        free (*(char **)member (base, &fields[i]));
        *(char **)member (base, &fields[i]) = NULL;
    }
}

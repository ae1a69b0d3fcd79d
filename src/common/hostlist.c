/* hostlist.c - see hostlist.h. The names are stored one after another in one block of
 * memory, each with its NUL; an array has the offset of each name.
 */
#include "common/hostlist.h"

#define MAX_NAME 255                 /* bytes of one host name */
#define MAX_BYTES (64 * 1024 * 1024) /* of all names together */
#define MAX_DIGITS 18                /* of a number in a name, so that it fits 64 bits */

struct hostlist {
    struct strbuf names;
    uint32_t *offset;
    size_t n, alloc;
};

struct hostlist *hostlist_create (void)
{
    struct hostlist *hl = calloc (1, sizeof (*hl));

    if (hl)
        strbuf_init (&hl->names, MAX_BYTES);
    return hl;
}

void hostlist_destroy (struct hostlist *hl)
{
    if (!hl)
        return;
    strbuf_release (&hl->names);
    free (hl->offset);
    free (hl);
}

size_t hostlist_count (const struct hostlist *hl)
{
    return hl->n;
}

/* i < hl->n */
static const char *name_at (const struct hostlist *hl, size_t i)
{
    return hl->names.buf + hl->offset[i];
}

const char *hostlist_nth (const struct hostlist *hl, size_t i)
{
    return i < hl->n ? name_at (hl, i) : NULL;
}

ssize_t hostlist_find (const struct hostlist *hl, const char *host)
{
    for (size_t i = 0; i < hl->n; i++) {
        if (!strcmp (name_at (hl, i), host))
            return (ssize_t)i;
    }
    return -1;
}

/* Printable ASCII except blank, comma and brackets (RFC 29). */
static bool is_name_char (char c)
{
    return c > ' ' && c < 0x7f && c != ',' && c != '[' && c != ']';
}

static size_t name_length (const char *p)
{
    size_t n = 0;

    while (is_name_char (p[n]))
        n++;
    return n;
}

static int append (struct hostlist *hl, const char *name, size_t len)
{
    if (len == 0 || len > MAX_NAME)
        return -EINVAL;
    if (hl->n == HOSTLIST_MAX)
        return -ERANGE;
    if (array_reserve (&hl->offset, &hl->alloc, hl->n + 1, sizeof (*hl->offset)) < 0)
        return -ENOMEM;
    size_t start = hl->names.len;
    if (strbuf_reserve (&hl->names, len + 1) < 0) {
        int rc = hl->names.err == -E2BIG ? -ERANGE : hl->names.err;
        hl->names.err = 0; /* the names in the list stay usable */
        return rc;
    }
    strbuf_add (&hl->names, name, len);
    strbuf_add (&hl->names, "", 1);
    hl->offset[hl->n++] = (uint32_t)start;
    return 0;
}

int hostlist_append (struct hostlist *hl, const char *host)
{
    size_t len = name_length (host);

    return host[len] ? -EINVAL : append (hl, host, len);
}

/* -- decoding -- */

/* A number in brackets and its number of digits. */
struct number {
    uint64_t value;
    size_t width;
};

static int read_number (const char **p, struct number *ret)
{
    struct number n = { 0, 0 };

    for (; **p >= '0' && **p <= '9'; (*p)++) {
        if (++n.width > MAX_DIGITS)
            return -EINVAL;
        n.value = n.value * 10 + (uint64_t)(**p - '0');
    }
    *ret = n;
    return n.width > 0 ? 0 : -EINVAL;
}

static bool has_leading_zero (const char *digits, size_t width)
{
    return width > 1 && digits[0] == '0';
}

/* "prefix[idlist]suffix" as pieces of the text. */
struct expression {
    const char *prefix, *ids, *suffix;
    size_t prefix_len, suffix_len;
};

/* A pass over a text: the first pass only counts, the second fills the list. */
struct decoding {
    struct hostlist *hl; /* NULL: only count */
    size_t limit;        /* names */
    size_t n, bytes;     /* of the names so far, each with its NUL */
};

static int add_name (struct decoding *d, const char *name, size_t len)
{
    if (d->hl)
        return append (d->hl, name, len);
    if (len > MAX_NAME)
        return -EINVAL;
    if (d->n == d->limit || len + 1 > MAX_BYTES - d->bytes)
        return -ERANGE;
    d->n++;
    d->bytes += len + 1;
    return 0;
}

static size_t digits_of (uint64_t value)
{
    size_t n = 1;

    while (value /= 10)
        n++;
    return n;
}

/* The longest name of a range is its last. */
static int count_numbered (struct decoding *d, const struct expression *e, uint64_t first,
                           uint64_t last, size_t width)
{
    size_t len = e->prefix_len + MAX (width, digits_of (last)) + e->suffix_len;

    if (len > MAX_NAME)
        return -EINVAL;
    if (last - first >= d->limit - d->n
        || last - first >= (MAX_BYTES - d->bytes) / (len + 1))
        return -ERANGE;
    d->n += (size_t)(last - first) + 1;
    d->bytes += ((size_t)(last - first) + 1) * (len + 1);
    return 0;
}

static int add_numbered (struct decoding *d, const struct expression *e, uint64_t first,
                         uint64_t last, size_t width)
{
    char name[MAX_NAME + 1];
    int rc = 0;

    if (!d->hl)
        return count_numbered (d, e, first, last, width);
    for (uint64_t i = first; i <= last && rc == 0; i++) {
        int n =
            snprintf (name, sizeof (name), "%.*s%0*ju%.*s", (int)e->prefix_len, e->prefix,
                      (int)width, (uintmax_t)i, (int)e->suffix_len, e->suffix);
        rc = append (d->hl, name, (size_t)n);
    }
    return rc;
}

/* Add all hosts of the expression. Leading zeros of the first id apply to all ids. */
static int decode_ids (struct decoding *d, const struct expression *e)
{
    const char *p = e->ids;
    size_t padding = 0;
    int rc;

    for (;;) {
        const char *start = p;
        struct number first, last;
        if ((rc = read_number (&p, &first)) < 0)
            return rc;
        if (has_leading_zero (start, first.width))
            padding = MAX (padding, first.width);
        last = first;
        if (*p == '-') {
            p++;
            if ((rc = read_number (&p, &last)) < 0)
                return rc;
        }
        if (last.value < first.value)
            return -EINVAL;
        if ((rc = add_numbered (d, e, first.value, last.value, padding)) < 0)
            return rc;
        if (*p == ']')
            return 0;
        if (*p++ != ',')
            return -EINVAL;
    }
}

/* Read one hostlist expression at *p, advance past it. */
static int decode_expression (struct decoding *d, const char **p)
{
    struct expression e = { .prefix = *p, .prefix_len = name_length (*p) };
    const char *q = *p + e.prefix_len;

    if (*q != '[') {
        *p = q;
        return e.prefix_len > 0 ? add_name (d, e.prefix, e.prefix_len) : 0;
    }
    e.ids = q + 1;
    q = e.ids + strspn (e.ids, "0123456789,-");
    if (*q != ']')
        return -EINVAL;
    e.suffix = q + 1;
    e.suffix_len = name_length (e.suffix);
    if (e.prefix_len > MAX_NAME || e.suffix_len > MAX_NAME)
        return -EINVAL;
    *p = e.suffix + e.suffix_len;
    return decode_ids (d, &e);
}

static int decode_text (struct decoding *d, const char *text)
{
    const char *p = text;
    int rc = 0;

    while (rc == 0 && *p) {
        rc = decode_expression (d, &p);
        if (rc == 0 && *p && *p++ != ',')
            rc = -EINVAL;
    }
    return rc;
}

struct hostlist *hostlist_decode (const char *text, size_t limit, struct error *err)
{
    struct decoding d = { .limit = MIN (limit, (size_t)HOSTLIST_MAX) };
    int rc = decode_text (&d, text);

    if (rc == 0) {
        d.hl = hostlist_create ();
        rc = d.hl ? decode_text (&d, text) : -ENOMEM;
    }
    if (rc == 0)
        return d.hl;
    if (rc == -ENOMEM)
        error_errno (err, ENOMEM, "hostlist");
    else if (rc == -ERANGE)
        error_set (err, ERANGE, "hostlist '%.80s': more than %zu name%s", text, d.limit,
                   d.limit == 1 ? "" : "s");
    else
        error_set (err, EINVAL, "hostlist '%.80s': not host names as node[1-3,7],login0",
                   text);
    hostlist_destroy (d.hl);
    return NULL;
}

/* -- encoding -- */

/* A run of names that differ in one number: the place of that number. */
struct run {
    size_t start, width; /* of the digits in the run's first name */
    const char *suffix;  /* the text after the digits */
    size_t padding;      /* width of the first number if it has leading zeros, else 0 */
};

static bool is_digit (char c)
{
    return c >= '0' && c <= '9';
}

/* The last digits of a name. */
static bool last_number (const char *name, size_t *start, size_t *end)
{
    size_t i = strlen (name);

    while (i > 0 && !is_digit (name[i - 1]))
        i--;
    *end = i;
    while (i > 0 && is_digit (name[i - 1]))
        i--;
    *start = i;
    return *end > *start;
}

/* The digits around the first place where two names differ. */
static bool differing_number (const char *a, const char *b, size_t *start, size_t *end)
{
    size_t i = 0;

    while (a[i] && a[i] == b[i])
        i++;
    if (!a[i] && !b[i])
        return last_number (a, start, end);
    *start = i;
    while (*start > 0 && is_digit (a[*start - 1]))
        (*start)--;
    *end = i;
    while (is_digit (a[*end]))
        (*end)++;
    return *end > *start;
}

/* The number of name in the run; false: the name is not in this run. */
static bool run_number (const struct run *run, const char *first, const char *name,
                        uint64_t *ret)
{
    if (strncmp (first, name, run->start))
        return false;
    const char *p = name + run->start;
    struct number n;
    if (read_number (&p, &n) < 0 || strcmp (p, run->suffix))
        return false;
    /* The run's padding must print the same digits again. */
    if (n.width < run->padding
        || (n.width > run->padding && has_leading_zero (name + run->start, n.width)))
        return false;
    *ret = n.value;
    return true;
}

/* Find the run that begins at name i, by comparison with the next name. */
static bool begin_run (const struct hostlist *hl, size_t i, struct run *run)
{
    const char *name = name_at (hl, i);
    size_t end;

    if (i + 1 == hl->n
        || !differing_number (name, name_at (hl, i + 1), &run->start, &end))
        return false;
    run->width = end - run->start;
    if (run->width > MAX_DIGITS)
        return false;
    run->suffix = name + end;
    run->padding = has_leading_zero (name + run->start, run->width) ? run->width : 0;
    return true;
}

static void add_range (struct strbuf *sb, const struct run *run, uint64_t first,
                       uint64_t last)
{
    strbuf_addf (sb, "%0*ju", (int)run->padding, (uintmax_t)first);
    if (last > first)
        strbuf_addf (sb, "-%0*ju", (int)run->padding, (uintmax_t)last);
}

/* Append the names from i on that make one expression; returns the index after them. */
static size_t encode_run (const struct hostlist *hl, size_t i, struct strbuf *sb)
{
    const char *name = name_at (hl, i);
    struct run run;
    uint64_t first, last, n;

    if (!begin_run (hl, i, &run) || !run_number (&run, name, name, &first)
        || !run_number (&run, name, name_at (hl, i + 1), &n)) {
        strbuf_adds (sb, name);
        return i + 1;
    }
    strbuf_add (sb, name, run.start);
    strbuf_addch (sb, '[');
    last = first;
    for (i++; i < hl->n && run_number (&run, name, name_at (hl, i), &n); i++) {
        if (n != last + 1) {
            add_range (sb, &run, first, last);
            strbuf_addch (sb, ',');
            first = n;
        }
        last = n;
    }
    add_range (sb, &run, first, last);
    strbuf_addch (sb, ']');
    strbuf_adds (sb, run.suffix);
    return i;
}

char *hostlist_encode (const struct hostlist *hl)
{
    struct strbuf sb = STRBUF_INIT (2 * (size_t)MAX_BYTES);
    size_t i = 0;

    while (i < hl->n && !sb.err) {
        if (i > 0)
            strbuf_addch (&sb, ',');
        i = encode_run (hl, i, &sb);
    }
    return strbuf_detach (&sb);
}

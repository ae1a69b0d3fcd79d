/* idset.c - see idset.h. Ranges are sorted, disjoint and never adjacent, so equal sets
 * have equal arrays.
 */
#include "common/idset.h"

#define ID_MAX INT32_MAX

struct range {
    uint32_t first, last;
    uint32_t before; /* number of ids in the ranges before this one */
};

struct idset {
    struct range *ranges;
    size_t n, alloc;
};

struct idset *idset_create (void)
{
    return calloc (1, sizeof (struct idset));
}

void idset_destroy (struct idset *s)
{
    if (!s)
        return;
    free (s->ranges);
    free (s);
}

struct idset *idset_copy (const struct idset *s)
{
    struct idset *copy = idset_create ();

    if (!copy || s->n == 0)
        return copy;
    copy->ranges = malloc (s->n * sizeof (*s->ranges));
    if (!copy->ranges) {
        free (copy);
        return NULL;
    }
    memcpy (copy->ranges, s->ranges, s->n * sizeof (*s->ranges));
    copy->n = copy->alloc = s->n;
    return copy;
}

static uint32_t size_of (const struct range *r)
{
    return r->last - r->first + 1;
}

/* Update `before` in the ranges from i on. */
static void recount (struct idset *s, size_t i)
{
    uint32_t before = i > 0 ? s->ranges[i - 1].before + size_of (&s->ranges[i - 1]) : 0;

    for (; i < s->n; i++) {
        s->ranges[i].before = before;
        before += size_of (&s->ranges[i]);
    }
}

/* The index of the first range that ends at or after id; s->n: none. */
static size_t find (const struct idset *s, uint32_t id)
{
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->ranges[mid].last < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Make room for one range at index i. */
static int insert_range (struct idset *s, size_t i, struct range r)
{
    if (array_reserve (&s->ranges, &s->alloc, s->n + 1, sizeof (r)) < 0)
        return -ENOMEM;
    memmove (s->ranges + i + 1, s->ranges + i, (s->n - i) * sizeof (r));
    s->ranges[i] = r;
    s->n++;
    return 0;
}

static void remove_ranges (struct idset *s, size_t i, size_t n)
{
    if (n == 0)
        return;
    memmove (s->ranges + i, s->ranges + i + n, (s->n - i - n) * sizeof (s->ranges[0]));
    s->n -= n;
}

int idset_add_range (struct idset *s, uint32_t first, uint32_t last)
{
    struct range r = { .first = first, .last = last };
    size_t i, end;

    if (first > last || last > ID_MAX)
        return -ERANGE;
    /* The ranges from i to end overlap or touch the new range, and are merged with it. */
    i = find (s, first > 0 ? first - 1 : 0);
    for (end = i; end < s->n && s->ranges[end].first <= last + 1; end++) {
        r.first = MIN (r.first, s->ranges[end].first);
        r.last = MAX (r.last, s->ranges[end].last);
    }
    if (end == i) {
        int rc = insert_range (s, i, r);
        if (rc < 0)
            return rc;
    } else {
        s->ranges[i] = r;
        remove_ranges (s, i + 1, end - i - 1);
    }
    recount (s, i);
    return 0;
}

/* Append r, which begins at or after the beginning of the last range; merges the two. */
static void append_range (struct idset *s, struct range r)
{
    struct range *last = s->n > 0 ? &s->ranges[s->n - 1] : NULL;

    if (last && r.first <= last->last + 1) {
        last->last = MAX (last->last, r.last);
        return;
    }
    r.before = last ? last->before + size_of (last) : 0;
    s->ranges[s->n++] = r;
}

int idset_add_all (struct idset *s, const struct idset *more)
{
    struct idset both = { .alloc = s->n + more->n };
    size_t i = 0, k = 0;

    if (more->n == 0)
        return 0;
    both.ranges = malloc (both.alloc * sizeof (*both.ranges));
    if (!both.ranges)
        return -ENOMEM;
    while (i < s->n || k < more->n) {
        bool mine =
            k == more->n || (i < s->n && s->ranges[i].first <= more->ranges[k].first);
        append_range (&both, mine ? s->ranges[i++] : more->ranges[k++]);
    }
    free (s->ranges);
    *s = both;
    return 0;
}

/* Merges by halves: adding the sets one by one would pass over all earlier ranges each
 * time. */
struct idset *idset_unite (struct idset *const *sets, size_t n)
{
    if (n <= 1)
        return n == 1 ? idset_copy (sets[0]) : idset_create ();
    struct idset *left = idset_unite (sets, n / 2);
    struct idset *right = left ? idset_unite (sets + n / 2, n - n / 2) : NULL;
    int rc = right ? idset_add_all (left, right) : -ENOMEM;

    idset_destroy (right);
    if (rc == 0)
        return left;
    idset_destroy (left);
    return NULL;
}

int idset_add (struct idset *s, uint32_t id)
{
    return idset_add_range (s, id, id);
}

int idset_remove (struct idset *s, uint32_t id)
{
    size_t i = find (s, id);

    if (i == s->n || s->ranges[i].first > id)
        return 0;
    struct range *r = &s->ranges[i];
    if (r->first == r->last)
        remove_ranges (s, i, 1);
    else if (r->first == id)
        r->first++;
    else if (r->last == id)
        r->last--;
    else {
        uint32_t last = r->last;
        int rc =
            insert_range (s, i + 1, (struct range){ .first = id + 1, .last = last });
        if (rc < 0)
            return rc;
        s->ranges[i].last = id - 1;
    }
    recount (s, i);
    return 0;
}

int idset_remove_all (struct idset *s, const struct idset *less)
{
    struct idset rest = { .alloc = s->n + less->n };
    size_t k = 0;

    if (s->n == 0 || less->n == 0)
        return 0;
    rest.ranges = malloc (rest.alloc * sizeof (*rest.ranges));
    if (!rest.ranges)
        return -ENOMEM;
    for (size_t i = 0; i < s->n; i++) {
        struct range r = s->ranges[i];
        while (k < less->n && less->ranges[k].last < r.first)
            k++;
        for (size_t j = k; j < less->n && less->ranges[j].first <= r.last; j++) {
            if (less->ranges[j].first > r.first)
                append_range (&rest, (struct range){ .first = r.first,
                                                     .last = less->ranges[j].first - 1 });
            r.first = less->ranges[j].last + 1;
            if (r.first > r.last)
                break;
        }
        if (r.first <= r.last)
            append_range (&rest, r);
    }
    free (s->ranges);
    *s = rest;
    return 0;
}

bool idset_has (const struct idset *s, uint32_t id)
{
    size_t i = find (s, id);

    return i < s->n && s->ranges[i].first <= id;
}

uint32_t idset_count (const struct idset *s)
{
    return s->n > 0 ? s->ranges[s->n - 1].before + size_of (&s->ranges[s->n - 1]) : 0;
}

uint32_t idset_first (const struct idset *s)
{
    return s->n > 0 ? s->ranges[0].first : IDSET_END;
}

uint32_t idset_next (const struct idset *s, uint32_t id)
{
    if (id >= ID_MAX)
        return IDSET_END;
    size_t i = find (s, id + 1);
    return i < s->n ? MAX (s->ranges[i].first, id + 1) : IDSET_END;
}

uint32_t idset_rank (const struct idset *s, uint32_t id)
{
    size_t i = find (s, id);

    if (i == s->n)
        return idset_count (s);
    return s->ranges[i].before + (id > s->ranges[i].first ? id - s->ranges[i].first : 0);
}

uint32_t idset_nth (const struct idset *s, uint32_t n)
{
    size_t lo = 0, hi = s->n; /* the range is in lo .. hi - 1 */

    if (n >= idset_count (s))
        return IDSET_END;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->ranges[mid].before <= n)
            lo = mid;
        else
            hi = mid;
    }
    return s->ranges[lo].first + (n - s->ranges[lo].before);
}

bool idset_equal (const struct idset *a, const struct idset *b)
{
    return a->n == b->n
           && (a->n == 0 || !memcmp (a->ranges, b->ranges, a->n * sizeof (a->ranges[0])));
}

/* Write n at p; returns where it ends. */
static char *put_number (char *p, uint32_t n)
{
    char digits[10];
    int len = 0;

    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    while (len > 0)
        *p++ = digits[--len];
    return p;
}

int strbuf_add_idset (struct strbuf *sb, const struct idset *s)
{
    for (size_t i = 0; i < s->n; i++) {
        char text[24];
        char *p = text;
        if (i > 0)
            *p++ = ',';
        p = put_number (p, s->ranges[i].first);
        if (s->ranges[i].last > s->ranges[i].first) {
            *p++ = '-';
            p = put_number (p, s->ranges[i].last);
        }
        if (strbuf_add (sb, text, (size_t)(p - text)) < 0)
            break;
    }
    return sb->err;
}

char *idset_encode (const struct idset *s)
{
    struct strbuf sb = STRBUF_INIT (s->n * 24 + 1);

    strbuf_add_idset (&sb, s);
    return strbuf_detach (&sb);
}

/* Read one id at *p, advance. RFC 22: decimal, no leading zeros. */
static int read_id (const char **p, const char *end, uint32_t *ret)
{
    const char *start = *p;
    uint64_t n = 0;

    for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
        if (n <= ID_MAX)
            n = n * 10 + (uint64_t)(**p - '0');
    }
    if (*p == start || (*start == '0' && *p - start > 1))
        return -EINVAL;
    if (n > ID_MAX)
        return -ERANGE;
    *ret = (uint32_t)n;
    return 0;
}

/* Read the ranges between p and end into s. -E2BIG: more than limit ids. */
static int decode_ranges (struct idset *s, size_t limit, const char *p, const char *end)
{
    uint32_t first, last;
    int rc;

    while (p < end) {
        if ((rc = read_id (&p, end, &first)) < 0)
            return rc;
        last = first;
        if (p < end && *p == '-') {
            p++;
            if ((rc = read_id (&p, end, &last)) < 0)
                return rc;
        }
        if (first > last || (s->n > 0 && first <= s->ranges[s->n - 1].last))
            return -EINVAL; /* reversed, unsorted or doubled */
        if (last - first >= limit - idset_count (s))
            return -E2BIG;
        if ((rc = idset_add_range (s, first, last)) < 0)
            return rc;
        if (p < end && (*p++ != ',' || p == end))
            return -EINVAL;
    }
    return 0;
}

struct idset *idset_decode (const char *text, size_t limit, struct error *err)
{
    const char *p = text;
    const char *end = p + strlen (text);
    struct idset *s = idset_create ();
    int rc = s ? 0 : -ENOMEM;

    if (*p == '[') {
        if (end[-1] == ']' && end - p >= 2)
            end--;
        else
            rc = rc ? rc : -EINVAL;
        p++;
    }
    if (rc == 0)
        rc = decode_ranges (s, limit, p, end);
    if (rc == 0)
        return s;
    if (rc == -ENOMEM)
        error_errno (err, ENOMEM, "idset");
    else if (rc == -ERANGE)
        error_set (err, ERANGE, "idset '%.80s': an id is above %d", text, ID_MAX);
    else if (rc == -E2BIG)
        error_set (err, ERANGE, "idset '%.80s': more than %zu id%s", text, limit,
                   limit == 1 ? "" : "s");
    else
        error_set (err, EINVAL, "idset '%.80s': not sorted ids and ranges as 0-3,7",
                   text);
    idset_destroy (s);
    return NULL;
}

/* subuid.c - see subuid.h
 */
#include "broker/api/subuid.h"

#include "broker/core/users.h"
#include "common/io.h"
#include "common/parse.h"

#define FILE_MAX ((size_t)4 << 20)
#define UID_END INT64_C (0xffffffff) /* (uid_t)-1 is no user */

struct range {
    uid_t first, last, owner;
};

struct subuids {
    size_t n, max;
    struct range *ranges; /* by first */
};

/* Names before numbers: a user may be called 1000. */
static int find_owner (const char *text, uid_t *ret)
{
    int64_t number;
    int rc = users_uid_of (text, ret);

    if (rc == 0 || rc == -ENOMEM)
        return rc;
    if (parse_int (text, 0, UID_END - 1, &number, "uid", NULL) < 0)
        return -ENOENT;
    *ret = (uid_t)number;
    return 0;
}

/* Returns 0 also for an ignored line. */
static int add_line (struct subuids *t, char *line)
{
    char *first = strchr (line, ':');
    char *count = first ? strchr (first + 1, ':') : NULL;
    int64_t from, n;
    uid_t owner;

    if (!count)
        return 0;
    *first++ = *count++ = '\0';
    if (parse_int (first, 1, UID_END - 1, &from, "uid", NULL) < 0
        || parse_int (count, 1, UID_END - from, &n, "count", NULL) < 0)
        return 0;
    int rc = find_owner (line, &owner);
    if (rc < 0 || owner == 0)
        return rc == -ENOMEM ? rc : 0;
    if (array_reserve (&t->ranges, &t->max, t->n + 1, sizeof (*t->ranges)) < 0)
        return -ENOMEM;
    t->ranges[t->n++] = (struct range){ (uid_t)from, (uid_t)(from + n - 1), owner };
    return 0;
}

static int by_first (const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

struct subuids *subuids_read (const char *path, struct error *err)
{
    struct subuids *t = calloc (1, sizeof (*t));
    autostrbuf struct strbuf text = STRBUF_INIT (FILE_MAX);
    char *state, *line;
    int rc = t ? 0 : -ENOMEM;

    if (!t || io_read_file (path, &text, FILE_MAX - 1, err) < 0)
        goto fail;
    for (line = strtok_r (text.buf, "\n", &state); line && rc == 0;
         line = strtok_r (NULL, "\n", &state))
        rc = add_line (t, line);
    if (rc < 0)
        goto fail;
    if (t->n > 0)
        qsort (t->ranges, t->n, sizeof (*t->ranges), by_first);
    return t;
fail:
    if (rc < 0)
        error_set (err, ENOMEM, "out of memory");
    subuids_destroy (t);
    return NULL;
}

void subuids_destroy (struct subuids *t)
{
    if (!t)
        return;
    free (t->ranges);
    free (t);
}

size_t subuids_count (const struct subuids *t)
{
    return t ? t->n : 0;
}

uid_t subuids_owner (const struct subuids *t, uid_t uid)
{
    size_t low = 0, high = t ? t->n : 0;

    while (low < high) { /* finds the last range that begins at or before uid */
        size_t mid = low + (high - low) / 2;
        if (t->ranges[mid].first <= uid)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && uid <= t->ranges[low - 1].last ? t->ranges[low - 1].owner : uid;
}

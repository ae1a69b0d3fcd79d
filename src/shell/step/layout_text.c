/* layout_text.c - parses the host file, see layout.h */
#include <strings.h>

#include "common/parse.h"
#include "shell/step/layout.h"

struct named {
    const char *name;
    uint32_t rank;
};

static int by_name (const void *a, const void *b)
{
    return strcmp (((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Sorts the ranks by name; NULL: no memory. */
static struct named *sort_names (const struct hostlist *nodes)
{
    size_t n = hostlist_count (nodes);
    struct named *names = calloc (n + 1, sizeof (*names));

    for (size_t i = 0; names && i < n; i++)
        names[i] = (struct named){ hostlist_nth (nodes, i), (uint32_t)i };
    if (names)
        qsort (names, n, sizeof (*names), by_name);
    return names;
}

struct host_reader {
    struct named *names;
    size_t n_names;
    uint32_t *ranks;
    uint32_t n, ntasks;
    size_t line;
};

static int add_hosts (struct host_reader *r, const struct hostlist *hl, struct error *err)
{
    for (size_t i = 0; i < hostlist_count (hl) && r->n < r->ntasks; i++) {
        const struct named key = { .name = hostlist_nth (hl, i) };
        const struct named *found =
            bsearch (&key, r->names, r->n_names, sizeof (key), by_name);
        if (!found)
            return error_set (err, EINVAL,
                              "host file: line %zu: '%.255s' is not a node of this job",
                              r->line, key.name);
        r->ranks[r->n++] = found->rank;
    }
    return 0;
}

/* Copies the text before a '#' without blanks at the ends and beside commas, and without
 * a comma at the end. */
static void clean_line (char *out, const char *p, size_t len)
{
    size_t n = 0, end = 0; /* end: after the last character that is not blank */

    for (size_t i = 0; i < len && p[i] != '#'; i++) {
        bool blank = strchr (" \t\r", p[i]);
        if (blank && (end == 0 || out[end - 1] == ','))
            continue;
        if (p[i] == ',')
            n = end;
        out[n++] = p[i];
        end = blank ? end : n;
    }
    if (end > 0 && out[end - 1] == ',')
        end--;
    out[end] = '\0';
}

/* Reads one line, given without its newline. */
static int read_host_line (struct host_reader *r, const char *p, size_t len,
                           struct error *err)
{
    autofree char *line = malloc (len + 1);
    struct hostlist *hl;

    if (!line)
        return error_errno (err, ENOMEM, "host file");
    clean_line (line, p, len);
    if (!(hl = hostlist_decode (line, HOSTLIST_MAX, err)))
        return error_prefix (err, "host file: line %zu", r->line);
    int rc = add_hosts (r, hl, err);
    hostlist_destroy (hl);
    return rc;
}

static int read_host_lines (struct host_reader *r, const char *text, struct error *err)
{
    int rc;

    for (const char *p = text; *p && r->n < r->ntasks;) {
        size_t len = strcspn (p, "\n");
        r->line++;
        if ((rc = read_host_line (r, p, len, err)) < 0)
            return rc;
        p += len + (p[len] == '\n');
    }
    if (r->n == r->ntasks)
        return 0;
    return error_set (err, EINVAL, "host file: %u name%s for %u tasks", r->n,
                      r->n == 1 ? "" : "s", r->ntasks);
}

int layout_read_hosts (const char *text, const struct hostlist *nodes, uint32_t ntasks,
                       uint32_t **ret, struct error *err)
{
    autofree struct named *names = sort_names (nodes);
    autofree uint32_t *ranks = calloc ((size_t)ntasks + 1, sizeof (*ranks));
    struct host_reader r = { .names = names,
                             .n_names = hostlist_count (nodes),
                             .ranks = ranks,
                             .ntasks = ntasks };
    struct error own = { 0 };
    int rc;

    if (!names || !ranks)
        return error_errno (err, ENOMEM, "host file");
    /* error_prefix() takes its result from the struct error, so one is needed. */
    if ((rc = read_host_lines (&r, text, err ? err : &own)) < 0)
        return rc;
    *ret = ranks;
    ranks = NULL;
    return 0;
}

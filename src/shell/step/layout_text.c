/* layout_text.c - parses the option --distribution and the host file, see layout.h */
#include <strings.h>

#include "common/parse.h"
#include "shell/step/layout.h"

/* -- --distribution -- */

#define WORD_MAX 31

/* One word of the option; longer words are invalid. */
struct word {
    char text[WORD_MAX + 1];
};

static const struct {
    const char *name;
    enum layout_kind kind;
} kinds[] = {
    { "*", LAYOUT_DEFAULT },
    { "block", LAYOUT_BLOCK },
    { "cyclic", LAYOUT_CYCLIC },
    { "arbitrary", LAYOUT_ARBITRARY },
};

static const struct {
    const char *name;
    enum layout_order order;
} orders[] = {
    { "*", LAYOUT_ORDER_DEFAULT },
    { "block", LAYOUT_ORDER_BLOCK },
    { "cyclic", LAYOUT_ORDER_CYCLIC },
    { "fcyclic", LAYOUT_ORDER_FCYCLIC },
};

/* Returns the part up to a ':' or ',' or the end; *p is behind it. */
static struct word next_word (const char **p)
{
    struct word w = { "" };
    size_t len = strcspn (*p, ":,");

    memcpy (w.text, *p, MIN (len, WORD_MAX));
    *p += len;
    return w;
}

static int read_plane (const char *size, struct layout_option *opt, struct error *err)
{
    int64_t n;
    int rc = parse_int (size, 1, LAYOUT_PLANE_MAX, &n, "--distribution: plane", err);

    if (rc < 0)
        return rc;
    opt->kind = LAYOUT_PLANE;
    opt->plane = (uint32_t)n;
    return 0;
}

static int read_kind (struct word w, struct layout_option *opt, struct error *err)
{
    if (!strncasecmp (w.text, "plane=", 6))
        return read_plane (w.text + 6, opt, err);
    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
        if (!strcasecmp (w.text, kinds[i].name)) {
            opt->kind = kinds[i].kind;
            return 0;
        }
    if (!strcasecmp (w.text, "plane"))
        return error_set (err, EINVAL, "--distribution: plane needs a size, as plane=4");
    return error_set (
        err, EINVAL,
        "--distribution: '%s' is not one of *, block, cyclic, plane=SIZE and "
        "arbitrary",
        w.text);
}

static int read_order (struct word w, enum layout_order *ret, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (orders); i++)
        if (!strcasecmp (w.text, orders[i].name)) {
            *ret = orders[i].order;
            return 0;
        }
    return error_set (err, EINVAL,
                      "--distribution: '%s' after ':' is not one of *, block, cyclic and "
                      "fcyclic",
                      w.text);
}

/* Parses the parts after the first: the order in which tasks get the cores of a node. */
static int read_orders (const char **p, struct layout_option *opt, struct error *err)
{
    enum layout_order cores = LAYOUT_ORDER_DEFAULT;
    int rc;

    if (**p != ':')
        return 0;
    if (opt->kind == LAYOUT_PLANE)
        return error_set (err, EINVAL, "--distribution: nothing goes with plane=SIZE");
    (*p)++;
    if ((rc = read_order (next_word (p), &opt->order, err)) < 0 || **p != ':')
        return rc;
    (*p)++;
    if ((rc = read_order (next_word (p), &cores, err)) < 0)
        return rc;
    if (cores != LAYOUT_ORDER_DEFAULT && cores != opt->order)
        return error_set (err, EINVAL,
                          "--distribution: a third part is about threads of a core, but "
                          "tasks get whole cores; leave it out");
    return **p != ':' ? 0
                      : error_set (err, EINVAL, "--distribution: more than three parts");
}

static int read_flag (struct word w, struct layout_option *opt, struct error *err)
{
    if (!strcasecmp (w.text, "nopack"))
        return 0;
    if (strcasecmp (w.text, "pack") != 0)
        return error_set (err, EINVAL,
                          "--distribution: '%s' after ',' is neither Pack nor NoPack",
                          w.text);
    if (opt->kind != LAYOUT_BLOCK && opt->kind != LAYOUT_DEFAULT)
        return error_set (err, EINVAL, "--distribution: Pack goes with block only");
    opt->kind = LAYOUT_BLOCK;
    opt->pack = true;
    return 0;
}

int layout_option_parse (const char *text, struct layout_option *ret, struct error *err)
{
    struct layout_option opt = { .kind = LAYOUT_DEFAULT };
    const char *p = text;
    int rc = read_kind (next_word (&p), &opt, err);

    if (rc < 0 || (rc = read_orders (&p, &opt, err)) < 0)
        return rc;
    if (*p == ',') {
        p++;
        if ((rc = read_flag (next_word (&p), &opt, err)) < 0)
            return rc;
    }
    if (*p)
        return error_set (err, EINVAL, "--distribution: '%.80s' after the flag", p);
    *ret = opt;
    return 0;
}

/* -- the host file -- */

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

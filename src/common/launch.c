/* launch.c - see launch.h. One table describes the single records; writing, reading and
 * releasing walk it. The repeated ones (arg, env, node) have a function each.
 */
#include "common/launch.h"

#include <errno.h>
#include <string.h>

#include "common/parse.h"

#define MAX_TASKS (INT64_C (1) << 31)
#define MAX_MILLISECONDS (INT64_C (3153600000) * 1000) /* 100 years */

enum field_type { STRING, BOOLEAN, U32, U64, SECONDS };

static const struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    int64_t min, max; /* of numbers; of SECONDS in milliseconds, as they are written */
} fields[] = {
#define FIELD(name, type, min, max)                                                      \
    {                                                                                    \
#name, type, offsetof(struct launch, name), min, max                             \
    }
    FIELD (job_id, U64, 1, INT64_MAX),
    FIELD (array_job, U64, 0, INT64_MAX),
    FIELD (array_task, U32, 0, UINT32_MAX),
    FIELD (array_count, U32, 0, UINT32_MAX),
    FIELD (array_min, U32, 0, UINT32_MAX),
    FIELD (array_max, U32, 0, UINT32_MAX),
    FIELD (array_step, U32, 0, UINT32_MAX),
    FIELD (job_name, STRING, 0, 0),
    FIELD (user, STRING, 0, 0),
    FIELD (queue, STRING, 0, 0),
    FIELD (cwd, STRING, 0, 0),
    FIELD (submit_dir, STRING, 0, 0),
    FIELD (cwd_fallback, BOOLEAN, 0, 1),
    FIELD (batch, BOOLEAN, 0, 1),
    FIELD (script, STRING, 0, 0),
    FIELD (nodes_requested, STRING, 0, 0),
    FIELD (cores_per_task, U32, 1, UINT32_MAX),
    FIELD (mem_mib, U64, 0, INT64_MAX),
    FIELD (time_limit, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (grace, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (join_timeout, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (rendezvous, STRING, 0, 0),
    FIELD (listen, STRING, 0, 0),
    FIELD (spool, STRING, 0, 0),
    FIELD (spool_max, U64, 0, INT64_MAX),
    FIELD (spool_keep, U64, 0, INT64_MAX),
    FIELD (serve_until_released, BOOLEAN, 0, 1),
    FIELD (output, STRING, 0, 0),
    FIELD (error, STRING, 0, 0),
    FIELD (append, BOOLEAN, 0, 1),
    FIELD (input, STRING, 0, 0),
    FIELD (umask, U32, 0, 0777),
#undef FIELD
};

/* A record's value in the text. */
struct value {
    const char *data;
    size_t len;
};

static void *member (const struct launch *l, const struct field *f)
{
    return (char *)l + f->offset;
}

/* --- reading --- */

static int bad (struct error *err, const char *name, const char *problem)
{
    return error_set (err, EINVAL, "launch file: %s: %s", name, problem);
}

static int no_memory (struct error *err)
{
    return error_errno (err, ENOMEM, "launch file");
}

/* The array with room for element n and a NULL after it; moved when n is 0 or a power of
 * two from 8 on. NULL: no memory (the old one is still there).
 */
static void *with_room (void *array, size_t n, size_t size)
{
    if (n == 0)
        return realloc (array, 9 * size);
    if (n >= 8 && (n & (n - 1)) == 0)
        return realloc (array, (2 * n + 1) * size);
    return array;
}

static int append_string (char ***array, size_t *n, struct value v, struct error *err)
{
    char *s = strndup (v.data, v.len);
    char **p = s ? with_room (*array, *n, sizeof (*p)) : NULL;

    if (!p) {
        free (s);
        return no_memory (err);
    }
    *array = p;
    p[(*n)++] = s;
    p[*n] = NULL;
    return 0;
}

static int read_env (struct launch *l, struct value v, struct error *err)
{
    const char *equals = memchr (v.data, '=', v.len);

    if (!equals || equals == v.data)
        return bad (err, "env", "not NAME=VALUE");
    return append_string (&l->env, &l->nenv, v, err);
}

/* The next word of *v, up to a blank, as a string of its own; "-" is an empty one. */
static char *take_word (struct value *v)
{
    const char *blank = memchr (v->data, ' ', v->len);
    size_t len = blank ? (size_t)(blank - v->data) : v->len;
    char *word = len == 1 && v->data[0] == '-' ? strdup ("") : strndup (v->data, len);

    v->data += blank ? len + 1 : len;
    v->len -= blank ? len + 1 : len;
    return word;
}

/* "NTASKS CORES GPUS NAME" */
static int read_node (struct launch *l, struct value v, struct error *err)
{
    autofree char *ntasks_text = take_word (&v);
    struct launch_node node = { .cores = take_word (&v), .gpus = take_word (&v) };
    struct launch_node *nodes = with_room (l->nodes, l->nnodes, sizeof (node));
    int64_t ntasks = 0;
    int rc = 0;

    if (nodes)
        l->nodes = nodes;
    node.name = strndup (v.data, v.len);
    if (!ntasks_text || !node.cores || !node.gpus || !node.name || !nodes)
        rc = no_memory (err);
    else if (v.len == 0)
        rc = bad (err, "node", "not NTASKS CORES GPUS NAME");
    else if (parse_int (ntasks_text, 0, MAX_TASKS, &ntasks, "launch file: node", err) < 0)
        rc = -EINVAL;
    if (rc < 0) {
        free (node.name);
        free (node.cores);
        free (node.gpus);
        return rc;
    }
    node.ntasks = (uint32_t)ntasks;
    l->nodes[l->nnodes++] = node;
    return 0;
}

static int read_number (struct launch *l, const struct field *f, struct value v,
                        struct error *err)
{
    autofree char *text = strndup (v.data, v.len);
    char what[64];
    int64_t n;

    if (!text)
        return no_memory (err);
    snprintf (what, sizeof (what), "launch file: %s", f->name);
    if (parse_int (text, f->min, f->max, &n, what, err) < 0)
        return -EINVAL;
    switch (f->type) {
    case BOOLEAN:
        *(bool *)member (l, f) = n != 0;
        break;
    case U32:
        *(uint32_t *)member (l, f) = (uint32_t)n;
        break;
    case SECONDS:
        *(double *)member (l, f) = (double)n / 1000;
        break;
    default:
        *(uint64_t *)member (l, f) = (uint64_t)n;
    }
    return 0;
}

static int read_record (struct launch *l, const char *name, struct value v,
                        uint64_t *seen, struct error *err)
{
    if (memchr (v.data, '\0', v.len))
        return bad (err, name, "has a NUL byte");
    if (!strcmp (name, "arg"))
        return append_string (&l->args, &l->nargs, v, err);
    if (!strcmp (name, "env"))
        return read_env (l, v, err);
    if (!strcmp (name, "node"))
        return read_node (l, v, err);
    for (size_t i = 0; i < ARRAY_SIZE (fields); i++) {
        if (strcmp (name, fields[i].name))
            continue;
        if (*seen & UINT64_C (1) << i)
            return bad (err, name, "stands there twice");
        *seen |= UINT64_C (1) << i;
        if (fields[i].type != STRING)
            return read_number (l, &fields[i], v, err);
        char *s = strndup (v.data, v.len);
        *(char **)member (l, &fields[i]) = s;
        return s ? 0 : no_memory (err);
    }
    return bad (err, name, "unknown record");
}

/* Take "NAME LENGTH\nBYTES\n" off the front of *text. */
static int take_record (struct value *text, char name[32], struct value *v,
                        struct error *err)
{
    const char *p = text->data;
    const char *end = p + text->len;
    size_t n = 0, len = 0;

    while (p < end && *p != ' ' && *p != '\n' && n < 31)
        name[n++] = *p++;
    name[n] = '\0';
    if (n == 0 || p == end || *p++ != ' ')
        return bad (err, name, "no length");
    const char *digits = p;
    for (; p < end && *p >= '0' && *p <= '9' && len <= LAUNCH_MAX; p++)
        len = len * 10 + (size_t)(*p - '0');
    if (p == digits || p == end || *p++ != '\n')
        return bad (err, name, "no length");
    if ((size_t)(end - p) <= len || p[len] != '\n')
        return bad (err, name, "its length is wrong, or the file is cut");
    *v = (struct value){ p, len };
    text->data = p + len + 1;
    text->len = (size_t)(end - text->data);
    return 0;
}

/* What every agent relies on. */
static int check (const struct launch *l, struct error *err)
{
    uint64_t ntasks = 0;

    for (size_t i = 0; i < l->nnodes; i++)
        ntasks += l->nodes[i].ntasks;
    if (l->job_id == 0)
        return bad (err, "job_id", "missing");
    if (!l->cwd || l->cwd[0] != '/')
        return bad (err, "cwd", "not an absolute path");
    if (l->nnodes == 0)
        return bad (err, "node", "missing");
    if (ntasks > MAX_TASKS)
        return bad (err, "node", "more than 2^31 tasks");
    if (l->batch && !l->script)
        return bad (err, "script", "missing");
    if (!l->batch && l->nargs == 0)
        return bad (err, "arg", "missing");
    return 0;
}

int launch_parse (const char *text, size_t len, struct launch *l, struct error *err)
{
    struct value rest = { text, len };
    uint64_t seen = 0;
    int rc = 0;

    *l = (struct launch){ .cores_per_task = 1, .umask = 022 };
    if (len > LAUNCH_MAX)
        return error_set (err, EINVAL, "launch file: larger than %d bytes", LAUNCH_MAX);
    if (!(l->args = calloc (1, sizeof (*l->args)))
        || !(l->env = calloc (1, sizeof (*l->env))))
        rc = no_memory (err);
    while (rc == 0 && rest.len > 0) {
        char name[32];
        struct value v = { 0 };
        rc = take_record (&rest, name, &v, err);
        if (rc == 0)
            rc = read_record (l, name, v, &seen, err);
    }
    if (rc == 0)
        rc = check (l, err);
    if (rc < 0)
        launch_release (l);
    return rc;
}

/* --- writing --- */

static void add_record (struct strbuf *sb, const char *name, const char *data, size_t len)
{
    strbuf_addf (sb, "%s %zu\n", name, len);
    strbuf_add (sb, data, len);
    strbuf_addch (sb, '\n');
}

static void add_number (struct strbuf *sb, const char *name, int64_t n)
{
    char text[32];
    int len = snprintf (text, sizeof (text), "%jd", (intmax_t)n);

    add_record (sb, name, text, (size_t)len);
}

/* The number of a field as it is written; -1: cannot be. */
static int64_t field_number (const struct launch *l, const struct field *f)
{
    uint64_t n = 0;
    double seconds;

    switch (f->type) {
    case BOOLEAN:
        n = *(bool *)member (l, f);
        break;
    case U32:
        n = *(uint32_t *)member (l, f);
        break;
    case SECONDS:
        seconds = *(double *)member (l, f);
        if (!(seconds >= 0 && seconds <= MAX_MILLISECONDS / 1000))
            return -1;
        n = (uint64_t)(seconds * 1000 + 0.5);
        break;
    default:
        n = *(uint64_t *)member (l, f);
    }
    return n > (uint64_t)INT64_MAX ? -1 : (int64_t)n;
}

static int write_field (const struct launch *l, const struct field *f, struct strbuf *sb)
{
    if (f->type == STRING) {
        const char *s = *(char **)member (l, f);
        if (s)
            add_record (sb, f->name, s, strlen (s));
        return 0;
    }
    int64_t n = field_number (l, f);
    if (n < f->min || n > f->max)
        return -EINVAL;
    add_number (sb, f->name, n);
    return 0;
}

static bool is_word_or_empty (const char *s)
{
    return !s || (!strchr (s, ' ') && strcmp (s, "-"));
}

static int write_node (const struct launch_node *node, struct strbuf *sb)
{
    struct strbuf text;

    if (!node->name || !node->name[0] || !is_word_or_empty (node->cores)
        || !is_word_or_empty (node->gpus))
        return -EINVAL;
    strbuf_init (&text, LAUNCH_MAX);
    strbuf_addf (&text, "%u %s %s %s", node->ntasks,
                 node->cores && node->cores[0] ? node->cores : "-",
                 node->gpus && node->gpus[0] ? node->gpus : "-", node->name);
    int rc = text.err;
    if (rc == 0)
        add_record (sb, "node", text.buf, text.len);
    strbuf_release (&text);
    return rc;
}

int launch_write (const struct launch *l, struct strbuf *sb)
{
    size_t start = sb->len;
    int rc = check (l, NULL);

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE (fields); i++)
        rc = write_field (l, &fields[i], sb);
    for (size_t i = 0; rc == 0 && i < l->nnodes; i++)
        rc = write_node (&l->nodes[i], sb);
    for (size_t i = 0; i < l->nargs; i++)
        add_record (sb, "arg", l->args[i], strlen (l->args[i]));
    for (size_t i = 0; i < l->nenv; i++) {
        if (l->env[i][0] == '=' || !strchr (l->env[i], '='))
            rc = -EINVAL;
        add_record (sb, "env", l->env[i], strlen (l->env[i]));
    }
    if (rc == 0 && sb->len - start > LAUNCH_MAX)
        rc = -E2BIG;
    if (rc < 0 && !sb->err)
        sb->err = rc;
    return sb->err;
}

/* --- the rest --- */

static void free_strings (char **array, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free (array[i]);
    free (array);
}

void launch_release (struct launch *l)
{
    for (size_t i = 0; i < ARRAY_SIZE (fields); i++) {
        if (fields[i].type == STRING)
            free (*(char **)member (l, &fields[i]));
    }
    free_strings (l->args, l->nargs);
    free_strings (l->env, l->nenv);
    for (size_t i = 0; i < l->nnodes; i++) {
        free (l->nodes[i].name);
        free (l->nodes[i].cores);
        free (l->nodes[i].gpus);
    }
    free (l->nodes);
    *l = (struct launch){ 0 };
}

uint32_t launch_ntasks (const struct launch *l)
{
    return launch_first_task (l, UINT32_MAX);
}

uint32_t launch_first_task (const struct launch *l, uint32_t rank)
{
    uint32_t n = 0;

    for (size_t i = 0; i < l->nnodes && i < rank; i++)
        n += l->nodes[i].ntasks;
    return n;
}

struct pattern_vars launch_pattern_vars (const struct launch *l, uint32_t rank,
                                         uint32_t task)
{
    return (struct pattern_vars){ .job_id = l->job_id,
                                  .array_job = l->array_job,
                                  .array_task = l->array_task,
                                  .job_name = l->job_name,
                                  .user = l->user,
                                  .node = l->nodes[rank].name,
                                  .node_index = rank,
                                  .task = task,
                                  .in_step = !l->batch };
}

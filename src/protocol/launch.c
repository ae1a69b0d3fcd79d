/* launch.c - see launch.h. One table describes the single records; the functions that
 * write, read and release walk it. Each repeated record (arg, env, node, rlimit,
 * stage_in, stage_out) has its own functions; component: launch_component.c.
 */
#include "protocol/launch.h"

#include "common/parse.h"
#include "common/rlimits.h"
#include "protocol/launch_component.h"
#include "protocol/record.h"

#define MAX_TASKS (INT64_C (1) << 31)
#define MAX_MILLISECONDS (INT64_C (3153600000) * 1000) /* 100 years */

static const struct record_field fields[] = {
#define FIELD(name, type, min, max)                                                      \
    RECORD_FIELD (struct launch, name, RECORD_##type, min, max)
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
    FIELD (cluster, STRING, 0, 0),
    FIELD (broker, STRING, 0, 0),
    FIELD (cwd, STRING, 0, 0),
    FIELD (submit_dir, STRING, 0, 0),
    FIELD (cwd_fallback, BOOLEAN, 0, 1),
    FIELD (batch, BOOLEAN, 0, 1),
    FIELD (script, STRING, 0, 0),
    FIELD (max_nodes, U32, 0, INT32_MAX),
    FIELD (resize_signal, U32, 0, 64),
    FIELD (nodes_requested, STRING, 0, 0),
    FIELD (cores_are_cpus, BOOLEAN, 0, 1),
    FIELD (cores_per_task, U32, 1, UINT32_MAX),
    FIELD (cpu_milli_per_task, U32, 0, INT32_MAX),
    FIELD (gpus_per_task, U32, 0, LAUNCH_IDS_MAX),
    FIELD (gpu_share, U32, 0, INT32_MAX),
    FIELD (mem_mib, U64, 0, INT64_MAX),
    FIELD (time_limit, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (grace, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (warn_signal, U32, 0, 64),
    FIELD (warn_before, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (warn_batch, BOOLEAN, 0, 1),
    FIELD (warn_steps, BOOLEAN, 0, 1),
    FIELD (join_timeout, SECONDS, 0, MAX_MILLISECONDS),
    FIELD (rendezvous, STRING, 0, 0),
    FIELD (listen, STRING, 0, 0),
    FIELD (fanout, U32, 0, UINT32_MAX),
    FIELD (spool, STRING, 0, 0),
    FIELD (spool_max, U64, 0, INT64_MAX),
    FIELD (spool_keep, U64, 0, INT64_MAX),
    FIELD (serve_until_released, BOOLEAN, 0, 1),
    FIELD (once, BOOLEAN, 0, 1),
    FIELD (flux, BOOLEAN, 0, 1),
    FIELD (output, STRING, 0, 0),
    FIELD (error, STRING, 0, 0),
    FIELD (append, BOOLEAN, 0, 1),
    FIELD (one_stream, BOOLEAN, 0, 1),
    FIELD (on_full, U32, 0, LAUNCH_FULL_END),
    FIELD (input, STRING, 0, 0),
    FIELD (umask, U32, 0, 0777),
    FIELD (nice, U32, 0, 19),
    FIELD (user_env, U32, 0, LAUNCH_USER_ENV_MAX),
    FIELD (user_env_login, BOOLEAN, 0, 1),
    FIELD (home, STRING, 0, 0),
    FIELD (shell, STRING, 0, 0),
#undef FIELD
};

/* A part of a record's value. */
struct value {
    const char *data;
    size_t len;
};

/* -- reading -- */

static int bad (struct error *err, const char *name, const char *problem)
{
    return error_set (err, EINVAL, "launch file: %s: %s", name, problem);
}

static int read_rlimit (struct launch *l, const struct record *r, struct error *err)
{
    struct rlimits set = { 0 };
    int rc = record_append (&l->rlimits, &l->nrlimits, r, err);

    if (rc < 0)
        return rc;
    rc = rlimits_add (&set, l->rlimits[l->nrlimits - 1], &(struct error){ 0 });
    return rc < 0 ? bad (err, "rlimit", "not NAME=NUMBER of a limit") : 0;
}

/* A copy of the next word of *v, up to a blank; "-" is an empty string. */
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
    struct launch_node *nodes = record_room (l->nodes, l->nnodes, sizeof (node));
    int64_t ntasks = 0;
    int rc = 0;

    if (nodes)
        l->nodes = nodes;
    node.name = strndup (v.data, v.len);
    if (!ntasks_text || !node.cores || !node.gpus || !node.name || !nodes)
        rc = error_no_memory (err, "launch file");
    else if (v.len == 0)
        rc = bad (err, "node", "not NTASKS CORES GPUS NAME");
    else if (parse_int (ntasks_text, 0, MAX_TASKS, &ntasks, "launch file: node", err) < 0)
        rc = -EINVAL;
    if (rc < 0) {
        launch_node_release (&node);
        return rc;
    }
    node.ntasks = (uint32_t)ntasks;
    l->nodes[l->nnodes++] = node;
    return 0;
}

/* "license:2,rdma/hca:1", or the type of the GPUs, for the last node read. */
static int read_of_node (struct launch *l, const struct record *r, struct error *err)
{
    struct launch_node *node = l->nnodes > 0 ? &l->nodes[l->nnodes - 1] : NULL;
    char **text = !node                       ? NULL
                  : !strcmp (r->name, "gres") ? &node->gres
                                              : &node->gpu_type;

    if (!text || *text || r->len == 0)
        return bad (err, r->name, "not after its node");
    *text = strndup (r->data, r->len);
    return *text ? 0 : error_no_memory (err, "launch file");
}

static bool is_of_node (const struct record *r)
{
    return !strcmp (r->name, "gres") || !strcmp (r->name, "gpu-type");
}

int launch_add_stage (struct launch_stage **list, size_t *n,
                      const struct launch_stage *stage)
{
    struct launch_stage *v = record_room (*list, *n, sizeof (*v)), one = *stage;

    if (v)
        *list = v;
    one.from = strdup (stage->from);
    one.to = strdup (stage->to);
    if (!v || !one.from || !one.to) {
        free (one.from);
        free (one.to);
        return -ENOMEM;
    }
    v[(*n)++] = one;
    return 0;
}

/* "RANK NUMBER FROM\nTO"; RANK "-": all ranks; NUMBER: the mode (stage_in), or whether
 * the file is sent (stage_out). */
static int read_stage (struct launch *l, const struct record *r, bool in,
                       struct error *err)
{
    struct value v = { r->data, r->len };
    autofree char *rank_text = take_word (&v), *number_text = take_word (&v);
    const char *end = memchr (v.data, '\n', v.len);
    autofree char *from = end ? strndup (v.data, (size_t)(end - v.data)) : NULL;
    autofree char *to =
        end ? strndup (end + 1, v.len - (size_t)(end + 1 - v.data)) : NULL;
    int64_t rank = LAUNCH_ALL_RANKS, number = 0;
    size_t *n = in ? &l->nstage_in : &l->nstage_out;

    if (!rank_text || !number_text || (end && (!from || !to)))
        return error_no_memory (err, "launch file");
    if (!end || !*from || !*to || strchr (to, '\n'))
        return bad (err, r->name, "not RANK NUMBER FROM and TO");
    if (*n >= LAUNCH_STAGE_MAX)
        return bad (err, r->name, "too many");
    if ((*rank_text && parse_int (rank_text, 0, INT32_MAX, &rank, r->name, err) < 0)
        || parse_int (number_text, 0, in ? 0777 : 1, &number, r->name, err) < 0)
        return bad (err, r->name, "RANK or NUMBER out of range");
    const struct launch_stage stage = { .rank = (uint32_t)rank,
                                        .mode = in ? (uint32_t)number : 0,
                                        .send = !in && number == 1,
                                        .from = from,
                                        .to = to };
    return launch_add_stage (in ? &l->stage_in : &l->stage_out, n, &stage) < 0
               ? error_no_memory (err, "launch file")
               : 0;
}

static int read_record (struct launch *l, const struct record *r, uint64_t *seen,
                        struct error *err)
{
    if (!strcmp (r->name, "arg"))
        return record_append (&l->args, &l->nargs, r, err);
    if (!strcmp (r->name, "env"))
        return record_append_env (&l->env, &l->nenv, r, err);
    if (!strcmp (r->name, "rlimit"))
        return read_rlimit (l, r, err);
    if (!strcmp (r->name, "stage_in") || !strcmp (r->name, "stage_out"))
        return read_stage (l, r, !strcmp (r->name, "stage_in"), err);
    if (!strcmp (r->name, "node"))
        return read_node (l, (struct value){ r->data, r->len }, err);
    if (is_of_node (r))
        return read_of_node (l, r, err);
    if (!strcmp (r->name, "component"))
        return launch_component_read (l, r, err);
    return record_read (fields, ARRAY_SIZE (fields), l, seen, r, err);
}

/* Check the records that every agent needs. */
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
    struct record_text rest = { "launch file", text, len, LAUNCH_MAX };
    struct record r;
    uint64_t seen = 0;
    int rc = 0;

    *l = (struct launch){ .cores_per_task = 1, .umask = 022 };
    if (len > LAUNCH_MAX)
        return error_set (err, EINVAL, "launch file: larger than %d bytes", LAUNCH_MAX);
    if (!(l->args = calloc (1, sizeof (*l->args)))
        || !(l->env = calloc (1, sizeof (*l->env)))
        || !(l->rlimits = calloc (1, sizeof (*l->rlimits))))
        rc = error_no_memory (err, "launch file");
    while (rc == 0 && (rc = record_take (&rest, &r, err)) > 0)
        rc = read_record (l, &r, &seen, err);
    if (rc == 0)
        rc = launch_component_settle (l, err);
    if (rc == 0)
        rc = check (l, err);
    if (rc < 0)
        launch_release (l);
    return rc;
}

/* -- writing -- */

static bool is_word_or_empty (const char *s)
{
    return !s || (!strchr (s, ' ') && strcmp (s, "-"));
}

int launch_write_node (const struct launch_node *node, struct strbuf *sb)
{
    struct strbuf text = STRBUF_INIT (LAUNCH_MAX);

    if (!node->name || !node->name[0] || !is_word_or_empty (node->cores)
        || !is_word_or_empty (node->gpus))
        return -EINVAL;
    strbuf_addf (&text, "%u %s %s %s", node->ntasks,
                 node->cores && node->cores[0] ? node->cores : "-",
                 node->gpus && node->gpus[0] ? node->gpus : "-", node->name);
    int rc = text.err;
    if (rc == 0)
        record_add_one (sb, "node", text.buf, text.len);
    if (rc == 0 && node->gres && node->gres[0])
        record_add_one (sb, "gres", node->gres, strlen (node->gres));
    if (rc == 0 && node->gpu_type && node->gpu_type[0])
        record_add_one (sb, "gpu-type", node->gpu_type, strlen (node->gpu_type));
    strbuf_release (&text);
    return rc;
}

/* The number always has three digits, so its value does not change the text's length. */
static int write_stages (const char *name, const struct launch_stage *list, size_t n,
                         struct strbuf *sb)
{
    autostrbuf struct strbuf text = STRBUF_INIT (LAUNCH_MAX);

    for (size_t i = 0; i < n; i++) {
        const struct launch_stage *s = &list[i];

        if (!*s->from || !*s->to || strchr (s->from, '\n') || strchr (s->to, '\n')
            || s->mode > 0777 || (s->rank > INT32_MAX && s->rank != LAUNCH_ALL_RANKS))
            return -EINVAL;
        strbuf_reset (&text);
        if (s->rank == LAUNCH_ALL_RANKS)
            strbuf_adds (&text, "-");
        else
            strbuf_addf (&text, "%u", s->rank);
        strbuf_addf (&text, " %03u %s\n%s", s->send ? 1 : s->mode, s->from, s->to);
        if (text.err)
            return text.err;
        record_add_one (sb, name, text.buf, text.len);
    }
    return 0;
}

int launch_write (const struct launch *l, struct strbuf *sb)
{
    size_t start = sb->len;
    int rc = check (l, NULL);

    if (rc == 0)
        rc = record_write (fields, ARRAY_SIZE (fields), l, sb);
    for (size_t i = 0; rc == 0 && i < l->nnodes; i++)
        rc = launch_write_node (&l->nodes[i], sb);
    if (rc == 0)
        rc = launch_component_write (l, sb);
    for (size_t i = 0; i < l->nenv; i++)
        if (l->env[i][0] == '=' || !strchr (l->env[i], '='))
            rc = -EINVAL;
    struct rlimits set = { 0 };
    for (size_t i = 0; i < l->nrlimits && rc == 0; i++)
        rc = rlimits_add (&set, l->rlimits[i], NULL);
    record_add_strings (sb, "arg", l->args, l->nargs);
    record_add_strings (sb, "env", l->env, l->nenv);
    record_add_strings (sb, "rlimit", l->rlimits, l->nrlimits);
    if (rc == 0)
        rc = write_stages ("stage_in", l->stage_in, l->nstage_in, sb);
    if (rc == 0)
        rc = write_stages ("stage_out", l->stage_out, l->nstage_out, sb);
    if (rc == 0 && sb->len - start > LAUNCH_MAX)
        rc = -E2BIG;
    if (rc < 0 && !sb->err)
        sb->err = rc;
    return sb->err;
}

/* -- the rest -- */

static void release_stages (struct launch_stage *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free (list[i].from);
        free (list[i].to);
    }
    free (list);
}

void launch_node_release (struct launch_node *node)
{
    free (node->name);
    free (node->cores);
    free (node->gpus);
    free (node->gpu_type);
    free (node->gres);
    *node = (struct launch_node){ 0 };
}

int launch_make_room (struct launch *l, size_t nodes)
{
    size_t room = MAX (l->nnodes, l->nodes_room);

    nodes = MAX (nodes, room);
    struct launch_node *list = realloc (l->nodes, nodes * sizeof (*list));
    if (!list)
        return -ENOMEM;
    memset (list + room, 0, (nodes - room) * sizeof (*list));
    l->nodes = list;
    l->nodes_room = nodes;
    return 0;
}

void launch_put_node (struct launch *l, uint32_t rank, struct launch_node *node)
{
    launch_node_release (&l->nodes[rank]);
    l->nodes[rank] = *node;
    *node = (struct launch_node){ 0 };
}

int launch_read_node (const char *text, size_t len, struct launch_node *ret,
                      struct error *err)
{
    struct record_text rest = { "node", text, len, LAUNCH_MAX };
    struct launch l = { 0 };
    struct record r;
    int rc;

    while ((rc = record_take (&rest, &r, err)) > 0) {
        if (!strcmp (r.name, "node") && l.nnodes == 0)
            rc = read_node (&l, (struct value){ r.data, r.len }, err);
        else if (is_of_node (&r))
            rc = read_of_node (&l, &r, err);
        else
            rc = bad (err, r.name, "not of a node");
        if (rc < 0)
            break;
    }
    if (rc == 0 && l.nnodes == 0)
        rc = bad (err, "node", "missing");
    if (rc == 0)
        *ret = l.nodes[0];
    else if (l.nnodes > 0)
        launch_node_release (&l.nodes[0]);
    free (l.nodes);
    return rc;
}

void launch_release (struct launch *l)
{
    record_release (fields, ARRAY_SIZE (fields), l);
    record_free_strings (l->args, l->nargs);
    record_free_strings (l->env, l->nenv);
    record_free_strings (l->rlimits, l->nrlimits);
    launch_component_release (l);
    for (size_t i = 0; i < MAX (l->nnodes, l->nodes_room); i++)
        launch_node_release (&l->nodes[i]);
    free (l->nodes);
    release_stages (l->stage_in, l->nstage_in);
    release_stages (l->stage_out, l->nstage_out);
    *l = (struct launch){ 0 };
}

uint32_t launch_rank_tasks (const struct launch *l, uint32_t rank)
{
    return l->nodes[rank].component == 0 ? l->nodes[rank].ntasks : 0;
}

uint32_t launch_ntasks (const struct launch *l)
{
    return launch_first_task (l, UINT32_MAX);
}

uint32_t launch_first_task (const struct launch *l, uint32_t rank)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->nnodes && i < rank; i++)
        n += launch_rank_tasks (l, i);
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

/* squeue.c - squeue: lists jobs in Slurm's formats
 *
 * The fields are slurm_job_fields (job_fields.c), the order job_sort.c; filters that the
 * broker does not have are job_filter.c.
 */
#include "cmd/slurm/acct/squeue_steps.h"
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/jobs/job_rows.h"
#include "cmd/slurm/jobs/known_users.h"
#include "cmd/slurm/jobs/squeue.h"
#include "cmd/slurm/words/words.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"

#define LISTING_MAX (1 << 30)
#define PIECE (32 * 1024) /* bytes of the listing that are written at once */
#define TARGET_MAX (256 * 1024)
#define TASKS_MAX (1 << 20)
#define FORMAT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define LONG_FORMAT "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
#define START_FORMAT "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
#define STATE_FORMAT "%.18i %.2t"

/* -- what the options mean -- */

static void wrong_field (void *arg, const char *text)
{
    cmd_warn (arg, "error: Invalid job format specification: %s", text);
}

static int set_format (struct cmd *c, struct squeue *q)
{
    const char *letters = q->letters      ? q->letters
                          : q->steps      ? SQUEUE_STEPS_FORMAT
                          : q->start      ? START_FORMAT
                          : q->long_list  ? LONG_FORMAT
                          : q->only_state ? STATE_FORMAT
                                          : FORMAT;
    const struct slurm_field *fields = q->steps ? squeue_step_fields : slurm_job_fields;
    int rc = q->names
                 ? slurm_format_parse_long (&q->format, fields, q->names, wrong_field, c)
                 : slurm_format_parse (&q->format, fields, letters, wrong_field, c);

    if (rc < 0)
        return cmd_fail (c, "the format has too many fields");
    return CMD_OK;
}

static int set_sort (struct cmd *c, struct squeue *q)
{
    char wrong;
    uint64_t needs;

    if (!q->sort)
        q->sort = q->start ? "S" : SQUEUE_SORT;
    if (!job_sort_needs (q->sort, &needs, &wrong))
        return cmd_fail (c, "Invalid sort specification: %c", wrong);
    q->needs |= needs;
    return CMD_OK;
}

static int set_states (struct cmd *c, struct squeue *q)
{
    struct error err = { 0 };
    autostrbuf struct strbuf known = STRBUF_INIT (4096);

    if (!q->states && q->start)
        q->states = "PD";
    if (!q->states || job_filter_set_states (&q->filter, q->states, &err) == 0)
        return CMD_OK;
    slurm_state_add_names (&known, ",");
    cmd_warn (c, "error: Invalid job state specified: %s", err.text);
    return cmd_fail (c, "Valid job states include: %s", known.buf);
}

/* Keeps the users that exist. */
static int set_users (struct cmd *c, struct squeue *q)
{
    int status = known_users (c, q->users, &q->known);

    q->nobody = q->users && q->known.len == 0;
    return status;
}

static bool is_node (const json_t *nodes, const char *name)
{
    for (size_t i = 0; i < json_array_size (nodes); i++)
        if (!strcmp (json_text (json_array_get (nodes, i), "name"), name))
            return true;
    return false;
}

/* The nodes of -w, which must exist. */
static int set_hosts (struct cmd *c, struct squeue *q)
{
    json_t *answer;
    struct error err = { 0 };

    if (!q->hosts)
        return CMD_OK;
    if (!(q->filter.nodes = hostlist_decode (q->hosts, 1000000, &err)))
        return cmd_fail (c, "'%s' invalid entry for --nodelist", q->hosts);
    if (cmd_get (c, "/v1/nodes", &answer) != CMD_OK)
        return c->status;
    for (size_t i = 0; i < hostlist_count (q->filter.nodes); i++) {
        const char *name = hostlist_nth (q->filter.nodes, i);
        if (!is_node (json_object_get (answer, "nodes"), name)) {
            cmd_fail (c, "Invalid node name %s", name);
            break;
        }
    }
    json_decref (answer);
    return c->status;
}

static int set_jobs (struct cmd *c, struct squeue *q)
{
    struct error err = { 0 };

    if (q->jobs && job_filter_set_jobs (&q->filter, q->jobs, &err) < 0)
        return cmd_fail (c, "Invalid job id: %s", err.text);
    return CMD_OK;
}

/* One job is looked up whatever its state is, because it must exist. */
static bool is_one_job (const struct squeue *q)
{
    return q->filter.njobs == 1;
}

static int prepare (struct cmd *c, struct squeue *q)
{
    if (set_jobs (c, q) != CMD_OK || set_states (c, q) != CMD_OK
        || set_format (c, q) != CMD_OK || set_sort (c, q) != CMD_OK
        || set_users (c, q) != CMD_OK)
        return c->status;
    if (set_hosts (c, q) != CMD_OK)
        return c->status;
    q->filter.states_done = !is_one_job (q);
    q->needs |= q->format.needs | job_filter_needs (&q->filter);
    if (q->filter.active) /* then no job is shown that has ended */
        q->needs &= ~(UINT64_C (1) << JOB_WAIT_STATUS);
    if (q->json)
        q->needs = JOB_JSON_NEEDS;
    if (q->array)
        q->needs |= UINT64_C (1) << JOB_ARRAY_TASKS;
    return CMD_OK;
}

/* -- the list -- */

static void add_ids (const struct squeue *q, struct strbuf *target)
{
    autostrbuf struct strbuf ids = STRBUF_INIT (TARGET_MAX);

    for (size_t i = 0; i < q->filter.njobs; i++)
        strbuf_addf (&ids, "%s%ju", i ? "," : "", (uintmax_t)q->filter.jobs[i].id);
    target_add (target, "ids", ids.buf);
}

/* Adds the states that the broker knows, too; false: a job of fluxq can have none of the
 * wanted states. */
static bool add_states (const struct squeue *q, struct strbuf *target)
{
    static const char *const known[] = {
        "PENDING",   "CONFIGURING", "RUNNING",  "COMPLETING", "COMPLETED",
        "FAILED",    "CANCELLED",   "TIMEOUT",  "NODE_FAIL",  "OUT_OF_MEMORY",
        "PREEMPTED", "DEADLINE",    "REQUEUED",
    };
    autostrbuf struct strbuf states = STRBUF_INIT (4096);

    for (size_t i = 0; !is_one_job (q) && i < q->filter.nstates; i++)
        for (size_t k = 0; k < ARRAY_SIZE (known); k++)
            if (!strcmp (known[k], q->filter.states[i]))
                strbuf_addf (&states, "%s%s", states.len ? "," : "", known[k]);
    bool active = q->filter.active && !is_one_job (q);
    target_add (target, "state", states.len ? states.buf : active ? "active" : "all");
    return states.len > 0 || q->filter.nstates == 0 || is_one_job (q);
}

static int get (struct cmd *c, const struct squeue *q, struct job_rows *ret)
{
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);

    *ret = (struct job_rows){ .n = 0 };
    strbuf_adds (&target, "/v1/jobs");
    if (!add_states (q, &target))
        return CMD_OK;
    if (q->filter.njobs)
        add_ids (q, &target);
    if (!is_one_job (q)) {
        target_add (&target, "user", q->known.len ? q->known.buf : NULL);
        target_add (&target, "queue", q->partitions);
    }
    return job_rows_get (c, ret, target.buf, q->needs, q->json ? NULL : q->sort);
}

/* Prints the row, or a row for each task of an array that waits. */
static void add_row (const struct squeue *q, struct job_row *row, struct strbuf *sb)
{
    const char *tasks = row->tasks ? row->tasks : row->values[JOB_ARRAY_TASKS];
    autofree char *text = q->array ? strndup (tasks, strcspn (tasks, "%")) : NULL;
    struct idset *set = text && *text ? idset_decode (text, TASKS_MAX, NULL) : NULL;
    char number[16];

    if (!set) {
        slurm_format_add_row (&q->format, row, sb);
        return;
    }
    row->tasks = number;
    IDSET_FOREACH (set, task)
    {
        snprintf (number, sizeof (number), "%u", task);
        slurm_format_add_row (&q->format, row, sb);
    }
    idset_destroy (set);
}

static void write_piece (struct strbuf *sb)
{
    if (sb->err)
        return;
    fwrite (sb->buf, 1, sb->len, stdout);
    strbuf_reset (sb);
}

static int print (struct cmd *c, struct squeue *q, struct job_rows *rows)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    struct job_row row;

    if (q->header && c->cluster[0])
        strbuf_addf (&sb, "CLUSTER: %s\n", c->cluster);
    job_row_init (&row);
    row.noconvert = q->noconvert;
    row.expand_patterns = q->expand_patterns;
    if (q->header && (q->long_list || q->iterate > 0))
        slurm_add_date (&sb);
    if (q->header)
        slurm_format_add_heading (&q->format, &sb);
    for (size_t i = 0; i < rows->n; i++) {
        job_rows_fill (rows, i, &row);
        if (job_filter_match (&q->filter, &row))
            add_row (q, &row, &sb);
        if (sb.len >= PIECE)
            write_piece (&sb);
    }
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    write_piece (&sb);
    return CMD_OK;
}

/* The resources on each node are in the job's description. */
static json_t *describe (struct cmd *c, const struct job_row *row)
{
    autostrbuf struct strbuf target = STRBUF_INIT (128);
    json_t *answer = NULL;

    if (!job_is_state (row, "R") && !job_is_state (row, "CG")
        && !job_is_state (row, "CF"))
        return job_json (row, NULL);
    strbuf_addf (&target, "/v1/jobs/%s", row->values[JOB_ID]);
    if (cmd_get (c, target.buf, &answer) != CMD_OK)
        return NULL;
    json_t *job = job_json (row, json_object_get (answer, "ranks"));
    json_decref (answer);
    return job;
}

static int print_json (struct cmd *c, struct squeue *q, const struct job_rows *rows)
{
    json_t *jobs = json_array ();
    struct job_row row;

    job_row_init (&row);
    for (size_t i = 0; i < rows->n && c->status == CMD_OK; i++) {
        job_rows_fill (rows, i, &row);
        if (job_filter_match (&q->filter, &row))
            json_array_append_new (jobs, describe (c, &row));
    }
    if (c->status == CMD_OK)
        return job_json_print (c, "jobs", jobs);
    json_decref (jobs);
    return c->status;
}

static int list (struct cmd *c, struct squeue *q)
{
    struct job_rows rows = { .n = 0 };
    if (q->steps)
        return squeue_list_steps (c, q);
    bool nothing = q->nobody || (q->filter.jobs && q->filter.njobs == 0);

    if (!nothing && get (c, q, &rows) != CMD_OK)
        return c->status;
    job_filter_find_last (&q->filter, &rows);
    if (is_one_job (q) && rows.n == 0 && !nothing) {
        fflush (stdout);
        fputs ("slurm_load_jobs error: Invalid job id specified\n", stderr);
        c->status = CMD_FAILED;
    } else if (q->json) {
        print_json (c, q, &rows);
    } else {
        print (c, q, &rows);
    }
    job_rows_release (&rows);
    return c->status;
}

static int run (struct cmd *c)
{
    struct squeue q = { .header = true };

    job_filter_init (&q.filter);
    strbuf_init (&q.known, TARGET_MAX);
    int status = squeue_read_options (c, &q);
    if (q.iterate > 0)
        cmd_catch_interrupts ();
    if (!c->ended && status == CMD_OK && (status = prepare (c, &q)) == CMD_OK)
        status = list (c, &q);
    while (!c->ended && status == CMD_OK && q.iterate > 0) {
        puts ("");
        fflush (stdout);
        status = cmd_sleep (q.iterate) ? list (c, &q) : CMD_INTERRUPTED;
    }
    job_filter_release (&q.filter);
    slurm_format_release (&q.format);
    strbuf_release (&q.known);
    return status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

const struct command slurm_squeue = {
    .name = "squeue",
    .summary = "List jobs that wait and run",
    .usage = usage,
    .options = squeue_options,
    .operands = COMPLETE_JOBS,
    .notes =
        "The variables SQUEUE_FORMAT, SQUEUE_FORMAT2, SQUEUE_SORT, SQUEUE_STATES, "
        "SQUEUE_USERS,\nSQUEUE_PARTITION, SQUEUE_NAMES, SQUEUE_ACCOUNT, SQUEUE_QOS and "
        "SQUEUE_ARRAY stand for options\nthat are not given; SLURM_TIME_FORMAT is the "
        "form of times: standard, relative, or a format\nof strftime(3).\n",
    .run = run,
    .slurm = true,
    .refused = "slurm_load_jobs error: ",
};

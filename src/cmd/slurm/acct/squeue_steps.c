/* squeue_steps.c - see squeue_steps.h
 *
 * Only the steps of the caller's jobs are listed, for an operator those of all: the agent
 * of each running job is asked.
 */
#include "cmd/slurm/acct/squeue_steps.h"

#include <math.h>
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"
#include "common/clock.h"

#define LISTING_MAX (1 << 30)
#define TARGET_MAX (256 * 1024)

/* -- fields -- */

#define FIELD(name)                                                                      \
    static void value_##name (const struct acct_row *row, struct strbuf *sb);            \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        value_##name (row, sb);                                                          \
    }                                                                                    \
    static void value_##name (const struct acct_row *row, struct strbuf *sb)

FIELD (id)
{
    acct_add_id (row, false, sb);
}

FIELD (job)
{
    strbuf_adds (sb, row->values[ACCT_ID]);
}

FIELD (array_job)
{
    strbuf_adds (sb, acct_has (row, ACCT_ARRAY_JOB) ? row->values[ACCT_ARRAY_JOB]
                                                    : row->values[ACCT_ID]);
}

FIELD (array_task)
{
    strbuf_adds (sb,
                 acct_has (row, ACCT_ARRAY_TASK) ? row->values[ACCT_ARRAY_TASK] : "N/A");
}

FIELD (name)
{
    bool batch = !strcmp (row->step_id, "batch");

    record_add_text (sb, batch ? "batch" : json_text (row->step, "name"));
}

FIELD (partition)
{
    strbuf_adds (sb, row->values[ACCT_QUEUE]);
}

FIELD (user)
{
    strbuf_adds (sb, row->values[ACCT_USER]);
}

FIELD (userid)
{
    strbuf_adds (sb, row->values[ACCT_USERID]);
}

FIELD (nodes)
{
    record_add_text (sb, acct_step_nodes (row));
}

FIELD (tasks)
{
    strbuf_addf (sb, "%.0f", answer_number (row->step, "ntasks"));
}

FIELD (cpus)
{
    strbuf_addf (sb, "%.0f", acct_cpus (row, false));
}

FIELD (start)
{
    slurm_add_time (sb, acct_start (row));
}

FIELD (time)
{
    slurm_add_seconds (sb, acct_elapsed (row));
}

FIELD (limit)
{
    (void)row;
    strbuf_adds (sb, "UNLIMITED");
}

FIELD (state)
{
    strbuf_adds (sb, acct_step_state (row));
}

FIELD (nothing)
{
    (void)row;
    strbuf_adds (sb, "(null)");
}

const struct slurm_field squeue_step_fields[] = {
    { 0, "ArrayJobId", "ARRAY_JOB_ID", 0, add_array_job, 0 },
    { 0, "ArrayTaskId", "ARRAY_TASK_ID", 0, add_array_task, 0 },
    { 0, "JobId", "JOB_ID", 0, add_job, 0 },
    { 0, "Network", "NETWORK", 0, add_nothing, 0 },
    { 'N', "Nodes", "NODELIST", 0, add_nodes, SLURM_FIELD_UNCUT },
    { 0, "NumCPUs", "NUM_CPUS", 0, add_cpus, 0 },
    { 'A', "NumTasks", "TASKS", 0, add_tasks, 0 },
    { 'P', "Partition", "PARTITION", 0, add_partition, 0 },
    { 0, "ResvPorts", "RESERVED_PORTS", 0, add_nothing, 0 },
    { 'S', "StartTime", "START_TIME", 0, add_start, 0 },
    { 'i', "StepId", "STEPID", 0, add_id, 0 },
    { 'j', "StepName", "NAME", 0, add_name, 0 },
    { 0, "StepState", "STATE", 0, add_state, 0 },
    { 'l', "TimeLimit", "TIME_LIMIT", 0, add_limit, 0 },
    { 'M', "TimeUsed", "TIME", 0, add_time, SLURM_FIELD_UNCUT },
    { 'b', "tres-per-node", "TRES_PER_NODE", 0, add_nothing, 0 },
    { 'U', "UserId", "UID", 0, add_userid, 0 },
    { 'u', "UserName", "USER", 0, add_user, 0 },
    { 0 },
};

/* -- the list -- */

/* Whether the list has the job, "12" or "12_3", or this step of it, "12.0". */
static bool is_wanted (const char *list, const struct acct_row *row)
{
    autostrbuf struct strbuf id = STRBUF_INIT (4096);

    if (!list)
        return true;
    acct_add_id (row, false, &id);
    if (slurm_list_has (list, id.buf))
        return true;
    char *dot = strchr (id.buf, '.');
    if (dot)
        *dot = '\0';
    return slurm_list_has (list, id.buf);
}

/* Whether the list of --jobs has the job, "12_3", or its array, "12". */
static bool is_of_jobs (const char *list, const struct acct_row *row)
{
    autostrbuf struct strbuf id = STRBUF_INIT (4096);

    if (!list)
        return true;
    acct_add_id (row, false, &id);
    id.buf[strcspn (id.buf, ".")] = '\0';
    if (slurm_list_has (list, id.buf))
        return true;
    id.buf[strcspn (id.buf, "_")] = '\0';
    return slurm_list_has (list, id.buf);
}

/* As in Slurm, the batch step comes last. */
static void add_steps (const struct squeue *q, struct acct_row *row, bool batch,
                       struct strbuf *sb)
{
    const json_t *step;
    size_t i;

    json_array_foreach (row->steps, i, step) {
        row->step = step;
        if (acct_step_is_shown (row, step, &row->step_id)
            && batch == !strcmp (row->step_id, "batch") && is_wanted (q->step_list, row)
            && is_of_jobs (q->jobs, row))
            slurm_format_add_row (&q->format, row, sb);
    }
    row->step = NULL;
}

static void add_job_steps (struct cmd *c, const struct squeue *q, struct acct_row *row,
                           struct strbuf *sb)
{
    json_t *steps = acct_running_steps (c, strtoull (row->values[ACCT_ID], NULL, 10));

    row->steps = steps;
    add_steps (q, row, false, sb);
    add_steps (q, row, true, sb);
    row->steps = NULL;
    json_decref (steps);
}

int squeue_list_steps (struct cmd *c, const struct squeue *q)
{
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);
    autostrbuf struct strbuf sb = STRBUF_INIT (LISTING_MAX);
    const struct acct_view view = { .now = clock_wall () };
    struct acct_rows rows;
    struct acct_row row;

    strbuf_adds (&target, "/v1/jobs?state=running&limit=10000000");
    target_add (&target, "user", q->known.len ? q->known.buf : NULL);
    target_add (&target, "queue", q->partitions);
    if (acct_rows_get (c, &rows, ACCT_JOBS, target.buf,
                       ACCT_BIT (ARRAY_JOB) | ACCT_BIT (ARRAY_TASK) | ACCT_BIT (USER)
                           | ACCT_BIT (USERID) | ACCT_BIT (QUEUE) | ACCT_BIT (NTASKS)
                           | ACCT_BIT (NCORES) | ACCT_BIT (CPU_MILLI) | ACCT_BIT (NODES)
                           | ACCT_BIT (RESTARTS) | ACCT_BIT (ST) | ACCT_BIT (START),
                       false)
        != CMD_OK)
        return c->status;
    acct_row_init (&row, &view);
    if (q->header)
        slurm_format_add_heading (&q->format, &sb);
    for (size_t i = 0; i < rows.n && !cmd_interrupted () && !q->nobody; i++) {
        acct_rows_fill (&rows, i, &row);
        if (acct_is_state (&row, "R"))
            add_job_steps (c, q, &row, &sb);
    }
    acct_rows_release (&rows);
    if (sb.err)
        return cmd_fail (c, "the listing is too large");
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

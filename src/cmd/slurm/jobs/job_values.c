/* job_values.c - values of a job in a listing; see job_fields.h */
#include <string.h>

#include "cmd/slurm/jobs/job_fields.h"
#include "cmd/slurm/words/words.h"
#include "common/clock.h"

const char *const slurm_job_columns[JOB_VALUES] = {
    [JOB_ID] = "id",
    [JOB_JOB] = "job",
    [JOB_ARRAY_JOB] = "array_job",
    [JOB_ARRAY_TASK] = "array_task",
    [JOB_ARRAY_TASKS] = "array_tasks",
    [JOB_QUEUE] = "queue",
    [JOB_NAME] = "name",
    [JOB_USER] = "user",
    [JOB_USERID] = "userid",
    [JOB_GROUPID] = "groupid",
    [JOB_STATE] = "state",
    [JOB_ST] = "st",
    [JOB_FLUX_STATE] = "flux_state",
    [JOB_TIME] = "time",
    [JOB_TIME_LIMIT] = "time_limit",
    [JOB_TIME_MIN] = "time_min",
    [JOB_NODES] = "nodes",
    [JOB_NODE_COUNT] = "node_count",
    [JOB_NTASKS] = "ntasks",
    [JOB_NCORES] = "ncores",
    [JOB_NODELIST] = "nodelist",
    [JOB_SUBMIT_TIME] = "submit_time",
    [JOB_ELIGIBLE_TIME] = "eligible_time",
    [JOB_BEGIN_TIME] = "begin_time",
    [JOB_EXPECTED_START] = "expected_start",
    [JOB_START_TIME] = "start_time",
    [JOB_END_TIME] = "end_time",
    [JOB_DEADLINE] = "deadline",
    [JOB_WAIT_STATUS] = "wait_status",
    [JOB_RESTARTS] = "restarts",
    [JOB_REASON] = "reason",
    [JOB_BLOCKING_JOBS] = "blocking_jobs",
    [JOB_PRIORITY] = "priority",
    [JOB_NICE] = "nice",
    [JOB_COMMENT] = "comment",
    [JOB_WCKEY] = "wckey",
    [JOB_EXTRA] = "extra",
    [JOB_MCS_LABEL] = "mcs_label",
    [JOB_ADMIN_COMMENT] = "admin_comment",
    [JOB_LICENSES] = "licenses",
    [JOB_ACCOUNT] = "account",
    [JOB_QOS] = "qos",
    [JOB_CWD] = "cwd",
    [JOB_PROGRAM] = "program",
    [JOB_OUTPUT] = "output",
    [JOB_ERROR] = "error",
    [JOB_INPUT] = "input",
    [JOB_DEPENDENCY] = "dependency",
    [JOB_RESERVATION] = "reservation",
    [JOB_FEATURES] = "features",
    [JOB_REQUIRED_NODES] = "required_nodes",
    [JOB_EXCLUDED_NODES] = "excluded_nodes",
    [JOB_GRES_PER_NODE] = "gres_per_node",
    [JOB_GPUS] = "gpus",
    [JOB_MEMORY_PER_NODE] = "memory_per_node",
    [JOB_TMP_DISK_PER_NODE] = "tmp_disk_per_node",
    [JOB_CPUS_PER_TASK] = "cpus_per_task",
    [JOB_EXCLUSIVE] = "exclusive",
    [JOB_MAY_REQUEUE] = "may_requeue",
    [JOB_SWITCHES] = "switches",
    [JOB_SWITCHES_WAIT] = "switches_wait",
    [JOB_BATCH_SCRIPT] = "batch_script",
    [JOB_COMPONENTS] = "components",
};

/* -- values -- */

/* strtod() for decimal digits, without an exponent: listings are large. */
double job_number (const struct job_row *row, enum job_value v)
{
    const char *p = row->values[v];
    bool minus = *p == '-';
    double n, unit = 1;
    uint64_t whole = 0; /* integers are faster; no number of a job has 19 digits */

    for (p += minus; *p >= '0' && *p <= '9'; p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    n = (double)whole;
    for (p += *p == '.'; *p >= '0' && *p <= '9'; p++)
        n += (*p - '0') * (unit /= 10);
    return minus ? -n : n;
}

void job_row_init (struct job_row *row)
{
    *row = (struct job_row){ .now = clock_wall () };
    for (size_t v = 0; v < JOB_VALUES; v++)
        row->values[v] = "";
}

bool job_is_state (const struct job_row *row, const char *letters)
{
    return !strcmp (job_value (row, JOB_ST), letters);
}

bool job_waits (const struct job_row *row)
{
    return job_is_state (row, "PD") || job_is_state (row, "RQ");
}

bool job_is_held (const struct job_row *row)
{
    return !strncmp (row->values[JOB_REASON], "JobHeld", strlen ("JobHeld"));
}

double job_start_time (const struct job_row *row)
{
    if (!job_waits (row))
        return job_number (row, JOB_START_TIME);
    double start = job_is_held (row) ? 0 : job_number (row, JOB_EXPECTED_START);
    double begin = job_number (row, JOB_BEGIN_TIME);
    return start > 0 ? start : begin > row->now ? begin : 0;
}

bool job_has_ended (const struct job_row *row)
{
    return job_has (row, JOB_END_TIME);
}

double job_end_time (const struct job_row *row)
{
    double start = job_start_time (row), limit = job_number (row, JOB_TIME_LIMIT);

    if (job_has_ended (row))
        return job_number (row, JOB_END_TIME);
    return start > 0 && limit > 0 ? start + limit : 0;
}

const char *job_reason (const struct job_row *row)
{
    const char *status = row->values[JOB_WAIT_STATUS];

    if (job_waits (row))
        return slurm_reason (row->values[JOB_REASON]);
    return slurm_end_reason (row->values[JOB_ST],
                             *status ? (int)job_number (row, JOB_WAIT_STATUS) : -1);
}

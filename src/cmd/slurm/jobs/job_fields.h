/* job_fields.h - the fields of a job in Slurm's formats, made from the broker's columns
 *
 *     row.values[JOB_ST] = "PD"; ...            // "" where the broker has none
 *     slurm_format_parse (&f, slurm_job_fields, "%i %t %R", wrong, c);
 *     slurm_format_add_row (&f, &row, &sb);
 *
 * A field that fluxq has no value for shows what Slurm shows for a job without the value:
 * "(null)", "N/A", 0.
 */
#pragma once

#include "cmd/slurm/words/format.h"

/* Columns of GET /v1/jobs; slurm_job_columns has their names. */
enum job_value {
    JOB_ID,
    JOB_JOB,
    JOB_ARRAY_JOB,
    JOB_ARRAY_TASK,
    JOB_ARRAY_TASKS,
    JOB_QUEUE,
    JOB_NAME,
    JOB_USER,
    JOB_USERID,
    JOB_GROUPID,
    JOB_STATE,
    JOB_ST,
    JOB_FLUX_STATE,
    JOB_TIME,
    JOB_TIME_LIMIT,
    JOB_TIME_MIN,
    JOB_NODES,
    JOB_NODE_COUNT,
    JOB_NTASKS,
    JOB_NCORES,
    JOB_NODELIST,
    JOB_SUBMIT_TIME,
    JOB_ELIGIBLE_TIME,
    JOB_BEGIN_TIME,
    JOB_EXPECTED_START,
    JOB_START_TIME,
    JOB_END_TIME,
    JOB_DEADLINE,
    JOB_WAIT_STATUS,
    JOB_RESTARTS,
    JOB_REASON,
    JOB_BLOCKING_JOBS,
    JOB_PRIORITY,
    JOB_NICE,
    JOB_COMMENT,
    JOB_WCKEY,
    JOB_EXTRA,
    JOB_MCS_LABEL,
    JOB_ADMIN_COMMENT,
    JOB_LICENSES,
    JOB_ACCOUNT,
    JOB_QOS,
    JOB_CWD,
    JOB_PROGRAM,
    JOB_OUTPUT,
    JOB_ERROR,
    JOB_INPUT,
    JOB_DEPENDENCY,
    JOB_RESERVATION,
    JOB_FEATURES,
    JOB_REQUIRED_NODES,
    JOB_EXCLUDED_NODES,
    JOB_GRES_PER_NODE,
    JOB_GPUS,
    JOB_MEMORY_PER_NODE,
    JOB_TMP_DISK_PER_NODE,
    JOB_CPUS_PER_TASK,
    JOB_EXCLUSIVE,
    JOB_MAY_REQUEUE,
    JOB_SWITCHES,
    JOB_SWITCHES_WAIT,
    JOB_BATCH_SCRIPT,
    /* In a row of a heterogeneous job: the number of the component, see job_rows.h. */
    JOB_COMPONENTS,
    JOB_VALUES,
};
_Static_assert(JOB_VALUES <= 64, "needs of struct slurm_field has 64 bits");

extern const char *const slurm_job_columns[JOB_VALUES];

struct job_row {
    const char *values[JOB_VALUES]; /* never NULL */
    /* Waiting tasks of the array, "0-3", if they are not all of them; else NULL. One task
     * alone is shown as a job of its own. */
    const char *tasks;
    const char *number;   /* the JobID if it is not the job's own; else NULL */
    double now;           /* unix time */
    bool noconvert;       /* sizes in their original unit */
    bool expand_patterns; /* names of files as the job opens them */
};

extern const struct slurm_field slurm_job_fields[];

/* -- values (job_values.c) -- */

static inline const char *job_value (const void *row, enum job_value v)
{
    return ((const struct job_row *)row)->values[v];
}

static inline bool job_has (const void *row, enum job_value v)
{
    return *job_value (row, v) != '\0';
}

/* Sets the time, and all values to "". */
void job_row_init (struct job_row *row);
/* The number in a value; 0: none. */
double job_number (const struct job_row *row, enum job_value value);
/* The short state: "PD". */
bool job_is_state (const struct job_row *row, const char *letters);
bool job_waits (const struct job_row *row);
bool job_is_held (const struct job_row *row);
bool job_has_ended (const struct job_row *row);
/* Unix times; 0: unknown. */
double job_start_time (const struct job_row *row);
double job_end_time (const struct job_row *row);
/* Slurm's word for the reason why the job waits, or ended as it did. */
const char *job_reason (const struct job_row *row);

/* acct.h - jobs and steps in sacct's words: values, fields, formats, filters
 *
 *     list_format_parse (&f, acct_fields, "JobID,State%20,NodeList%-30", &err);
 *     acct_rows_get (c, &rows, ACCT_HISTORY, target, f.needs, steps);
 *     for (size_t i = 0; i < rows.n; i++) {
 *         acct_rows_fill (&rows, i, &row);
 *         list_format_add_row (&f, &row, &sb);
 *     }
 *     acct_rows_release (&rows);
 *
 * Jobs that wait or run are rows of GET /v1/jobs, ended ones of GET /v1/history; both have
 * the same values here, as texts.
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/words/list_format.h"

enum acct_value {
    ACCT_ID,
    ACCT_ARRAY_JOB,
    ACCT_ARRAY_TASK,
    ACCT_ARRAY_TASKS,
    ACCT_QUEUE,
    ACCT_NAME,
    ACCT_USER,
    ACCT_USERID,
    ACCT_GROUPID,
    ACCT_ACCOUNT,
    ACCT_QOS,
    ACCT_LICENSES,
    ACCT_WCKEY,
    ACCT_EXTRA,
    ACCT_MCS_LABEL,
    ACCT_ADMIN_COMMENT,
    ACCT_STATE,
    ACCT_ST,
    ACCT_EXIT_CODE,
    ACCT_STATUS, /* as wait(2) returns it */
    ACCT_CANCELLED_BY,
    ACCT_TIME,
    ACCT_LIMIT,
    ACCT_SUBMIT,
    ACCT_ELIGIBLE,
    ACCT_BEGIN, /* only of a waiting job */
    ACCT_START,
    ACCT_END,
    ACCT_NODES,
    ACCT_NTASKS,
    ACCT_NCORES,
    ACCT_CPU_MILLI,
    ACCT_GPUS,
    ACCT_MEMORY,
    ACCT_ASKED_NODES,
    ACCT_ASKED_NCORES,
    ACCT_ASKED_CPU_MILLI,
    ACCT_ASKED_GPUS,
    ACCT_ASKED_MEMORY,
    ACCT_NODE_MEMORY, /* MiB on each node, only of a job that has not ended */
    ACCT_NODE_GRES,   /* "gpu:2,license:1", the same */
    ACCT_NODELIST,
    ACCT_CWD,
    ACCT_COMMENT,
    ACCT_RESTARTS,
    ACCT_PRIORITY,
    ACCT_RESERVATION, /* this and the following ones only of a job that has not ended */
    ACCT_FEATURES,
    ACCT_REASON,
    ACCT_OUTPUT,
    ACCT_ERROR,
    ACCT_INPUT,
    ACCT_COMPONENTS, /* JSON, see doc/openapi.yaml */
    ACCT_VALUES,
};
_Static_assert(ACCT_VALUES <= 62, "needs has 64 bits");
#define ACCT_BIT(v) (UINT64_C (1) << ACCT_##v)
#define ACCT_NEEDS_CLUSTER (UINT64_C (1) << 62)
#define ACCT_NEEDS_STEPS (UINT64_C (1) << 63) /* a field of the job reads its steps */

/* The values of the options. */
struct acct_view {
    char cluster[64];    /* name of the broker's cluster, with ACCT_NEEDS_CLUSTER */
    double now;          /* unix time */
    int unit;            /* index into "KMGTP" from 1; 0: as it fits */
    bool noconvert;      /* sizes in their own unit */
    bool truncate;       /* times within the window */
    bool all_attempts;   /* steps of attempts before the last one */
    double since, until; /* the window */
};

struct acct_row {
    const struct acct_view *view;
    const char *values[ACCT_VALUES]; /* never NULL */
    const json_t *steps;             /* array; NULL: unknown */
    const json_t *step;              /* NULL: the row is the job's */
    const char *step_id;             /* "batch", "0" */
    char task[16];                   /* one waiting task of the array, or "" */
    char component[16];              /* of a heterogeneous job, or "" */
    char asked_memory[24];           /* MiB of the component, the text of a value */
};

/* -- rows of the broker (acct_rows.c) -- */

enum acct_source { ACCT_JOBS, ACCT_HISTORY };

struct acct_rows {
    enum acct_source source;
    size_t n, ncolumns;
    enum acct_value columns[ACCT_VALUES];
    const char **cells; /* n * ncolumns */
    const json_t **steps;
    struct http_response answer;
    json_t *json;
};

/* target: with its filters. Rows come by id. CMD_OK, or the status after a message; then
 * there is nothing to release. */
int acct_rows_get (struct cmd *c, struct acct_rows *ret, enum acct_source source,
                   const char *target, uint64_t needs, bool steps);
void acct_rows_release (struct acct_rows *rows);
void acct_row_init (struct acct_row *row, const struct acct_view *view);
/* Sets all values; those that the source does not have are "". */
void acct_rows_fill (const struct acct_rows *rows, size_t i, struct acct_row *row);
uint64_t acct_row_id (const struct acct_rows *rows, size_t i);

/* -- components of heterogeneous jobs (acct_components.c) -- */

/* The components of the row's job, a new list; NULL: it has none. */
json_t *acct_components (const struct acct_row *row);
/* Makes the row that of component n of the list, which must outlive it. */
void acct_row_narrow (struct acct_row *row, const json_t *components, size_t n);
/* Whether the step ran in the row's component. */
bool acct_step_is_here (const struct acct_row *row, const json_t *step);

/* -- all jobs by id (acct_walk.c) -- */

struct acct_walk {
    struct cmd *c;
    const struct acct_view *view; /* since and until of the history */
    uint64_t needs;
    bool steps; /* the history is read with its steps */
    bool named; /* jobs are named: ended ones of the queue are read, too */
    void (*add_filters) (void *arg, struct strbuf *target, enum acct_source source);
    void (*row) (void *arg, const struct acct_rows *rows, size_t i);
    /* After each page of the history, to print what came so far: CMD_OK to go on; NULL:
     * nothing. */
    int (*page) (void *arg);
    void *arg;
};

/* Gives each job once. CMD_OK, or the status after a message. */
int acct_walk (const struct acct_walk *w);

/* -- values (acct_values.c) -- */

static inline bool acct_has (const struct acct_row *row, enum acct_value v)
{
    return *row->values[v] != '\0';
}

double acct_number (const struct acct_row *row, enum acct_value v);
bool acct_is_state (const struct acct_row *row, const char *letters);
bool acct_waits (const struct acct_row *row);
/* Whether the job had an allocation. */
bool acct_has_run (const struct acct_row *row);
/* Unix times of the row, of a step its own; 0: none yet, < 0: there never was one. */
double acct_start (const struct acct_row *row);
double acct_end (const struct acct_row *row);
double acct_eligible (const struct acct_row *row);
double acct_elapsed (const struct acct_row *row); /* whole seconds */
/* CPUs and nodes of the row; asked: requested, else allocated. */
double acct_cpus (const struct acct_row *row, bool asked);
double acct_nodes (const struct acct_row *row, bool asked);
/* GPUs and MiB of the job. */
double acct_gpus (const struct acct_row *row, bool asked);
double acct_memory (const struct acct_row *row, bool asked);
/* Appends "cpu=2,gres/gpu=1,mem=200M,node=2". */
void acct_add_tres (const struct acct_row *row, bool asked, struct strbuf *sb);
/* Appends n in Slurm's way, unit: that of n, index into "KMGTP" from 1. */
void acct_add_size (const struct acct_row *row, double n, int unit, struct strbuf *sb);
/* Appends the time, "Unknown", or for t < 0 "None". */
void acct_add_time (double t, struct strbuf *sb);
/* Appends seconds as 1-02:03:04. */
void acct_add_seconds (double seconds, struct strbuf *sb);
/* Appends processor time, short ones as 00:00.017. */
void acct_add_cpu_time (double seconds, struct strbuf *sb);
void acct_add_state (const struct acct_row *row, struct strbuf *sb);
/* The status of the row as wait(2) returns it. */
int acct_status (const struct acct_row *row);
/* Appends the id; raw: a task by the number of its job. */
void acct_add_id (const struct acct_row *row, bool raw, struct strbuf *sb);

/* -- steps (acct_steps.c) -- */

/* Whether the step is a row, with its name in *ret_id. */
bool acct_step_is_shown (const struct acct_row *row, const json_t *step,
                         const char **ret_id);
/* The steps of a running job that run now, an array, a new reference. NULL, silently: the
 * job has ended, is another user's, or its agent does not answer. */
json_t *acct_running_steps (struct cmd *c, uint64_t id);
/* Seconds of processor time of the row, of the whole job if it is the job's; "user",
 * "system" or NULL: both. */
double acct_cpu_time (const struct acct_row *row, const char *figure);
/* The figure of the step's row; NULL: unknown, or the row is the job's. */
const json_t *acct_figure (const struct acct_row *row, const char *name);
/* "RUNNING", or how the step ended: "CANCELLED", ... */
const char *acct_step_state (const struct acct_row *row);
/* The worst status of the job's numbered steps. */
int acct_derived_status (const struct acct_row *row);
/* The nodes of the row, "" if unknown. */
const char *acct_step_nodes (const struct acct_row *row);

/* -- fields (acct_fields.c): a row is a struct acct_row -- */

extern const struct list_field acct_fields[];

/* -- JSON (acct_json.c) -- */

/* The job with its steps, a new reference; NULL: no memory. */
json_t *acct_json (struct acct_row *row);

/* -- times (acct_time.c) -- */

/* A time of -S and -E: "now-1day", "11/23-10:00", "2026-11-23T10:00", ...; dates without
 * year and times without date are in the past. -EINVAL: *ret_at is the place of the
 * error. */
int acct_parse_time (const char *text, double now, double *ret, int *ret_at);

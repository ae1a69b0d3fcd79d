/* acct_values.c - values of a job or step in sacct's words; see acct.h
 */
#include <math.h>
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"
#include "cmd/slurm/words/words.h"

double acct_number (const struct acct_row *row, enum acct_value v)
{
    return strtod (row->values[v], NULL);
}

bool acct_is_state (const struct acct_row *row, const char *letters)
{
    return !strcmp (row->values[ACCT_ST], letters);
}

bool acct_waits (const struct acct_row *row)
{
    return acct_is_state (row, "PD") || acct_is_state (row, "RQ");
}

bool acct_has_run (const struct acct_row *row)
{
    return !acct_waits (row) && acct_number (row, ACCT_START) > 0;
}

/* -- times -- */

double acct_start (const struct acct_row *row)
{
    const struct acct_view *view = row->view;
    double t = acct_has_run (row) ? floor (acct_number (row, ACCT_START))
               : acct_has (row, ACCT_END) && !acct_waits (row) ? -1
                                                               : 0;

    if (row->step)
        t = floor (answer_number (row->step, "begin"));
    return view->truncate && t > 0 ? MAX (t, view->since) : t;
}

double acct_end (const struct acct_row *row)
{
    const struct acct_view *view = row->view;
    double t = acct_waits (row) ? 0 : floor (acct_number (row, ACCT_END));

    if (row->step)
        t = floor (answer_number (row->step, "end"));
    if (view->truncate && acct_start (row) > 0)
        return t > 0 ? MIN (t, view->until) : view->until;
    return t;
}

/* A job that is held or depends on others has no such time yet. */
double acct_eligible (const struct acct_row *row)
{
    const char *reason = row->values[ACCT_REASON];
    double eligible = acct_number (row, ACCT_ELIGIBLE);

    if (row->step)
        return acct_start (row);
    if (!acct_waits (row))
        return eligible;
    if (!strncmp (reason, "JobHeld", strlen ("JobHeld"))
        || !strcmp (reason, "Dependency"))
        return 0;
    return MAX (eligible, acct_number (row, ACCT_BEGIN));
}

double acct_elapsed (const struct acct_row *row)
{
    double start = acct_start (row), end = acct_end (row);

    if (start <= 0)
        return 0;
    return MAX ((end > 0 ? end : floor (row->view->now)) - start, 0);
}

void acct_add_time (double t, struct strbuf *sb)
{
    if (t == 0)
        strbuf_adds (sb, "Unknown");
    else if (t < 0)
        strbuf_adds (sb, "None");
    else
        slurm_add_time (sb, t);
}

void acct_add_seconds (double seconds, struct strbuf *sb)
{
    uint64_t n = seconds > 0 ? (uint64_t)MIN (seconds, 1e15) : 0;

    if (n >= 86400)
        strbuf_addf (sb, "%ju-", (uintmax_t)(n / 86400));
    strbuf_addf (sb, "%02u:%02u:%02u", (unsigned)(n / 3600 % 24), (unsigned)(n / 60 % 60),
                 (unsigned)(n % 60));
}

void acct_add_cpu_time (double seconds, struct strbuf *sb)
{
    double ms = seconds > 0 ? floor (seconds * 1000 + 1e-6) : 0;

    if (ms >= 3600e3 || fmod (ms, 1000) == 0)
        acct_add_seconds (ms / 1000, sb);
    else
        strbuf_addf (sb, "%02.0f:%02.0f.%03.0f", floor (ms / 60e3),
                     fmod (floor (ms / 1000), 60), fmod (ms, 1000));
}

/* -- sizes -- */

void acct_add_size (const struct acct_row *row, double n, int unit, struct strbuf *sb)
{
    static const char units[] = " KMGTP";
    int wanted = row->view->unit;

    if (n < 1) {
        strbuf_adds (sb, "0");
        return;
    }
    for (; wanted > 0 && unit < wanted; unit++)
        n /= 1024;
    for (; wanted > 0 && unit > wanted; unit--)
        n *= 1024;
    while (!wanted && !row->view->noconvert && n >= 1024 && fmod (floor (n), 512) == 0
           && unit < 5) {
        n /= 1024;
        unit++;
    }
    strbuf_addf (sb, floor (n) == n ? "%.0f" : "%.2f", n);
    if (unit > 0)
        strbuf_addch (sb, units[unit]);
}

/* The column for a job of the history, the product of nodes for others. */
double acct_gpus (const struct acct_row *row, bool asked)
{
    const char *list = row->values[ACCT_NODE_GRES];
    double nodes = acct_nodes (row, asked);

    for (; *list; list += strcspn (list, ","), list += *list == ',')
        if (!strncmp (list, "gpu:", strlen ("gpu:")))
            return nodes * strtod (list + strlen ("gpu:"), NULL);
    return acct_number (row, asked ? ACCT_ASKED_GPUS : ACCT_GPUS);
}

double acct_memory (const struct acct_row *row, bool asked)
{
    if (acct_has (row, ACCT_NODE_MEMORY))
        return acct_nodes (row, asked) * acct_number (row, ACCT_NODE_MEMORY);
    return acct_number (row, asked ? ACCT_ASKED_MEMORY : ACCT_MEMORY);
}

static double job_cpus (const struct acct_row *row, bool asked)
{
    double milli = acct_number (row, asked ? ACCT_ASKED_CPU_MILLI : ACCT_CPU_MILLI);

    if (!asked && !acct_has_run (row))
        return 0;
    if (milli > 0)
        return ceil (milli / 1000);
    return ceil (acct_number (row, asked ? ACCT_ASKED_NCORES : ACCT_NCORES));
}

/* A step has the CPUs of its tasks, and the script those of one node, as far as the job's
 * can be divided among its own. */
double acct_cpus (const struct acct_row *row, bool asked)
{
    double cpus = job_cpus (row, asked && !row->step);
    double parts = acct_number (row, ACCT_NTASKS), step = 0;

    if (row->step && row->step_id[0] >= '0' && row->step_id[0] <= '9') {
        step = answer_number (row->step, "ntasks");
    } else if (row->step) {
        parts = acct_number (row, ACCT_NODES);
        step = answer_number (row->step, "nnodes");
    }
    if (step > 0 && parts > 0 && fmod (cpus, parts) == 0)
        return MIN (cpus, step * cpus / parts);
    return cpus;
}

double acct_nodes (const struct acct_row *row, bool asked)
{
    if (row->step)
        return answer_number (row->step, "nnodes");
    if (asked)
        return acct_number (row, ACCT_ASKED_NODES);
    return acct_has_run (row) ? acct_number (row, ACCT_NODES) : 0;
}

void acct_add_tres (const struct acct_row *row, bool asked, struct strbuf *sb)
{
    double gpus = acct_gpus (row, asked), memory = acct_memory (row, asked);

    if (!asked && !acct_has_run (row))
        return;
    strbuf_addf (sb, "cpu=%.0f", acct_cpus (row, asked));
    if (row->step) { /* what a step has of the others is unknown */
        strbuf_addf (sb, ",node=%.0f", acct_nodes (row, false));
        return;
    }
    if (gpus > 0)
        strbuf_addf (sb, ",gres/gpu=%.0f", gpus);
    slurm_add_licenses (sb, row->values[ACCT_LICENSES]);
    if (memory > 0) {
        strbuf_adds (sb, ",mem=");
        acct_add_size (row, memory, 2, sb);
    }
    strbuf_addf (sb, ",node=%.0f", acct_nodes (row, asked));
}

/* -- ends -- */

/* As in Slurm, 0:0 if something else than the job's tasks ended the job. */
int acct_status (const struct acct_row *row)
{
    static const char *const others[] = { "CA", "TO", "DL", "PR" };

    if (row->step)
        return (int)answer_number (row->step, "status");
    for (size_t i = 0; i < ARRAY_SIZE (others); i++)
        if (acct_is_state (row, others[i]))
            return 0;
    if (acct_has (row, ACCT_STATUS))
        return (int)acct_number (row, ACCT_STATUS);
    return ((int)acct_number (row, ACCT_EXIT_CODE) & 0xff) << 8;
}

void acct_add_state (const struct acct_row *row, struct strbuf *sb)
{
    if (row->step) {
        strbuf_adds (sb, acct_step_state (row));
        return;
    }
    strbuf_adds (sb, row->values[ACCT_STATE]);
    if (acct_is_state (row, "CA") && acct_has (row, ACCT_CANCELLED_BY))
        strbuf_addf (sb, " by %s", row->values[ACCT_CANCELLED_BY]);
}

void acct_add_id (const struct acct_row *row, bool raw, struct strbuf *sb)
{
    if (raw)
        strbuf_adds (sb, row->values[ACCT_ID]);
    else if (acct_has (row, ACCT_ARRAY_TASK))
        strbuf_addf (sb, "%s_%s", row->values[ACCT_ARRAY_JOB],
                     row->values[ACCT_ARRAY_TASK]);
    else if (*row->task)
        strbuf_addf (sb, "%s_%s", row->values[ACCT_ID], row->task);
    else if (acct_has (row, ACCT_ARRAY_TASKS))
        strbuf_addf (sb, "%s_[%s]", row->values[ACCT_ID], row->values[ACCT_ARRAY_TASKS]);
    else
        strbuf_adds (sb, row->values[ACCT_ID]);
    if (*row->component && !raw)
        strbuf_addf (sb, "+%s", row->component);
    if (row->step)
        strbuf_addf (sb, ".%s", row->step_id);
}

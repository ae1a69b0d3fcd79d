/* acct_fields.c - the fields of sacct; see acct.h
 *
 * A field that fluxq has no value for shows what Slurm shows without one: nothing, 0,
 * Unknown. Of a job that has ended the history keeps no reservation, constraints, files
 * and reason of waiting.
 */
#include <grp.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"

#define FIELD(name)                                                                      \
    static void value_##name (const struct acct_row *row, struct strbuf *sb);            \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        value_##name (row, sb);                                                          \
    }                                                                                    \
    static void value_##name (const struct acct_row *row, struct strbuf *sb)
/* A value of the job, on the rows of its steps too. */
#define VALUE(name, v)                                                                   \
    FIELD (name)                                                                         \
    {                                                                                    \
        strbuf_adds (sb, row->values[v]);                                                \
    }
/* Only on the job's row. */
#define JOB_VALUE(name, v)                                                               \
    FIELD (name)                                                                         \
    {                                                                                    \
        strbuf_adds (sb, row->step ? "" : row->values[v]);                               \
    }
#define TIME(name, expr)                                                                 \
    FIELD (name)                                                                         \
    {                                                                                    \
        acct_add_time ((expr), sb);                                                      \
    }
#define SECONDS(name, expr)                                                              \
    FIELD (name)                                                                         \
    {                                                                                    \
        acct_add_seconds ((expr), sb);                                                   \
    }
#define COUNT(name, expr)                                                                \
    FIELD (name)                                                                         \
    {                                                                                    \
        strbuf_addf (sb, "%.0f", (expr));                                                \
    }

VALUE (account, ACCT_ACCOUNT)
JOB_VALUE (queue, ACCT_QUEUE)
JOB_VALUE (user, ACCT_USER)
JOB_VALUE (userid, ACCT_USERID)
JOB_VALUE (groupid, ACCT_GROUPID)
JOB_VALUE (qos, ACCT_QOS)
JOB_VALUE (licenses, ACCT_LICENSES)
JOB_VALUE (wckey, ACCT_WCKEY)
JOB_VALUE (extra, ACCT_EXTRA)
JOB_VALUE (mcs_label, ACCT_MCS_LABEL)
JOB_VALUE (admin_comment, ACCT_ADMIN_COMMENT)
JOB_VALUE (cwd, ACCT_CWD)
JOB_VALUE (comment, ACCT_COMMENT)
JOB_VALUE (restarts, ACCT_RESTARTS)
JOB_VALUE (priority, ACCT_PRIORITY)
JOB_VALUE (reservation, ACCT_RESERVATION)
JOB_VALUE (features, ACCT_FEATURES)
JOB_VALUE (output, ACCT_OUTPUT)
JOB_VALUE (error, ACCT_ERROR)
JOB_VALUE (input, ACCT_INPUT)

TIME (submit, row->step ? acct_start (row) : floor (acct_number (row, ACCT_SUBMIT)))
TIME (eligible, floor (acct_eligible (row)))
TIME (start, acct_start (row))
TIME (end, acct_end (row))
SECONDS (elapsed, acct_elapsed (row))
SECONDS (cpu_time, acct_elapsed (row) * acct_cpus (row, false))
COUNT (elapsed_raw, acct_elapsed (row))
COUNT (cpu_time_raw, acct_elapsed (row) * acct_cpus (row, false))
COUNT (cpus, acct_cpus (row, false))
COUNT (asked_cpus, acct_cpus (row, true))
COUNT (nodes, acct_nodes (row, false))
COUNT (asked_nodes, acct_nodes (row, true))

static void add_zero (const void *row, struct strbuf *sb)
{
    (void)row;
    strbuf_adds (sb, "0");
}

/* Jobs are not suspended. */
static void add_suspended (const void *row, struct strbuf *sb)
{
    (void)row;
    acct_add_seconds (0, sb);
}

static void add_unknown (const void *row, struct strbuf *sb)
{
    (void)row;
    strbuf_adds (sb, "Unknown");
}

FIELD (cluster)
{
    strbuf_adds (sb, row->view->cluster);
}

/* -- ids, names, ends -- */

FIELD (id)
{
    acct_add_id (row, false, sb);
}

FIELD (raw_id)
{
    acct_add_id (row, true, sb);
}

FIELD (name)
{
    if (row->step && !strcmp (row->step_id, "batch"))
        strbuf_adds (sb, row->step_id);
    else if (row->step)
        record_add_text (sb, json_text (row->step, "name"));
    else
        strbuf_adds (sb, row->values[ACCT_NAME]);
}

FIELD (group)
{
    const char *id = row->step ? "" : row->values[ACCT_GROUPID];
    const struct group *gr = *id ? getgrgid ((gid_t)strtoul (id, NULL, 10)) : NULL;

    strbuf_adds (sb, gr ? gr->gr_name : id);
}

FIELD (state)
{
    acct_add_state (row, sb);
}

static void add_status (int status, struct strbuf *sb)
{
    strbuf_addf (sb, "%d:%d", WIFEXITED (status) ? WEXITSTATUS (status) : 0,
                 WIFSIGNALED (status) ? WTERMSIG (status) : 0);
}

FIELD (exit_code)
{
    add_status (acct_status (row), sb);
}

FIELD (derived)
{
    if (!row->step)
        add_status (acct_derived_status (row), sb);
}

/* The history does not keep why an ended job waited. */
FIELD (reason)
{
    if (!row->step)
        strbuf_adds (sb,
                     acct_waits (row) ? slurm_reason (row->values[ACCT_REASON]) : "None");
}

/* -- times -- */

/* In minutes, rounded up. */
static double limit_of (const struct acct_row *row)
{
    return ceil (acct_number (row, ACCT_LIMIT) / 60);
}

FIELD (limit)
{
    if (!row->step && limit_of (row) > 0)
        acct_add_seconds (limit_of (row) * 60, sb);
    else if (!row->step)
        strbuf_adds (sb, "UNLIMITED");
}

FIELD (limit_raw)
{
    if (!row->step && limit_of (row) > 0)
        strbuf_addf (sb, "%.0f", limit_of (row));
    else if (!row->step)
        strbuf_adds (sb, "UNLIMITED");
}

/* Seconds from the time when the job could start to its start, its end without a start, or
 * now. */
static double planned (const struct acct_row *row)
{
    double eligible = floor (acct_eligible (row)), start = acct_start (row);
    double until = start > 0   ? start
                   : start < 0 ? acct_end (row)
                               : floor (row->view->now);

    return eligible > 0 ? MAX (until - eligible, 0) : 0;
}

FIELD (planned)
{
    if (!row->step)
        acct_add_seconds (planned (row), sb);
}

FIELD (planned_cpu)
{
    if (!row->step)
        acct_add_seconds (planned (row) * acct_cpus (row, true), sb);
}

FIELD (planned_cpu_raw)
{
    if (!row->step)
        strbuf_addf (sb, "%.0f", planned (row) * acct_cpus (row, true));
}

FIELD (total_cpu)
{
    acct_add_cpu_time (acct_cpu_time (row, NULL), sb);
}

FIELD (user_cpu)
{
    acct_add_cpu_time (acct_cpu_time (row, "user"), sb);
}

FIELD (system_cpu)
{
    acct_add_cpu_time (acct_cpu_time (row, "system"), sb);
}

/* -- nodes and resources -- */

FIELD (node_count)
{
    strbuf_addf (sb, "%.0f", acct_nodes (row, !row->step && !acct_has_run (row)));
}

FIELD (node_list)
{
    if (row->step)
        record_add_text (sb, acct_step_nodes (row));
    else
        strbuf_adds (sb, acct_has (row, ACCT_NODELIST) ? row->values[ACCT_NODELIST]
                                                       : "None assigned");
}

FIELD (ntasks)
{
    if (row->step)
        strbuf_addf (sb, "%.0f", answer_number (row->step, "ntasks"));
}

FIELD (asked_memory)
{
    double nodes = acct_number (row, ACCT_ASKED_NODES);
    double mib = acct_has (row, ACCT_NODE_MEMORY)
                     ? nodes * acct_number (row, ACCT_NODE_MEMORY)
                     : acct_number (row, ACCT_ASKED_MEMORY);

    if (!row->step)
        acct_add_size (row, mib, 2, sb);
}

FIELD (asked)
{
    if (!row->step)
        acct_add_tres (row, true, sb);
}

FIELD (granted)
{
    acct_add_tres (row, false, sb);
}

/* -- usage of steps -- */

static void add_bytes (const struct acct_row *row, const char *figure, const char *which,
                       struct strbuf *sb)
{
    const json_t *n = json_object_get (acct_figure (row, figure), which);

    if (json_is_number (n))
        acct_add_size (row, json_number_value (n), 0, sb);
}

/* Bytes as MiB, as Slurm shows disk sizes. */
static void add_disk (const struct acct_row *row, const char *figure, const char *which,
                      struct strbuf *sb)
{
    const json_t *n = json_object_get (acct_figure (row, figure), which);
    double mib = json_number_value (n) / 1048576;

    if (mib > 1)
        acct_add_size (row, mib, 2, sb);
    else if (json_is_number (n))
        strbuf_addf (sb, mib > 0 ? "%.2fM" : "%.0f", mib);
}

static void add_node (const struct acct_row *row, const char *figure, const char *which,
                      struct strbuf *sb)
{
    record_add_text (sb, json_text (acct_figure (row, figure), which));
}

#define BYTES(name, figure, which)                                                       \
    FIELD (name)                                                                         \
    {                                                                                    \
        add_bytes (row, (figure), (which), sb);                                          \
    }
#define DISK(name, figure, which)                                                        \
    FIELD (name)                                                                         \
    {                                                                                    \
        add_disk (row, (figure), (which), sb);                                           \
    }
#define NODE(name, figure, which)                                                        \
    FIELD (name)                                                                         \
    {                                                                                    \
        add_node (row, (figure), (which), sb);                                           \
    }

BYTES (max_rss, "peak", "max")
BYTES (ave_rss, "peak", "mean")
NODE (max_rss_node, "peak", "max_node")
DISK (max_read, "read", "max")
DISK (ave_read, "read", "mean")
NODE (max_read_node, "read", "max_node")
DISK (max_written, "written", "max")
DISK (ave_written, "written", "mean")
NODE (max_written_node, "written", "max_node")

/* The processor time: means and sums add up, extremes only if both are of one node. */
static bool cpu_figure (const struct acct_row *row, const char *which, double *ret)
{
    const json_t *user = acct_figure (row, "user"), *sys = acct_figure (row, "system");
    char node[16];

    snprintf (node, sizeof (node), "%s_node", which);
    if (!user || !sys || strcmp (json_text (user, node), json_text (sys, node)) != 0)
        return false;
    *ret = answer_number (user, which) + answer_number (sys, which);
    return true;
}

FIELD (ave_cpu)
{
    double seconds;

    if (cpu_figure (row, "mean", &seconds))
        acct_add_seconds (seconds, sb);
}

FIELD (min_cpu)
{
    double seconds;

    if (cpu_figure (row, "min", &seconds))
        acct_add_seconds (seconds, sb);
}

FIELD (min_cpu_node)
{
    double seconds;

    if (cpu_figure (row, "min", &seconds))
        add_node (row, "user", "min_node", sb);
}

/* "cpu=00:00:01,fs/disk=4K,mem=3212K" */
static void add_usage (const struct acct_row *row, const char *which, struct strbuf *sb)
{
    size_t at = sb->len;
    double seconds;

    if (cpu_figure (row, which, &seconds)) {
        strbuf_adds (sb, "cpu=");
        acct_add_seconds (seconds, sb);
    }
    if (acct_figure (row, "read")) {
        strbuf_adds (sb, sb->len > at ? ",fs/disk=" : "fs/disk=");
        add_bytes (row, "read", which, sb);
    }
    if (acct_figure (row, "peak")) {
        strbuf_adds (sb, sb->len > at ? ",mem=" : "mem=");
        add_bytes (row, "peak", which, sb);
    }
}

/* The nodes with the extremes. */
static void add_usage_nodes (const struct acct_row *row, const char *which,
                             struct strbuf *sb)
{
    static const struct {
        const char *tres, *figure;
    } parts[] = { { "cpu", "user" }, { "fs/disk", "read" }, { "mem", "peak" } };
    size_t at = sb->len;
    char node[16];
    double seconds;

    snprintf (node, sizeof (node), "%s_node", which);
    for (size_t i = 0; i < ARRAY_SIZE (parts); i++) {
        if (!acct_figure (row, parts[i].figure)
            || (i == 0 && !cpu_figure (row, which, &seconds)))
            continue;
        strbuf_addf (sb, "%s%s=", sb->len > at ? "," : "", parts[i].tres);
        add_node (row, parts[i].figure, node, sb);
    }
}

static void add_written (const struct acct_row *row, const char *which, bool node,
                         struct strbuf *sb)
{
    if (!acct_figure (row, "written"))
        return;
    strbuf_adds (sb, "fs/disk=");
    if (node)
        add_node (row, "written", which, sb);
    else
        add_bytes (row, "written", which, sb);
}

#define USAGE(name, add, ...)                                                            \
    FIELD (name)                                                                         \
    {                                                                                    \
        add (row, __VA_ARGS__, sb);                                                      \
    }

USAGE (in_ave, add_usage, "mean")
USAGE (in_max, add_usage, "max")
USAGE (in_min, add_usage, "min")
USAGE (in_tot, add_usage, "sum")
USAGE (in_max_node, add_usage_nodes, "max")
USAGE (in_min_node, add_usage_nodes, "min")
USAGE (out_ave, add_written, "mean", false)
USAGE (out_max, add_written, "max", false)
USAGE (out_min, add_written, "min", false)
USAGE (out_tot, add_written, "sum", false)
USAGE (out_max_node, add_written, "max_node", true)
USAGE (out_min_node, add_written, "min_node", true)

/* -- the table -- */

#define B(v) ACCT_BIT (v)
#define CPUS (B (NCORES) | B (CPU_MILLI) | B (NTASKS))
#define ASKED_CPUS (CPUS | B (ASKED_NCORES) | B (ASKED_CPU_MILLI))
#define NODES (B (NODES) | B (ASKED_NODES))
#define ASKED_MEM (B (ASKED_MEMORY) | B (NODE_MEMORY) | B (ASKED_NODES))
#define TRES                                                                             \
    (CPUS | NODES | B (GPUS) | B (MEMORY) | B (NODE_MEMORY) | B (NODE_GRES)              \
     | B (LICENSES))
#define ELIGIBLE (B (ELIGIBLE) | B (BEGIN) | B (REASON))
#define STEPS (ACCT_NEEDS_STEPS | B (RESTARTS))

/* clang-format off */
const struct list_field acct_fields[] = {
    { "Account", 10, LIST_TEXT, B (ACCOUNT), add_account, false, NULL },
    { "AdminComment", 15, LIST_TEXT, B (ADMIN_COMMENT), add_admin_comment, false, NULL },
    { "AllocCPUS", 10, LIST_NUMBER, CPUS, add_cpus, false, NULL },
    { "AllocNodes", 10, LIST_TEXT, NODES, add_nodes, false, NULL },
    { "AllocTRES", 10, LIST_TEXT, TRES, add_granted, false, NULL },
    { "AssocID", 7, LIST_NUMBER, 0, NULL, false, NULL },
    { "AveCPU", 10, LIST_TEXT, 0, add_ave_cpu, false, NULL },
    { "AveCPUFreq", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "AveDiskRead", 14, LIST_TEXT, 0, add_ave_read, false, NULL },
    { "AveDiskWrite", 14, LIST_TEXT, 0, add_ave_written, false, NULL },
    { "AvePages", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "AveRSS", 10, LIST_TEXT, 0, add_ave_rss, false, NULL },
    { "AveVMSize", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "BlockID", 15, LIST_TEXT, 0, NULL, false, NULL },
    { "Cluster", 10, LIST_TEXT, ACCT_NEEDS_CLUSTER, add_cluster, false, NULL },
    { "Comment", 14, LIST_TEXT, B (COMMENT), add_comment, false, NULL },
    { "Constraints", 19, LIST_TEXT, B (FEATURES), add_features, false, NULL },
    { "ConsumedEnergy", 14, LIST_TEXT, 0, add_zero, false, NULL },
    { "ConsumedEnergyRaw", 17, LIST_NUMBER, 0, add_zero, false, NULL },
    { "Container", 19, LIST_TEXT, 0, NULL, false, NULL },
    { "CPUTime", 10, LIST_NUMBER, CPUS, add_cpu_time, false, NULL },
    { "CPUTimeRAW", 10, LIST_NUMBER, CPUS, add_cpu_time_raw, false, NULL },
    { "DBIndex", -21, LIST_NUMBER, 0, NULL, false, NULL },
    { "DerivedExitCode", 15, LIST_TEXT, STEPS, add_derived, false, NULL },
    { "Elapsed", 10, LIST_NUMBER, 0, add_elapsed, false, NULL },
    { "ElapsedRaw", 10, LIST_NUMBER, 0, add_elapsed_raw, false, NULL },
    { "Eligible", 19, LIST_PLAIN, ELIGIBLE, add_eligible, false, NULL },
    { "End", 19, LIST_PLAIN, 0, add_end, false, NULL },
    { "ExitCode", 8, LIST_TEXT, B (STATUS) | B (EXIT_CODE), add_exit_code, false, NULL },
    { "Extra", 14, LIST_TEXT, B (EXTRA), add_extra, false, NULL },
    { "FailedNode", 8, LIST_TEXT, 0, NULL, false, NULL },
    { "Flags", 19, LIST_TEXT, 0, NULL, false, NULL },
    { "GID", 6, LIST_NUMBER, B (GROUPID), add_groupid, false, NULL },
    { "Group", 9, LIST_TEXT, B (GROUPID), add_group, false, NULL },
    { "JobID", -12, LIST_TEXT, 0, add_id, false, NULL },
    { "JobIDRaw", -12, LIST_TEXT, 0, add_raw_id, false, NULL },
    { "JobName", 10, LIST_TEXT, B (NAME), add_name, false, NULL },
    { "Layout", 9, LIST_TEXT, 0, NULL, false, NULL },
    { "Licenses", 10, LIST_TEXT, B (LICENSES), add_licenses, false, NULL },
    { "MaxDiskRead", 12, LIST_TEXT, 0, add_max_read, false, NULL },
    { "MaxDiskReadNode", 15, LIST_TEXT, 0, add_max_read_node, false, NULL },
    { "MaxDiskReadTask", 15, LIST_NUMBER, 0, NULL, false, NULL },
    { "MaxDiskWrite", 12, LIST_TEXT, 0, add_max_written, false, NULL },
    { "MaxDiskWriteNode", 16, LIST_TEXT, 0, add_max_written_node, false, NULL },
    { "MaxDiskWriteTask", 16, LIST_NUMBER, 0, NULL, false, NULL },
    { "MaxPages", 8, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxPagesNode", 12, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxPagesTask", 14, LIST_NUMBER, 0, NULL, false, NULL },
    { "MaxRSS", 10, LIST_TEXT, 0, add_max_rss, false, NULL },
    { "MaxRSSNode", 10, LIST_TEXT, 0, add_max_rss_node, false, NULL },
    { "MaxRSSTask", 10, LIST_NUMBER, 0, NULL, false, NULL },
    { "MaxVMSize", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxVMSizeNode", 14, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxVMSizeTask", 14, LIST_NUMBER, 0, NULL, false, NULL },
    { "McsLabel", 12, LIST_TEXT, B (MCS_LABEL), add_mcs_label, false, NULL },
    { "MinCPU", 10, LIST_TEXT, 0, add_min_cpu, false, NULL },
    { "MinCPUNode", 10, LIST_TEXT, 0, add_min_cpu_node, false, NULL },
    { "MinCPUTask", 10, LIST_NUMBER, 0, NULL, false, NULL },
    { "NCPUS", 10, LIST_NUMBER, CPUS, add_cpus, false, NULL },
    { "NNodes", 8, LIST_NUMBER, NODES, add_node_count, false, NULL },
    { "NodeList", 15, LIST_TEXT, B (NODELIST), add_node_list, false, NULL },
    { "NTasks", 8, LIST_NUMBER, 0, add_ntasks, false, NULL },
    { "Partition", 10, LIST_TEXT, B (QUEUE), add_queue, false, NULL },
    { "Planned", 10, LIST_NUMBER, ELIGIBLE, add_planned, false, NULL },
    { "PlannedCPU", 10, LIST_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu, false, NULL },
    { "PlannedCPURAW", 13, LIST_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu_raw, false, NULL },
    { "Priority", 10, LIST_NUMBER, B (PRIORITY), add_priority, false, NULL },
    { "QOS", 10, LIST_TEXT, B (QOS), add_qos, false, NULL },
    { "QOSRAW", 6, LIST_NUMBER, 0, NULL, false, NULL },
    { "QOSREQ", 10, LIST_TEXT, B (QOS), add_qos, false, NULL },
    { "Reason", 22, LIST_TEXT, B (REASON), add_reason, false, NULL },
    { "ReqCPUFreq", 10, LIST_TEXT, 0, add_unknown, false, NULL },
    { "ReqCPUFreqGov", 13, LIST_TEXT, 0, add_unknown, false, NULL },
    { "ReqCPUFreqMax", 13, LIST_TEXT, 0, add_unknown, false, NULL },
    { "ReqCPUFreqMin", 13, LIST_TEXT, 0, add_unknown, false, NULL },
    { "ReqCPUS", 8, LIST_NUMBER, ASKED_CPUS, add_asked_cpus, false, NULL },
    { "ReqMem", 10, LIST_TEXT, ASKED_MEM, add_asked_memory, false, NULL },
    { "ReqNodes", 8, LIST_TEXT, B (ASKED_NODES), add_asked_nodes, false, NULL },
    { "ReqTRES", 10, LIST_TEXT, TRES | ASKED_CPUS | ASKED_MEM | B (ASKED_GPUS), add_asked, false, NULL },
    { "Reservation", 20, LIST_TEXT, B (RESERVATION), add_reservation, false, NULL },
    { "ReservationId", 8, LIST_NUMBER, 0, NULL, false, NULL },
    { "ReqReservation", 20, LIST_TEXT, B (RESERVATION), add_reservation, false, NULL },
    { "Restarts", 8, LIST_NUMBER, B (RESTARTS), add_restarts, false, NULL },
    { "SegmentSize", 11, LIST_NUMBER, 0, NULL, false, NULL },
    { "SLUID", 14, LIST_TEXT, 0, NULL, false, NULL },
    { "Start", 19, LIST_PLAIN, 0, add_start, false, NULL },
    { "State", 10, LIST_TEXT, B (STATE) | B (CANCELLED_BY), add_state, false, NULL },
    { "StdErr", 20, LIST_TEXT, B (ERROR), add_error, false, NULL },
    { "StdIn", 20, LIST_TEXT, B (INPUT), add_input, false, NULL },
    { "StdOut", 20, LIST_TEXT, B (OUTPUT), add_output, false, NULL },
    { "Submit", 19, LIST_PLAIN, B (SUBMIT), add_submit, false, NULL },
    { "SubmitLine", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "Suspended", 10, LIST_NUMBER, 0, add_suspended, false, NULL },
    { "SystemComment", 15, LIST_TEXT, 0, NULL, false, NULL },
    { "SystemCPU", 10, LIST_TEXT, STEPS, add_system_cpu, false, NULL },
    { "Timelimit", 10, LIST_TEXT, B (LIMIT), add_limit, false, NULL },
    { "TimelimitRaw", 10, LIST_TEXT, B (LIMIT), add_limit_raw, false, NULL },
    { "TotalCPU", 10, LIST_TEXT, STEPS, add_total_cpu, false, NULL },
    { "TRESUsageInAve", 14, LIST_TEXT, 0, add_in_ave, false, NULL },
    { "TRESUsageInMax", 14, LIST_TEXT, 0, add_in_max, false, NULL },
    { "TRESUsageInMaxNode", 18, LIST_TEXT, 0, add_in_max_node, false, NULL },
    { "TRESUsageInMaxTask", 18, LIST_TEXT, 0, NULL, false, NULL },
    { "TRESUsageInMin", 14, LIST_TEXT, 0, add_in_min, false, NULL },
    { "TRESUsageInMinNode", 18, LIST_TEXT, 0, add_in_min_node, false, NULL },
    { "TRESUsageInMinTask", 18, LIST_TEXT, 0, NULL, false, NULL },
    { "TRESUsageInTot", 14, LIST_TEXT, 0, add_in_tot, false, NULL },
    { "TRESUsageOutAve", 15, LIST_TEXT, 0, add_out_ave, false, NULL },
    { "TRESUsageOutMax", 15, LIST_TEXT, 0, add_out_max, false, NULL },
    { "TRESUsageOutMaxNode", 19, LIST_TEXT, 0, add_out_max_node, false, NULL },
    { "TRESUsageOutMaxTask", 19, LIST_TEXT, 0, NULL, false, NULL },
    { "TRESUsageOutMin", 15, LIST_TEXT, 0, add_out_min, false, NULL },
    { "TRESUsageOutMinNode", 19, LIST_TEXT, 0, add_out_min_node, false, NULL },
    { "TRESUsageOutMinTask", 19, LIST_TEXT, 0, NULL, false, NULL },
    { "TRESUsageOutTot", 15, LIST_TEXT, 0, add_out_tot, false, NULL },
    { "UID", 6, LIST_NUMBER, B (USERID), add_userid, false, NULL },
    { "User", 9, LIST_TEXT, B (USER), add_user, false, NULL },
    { "UserCPU", 10, LIST_TEXT, STEPS, add_user_cpu, false, NULL },
    { "WCKey", 10, LIST_TEXT, B (WCKEY), add_wckey, false, NULL },
    { "WCKeyID", 10, LIST_NUMBER, 0, NULL, false, NULL },
    { "WorkDir", 20, LIST_TEXT, B (CWD), add_cwd, false, NULL },
    /* names of older versions */
    { "Reserved", 10, LIST_NUMBER, ELIGIBLE, add_planned, true, NULL },
    { "ResvCPU", 10, LIST_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu, true, NULL },
    { "ResvCPURAW", 10, LIST_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu_raw, true, NULL },
    { 0 },
};
/* clang-format on */

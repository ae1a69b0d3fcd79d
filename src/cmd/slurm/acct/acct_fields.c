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

#define FIELD(name) static void add_##name (const struct acct_row *row, struct strbuf *sb)
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

static void add_zero (const struct acct_row *row, struct strbuf *sb)
{
    (void)row;
    strbuf_adds (sb, "0");
}

/* Jobs are not suspended. */
static void add_suspended (const struct acct_row *row, struct strbuf *sb)
{
    (void)row;
    acct_add_seconds (0, sb);
}

static void add_unknown (const struct acct_row *row, struct strbuf *sb)
{
    (void)row;
    strbuf_adds (sb, "Unknown");
}

static void add_cluster (const struct acct_row *row, struct strbuf *sb)
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
    (CPUS | NODES | B (GPUS) | B (MEMORY) | B (NODE_MEMORY) | B (NODE_GRES) \
     | B (LICENSES))
#define ELIGIBLE (B (ELIGIBLE) | B (BEGIN) | B (REASON))
#define STEPS (ACCT_NEEDS_STEPS | B (RESTARTS))

/* clang-format off */
const struct acct_field acct_fields[] = {
    { "Account", 10, ACCT_TEXT, B (ACCOUNT), add_account, false },
    { "AdminComment", 15, ACCT_TEXT, 0, NULL, false },
    { "AllocCPUS", 10, ACCT_NUMBER, CPUS, add_cpus, false },
    { "AllocNodes", 10, ACCT_TEXT, NODES, add_nodes, false },
    { "AllocTRES", 10, ACCT_TEXT, TRES, add_granted, false },
    { "AssocID", 7, ACCT_NUMBER, 0, NULL, false },
    { "AveCPU", 10, ACCT_TEXT, 0, add_ave_cpu, false },
    { "AveCPUFreq", 10, ACCT_TEXT, 0, NULL, false },
    { "AveDiskRead", 14, ACCT_TEXT, 0, add_ave_read, false },
    { "AveDiskWrite", 14, ACCT_TEXT, 0, add_ave_written, false },
    { "AvePages", 10, ACCT_TEXT, 0, NULL, false },
    { "AveRSS", 10, ACCT_TEXT, 0, add_ave_rss, false },
    { "AveVMSize", 10, ACCT_TEXT, 0, NULL, false },
    { "BlockID", 15, ACCT_TEXT, 0, NULL, false },
    { "Cluster", 10, ACCT_TEXT, ACCT_NEEDS_CLUSTER, add_cluster, false },
    { "Comment", 14, ACCT_TEXT, B (COMMENT), add_comment, false },
    { "Constraints", 19, ACCT_TEXT, B (FEATURES), add_features, false },
    { "ConsumedEnergy", 14, ACCT_TEXT, 0, add_zero, false },
    { "ConsumedEnergyRaw", 17, ACCT_NUMBER, 0, add_zero, false },
    { "Container", 19, ACCT_TEXT, 0, NULL, false },
    { "CPUTime", 10, ACCT_NUMBER, CPUS, add_cpu_time, false },
    { "CPUTimeRAW", 10, ACCT_NUMBER, CPUS, add_cpu_time_raw, false },
    { "DBIndex", -21, ACCT_NUMBER, 0, NULL, false },
    { "DerivedExitCode", 15, ACCT_TEXT, STEPS, add_derived, false },
    { "Elapsed", 10, ACCT_NUMBER, 0, add_elapsed, false },
    { "ElapsedRaw", 10, ACCT_NUMBER, 0, add_elapsed_raw, false },
    { "Eligible", 19, ACCT_PLAIN, ELIGIBLE, add_eligible, false },
    { "End", 19, ACCT_PLAIN, 0, add_end, false },
    { "ExitCode", 8, ACCT_TEXT, B (STATUS) | B (EXIT_CODE), add_exit_code, false },
    { "Extra", 14, ACCT_TEXT, 0, NULL, false },
    { "FailedNode", 8, ACCT_TEXT, 0, NULL, false },
    { "Flags", 19, ACCT_TEXT, 0, NULL, false },
    { "GID", 6, ACCT_NUMBER, B (GROUPID), add_groupid, false },
    { "Group", 9, ACCT_TEXT, B (GROUPID), add_group, false },
    { "JobID", -12, ACCT_TEXT, 0, add_id, false },
    { "JobIDRaw", -12, ACCT_TEXT, 0, add_raw_id, false },
    { "JobName", 10, ACCT_TEXT, B (NAME), add_name, false },
    { "Layout", 9, ACCT_TEXT, 0, NULL, false },
    { "Licenses", 10, ACCT_TEXT, B (LICENSES), add_licenses, false },
    { "MaxDiskRead", 12, ACCT_TEXT, 0, add_max_read, false },
    { "MaxDiskReadNode", 15, ACCT_TEXT, 0, add_max_read_node, false },
    { "MaxDiskReadTask", 15, ACCT_NUMBER, 0, NULL, false },
    { "MaxDiskWrite", 12, ACCT_TEXT, 0, add_max_written, false },
    { "MaxDiskWriteNode", 16, ACCT_TEXT, 0, add_max_written_node, false },
    { "MaxDiskWriteTask", 16, ACCT_NUMBER, 0, NULL, false },
    { "MaxPages", 8, ACCT_TEXT, 0, NULL, false },
    { "MaxPagesNode", 12, ACCT_TEXT, 0, NULL, false },
    { "MaxPagesTask", 14, ACCT_NUMBER, 0, NULL, false },
    { "MaxRSS", 10, ACCT_TEXT, 0, add_max_rss, false },
    { "MaxRSSNode", 10, ACCT_TEXT, 0, add_max_rss_node, false },
    { "MaxRSSTask", 10, ACCT_NUMBER, 0, NULL, false },
    { "MaxVMSize", 10, ACCT_TEXT, 0, NULL, false },
    { "MaxVMSizeNode", 14, ACCT_TEXT, 0, NULL, false },
    { "MaxVMSizeTask", 14, ACCT_NUMBER, 0, NULL, false },
    { "McsLabel", 12, ACCT_TEXT, 0, NULL, false },
    { "MinCPU", 10, ACCT_TEXT, 0, add_min_cpu, false },
    { "MinCPUNode", 10, ACCT_TEXT, 0, add_min_cpu_node, false },
    { "MinCPUTask", 10, ACCT_NUMBER, 0, NULL, false },
    { "NCPUS", 10, ACCT_NUMBER, CPUS, add_cpus, false },
    { "NNodes", 8, ACCT_NUMBER, NODES, add_node_count, false },
    { "NodeList", 15, ACCT_TEXT, B (NODELIST), add_node_list, false },
    { "NTasks", 8, ACCT_NUMBER, 0, add_ntasks, false },
    { "Partition", 10, ACCT_TEXT, B (QUEUE), add_queue, false },
    { "Planned", 10, ACCT_NUMBER, ELIGIBLE, add_planned, false },
    { "PlannedCPU", 10, ACCT_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu, false },
    { "PlannedCPURAW", 13, ACCT_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu_raw, false },
    { "Priority", 10, ACCT_NUMBER, B (PRIORITY), add_priority, false },
    { "QOS", 10, ACCT_TEXT, B (QOS), add_qos, false },
    { "QOSRAW", 6, ACCT_NUMBER, 0, NULL, false },
    { "QOSREQ", 10, ACCT_TEXT, B (QOS), add_qos, false },
    { "Reason", 22, ACCT_TEXT, B (REASON), add_reason, false },
    { "ReqCPUFreq", 10, ACCT_TEXT, 0, add_unknown, false },
    { "ReqCPUFreqGov", 13, ACCT_TEXT, 0, add_unknown, false },
    { "ReqCPUFreqMax", 13, ACCT_TEXT, 0, add_unknown, false },
    { "ReqCPUFreqMin", 13, ACCT_TEXT, 0, add_unknown, false },
    { "ReqCPUS", 8, ACCT_NUMBER, ASKED_CPUS, add_asked_cpus, false },
    { "ReqMem", 10, ACCT_TEXT, ASKED_MEM, add_asked_memory, false },
    { "ReqNodes", 8, ACCT_TEXT, B (ASKED_NODES), add_asked_nodes, false },
    { "ReqTRES", 10, ACCT_TEXT, TRES | ASKED_CPUS | ASKED_MEM | B (ASKED_GPUS), add_asked, false },
    { "Reservation", 20, ACCT_TEXT, B (RESERVATION), add_reservation, false },
    { "ReservationId", 8, ACCT_NUMBER, 0, NULL, false },
    { "ReqReservation", 20, ACCT_TEXT, B (RESERVATION), add_reservation, false },
    { "Restarts", 8, ACCT_NUMBER, B (RESTARTS), add_restarts, false },
    { "SegmentSize", 11, ACCT_NUMBER, 0, NULL, false },
    { "SLUID", 14, ACCT_TEXT, 0, NULL, false },
    { "Start", 19, ACCT_PLAIN, 0, add_start, false },
    { "State", 10, ACCT_TEXT, B (STATE) | B (CANCELLED_BY), add_state, false },
    { "StdErr", 20, ACCT_TEXT, B (ERROR), add_error, false },
    { "StdIn", 20, ACCT_TEXT, B (INPUT), add_input, false },
    { "StdOut", 20, ACCT_TEXT, B (OUTPUT), add_output, false },
    { "Submit", 19, ACCT_PLAIN, B (SUBMIT), add_submit, false },
    { "SubmitLine", 20, ACCT_TEXT, 0, NULL, false },
    { "Suspended", 10, ACCT_NUMBER, 0, add_suspended, false },
    { "SystemComment", 15, ACCT_TEXT, 0, NULL, false },
    { "SystemCPU", 10, ACCT_TEXT, STEPS, add_system_cpu, false },
    { "Timelimit", 10, ACCT_TEXT, B (LIMIT), add_limit, false },
    { "TimelimitRaw", 10, ACCT_TEXT, B (LIMIT), add_limit_raw, false },
    { "TotalCPU", 10, ACCT_TEXT, STEPS, add_total_cpu, false },
    { "TRESUsageInAve", 14, ACCT_TEXT, 0, add_in_ave, false },
    { "TRESUsageInMax", 14, ACCT_TEXT, 0, add_in_max, false },
    { "TRESUsageInMaxNode", 18, ACCT_TEXT, 0, add_in_max_node, false },
    { "TRESUsageInMaxTask", 18, ACCT_TEXT, 0, NULL, false },
    { "TRESUsageInMin", 14, ACCT_TEXT, 0, add_in_min, false },
    { "TRESUsageInMinNode", 18, ACCT_TEXT, 0, add_in_min_node, false },
    { "TRESUsageInMinTask", 18, ACCT_TEXT, 0, NULL, false },
    { "TRESUsageInTot", 14, ACCT_TEXT, 0, add_in_tot, false },
    { "TRESUsageOutAve", 15, ACCT_TEXT, 0, add_out_ave, false },
    { "TRESUsageOutMax", 15, ACCT_TEXT, 0, add_out_max, false },
    { "TRESUsageOutMaxNode", 19, ACCT_TEXT, 0, add_out_max_node, false },
    { "TRESUsageOutMaxTask", 19, ACCT_TEXT, 0, NULL, false },
    { "TRESUsageOutMin", 15, ACCT_TEXT, 0, add_out_min, false },
    { "TRESUsageOutMinNode", 19, ACCT_TEXT, 0, add_out_min_node, false },
    { "TRESUsageOutMinTask", 19, ACCT_TEXT, 0, NULL, false },
    { "TRESUsageOutTot", 15, ACCT_TEXT, 0, add_out_tot, false },
    { "UID", 6, ACCT_NUMBER, B (USERID), add_userid, false },
    { "User", 9, ACCT_TEXT, B (USER), add_user, false },
    { "UserCPU", 10, ACCT_TEXT, STEPS, add_user_cpu, false },
    { "WCKey", 10, ACCT_TEXT, B (WCKEY), add_wckey, false },
    { "WCKeyID", 10, ACCT_NUMBER, 0, NULL, false },
    { "WorkDir", 20, ACCT_TEXT, B (CWD), add_cwd, false },
    /* names of older versions */
    { "Reserved", 10, ACCT_NUMBER, ELIGIBLE, add_planned, true },
    { "ResvCPU", 10, ACCT_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu, true },
    { "ResvCPURAW", 10, ACCT_NUMBER, ELIGIBLE | ASKED_CPUS, add_planned_cpu_raw, true },
    { 0 },
};
/* clang-format on */

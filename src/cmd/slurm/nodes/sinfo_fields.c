/* sinfo_fields.c - the fields of sinfo: Slurm's letters, names and headings
 *
 * A field of nodes that fluxq does not have is what Slurm shows for none: "(null)",
 * "N/A", "Unknown", 0. A node has one socket with all its cores, as scontrol shows it.
 */
#include "cmd/slurm/nodes/sinfo.h"

#include <ctype.h>

#include "cmd/print/print.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"
#include "common/parse.h"

#define FIELD(add) static void add (const void *row, struct strbuf *sb)

/* -- fixed values -- */

static void add_fixed (const void *row, struct strbuf *sb, const char *text,
                       const char *without_node)
{
    const struct sinfo_line *line = row;

    strbuf_adds (sb, line->node ? text : without_node);
}

/* clang-format off */
FIELD (add_all) { add_fixed (row, sb, "all", "all"); }
FIELD (add_no) { add_fixed (row, sb, "no", "no"); }
FIELD (add_share) { add_fixed (row, sb, "NO", "NO"); }
FIELD (add_off) { add_fixed (row, sb, "OFF", "OFF"); }
FIELD (add_null) { add_fixed (row, sb, "(null)", "(null)"); }
FIELD (add_none) { add_fixed (row, sb, "N/A", "N/A"); }
FIELD (add_unknown) { add_fixed (row, sb, "Unknown", "Unknown"); }
FIELD (add_unlimited) { add_fixed (row, sb, "UNLIMITED", "UNLIMITED"); }
FIELD (add_zero) { add_fixed (row, sb, "0", "0"); }
FIELD (add_tier) { add_fixed (row, sb, "1", "1"); }
FIELD (add_one) { add_fixed (row, sb, "1", "0"); }
FIELD (add_version) { add_fixed (row, sb, CMD_SLURM_VERSION, "N/A"); }
/* clang-format on */

/* -- partitions -- */

FIELD (add_avail)
{
    const struct sinfo_line *line = row;

    strbuf_adds (sb, answer_flag (line->queue, "started") ? "up" : "down");
}

FIELD (add_groups)
{
    queueview_add_groups (sb, ((const struct sinfo_line *)row)->queue, "all");
}

static void add_limit (const void *row, struct strbuf *sb, const char *key,
                       const char *none)
{
    const struct sinfo_line *line = row;
    double seconds = answer_number (line->queue, key);

    if (seconds > 0)
        strbuf_add_duration (sb, seconds);
    else
        strbuf_adds (sb, none);
}

FIELD (add_time)
{
    add_limit (row, sb, "max_time", "infinite");
}

FIELD (add_default_time)
{
    add_limit (row, sb, "default_time", "n/a");
}

FIELD (add_partition_name)
{
    record_add_text (sb, json_text (((const struct sinfo_line *)row)->queue, "name"));
}

FIELD (add_partition)
{
    add_partition_name (row, sb);
    if (answer_flag (((const struct sinfo_line *)row)->queue, "default"))
        strbuf_addch (sb, '*');
}

FIELD (add_priority)
{
    strbuf_addf (sb, "%.0f",
                 answer_number (((const struct sinfo_line *)row)->queue, "priority"));
}

FIELD (add_size)
{
    const struct sinfo_line *line = row;
    double n = answer_number (line->queue, "max_nodes");

    strbuf_adds (sb, n == 1 ? "" : "1-");
    if (n > 0)
        slurm_add_count (sb, n, line->convert);
    else
        strbuf_adds (sb, "infinite");
}

/* -- nodes -- */

static void add_range (struct strbuf *sb, double least, double most, bool convert)
{
    slurm_add_count (sb, least, convert);
    if (least != most)
        strbuf_addch (sb, '+');
}

FIELD (add_cpus)
{
    const struct sinfo_line *line = row;

    add_range (sb, line->cpus_min, line->cpus_max, line->convert);
}

FIELD (add_sct)
{
    const char *one = ((const struct sinfo_line *)row)->node ? "1" : "0";

    strbuf_addf (sb, "%s:", one);
    add_cpus (row, sb);
    strbuf_addf (sb, ":%s", one);
}

FIELD (add_mib)
{
    const struct sinfo_line *line = row;

    add_range (sb, line->memory_min, line->memory_max, false);
}

FIELD (add_disk)
{
    const struct sinfo_line *line = row;

    add_range (sb, line->disk_min, line->disk_max, false);
}

FIELD (add_alloc_memory)
{
    const struct sinfo_line *line = row;

    strbuf_addf (sb, "%.0f", answer_number (line->node, "memory_used"));
}

FIELD (add_cpus_state)
{
    const double *cpus = ((const struct sinfo_line *)row)->cpus;

    strbuf_addf (sb, "%.0f/%.0f/%.0f/%.0f", cpus[0], cpus[1], cpus[2],
                 cpus[0] + cpus[1] + cpus[2]);
}

FIELD (add_nodes_ai)
{
    const struct sinfo_line *line = row;

    strbuf_addf (sb, "%zu/%zu", line->alloc, line->idle);
}

FIELD (add_nodes_aiot)
{
    const struct sinfo_line *line = row;

    strbuf_addf (sb, "%zu/%zu/%zu/%zu", line->alloc, line->idle, line->other,
                 line->nodes);
}

FIELD (add_nodes)
{
    strbuf_addf (sb, "%zu", ((const struct sinfo_line *)row)->nodes);
}

FIELD (add_names)
{
    autofree char *text = hostlist_encode (((const struct sinfo_line *)row)->names);

    if (text)
        record_add_text (sb, text);
}

FIELD (add_gres)
{
    nodeview_add_gres (sb, ((const struct sinfo_line *)row)->node);
}

FIELD (add_gres_used)
{
    nodeview_add_gres_used (sb, ((const struct sinfo_line *)row)->node);
}

FIELD (add_reason)
{
    const char *reason = json_text (((const struct sinfo_line *)row)->node, "reason");

    record_add_text (sb, *reason ? reason : "none");
}

FIELD (add_reservation)
{
    const struct sinfo_line *line = row;

    record_add_text (sb, nodeview_reservation (line->node));
}

static void add_state (const void *row, struct strbuf *sb, enum state_form form)
{
    const struct sinfo_line *line = row;
    size_t at = sb->len;

    if (!line->node) {
        strbuf_adds (sb, "n/a");
        return;
    }
    nodeview_add_state (sb, line->state, form);
    for (char *p = sb->buf + at; *p; p++)
        *p = (char)tolower ((unsigned char)*p);
}

FIELD (add_state_compact)
{
    add_state (row, sb, STATE_COMPACT);
}

FIELD (add_state_long)
{
    add_state (row, sb, STATE_LONG);
}

FIELD (add_state_complete)
{
    add_state (row, sb, STATE_COMPLETE);
}

/* clang-format off */
const struct slurm_field sinfo_fields[] = {
    { 0, "AllocMem", "ALLOCMEM", BY_ALLOC_MEMORY, add_alloc_memory, 0 },
    { 'S', "AllocNodes", "ALLOCNODES", 0, add_all, 0 },
    { 'a', "Available", "AVAIL", BY_AVAIL, add_avail, 0 },
    { 'V', "Cluster", "CLUSTER", 0, add_none, 0 },
    { 0, "Comment", "COMMENT", 0, add_null, 0 },
    { 'Y', "Cores", "CORES", BY_CPUS, add_cpus, 0 },
    { 'c', "CPUs", "CPUS", BY_CPUS, add_cpus, 0 },
    { 'O', "CPUsLoad", "CPU_LOAD", 0, add_none, 0 },
    { 'C', "CPUsState", "CPUS(A/I/O/T)", BY_CPUS, add_cpus_state, 0 },
    { 'L', "DefaultTime", "DEFAULTTIME", BY_DEFAULT_TIME, add_default_time, 0 },
    { 'd', "Disk", "TMP_DISK", BY_DISK, add_disk, 0 },
    { 0, "Extra", "EXTRA", 0, add_null, 0 },
    { 'f', "Features", "AVAIL_FEATURES", 0, add_null, 0 },
    { 'b', "features_act", "ACTIVE_FEATURES", 0, add_null, 0 },
    { 'e', "FreeMem", "FREE_MEM", 0, add_none, 0 },
    { 'G', "Gres", "GRES", BY_GRES, add_gres, 0 },
    { 0, "GresUsed", "GRES_USED", BY_GRES_USED, add_gres_used, 0 },
    { 'g', "Groups", "GROUPS", BY_GROUPS, add_groups, 0 },
    { 'B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", 0, add_unlimited, 0 },
    { 'm', "Memory", "MEMORY", BY_MEMORY, add_mib, 0 },
    { 'o', "NodeAddr", "NODE_ADDR", BY_HOST, add_names, SLURM_FIELD_UNCUT_HEADING },
    { 'A', "NodeAI", "NODES(A/I)", 0, add_nodes_ai, 0 },
    { 'F', "NodeAIOT", "NODES(A/I/O/T)", 0, add_nodes_aiot, 0 },
    { 'n', "NodeHost", "HOSTNAMES", BY_HOST, add_names, SLURM_FIELD_UNCUT_HEADING },
    { 'N', "NodeList", "NODELIST", 0, add_names, SLURM_FIELD_UNCUT_HEADING },
    { 'D', "Nodes", "NODES", 0, add_nodes, 0 },
    { 'h', "OverSubscribe", "OVERSUBSCRIBE", 0, add_share, 0 },
    { 'P', "Partition", "PARTITION", BY_PARTITION, add_partition, SLURM_FIELD_STAR },
    { 'R', "PartitionName", "PARTITION", BY_PARTITION, add_partition_name, 0 },
    { 0, "Port", "PORT", 0, add_zero, 0 },
    { 'M', "PreemptMode", "PREEMPT_MODE", 0, add_off, 0 },
    { 'I', "PriorityJobFactor", "PRIO_JOB_FACTOR", BY_PRIORITY, add_priority, 0 },
    { 'p', "PriorityTier", "PRIO_TIER", 0, add_tier, 0 },
    { 'E', "Reason", "REASON", BY_REASON, add_reason, 0 },
    { 'i', "Reservation", "RESERVATION", BY_RESERVATION, add_reservation, 0 },
    { 'r', "Root", "ROOT", 0, add_no, 0 },
    { 'h', "Share", "OVERSUBSCRIBE", 0, add_share, SLURM_FIELD_HIDDEN },
    { 's', "Size", "JOB_SIZE", BY_JOB_SIZE, add_size, 0 },
    { 'X', "Sockets", "SOCKETS", 0, add_one, 0 },
    { 'z', "SocketCoreThread", "S:C:T", BY_CPUS, add_sct, 0 },
    { 't', "StateCompact", "STATE", BY_STATE, add_state_compact, 0 },
    { 0, "StateComplete", "STATECOMPLETE", BY_STATE_COMPLETE, add_state_complete, 0 },
    { 'T', "StateLong", "STATE", BY_STATE, add_state_long, 0 },
    { 'Z', "Threads", "THREADS", 0, add_one, 0 },
    { 'l', "Time", "TIMELIMIT", BY_MAX_TIME, add_time, 0 },
    { 'H', "TimeStamp", "TIMESTAMP", 0, add_unknown, 0 },
    { 'u', "User", "USER", 0, add_unknown, 0 },
    { 'U', "UserLong", "USER", 0, add_unknown, 0 },
    { 'v', "Version", "VERSION", 0, add_version, 0 },
    { 'w', "Weight", "WEIGHT", 0, add_one, 0 },
    { 0 },
};
/* clang-format on */

/* scontrol_show_node.c - scontrol show node, partition and reservation */
#include "cmd/print/print.h"
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/nodes/node_json.h"
#include "cmd/slurm/nodes/nodeview.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/control/scontrol.h"
#include "common/clock.h"
#include "common/hostlist.h"

#define RECORD_MAX (16 << 20)

/* A kind of record, and with --json the records to print. */
struct listing {
    struct scontrol *s;
    const struct row *rows;
    const char *key; /* of the list in the JSON */
    json_t *(*describe) (const json_t *o);
    json_t *list; /* NULL: without --json */
};

static void begin (struct listing *l)
{
    l->list = l->s->json ? json_array () : NULL;
}

static void print_record (struct listing *l, const json_t *o)
{
    struct strbuf sb = STRBUF_INIT (RECORD_MAX);
    bool one = l->s->oneline;

    if (l->list) {
        json_array_append_new (l->list, l->describe (o));
        return;
    }
    record_add (&sb, l->rows, o, one ? RECORD_ONE_LINE : 0);
    printf ("%s\n%s", sb.buf, one ? "" : "\n");
    strbuf_release (&sb);
}

/* none: the line for no record; NULL: nothing. */
static void end (struct listing *l, const char *none)
{
    if (l->list && job_json_print (l->s->c, l->key, l->list) != CMD_OK)
        l->s->status = CMD_FAILED;
    else if (!l->list && none)
        puts (none);
}

/* -- nodes -- */

static void add_state (struct strbuf *sb, const json_t *node)
{
    nodeview_add_state (sb, nodeview_state (node), STATE_COMPLETE);
}

/* The amounts of generic resources, {NAME: N}; key: "count" or "used". */
static json_t *amounts (const json_t *node, const char *key)
{
    json_t *o = json_object (), *g;
    const char *name;

    json_object_foreach (json_object_get (node, "gres"), name, g)
        json_object_set_new (o, name, json_real (answer_number (g, key)));
    return o;
}

static void add_tmp_disk (struct strbuf *sb, const json_t *node)
{
    strbuf_addf (sb, "%.0f", nodeview_tmp_disk (node));
}

static void add_configured (struct strbuf *sb, const json_t *node)
{
    autojson json_t *gres = amounts (node, "count");
    const struct tres t = { .cpus = answer_number (node, "cores"),
                            .memory_mib = answer_number (node, "memory_mib"),
                            .gpus = answer_number (node, "gpus"),
                            .gres = gres };

    record_add_tres (sb, &t);
}

static void add_allocated (struct strbuf *sb, const json_t *node)
{
    autojson json_t *gres = amounts (node, "used");
    const struct tres t = { .cpus = answer_number (node, "cpu_milli_used") / 1000,
                            .memory_mib = answer_number (node, "memory_used"),
                            .gpus = answer_number (node, "gpus_used"),
                            .gres = gres };

    record_add_tres (sb, &t);
}

static void add_usable (struct strbuf *sb, const json_t *node)
{
    strbuf_addf (sb, "%.0f",
                 answer_number (node, "cores") - answer_number (node, "cores_foreign"));
}

static void add_queues (struct strbuf *sb, const json_t *node)
{
    const json_t *list = json_object_get (node, "queues"), *name;
    size_t i;

    json_array_foreach (list, i, name) {
        strbuf_adds (sb, i ? "," : "");
        record_add_text (sb, json_is_string (name) ? json_string_value (name) : "");
    }
    strbuf_adds (sb, sb->len ? " " : "");
}

static const struct row node_rows[] = {
    { .key = "NodeName", .from = "name" },
    { .key = "CoresPerSocket", .from = "cores", .kind = ROW_NUMBER },
    { .key = "", .fixed = "", .ends = true },
    { .key = "CPUAlloc", .from = "cores_used", .kind = ROW_NUMBER },
    { .key = "CPUEfctv", .add = add_usable },
    { .key = "CPUTot", .from = "cores", .kind = ROW_NUMBER },
    { .key = "CPULoad", .fixed = "N/A", .ends = true },
    { .key = "AvailableFeatures", .fixed = "(null)", .ends = true },
    { .key = "ActiveFeatures", .fixed = "(null)", .ends = true },
    { .key = "Gres", .add = nodeview_add_gres, .ends = true },
    { .key = "NodeAddr", .from = "name" },
    { .key = "NodeHostName", .from = "name" },
    { .key = "Version", .fixed = CMD_SLURM_VERSION, .ends = true },
    { .key = "RealMemory", .from = "memory_mib", .kind = ROW_NUMBER },
    { .key = "AllocMem", .from = "memory_used", .kind = ROW_NUMBER },
    { .key = "FreeMem", .fixed = "N/A" },
    { .key = "Sockets", .fixed = "1" },
    { .key = "Boards", .fixed = "1", .ends = true },
    { .key = "State", .add = add_state },
    { .key = "ThreadsPerCore", .fixed = "1" },
    { .key = "TmpDisk", .add = add_tmp_disk },
    { .key = "Weight", .fixed = "1" },
    { .key = "Owner", .fixed = "N/A" },
    { .key = "MCS_label", .fixed = "N/A", .ends = true },
    { .key = "Partitions", .add = add_queues, .optional = true, .ends = true },
    { .key = "BootTime", .fixed = "None" },
    { .key = "SlurmdStartTime", .fixed = "None", .ends = true },
    { .key = "LastBusyTime", .fixed = "Unknown" },
    { .key = "ResumeAfterTime", .fixed = "None", .ends = true },
    { .key = "CfgTRES", .add = add_configured, .ends = true },
    { .key = "AllocTRES", .add = add_allocated, .ends = true },
    { .key = "CurrentWatts", .fixed = "n/a" },
    { .key = "AveWatts", .fixed = "n/a", .ends = true },
    { .key = "Reason", .from = "reason", .optional = true, .ends = true },
    { .key = "ReservationName", .from = "reservation", .optional = true, .ends = true },
    { 0 },
};

static json_t *load (struct scontrol *s, const char *target, const char *message)
{
    struct refusal why;
    json_t *o;

    if (scontrol_call (s, "GET", target, NULL, &o, &why) == 0)
        return o;
    scontrol_say (s, "%s error: %s", message, why.words);
    return NULL;
}

static const json_t *find_named (const json_t *list, const char *name)
{
    const json_t *o;
    size_t i;

    json_array_foreach (list, i, o) {
        if (!strcmp (json_text (o, "name"), name))
            return o;
    }
    return NULL;
}

void scontrol_show_nodes (struct scontrol *s, const char *value)
{
    struct error err = { 0 };
    autojson json_t *o = load (s, "/v1/nodes", "slurm_load_node");
    const json_t *list = json_object_get (o, "nodes"), *node;
    struct listing l = { s, node_rows, "nodes", node_json, NULL };
    size_t i;

    if (!o)
        return;
    begin (&l);
    json_array_foreach (value ? NULL : list, i, node)
        print_record (&l, node);
    if (!value) {
        end (&l, json_array_size (list) ? NULL : "No nodes in the system");
        return;
    }
    struct hostlist *names = hostlist_decode (value, HOSTLIST_MAX, &err);
    if (!names)
        scontrol_error (s, "Invalid node list: %s", err.text);
    for (i = 0; names && i < hostlist_count (names); i++)
        if ((node = find_named (list, hostlist_nth (names, i))))
            print_record (&l, node);
        else
            scontrol_print (s, "Node %s not found", hostlist_nth (names, i));
    hostlist_destroy (names);
    end (&l, NULL);
}

/* -- partitions -- */

static void add_groups (struct strbuf *sb, const json_t *queue)
{
    queueview_add_groups (sb, queue, "ALL");
}

static void add_default (struct strbuf *sb, const json_t *queue)
{
    strbuf_adds (sb, answer_flag (queue, "default") ? "YES" : "NO");
}

static void add_limit (struct strbuf *sb, double seconds, const char *none)
{
    if (seconds > 0)
        record_add_duration (sb, seconds);
    else
        strbuf_adds (sb, none);
}

static void add_default_time (struct strbuf *sb, const json_t *queue)
{
    add_limit (sb, answer_number (queue, "default_time"), "NONE");
}

static void add_max_time (struct strbuf *sb, const json_t *queue)
{
    add_limit (sb, answer_number (queue, "max_time"), "UNLIMITED");
}

static void add_max_nodes (struct strbuf *sb, const json_t *queue)
{
    double n = answer_number (queue, "max_nodes");

    if (n > 0)
        strbuf_addf (sb, "%.0f", n);
    else
        strbuf_adds (sb, "UNLIMITED");
}

/* A stopped queue accepts jobs and starts none, as a partition that is down. */
static void add_up (struct strbuf *sb, const json_t *queue)
{
    strbuf_adds (sb, answer_flag (queue, "started") ? "UP" : "DOWN");
}

static void add_sum (struct strbuf *sb, const json_t *queue)
{
    const struct tres t = { .cpus = answer_number (queue, "cpus"),
                            .memory_mib = answer_number (queue, "memory"),
                            .nodes = answer_number (queue, "nnodes"),
                            .gpus = answer_number (queue, "gpus") };

    record_add_tres (sb, &t);
}

static const struct row partition_rows[] = {
    { .key = "PartitionName", .from = "name", .ends = true },
    { .key = "AllowGroups", .add = add_groups },
    { .key = "AllowAccounts", .fixed = "ALL" },
    { .key = "AllowQos", .fixed = "ALL", .ends = true },
    { .key = "AllocNodes", .fixed = "ALL" },
    { .key = "Default", .add = add_default },
    { .key = "QoS", .fixed = "N/A", .ends = true },
    { .key = "DefaultTime", .add = add_default_time },
    { .key = "DisableRootJobs", .fixed = "NO" },
    { .key = "ExclusiveUser", .fixed = "NO" },
    { .key = "ExclusiveTopo", .fixed = "NO" },
    { .key = "GraceTime", .fixed = "0" },
    { .key = "Hidden", .fixed = "NO", .ends = true },
    { .key = "MaxNodes", .add = add_max_nodes },
    { .key = "MaxTime", .add = add_max_time },
    { .key = "MinNodes", .fixed = "0" },
    { .key = "LLN", .fixed = "NO" },
    { .key = "MaxCPUsPerNode", .fixed = "UNLIMITED" },
    { .key = "MaxCPUsPerSocket", .fixed = "UNLIMITED", .ends = true },
    { .key = "Nodes", .from = "nodelist", .ends = true },
    { .key = "PriorityJobFactor", .from = "priority", .kind = ROW_NUMBER },
    { .key = "PriorityTier", .fixed = "1" },
    { .key = "RootOnly", .fixed = "NO" },
    { .key = "ReqResv", .fixed = "NO" },
    { .key = "OverSubscribe", .fixed = "NO", .ends = true },
    { .key = "OverTimeLimit", .fixed = "NONE" },
    { .key = "PreemptMode", .fixed = "OFF", .ends = true },
    { .key = "State", .add = add_up },
    { .key = "TotalCPUs", .from = "cpus", .kind = ROW_NUMBER },
    { .key = "TotalNodes", .from = "nnodes", .kind = ROW_NUMBER },
    { .key = "SelectTypeParameters", .fixed = "NONE", .ends = true },
    { .key = "JobDefaults", .fixed = "(null)", .ends = true },
    { .key = "DefMemPerNode", .fixed = "UNLIMITED" },
    { .key = "MaxMemPerNode", .fixed = "UNLIMITED", .ends = true },
    { .key = "TRES", .add = add_sum, .ends = true },
    { 0 },
};

void scontrol_show_partitions (struct scontrol *s, const char *value)
{
    autojson json_t *o = load (s, "/v1/queues", "slurm_load_partitions");
    autojson json_t *all = o ? load (s, "/v1/nodes", "slurm_load_node") : NULL;
    const json_t *list = json_object_get (o, "queues");
    struct listing l = { s, partition_rows, "partitions", partition_json, NULL };
    json_t *queue;
    size_t i;

    if (!o || !all)
        return;
    begin (&l);
    if (value && !find_named (list, value))
        scontrol_print (s, "Partition %s not found", value);
    json_array_foreach (list, i, queue) {
        if (value && strcmp (json_text (queue, "name"), value) != 0)
            continue;
        queueview_sum (queue, json_object_get (all, "nodes"));
        print_record (&l, queue);
    }
    end (&l, NULL);
}

/* -- reservations -- */

static void add_duration (struct strbuf *sb, const json_t *o)
{
    record_add_duration (sb, answer_number (o, "end") - answer_number (o, "start"));
}

static void add_flags (struct strbuf *sb, const json_t *o)
{
    strbuf_adds (sb, answer_flag (o, "maintenance") ? "MAINT,SPEC_NODES" : "SPEC_NODES");
}

static void add_users (struct strbuf *sb, const json_t *o)
{
    const json_t *list = json_object_get (o, "users"), *user;
    size_t i;

    json_array_foreach (list, i, user) {
        strbuf_adds (sb, i ? "," : "");
        record_add_text (sb, json_text (user, "name"));
    }
    if (sb->len == 0)
        strbuf_adds (sb, "(null)");
}

static void add_active (struct strbuf *sb, const json_t *o)
{
    strbuf_adds (sb, strcmp (json_text (o, "state"), "active") ? "INACTIVE" : "ACTIVE");
}

static void add_cores (struct strbuf *sb, const json_t *o)
{
    strbuf_addf (sb, "cpu=%.0f", answer_number (o, "cpus"));
}

static const struct row reservation_rows[] = {
    { .key = "ReservationName", .from = "name" },
    { .key = "StartTime", .from = "start", .kind = ROW_TIME },
    { .key = "EndTime", .from = "end", .kind = ROW_TIME },
    { .key = "Duration", .add = add_duration, .ends = true },
    { .key = "Nodes", .from = "nodes" },
    { .key = "NodeCnt", .from = "nnodes", .kind = ROW_NUMBER },
    { .key = "CoreCnt", .from = "cpus", .kind = ROW_NUMBER },
    { .key = "Features", .fixed = "(null)" },
    { .key = "PartitionName", .fixed = "(null)" },
    { .key = "Flags", .add = add_flags, .ends = true },
    { .key = "TRES", .add = add_cores, .ends = true },
    { .key = "AllowedPartitions", .fixed = "(null)" },
    { .key = "QOS", .fixed = "(null)", .ends = true },
    { .key = "Users", .add = add_users },
    { .key = "Groups", .fixed = "(null)" },
    { .key = "Accounts", .fixed = "(null)" },
    { .key = "Licenses", .fixed = "(null)" },
    { .key = "State", .add = add_active },
    { .key = "BurstBuffer", .fixed = "(null)", .ends = true },
    { .key = "MaxStartDelay", .fixed = "(null)", .ends = true },
    { .key = "Comment", .from = "note", .optional = true, .ends = true },
    { 0 },
};

void scontrol_show_reservations (struct scontrol *s, const char *value)
{
    autojson json_t *o = load (s, "/v1/reservations", "slurm_load_reservations");
    autojson json_t *all = o ? load (s, "/v1/nodes", "slurm_load_node") : NULL;
    const json_t *list = json_object_get (o, "reservations");
    struct listing l = { s, reservation_rows, "reservations", reservation_json, NULL };
    json_t *one;
    size_t i;

    if (!o || !all)
        return;
    begin (&l);
    if (value && !find_named (list, value))
        scontrol_print (s, "Reservation %s not found", value);
    json_array_foreach (list, i, one) {
        if (value && strcmp (json_text (one, "name"), value) != 0)
            continue;
        reservationview_sum (one, json_object_get (all, "nodes"));
        print_record (&l, one);
    }
    end (&l,
         !value && json_array_size (list) == 0 ? "No reservations in the system" : NULL);
}

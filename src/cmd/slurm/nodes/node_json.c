/* node_json.c - see node_json.h */
#include "cmd/slurm/nodes/node_json.h"

#include <math.h>

#include "cmd/print/print.h"
#include "cmd/slurm/jobs/job_json.h"
#include "cmd/slurm/nodes/nodeview.h"
#include "cmd/slurm/words/record.h"
#include "common/clock.h"

#define TEXT_MAX 65536
#define STATE_MAX 256

static void set (json_t *o, const char *key, json_t *value)
{
    json_object_set_new (o, key, value);
}

static json_int_t whole (const json_t *o, const char *key)
{
    return (json_int_t)answer_number (o, key);
}

/* -- words -- */

/* "MIXED+DRAIN" as a list of words. */
static json_t *states (unsigned state)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (STATE_MAX);
    json_t *list = json_array ();
    char *word, *rest;

    nodeview_add_state (&sb, state, STATE_COMPLETE);
    for (rest = sb.buf; (word = strsep (&rest, "+"));)
        json_array_append_new (list, json_string (word));
    return list;
}

/* The text that add appends; "" for Slurm's word for none. */
static json_t *text_by (void (*add) (struct strbuf *sb, const json_t *o), const json_t *o)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);

    add (&sb, o);
    return json_string (strcmp (sb.buf, "(null)") ? sb.buf : "");
}

static void add_tres (struct strbuf *sb, const json_t *o, const char *cpus,
                      const char *memory, const char *gpus)
{
    const struct tres t = { .cpus = answer_number (o, cpus),
                            .memory_mib = answer_number (o, memory),
                            .nodes = answer_number (o, "nnodes"),
                            .gpus = answer_number (o, gpus) };

    record_add_tres (sb, &t);
}

static void add_tres_all (struct strbuf *sb, const json_t *o)
{
    add_tres (sb, o, "cores", "memory_mib", "gpus");
}

static void add_tres_used (struct strbuf *sb, const json_t *o)
{
    add_tres (sb, o, "cores_used", "memory_used", "gpus_used");
}

static void add_tres_sum (struct strbuf *sb, const json_t *o)
{
    add_tres (sb, o, "cpus", "memory", "gpus");
}

static void set_texts (json_t *o, const char *const none[])
{
    for (; *none; none++)
        set (o, *none, json_string (""));
}

/* -- a node -- */

json_t *node_json (const json_t *node)
{
    static const char *const none[] = { "architecture",
                                        "burstbuffer_network_address",
                                        "cluster_name",
                                        "comment",
                                        "extra",
                                        "gpu_spec",
                                        "gres_drained",
                                        "instance_id",
                                        "instance_type",
                                        "mcs_label",
                                        "operating_system",
                                        "owner",
                                        "reason_set_by_user",
                                        "specialized_cpus",
                                        NULL };
    static const char *const zero[] = { "boot_time",    "free_mem",
                                        "last_busy",    "reason_changed_at",
                                        "resume_after", "slurmd_start_time" };
    json_int_t cores = whole (node, "cores"), used = whole (node, "cores_used");
    json_t *o = json_pack (
        "{s:s s:s s:s s:o s:[] s:i s:i s:i s:I s:I s:I s:I s:I s:I s:I s:i s:i s:I s:i}",
        "name", json_text (node, "name"), "hostname", json_text (node, "name"), "address",
        json_text (node, "name"), "state", states (nodeview_state (node)),
        "next_state_after_reboot", "boards", 1, "sockets", 1, "threads", 1, "cores",
        cores, "cpus", cores, "effective_cpus", cores - whole (node, "cores_foreign"),
        "alloc_cpus", used, "alloc_idle_cpus", whole (node, "cores_free"), "real_memory",
        whole (node, "memory_mib"), "alloc_memory", whole (node, "memory_used"),
        "cpu_binding", 0, "cpu_load", 0, "temporary_disk",
        (json_int_t)nodeview_tmp_disk (node), "weight", 1);

    if (!o)
        return NULL;
    set_texts (o, none);
    for (size_t i = 0; i < ARRAY_SIZE (zero); i++)
        set (o, zero[i], job_json_number (false, 0));
    set (o, "features", json_array ());
    set (o, "active_features", json_array ());
    set (o, "gres", text_by (nodeview_add_gres, node));
    set (o, "gres_used", text_by (nodeview_add_gres_used, node));
    set (o, "partitions", json_deep_copy (json_object_get (node, "queues")));
    set (o, "port", json_integer (0));
    set (o, "reason", json_string (json_text (node, "reason")));
    set (o, "reservation", json_string (nodeview_reservation (node)));
    set (o, "specialized_cores", json_integer (0));
    set (o, "specialized_memory", json_integer (0));
    set (o, "tres", text_by (add_tres_all, node));
    set (o, "tres_used", text_by (add_tres_used, node));
    set (o, "version", json_string (CMD_SLURM_VERSION));
    return o;
}

/* -- a partition -- */

/* A limit of 0 is none. */
static json_t *limit (double n)
{
    return job_json_number (true, n > 0 ? n : HUGE_VAL);
}

static void add_groups (struct strbuf *sb, const json_t *queue)
{
    queueview_add_groups (sb, queue, "");
}

static json_t *maximums (const json_t *queue)
{
    return json_pack ("{s:o s:o s:o s:o s:o s:i s:{s:i s:[]}}", "nodes",
                      limit (answer_number (queue, "max_nodes")), "time",
                      limit (ceil (answer_number (queue, "max_time") / 60)),
                      "cpus_per_node", limit (0), "cpus_per_socket", limit (0),
                      "over_time_limit", job_json_number (false, 0), "shares", 1,
                      "oversubscribe", "jobs", 1, "flags");
}

json_t *partition_json (const json_t *queue)
{
    double time = answer_number (queue, "default_time");

    return json_pack (
        "{s:s s:s s:s s:s s:{s:s s:s s:I} s:{s:s s:s} s:{s:o} s:{s:s s:s s:s}"
        " s:{s:i s:I} s:{s:o s:s} s:o s:{s:i} s:{s:I s:i} s:{s:[s]} s:{s:s s:o}"
        " s:i s:[] s:o s:{s:o s:o}}",
        "name", json_text (queue, "name"), "alternate", "", "cluster", "", "node_sets",
        "", "nodes", "allowed_allocation", "", "configured",
        json_text (queue, "nodelist"), "total", whole (queue, "nnodes"), "accounts",
        "allowed", "", "deny", "", "groups", "allowed", text_by (add_groups, queue),
        "qos", "allowed", "", "deny", "", "assigned", "", "cpus", "task_binding", 0,
        "total", whole (queue, "cpus"), "defaults", "time",
        job_json_number (time > 0, ceil (time / 60)), "job", "", "maximums",
        maximums (queue), "minimums", "nodes", 0, "priority", "job_factor",
        whole (queue, "priority"), "tier", 1, "partition", "state",
        answer_flag (queue, "started") ? "UP" : "DOWN", "tres", "billing_weights", "",
        "configured", text_by (add_tres_sum, queue), "grace_time", 0, "select_type",
        "suspend_time", job_json_number (false, 0), "timeouts", "resume",
        job_json_number (false, 0), "suspend", job_json_number (false, 0));
}

/* -- a reservation -- */

static void add_users (struct strbuf *sb, const json_t *o)
{
    const json_t *list = json_object_get (o, "users"), *user;
    size_t i;

    json_array_foreach (list, i, user)
        strbuf_addf (sb, "%s%s", i ? "," : "", json_text (user, "name"));
}

static void add_cores (struct strbuf *sb, const json_t *o)
{
    strbuf_addf (sb, "cpu=%.0f", answer_number (o, "cpus"));
}

json_t *reservation_json (const json_t *o)
{
    static const char *const none[] = { "accounts", "burst_buffer", "features", "groups",
                                        "licenses", "partition",    NULL };
    json_t *flags = json_pack ("[s]", "SPEC_NODES");
    json_t *one = json_pack (
        "{s:s s:I s:[] s:o s:o s:o s:i s:I s:s s:{s:o} s:o s:o}", "name",
        json_text (o, "name"), "core_count", whole (o, "cpus"), "core_specializations",
        "start_time", job_json_number (true, answer_number (o, "start")), "end_time",
        job_json_number (true, answer_number (o, "end")), "flags", flags,
        "max_start_delay", 0, "node_count", whole (o, "nnodes"), "node_list",
        json_text (o, "nodes"), "purge_completed", "time", job_json_number (false, 0),
        "tres", text_by (add_cores, o), "users", text_by (add_users, o));

    if (!one)
        return NULL;
    if (answer_flag (o, "maintenance"))
        json_array_insert_new (flags, 0, json_string ("MAINT"));
    set_texts (one, none);
    return one;
}

/* -- a line of sinfo -- */

static json_t *range (double least, double most)
{
    return json_pack ("{s:I s:I}", "minimum", (json_int_t)least, "maximum",
                      (json_int_t)most);
}

static json_t *names_json (const struct hostlist *names)
{
    json_t *list = json_array ();

    for (size_t i = 0; names && i < hostlist_count (names); i++)
        json_array_append_new (list, json_string (hostlist_nth (names, i)));
    return list;
}

static json_t *nodes_of_line (const struct sinfo_line *l)
{
    return json_pack ("{s:I s:I s:I s:I s:o s:o s:o}", "allocated", (json_int_t)l->alloc,
                      "idle", (json_int_t)l->idle, "other", (json_int_t)l->other, "total",
                      (json_int_t)l->nodes, "hostnames", names_json (l->names),
                      "addresses", names_json (l->names), "nodes", names_json (l->names));
}

static json_t *cpus_of_line (const struct sinfo_line *l)
{
    json_t *o = range (l->cpus_min, l->cpus_max);

    set (o, "allocated", json_integer ((json_int_t)l->cpus[0]));
    set (o, "idle", json_integer ((json_int_t)l->cpus[1]));
    set (o, "other", json_integer ((json_int_t)l->cpus[2]));
    set (o, "total", json_integer ((json_int_t)(l->cpus[0] + l->cpus[1] + l->cpus[2])));
    set (o, "load", range (0, 0));
    set (o, "per_node", json_pack ("{s:o}", "max", limit (0)));
    return o;
}

static json_t *memory_of_line (const struct sinfo_line *l)
{
    json_t *o = range (l->memory_min, l->memory_max);

    set (o, "free",
         json_pack ("{s:o s:o}", "minimum", job_json_number (false, 0), "maximum",
                    job_json_number (false, 0)));
    set (o, "allocated", json_integer (whole (l->node, "memory_used")));
    return o;
}

json_t *sinfo_line_json (const struct sinfo_line *l)
{
    json_t *o = json_pack (
        "{s:i s:{s:o} s:o s:o s:o s:o s:o s:o s:o s:o s:{s:s s:s} s:{s:o s:o} s:{s:s s:i "
        "s:s}"
        " s:{s:s s:i} s:s s:o}",
        "port", 0, "node", "state", l->node ? states (l->state) : json_array (), "nodes",
        nodes_of_line (l), "cpus", cpus_of_line (l), "sockets", range (1, 1), "cores",
        range (l->cpus_min, l->cpus_max), "threads", range (1, 1), "disk",
        range (l->disk_min, l->disk_max), "memory", memory_of_line (l), "weight",
        range (1, 1), "features", "total", "", "active", "", "gres", "total",
        text_by (nodeview_add_gres, l->node), "used",
        text_by (nodeview_add_gres_used, l->node), "reason", "description",
        json_text (l->node, "reason"), "time", 0, "user", "", "resource_spec", "cpus", "",
        "memory", 0, "reservation", l->node ? nodeview_reservation (l->node) : "",
        "partition", partition_json (l->queue));

    if (!o)
        return NULL;
    static const char *const none[] = { "cluster", "comment", "extra", NULL };
    set_texts (o, none);
    return o;
}

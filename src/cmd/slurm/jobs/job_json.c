/* job_json.c - see job_json.h */
#include "cmd/slurm/jobs/job_json.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/idset.h"

#define TEXT_MAX 65536
#define CORES_MAX 65536
#define VERSION "v0.0.41"
#define NO_THREAD_SPEC 32766 /* Slurm's number for none */

bool job_json_has_version (const char *version)
{
    static const char *const versions[] = { "v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44" };

    for (size_t i = 0; version && i < ARRAY_SIZE (versions); i++)
        if (!strcmp (version, versions[i]))
            return true;
    return !version;
}

/* -- parts -- */

json_t *job_json_number (bool set, double n)
{
    return json_pack ("{s:b s:b s:I}", "set", (int)(set && isfinite (n)), "infinite",
                      (int)(set && isinf (n)), "number",
                      (json_int_t)(set && isfinite (n) ? floor (n) : 0));
}

/* The text of a field of -O; "" instead of Slurm's words for no value. */
static json_t *text_of (const struct job_row *row, const char *name)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    const struct slurm_field *f = slurm_job_fields;

    while (f->name && strcmp (f->name, name) != 0)
        f++;
    if (f->name)
        f->add (row, &sb);
    bool none =
        !strcmp (sb.buf, "(null)") || !strcmp (sb.buf, "N/A") || !strcmp (sb.buf, "n/a");
    return json_string (none ? "" : sb.buf);
}

static void set (json_t *o, const char *key, json_t *value)
{
    json_object_set_new (o, key, value);
}

/* As in Slurm, the first is a state that all clients know; further ones are flags. */
static json_t *states (const struct job_row *row)
{
    if (job_is_state (row, "CF"))
        return json_pack ("[s,s]", "RUNNING", "CONFIGURING");
    if (job_is_state (row, "CG"))
        return json_pack ("[s,s]", "RUNNING", "COMPLETING");
    if (job_is_state (row, "RQ"))
        return json_pack ("[s,s]", "PENDING", "REQUEUED");
    return json_pack ("[s]", row->values[JOB_STATE]);
}

json_t *job_json_exit (bool known, int status)
{
    bool signaled = known && WIFSIGNALED (status);
    int code = WIFEXITED (status) ? WEXITSTATUS (status) : 0;

    return json_pack ("{s:[s] s:o s:{s:o s:s}}", "status",
                      signaled ? "SIGNALED"
                      : code   ? "ERROR"
                               : "SUCCESS",
                      "return_code", job_json_number (!signaled, code), "signal", "id",
                      job_json_number (signaled, signaled ? WTERMSIG (status) : 0),
                      "name", signaled ? strsignal (WTERMSIG (status)) : "");
}

static json_t *exit_code (const struct job_row *row)
{
    return job_json_exit (*row->values[JOB_WAIT_STATUS],
                          (int)job_number (row, JOB_WAIT_STATUS));
}

/* Whether the rank is one of the row, which can be that of a component. */
static bool is_rank_of (const struct job_row *row, const json_t *rank)
{
    return !*row->values[JOB_COMPONENTS]
           || json_integer_value (json_object_get (rank, "component"))
                  == (json_int_t)job_number (row, JOB_COMPONENTS);
}

static json_t *allocation (const struct job_row *row, const json_t *ranks)
{
    json_t *list = json_array ();

    for (size_t i = 0; i < json_array_size (ranks); i++) {
        const json_t *rank = json_array_get (ranks, i);
        if (!is_rank_of (row, rank))
            continue;
        struct idset *cores = idset_decode (json_text (rank, "cores"), CORES_MAX, NULL);
        json_int_t count = cores ? idset_count (cores) : 0;
        json_int_t memory = json_integer_value (json_object_get (rank, "memory_mib"));
        json_array_append_new (list,
                               json_pack ("{s:I s:s s:{s:I s:I} s:{s:I s:I} s:[]}",
                                          "index", (json_int_t)json_array_size (list),
                                          "name", json_text (rank, "node"), "cpus",
                                          "count", count, "used", count, "memory", "used",
                                          (json_int_t)0, "allocated", memory, "sockets"));
        idset_destroy (cores);
    }
    return list;
}

static json_t *resources (const struct job_row *row, const json_t *ranks)
{
    json_t *nodes = allocation (row, ranks);
    if (json_array_size (nodes) == 0) {
        json_decref (nodes);
        return json_null ();
    }
    return json_pack ("{s:[s,s,s] s:{s:I s:[s] s:s s:b s:o} s:I s:o}", "select_type",
                      "CPU", "CORE", "MEMORY", "nodes", "count",
                      (json_int_t)json_array_size (nodes), "select_type", "AVAILABLE",
                      "list", row->values[JOB_NODELIST], "whole",
                      (int)(*row->values[JOB_EXCLUSIVE] != '\0'), "allocation", nodes,
                      "cpus", (json_int_t)job_number (row, JOB_NCORES),
                      "threads_per_core", job_json_number (false, 0));
}

/* -- members by table -- */

static void add_texts (json_t *o, const struct job_row *row)
{
    static const struct {
        const char *key;
        const char *field; /* name of -O */
    } texts[] = {
        { "account", "Account" },
        { "admin_comment", "admin_comment" },
        { "batch_host", "BatchHost" },
        { "command", "Command" },
        { "comment", "Comment" },
        { "current_working_directory", "WorkDir" },
        { "dependency", "Dependency" },
        { "excluded_nodes", "ExcNodes" },
        { "features", "Feature" },
        { "group_name", "GroupName" },
        { "licenses", "Licenses" },
        { "licenses_allocated", "LicensesAlloc" },
        { "mcs_label", "MCSLabel" },
        { "name", "Name" },
        { "nodes", "NodeList" },
        { "partition", "Partition" },
        { "qos", "QOS" },
        { "required_nodes", "ReqNodes" },
        { "resv_name", "Reservation" },
        { "scheduled_nodes", "SchedNodes" },
        { "standard_error", "StdErr" },
        { "standard_input", "StdIn" },
        { "standard_output", "StdOut" },
        { "state_reason", "Reason" },
        { "tres_per_job", "tres-per-job" },
        { "tres_per_node", "tres-per-node" },
        { "tres_req_str", "tres-alloc" },
        { "user_name", "UserName" },
        { "wckey", "WCKey" },
    };
    static const char *const none[] = { "allocating_node",
                                        "batch_features",
                                        "burst_buffer",
                                        "burst_buffer_state",
                                        "cluster",
                                        "cluster_features",
                                        "container",
                                        "container_id",
                                        "cpus_per_tres",
                                        "cron",
                                        "failed_node",
                                        "federation_origin",
                                        "federation_siblings_active",
                                        "federation_siblings_viable",
                                        "mail_user",
                                        "memory_per_tres",
                                        "network",
                                        "prefer",
                                        "selinux_context",
                                        "state_description",
                                        "system_comment",
                                        "tres_bind",
                                        "tres_freq",
                                        "tres_per_socket",
                                        "tres_per_task" };

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        set (o, texts[i].key, text_of (row, texts[i].field));
    for (size_t i = 0; i < ARRAY_SIZE (none); i++)
        set (o, none[i], json_string (""));
    set (o, "extra", json_string (row->values[JOB_EXTRA]));
    set (o, "tres_alloc_str",
         job_waits (row) ? json_string ("") : text_of (row, "tres-alloc"));
}

static void add_numbers (json_t *o, const struct job_row *row)
{
    static const struct {
        const char *key;
        enum job_value value;
        bool always; /* 0, not absent, if the job has no such value */
        bool plain;  /* a number, not an object */
    } numbers[] = {
        { "accrue_time", JOB_ELIGIBLE_TIME, true, false },
        { "array_job_id", JOB_ARRAY_JOB, true, false },
        { "array_task_id", JOB_ARRAY_TASK, false, false },
        { "cpus", JOB_NCORES, true, false },
        { "cpus_per_task", JOB_CPUS_PER_TASK, false, false },
        { "deadline", JOB_DEADLINE, true, false },
        { "eligible_time", JOB_ELIGIBLE_TIME, true, false },
        { "group_id", JOB_GROUPID, true, true },
        { "maximum_switch_wait_time", JOB_SWITCHES_WAIT, true, true },
        { "memory_per_node", JOB_MEMORY_PER_NODE, false, false },
        { "minimum_switches", JOB_SWITCHES, true, true },
        { "minimum_tmp_disk_per_node", JOB_TMP_DISK_PER_NODE, true, false },
        { "nice", JOB_NICE, true, true },
        { "node_count", JOB_NODES, true, false },
        { "priority", JOB_PRIORITY, true, false },
        { "restart_cnt", JOB_RESTARTS, true, true },
        { "submit_time", JOB_SUBMIT_TIME, true, false },
        { "tasks", JOB_NTASKS, true, false },
        { "user_id", JOB_USERID, true, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++) {
        double n = job_number (row, numbers[i].value);
        bool given = numbers[i].always || *row->values[numbers[i].value];
        set (o, numbers[i].key,
             numbers[i].plain ? json_integer ((json_int_t)n)
                              : job_json_number (given, n));
    }
}

/* Members of things that the broker does not keep have the value that Slurm shows for a
 * job that asked for none. */
static void add_absent (json_t *o)
{
    static const struct {
        const char *key;
        bool set;
        double number;
    } numbers[] = {
        { "billable_tres", false, 0 },
        { "cores_per_socket", false, 0 },
        { "cpu_frequency_governor", false, 0 },
        { "cpu_frequency_maximum", false, 0 },
        { "cpu_frequency_minimum", false, 0 },
        { "delay_boot", true, 0 },
        { "last_sched_evaluation", true, 0 },
        { "max_cpus", true, 0 },
        { "memory_per_cpu", false, 0 },
        { "minimum_cpus_per_node", true, 1 },
        { "pre_sus_time", true, 0 },
        { "preempt_time", true, 0 },
        { "preemptable_time", true, 0 },
        { "resize_time", true, 0 },
        { "sockets_per_node", false, 0 },
        { "suspend_time", true, 0 },
        { "tasks_per_board", true, 0 },
        { "tasks_per_core", true, HUGE_VAL },
        { "tasks_per_node", true, 0 },
        { "tasks_per_socket", true, HUGE_VAL },
        { "tasks_per_tres", false, 0 },
        { "threads_per_core", false, 0 },
    };
    static const char *const lists[] = { "flags", "gres_detail", "job_size_str",
                                         "mail_type", "show_flags" };

    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++)
        set (o, numbers[i].key, job_json_number (numbers[i].set, numbers[i].number));
    for (size_t i = 0; i < ARRAY_SIZE (lists); i++)
        set (o, lists[i], json_array ());
    set (o, "association_id", json_integer (0));
    set (o, "contiguous", json_false ());
    set (o, "core_spec", json_integer (0));
    set (o, "power", json_pack ("{s:[]}", "flags"));
    set (o, "profile", json_pack ("[s]", "NOT_SET"));
    set (o, "reboot", json_false ());
    set (o, "sockets_per_board", json_integer (0));
    set (o, "thread_spec", json_integer (NO_THREAD_SPEC));
}

json_t *job_json (const struct job_row *row, const json_t *ranks)
{
    json_t *o = json_object ();
    double limit = job_number (row, JOB_TIME_LIMIT);
    const char *most = strchr (row->values[JOB_ARRAY_TASKS], '%');

    if (!o)
        return NULL;
    add_texts (o, row);
    add_numbers (o, row);
    add_absent (o);
    set (o, "job_id",
         json_integer (
             strtoll (row->number ? row->number : row->values[JOB_ID], NULL, 10)));
    set (o, "array_task_string",
         json_stringn (row->values[JOB_ARRAY_TASKS],
                       strcspn (row->values[JOB_ARRAY_TASKS], "%")));
    set (o, "array_max_tasks",
         job_json_number (true, most ? strtod (most + 1, NULL) : 0));
    set (o, "batch_flag", json_boolean (*row->values[JOB_BATCH_SCRIPT]));
    set (o, "end_time", job_json_number (true, job_end_time (row)));
    set (o, "start_time", job_json_number (true, job_start_time (row)));
    set (o, "exit_code", exit_code (row));
    set (o, "derived_exit_code", job_json_exit (true, 0));
    const char *most_nodes = strchr (row->values[JOB_NODE_COUNT], '-');
    set (o, "max_nodes",
         job_json_number (true, most_nodes ? strtod (most_nodes + 1, NULL) : 0));
    bool parts = *row->values[JOB_COMPONENTS] != '\0';
    set (o, "het_job_id", job_json_number (true, parts ? job_number (row, JOB_ID) : 0));
    set (o, "het_job_offset", job_json_number (true, job_number (row, JOB_COMPONENTS)));
    set (o, "het_job_id_set", json_string (parts ? row->values[JOB_ID] : ""));
    set (o, "hold", json_boolean (job_is_held (row)));
    set (o, "job_resources", resources (row, ranks));
    set (o, "job_state", states (row));
    set (o, "requeue", json_boolean (*row->values[JOB_MAY_REQUEUE]));
    bool alone = *row->values[JOB_EXCLUSIVE] != '\0';
    set (o, "shared", alone ? json_pack ("[s]", "none") : json_array ());
    set (o, "exclusive", alone ? json_pack ("[s]", "true") : json_array ());
    set (o, "oversubscribe", json_boolean (!alone));
    set (o, "time_limit",
         job_json_number (true, limit > 0 ? ceil (limit / 60) : HUGE_VAL));
    set (o, "time_minimum", job_json_number (true, job_number (row, JOB_TIME_MIN) / 60));
    return o;
}

json_t *job_json_meta (const struct cmd *c)
{
    return json_pack ("{s:{s:{s:s s:s s:s s:s} s:[s] s:{s:{s:s s:s s:s} s:s s:s}} s:[] "
                      "s:[]}",
                      "meta", "plugin", "type", "", "name", "", "data_parser",
                      "data_parser/" VERSION, "accounting_storage", "", "command",
                      c->program, "slurm", "version", "major", "25", "minor", "11",
                      "micro", "0", "release", CMD_SLURM_VERSION, "cluster", "", "errors",
                      "warnings");
}

int job_json_print (struct cmd *c, const char *name, json_t *list)
{
    autojson json_t *meta = job_json_meta (c);
    autojson json_t *o = json_pack ("{s:o s:o}", name, list, "last_update",
                                    job_json_number (true, clock_wall ()));
    bool ok = o && meta && json_object_update (o, meta) == 0;

    if (ok && !strcmp (name, "jobs"))
        ok = json_object_set_new (o, "last_backfill", job_json_number (false, 0)) == 0;
    autofree char *text = ok ? json_dumps (o, JSON_INDENT (2)) : NULL;

    if (!text)
        return cmd_fail (c, "out of memory");
    puts (text);
    return CMD_OK;
}

/* scontrol_json.c - scontrol --json show job: the shape of Slurm's data_parser v0.0.41
 *
 * A number is {"set": true, "infinite": false, "number": 3}. Members whose value fluxq does
 * not know are left out.
 */
#include "cmd/print/print.h"
#include "cmd/slurm/jobview.h"
#include "cmd/slurm/scontrol.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"

static json_t *number (double n, bool set)
{
    return json_pack ("{s:b s:b s:I}", "set", set, "infinite", 0, "number",
                      (json_int_t)(set ? n : 0));
}

static json_t *limit_of (const json_t *job)
{
    double seconds = answer_number (job, "time_limit");

    return json_pack ("{s:b s:b s:I}", "set", seconds > 0, "infinite", seconds <= 0,
                      "number", (json_int_t)(seconds / 60));
}

static json_t *exit_of (const json_t *job)
{
    int code, signum;
    const char *name;

    jobview_exit (job, &code, &signum);
    name = signum ? signal_name (signum) : NULL;
    const char *status = json_is_null (json_object_get (job, "wait_status")) ? "PENDING"
                         : signum                                            ? "SIGNALED"
                         : code                                              ? "ERROR"
                                                                             : "SUCCESS";
    return json_pack ("{s:[s] s:o s:{s:o s:s}}", "status", status, "return_code",
                      number (code, *status != 'P' && !signum), "signal", "id",
                      number (signum, signum > 0), "name", name ? name : "");
}

static json_t *text_of (void (*add) (struct strbuf *sb, const json_t *o), const json_t *o)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4 << 20);

    add (&sb, o);
    return json_string (sb.buf);
}

static json_t *file_of (const json_t *job, const char *which)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);

    if (json_is_true (json_object_get (job, "batch")))
        jobview_add_file (&sb, job, which);
    return json_string (sb.buf);
}

static json_t *tres_of (const json_t *job, bool granted)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);

    if (!granted || json_array_size (json_object_get (job, "ranks")) > 0)
        jobview_add_tres (&sb, job, granted);
    return json_string (sb.buf);
}

/* null until the job has nodes */
static json_t *resources_of (const json_t *job)
{
    const json_t *ranks = json_object_get (job, "ranks"), *rank;
    json_t *nodes = json_array ();
    double cpus = 0;
    size_t i;

    json_array_foreach (ranks, i, rank) {
        struct idset *cores = idset_decode (json_text (rank, "cores"), IDSET_MAX, NULL);
        double used = cores ? idset_count (cores) : 0;
        cpus += used;
        json_array_append_new (
            nodes, json_pack ("{s:I s:s s:{s:I s:I} s:{s:I s:I}}", "index", (json_int_t)i,
                              "name", json_text (rank, "node"), "cpus", "count",
                              (json_int_t)used, "used", (json_int_t)used, "memory",
                              "used", (json_int_t)0, "allocated",
                              (json_int_t)answer_number (rank, "memory_mib")));
        idset_destroy (cores);
    }
    if (json_array_size (nodes) == 0) {
        json_decref (nodes);
        return json_null ();
    }
    return json_pack ("{s:s s:I s:{s:I s:s s:o}}", "select_type", "", "cpus",
                      (json_int_t)cpus, "nodes", "count",
                      (json_int_t)json_array_size (nodes), "list",
                      json_text (job, "nodelist"), "allocation", nodes);
}

static void add_who (json_t *o, const json_t *job)
{
    json_object_update_new (
        o,
        json_pack ("{s:I s:s s:s s:I s:I s:s s:s s:s s:s s:s s:s}", "job_id",
                   (json_int_t)answer_number (job, "id"), "name", json_text (job, "name"),
                   "user_name", json_text (job, "user"), "user_id",
                   (json_int_t)answer_number (job, "userid"), "group_id",
                   (json_int_t)answer_number (job, "groupid"), "account",
                   json_text (job, "account"), "qos", json_text (job, "qos"), "partition",
                   json_text (job, "queue"), "comment", json_text (job, "comment"),
                   "wckey", json_text (job, "wckey"), "cluster", "fluxq"));
}

static void add_state (json_t *o, const json_t *job)
{
    bool task = json_is_number (json_object_get (job, "array_task"));

    json_object_update_new (
        o, json_pack ("{s:[s] s:s s:s s:o s:o s:b s:I s:b s:b s:o s:o s:o s:o}",
                      "job_state", json_text (job, "state"), "state_reason",
                      jobview_reason (job), "dependency", json_text (job, "dependency"),
                      "exit_code", exit_of (job), "priority",
                      number (answer_number (job, "priority"), true), "requeue",
                      json_is_true (json_object_get (job, "requeue")), "restart_cnt",
                      (json_int_t)answer_number (job, "restarts"), "batch_flag",
                      json_is_true (json_object_get (job, "batch")), "hold",
                      answer_number (job, "urgency") == 0, "array_job_id",
                      number (answer_number (job, "array_job"),
                              answer_number (job, "array_job") > 0),
                      "array_task_id", number (answer_number (job, "array_task"), task),
                      "het_job_id", number (0, false), "nice",
                      json_integer ((json_int_t)answer_number (job, "nice"))));
    if (json_object_get (job, "array"))
        json_object_set_new (o, "array_task_string", text_of (jobview_add_tasks, job));
}

static json_t *time_of (double t)
{
    return number (t, true);
}

static void add_times (json_t *o, const json_t *job)
{
    json_object_update_new (
        o,
        json_pack ("{s:o s:o s:o s:o s:o s:o}", "submit_time",
                   time_of (answer_number (job, "submit_time")), "eligible_time",
                   time_of (answer_number (job, "eligible_time")), "start_time",
                   time_of (jobview_start (job)), "end_time", time_of (jobview_end (job)),
                   "deadline", time_of (answer_number (job, "deadline")), "time_limit",
                   limit_of (job)));
}

static void add_resources (json_t *o, const json_t *job)
{
    const json_t *request = json_object_get (job, "request");
    double memory = answer_number (request, "memory_per_node_mib");
    double cores = answer_number (request, "cores_per_slot");

    json_object_update_new (
        o, json_pack ("{s:o s:o s:o s:o s:o s:s s:s s:s s:o s:o s:o}", "node_count",
                      number (MAX (answer_number (job, "nodes"), 1), true), "cpus",
                      number (answer_number (job, "ncores"), true), "tasks",
                      number (answer_number (job, "ntasks"), true), "cpus_per_task",
                      number (cores, cores > 0), "memory_per_node",
                      number (memory, memory > 0), "nodes", json_text (job, "nodelist"),
                      "required_nodes", jobview_hosts (job, false), "excluded_nodes",
                      jobview_hosts (job, true), "tres_req_str", tres_of (job, false),
                      "tres_alloc_str", tres_of (job, true), "job_resources",
                      resources_of (job)));
}

static void add_files (json_t *o, const json_t *job)
{
    json_object_update_new (
        o, json_pack ("{s:s s:s s:o s:o s:o}", "current_working_directory",
                      json_text (job, "cwd"), "command", "", "standard_output",
                      file_of (job, "output"), "standard_error", file_of (job, "error"),
                      "standard_input", file_of (job, "input")));
}

static json_t *convert (const json_t *job)
{
    json_t *o = json_object ();

    add_who (o, job);
    add_state (o, job);
    add_times (o, job);
    add_resources (o, job);
    add_files (o, job);
    return o;
}

void scontrol_print_json (struct scontrol *s, const json_t *jobs)
{
    autojson json_t *list = json_array ();
    const json_t *job;
    size_t i;

    (void)s;
    json_array_foreach (jobs, i, job)
        json_array_append_new (list, convert (job));
    autojson json_t *root = json_pack (
        "{s:O s:{s:{s:s s:s} s:{s:{s:s s:s s:s} s:s}} s:[] s:[]}", "jobs", list, "meta",
        "plugin", "type", "", "data_parser", "data_parser/v0.0.41", "slurm", "version",
        "major", "25", "minor", "11", "micro", "0", "release", CMD_SLURM_VERSION,
        "errors", "warnings");
    print_json (root);
}

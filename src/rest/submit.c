/* submit.c - POST job/submit: a job's description becomes the command line of sbatch
 *
 * Each member of the description is a row of the table: the option of sbatch that it
 * stands for, and the kind of its value. sbatch refuses what fluxq does not have, with the
 * reason; members that no row has are refused here. The environment goes through a file in
 * memory (--export-file), so that variables such as SBATCH_TIMELIMIT in it are the job's
 * and no options.
 * The descriptions in "jobs", more than one for a heterogeneous job, have a ":" between
 * them on the command line.
 * Directives in the script are not read, as in Slurm: options such as --export-file in
 * them would read files as the user of slurmrestd.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/io.h"
#include "rest/rest.h"
#include "rest/values.h"

#define TEXT_MAX 65536
#define ENVIRONMENT_MAX (4 << 20)

enum kind {
    TEXT,
    LIST,
    INTEGER,
    MINUTES,
    MEGABYTES,
    WHEN,
    FLAG,      /* true: the option; false: no option */
    CHOICE,    /* true: the option; false: the other one */
    RESOURCES, /* "gres/gpu:2": the option gets "gpu:2" */
    GPUS,      /* the same: the option gets "2" */
    ELSEWHERE, /* read by a function of this file */
};

static const struct row {
    const char *member;
    enum kind kind;
    const char *option, *other;
} rows[] = {
    { "account", TEXT, "account", NULL },
    { "admin_comment", TEXT, "admin-comment", NULL },
    { "array", TEXT, "array", NULL },
    { "begin_time", WHEN, "begin", NULL },
    { "burst_buffer", TEXT, "bb", NULL },
    { "clusters", TEXT, "clusters", NULL },
    { "comment", TEXT, "comment", NULL },
    { "constraints", TEXT, "constraint", NULL },
    { "container", TEXT, "container", NULL },
    { "container_id", TEXT, "container-id", NULL },
    { "contiguous", FLAG, "contiguous", NULL },
    { "core_specification", INTEGER, "core-spec", NULL },
    { "cores_per_socket", INTEGER, "cores-per-socket", NULL },
    { "cpus_per_task", INTEGER, "cpus-per-task", NULL },
    { "cpus_per_tres", GPUS, "cpus-per-gpu", NULL },
    { "current_working_directory", TEXT, "chdir", NULL },
    { "deadline", WHEN, "deadline", NULL },
    { "delay_boot", INTEGER, "delay-boot", NULL },
    { "dependency", TEXT, "dependency", NULL },
    { "distribution", TEXT, "distribution", NULL },
    { "environment", ELSEWHERE, NULL, NULL },
    { "excluded_nodes", LIST, "exclude", NULL },
    { "extra", TEXT, "extra", NULL },
    { "hold", FLAG, "hold", NULL },
    { "kill_on_node_fail", CHOICE, NULL, "no-kill" },
    { "kill_warning_delay", ELSEWHERE, NULL, NULL },
    { "kill_warning_flags", ELSEWHERE, NULL, NULL },
    { "kill_warning_signal", ELSEWHERE, NULL, NULL },
    { "licenses", TEXT, "licenses", NULL },
    { "mail_type", LIST, "mail-type", NULL },
    { "mail_user", TEXT, "mail-user", NULL },
    { "maximum_nodes", ELSEWHERE, NULL, NULL },
    { "mcs_label", TEXT, "mcs-label", NULL },
    { "memory_per_cpu", MEGABYTES, "mem-per-cpu", NULL },
    { "memory_per_node", MEGABYTES, "mem", NULL },
    { "memory_per_tres", GPUS, "mem-per-gpu", NULL },
    { "minimum_cpus_per_node", INTEGER, "mincpus", NULL },
    { "minimum_nodes", ELSEWHERE, NULL, NULL },
    { "name", TEXT, "job-name", NULL },
    { "network", TEXT, "network", NULL },
    { "nice", INTEGER, "nice", NULL },
    { "nodes", ELSEWHERE, NULL, NULL },
    { "ntasks_per_tres", INTEGER, "ntasks-per-gpu", NULL },
    { "open_mode", LIST, "open-mode", NULL },
    { "overcommit", FLAG, "overcommit", NULL },
    { "partition", TEXT, "partition", NULL },
    { "prefer", TEXT, "prefer", NULL },
    { "priority", INTEGER, "priority", NULL },
    { "qos", TEXT, "qos", NULL },
    { "reboot", FLAG, "reboot", NULL },
    { "required_nodes", LIST, "nodelist", NULL },
    { "required_switches", INTEGER, "switches", NULL },
    { "requeue", CHOICE, "requeue", "no-requeue" },
    { "reservation", TEXT, "reservation", NULL },
    { "script", ELSEWHERE, NULL, NULL },
    { "segment_size", INTEGER, "segment", NULL },
    { "shared", ELSEWHERE, NULL, NULL },
    { "sockets_per_node", INTEGER, "sockets-per-node", NULL },
    { "standard_error", TEXT, "error", NULL },
    { "standard_input", TEXT, "input", NULL },
    { "standard_output", TEXT, "output", NULL },
    { "tasks", INTEGER, "ntasks", NULL },
    { "tasks_per_core", INTEGER, "ntasks-per-core", NULL },
    { "tasks_per_node", INTEGER, "ntasks-per-node", NULL },
    { "tasks_per_socket", INTEGER, "ntasks-per-socket", NULL },
    { "temporary_disk_per_node", MEGABYTES, "tmp", NULL },
    { "thread_specification", INTEGER, "thread-spec", NULL },
    { "threads_per_core", INTEGER, "threads-per-core", NULL },
    { "time_limit", MINUTES, "time", NULL },
    { "time_minimum", MINUTES, "time-min", NULL },
    { "tres_bind", TEXT, "tres-bind", NULL },
    { "tres_freq", TEXT, "gpu-freq", NULL },
    { "tres_per_job", GPUS, "gpus", NULL },
    { "tres_per_node", RESOURCES, "gres", NULL },
    { "tres_per_socket", GPUS, "gpus-per-socket", NULL },
    { "tres_per_task", TEXT, "tres-per-task", NULL },
    { "wait_all_nodes", CHOICE, NULL, NULL },
    { "wckey", TEXT, "wckey", NULL },
};

/* -- values -- */

static bool wrong (struct rest_call *call, const char *member, const char *wanted)
{
    rest_error (call, REST_PARSING, "job.%s: expected %s", member, wanted);
    return false;
}

static bool add_number (struct rest_call *call, struct rest_argv *a,
                        const struct row *row, const json_t *value)
{
    double n = 0;

    switch (rest_number (value, &n)) {
    case REST_UNSET:
        return true;
    case REST_INFINITE:
        if (row->kind == MINUTES)
            rest_argv_add (a, "--%s=UNLIMITED", row->option);
        return row->kind == MINUTES || wrong (call, row->member, "a number");
    case REST_NO_NUMBER:
        return wrong (call, row->member, "a number");
    default:
        rest_argv_add (a, row->kind == MEGABYTES ? "--%s=%.0fM" : "--%s=%.0f",
                       row->option, n);
        return true;
    }
}

static bool add_time (struct rest_call *call, struct rest_argv *a, const struct row *row,
                      const json_t *value)
{
    struct strbuf sb = STRBUF_INIT (64);
    double n = 0;
    enum rest_number kind = rest_number (value, &n);

    if (kind == REST_NUMBER && n > 0) {
        rest_add_time (&sb, n);
        rest_argv_add (a, "--%s=%s", row->option, sb.buf);
        strbuf_release (&sb);
    } else if (json_is_string (value)) {
        rest_argv_add (a, "--%s=%s", row->option, json_string_value (value));
    } else if (kind == REST_NO_NUMBER || kind == REST_INFINITE) {
        return wrong (call, row->member, "a unix time");
    }
    return true;
}

/* "gres/gpu:a100:2" or "gres:gpu:2": the resource without its kind. */
static bool add_resource (struct rest_call *call, struct rest_argv *a,
                          const struct row *row, const json_t *value)
{
    const char *text = json_string_value (value);

    if (!text)
        return wrong (call, row->member, "a text");
    if (!strncmp (text, "gres", 4) && (text[4] == '/' || text[4] == ':'))
        text += 5;
    if (row->kind == GPUS && strncmp (text, "gpu", 3) != 0)
        return wrong (call, row->member,
                      "gres/gpu:N: fluxq has no other resources there");
    if (row->kind == GPUS)
        text += 3 + (text[3] != '\0');
    if (*text)
        rest_argv_add (a, "--%s=%s", row->option, text);
    return true;
}

static bool add_flag (struct rest_call *call, struct rest_argv *a, const struct row *row,
                      const json_t *value)
{
    if (!json_is_boolean (value))
        return wrong (call, row->member, "true or false");
    const char *option = json_is_true (value) ? row->option : row->other;
    if (option)
        rest_argv_add (a, "--%s", option);
    return true;
}

static bool add_list (struct rest_call *call, struct rest_argv *a, const struct row *row,
                      const json_t *value)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);

    if (!rest_add_list (&sb, value))
        return wrong (call, row->member, "a list of texts");
    if (sb.len)
        rest_argv_add (a, "--%s=%s", row->option, sb.buf);
    return true;
}

static bool add_row (struct rest_call *call, struct rest_argv *a, const struct row *row,
                     const json_t *value)
{
    switch (row->kind) {
    case TEXT:
        if (json_is_integer (value))
            return add_number (call, a, row, value);
        if (!json_is_string (value))
            return wrong (call, row->member, "a text");
        if (*json_string_value (value))
            rest_argv_add (a, "--%s=%s", row->option, json_string_value (value));
        return true;
    case LIST:
        return add_list (call, a, row, value);
    case WHEN:
        return add_time (call, a, row, value);
    case FLAG:
    case CHOICE:
        return add_flag (call, a, row, value);
    case RESOURCES:
    case GPUS:
        return add_resource (call, a, row, value);
    case ELSEWHERE:
        return true;
    default:
        return add_number (call, a, row, value);
    }
}

/* -- members that belong together -- */

/* nodes "2-4", or minimum_nodes and maximum_nodes. */
static bool add_nodes (struct rest_call *call, struct rest_argv *a, const json_t *job)
{
    const json_t *nodes = json_object_get (job, "nodes");
    double least = 0, most = 0;
    bool min =
        rest_number (json_object_get (job, "minimum_nodes"), &least) == REST_NUMBER;
    bool max = rest_number (json_object_get (job, "maximum_nodes"), &most) == REST_NUMBER;

    if (json_is_string (nodes)) {
        if (*json_string_value (nodes))
            rest_argv_add (a, "--nodes=%s", json_string_value (nodes));
    } else if (nodes && rest_number (nodes, &least) == REST_NUMBER) {
        rest_argv_add (a, "--nodes=%.0f", least);
    } else if (nodes) {
        return wrong (call, "nodes", "a text or a number");
    } else if (min && max && most > 0) {
        rest_argv_add (a, "--nodes=%.0f-%.0f", least, most);
    } else if (min || max) {
        rest_argv_add (a, "--nodes=%.0f", min ? least : most);
    }
    return true;
}

static bool add_signal (struct rest_call *call, struct rest_argv *a, const json_t *job)
{
    const json_t *value = json_object_get (job, "kill_warning_signal");
    autostrbuf struct strbuf flags = STRBUF_INIT (256);
    const json_t *list = json_object_get (job, "kill_warning_flags");
    double n = 0, delay = 0;
    bool number = rest_number (value, &n) == REST_NUMBER;
    bool at =
        rest_number (json_object_get (job, "kill_warning_delay"), &delay) == REST_NUMBER;

    if (list && !rest_add_list (&flags, list))
        return wrong (call, "kill_warning_flags", "a list of texts");
    const char *batch = strstr (flags.buf, "BATCH_JOB") ? "B:" : "";
    if (flags.len && !*batch)
        return wrong (call, "kill_warning_flags", "BATCH_JOB");
    if (number)
        rest_argv_add (a, at ? "--signal=%s%.0f@%.0f" : "--signal=%s%.0f", batch, n,
                       delay);
    else if (json_is_string (value) && *json_string_value (value))
        rest_argv_add (a, at ? "--signal=%s%s@%.0f" : "--signal=%s%s", batch,
                       json_string_value (value), delay);
    return true;
}

static bool add_shared (struct rest_call *call, struct rest_argv *a, const json_t *job)
{
    const json_t *value = json_object_get (job, "shared");
    autostrbuf struct strbuf sb = STRBUF_INIT (256);

    if (!value)
        return true;
    if (!rest_add_list (&sb, value))
        return wrong (call, "shared", "a list of texts");
    if (!strcmp (sb.buf, "none"))
        rest_argv_add (a, "--exclusive");
    else if (!strcmp (sb.buf, "oversubscribe"))
        rest_argv_add (a, "--oversubscribe");
    else if (sb.len)
        rest_argv_add (a, "--exclusive=%s", sb.buf);
    return true;
}

/* Collects NAME=VALUE entries, each ended by a NUL. */
static bool add_variables (struct rest_call *call, struct strbuf *sb, json_t *environment)
{
    const char *name;
    json_t *value;
    size_t i;

    json_array_foreach (environment, i, value) {
        if (!json_is_string (value) || !strchr (json_string_value (value), '='))
            return wrong (call, "environment", "texts NAME=VALUE");
        strbuf_add (sb, json_string_value (value), json_string_length (value) + 1);
    }
    json_object_foreach (environment, name, value) {
        if (!json_is_string (value))
            return wrong (call, "environment", "texts");
        strbuf_addf (sb, "%s=%s", name, json_string_value (value));
        strbuf_addch (sb, '\0');
    }
    return true;
}

static bool add_environment (struct rest_call *call, struct rest_argv *a,
                             const json_t *job)
{
    json_t *environment = json_object_get (job, "environment");
    autostrbuf struct strbuf sb = STRBUF_INIT (ENVIRONMENT_MAX);
    int fd;

    rest_argv_add (a, "--export=NIL");
    if (!environment || json_is_null (environment))
        return true;
    if (!json_is_array (environment) && !json_is_object (environment))
        return wrong (call, "environment", "a list of NAME=VALUE");
    if (!add_variables (call, &sb, environment))
        return false;
    if (sb.err || (fd = memfd_create ("environment", 0)) < 0
        || io_write_all (fd, sb.buf, sb.len) < 0) {
        rest_error (call, REST_UNKNOWN, "the environment is too large");
        return false;
    }
    if (sb.len)
        rest_argv_add (a, "--export-file=/proc/self/fd/%d", fd);
    return true;
}

/* -- the request -- */

static const struct row *find_row (const char *member)
{
    for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
        if (!strcmp (rows[i].member, member))
            return &rows[i];
    return NULL;
}

static bool is_empty (const json_t *value)
{
    return json_is_null (value) || (json_is_array (value) && json_array_size (value) == 0)
           || (json_is_string (value) && !*json_string_value (value));
}

static bool add_members (struct rest_call *call, struct rest_argv *a, json_t *job)
{
    const char *member;
    json_t *value;

    json_object_foreach (job, member, value) {
        const struct row *row = find_row (member);
        if (is_empty (value))
            continue;
        if (!row) {
            rest_error (call, REST_PARSING, "job.%.100s is not supported: leave it out",
                        member);
            return false;
        }
        if (!add_row (call, a, row, value))
            return false;
    }
    return add_nodes (call, a, job) && add_signal (call, a, job)
           && add_shared (call, a, job);
}

/* The descriptions of the components, a list of one for a job without any, and the script;
 * false: after an error. */
static bool find_jobs (struct rest_call *call, json_t *body, json_t **ret_jobs,
                       const char **ret_script)
{
    static const char *const known[] = { "script", "job", "jobs", NULL };
    json_t *job = json_object_get (body, "job"), *jobs = json_object_get (body, "jobs");
    struct error err = { 0 };

    *ret_jobs = job                          ? json_pack ("[O]", job)
                : json_array_size (jobs) > 0 ? json_incref (jobs)
                                             : json_array ();
    *ret_script =
        json_string_value (json_object_get (json_array_get (*ret_jobs, 0), "script"));
    if (!*ret_script)
        *ret_script = json_string_value (json_object_get (body, "script"));
    if (json_only_keys (body, known, "the request", &err) < 0)
        rest_error (call, REST_PARSING, "%s", err.text);
    else if (!json_is_object (json_array_get (*ret_jobs, 0)))
        rest_error (call, REST_INVALID_JOBS, "the request has no job");
    else if (!*ret_script || !**ret_script)
        rest_error (call, REST_INVALID_JOBS, "the job has no script");
    else
        return true;
    return false;
}

/* A later component: it has the environment and the script of the first one. */
static bool add_component (struct rest_call *call, struct rest_argv *a,
                           const json_t *first, json_t *job)
{
    static const char *const common[] = { "environment", "script" };

    for (size_t i = 0; i < ARRAY_SIZE (common); i++) {
        const json_t *value = json_object_get (job, common[i]);
        if (!json_is_object (job) || !value || is_empty (value)
            || json_equal (value, json_object_get (first, common[i])))
            continue;
        rest_error (call, REST_INVALID_JOBS,
                    "jobs: the %s is that of the first job: leave it out in others",
                    common[i]);
        return false;
    }
    rest_argv_add (a, ":");
    return json_is_object (job)
               ? add_members (call, a, job)
               : wrong (call, "jobs", "a list of descriptions of components");
}

static bool add_jobs (struct rest_call *call, struct rest_argv *a, const json_t *jobs)
{
    json_t *first = json_array_get (jobs, 0);
    bool ok = add_members (call, a, first) && add_environment (call, a, first);

    for (size_t i = 1; ok && i < json_array_size (jobs); i++)
        ok = add_component (call, a, first, json_array_get (jobs, i));
    return ok;
}

static json_t *submitted (struct rest_call *call, const char *text)
{
    json_int_t id = strtoll (text, NULL, 10);

    if (id <= 0) {
        rest_error (call, REST_UNKNOWN, "sbatch has printed no job id");
        return NULL;
    }
    return json_pack ("{s:I s:s s:s s:{s:I s:s s:i s:s s:s}}", "job_id", id, "step_id",
                      "batch", "job_submit_user_msg", "", "result", "job_id", id,
                      "step_id", "batch", "error_code", 0, "error", "No error",
                      "job_submit_user_msg", "");
}

json_t *rest_submit (struct rest_call *call)
{
    autojson json_t *body = rest_body (call);
    autostrbuf struct strbuf out = STRBUF_INIT (TEXT_MAX);
    struct rest_argv a = { .v = NULL };
    autojson json_t *jobs = NULL;
    json_t *answer = NULL;
    const char *script;

    if (!body || !find_jobs (call, body, &jobs, &script))
        return NULL;
    rest_argv_add (&a, "sbatch");
    rest_argv_add (&a, "--parsable");
    rest_argv_add (&a, "--ignore-directives");
    if (strstr (script, "\n#SBATCH") || strstr (script, "\n#FLUXQ"))
        rest_warn (call, "the script's directives (#SBATCH) are not read, as in Slurm: "
                         "write options into the job's description");
    if (add_jobs (call, &a, jobs)) {
        if (a.failed)
            rest_error (call, REST_UNKNOWN, "out of memory");
        else if (rest_run (call, (const char *const *)a.v, script, &out) == 0)
            answer = submitted (call, out.buf);
    }
    rest_argv_release (&a);
    return answer;
}

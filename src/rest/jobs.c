/* jobs.c - jobs: list, state, details, cancel and update, by squeue, scancel and scontrol */
#include <string.h>

#include "rest/rest.h"
#include "rest/values.h"

#define TEXT_MAX (256 * 1024)
#define ALREADY_DONE 2021 /* Slurm's number */

json_t *rest_get_jobs (struct rest_call *call)
{
    static const char *const argv[] = { "squeue", "--json", "--states=all", NULL };

    return rest_run_json (call, argv);
}

/* The members of `squeue --json` for these jobs. */
static json_t *find_jobs (struct rest_call *call, const char *ids)
{
    struct rest_argv a = { .v = NULL };
    json_t *o = NULL;

    rest_argv_add (&a, "squeue");
    rest_argv_add (&a, "--json");
    rest_argv_add (&a, "--states=all");
    rest_argv_add (&a, "--jobs=%s", ids);
    if (a.failed)
        rest_error (call, REST_UNKNOWN, "out of memory");
    else
        o = rest_run_json (call, (const char *const *)a.v);
    rest_argv_release (&a);
    if (o && json_array_size (json_object_get (o, "jobs")) == 0 && !strchr (ids, ',')) {
        rest_error (call, REST_INVALID_JOB, "there is no job %.100s", ids);
        json_decref (o);
        o = NULL;
    }
    return o;
}

json_t *rest_get_job (struct rest_call *call)
{
    return find_jobs (call, call->arg);
}

json_t *rest_get_states (struct rest_call *call)
{
    const char *ids = rest_query (call, "job_id");
    json_t *o = ids && *ids ? find_jobs (call, ids) : rest_get_jobs (call);
    json_t *list = json_array ();
    const json_t *job;
    size_t i;

    json_array_foreach (json_object_get (o, "jobs"), i, job)
        json_array_append_new (list, json_pack ("{s:O s:O}", "job_id",
                                                json_object_get (job, "job_id"), "state",
                                                json_object_get (job, "job_state")));
    if (o) /* with its other members */
        json_object_set (o, "jobs", list);
    json_decref (list);
    return o;
}

/* -- cancel -- */

static const char *const ended[] = {
    "COMPLETED", "FAILED",    "CANCELLED",     "TIMEOUT",
    "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE"
};

static bool has_ended (const json_t *job)
{
    const char *state =
        json_string_value (json_array_get (json_object_get (job, "job_state"), 0));

    for (size_t i = 0; state && i < ARRAY_SIZE (ended); i++)
        if (!strcmp (state, ended[i]))
            return true;
    return false;
}

/* Slurm's flags of a kill: to the batch script's shell, or to all processes. */
static bool add_flags (struct rest_call *call, struct rest_argv *a, const char *flags)
{
    if (!flags || !*flags)
        return true;
    if (!strcmp (flags, "BATCH_JOB"))
        rest_argv_add (a, "--batch");
    else if (!strcmp (flags, "FULL_JOB"))
        rest_argv_add (a, "--full");
    else
        rest_error (call, REST_INVALID_QUERY,
                    "flags: %.100s is not supported, only BATCH_JOB and FULL_JOB are",
                    flags);
    return json_array_size (call->errors) == 0;
}

/* Runs scancel and releases a. */
static bool cancel (struct rest_call *call, struct rest_argv *a)
{
    autostrbuf struct strbuf out = STRBUF_INIT (TEXT_MAX);
    bool ok = false;

    if (a->failed)
        rest_error (call, REST_UNKNOWN, "out of memory");
    else if (json_array_size (call->errors) == 0)
        ok = rest_run (call, (const char *const *)a->v, NULL, &out) == 0;
    rest_argv_release (a);
    return ok;
}

json_t *rest_delete_job (struct rest_call *call)
{
    const char *signal = rest_query (call, "signal");
    autojson json_t *o = find_jobs (call, call->arg);
    struct rest_argv a = { .v = NULL };

    if (!o)
        return NULL;
    if (has_ended (json_array_get (json_object_get (o, "jobs"), 0))) {
        rest_error (call, ALREADY_DONE, "Job/step already completing or completed");
        return NULL;
    }
    rest_argv_add (&a, "scancel");
    if (signal && *signal)
        rest_argv_add (&a, "--signal=%s", signal);
    add_flags (call, &a, rest_query (call, "flags"));
    rest_argv_add (&a, "%s", call->arg);
    return cancel (call, &a) ? json_object () : NULL;
}

/* Members of the request that cancels several jobs, and options of scancel. */
static const struct {
    const char *member, *option;
} filters[] = {
    { "account", "account" },     { "flags", NULL },    { "job_name", "name" },
    { "job_state", "state" },     { "jobs", NULL },     { "nodes", "nodelist" },
    { "partition", "partition" }, { "qos", "qos" },     { "signal", "signal" },
    { "user_name", "user" },      { "wckey", "wckey" },
};

static bool add_filter (struct rest_call *call, struct rest_argv *a, const char *member,
                        const json_t *value)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    size_t i = 0;

    while (i < ARRAY_SIZE (filters) && strcmp (filters[i].member, member) != 0)
        i++;
    if (json_is_null (value) || !strcmp (member, "jobs"))
        return true;
    if (i == ARRAY_SIZE (filters))
        rest_error (call, REST_PARSING, "%.100s is not supported: leave it out", member);
    else if (!rest_add_list (&sb, value))
        rest_error (call, REST_PARSING, "%s: expected a list of texts", member);
    else if (!filters[i].option)
        return add_flags (call, a, sb.buf);
    else if (sb.len)
        rest_argv_add (a, "--%s=%s", filters[i].option, sb.buf);
    return json_array_size (call->errors) == 0;
}

static bool add_ids (struct rest_call *call, struct rest_argv *a, json_t *jobs)
{
    const json_t *id;
    size_t i;

    json_array_foreach (jobs, i, id) {
        if (json_is_integer (id))
            rest_argv_add (a, "%jd", (intmax_t)json_integer_value (id));
        else if (json_is_string (id) && *json_string_value (id) != '-')
            rest_argv_add (a, "%s", json_string_value (id));
        else
            rest_error (call, REST_PARSING, "jobs: expected ids of jobs");
    }
    return json_array_size (call->errors) == 0;
}

json_t *rest_delete_jobs (struct rest_call *call)
{
    autojson json_t *body = rest_body (call);
    struct rest_argv a = { .v = NULL };
    const char *member;
    json_t *value;

    if (!body)
        return NULL;
    rest_argv_add (&a, "scancel");
    json_object_foreach (body, member, value)
        if (!add_filter (call, &a, member, value))
            break;
    if (a.n == 1 && json_array_size (json_object_get (body, "jobs")) == 0)
        rest_error (call, REST_INVALID_JOBS,
                    "the request names no jobs and has no filter");
    rest_argv_add (&a, "--");
    add_ids (call, &a, json_object_get (body, "jobs"));
    return cancel (call, &a) ? json_pack ("{s:[]}", "status") : NULL;
}

/* -- update -- */

enum kind { TEXT, NUMBER, MINUTES };

/* Members of a job's description, and keys of "scontrol update", which refuses those that
 * cannot change. */
static const struct {
    const char *member, *key;
    enum kind kind;
} keys[] = {
    { "account", "Account", TEXT },
    { "admin_comment", "AdminComment", TEXT },
    { "comment", "Comment", TEXT },
    { "cpus_per_task", "CPUsPerTask", NUMBER },
    { "deadline", "Deadline", NUMBER },
    { "dependency", "Dependency", TEXT },
    { "begin_time", "StartTime", NUMBER },
    { "extra", "Extra", TEXT },
    { "maximum_nodes", "NumNodes", NUMBER },
    { "minimum_nodes", "NumNodes", NUMBER },
    { "name", "Name", TEXT },
    { "mcs_label", "MCSLabel", TEXT },
    { "nice", "Nice", NUMBER },
    { "nodes", "NumNodes", TEXT },
    { "partition", "Partition", TEXT },
    { "priority", "Priority", NUMBER },
    { "qos", "QOS", TEXT },
    { "reservation", "ReservationName", TEXT },
    { "standard_output", "StdOut", TEXT },
    { "tasks", "NumTasks", NUMBER },
    { "time_limit", "TimeLimit", MINUTES },
    { "wckey", "WCKey", TEXT },
};

static void add_key (struct rest_call *call, struct rest_argv *a, const char *member,
                     const json_t *value)
{
    size_t i = 0;
    double n = 0;

    while (i < ARRAY_SIZE (keys) && strcmp (keys[i].member, member) != 0)
        i++;
    if (i == ARRAY_SIZE (keys)) {
        rest_error (call, REST_PARSING, "%.100s: a job's %.100s cannot be changed",
                    member, member);
        return;
    }
    enum rest_number kind = rest_number (value, &n);
    if (kind == REST_NUMBER)
        rest_argv_add (a, "%s=%.0f", keys[i].key, n);
    else if (kind == REST_INFINITE && keys[i].kind == MINUTES)
        rest_argv_add (a, "%s=UNLIMITED", keys[i].key);
    else if (json_is_string (value))
        rest_argv_add (a, "%s=%s", keys[i].key, json_string_value (value));
    else if (kind != REST_UNSET)
        rest_error (call, REST_PARSING, "%s: expected %s", member,
                    keys[i].kind == TEXT ? "a text" : "a number");
}

static bool run_scontrol (struct rest_call *call, struct rest_argv *a)
{
    autostrbuf struct strbuf out = STRBUF_INIT (TEXT_MAX);

    if (a->failed)
        rest_error (call, REST_UNKNOWN, "out of memory");
    bool ok = json_array_size (call->errors) == 0
              && rest_run (call, (const char *const *)a->v, NULL, &out) == 0;
    rest_argv_release (a);
    return ok;
}

static bool set_hold (struct rest_call *call, const json_t *hold)
{
    struct rest_argv a = { .v = NULL };

    if (!hold || json_is_null (hold))
        return true;
    rest_argv_add (&a, "scontrol");
    rest_argv_add (&a, json_is_true (hold) ? "hold" : "release");
    rest_argv_add (&a, "%s", call->arg);
    return run_scontrol (call, &a);
}

json_t *rest_update_job (struct rest_call *call)
{
    autojson json_t *body = rest_body (call);
    autojson json_t *o = body ? find_jobs (call, call->arg) : NULL;
    json_t *job = body ? json_object_get (body, "job") : NULL, *value;
    struct rest_argv a = { .v = NULL };
    const char *member;

    if (!o)
        return NULL;
    rest_argv_add (&a, "scontrol");
    rest_argv_add (&a, "update");
    rest_argv_add (&a, "JobId=%s", call->arg);
    json_object_foreach (json_is_object (job) ? job : body, member, value)
        if (strcmp (member, "hold") != 0 && !json_is_null (value))
            add_key (call, &a, member, value);
    const json_t *hold = json_object_get (json_is_object (job) ? job : body, "hold");
    if (a.n == 3 && !hold)
        rest_error (call, REST_INVALID_JOBS, "the request changes nothing");
    bool ok = a.n > 3 || json_array_size (call->errors) ? run_scontrol (call, &a) : true;
    rest_argv_release (&a);
    return ok && set_hold (call, hold)
               ? json_pack ("{s:[{s:I s:s s:i s:s s:s}]}", "results", "job_id",
                            (json_int_t)strtoll (call->arg, NULL, 10), "step_id", "",
                            "error_code", 0, "error", "No error", "why", "")
               : NULL;
}

/* history.c - jobs of the history, by sacct --json */
#include <string.h>

#include "rest/rest.h"
#include "rest/values.h"

#define TEXT_MAX 65536
#define FIRST_DAY "1970-01-01T00:00:01"

/* Parameters of the query, and options of sacct. */
static const struct {
    const char *name, *option;
    bool time;
} filters[] = {
    { "account", "accounts", false }, { "end_time", "endtime", true },
    { "groups", "group", false },     { "job_name", "name", false },
    { "node", "nodelist", false },    { "partition", "partition", false },
    { "qos", "qos", false },          { "start_time", "starttime", true },
    { "state", "state", false },      { "step", "jobs", false },
};

/* A unix time becomes a date; words (now-1day) stay. */
static void add_filter (struct rest_argv *a, const char *option, const char *value,
                        bool time)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    char *end;
    double t = strtod (value, &end);

    if (time && *value && !*end)
        rest_add_time (&sb, t > 0 ? t : 1);
    else
        strbuf_adds (&sb, value);
    rest_argv_add (a, "--%s=%s", option, sb.buf);
}

static json_t *run (struct rest_call *call, struct rest_argv *a)
{
    json_t *o = NULL;

    if (a->failed)
        rest_error (call, REST_UNKNOWN, "out of memory");
    else
        o = rest_run_json (call, (const char *const *)a->v);
    rest_argv_release (a);
    return o;
}

json_t *rest_history_jobs (struct rest_call *call)
{
    const char *users = rest_query (call, "users");
    struct rest_argv a = { .v = NULL };

    if (rest_query (call, "format")) {
        rest_error (call, REST_INVALID_QUERY, "format: the answer is always JSON");
        return NULL;
    }
    rest_argv_add (&a, "sacct");
    rest_argv_add (&a, "--json");
    if (users && *users)
        rest_argv_add (&a, "--user=%s", users);
    else
        rest_argv_add (&a, "--allusers");
    if (!rest_query (call, "start_time"))
        rest_argv_add (&a, "--starttime=" FIRST_DAY);
    for (size_t i = 0; i < ARRAY_SIZE (filters); i++) {
        const char *value = rest_query (call, filters[i].name);
        if (value && *value)
            add_filter (&a, filters[i].option, value, filters[i].time);
    }
    return run (call, &a);
}

json_t *rest_history_job (struct rest_call *call)
{
    struct rest_argv a = { .v = NULL };

    rest_argv_add (&a, "sacct");
    rest_argv_add (&a, "--json");
    rest_argv_add (&a, "--allusers");
    rest_argv_add (&a, "--jobs=%s", call->arg);
    json_t *o = run (call, &a);
    if (o && json_array_size (json_object_get (o, "jobs")) == 0) {
        rest_error (call, REST_INVALID_JOB, "there is no job %.100s", call->arg);
        json_decref (o);
        return NULL;
    }
    return o;
}

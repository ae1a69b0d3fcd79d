/* broker.c - ping and diag: whether the broker answers, and its counts */
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "rest/rest.h"

static double number (const json_t *o, const char *key)
{
    return json_number_value (json_object_get (o, key));
}

json_t *rest_ping (struct rest_call *call)
{
    double before = clock_mono ();
    autojson json_t *status = rest_get (call, "/v1/status");
    char host[256] = "";

    gethostname (host, sizeof (host) - 1);
    return status ? json_pack ("{s:[{s:s s:s s:b s:I s:s s:b}]}", "pings", "hostname",
                               host, "pinged", "UP", "responding", 1, "latency",
                               (json_int_t)((clock_mono () - before) * 1e6), "mode",
                               "primary", "primary", 1)
                  : NULL;
}

static json_t *time_of (double t)
{
    return json_pack ("{s:b s:b s:I}", "set", t > 0, "infinite", 0, "number",
                      (json_int_t)t);
}

json_t *rest_diag (struct rest_call *call)
{
    autojson json_t *status = rest_get (call, "/v1/status");
    const json_t *jobs = json_object_get (status, "jobs");
    double now = clock_wall ();

    if (!status)
        return NULL;
    return json_pack (
        "{s:{s:o s:o s:I s:I s:o}}", "statistics", "req_time", time_of (now),
        "req_time_start", time_of (now - number (status, "uptime")), "jobs_pending",
        (json_int_t)number (jobs, "pending"), "jobs_running",
        (json_int_t)number (jobs, "running"), "job_states_ts", time_of (now));
}

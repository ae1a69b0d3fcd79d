/* routes.c - the routes of slurmrestd, as Slurm's v0.0.41 and later have them */
#include <string.h>

#include "rest/rest.h"

static const char *const update_time[] = { "update_time", "flags", NULL };
static const char *const ids[] = { "job_id", NULL };
static const char *const kill_job[] = { "signal", "flags", NULL };
static const char *const history[] = { "account",    "end_time", "format",    "groups",
                                       "job_name",   "node",     "partition", "qos",
                                       "start_time", "state",    "step",      "users",
                                       NULL };

const struct rest_route rest_slurm_routes[] = {
    { "GET", "ping", rest_ping, NULL },
    { "GET", "diag", rest_diag, NULL },
    { "GET", "jobs", rest_get_jobs, update_time },
    { "DELETE", "jobs", rest_delete_jobs, NULL },
    { "GET", "jobs/state", rest_get_states, ids },
    { "POST", "job/submit", rest_submit, NULL },
    { "GET", "job/{}", rest_get_job, update_time },
    { "POST", "job/{}", rest_update_job, NULL },
    { "DELETE", "job/{}", rest_delete_job, kill_job },
    { "GET", "nodes", rest_get_nodes, update_time },
    { "GET", "node/{}", rest_get_node, update_time },
    { "GET", "partitions", rest_get_partitions, update_time },
    { "GET", "partition/{}", rest_get_partition, update_time },
    { "GET", "reservations", rest_get_reservations, update_time },
    { "GET", "reservation/{}", rest_get_reservation, update_time },
    { "GET", "licenses", rest_get_licenses, NULL },
    { .method = NULL },
};

const struct rest_route rest_slurmdb_routes[] = {
    { "GET", "jobs", rest_history_jobs, history },
    { "GET", "job/{}", rest_history_job, NULL },
    { .method = NULL },
};

/* The versions whose answers have the shape of v0.0.41. */
static bool is_version (const char *text, size_t len)
{
    return len == strlen ("v0.0.41") && !strncmp (text, "v0.0.4", 6) && text[6] >= '1'
           && text[6] <= '5';
}

/* Compares the path, without slashes at its end, and copies what "{}" matches. */
static bool matches (const char *pattern, const char *path, size_t len,
                     char arg[static 256])
{
    size_t fixed = strcspn (pattern, "{");

    arg[0] = '\0';
    if (!pattern[fixed])
        return len == fixed && !strncmp (pattern, path, len);
    if (len <= fixed || len - fixed > 255 || strncmp (pattern, path, fixed) != 0
        || memchr (path + fixed, '/', len - fixed))
        return false;
    memcpy (arg, path + fixed, len - fixed);
    arg[len - fixed] = '\0';
    return true;
}

/* The path after the version; NULL: after an error. Some clients begin it with "//", as
 * their base URL ends with a slash; Slurm accepts that. */
static const char *skip_head (struct rest_call *call, const char *path)
{
    static const char slurm[] = "/slurm/", database[] = "/slurmdb/";

    while (path[0] == '/' && path[1] == '/')
        path++;
    call->database = !strncmp (path, database, sizeof (database) - 1);
    if (!call->database && strncmp (path, slurm, sizeof (slurm) - 1) != 0) {
        rest_error (call, REST_UNKNOWN_URL, "there is no %.200s here", path);
        return NULL;
    }
    path += (call->database ? sizeof (database) : sizeof (slurm)) - 1;
    size_t len = strcspn (path, "/");
    if (!is_version (path, len)) {
        rest_error (call, REST_UNKNOWN_URL,
                    "version %.*s is not served: v0.0.41 to v0.0.45 are", (int)(len & 31),
                    path);
        return NULL;
    }
    snprintf (call->version, sizeof (call->version), "%.*s", (int)len, path);
    return path + len + strspn (path + len, "/");
}

/* Whether the route knows each parameter of the query. */
static bool knows_queries (struct rest_call *call)
{
    const char *name;

    for (size_t i = 0; (name = http_request_query_name (call->req, i)); i++) {
        const char *const *q = call->route->queries;
        while (q && *q && strcmp (*q, name) != 0)
            q++;
        if (!q || !*q) {
            rest_error (call, REST_INVALID_QUERY, "%s %s has no parameter %.100s",
                        call->route->method, call->route->path, name);
            return false;
        }
    }
    return true;
}

bool rest_find_route (struct rest_call *call)
{
    const char *method = http_request_method (call->req);
    const char *path = skip_head (call, http_request_path (call->req));
    const struct rest_route *r = call->database ? rest_slurmdb_routes : rest_slurm_routes;
    bool other = false;

    if (!path)
        return false;
    size_t len = strlen (path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    for (; r->method && !call->route; r++) {
        if (!matches (r->path, path, len, call->arg))
            continue;
        other = true;
        if (!strcmp (r->method, method))
            call->route = r;
        else if (!strchr (r->path, '{') && strcmp (r->path, "jobs") != 0)
            break; /* "job/submit" is no job */
    }
    if (call->route)
        return knows_queries (call);
    rest_error (call, other ? REST_UNKNOWN_METHOD : REST_UNKNOWN_URL,
                other ? "%s is not for %.200s" : "there is no %s %.200s here", method,
                http_request_path (call->req));
    return false;
}

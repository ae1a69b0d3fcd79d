/* rest.h - slurmrestd: Slurm's REST interface in front of the commands of src/cmd/slurm
 *
 * The server (server.c) is one loop: it takes requests, finds the route, and forks a child
 * for each. The child (child.c) has the caller's token in its environment, runs the route's
 * function and writes status and answer into a pipe. A function (jobs.c, nodes.c, ...) makes
 * the command line of a command ("squeue --json ..."), runs that in its own process, and
 * puts the command's JSON into the shape of the answer. So a request does, and refuses,
 * exactly what the command does, and each child is its caller's alone.
 *
 *     static json_t *get_jobs (struct rest_call *call)
 *     {
 *         const char *argv[] = { "squeue", "--json", "--states=all", NULL };
 *         return rest_run_json (call, argv);          // NULL after an error
 *     }
 *
 *     { "GET", "jobs", "jobs", get_jobs, NULL },        // a row of rest_routes
 */
#pragma once

#include "common/json.h"
#include "common/strbuf.h"
#include "net/http_server.h"

#define REST_ANSWER_MAX ((size_t)512 * 1024 * 1024)

/* Slurm's numbers of errors. */
enum rest_error {
    REST_UNKNOWN = -1,
    REST_CONNECTION = 1001,
    REST_INVALID_PARTITION = 2000,
    REST_ACCESS_DENIED = 2002,
    REST_INVALID_USER = 2010,
    REST_UNAVAILABLE = 2014,
    REST_INVALID_JOB = 2017,
    REST_INVALID_NODE = 2018,
    REST_POLICY = 2050,
    REST_INVALID_RESERVATION = 2053,
    REST_INVALID_ARRAY = 2081,
    REST_TIMEOUT = 5004,
    REST_INVALID_QUERY = 9000,
    REST_PARSING = 9001,
    REST_INVALID_JOBS = 9002,
    REST_UNKNOWN_URL = 9006,
    REST_UNKNOWN_METHOD = 9007,
    REST_AUTHENTICATION = 9008,
};

/* One request, in the server or in its child. */
struct rest_call {
    struct http_request *req;
    const struct rest_route *route; /* NULL: no route was found */
    bool database;                  /* the path begins with /slurmdb/ */
    char version[16];               /* "v0.0.41" */
    char arg[256];             /* the last segment of the path of a route with "{}" */
    json_t *errors, *warnings; /* arrays */
    int status;                /* 0: as the errors say */
};

/* A function of a route: the members of the answer, or NULL after rest_error(). */
typedef json_t *rest_function (struct rest_call *call);

struct rest_route {
    const char *method; /* NULL ends a table */
    const char *path;   /* after /slurm/VERSION/ or /slurmdb/VERSION/ */
    rest_function *fn;
    const char *const *queries; /* names of parameters, NULL-terminated; NULL: none */
};

extern const struct rest_route rest_slurm_routes[], rest_slurmdb_routes[]; /* routes.c */
/* Fills route, version and arg from method and path. false: after rest_error(). */
bool rest_find_route (struct rest_call *call);

/* -- call.c: what a route's function uses -- */

int rest_call_init (struct rest_call *call, struct http_request *req);
void rest_call_release (struct rest_call *call);
/* Adds an error to the answer. number: of enum rest_error. */
void rest_error (struct rest_call *call, int number, const char *fmt, ...)
    PRINTF_LIKE (3, 4);
/* Adds a warning. */
void rest_warn (struct rest_call *call, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* The text of the whole answer: the members (taken over, or NULL) with meta, errors and
 * warnings. Sets call->status. NULL: no memory. */
char *rest_answer (struct rest_call *call, json_t *members);
/* The JSON object that is the request's body, a new reference; NULL: after an error. */
json_t *rest_body (struct rest_call *call);
/* A parameter of the query, or NULL. */
const char *rest_query (const struct rest_call *call, const char *name);

/* A command line: argv and the texts that it owns. */
struct rest_argv {
    char **v; /* NULL-terminated; NULL: nothing was added yet */
    size_t n;
    bool failed; /* no memory */
};
void rest_argv_add (struct rest_argv *a, const char *fmt, ...) PRINTF_LIKE (2, 3);
void rest_argv_release (struct rest_argv *a);

/* Runs one of Slurm's commands in this process, a child of the server. input: what the
 * command reads, or NULL. out: what it prints. 0, or -1 after errors that say what the
 * command said. */
int rest_run (struct rest_call *call, const char *const argv[], const char *input,
              struct strbuf *out);
/* The same for a command that prints a JSON object: the members, without meta, errors and
 * warnings; NULL after an error. */
json_t *rest_run_json (struct rest_call *call, const char *const argv[]);
/* GET of a route of the broker itself; NULL after an error. */
json_t *rest_get (struct rest_call *call, const char *target);

/* -- functions of routes, by file -- */

rest_function rest_ping, rest_diag; /* broker.c */
rest_function rest_get_jobs, rest_get_states, rest_get_job, rest_delete_job,
    rest_delete_jobs, rest_update_job; /* jobs.c */
rest_function rest_submit;             /* submit.c */
rest_function rest_get_nodes, rest_get_node, rest_get_partitions, rest_get_partition,
    rest_get_reservations, rest_get_reservation, rest_get_licenses; /* nodes.c */
rest_function rest_history_jobs, rest_history_job;                  /* history.c */

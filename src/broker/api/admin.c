/* admin.c - requests about the broker itself: status, shutdown, reload
 */
#include <config.h>

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/core/service.h"
#include "common/clock.h"

static json_int_t memory_kib (void)
{
    long pages = 0, resident = 0;
    autofclose FILE *f = fopen ("/proc/self/statm", "re");
    if (!f || fscanf (f, "%ld %ld", &pages, &resident) != 2)
        return 0;
    return (json_int_t)resident * (sysconf (_SC_PAGESIZE) / 1024);
}

static json_t *count_nodes (const struct broker *b)
{
    int n[3] = { 0 };
    struct machine_node_info info;
    for (int i = machine_node_next (broker_graph (b), -1); i >= 0;
         i = machine_node_next (broker_graph (b), i))
        if (machine_node_info (broker_graph (b), i, &info) == 0)
            n[info.state]++;
    return json_pack ("{s:i s:i s:i}", "up", n[MACHINE_NODE_UP], "drained",
                      n[MACHINE_NODE_DRAINED], "down", n[MACHINE_NODE_DOWN]);
}

/* The addresses at which the broker listens. */
static json_t *listens_at (const struct broker *b)
{
    json_t *list = json_pack ("[s]", broker_socket_path (b));
    char tcp[300];

    if (broker_config (b)->listen_host) {
        snprintf (tcp, sizeof (tcp), "%s://%s:%u",
                  http_server_has_tls (broker_http (b)) ? "https" : "http",
                  broker_config (b)->listen_host,
                  (unsigned)broker_config (b)->listen_port);
        json_array_append_new (list, json_string (tcp));
    }
    return list;
}

static void api_status (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    const char *trouble = journal_trouble (broker_journal (b));
    const struct entries_count count = entries_count (b);

    (void)path;
    json_t *o = json_pack (
        "{s:s s:s s:I s:f s:s s:s s:o s:{s:I s:I s:I} s:o s:{s:I s:I s:s?} s:o? s:I s:b}",
        "version", PACKAGE_VERSION, "cluster", broker_config (b)->cluster_id, "pid",
        (json_int_t)getpid (), "uptime", clock_wall () - broker_started_at (b),
        "executor", broker_ops (b)->name, "state_dir", broker_state_dir (b), "listen",
        listens_at (b), "jobs", "pending", (json_int_t)count.pending, "running",
        (json_int_t)(count.running - count.whole), "finished", (json_int_t)count.finished,
        "nodes", count_nodes (b), "journal", "waiting",
        (json_int_t)journal_waiting (broker_journal (b)), "bytes",
        (json_int_t)journal_bytes (broker_journal (b)), "trouble", trouble, "paused",
        pause_json (b), "memory_kib", memory_kib (), "recovering",
        (int)broker_is_recovering (b));
    if (o)
        services_call (shows_status, b, http_request_uid (req), o);
    api_reply_json (req, 200, o);
}

/* A job that has ended does not go on, even while its nodes are cleaned up. */
static size_t count_going_on (const struct broker *b)
{
    const struct entry *e;
    size_t n = 0;

    entries_each (ENTRIES_ACTIVE, b, e)
        n += entry_job (e)->state == JOB_RUN && !entry_job (e)->array
             && !entry_job (e)->finished;
    return n;
}

static void api_shutdown (struct broker *b, struct http_request *req,
                          const struct api_path *path)
{
    (void)path;
    log_info ("uid %u requests a shutdown", (unsigned)http_request_uid (req));
    api_reply_json (req, 200,
                    json_pack ("{s:I}", "running", (json_int_t)count_going_on (b)));
    broker_stop (b);
}

static void api_reload (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    struct error err = { 0 };
    json_t *applied = json_array ();

    (void)path;
    if (broker_reload (b, applied, &err) < 0) {
        json_decref (applied);
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    api_reply_json (req, 200, json_pack ("{s:o}", "applied", applied));
}

static const struct api_route routes[] = {
    { "GET", "/v1/status", api_status, ROLE_USER, NULL },
    { "POST", "/v1/shutdown", api_shutdown, ROLE_ADMINISTRATOR, "shutdown" },
    { "POST", "/v1/reload", api_reload, ROLE_ADMINISTRATOR, "reload" },
    { 0 },
};

const struct broker_service service_admin = {
    .name = "admin",
    .routes = routes,
};

/* queues.c - GET /v1/queues, and the start and stop of a queue by an operator
 */
#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/array.h"
#include "broker/services/reserve/reserve.h"

struct queue_count {
    int pending, running;
    int64_t nodes;
};

/* null: whether an absent list is null instead of []. */
static json_t *names_json (char *const *list, bool null)
{
    if (!list && null)
        return json_null ();
    json_t *o = json_array ();
    for (; list && *list; list++)
        json_array_append_new (o, json_string (*list));
    return o;
}

static void api_queues (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    struct entry *e;
    autofree struct queue_count *counts =
        calloc (broker_config (b)->nqueues, sizeof (*counts));
    json_t *list = json_array ();

    (void)path;
    entries_each (ENTRIES_ALL, b, e) {
        if (!counts || entry_job (e)->state == JOB_INACTIVE)
            continue;
        struct queue_count *c = &counts[entry_queue (e)];
        if (array_is_whole (e))
            continue; /* its tasks are counted */
        bool waits = job_phase_group (job_phase (entry_job (e))) == JOB_GROUP_PENDING;
        c->pending += waits;
        c->running += !waits;
        c->nodes += entry_job (e)->state >= JOB_RUN ? entry_job (e)->nnodes : 0;
    }
    for (size_t i = 0; counts && i < broker_config (b)->nqueues; i++) {
        const struct config_queue *q = &broker_config (b)->queues[i];
        json_array_append_new (
            list,
            json_pack ("{s:s s:o s:o s:b s:b s:f s:f s:I s:i s:i s:i s:I}", "name",
                       q->name, "users", names_json (q->users, !q->groups), "groups",
                       names_json (q->groups, !q->users), "default", (int)q->is_default,
                       "started", (int)q->started, "default_time", q->default_time,
                       "max_time", q->max_time, "max_nodes", (json_int_t)q->max_nodes,
                       "priority", q->priority, "pending", counts[i].pending, "running",
                       counts[i].running, "nodes_used", (json_int_t)counts[i].nodes));
    }
    api_reply_json (req, 200, json_pack ("{s:o}", "queues", list));
}

static void api_queue_set (struct broker *b, struct http_request *req,
                           const struct api_path *path)
{
    static const char *const keys[] = { "action", NULL };
    int i = config_queue_index (broker_config (b), path->arg);
    const char *action;
    char name[300];

    if (i < 0) {
        http_reply_problem (req, 404, "unknown-queue", "no queue is named %s", path->arg);
        return;
    }
    if (!api_may_queue (b, req, path->route->roles, (unsigned)i)) {
        http_reply_problem (req, 403, "not-operator",
                            "only operators of queue %s may do this (operators: of the "
                            "queue in fluxq.yaml)",
                            path->arg);
        return;
    }
    autojson json_t *body = api_body (req, keys);
    if (!body || !(action = api_action (req, body, "start", "stop")))
        return;
    bool start = !strcmp (action, "start");
    struct journal_txn *t = journal_txn_create ();
    if (!t) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    broker_config (b)->queues[i].started = start;
    broker_config (b)->queues[i].operated = true;
    reserve_queue_set (b, (unsigned)i, start);
    broker_plan_due (b);
    snprintf (name, sizeof (name), "queue/%s", path->arg);
    journal_txn_setting (t, name, start ? "started" : "stopped");
    api_commit_setting (b, req, t);
}

static const struct api_route routes[] = {
    { "GET", "/v1/queues", api_queues, ROLE_USER, NULL },
    { "POST", "/v1/queues/{}", api_queue_set, ROLE_OPERATOR, "queue" },
    { 0 },
};

const struct broker_service service_queues = {
    .name = "queues",
    .routes = routes,
};

/* resize.c - resizing of running malleable jobs
 *
 *   POST /v1/jobs/ID/resize --more--> nodes that are free, booked --> event resize {R}
 *                           --less--> event resize
 *        commit --> exec resize --> host resized --> event resized; when shrunk with R,
 *                                                    and the nodes are free
 *                                   not done: event resize back to the old size
 *
 * After a restart the events tell what a job holds and its new size, and the executor is
 * told again. The allocation of a job is one booking, which is renewed when it changes.
 */
#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/no_memory.h"
#include "broker/core/recover.h"
#include "broker/core/service.h"
#include "broker/core/sizes.h"
#include "broker/core/turn.h"
#include "broker/services/nodes/queuenodes.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/resize/resize.h"
#include "broker/services/stream/watch.h"
#include "common/clock.h"

#define RETIRED_STEP 8
/* The executor reports a change once; the next broker asks it again. */
#define REPORT "the new size of a job"

struct slot {
    struct rset **retired; /* earlier allocations, before resizes */
    size_t n;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    double grace; /* seconds from the notice until tasks on lost nodes end */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "resize-grace", value_duration, AT (grace), 0, 0, NULL },
    { 0 },
};

static const struct settings defaults = { .grace = 30 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_SLOT_OF (struct slot)

/* -- resources that a job holds -- */

/* The executor may use the old allocation as long as the job lives. */
static int retire (struct entry *e, struct rset *r)
{
    struct slot *slot = slot_of (e);

    if (slot->n % RETIRED_STEP == 0) {
        struct rset **list =
            realloc (slot->retired, (slot->n + RETIRED_STEP) * sizeof (struct rset *));
        if (!list)
            return -ENOMEM;
        slot->retired = list;
    }
    slot->retired[slot->n++] = r;
    return 0;
}

static void drop (struct entry *e)
{
    struct slot *slot = slot_of (e);

    for (size_t i = 0; i < slot->n; i++)
        rset_destroy (slot->retired[i]);
    free (slot->retired);
    *slot = (struct slot){ 0 };
}

static int book (struct broker *b, struct entry *e)
{
    return reserve_has_realm (e) ? match_update (reserve_matcher_of (b, e), entry_id (e),
                                                 entry_alloc (e), NULL)
                                 : broker_book (b, e);
}

/* Replaces the job's allocation by r, which is taken over; on error nothing changes. */
static int hold (struct broker *b, struct entry *e, struct rset *r)
{
    struct rset *before = entry_alloc (e);

    if (!r || retire (e, before) < 0) {
        rset_destroy (r);
        return -ENOMEM;
    }
    match_cancel (reserve_matcher_of (b, e), entry_id (e));
    if (r->nranks < before->nranks)
        reserve_freed (b, e);
    entry_set_alloc (e, r);
    int rc = book (b, e);
    if (rc < 0) {
        entry_set_alloc (e, before);
        slot_of (e)->n--;
        rset_destroy (r);
        book (b, e);
    }
    return rc;
}

static int add_held (json_t *context, const struct entry *e)
{
    autofree char *nodelist = rset_nodelist (entry_alloc (e));
    const struct sched_size fixed = { .code = SCHED_SIZE_FIXED };

    if (!nodelist
        || json_object_set_new (context, "R", rset_to_json (entry_alloc (e))) < 0
        || json_object_set_new (context, "nodelist", json_string (nodelist)) < 0)
        return -ENOMEM;
    return sizes_to_alloc (context, e, &fixed) < 0 ? -ENOMEM : 0;
}

/* -- nodes for it -- */

/* A request for n more nodes that the job does not have yet. */
static struct match_request *request_more (struct broker *b, const struct entry *e,
                                           int64_t n, struct error *err)
{
    struct jobspec_resource nodes = *jobspec_malleable (entry_jobspec (e));
    struct jobspec asked = *entry_jobspec (e);
    autofree char *own = rset_nodelist (entry_alloc (e));
    autojson json_t *others =
        own ? json_pack ("{s:[{s:[s]}]}", "not", "hostlist", own) : NULL;

    if (!others) {
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    nodes.count = (struct jobspec_count){ n, n, '+', 1 };
    nodes.sizes = NULL;
    asked.resources = &nodes;
    return queuenodes_request (b, &asked, entry_job (e)->queue, others, err);
}

/* The allocation with n more nodes, not booked. 0; -EBUSY: not now. */
static int find_more (struct broker *b, struct entry *e, int64_t n, struct rset **ret,
                      struct error *err)
{
    double now = clock_wall (), end = entry_alloc (e)->expiration;
    struct match_request *req = request_more (b, e, n, err);
    struct rset *more = NULL;

    if (!req)
        return -EINVAL;
    int rc = end > 0 && end <= now
                 ? error_set (err, EBUSY, "its time is over")
                 : match_without_allocating (reserve_matcher_of (b, e), req, now,
                                             end > 0 ? end - now : 0, &more, err);
    match_request_destroy (req);
    if (rc < 0)
        return rc;
    *ret = rset_join (entry_alloc (e), more);
    rset_destroy (more);
    return *ret ? 0 : error_set (err, ENOMEM, "out of memory");
}

/* -- the events -- */

/* The context of the event; NULL: no memory. */
static json_t *change_context (const struct entry *e, int64_t nnodes, int64_t from,
                               const char *reason, enum resize_by by, uint32_t userid)
{
    static const char *const words[] = { [RESIZE_BY_BROKER] = "broker",
                                         [RESIZE_BY_USER] = "user",
                                         [RESIZE_BY_SCHEDULER] = "scheduler" };

    return json_pack ("{s:I s:I s:I s:o s:s s:I}", "generation",
                      (json_int_t)entry_job (e)->resize.generation + 1, "nnodes",
                      (json_int_t)nnodes, "from", (json_int_t)from, "reason",
                      broker_text (reason), "by", words[by], "userid",
                      (json_int_t)userid);
}

static int grow (struct broker *b, struct entry *e, int64_t nnodes, const char *reason,
                 enum resize_by by, uint32_t userid, struct error *err)
{
    int64_t from = (int64_t)entry_alloc (e)->nranks;
    struct rset *r = NULL;
    int rc = find_more (b, e, nnodes - from, &r, err);

    if (rc < 0)
        return rc;
    json_t *context = change_context (e, nnodes, from, reason, by, userid);
    if (!context) {
        rset_destroy (r);
        return error_set (err, ENOMEM, "out of memory");
    }
    if (hold (b, e, r) < 0) {
        json_decref (context);
        return error_set (err, ENOMEM, "out of memory");
    }
    rc = add_held (context, e);
    if (rc < 0)
        json_decref (context);
    else
        rc = broker_emit (b, e, "resize", context);
    if (rc < 0) { /* undo */
        hold (b, e, rset_first (entry_alloc (e), (size_t)from));
        return error_set (err, -rc, "it cannot be recorded now");
    }
    broker_plan_due (b);
    return 0;
}

static int shrink (struct broker *b, struct entry *e, int64_t nnodes, const char *reason,
                   enum resize_by by, uint32_t userid, struct error *err)
{
    json_t *context =
        change_context (e, nnodes, (int64_t)entry_alloc (e)->nranks, reason, by, userid);
    int rc = context ? broker_emit (b, e, "resize", context) : -ENOMEM;

    return rc < 0 ? error_set (err, -rc, "it cannot be recorded now") : 0;
}

int resize_job (struct broker *b, struct entry *e, int64_t nnodes, const char *reason,
                enum resize_by by, uint32_t userid, struct error *err)
{
    return nnodes > (int64_t)entry_alloc (e)->nranks
               ? grow (b, e, nnodes, reason, by, userid, err)
               : shrink (b, e, nnodes, reason, by, userid, err);
}

static void tell_executor (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    const struct job_resize *to = &job->resize;

    if (!to->active || !entry_exec_job (e) || job->state != JOB_RUN
        || !broker_ops (b)->resize)
        return;
    entry_exec_job (e)->r = entry_alloc (e);
    entry_exec_job (e)->resize = (struct exec_resize){ .active = true,
                                                       .generation = to->generation,
                                                       .nodes = (uint32_t)to->nnodes,
                                                       .from = (uint32_t)to->from,
                                                       .grace = settings_of (b)->grace };
    broker_ops (b)->resize (broker_exec (b), entry_exec_job (e));
}

/* -- reports of the executor -- */

/* The job has given its nodes back, and they are free. */
static int give_back (struct broker *b, struct entry *e, json_t *context)
{
    struct rset *r = rset_first (entry_alloc (e), (size_t)entry_job (e)->resize.nnodes);
    int rc = hold (b, e, r);

    if (rc == 0)
        rc = add_held (context, e);
    broker_plan_due (b);
    return rc;
}

static void did_not_come (struct broker *b, struct entry *e, const char *text)
{
    struct error err = { 0 };
    const struct job_resize was = entry_job (e)->resize;

    log_warning ("job %ju: its size stays at %jd node%s: %s", (uintmax_t)entry_id (e),
                 (intmax_t)was.from, was.from == 1 ? "" : "s", text);
    entry_set_note (e, text);
    int rc = shrink (b, e, was.from, text, RESIZE_BY_BROKER, broker_uid (b), &err);
    if (rc == -ENOMEM)
        broker_no_memory (REPORT);
    if (rc < 0)
        log_error ("job %ju: %s", (uintmax_t)entry_id (e), err.text);
}

static void host_resized (void *arg, uint64_t id, uint32_t generation, bool done,
                          const char *text)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);
    const struct job_resize *to = e ? &entry_job (e)->resize : NULL;

    if (!e || entry_job (e)->state != JOB_RUN || !to->active
        || to->generation != generation)
        return;
    if (!done && to->nnodes > to->from) {
        did_not_come (b, e, text);
        return;
    }
    json_t *context = json_pack ("{s:I}", "generation", (json_int_t)generation);
    int rc = context ? 0 : -ENOMEM;
    if (rc == 0 && to->nnodes < to->from)
        rc = give_back (b, e, context);
    if (rc == 0)
        rc = broker_emit (b, e, "resized", context);
    else
        json_decref (context);
    if (rc == -ENOMEM)
        broker_no_memory (REPORT);
    if (rc < 0)
        log_error ("job %ju: its size cannot be recorded: %s", (uintmax_t)id,
                   strerror (-rc));
    if (entry_exec_job (e)) {
        entry_exec_job (e)->r = entry_alloc (e);
        entry_exec_job (e)->resize.active = entry_job (e)->resize.active;
    }
}

static void host_init (struct broker *b, struct exec_host *host)
{
    (void)b;
    host->resized = host_resized;
}

int resize_check (const struct broker *b, const struct jobspec *js, struct error *err)
{
    if (!js->malleable || broker_ops (b)->resize)
        return 0;
    return error_set (err, EINVAL,
                      "--malleable: the executor %s of this broker cannot change running "
                      "jobs; leave the option out",
                      broker_ops (b)->name);
}

/* -- POST /v1/jobs/ID/resize -- */

static const char *unfit (const struct entry *e)
{
    const struct job *job = entry_job (e);

    if (job->array)
        return "is an array, whose tasks are not malleable";
    if (job->state < JOB_RUN)
        return "does not run yet";
    if (job->state > JOB_RUN || job->finished)
        return "has ended, or ends";
    if (!job->started || !entry_jobspec (e) || !entry_alloc (e) || !entry_exec_job (e))
        return "is being started";
    if (!entry_jobspec (e)->malleable)
        return "is not malleable: it was submitted without --malleable";
    if (job->resize.active)
        return "is changing its size now";
    return NULL;
}

static int check_size (const struct broker *b, const struct entry *e, int64_t nnodes,
                       struct error *err)
{
    int64_t most = broker_config (b)->queues[entry_queue (e)].max_nodes;

    if (most > 0 && nnodes > most)
        return error_set (err, EINVAL, "jobs of queue %s have at most %jd nodes",
                          broker_config (b)->queues[entry_queue (e)].name,
                          (intmax_t)most);
    return jobspec_malleable_size (jobspec_malleable (entry_jobspec (e)), nnodes, err);
}

static json_t *answer (const struct entry *e, int64_t from)
{
    const struct job *job = entry_job (e);

    return json_pack ("{s:I s:I s:I}", "nodes", (json_int_t)job->resize.nnodes, "from",
                      (json_int_t)from, "generation", (json_int_t)job->resize.generation);
}

static void api_job_resize (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    static const char *const members[] = { "nodes", NULL };
    struct error err = { 0 };
    struct entry *e = api_entry (b, req, path, NULL);
    int64_t nnodes = 0;

    if (!e || !api_require (b, req, path, e))
        return;
    autojson json_t *body = api_body (req, members);
    if (!body)
        return;
    const char *why = unfit (e);
    int64_t from = entry_alloc (e) ? (int64_t)entry_alloc (e)->nranks : 0;
    if (json_get_int (body, "nodes", 1, INT32_MAX, &nnodes, JSON_REQUIRED, "request",
                      &err)
        < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
    } else if (why) {
        http_reply_problem (req, 409, "wrong-state", "job %ju %s",
                            (uintmax_t)entry_id (e), why);
    } else if (check_size (b, e, nnodes, &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "job %ju: %s",
                            (uintmax_t)entry_id (e), err.text);
    } else if (nnodes == from) {
        http_reply_problem (req, 409, "wrong-state", "job %ju has %jd nodes already",
                            (uintmax_t)entry_id (e), (intmax_t)nnodes);
    } else if (broker_is_recovering (b)) {
        http_reply_header (req, "Retry-After", "1");
        http_reply_problem (req, 503, "busy", "nodes are being counted; try again");
    } else if (resize_job (b, e, nnodes, "asked for", RESIZE_BY_USER,
                           http_request_uid (req), &err)
               < 0) {
        http_reply_problem (req, 409, "wrong-state", "job %ju keeps its %jd nodes: %s",
                            (uintmax_t)entry_id (e), (intmax_t)from, err.text);
    } else {
        watch_reply_after_commit (b, req, answer (e, from));
    }
}

static void attempt_over (struct broker *b, struct entry *e)
{
    (void)b;
    drop (e);
}

static const struct service_act acts[] = { { JOB_ACT_RESIZE, tell_executor },
                                           { 0, NULL } };

static const struct api_route routes[] = {
    { "POST", "/v1/jobs/{}/resize", api_job_resize, ROLE_OWNER | ROLE_OPERATOR,
      "resize" },
    { 0 },
};

const struct broker_service service_resize = {
    .name = "resize",
    .place = &place,
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .host = host_init,
    .acts = acts,
    .attempt_over = attempt_over,
    .picked_up = tell_executor,
    .drop = drop,
    .routes = routes,
};

/* job.c - requests about one job: its description, events, jobspec, output, end
 *
 * The records of jobs that are not in memory any more are read from the journal and
 * replayed, so the same code shows them.
 */
#include <errno.h>
#include <string.h>

#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/sizes.h"
#include "broker/services/depend/array.h"
#include "broker/services/depend/depend.h"
#include "broker/services/jobuse.h"
#include "broker/services/nodes/nodegroups.h"
#include "broker/services/placing.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/stream/follow.h"
#include "broker/services/stream/watch.h"
#include "common/clock.h"
#include "jobspec/options/attributes.h"

#define BODY_MAX (16 << 20)
#define BLOCKERS_MAX 100

/* A look-up of a job in the journal, for a request. */
struct look {
    struct broker *b;
    struct http_request *req;
    uint64_t id;
    uint32_t task; /* of array `id`, whose record is read first; IDSET_END: none */
    bool gone;
    void (*answer) (struct look *l, const struct journal_record *rec);
};

static void client_left (void *aux)
{
    ((struct look *)aux)->gone = true;
}

static void record_read (int rc, const struct journal_record *rec, void *arg);

/* Continues with the job of the array's task, or with the array if the task has not
 * become a job. -ENOENT: no such task; -EAGAIN, -ENOMEM. */
static int go_on_with_task (struct look *l, const struct journal_record *rec)
{
    struct entry *e = entry_replay (rec);
    if (!e)
        return -ENOMEM;
    const struct job_array *a = entry_job (e)->array;
    bool known = a && idset_has (a->spec.tasks, l->task);

    if (known && !idset_has (a->waiting, l->task) && !idset_has (a->cancelled, l->task))
        l->id = job_array_task_id (a, l->id, l->task);
    entry_destroy (e);
    l->task = IDSET_END;
    int rc = known ? journal_read (broker_journal (l->b), l->id,
                                   JOURNAL_JOBSPEC | JOURNAL_EVENTS, record_read, l)
                   : -ENOENT;
    if (rc == 0)
        broker_work_begins (l->b);
    return rc;
}

/* Whether the client may see the job, in memory or replayed: 0, -ENOENT or -ENOMEM. */
static int check_seen (struct look *l, const struct journal_record *rec)
{
    struct entry *e = entry_find (l->b, rec->id), *old = NULL;

    if (!rec->jobspec)
        return -ENOENT;
    if (!e && !(e = old = entry_replay (rec)))
        return -ENOMEM;
    if (old)
        entry_find_queue (l->b, e);
    bool seen = privacy_sees (l->b, http_request_uid (l->req), e, PRIVATE_JOBS);
    entry_destroy (old);
    return seen ? 0 : -ENOENT;
}

static void record_read (int rc, const struct journal_record *rec, void *arg)
{
    struct look *l = arg;

    broker_work_ends (l->b);
    if (rc == 0 && !l->gone)
        rc = check_seen (l, rec);
    if (rc == 0 && l->task != IDSET_END && !l->gone && !broker_is_dead (l->b)) {
        if ((rc = go_on_with_task (l, rec)) == 0)
            return;
    }
    if (!l->gone) {
        http_request_set_aux (l->req, NULL, NULL);
        if (rc == -ENOENT)
            http_reply_problem (l->req, 404, "unknown-job", "there is no job %ju",
                                (uintmax_t)l->id);
        else if (rc < 0)
            http_reply_problem (l->req, 503, "journal", "job %ju cannot be read: %s",
                                (uintmax_t)l->id, strerror (-rc));
        else
            l->answer (l, rec);
    }
    free (l);
}

static void look_up (struct broker *b, struct http_request *req,
                     const struct api_path *path,
                     void (*answer) (struct look *l, const struct journal_record *rec))
{
    uint64_t id = 0;
    uint32_t task = IDSET_END;
    if (!api_old_task (b, req, path, &id, &task)) {
        id = 0;
        task = IDSET_END;
        api_entry (b, req, path, &id);
    }
    if (!id)
        return;
    struct look *l = calloc (1, sizeof (*l));
    if (!l
        || journal_read (broker_journal (b), id, JOURNAL_JOBSPEC | JOURNAL_EVENTS,
                         record_read, l)
               < 0) {
        free (l);
        http_reply_header (req, "Retry-After", "1");
        http_reply_problem (req, 503, "busy", "too many look-ups wait for the journal");
        return;
    }
    broker_work_begins (b);
    *l = (struct look){ .b = b, .req = req, .id = id, .task = task, .answer = answer };
    http_request_set_aux (req, l, client_left);
}

/* -- GET /v1/jobs/ID -- */

static json_t *describe_rset (const struct job *job)
{
    struct rset *r = job->r ? rset_decode (job->r, strlen (job->r), NULL) : NULL;
    json_t *list = json_array ();

    for (size_t i = 0; r && i < r->nranks; i++) {
        autofree char *cores = idset_encode (r->ranks[i].cores);
        autofree char *gpus = idset_encode (r->ranks[i].gpus);
        json_array_append_new (
            list,
            json_pack ("{s:i s:s s:s* s:s* s:I s:o s:i s:b}", "rank", (int)i, "node",
                       r->ranks[i].node, "cores", cores, "gpus", gpus, "memory_mib",
                       (json_int_t)r->ranks[i].memory_mib, "gres",
                       gres_to_json (&r->ranks[i].gres), "slots", (int)r->ranks[i].slots,
                       "exclusive", (int)r->ranks[i].exclusive));
    }
    rset_destroy (r);
    return list;
}

static json_t *describe_jobspec (const struct jobspec *js)
{
    struct jobspec_sizes s;
    json_t *command = json_array ();

    jobspec_get_sizes (js, &s);
    for (size_t i = 0; i < js->ncommand; i++)
        json_array_append_new (command, json_string (js->command[i]));
    json_t *o = json_pack (
        "{s:o s:b s:s? s:s? s:s? s:s? s:o s:o s:s s:s s:{s:I s:I s:I s:I s:I s:I "
        "s:I}}",
        "command", command, "batch", (int)jobspec_is_batch (js), "cwd", js->cwd, "output",
        js->output, "error", js->error, "input", js->input, "stage_in",
        stage_list_to_json (&js->stage_in), "stage_out",
        stage_list_to_json (&js->stage_out), "open_mode",
        js->append ? "append" : "truncate", "output_on_full",
        jobspec_on_full_word (js->on_full), "request", "nodes_min",
        (json_int_t)s.min_nodes, "nodes_max", (json_int_t)s.max_nodes, "slots_min",
        (json_int_t)s.min_slots, "slots_max", (json_int_t)s.max_slots, "cores",
        (json_int_t)s.min_cores, "gpus", (json_int_t)s.min_gpus, "memory_per_node_mib",
        (json_int_t)js->memory_per_node);
    attributes_show (o, js);
    return o;
}

static json_t *text_or_null (const struct strbuf *sb)
{
    return sb->len && !sb->err ? json_string (sb->buf) : json_null ();
}

/* Adds the job's size: requested, granted, and why. */
static void add_sizes (json_t *o, const struct jobspec *js, const struct job *job)
{
    autostrbuf struct strbuf asked, granted;

    strbuf_init (&asked, 64 * 1024);
    strbuf_init (&granted, 1024);
    if (js)
        sizes_add_asked (&asked, js);
    if (job->r)
        sizes_add_granted (&granted, job);
    json_object_set_new (o, "asked", text_or_null (&asked));
    json_object_set_new (o, "granted", text_or_null (&granted));
    json_object_update_new (o, json_pack ("{s:s? s:s?}", "size_reason", job->size_reason,
                                          "size_text", job->size_text));
}

/* Adds the placement asked for, and the places of the allocation. */
static void add_placement (json_t *o, struct broker *b, const struct entry *e)
{
    const struct job *job = entry_job (e);
    autostrbuf struct strbuf asked;

    strbuf_init (&asked, 1024);
    placing_add_asked (&asked, b, e);
    json_object_set_new (o, "placement", text_or_null (&asked));
    json_object_set_new (o, "places",
                         job->places ? json_string (job->places) : json_null ());
}

/* Adds the size that a malleable job is changing to, or its possible sizes. */
static void add_resize (json_t *o, const struct jobspec *js, const struct job *job)
{
    json_t *change = job->resize.active
                         ? json_pack ("{s:I s:I s:I}", "generation",
                                      (json_int_t)job->resize.generation, "nodes",
                                      (json_int_t)job->resize.nnodes, "from",
                                      (json_int_t)job->resize.from)
                         : json_null ();

    json_object_set_new (o, "malleable", json_boolean (js && js->malleable));
    json_object_set_new (o, "resizes", json_integer ((json_int_t)job->resize.generation));
    json_object_set_new (o, "resize", change);
}

/* Adds the dependencies as submitted, and the jobs that still block this one. */
static void add_waiting (json_t *o, struct broker *b, const struct jobspec *js,
                         const struct job *job)
{
    uint64_t ids[BLOCKERS_MAX];
    size_t n = depend_blockers (b, job->id, ids, ARRAY_SIZE (ids));
    json_t *list = json_array ();
    autostrbuf struct strbuf text;

    strbuf_init (&text, 64 * 1024);
    if (js)
        dependencies_add_text (&text, &js->depend);
    for (size_t i = 0; i < n; i++)
        json_array_append_new (list, json_integer ((json_int_t)ids[i]));
    json_object_set_new (o, "dependency",
                         text.len && !text.err ? json_string (text.buf) : json_null ());
    json_object_set_new (o, "waits_for", list);
    json_object_set_new (o, "avoids",
                         job->avoid ? json_string (job->avoid) : json_null ());
    json_object_set_new (
        o, "deadline", job->t_deadline > 0 ? json_real (job->t_deadline) : json_null ());
}

static void add_exception (json_t *o, const struct job *job)
{
    if (job->has_exception)
        json_object_set_new (o, "exception",
                             json_pack ("{s:s? s:i s:s?}", "type", job->exception_type,
                                        "severity", job->exception_severity, "note",
                                        job->exception_note));
}

/* For a job without a planned start: the earliest time at which it could fit. */
static void add_plan (json_t *o, struct broker *b, const struct entry *e)
{
    double start = 0;
    bool planned = false;
    struct sched *s = reserve_sched_of (b, e);

    if (!broker_is_recovering (b) && s && sched_reason_name (s, array_queued_id (e))) {
        /* Nodes have changed: an estimate would take too long now. */
        if (!reserve_is_prepared (b)
            || sched_estimate (s, array_queued_id (e), clock_wall (), &start, &planned)
                   < 0
            || planned)
            start = 0;
        if (!planned)
            start = MAX (start, nodegroups_not_before (b, e));
    }
    json_object_set_new (o, "not_before", start > 0 ? json_real (start) : json_null ());
}

/* Adds the usage of the ended steps: of this attempt, else of the last one that
 * reported. */
static void add_steps (json_t *o, const struct entry *e, const struct journal_record *rec)
{
    json_t *use = jobuse_json (e);

    for (size_t i = rec->nevents; !use && i-- > 0;)
        if (!strcmp (rec->events[i].name, "usage") && rec->events[i].context)
            use = json_loads (rec->events[i].context, 0, NULL);
    json_t *steps = json_object_get (use, "steps"),
           *more = json_object_get (use, "steps_not_kept");
    json_object_set_new (o, "steps",
                         json_is_array (steps) ? json_incref (steps) : json_array ());
    json_object_set_new (o, "steps_not_kept",
                         json_is_integer (more) ? json_incref (more) : json_integer (0));
    json_decref (use);
}

/* Adds the array's own state: its tasks have rows of their own in listings. */
static void add_array (json_t *root, const struct job *job)
{
    const struct job_array *a = job->array;
    const struct {
        const char *name;
        const struct idset *tasks;
    } sets[] = { { "waiting", a->waiting },
                 { "running", a->running },
                 { "completed", a->ok },
                 { "failed", a->failed },
                 { "cancelled", a->cancelled } };
    json_t *o = json_pack ("{s:s s:I s:I}", "tasks", a->spec.text, "count",
                           (json_int_t)idset_count (a->spec.tasks), "limit",
                           (json_int_t)a->spec.limit);

    for (size_t i = 0; i < ARRAY_SIZE (sets); i++) {
        autostrbuf struct strbuf text;
        strbuf_init (&text, BODY_MAX);
        array_add_tasks (&text, sets[i].tasks, 0);
        json_object_set_new (o, sets[i].name,
                             json_pack ("{s:I s:s}", "count",
                                        (json_int_t)idset_count (sets[i].tasks), "tasks",
                                        text.buf));
    }
    json_object_set_new (root, "array", o);
    json_object_set_new (root, "state", json_string (job_phase_name (job_phase (job))));
    json_object_set_new (root, "st", json_string (job_phase_letter (job_phase (job))));
}

/* For a running job with a limit: seconds, 0 past the limit. */
static json_t *time_left (const struct job *job)
{
    if (job->state != JOB_RUN || !job->started || job->duration <= 0)
        return json_null ();
    return json_real (MAX (job->t_start + job->duration - clock_wall (), 0.0));
}

static void answer_job (struct look *l, const struct journal_record *rec)
{
    struct error err = { 0 };
    struct entry *e = entry_find (l->b, l->id), *old = NULL;
    const struct column *list[FIELDS_MAX], *all;
    size_t n;
    autostrbuf struct strbuf sb;

    if (!e && (e = old = entry_replay (rec)))
        entry_find_queue (l->b, e);
    strbuf_init (&sb, BODY_MAX);
    all = columns_all (&n);
    for (size_t i = 0; i < n; i++)
        list[i] = &all[i];
    if (e)
        columns_add_json (l->b, http_request_uid (l->req), e, list, n, &sb);
    json_t *o = e ? json_loadb (sb.buf, sb.len, 0, NULL) : NULL;
    if (o) {
        struct jobspec *js = jobspec_parse (rec->jobspec, rec->jobspec_len, &err);
        if (js)
            json_object_update_new (o, describe_jobspec (js));
        add_waiting (o, l->b, js, entry_job (e));
        add_sizes (o, js, entry_job (e));
        add_resize (o, js, entry_job (e));
        add_placement (o, l->b, e);
        jobspec_destroy (js);
        json_object_set_new (o, "ranks", describe_rset (entry_job (e)));
        json_object_set_new (o, "alloc_time",
                             entry_job (e)->t_alloc > 0
                                 ? json_real (entry_job (e)->t_alloc)
                                 : json_null ());
        json_object_set_new (o, "begin_time",
                             entry_job (e)->t_begin > 0
                                 ? json_real (entry_job (e)->t_begin)
                                 : json_null ());
        json_object_set_new (o, "events", json_integer ((json_int_t)rec->nevents));
        json_object_set_new (o, "time_left", time_left (entry_job (e)));
        add_exception (o, entry_job (e));
        add_steps (o, e, rec);
        add_plan (o, l->b, e);
        if (entry_job (e)->array)
            add_array (o, entry_job (e));
        privacy_mask_job (l->b, http_request_uid (l->req), e, o);
    }
    entry_destroy (old);
    api_reply_json (l->req, 200, o);
}

static void api_job (struct broker *b, struct http_request *req,
                     const struct api_path *path)
{
    look_up (b, req, path, answer_job);
}

/* -- GET /v1/jobs/ID/events -- */

static void answer_events (struct look *l, const struct journal_record *rec)
{
    json_t *list = json_array ();
    struct entry *e = entry_find (l->b, l->id), *old = NULL;

    if (!e && (e = old = entry_replay (rec)))
        entry_find_queue (l->b, e);
    for (size_t i = 0; e && i < rec->nevents; i++) {
        json_t *ev = json_pack ("{s:f s:s}", "timestamp", rec->events[i].timestamp,
                                "name", rec->events[i].name);
        if (rec->events[i].context)
            json_object_set_new (ev, "context",
                                 json_loads (rec->events[i].context, 0, NULL));
        privacy_mask_event (l->b, http_request_uid (l->req), e,
                            json_object_get (ev, "context"));
        json_array_append_new (list, ev);
    }
    if (!e) {
        json_decref (list);
        list = NULL;
    }
    entry_destroy (old);
    api_reply_json (l->req, 200, list ? json_pack ("{s:o}", "events", list) : NULL);
}

static void api_job_events (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    look_up (b, req, path, answer_events);
}

/* -- GET /v1/jobs/ID/jobspec -- */

static void answer_jobspec (struct look *l, const struct journal_record *rec)
{
    if (http_request_uid (l->req) != rec->uid && !api_is_operator (l->b, l->req))
        http_reply_problem (l->req, 403, "not-owner", "job %ju is not yours",
                            (uintmax_t)l->id);
    else
        http_reply (l->req, 200, NULL, rec->jobspec, rec->jobspec_len);
}

static void api_job_jobspec (struct broker *b, struct http_request *req,
                             const struct api_path *path)
{
    look_up (b, req, path, answer_jobspec);
}

/* -- GET /v1/jobs/ID/wait -- */

static void answer_wait (struct look *l, const struct journal_record *rec)
{
    struct entry *e = entry_find (l->b, l->id);
    if (e) { /* the job entered the table after its record was on disk */
        watch_wait (l->b, e, l->req);
    } else if ((e = entry_replay (rec)) && entry_job (e)->state != JOB_INACTIVE) {
        entry_destroy (e);
        http_reply_header (l->req, "Retry-After", "1");
        http_reply_problem (l->req, 503, "busy", "job %ju is being accepted",
                            (uintmax_t)l->id);
    } else if (e) { /* the job ended long ago */
        entry_find_queue (l->b, e);
        api_reply_json (l->req, 200, watch_result_json (l->b, l->req, e));
        entry_destroy (e);
    } else {
        http_reply_problem (l->req, 503, "busy", "out of memory");
    }
}

static void api_job_wait (struct broker *b, struct http_request *req,
                          const struct api_path *path)
{
    uint64_t id = 0;
    uint32_t task;
    if (api_old_task (b, req, path, &id, &task)) {
        look_up (b, req, path, answer_wait);
        return;
    }
    struct entry *e = api_entry (b, req, path, &id);
    if (e)
        watch_wait (b, e, req);
    else if (id)
        look_up (b, req, path, answer_wait);
}

/* -- GET /v1/jobs/ID/output -- */

static void api_job_output (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    uint64_t id = 0;
    struct entry *e = api_entry (b, req, path, &id);

    if (e && entry_job (e)->array)
        http_reply_problem (
            req, 409, "wrong-state",
            strchr (path->arg, '_')
                ? "task %s has not started"
                : "job %s is an array: name one of its tasks, as in %s_%u",
            path->arg, path->arg, idset_first (entry_job (e)->array->spec.tasks));
    else if (e && entry_job (e)->adopted && api_require (b, req, e))
        http_reply_problem (req, 409, "wrong-state",
                            "job %ju is %s: its pods have no agent of fluxq; use kubectl "
                            "logs",
                            (uintmax_t)entry_id (e), entry_job (e)->adopted);
    else if (e && !entry_job (e)->adopted && api_require (b, req, e))
        follow_output (b, e, req);
    else if (!e && id)
        http_reply_problem (
            req, 404, "unknown-job",
            "job %ju is unknown, or ended so long ago that its output is no longer kept",
            (uintmax_t)id);
}

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}", api_job, false },
    { "GET", "/v1/jobs/{}/events", api_job_events, false },
    { "GET", "/v1/jobs/{}/jobspec", api_job_jobspec, false },
    { "GET", "/v1/jobs/{}/wait", api_job_wait, false },
    { "GET", "/v1/jobs/{}/output", api_job_output, false },
    { 0 },
};

const struct broker_service service_job = {
    .name = "job",
    .routes = routes,
};

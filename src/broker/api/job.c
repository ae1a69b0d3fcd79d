/* job.c - requests about one job: its description, events, jobspec
 *
 * The records of jobs that are not in memory any more are read from the journal and
 * replayed, so the same code shows them. A service may know jobs that the journal does not
 * have (the history).
 */
#include "broker/api/api.h"
#include "broker/api/job_json.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"

static void client_left (void *aux)
{
    ((struct api_look *)aux)->gone = true;
}

static void record_read (int rc, const struct journal_record *rec, void *arg);
static void answer_job (struct api_look *l, struct entry *e,
                        const struct journal_record *rec);

/* Continues with the job of the array's task, or with the array if the task has not
 * become a job. -ENOENT: no such task; -EAGAIN, -ENOMEM. */
static int go_on_with_task (struct api_look *l, const struct entry *e)
{
    const struct job_array *a = entry_job (e)->array;
    bool known = a && idset_has (a->spec.tasks, l->task);

    if (known && !idset_has (a->waiting, l->task) && !idset_has (a->cancelled, l->task))
        l->id = job_array_task_id (a, l->id, l->task);
    l->task = IDSET_END;
    int rc = known ? journal_read (broker_journal (l->b), l->id,
                                   JOURNAL_JOBSPEC | JOURNAL_EVENTS, record_read, l)
                   : -ENOENT;
    if (rc == 0)
        broker_work_begins (l->b);
    return rc;
}

/* Answers, if the client may see the job; 1: the job of a task is read first. */
static int answer_record (struct api_look *l, const struct journal_record *rec)
{
    struct entry *e = entry_find (l->b, rec->id), *old = NULL;
    int rc = 0;

    if (!rec->jobspec)
        return -ENOENT;
    if (!e && !(e = old = entry_replay (rec)))
        return -ENOMEM;
    if (old)
        entry_find_queue (l->b, e);
    if (!privacy_sees (l->b, http_request_uid (l->req), e, PRIVATE_JOBS)) {
        rc = -ENOENT;
    } else if (l->task != IDSET_END && !broker_is_dead (l->b)) {
        rc = go_on_with_task (l, e);
        rc = rc == 0 ? 1 : rc;
    } else {
        http_request_set_aux (l->req, NULL, NULL);
        l->answer (l, e, rec);
    }
    entry_destroy (old);
    return rc;
}

static void record_read (int rc, const struct journal_record *rec, void *arg)
{
    struct api_look *l = arg;

    broker_work_ends (l->b);
    if (rc == 0 && !l->gone)
        rc = answer_record (l, rec);
    if (rc == 1)
        return;
    if (rc < 0 && !l->gone) {
        http_request_set_aux (l->req, NULL, NULL);
        if (rc == -ENOENT && !rec && l->answer == answer_job
            && services_any (shows_gone, l->b, l->req, l->id, l->task))
            ;
        else if (rc == -ENOENT)
            http_reply_problem (l->req, 404, "unknown-job", "there is no job %ju",
                                (uintmax_t)l->id);
        else
            http_reply_problem (l->req, 503, "journal", "job %ju cannot be read: %s",
                                (uintmax_t)l->id, strerror (-rc));
    }
    free (l);
}

void api_look_up (struct broker *b, struct http_request *req, const struct api_path *path,
                  api_answer_f answer)
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
    struct api_look *l = calloc (1, sizeof (*l));
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
    *l = (struct api_look){
        .b = b, .req = req, .route = path->route, .id = id, .task = task, .answer = answer
    };
    http_request_set_aux (req, l, client_left);
}

/* -- GET /v1/jobs/ID -- */

static void answer_job (struct api_look *l, struct entry *e,
                        const struct journal_record *rec)
{
    api_reply_json (l->req, 200, job_json (l->b, http_request_uid (l->req), e, rec));
}

static void api_job (struct broker *b, struct http_request *req,
                     const struct api_path *path)
{
    api_look_up (b, req, path, answer_job);
}

/* -- GET /v1/jobs/ID/events -- */

static void answer_events (struct api_look *l, struct entry *e,
                           const struct journal_record *rec)
{
    json_t *list = json_array ();

    for (size_t i = 0; i < rec->nevents; i++) {
        json_t *ev = json_pack ("{s:f s:s}", "timestamp", rec->events[i].timestamp,
                                "name", rec->events[i].name);
        if (rec->events[i].context)
            json_object_set_new (ev, "context",
                                 json_loads (rec->events[i].context, 0, NULL));
        privacy_mask_event (l->b, http_request_uid (l->req), e,
                            json_object_get (ev, "context"));
        json_array_append_new (list, ev);
    }
    api_reply_json (l->req, 200, json_pack ("{s:o}", "events", list));
}

static void api_job_events (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    api_look_up (b, req, path, answer_events);
}

/* -- GET /v1/jobs/ID/jobspec -- */

static void answer_jobspec (struct api_look *l, struct entry *e,
                            const struct journal_record *rec)
{
    if (!api_may (l->b, l->req, l->route->roles, e))
        http_reply_problem (l->req, 403, "not-owner", "job %ju is not yours",
                            (uintmax_t)l->id);
    else
        http_reply (l->req, 200, NULL, rec->jobspec, rec->jobspec_len);
}

static void api_job_jobspec (struct broker *b, struct http_request *req,
                             const struct api_path *path)
{
    api_look_up (b, req, path, answer_jobspec);
}

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}", api_job, ROLE_USER, NULL },
    { "GET", "/v1/jobs/{}/events", api_job_events, ROLE_USER, NULL },
    { "GET", "/v1/jobs/{}/jobspec", api_job_jobspec, ROLE_OWNER, NULL },
    { 0 },
};

const struct broker_service service_job = {
    .name = "job",
    .routes = routes,
};

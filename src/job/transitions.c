/* transitions.c - the table of events and their effects on a job */
#include <math.h>

#include "job/details.h"
#include "job/transitions.h"
#include "jobspec/options/attributes.h"

#define SECONDS_MAX 1e12

/* -- reading contexts; nothing of the job is changed before all is read -- */

static int get_int (const struct event *e, const char *key, int64_t min, int64_t max,
                    int64_t *ret, enum json_need need, struct error *err)
{
    if (!e->context)
        return need == JSON_REQUIRED
                   ? error_set (err, EINVAL, "%s.%s: is missing", e->name, key)
                   : 0;
    return json_get_int (e->context, key, min, max, ret, need, e->name, err);
}

static int get_string (const struct event *e, const char *key, const char **ret,
                       enum json_need need, struct error *err)
{
    if (!e->context)
        return need == JSON_REQUIRED
                   ? error_set (err, EINVAL, "%s.%s: is missing", e->name, key)
                   : 0;
    return json_get_string (e->context, key, ret, need, e->name, err);
}

static int get_seconds (const struct event *e, const char *key, double *ret,
                        struct error *err)
{
    return e->context ? json_get_double (e->context, key, 0, SECONDS_MAX, ret,
                                         JSON_OPTIONAL_KEY, e->name, err)
                      : 0;
}

static void string_set (char **field, char *value)
{
    free (*field);
    *field = value;
}

int texts_set (struct text *list, size_t n, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < n && ok; i++)
        ok = !list[i].value || (list[i].copy = strdup (list[i].value));
    for (size_t i = 0; i < n; i++) {
        if (ok)
            string_set (list[i].field, list[i].copy);
        else
            free (list[i].copy);
    }
    return ok ? 0 : error_no_memory (err, NULL);
}

/* -- submit -- */

struct submit {
    int64_t userid, groupid, urgency, flags, version;
    int64_t nnodes, ntasks, ncores, cpu_milli;
    const char *user, *name, *queue, *nodes;
    double duration, begin, deadline;
    int64_t nice, fixed;
    const char *array;  /* of an array */
    json_t *array_task; /* of a job that is a task of an array */
    int64_t array_job, array_index;
    double submitted, eligible, age; /* times of the array, which its tasks inherit */
    const char *adopted, *adopted_key;
};

static int submit_read_adopted (const struct event *e, struct submit *s,
                                struct error *err)
{
    static const char where[] = "submit.adopted";
    json_t *o;
    int rc = e->context ? json_get_object (e->context, "adopted", &o, JSON_OPTIONAL_KEY,
                                           e->name, err)
                        : 0;

    if (rc <= 0)
        return rc;
    if ((rc = json_get_string (o, "name", &s->adopted, JSON_REQUIRED, where, err)) < 0)
        return rc;
    return json_get_string (o, "key", &s->adopted_key, JSON_REQUIRED, where, err);
}

static int submit_read_task (const struct event *e, struct submit *s, struct error *err)
{
    static const char where[] = "submit.array_task";
    int rc = e->context ? json_get_object (e->context, "array_task", &s->array_task,
                                           JSON_OPTIONAL_KEY, e->name, err)
                        : 0;

    if (rc <= 0)
        return rc;
    if ((rc = json_get_int (s->array_task, "job", 1, INT64_MAX, &s->array_job,
                            JSON_REQUIRED, where, err))
            < 0
        || (rc = json_get_int (s->array_task, "task", 0, ARRAY_INDEX_MAX, &s->array_index,
                               JSON_REQUIRED, where, err))
               < 0
        || (rc = json_get_double (s->array_task, "submitted", 0, SECONDS_MAX,
                                  &s->submitted, JSON_OPTIONAL_KEY, where, err))
               < 0
        || (rc = json_get_double (s->array_task, "eligible", 0, SECONDS_MAX, &s->eligible,
                                  JSON_OPTIONAL_KEY, where, err))
               < 0)
        return rc;
    return json_get_double (s->array_task, "age", 0, SECONDS_MAX, &s->age,
                            JSON_OPTIONAL_KEY, where, err);
}

static int submit_read (const struct event *e, struct submit *s, struct error *err)
{
    const enum json_need opt = JSON_OPTIONAL_KEY;
    int rc;
    *s = (struct submit){ .version = 1, .user = "", .name = "", .queue = "" };
    if ((rc = get_int (e, "userid", 0, UINT32_MAX, &s->userid, JSON_REQUIRED, err)) < 0
        || (rc = get_int (e, "urgency", 0, 31, &s->urgency, JSON_REQUIRED, err)) < 0
        || (rc = get_int (e, "groupid", 0, UINT32_MAX, &s->groupid, opt, err)) < 0
        || (rc = get_int (e, "flags", 0, INT64_MAX, &s->flags, opt, err)) < 0
        || (rc = get_int (e, "version", 1, 1, &s->version, opt, err)) < 0
        || (rc = get_int (e, "nnodes", 0, INT64_MAX, &s->nnodes, opt, err)) < 0
        || (rc = get_int (e, "ntasks", 0, INT64_MAX, &s->ntasks, opt, err)) < 0
        || (rc = get_int (e, "ncores", 0, INT64_MAX, &s->ncores, opt, err)) < 0
        || (rc = get_int (e, "cpu_milli", 0, INT64_MAX, &s->cpu_milli, opt, err)) < 0
        || (rc = get_string (e, "user", &s->user, opt, err)) < 0
        || (rc = get_string (e, "name", &s->name, opt, err)) < 0
        || (rc = get_string (e, "queue", &s->queue, opt, err)) < 0
        || (rc = get_string (e, "nodes", &s->nodes, opt, err)) < 0)
        return rc;
    if ((rc = get_seconds (e, "duration", &s->duration, err)) < 0
        || (rc = get_seconds (e, "begin", &s->begin, err)) < 0
        || (rc = get_seconds (e, "deadline", &s->deadline, err)) < 0
        || (rc = get_string (e, "array", &s->array, opt, err)) < 0
        || (rc = get_int (e, "nice", INT32_MIN, INT32_MAX, &s->nice, opt, err)) < 0
        || (rc = get_int (e, "fixed_priority", 0, UINT32_MAX, &s->fixed, opt, err)) < 0
        || (rc = submit_read_adopted (e, s, err)) < 0)
        return rc;
    return submit_read_task (e, s, err);
}

static int on_submit (struct job *job, const struct event *e, struct outcome *out,
                      struct error *err)
{
    (void)out;
    struct submit s;
    int rc = submit_read (e, &s, err);
    if (rc < 0)
        return rc;
    struct error why = { 0 };
    struct job_array *array = s.array ? job_array_create (s.array, &why) : NULL;
    if (s.array && !array)
        return error_set (err, why.code == ENOMEM ? ENOMEM : EINVAL, "%s", why.text);
    json_t *shown = NULL;
    struct text texts[] = {
        { .field = &job->asked_nodes, .value = s.nodes },
        { .field = &job->adopted, .value = s.adopted },
        { .field = &job->adopted_key, .value = s.adopted_key },
        { .field = &job->user, .value = s.user },
        { .field = &job->name, .value = s.name },
        { .field = &job->queue, .value = s.queue },
    };
    char *details = NULL;
    if (attributes_of_event (e->context, &shown) < 0
        || details_pack (json_object_get (e->context, "details"), &details) < 0
        || texts_set (texts, ARRAY_SIZE (texts), err) < 0) {
        json_decref (shown);
        free (details);
        job_array_destroy (array);
        return error_no_memory (err, NULL);
    }
    job->array = array;
    job->shown = shown;
    string_set (&job->details, details);
    job->heterogeneous = details_get (details, "components") != NULL;
    job->array_job = (uint64_t)s.array_job;
    job->array_task = (uint32_t)s.array_index;
    job->userid = (uint32_t)s.userid;
    job->groupid = (uint32_t)s.groupid;
    job->urgency = (int)s.urgency;
    job->duration = job->asked.duration = s.duration;
    job->t_begin = s.begin;
    job->t_deadline = s.deadline;
    job->nice = s.nice;
    job->fixed = s.fixed;
    job->nnodes = job->asked.nnodes = s.nnodes;
    job->ntasks = job->asked.ntasks = s.ntasks;
    job->ncores = job->asked.ncores = s.ncores;
    job->cpu_milli = job->asked.cpu_milli = s.cpu_milli;
    job->t_submit = s.submitted > 0 ? s.submitted : e->timestamp;
    job->t_eligible = s.eligible;
    job->t_age = s.age;
    return 0;
}

/* -- waiting -- */

static void eligible_at (struct job *job, double t)
{
    if (job->urgency > 0 && job->t_eligible <= 0)
        job->t_eligible = MAX (t, job->t_begin);
    if (job->urgency > 0 && job->t_age <= 0)
        job->t_age = t;
}

static int on_priority (struct job *job, const struct event *e, struct outcome *out,
                        struct error *err)
{
    (void)out;
    int64_t priority;
    int rc = get_int (e, "priority", 0, INT64_MAX, &priority, JSON_REQUIRED, err);
    if (rc < 0)
        return rc;
    job->priority = job->priority_told = priority;
    job->reprioritize = false;
    eligible_at (job, e->timestamp);
    return 0;
}

static int on_urgency (struct job *job, const struct event *e, struct outcome *out,
                       struct error *err)
{
    (void)out;
    int64_t urgency, userid, fixed = 0;
    const char *note = NULL;
    int rc = get_int (e, "urgency", 0, 31, &urgency, JSON_REQUIRED, err);
    if (rc < 0
        || (rc = get_int (e, "userid", 0, UINT32_MAX, &userid, JSON_REQUIRED, err)) < 0
        || (rc = get_int (e, "fixed_priority", 0, UINT32_MAX, &fixed, JSON_OPTIONAL_KEY,
                          err))
               < 0
        || (rc = get_string (e, "note", &note, JSON_OPTIONAL_KEY, err)) < 0)
        return rc;
    char *copy = urgency == 0 && note && *note ? strdup (note) : NULL;
    if (urgency == 0 && note && *note && !copy)
        return error_no_memory (err, NULL);
    string_set (&job->hold_note, copy);
    job->held_by_operator = urgency == 0 && userid != job->userid;
    if (urgency == 0)
        job->t_age = 0;
    job->urgency = (int)urgency;
    job->fixed = fixed;
    job->reprioritize = job->state == JOB_SCHED;
    return 0;
}

/* -- running -- */

/* The strings of {"reason": "fitted", "text": "..."}; unchanged if the event has no
 * size. */
static int size_read (const struct event *e, const char **reason, const char **text,
                      struct error *err)
{
    static const char where[] = "alloc.size";
    json_t *size = NULL;
    int rc = json_get_object (e->context, "size", &size, JSON_OPTIONAL_KEY, e->name, err);

    if (rc < 0 || !size)
        return rc;
    rc = json_get_string (size, "reason", reason, JSON_REQUIRED, where, err);
    return rc < 0 ? rc : json_get_string (size, "text", text, JSON_REQUIRED, where, err);
}

static int on_alloc (struct job *job, const struct event *e, struct outcome *out,
                     struct error *err)
{
    (void)out;
    json_t *r = NULL;
    const char *nodelist = NULL, *places = NULL, *space = NULL;
    const char *reason = NULL, *why = NULL;
    int64_t nnodes = job->nnodes, ntasks = job->ntasks, ncores = job->ncores, milli = 0;
    double duration = job->duration;
    int rc;
    if (job->array)
        return error_set (err, EPROTO,
                          "alloc: an array has no resources, its tasks have");
    if (!e->context)
        return error_set (err, EINVAL, "alloc.R: is missing");
    if ((rc = json_get_object (e->context, "R", &r, JSON_REQUIRED, e->name, err)) < 0
        || (rc = get_string (e, "nodelist", &nodelist, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_string (e, "places", &places, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_string (e, "namespace", &space, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "nnodes", 0, INT64_MAX, &nnodes, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "ntasks", 0, INT64_MAX, &ntasks, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "ncores", 0, INT64_MAX, &ncores, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "cpu_milli", 0, INT64_MAX, &milli, JSON_OPTIONAL_KEY, err))
               < 0
        || (rc = get_seconds (e, "duration", &duration, err)) < 0
        || (rc = size_read (e, &reason, &why, err)) < 0)
        return rc;
    struct text texts[] = {
        { .field = &job->size_reason, .value = reason },
        { .field = &job->size_text, .value = why },
        { .field = &job->nodelist, .value = nodelist },
        { .field = &job->places, .value = places },
        { .field = &job->namespace_, .value = space },
    };
    char *text = json_dumps (r, JSON_COMPACT | JSON_REAL_PRECISION (16));
    if (!text || texts_set (texts, ARRAY_SIZE (texts), err) < 0) {
        free (text);
        return error_no_memory (err, NULL);
    }
    string_set (&job->r, text);
    job->nnodes = nnodes;
    job->ntasks = ntasks;
    job->ncores = ncores;
    job->cpu_milli = milli;
    job->duration = duration;
    job->allocated = true;
    job->limit_changed = false;
    job->reprioritize = false;
    job->t_alloc = job->t_cores = e->timestamp;
    job->t_age = job_age_since (job);
    job->t_begin = 0;
    return 0;
}

static int on_start (struct job *job, const struct event *e, struct outcome *out,
                     struct error *err)
{
    (void)out;
    if (job->started || job->array)
        return error_set (err, EPROTO, "start: it was seen before");
    job->started = true;
    job->expedited = false;
    job->failed_starts = 0;
    string_set (&job->requeue_reason, NULL);
    string_set (&job->avoid, NULL);
    job->t_start = e->timestamp;
    return 0;
}

static int on_finish (struct job *job, const struct event *e, struct outcome *out,
                      struct error *err)
{
    int64_t status;
    int rc = get_int (e, "status", 0, 0xffff, &status, JSON_REQUIRED, err);
    if (rc < 0)
        return rc;
    if (!job->allocated || job->released)
        return error_set (err, EPROTO, "finish: it holds no resources to run on");
    if (job->finished)
        return error_set (err, EPROTO, "finish: it was seen before");
    if (job->state == JOB_CLEANUP && !job->kill_sent)
        out->actions = 0; /* requeue has started the clean-up already */
    const char *text = json_string_value (json_object_get (e->context, "text"));
    char *copy = text && *text ? strdup (text) : NULL;
    if (text && *text && !copy)
        return error_no_memory (err, NULL);
    string_set (&job->finish_text, copy);
    job->finished = true;
    job->status = (int)status;
    job->t_finish = e->timestamp;
    return 0;
}

/* -- another time limit -- */

static int on_jobspec_update (struct job *job, const struct event *e, struct outcome *out,
                              struct error *err)
{
    double duration;

    (void)out;
    if (!e->context)
        return error_set (err, EINVAL, "%s: there is no context", e->name);
    int rc = json_get_double (e->context, "attributes.system.duration", 0, SECONDS_MAX,
                              &duration, JSON_REQUIRED, e->name, err);
    if (rc < 0)
        return rc;
    job->duration = job->asked.duration = duration;
    return 0;
}

/* *ret is R with another expiration; the caller frees. -EINVAL: text is no R; -ENOMEM. */
static int with_expiration (const char *text, double expiration, char **ret,
                            struct error *err)
{
    struct error why = { 0 };
    autojson json_t *r = json_parse (text, strlen (text), "its R", &why);
    json_t *execution = json_object_get (r, "execution");

    if (!r)
        return error_set (err, why.code, "%s", why.text);
    if (!execution)
        return error_set (err, EINVAL, "its R has no execution");
    if (json_object_set_new (execution, "expiration", json_real (expiration)) < 0
        || !(*ret = json_dumps (r, JSON_COMPACT | JSON_REAL_PRECISION (16))))
        return error_no_memory (err, NULL);
    return 0;
}

static int on_resource_update (struct job *job, const struct event *e,
                               struct outcome *out, struct error *err)
{
    double expiration, duration;
    int rc;

    (void)out;
    if (!job->r || !job->allocated)
        return error_set (err, EPROTO, "%s: it holds no resources", e->name);
    if (!e->context)
        return error_set (err, EINVAL, "%s: there is no context", e->name);
    if ((rc = json_get_double (e->context, "expiration", 0, SECONDS_MAX, &expiration,
                               JSON_REQUIRED, e->name, err))
            < 0
        || (rc = json_get_double (e->context, "duration", 0, SECONDS_MAX, &duration,
                                  JSON_REQUIRED, e->name, err))
               < 0)
        return rc;
    char *r;
    if ((rc = with_expiration (job->r, expiration, &r, err)) < 0)
        return error_prefix (err, "%s", e->name);
    string_set (&job->r, r);
    job->duration = job->asked.duration = duration;
    job->limit_changed = true;
    return 0;
}

/* -- the way out -- */

struct cause {
    char *type, *note; /* note NULL: none */
};

static int cause_copy (struct cause *c, const char *type, const char *note,
                       struct error *err)
{
    *c = (struct cause){ strdup (type), *note ? strdup (note) : NULL };
    if (c->type && (!*note || c->note))
        return 0;
    free (c->type);
    free (c->note);
    return error_no_memory (err, NULL);
}

/* The first of the most severe exceptions is the cause. */
static bool is_cause (const struct job *job, int64_t severity)
{
    return !job->has_exception || severity < job->exception_severity;
}

/* Takes c. */
static void exception_record (struct job *job, int64_t severity, struct cause *c)
{
    string_set (&job->exception_type, c->type);
    string_set (&job->exception_note, c->note);
    job->has_exception = true;
    job->exception_severity = (int)severity;
}

/* The state and the actions in out are those of severity 0. */
static int on_exception (struct job *job, const struct event *e, struct outcome *out,
                         struct error *err)
{
    int64_t severity, userid;
    const char *type, *note = "";
    struct cause cause = { 0 };
    int rc;
    if ((rc = get_string (e, "type", &type, JSON_REQUIRED, err)) < 0
        || (rc = get_int (e, "severity", 0, 7, &severity, JSON_REQUIRED, err)) < 0
        || (rc = get_string (e, "note", &note, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "userid", 0, UINT32_MAX, &userid, JSON_OPTIONAL_KEY, err))
               < 0
        || (is_cause (job, severity) && (rc = cause_copy (&cause, type, note, err)) < 0))
        return rc;
    if (severity == 0 && job->array
        && (rc = transition_array_exception (job, e->timestamp, out, err)) < 0) {
        free (cause.type);
        free (cause.note);
        return rc;
    }
    if (cause.type)
        exception_record (job, severity, &cause);
    if (severity > 0)
        *out = (struct outcome){ job->state, 0 };
    if (severity > 0 || job->array)
        return 0;
    job->kill_sent = job->kill_sent || job->state == JOB_RUN;
    job->requeue = false; /* a job cancelled during the clean-up is not requeued */
    return 0;
}

/* The job is held as soon as it waits again. */
static void hold_in_queue (struct job *job, uint32_t userid)
{
    string_set (&job->hold_note, NULL);
    job->held_by_operator = userid != job->userid;
    job->t_age = 0;
    job->urgency = 0;
}

static int on_requeue (struct job *job, const struct event *e, struct outcome *out,
                       struct error *err)
{
    (void)out;
    const char *reason, *order = "old", *avoid = NULL;
    int64_t turn = (int64_t)job->turn, setback = 0;
    double begin = 0;
    bool uncounted = false, hold = false, expedited = false;
    int64_t userid = job->userid;
    int rc = get_string (e, "reason", &reason, JSON_REQUIRED, err);
    if (rc < 0 || (rc = get_seconds (e, "begin", &begin, err)) < 0
        || (rc = get_string (e, "order", &order, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_string (e, "avoid", &avoid, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "turn", 0, INT64_MAX, &turn, JSON_OPTIONAL_KEY, err)) < 0
        || (rc = get_int (e, "setback", 0, UINT32_MAX, &setback, JSON_OPTIONAL_KEY, err))
               < 0
        || (rc = get_int (e, "userid", 0, UINT32_MAX, &userid, JSON_OPTIONAL_KEY, err))
               < 0
        || (rc = json_get_bool (e->context, "hold", &hold, JSON_OPTIONAL_KEY, e->name,
                                err))
               < 0
        || (rc = json_get_bool (e->context, "expedited", &expedited, JSON_OPTIONAL_KEY,
                                e->name, err))
               < 0
        || (rc = json_get_bool (e->context, "uncounted", &uncounted, JSON_OPTIONAL_KEY,
                                e->name, err))
               < 0)
        return rc;
    if (job->array)
        return error_set (err, EPROTO, "requeue: an array does not run, its tasks do");
    bool last = strcmp (order, "end") == 0;
    if (!last && strcmp (order, "old") != 0)
        return error_set (err, EINVAL, "requeue.order: '%.16s' is neither old nor end",
                          order);
    struct text texts[] = { { .field = &job->requeue_reason, .value = reason },
                            { .field = &job->avoid, .value = avoid } };
    if (texts_set (texts, ARRAY_SIZE (texts), err) < 0)
        return -ENOMEM;
    job->t_begin = begin;
    if (last) {
        job->t_age = e->timestamp;
        job->turn = (uint64_t)turn;
        job->setback = setback;
    }
    if (hold)
        hold_in_queue (job, (uint32_t)userid);
    job->requeue = true;
    job->requeue_uncounted = uncounted;
    job->expedited = expedited;
    return 0;
}

static int on_release (struct job *job, const struct event *e, struct outcome *out,
                       struct error *err)
{
    const char *ranks;
    bool final;
    int rc = get_string (e, "ranks", &ranks, JSON_REQUIRED, err);
    if (rc < 0
        || (rc = json_get_bool (e->context, "final", &final, JSON_REQUIRED, e->name, err))
               < 0)
        return rc;
    if (!job->allocated || job->released)
        return error_set (err, EPROTO, "release: it holds no resources");
    if (!final)
        out->actions = 0;
    job->released = final;
    return 0;
}

static int on_free (struct job *job, const struct event *e, struct outcome *out,
                    struct error *err)
{
    (void)e;
    (void)out;
    if (!job->allocated)
        return error_set (err, EPROTO, "free: it holds no resources");
    job->allocated = false;
    return 0;
}

/* Forget the attempt; the submitted values and their times stay. */
static void attempt_reset (struct job *job)
{
    string_set (&job->r, NULL);
    string_set (&job->nodelist, NULL);
    string_set (&job->size_reason, NULL);
    string_set (&job->size_text, NULL);
    string_set (&job->places, NULL);
    string_set (&job->namespace_, NULL);
    string_set (&job->exception_type, NULL);
    string_set (&job->exception_note, NULL);
    string_set (&job->finish_text, NULL);
    job->nnodes = job->asked.nnodes;
    job->ntasks = job->asked.ntasks;
    job->ncores = job->asked.ncores;
    job->cpu_milli = job->asked.cpu_milli;
    job->duration = job->asked.duration;
    job->failed_starts += !job->started && !job->requeue_uncounted;
    job->reruns += job->started && !job->requeue_uncounted;
    job->started = job->kill_sent = job->requeue = job->released = job->finished = false;
    job->has_exception = false;
    job->exception_severity = 0;
    job->resize = (struct job_resize){ 0 };
    job->status = 0;
    job->t_alloc = job->t_start = job->t_finish = 0;
    job->restarts++;
}

static int on_clean (struct job *job, const struct event *e, struct outcome *out,
                     struct error *err)
{
    if (job->allocated)
        return error_set (err, EPROTO, "clean: it still holds resources");
    if (job->requeue) {
        attempt_reset (job);
        *out = (struct outcome){ JOB_PRIORITY, JOB_ACT_PRIORITY };
        return 0;
    }
    job->t_inactive = e->timestamp;
    return 0;
}

#define WITHDRAW (JOB_ACT_DEQUEUE | JOB_ACT_CLEAN)

const struct transition transitions[] = {
    { TRANSITION_UNBORN, "submit", JOB_NEW, JOB_ACT_VALIDATE, on_submit },

    { JOB_NEW, "validate", JOB_DEPEND, JOB_ACT_DEPEND, NULL },
    { JOB_NEW, "urgency", TRANSITION_STAY, 0, on_urgency },
    { JOB_NEW, "exception", JOB_CLEANUP, WITHDRAW, on_exception },

    { JOB_DEPEND, "task-cancel", TRANSITION_STAY, 0, transition_task_cancel },
    { JOB_DEPEND, "jobspec-update", TRANSITION_STAY, 0, on_jobspec_update },
    { JOB_DEPEND, "depend", JOB_PRIORITY, JOB_ACT_PRIORITY, NULL },
    { JOB_DEPEND, "urgency", TRANSITION_STAY, 0, on_urgency },
    { JOB_DEPEND, "exception", JOB_CLEANUP, WITHDRAW, on_exception },

    { JOB_PRIORITY, "task-cancel", TRANSITION_STAY, 0, transition_task_cancel },
    { JOB_PRIORITY, "jobspec-update", TRANSITION_STAY, 0, on_jobspec_update },
    { JOB_PRIORITY, "priority", JOB_SCHED, JOB_ACT_ENQUEUE, on_priority },
    { JOB_PRIORITY, "urgency", TRANSITION_STAY, JOB_ACT_PRIORITY, on_urgency },
    { JOB_PRIORITY, "exception", JOB_CLEANUP, WITHDRAW, on_exception },

    { JOB_SCHED, "jobspec-update", TRANSITION_STAY, JOB_ACT_DEQUEUE | JOB_ACT_ENQUEUE,
      on_jobspec_update },
    { JOB_SCHED, "alloc", JOB_RUN, JOB_ACT_START, on_alloc },
    { JOB_SCHED, "priority", TRANSITION_STAY, JOB_ACT_ENQUEUE, on_priority },
    { JOB_SCHED, "urgency", TRANSITION_STAY, JOB_ACT_PRIORITY, on_urgency },
    { JOB_SCHED, "exception", JOB_CLEANUP, WITHDRAW, on_exception },

    { JOB_SCHED, "task-start", TRANSITION_STAY, JOB_ACT_ENQUEUE, transition_task_start },
    { JOB_SCHED, "task-end", TRANSITION_STAY, JOB_ACT_ENQUEUE, transition_task_end },
    { JOB_SCHED, "task-cancel", TRANSITION_STAY, JOB_ACT_ENQUEUE,
      transition_task_cancel },

    { JOB_RUN, "task-end", TRANSITION_STAY, 0, transition_task_end },
    { JOB_RUN, "start", TRANSITION_STAY, 0, on_start },
    { JOB_RUN, "resource-update", TRANSITION_STAY, JOB_ACT_LIMIT, on_resource_update },
    { JOB_RUN, "resize", TRANSITION_STAY, JOB_ACT_RESIZE, transition_resize },
    { JOB_RUN, "resized", TRANSITION_STAY, 0, transition_resized },
    { JOB_RUN, "finish", JOB_CLEANUP, JOB_ACT_CLEANUP, on_finish },
    { JOB_RUN, "requeue", JOB_CLEANUP, JOB_ACT_CLEANUP, on_requeue },
    { JOB_RUN, "exception", JOB_CLEANUP, JOB_ACT_KILL, on_exception },

    { JOB_CLEANUP, "finish", TRANSITION_STAY, JOB_ACT_CLEANUP, on_finish },
    { JOB_CLEANUP, "release", TRANSITION_STAY, JOB_ACT_FREE, on_release },
    { JOB_CLEANUP, "free", TRANSITION_STAY, JOB_ACT_CLEAN, on_free },
    { JOB_CLEANUP, "clean", JOB_INACTIVE, JOB_ACT_INACTIVE, on_clean },
    { JOB_CLEANUP, "exception", TRANSITION_STAY, 0, on_exception },
};
const size_t transitions_count = ARRAY_SIZE (transitions);

const struct transition *transition_find (const struct job *job, const char *event)
{
    int from = job->nevents == 0 ? TRANSITION_UNBORN : (int)job->state;
    for (size_t i = 0; i < transitions_count; i++) {
        if (transitions[i].from == from && strcmp (transitions[i].event, event) == 0)
            return &transitions[i];
    }
    return NULL;
}

bool transition_is_remark (const char *event)
{
    return strcmp (event, "memo") == 0 || strcmp (event, "usage") == 0
           || strcmp (event, "fluxq-restart") == 0 || strncmp (event, "debug.", 6) == 0;
}

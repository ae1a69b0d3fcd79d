/* depend.c - jobs with dependencies stay in DEPEND until job/deps.h decides
 *
 *   submit --> antecedents_find(): each is in memory, or an ended one of the
 *      |       journal; a submit that names another is refused
 *      v  on disk
 *   depend_begin() --> looked up again (may have left memory meanwhile) --> deps_wait()
 *      ^                                                                            |
 *   restart                          `start`, `clean` of others --> deps.h          |
 *                                                                     v             v
 *                                                      pass(), slices: `depend`, or
 *                                                      exception "dependency"
 *
 * The journal has no data of this file, only the jobspecs and events of all jobs; a
 * restart derives the same state from them.
 */
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/no_memory.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/antecedents.h"
#include "broker/services/depend/correspond.h"
#include "broker/services/depend/depend.h"
#include "broker/services/mail/mail.h"
#include "common/clock.h"
#include "job/deps.h"

#define PASS_SECONDS 0.005
#define STEPS 1000      /* deps_next() between two looks at the clock */
#define SLEEP_MAX 60.0  /* delays use the wall clock, which may be set */
#define RETRY_SECONDS 1 /* after the journal could not be read */
/* conditions of all jobs, 80 bytes each; further submits must wait */
#define ALL_MAX 2000000
#define REASON_MAX 512
#define BLOCKERS_MAX 100 /* shown */
#define DEPEND_TEXT_MAX (64 * 1024)

struct slot {
    struct entry *e;
    struct dependencies depend; /* until deps.h takes it over */
    bool keep_invalid;          /* do not cancel the job when `depend` can never be met */
    uint64_t *needs;            /* ids of the jobs that `depend` names */
    size_t nneeds;
    struct antecedents *found; /* those that are not in memory; or NULL */
    bool listed;               /* in `lookups` */
    struct slot *prev, *next;
};

struct depends {
    struct deps *deps;
    struct broker_timer pass;
    struct slot *lookups; /* jobs whose antecedents are looked up in the journal */
    uint64_t looking_up;  /* id of the first of them; 0: no look-up is under way */
    struct broker_timer retry;
};

static struct service_place place;
SERVICE_STATE_OF (struct depends)
SERVICE_SLOT_OF (struct slot)

static struct deps *deps_of (const struct broker *b)
{
    return state_of (b)->deps;
}

/* Tells deps.h of tasks that have not started. */
static void add_waiting_tasks (struct broker *b, const struct dependencies *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct dependency *one = &list->list[i];
        const struct entry *e = one->array ? entry_find (b, one->array) : NULL;
        if (e && entry_job (e)->array
            && idset_has (entry_job (e)->array->waiting, one->task)
            && deps_add (deps_of (b), one->id, entry_job (e)->userid, entry_job (e)->name)
                   == -ENOMEM)
            broker_no_memory ("a dependency");
    }
}

bool depend_has_room (const struct broker *b, size_t n)
{
    return deps_conditions (deps_of (b)) + n <= ALL_MAX;
}

/* -- verdicts -- */

static void decide (struct broker *b, uint64_t id, enum deps_verdict verdict)
{
    struct entry *e = entry_find (b, id);
    char reason[REASON_MAX];

    if (!e || entry_job (e)->state != JOB_DEPEND)
        return;
    if (verdict == DEPS_MET) {
        broker_emit_or_stop (b, e, "depend", NULL);
    } else if (!slot_of (e)->keep_invalid) {
        deps_reason (deps_of (b), id, reason, sizeof (reason));
        broker_exception (b, e, "dependency", broker_uid (b), reason);
    } else {
        mail_invalid_depend (b, e);
    }
}

static void pass_in (struct broker *b, double seconds)
{
    broker_timer_set (&state_of (b)->pass, MAX (seconds, 0));
}

static void pass (struct broker *b)
{
    struct deps *deps = deps_of (b);
    double begin = clock_mono ();
    enum deps_verdict verdict;
    uint64_t id;
    int rc;

    do {
        rc = deps_next (deps, clock_wall (), STEPS, &id, &verdict);
        if (rc == 1)
            decide (b, id, verdict);
    } while (rc != 0 && clock_mono () - begin < PASS_SECONDS);
    double when = deps_wakeup (deps);
    if (rc != 0)
        pass_in (b, 0);
    else if (when > 0)
        pass_in (b, MIN (when - clock_wall () + 0.001, SLEEP_MAX));
}

/* -- a job begins to wait -- */

struct past {
    struct broker *b;
    const struct antecedents *found;
};

/* deps.h asks only for ended jobs. */
static int past_of (uint64_t id, struct deps_past *ret, void *arg)
{
    const struct past *p = arg;

    return antecedents_past (p->b, p->found, id, ret);
}

static bool all_are_known (struct broker *b, const struct entry *e)
{
    const struct slot *s = slot_of (e);

    return antecedents_know_all (b, s->found, &s->depend);
}

static void forget (struct broker *b, struct entry *e);

static void begin_to_wait (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    struct slot *s = slot_of (e);
    struct past past = { b, s->found };

    antecedents_resolve_tasks (b, s->found, &s->depend, NULL);
    if (job->array)
        correspond_begin (b, e, &s->depend, s->found);
    add_waiting_tasks (b, &s->depend);
    if (job->state == JOB_DEPEND && s->depend.n == 0)
        broker_emit_or_stop (b, e, "depend", NULL);
    else if (job->state == JOB_SCHED)
        broker_enqueue (b, e); /* after a restart: finds the ready tasks */
    else if (job->state == JOB_DEPEND
             && deps_wait (deps_of (b), entry_id (e), &s->depend, past_of, &past)
                    == -ENOMEM)
        broker_no_memory ("a dependency");
    forget (b, e);
    pass_in (b, 0);
}

static void look_up (struct broker *b);

/* Some antecedents may still be unknown; then the job waits for one that never
 * existed. */
static void looked_up (int rc, struct antecedents *found, uint64_t unknown, void *arg)
{
    struct broker *b = arg;
    struct depends *d = state_of (b);
    const struct entry *e = entry_find (b, d->looking_up);

    (void)unknown;
    d->looking_up = 0;
    if (!e || !slot_of (e)->listed) { /* the job has gone meanwhile */
        antecedents_free (found);
        rc = 0;
    } else {
        slot_of (e)->found = found;
    }
    if (broker_is_dead (b))
        return;
    if (rc < 0) {
        log_warning ("dependencies of jobs cannot be looked up: %s; the broker tries "
                     "again",
                     strerror (-rc));
        broker_timer_set (&d->retry, RETRY_SECONDS);
    } else {
        look_up (b);
    }
}

/* Looks up one job after another: after a restart there may be many. */
static void look_up (struct broker *b)
{
    struct depends *d = state_of (b);
    struct slot *s;

    while ((s = d->lookups) && !d->looking_up && !broker_is_stopping (b)) {
        struct entry *e = s->e;
        if ((entry_job (e)->state != JOB_DEPEND && !correspond_is_unknown (e))
            || all_are_known (b, e)) {
            begin_to_wait (b, e);
            continue;
        }
        struct antecedents *found = s->found;
        s->found = NULL;
        d->looking_up = entry_id (e);
        antecedents_find (b, &s->depend, found, NULL, looked_up, b);
        return; /* looked_up() continues */
    }
}

void depend_begin (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);

    if (s->depend.n == 0 && entry_job (e)->state == JOB_DEPEND) {
        broker_emit_or_stop (b, e, "depend", NULL);
    } else if (entry_is_submitting (e)) {
        return; /* take_in() of submit.c calls again */
    } else if (all_are_known (b, e)) {
        begin_to_wait (b, e);
    } else {
        s->e = e;
        DL_APPEND (state_of (b)->lookups, s);
        s->listed = true;
        look_up (b);
    }
}

static void forget (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);

    if (s->listed)
        DL_DELETE (state_of (b)->lookups, s);
    s->listed = false;
    antecedents_free (s->found);
    s->found = NULL;
    dependencies_release (&s->depend);
}

/* An array has started when none of its tasks waits. */
static bool is_all_started (const struct job *job)
{
    return job->array && job->state == JOB_RUN;
}

static void add (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    struct deps *deps = deps_of (b);

    if (job->state == JOB_INACTIVE)
        return;
    if (deps_add (deps, entry_id (e), job->userid, job->name) == -ENOMEM)
        broker_no_memory ("a dependency");
    if (job->array ? is_all_started (job) : job->t_start > 0)
        deps_started (deps, entry_id (e), job->t_start);
}

void depend_never_start (struct broker *b, const struct entry *e,
                         const struct idset *tasks)
{
    struct deps *deps = deps_of (b);

    correspond_event (b, e, IDSET_END);
    IDSET_FOREACH (tasks, task)
    {
        deps_ended (deps, job_array_task_id (entry_job (e)->array, entry_id (e), task),
                    false);
    }
    if (deps_busy (deps))
        pass_in (b, 0);
}

static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    const struct job *job = entry_job (e);
    const char *name = change->name;
    struct deps *deps = deps_of (b);

    if (!strcmp (name, "start") || is_all_started (job))
        deps_started (deps, entry_id (e), job->t_start);
    else if (!strcmp (name, "clean") && job->state == JOB_INACTIVE)
        deps_ended (deps, entry_id (e), job_result_phase (job) == JOB_COMPLETED);
    else if (!job->array)
        return;
    if (job->array && !strcmp (name, "exception"))
        depend_never_start (b, e, job->array->cancelled);
    if (deps_busy (deps))
        pass_in (b, 0);
}

static const char *reason (struct broker *b, const struct entry *e, struct strbuf *text)
{
    if (entry_job (e)->state != JOB_DEPEND)
        return NULL;
    if (text) {
        char why[REASON_MAX] = "";
        deps_reason (deps_of (b), entry_id (e), why, sizeof (why));
        strbuf_adds (text, *why ? why : "waits for other jobs");
    }
    return deps_verdict (deps_of (b), entry_id (e)) == DEPS_NEVER
               ? "DependencyNeverSatisfied"
               : "Dependency";
}

size_t depend_blockers (const struct broker *b, uint64_t id, uint64_t *ids, size_t max)
{
    return deps_blockers (deps_of (b), id, ids, max);
}

const struct dependencies *depend_list (const struct entry *e)
{
    return &slot_of (e)->depend;
}

bool depend_keeps_invalid (const struct entry *e)
{
    return slot_of (e)->keep_invalid;
}

const uint64_t *depend_needs (const struct entry *e, size_t *ret_n)
{
    const struct slot *s = slot_of (e);

    *ret_n = s->nneeds;
    return s->needs;
}

void depend_set_found (struct entry *e, struct antecedents *found)
{
    slot_of (e)->found = found;
}

/* Notes the ids of arrays, too, if the job waits for one of their tasks. */
static void note_needs (struct entry *e)
{
    const struct dependencies *d = &entry_jobspec (e)->depend;
    struct slot *s = slot_of (e);

    free (s->needs);
    s->nneeds = 0;
    s->needs = d->n ? calloc (2 * d->n, sizeof (*s->needs)) : NULL;
    for (size_t i = 0; s->needs && i < d->n; i++) {
        s->needs[s->nneeds++] = d->list[i].id;
        s->needs[s->nneeds++] = d->list[i].array;
    }
}

/* Tasks wait with their array. */
static void take (struct broker *b, struct entry *e, bool task)
{
    struct slot *s = slot_of (e);

    (void)b;
    if (task)
        return;
    note_needs (e);
    s->depend = entry_jobspec (e)->depend;
    entry_jobspec (e)->depend = (struct dependencies){ 0 };
    s->keep_invalid = entry_jobspec (e)->keep_invalid_depend;
}

static void drop (struct entry *e)
{
    struct slot *s = slot_of (e);

    dependencies_release (&s->depend);
    antecedents_free (s->found);
    free (s->needs);
}

static int init (struct broker *b, struct error *err)
{
    struct depends *d = state_of (b);

    broker_timer_init (b, &d->pass, pass);
    broker_timer_init (b, &d->retry, look_up);
    d->deps = deps_create ();
    return d->deps ? 0 : error_no_memory (err, NULL);
}

static void release (struct broker *b)
{
    deps_destroy (deps_of (b));
}

/* Adds the dependencies as submitted, and the jobs that still block this one. */
static void shows_job (struct broker *b, struct entry *e, const struct jobspec *js,
                       const struct journal_record *rec, json_t *job)
{
    uint64_t ids[BLOCKERS_MAX];
    size_t n = depend_blockers (b, entry_id (e), ids, ARRAY_SIZE (ids));
    json_t *list = json_array ();
    autostrbuf struct strbuf text = STRBUF_INIT (DEPEND_TEXT_MAX);

    (void)rec;
    if (js)
        dependencies_add_text (&text, &js->depend);
    for (size_t i = 0; i < n; i++)
        json_array_append_new (list, json_integer ((json_int_t)ids[i]));
    json_object_set_new (job, "dependency", api_text_or_null (&text));
    json_object_set_new (job, "waits_for", list);
}

static const struct service_act acts[] = { { JOB_ACT_DEPEND, depend_begin },
                                           { 0, NULL } };

const struct broker_service service_depend = {
    .name = "depend",
    .place = &place,
    .state_size = sizeof (struct depends),
    .slot_size = sizeof (struct slot),
    .init = init,
    .release = release,
    .take = take,
    .comes = add,
    .event = on_event,
    .acts = acts,
    .goes = forget,
    .drop = drop,
    .reason = reason,
    .shows_job = shows_job,
};

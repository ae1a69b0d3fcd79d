/* depend.c - jobs with dependencies stay in DEPEND until job/deps.h decides
 *
 *   submit --> depend_find_antecedents(): each is in memory, or an ended one of the
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
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "broker/api/privacy.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/correspond.h"
#include "broker/services/depend/depend.h"
#include "common/clock.h"
#include "common/log.h"
#include "job/deps.h"

#define PASS_SECONDS 0.005
#define STEPS 1000      /* deps_next() between two looks at the clock */
#define SLEEP_MAX 60.0  /* delays use the wall clock, which may be set */
#define RETRY_SECONDS 1 /* after the journal could not be read */
/* conditions of all jobs, 80 bytes each; further submits must wait */
#define ALL_MAX 2000000
#define REASON_MAX 512

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

static struct depends *state_of (const struct broker *b)
{
    return service_state (b, &place);
}

static struct slot *slot_of (const struct entry *e)
{
    return service_slot (e, &place);
}

static struct deps *deps_of (const struct broker *b)
{
    return state_of (b)->deps;
}

/* The result of an ended job. */
static struct deps_past past_of_job (const struct job *job)
{
    return (struct deps_past){ job->t_start, job_result_phase (job) == JOB_COMPLETED };
}

/* -- jobs that are not in memory -- */

struct antecedents {
    size_t n, alloc;
    struct antecedent {
        uint64_t id;
        bool known;
        struct deps_past past;
        struct job_array *array; /* state of an array's tasks; owned */
    } list[];
};

void depend_antecedents_free (struct antecedents *a)
{
    for (size_t i = 0; a && i < a->n; i++)
        job_array_destroy (a->list[i].array);
    free (a);
}

/* The job to look up for the dependency. */
static uint64_t named_job (const struct dependency *one)
{
    return one->array ? one->array : one->id;
}

static const struct antecedent *antecedent_find (const struct antecedents *a, uint64_t id)
{
    for (size_t i = 0; a && i < a->n; i++) {
        if (a->list[i].id == id)
            return &a->list[i];
    }
    return NULL;
}

static int antecedent_add (struct antecedents **a, const struct antecedent *one)
{
    struct antecedents *old = *a, *more = old;

    if (!old || old->n == old->alloc) {
        size_t alloc = old ? 2 * old->alloc : 4;
        more = realloc (old, sizeof (*more) + alloc * sizeof (more->list[0]));
        if (!more)
            return -ENOMEM;
        more->n = old ? more->n : 0;
        more->alloc = alloc;
        *a = more;
    }
    more->list[more->n++] = *one;
    return 0;
}

/* -- looking them up, one after the other -- */

struct finding {
    struct broker *b;
    uint64_t *ids;
    size_t n, at;
    bool has_viewer;
    uid_t viewer;
    struct antecedents *found;
    depend_antecedents_f done;
    void *arg;
};

static void finding_end (struct finding *f, int rc)
{
    uint64_t unknown = 0;

    for (size_t i = 0; f->found && i < f->found->n && !unknown; i++) {
        if (!f->found->list[i].known)
            unknown = f->found->list[i].id;
    }
    f->done (rc, f->found, unknown, f->arg);
    free (f->ids);
    free (f);
}

static bool is_hidden (const struct finding *f, const struct entry *e)
{
    return f->has_viewer && !privacy_sees (f->b, f->viewer, e, PRIVATE_JOBS);
}

enum end { END_NONE, END_KNOWN, END_HIDDEN };

/* Reads how the job ended. END_NONE: it has not, or its events cannot be replayed. */
static enum end read_end (const struct finding *f, const struct journal_record *rec,
                          struct antecedent *ret)
{
    struct entry *e = entry_replay (rec);
    enum end end = e && e->job->state == JOB_INACTIVE ? END_KNOWN : END_NONE;

    if (e)
        entry_find_queue (f->b, e);
    if (e && is_hidden (f, e))
        end = END_HIDDEN;
    if (end == END_KNOWN) {
        ret->past = past_of_job (e->job);
        ret->array = e->job->array;
        e->job->array = NULL;
    }
    entry_destroy (e);
    return end;
}

static void find_next (struct finding *f);

static void record_read (int rc, const struct journal_record *rec, void *arg)
{
    struct finding *f = arg;
    struct antecedent one = { .id = f->ids[f->at] };
    enum end end = rc == 0 && !f->b->dead ? read_end (f, rec, &one) : END_NONE;

    f->b->under_way--;
    one.known = end == END_KNOWN || (end == END_NONE && rc == 0 && rec->inactive);
    if (f->b->dead)
        rc = -ESHUTDOWN;
    else if (rc == 0 && !one.known && end == END_NONE)
        /* on disk, and not in the table yet */
        rc = entry_find (f->b, one.id) ? 0 : -EAGAIN;
    else if (rc == 0 || rc == -ENOENT)
        rc = antecedent_add (&f->found, &one);
    if (rc < 0)
        finding_end (f, rc);
    else
        find_next (f);
}

/* Whether no look-up is needed: the job is in memory, or was looked up. Hidden jobs are
 * added as unknown. */
static bool needs_no_look (struct finding *f, uint64_t id, int *rc)
{
    const struct antecedent one = { .id = id };
    const struct entry *e = id ? entry_find (f->b, id) : NULL;

    if (id == 0 || antecedent_find (f->found, id))
        return true;
    if (e && is_hidden (f, e))
        *rc = antecedent_add (&f->found, &one);
    return e;
}

static void find_next (struct finding *f)
{
    struct broker *b = f->b;
    int rc = 0;

    while (rc == 0 && f->at < f->n && needs_no_look (f, f->ids[f->at], &rc))
        f->at++;
    if (rc == 0 && f->at < f->n)
        rc = journal_read (b->journal, f->ids[f->at], JOURNAL_EVENTS, record_read, f);
    else {
        finding_end (f, rc);
        return;
    }
    if (rc < 0)
        finding_end (f, rc);
    else
        b->under_way++;
}

void depend_find_antecedents (struct broker *b, const struct dependencies *list,
                              struct antecedents *found, const uid_t *viewer,
                              depend_antecedents_f done, void *arg)
{
    struct finding *f = calloc (1, sizeof (*f));
    uint64_t *ids = calloc (list->n + 1, sizeof (*ids));

    if (!f || !ids) {
        free (f);
        free (ids);
        done (-ENOMEM, found, 0, arg);
        return;
    }
    *f = (struct finding){ .b = b, .ids = ids, .found = found, .has_viewer = viewer,
                           .viewer = viewer ? *viewer : 0, .done = done, .arg = arg };
    for (size_t i = 0; i < list->n; i++)
        ids[f->n++] = named_job (&list->list[i]);
    find_next (f);
}

/* -- arrays and their tasks -- */

const struct job_array *depend_known_array (const struct broker *b,
                                            const struct antecedents *found, uint64_t id)
{
    const struct entry *e = entry_find ((struct broker *)b, id);
    const struct antecedent *a = e ? NULL : antecedent_find (found, id);

    return e ? e->job->array : a ? a->array : NULL;
}

int depend_resolve_tasks (const struct broker *b, const struct antecedents *found,
                          struct dependencies *list, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < list->n; i++) {
        struct dependency *one = &list->list[i];
        const struct job_array *a =
            one->array ? depend_known_array (b, found, one->array) : NULL;
        if (a && idset_has (a->spec.tasks, one->task)) {
            one->id = job_array_task_id (a, one->array, one->task);
        } else if (one->array) {
            one->id = UINT64_MAX; /* no job's id: can never be satisfied */
            rc = error_set (err, ENOENT,
                            a ? "dependency: array %ju has no task %u"
                              : "dependency: job %ju is no array, and has no task %u",
                            (uintmax_t)one->array, one->task);
        }
    }
    return rc;
}

/* Tells deps.h of tasks that have not started. */
static void add_waiting_tasks (struct broker *b, const struct dependencies *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct dependency *one = &list->list[i];
        const struct entry *e = one->array ? entry_find (b, one->array) : NULL;
        if (e && e->job->array && idset_has (e->job->array->waiting, one->task)
            && deps_add (deps_of (b), one->id, e->job->userid, e->job->name) == -ENOMEM)
            broker_no_memory ("a dependency");
    }
}

/* The result of the task with this id; false: no such task, or it has not ended. */
static bool past_of_task (const struct job_array *a, uint64_t array, uint64_t id,
                          double t_start, struct deps_past *ret)
{
    uint32_t task = a ? job_array_task_of (a, array, id) : IDSET_END;

    if (task == IDSET_END || idset_has (a->waiting, task) || idset_has (a->running, task))
        return false;
    ret->ok = idset_has (a->ok, task);
    ret->t_start = idset_has (a->cancelled, task) ? 0 : t_start;
    return true;
}

static bool past_of_any_task (struct broker *b, const struct antecedents *found,
                              uint64_t id, struct deps_past *ret)
{
    uint32_t task;
    const struct entry *e = entry_array_of (b, id, &task);
    bool is = e && past_of_task (e->job->array, e->id, id, e->job->t_start, ret);

    for (size_t i = 0; found && !is && i < found->n; i++)
        is = past_of_task (found->list[i].array, found->list[i].id, id,
                           found->list[i].past.t_start, ret);
    return is;
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

    if (!e || e->job->state != JOB_DEPEND)
        return;
    if (verdict == DEPS_MET) {
        broker_emit (b, e, "depend", NULL);
    } else if (!slot_of (e)->keep_invalid) {
        deps_reason (deps_of (b), id, reason, sizeof (reason));
        broker_exception (b, e, "dependency", b->uid, reason);
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
    const struct entry *other = entry_find (p->b, id);
    const struct antecedent *a = antecedent_find (p->found, id);

    if (other)
        *ret = past_of_job (other->job);
    else if (a && a->known)
        *ret = a->past;
    else if (!past_of_any_task (p->b, p->found, id, ret))
        return -ENOENT;
    return 0;
}

static bool all_are_known (struct broker *b, const struct entry *e)
{
    const struct slot *s = slot_of (e);

    for (size_t i = 0; i < s->depend.n; i++) {
        uint64_t id = named_job (&s->depend.list[i]);
        if (id && !entry_find (b, id) && !antecedent_find (s->found, id))
            return false;
    }
    return true;
}

static void forget (struct broker *b, struct entry *e);

static void begin_to_wait (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);
    struct past past = { b, s->found };

    depend_resolve_tasks (b, s->found, &s->depend, NULL);
    if (e->job->array)
        correspond_begin (b, e, &s->depend, s->found);
    add_waiting_tasks (b, &s->depend);
    if (e->job->state == JOB_DEPEND && s->depend.n == 0)
        broker_emit (b, e, "depend", NULL);
    else if (e->job->state == JOB_SCHED)
        broker_enqueue (b, e); /* after a restart: finds the ready tasks */
    else if (e->job->state == JOB_DEPEND
             && deps_wait (deps_of (b), e->id, &s->depend, past_of, &past) == -ENOMEM)
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
        depend_antecedents_free (found);
        rc = 0;
    } else {
        slot_of (e)->found = found;
    }
    if (b->dead)
        return;
    if (rc < 0) {
        log_warning ("jobs that others wait for cannot be looked up: %s; tried again",
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

    while ((s = d->lookups) && !d->looking_up && !b->stopping) {
        struct entry *e = s->e;
        if ((e->job->state != JOB_DEPEND && !correspond_is_unknown (e))
            || all_are_known (b, e)) {
            begin_to_wait (b, e);
            continue;
        }
        struct antecedents *found = s->found;
        s->found = NULL;
        d->looking_up = e->id;
        depend_find_antecedents (b, &s->depend, found, NULL, looked_up, b);
        return; /* looked_up() continues */
    }
}

void depend_begin (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);

    if (s->depend.n == 0 && e->job->state == JOB_DEPEND) {
        broker_emit (b, e, "depend", NULL);
    } else if (e->submitting) {
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
    depend_antecedents_free (s->found);
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
    const struct job *job = e->job;
    struct deps *deps = deps_of (b);

    if (job->state == JOB_INACTIVE)
        return;
    if (deps_add (deps, e->id, job->userid, job->name) == -ENOMEM)
        broker_no_memory ("a dependency");
    if (job->array ? is_all_started (job) : job->t_start > 0)
        deps_started (deps, e->id, job->t_start);
}

void depend_never_start (struct broker *b, const struct entry *e,
                         const struct idset *tasks)
{
    struct deps *deps = deps_of (b);

    correspond_event (b, e, IDSET_END);
    IDSET_FOREACH (tasks, task)
    {
        deps_ended (deps, job_array_task_id (e->job->array, e->id, task), false);
    }
    if (deps_busy (deps))
        pass_in (b, 0);
}

static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    const char *name = change->name;
    struct deps *deps = deps_of (b);

    if (!strcmp (name, "start") || is_all_started (e->job))
        deps_started (deps, e->id, e->job->t_start);
    else if (!strcmp (name, "clean") && e->job->state == JOB_INACTIVE)
        deps_ended (deps, e->id, past_of_job (e->job).ok);
    else if (!e->job->array)
        return;
    if (e->job->array && !strcmp (name, "exception"))
        depend_never_start (b, e, e->job->array->cancelled);
    if (deps_busy (deps))
        pass_in (b, 0);
}

const char *depend_reason (const struct broker *b, const struct entry *e)
{
    if (e->job->state != JOB_DEPEND)
        return NULL;
    return deps_verdict (deps_of (b), e->id) == DEPS_NEVER ? "DependencyNeverSatisfied"
                                                           : "Dependency";
}

void depend_explain (const struct broker *b, uint64_t id, char *text, size_t size)
{
    deps_reason (deps_of (b), id, text, size);
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
    const struct dependencies *d = &e->js->depend;
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
    s->depend = e->js->depend;
    e->js->depend = (struct dependencies){ 0 };
    s->keep_invalid = e->js->keep_invalid_depend;
}

static void drop (struct entry *e)
{
    struct slot *s = slot_of (e);

    dependencies_release (&s->depend);
    depend_antecedents_free (s->found);
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
};

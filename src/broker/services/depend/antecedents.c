/* antecedents.c - the jobs that a job waits for: in memory, or ended and in the journal */
#include "broker/services/depend/antecedents.h"

#include "broker/api/privacy.h"
#include "broker/core/jobs.h"

/* The result of an ended job. */
static struct deps_past past_of_job (const struct job *job)
{
    return (struct deps_past){ job->t_start, job_result_phase (job) == JOB_COMPLETED };
}

struct antecedents {
    size_t n, alloc;
    struct antecedent {
        uint64_t id;
        bool known;
        struct deps_past past;
        struct job_array *array; /* state of an array's tasks; owned */
    } list[];
};

void antecedents_free (struct antecedents *a)
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
    antecedents_found_f done;
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

enum end { END_NONE, END_KNOWN, END_HIDDEN, END_NO_MEMORY };

/* Reads how the job ended. END_NONE: it has not, or its events cannot be replayed. */
static enum end read_end (const struct finding *f, const struct journal_record *rec,
                          struct antecedent *ret)
{
    struct entry *e = entry_replay (rec);

    if (!e)
        return END_NO_MEMORY;
    enum end end = entry_job (e)->state == JOB_INACTIVE ? END_KNOWN : END_NONE;
    entry_find_queue (f->b, e);
    if (is_hidden (f, e))
        end = END_HIDDEN;
    if (end == END_KNOWN) {
        ret->past = past_of_job (entry_job (e));
        ret->array = entry_job (e)->array;
        entry_job (e)->array = NULL;
    }
    entry_destroy (e);
    return end;
}

static void find_next (struct finding *f);

static void record_read (int rc, const struct journal_record *rec, void *arg)
{
    struct finding *f = arg;
    struct antecedent one = { .id = f->ids[f->at] };
    enum end end = rc == 0 && !broker_is_dead (f->b) ? read_end (f, rec, &one) : END_NONE;

    broker_work_ends (f->b);
    one.known = end == END_KNOWN || (end == END_NONE && rc == 0 && rec->inactive);
    if (broker_is_dead (f->b))
        rc = -ESHUTDOWN;
    else if (end == END_NO_MEMORY)
        rc = -ENOMEM;
    else if (rc == 0 && !one.known && end == END_NONE)
        /* on disk, and not in the table yet */
        rc = entry_find (f->b, one.id) ? 0 : -EAGAIN;
    else if (rc == 0 || rc == -ENOENT)
        rc = antecedent_add (&f->found, &one);
    if (rc < 0) {
        job_array_destroy (one.array);
        finding_end (f, rc);
    } else {
        find_next (f);
    }
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
        rc = journal_read (broker_journal (b), f->ids[f->at], JOURNAL_EVENTS, record_read,
                           f);
    else {
        finding_end (f, rc);
        return;
    }
    if (rc < 0)
        finding_end (f, rc);
    else
        broker_work_begins (b);
}

void antecedents_find (struct broker *b, const struct dependencies *list,
                       struct antecedents *found, const uid_t *viewer,
                       antecedents_found_f done, void *arg)
{
    struct finding *f = calloc (1, sizeof (*f));
    uint64_t *ids = calloc (list->n + 1, sizeof (*ids));

    if (!f || !ids) {
        free (f);
        free (ids);
        done (-ENOMEM, found, 0, arg);
        return;
    }
    *f = (struct finding){ .b = b,
                           .ids = ids,
                           .found = found,
                           .has_viewer = viewer,
                           .viewer = viewer ? *viewer : 0,
                           .done = done,
                           .arg = arg };
    for (size_t i = 0; i < list->n; i++)
        ids[f->n++] = named_job (&list->list[i]);
    find_next (f);
}

/* -- arrays and their tasks -- */

const struct job_array *antecedents_array (const struct broker *b,
                                           const struct antecedents *found, uint64_t id)
{
    const struct entry *e = entry_find ((struct broker *)b, id);
    const struct antecedent *a = e ? NULL : antecedent_find (found, id);

    return e ? entry_job (e)->array : a ? a->array : NULL;
}

int antecedents_resolve_tasks (const struct broker *b, const struct antecedents *found,
                               struct dependencies *list, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < list->n; i++) {
        struct dependency *one = &list->list[i];
        const struct job_array *a =
            one->array ? antecedents_array (b, found, one->array) : NULL;
        if (a && idset_has (a->spec.tasks, one->task)) {
            one->id = job_array_task_id (a, one->array, one->task);
        } else if (one->array) {
            one->id = UINT64_MAX; /* no job's id: can never be satisfied */
            rc = error_set (err, ENOENT,
                            a ? "dependency: array %ju has no task %u"
                              : "dependency: job %ju is not an array, and has no task %u",
                            (uintmax_t)one->array, one->task);
        }
    }
    return rc;
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
    bool is = e
              && past_of_task (entry_job (e)->array, entry_id (e), id,
                               entry_job (e)->t_start, ret);

    for (size_t i = 0; found && !is && i < found->n; i++)
        is = past_of_task (found->list[i].array, found->list[i].id, id,
                           found->list[i].past.t_start, ret);
    return is;
}

int antecedents_past (struct broker *b, const struct antecedents *found, uint64_t id,
                      struct deps_past *ret)
{
    const struct entry *other = entry_find (b, id);
    const struct antecedent *a = antecedent_find (found, id);

    if (other)
        *ret = past_of_job (entry_job (other));
    else if (a && a->known)
        *ret = a->past;
    else if (!past_of_any_task (b, found, id, ret))
        return -ENOENT;
    return 0;
}

bool antecedents_know_all (struct broker *b, const struct antecedents *found,
                           const struct dependencies *list)
{
    for (size_t i = 0; i < list->n; i++) {
        uint64_t id = named_job (&list->list[i]);
        if (id && !entry_find (b, id) && !antecedent_find (found, id))
            return false;
    }
    return true;
}

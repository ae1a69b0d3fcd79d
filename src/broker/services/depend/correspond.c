/* correspond.c - aftercorr between arrays: a task waits for the task of the same number
 *
 *   begin to wait --> correspond_begin(): the state of the other array's tasks so far
 *   task-end, task-cancel of the other --> correspond_event(): a task of this
 *                                          array is ready, or never will be: cancelled
 */
#include <utlist.h>

#include "broker/core/no_memory.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/antecedents.h"
#include "broker/services/depend/array.h"
#include "broker/services/depend/correspond.h"
#include "broker/services/depend/depend.h"

#define NOTE_MAX 128

struct correspondence {
    uint64_t array;
    struct idset *ok; /* the other array's tasks that have completed */
    struct correspondence *next;
};

struct slot {
    struct correspondence *list; /* of an array */
    bool unknown; /* after a restart: the look-up of its antecedents is under way */
    /* the tasks that may start, and possibly some that do not wait any more */
    struct idset *ready;
};

static struct service_place place;
SERVICE_SLOT_OF (struct slot)

static void release (struct entry *e)
{
    struct slot *s = slot_of (e);
    struct correspondence *c, *next;

    LL_FOREACH_SAFE (s->list, c, next)
    {
        idset_destroy (c->ok);
        free (c);
    }
    idset_destroy (s->ready);
}

static bool is_ready (const struct entry *e, uint32_t task)
{
    const struct correspondence *c;

    LL_FOREACH (slot_of (e)->list, c) {
        if (!idset_has (c->ok, task))
            return false;
    }
    return idset_has (entry_job (e)->array->waiting, task);
}

const struct idset *correspond_ready (const struct entry *e)
{
    const struct job *job = entry_job (e);
    const struct slot *s = slot_of (e);

    if (!s->list && !s->unknown)
        return job->array->waiting;
    if (!s->ready)
        return NULL;
    for (uint32_t task = idset_first (s->ready);
         task != IDSET_END && !idset_has (job->array->waiting, task);
         task = idset_first (s->ready))
        idset_remove (s->ready, task);
    return s->ready;
}

bool correspond_is_unknown (const struct entry *e)
{
    return slot_of (e)->unknown;
}

/* These tasks can never be ready: as with a whole job, they are cancelled or stay
 * pending. */
static void give_up (struct broker *b, struct entry *e, uint64_t array,
                     const struct idset *tasks)
{
    char note[NOTE_MAX];

    if (depend_keeps_invalid (e) || idset_count (tasks) == 0)
        return;
    snprintf (note, sizeof (note), "the corresponding tasks of array %ju did not succeed",
              (uintmax_t)array);
    array_cancel (b, e, tasks, broker_uid (b), note);
}

/* The waiting tasks whose counterparts failed, were cancelled, or do not exist. */
static struct idset *find_hopeless (const struct entry *e, const struct job_array *a)
{
    struct idset *tasks = idset_copy (entry_job (e)->array->waiting);

    if (!tasks || idset_remove_all (tasks, a->ok) < 0
        || idset_remove_all (tasks, a->waiting) < 0
        || idset_remove_all (tasks, a->running) < 0)
        broker_no_memory ("a dependency");
    return tasks;
}

/* Removes the dependency from the list and keeps it as a correspondence. */
static void take (struct broker *b, struct entry *e, struct dependencies *list, size_t i,
                  const struct job_array *a)
{
    struct correspondence *c = calloc (1, sizeof (*c));

    if (!c || !(c->ok = idset_copy (a->ok)))
        broker_no_memory ("a dependency");
    c->array = list->list[i].id;
    LL_PREPEND (slot_of (e)->list, c);
    memmove (&list->list[i], &list->list[i + 1],
             (list->n - i - 1) * sizeof (list->list[0]));
    list->n--;
    struct idset *hopeless = find_hopeless (e, a);
    give_up (b, e, c->array, hopeless);
    idset_destroy (hopeless);
}

void correspond_begin (struct broker *b, struct entry *e, struct dependencies *list,
                       const struct antecedents *found)
{
    struct slot *s = slot_of (e);

    s->unknown = false;
    for (size_t i = 0; !list->any && i < list->n;) {
        const struct dependency *one = &list->list[i];
        const struct job_array *a = one->kind == DEPENDENCY_AFTERCORR && !one->array
                                        ? antecedents_array (b, found, one->id)
                                        : NULL;
        if (a)
            take (b, e, list, i, a);
        else
            i++;
    }
    if (!s->list)
        return;
    if (!(s->ready = idset_create ()))
        broker_no_memory ("a dependency");
    IDSET_FOREACH (entry_job (e)->array->waiting, task)
    {
        if (is_ready (e, task) && idset_add (s->ready, task) < 0)
            broker_no_memory ("a dependency");
    }
}

static void task_ended (struct broker *b, struct entry *e, struct correspondence *c,
                        const struct job_array *a, uint32_t task)
{
    if (!idset_has (a->ok, task))
        return;
    if (idset_add (c->ok, task) < 0)
        broker_no_memory ("a dependency");
    if (!is_ready (e, task))
        return;
    if (idset_add (slot_of (e)->ready, task) < 0)
        broker_no_memory ("a dependency");
    if (entry_job (e)->state == JOB_SCHED)
        broker_enqueue (b, e);
}

void correspond_event (struct broker *b, const struct entry *of, uint32_t task)
{
    const struct job_array *a = entry_job (of)->array;
    struct entry *e;

    entries_each (ENTRIES_ARRAYS, b, e) {
        struct correspondence *c;
        LL_SEARCH_SCALAR (slot_of (e)->list, c, array, entry_id (of));
        if (!c || entry_job (e)->state >= JOB_RUN)
            continue;
        if (task != IDSET_END)
            task_ended (b, e, c, a, task);
        struct idset *hopeless = find_hopeless (e, a);
        give_up (b, e, entry_id (of), hopeless);
        idset_destroy (hopeless);
    }
}

static void waits_again (struct broker *b, struct entry *e)
{
    const struct dependencies *d = depend_list (e);
    struct slot *s = slot_of (e);

    for (size_t i = 0; entry_job (e)->array && !d->any && i < d->n; i++)
        s->unknown |= d->list[i].kind == DEPENDENCY_AFTERCORR;
    if (s->unknown)
        depend_begin (b, e);
}

const struct broker_service service_correspond = {
    .name = "correspond",
    .place = &place,
    .slot_size = sizeof (struct slot),
    .drop = release,
    .waits_again = waits_again,
};

/* jobs.c - the table of jobs
 */
#include <utlist.h>

#include "broker/core/exec_job.h"
#include "broker/core/inside.h"
#include "broker/core/job_dirs.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"

#define RETIRE_MAX 64 /* at a time, after a reload lowered keep-finished */

struct entry *entries_first (const struct broker *b, enum entries list)
{
    return list == ENTRIES_ALL ? b->table.all : b->table.lists[list];
}

struct entry *entries_next (const struct entry *e, enum entries list)
{
    return list == ENTRIES_ALL ? e->hh.next : e->links[list].next;
}

struct entry *const *entries_array (const struct broker *b, size_t *ret_n)
{
    *ret_n = b->table.norder;
    return b->table.order;
}

struct entries_count entries_count (const struct broker *b)
{
    const struct job_table *t = &b->table;

    return (struct entries_count){ .all = HASH_COUNT (t->all),
                                   .pending = t->npending,
                                   .running = t->nrunning,
                                   .finished = t->nfinished,
                                   .whole = t->nwhole };
}

uint64_t entries_next_id (const struct broker *b)
{
    return b->table.next_id;
}

uint64_t entries_removed (const struct broker *b)
{
    return b->table.removed;
}

struct entry *entry_find (struct broker *b, uint64_t id)
{
    struct entry *e;
    HASH_FIND (hh, b->table.all, &id, sizeof (id), e);
    return e;
}

struct entry *entry_new (void)
{
    return calloc (1, services_slot_size ());
}

struct entry *entry_create (uint64_t id)
{
    struct entry *e = entry_new ();
    if (!e)
        return NULL;
    e->head.id = id;
    if (!(e->head.job = job_create (id))) {
        free (e);
        return NULL;
    }
    return e;
}

struct entry *entry_replay (const struct journal_record *rec)
{
    struct error err = { 0 };
    struct entry *e = entry_create (rec->id);

    for (size_t i = 0; e && i < rec->nevents; i++) {
        const char *context = rec->events[i].context;
        json_t *value =
            context ? json_parse (context, strlen (context), "event", &err) : NULL;
        bool lost = context && !value && err.code == ENOMEM;
        struct event *ev =
            lost ? NULL
                 : event_create (rec->events[i].timestamp, rec->events[i].name, value);
        unsigned actions;
        int rc = ev                        ? job_apply (entry_job (e), ev, &actions, &err)
                 : lost || errno == ENOMEM ? -ENOMEM
                                           : error_set (&err, EINVAL, "no event");
        event_destroy (ev);
        if (rc == -ENOMEM) {
            entry_destroy (e);
            return NULL; /* without this event, the record would be another one */
        }
        if (rc < 0)
            log_debug ("job %ju: %s", (uintmax_t)rec->id, err.text);
    }
    return e;
}

int entry_number (struct broker *b, struct entry *e)
{
    uint64_t id = b->table.next_id;

    if (!(e->head.job = job_create (id)))
        return -ENOMEM;
    e->head.id = id;
    b->table.next_id += e->js->array.tasks ? job_array_ids (&e->js->array) : 1;
    return 0;
}

void entry_insert (struct broker *b, struct entry *e)
{
    struct job_table *t = &b->table;

    if (array_reserve (&t->order, &t->aorder, t->norder + 1, sizeof (*t->order)) < 0)
        broker_no_memory ("the table of jobs");
    e->place = t->norder;
    t->order[t->norder++] = e;
    HASH_ADD (hh, t->all, head.id, sizeof (e->head.id), e);
}

/* Takes e out of the order, and closes the gaps when they are more than the jobs. */
static void leave_order (struct job_table *t, struct entry *e)
{
    size_t n = 0;

    t->order[e->place] = NULL;
    if (t->norder < 2 * (size_t)HASH_COUNT (t->all))
        return;
    for (size_t i = 0; i < t->norder; i++) {
        if (!t->order[i])
            continue;
        t->order[n] = t->order[i];
        t->order[n]->place = n;
        n++;
    }
    t->norder = n;
}

void entry_destroy (struct entry *e)
{
    if (!e)
        return;
    services_call (drop, e);
    entry_drop_spec (e);
    match_request_destroy (e->req);
    rset_destroy (e->r);
    rset_destroy (e->r_given_back);
    exec_job_free (e->xjob);
    job_destroy (entry_job (e));
    free (e->note);
    free (e);
}

int entry_cmp (const struct entry *a, const struct entry *b)
{
    return entry_id (a) < entry_id (b) ? -1 : entry_id (a) > entry_id (b);
}

/* Puts e at the end of the list, or takes e out. */
static void set_listed (struct broker *b, struct entry *e, enum entries list, bool is)
{
    if (is && !e->links[list].listed)
        DL_APPEND2 (b->table.lists[list], e, links[list].prev, links[list].next);
    else if (!is && e->links[list].listed)
        DL_DELETE2 (b->table.lists[list], e, links[list].prev, links[list].next);
    e->links[list].listed = is;
}

void entry_remove (struct broker *b, struct entry *e)
{
    services_call (goes, b, e);
    HASH_DELETE (hh, b->table.all, e);
    leave_order (&b->table, e);
    b->table.removed++;
    for (enum entries list = ENTRIES_ALL + 1; list < ENTRIES_LISTS; list++)
        set_listed (b, e, list, false);
    entry_destroy (e);
}

struct entry *entry_array_of (const struct broker *b, uint64_t id, uint32_t *ret_task)
{
    struct entry *e;

    entries_each (ENTRIES_ARRAYS, b, e) {
        uint32_t task = job_array_task_of (entry_job (e)->array, entry_id (e), id);
        if (task != IDSET_END) {
            *ret_task = task;
            return e;
        }
    }
    return NULL;
}

static size_t *counter (struct broker *b, enum job_state state)
{
    if (state == JOB_INACTIVE)
        return &b->table.nfinished;
    return state == JOB_RUN || state == JOB_CLEANUP ? &b->table.nrunning
                                                    : &b->table.npending;
}

static bool is_active_array (const struct job *job, enum job_state state)
{
    return job->array && (state == JOB_RUN || state == JOB_CLEANUP);
}

void entry_find_queue (struct broker *b, struct entry *e)
{
    int i = config_queue_index (broker_config (b), entry_job (e)->queue);
    if (i < 0)
        i = (int)(config_default_queue (broker_config (b)) - broker_config (b)->queues);
    e->queue = (unsigned)i;
}

static void count (struct broker *b, struct entry *e, enum job_state before)
{
    ++*counter (b, entry_job (e)->state);
    b->table.nwhole += is_active_array (entry_job (e), entry_job (e)->state);
    services_call (moved, b, e, before);
    set_listed (b, e, ENTRIES_ACTIVE,
                entry_job (e)->state == JOB_RUN || entry_job (e)->state == JOB_CLEANUP);
    set_listed (b, e, ENTRIES_WAITING, entry_job (e)->state < JOB_RUN);
    set_listed (b, e, ENTRIES_ARRAYS, entry_job (e)->array);
}

void entry_count (struct broker *b, struct entry *e)
{
    count (b, e, JOB_NEW);
}

void entry_moved (struct broker *b, struct entry *e, enum job_state before)
{
    if (e->submitting)
        return;
    --*counter (b, before);
    b->table.nwhole -= is_active_array (entry_job (e), before);
    count (b, e, before);
}

void entry_retire (struct broker *b, struct entry *e)
{
    struct entry *old;

    set_listed (b, e, ENTRIES_DONE, true);
    for (int i = 0;
         i < RETIRE_MAX && b->table.nfinished > broker_config (b)->keep_finished
         && (old = b->table.lists[ENTRIES_DONE]) && old->result_told;
         i++) {
        b->table.nfinished--;
        job_dirs_remove (b, entry_id (old));
        entry_remove (b, old);
    }
}

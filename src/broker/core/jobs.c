/* jobs.c - the table of jobs
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/users.h"
#include "common/io.h"
#include "common/log.h"
#include "common/parse.h"

#define RETIRE_MAX 64 /* at a time, after a reload lowered keep-finished */

struct entry *entry_find (struct broker *b, uint64_t id)
{
    struct entry *e;
    HASH_FIND (hh, b->jobs, &id, sizeof (id), e);
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
    e->id = id;
    if (!(e->job = job_create (id))) {
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
        struct event *ev =
            event_create (rec->events[i].timestamp, rec->events[i].name, value);
        unsigned actions;
        if (ev && job_apply (e->job, ev, &actions, &err) < 0)
            log_debug ("job %ju: %s", (uintmax_t)rec->id, err.text);
        event_destroy (ev);
    }
    return e;
}

void entry_insert (struct broker *b, struct entry *e)
{
    HASH_ADD (hh, b->jobs, id, sizeof (e->id), e);
}

void entry_drop_spec (struct entry *e)
{
    jobspec_destroy (e->js);
    e->js = NULL;
}

void exec_job_free (struct exec_job *x)
{
    if (!x)
        return;
    users_release (&x->user);
    free ((char *)x->dir);
    free ((char *)x->spool);
    free ((char *)x->prolog);
    free ((char *)x->epilog);
    free ((char *)x->name);
    free ((char *)x->queue);
    free ((char *)x->namespace_);
    free ((char *)x->adopted);
    free ((char *)x->adopted_key);
    free ((char *)x->requeue_reason);
    json_decref (x->mounts);
    free (x);
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
    job_destroy (e->job);
    free (e->note);
    free (e);
}

int entry_cmp (const struct entry *a, const struct entry *b)
{
    return a->id < b->id ? -1 : a->id > b->id;
}

static void list_active (struct broker *b, struct entry *e, bool is)
{
    if (is && !e->listed_active)
        DL_APPEND2 (b->active, e, active_prev, active_next);
    else if (!is && e->listed_active)
        DL_DELETE2 (b->active, e, active_prev, active_next);
    e->listed_active = is;
}

static void list_array (struct broker *b, struct entry *e, bool is)
{
    is = is && e->job->array;
    if (is && !e->listed_array)
        DL_APPEND2 (b->arrays, e, array_prev, array_next);
    else if (!is && e->listed_array)
        DL_DELETE2 (b->arrays, e, array_prev, array_next);
    e->listed_array = is;
}

static void list_waiting (struct broker *b, struct entry *e, bool is)
{
    if (is && !e->listed_waiting)
        DL_APPEND2 (b->waiting, e, waiting_prev, waiting_next);
    else if (!is && e->listed_waiting)
        DL_DELETE2 (b->waiting, e, waiting_prev, waiting_next);
    e->listed_waiting = is;
}

void entry_remove (struct broker *b, struct entry *e)
{
    services_call (goes, b, e);
    HASH_DELETE (hh, b->jobs, e);
    list_active (b, e, false);
    list_waiting (b, e, false);
    list_array (b, e, false);
    entry_destroy (e);
}

struct entry *entry_array_of (const struct broker *b, uint64_t id, uint32_t *ret_task)
{
    struct entry *e;

    DL_FOREACH2 (b->arrays, e, array_next)
    {
        uint32_t task = job_array_task_of (e->job->array, e->id, id);
        if (task != IDSET_END) {
            *ret_task = task;
            return e;
        }
    }
    return NULL;
}

void entry_set_note (struct entry *e, const char *text)
{
    free (e->note);
    e->note = text ? strdup (text) : NULL;
}

static size_t *counter (struct broker *b, enum job_state state)
{
    if (state == JOB_INACTIVE)
        return &b->nfinished;
    return state == JOB_RUN || state == JOB_CLEANUP ? &b->nrunning : &b->npending;
}

static bool is_active_array (const struct job *job, enum job_state state)
{
    return job->array && (state == JOB_RUN || state == JOB_CLEANUP);
}

void entry_find_queue (struct broker *b, struct entry *e)
{
    int i = config_queue_index (b->config, e->job->queue);
    if (i < 0)
        i = (int)(config_default_queue (b->config) - b->config->queues);
    e->queue = (unsigned)i;
}

static void count (struct broker *b, struct entry *e, enum job_state before)
{
    ++*counter (b, e->job->state);
    b->nwhole += is_active_array (e->job, e->job->state);
    services_call (moved, b, e, before);
    list_active (b, e, e->job->state == JOB_RUN || e->job->state == JOB_CLEANUP);
    list_waiting (b, e, e->job->state < JOB_RUN);
    list_array (b, e, true);
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
    b->nwhole -= is_active_array (e->job, before);
    count (b, e, before);
}

/* -- directories of removed jobs: one worker at a time, so that starts get one too -- */

struct removal {
    uv_work_t work;
    struct broker *b;
    char *jobs_dir;
    uint64_t *ids; /* to remove; or, sorted, to keep if `below` is set */
    size_t n;
    uint64_t below;
};

static void remove_one (const struct removal *r, uint64_t id)
{
    struct error err = { 0 };
    autostrbuf struct strbuf path;

    strbuf_init (&path, 8192);
    strbuf_addf (&path, "%s/%ju", r->jobs_dir, (uintmax_t)id);
    if (path.err == 0 && io_remove_tree (path.buf, &err) < 0)
        log_warning ("cannot remove %s: %s", path.buf, err.text);
}

/* Removes directories of jobs before `below` that are not in the list. */
static void remove_others (const struct removal *r)
{
    DIR *dir = opendir (r->jobs_dir);
    struct dirent *d;
    int64_t id;

    while (dir && (d = readdir (dir))) {
        if (parse_int (d->d_name, 1, INT64_MAX, &id, "job id", NULL) < 0
            || (uint64_t)id >= r->below)
            continue;
        uint64_t key = (uint64_t)id;
        if (r->n == 0 || !bsearch (&key, r->ids, r->n, sizeof (key), compare_u64))
            remove_one (r, key);
    }
    if (dir)
        closedir (dir);
}

static void removal_work (uv_work_t *w)
{
    const struct removal *r = w->data;
    for (size_t i = 0; !r->below && i < r->n; i++)
        remove_one (r, r->ids[i]);
    if (r->below)
        remove_others (r);
}

static void removal_free (struct removal *r)
{
    free (r->jobs_dir);
    free (r->ids);
    free (r);
}

static void remove_next (struct broker *b);

static void removal_done (uv_work_t *w, int status)
{
    struct removal *r = w->data;
    struct broker *b = r->b;

    (void)status;
    removal_free (r);
    b->removing = false;
    if (!b->dead) /* else the next start of the broker finds them */
        remove_next (b);
}

/* Takes ids over. */
static void remove_dirs (struct broker *b, uint64_t *ids, size_t n, uint64_t below)
{
    struct removal *r = calloc (1, sizeof (*r));

    if (!r || !(r->jobs_dir = strdup (b->jobs_dir))) {
        free (r);
        free (ids);
        return;
    }
    r->b = b;
    r->ids = ids;
    r->n = n;
    r->below = below;
    r->work.data = r;
    if (uv_queue_work (b->loop, &r->work, removal_work, removal_done) < 0)
        removal_free (r);
    else
        b->removing = true;
}

static void remove_next (struct broker *b)
{
    uint64_t *ids = b->gone;
    size_t n = b->ngone;

    if (n == 0 || b->removing)
        return;
    b->gone = NULL;
    b->ngone = b->gone_alloc = 0;
    remove_dirs (b, ids, n, 0);
}

static void remove_dir (struct broker *b, uint64_t id)
{
    if (b->ngone == b->gone_alloc) {
        size_t alloc = b->gone_alloc ? 2 * b->gone_alloc : 16;
        uint64_t *more = realloc (b->gone, alloc * sizeof (*more));
        if (!more)
            return; /* the next start of the broker finds it */
        b->gone = more;
        b->gone_alloc = alloc;
    }
    b->gone[b->ngone++] = id;
    remove_next (b);
}

uint64_t jobs_last_dir (const struct broker *b)
{
    DIR *dir = opendir (b->jobs_dir);
    struct dirent *d;
    int64_t id;
    uint64_t last = 0;

    while (dir && (d = readdir (dir)))
        if (parse_int (d->d_name, 1, INT64_MAX, &id, "job id", NULL) == 0)
            last = MAX (last, (uint64_t)id);
    if (dir)
        closedir (dir);
    return last;
}

void jobs_remove_leftovers (struct broker *b)
{
    uint64_t *ids = calloc (HASH_COUNT (b->jobs) + 1, sizeof (*ids));
    struct entry *e, *next;
    size_t n = 0;

    if (!ids)
        return;
    HASH_ITER (hh, b->jobs, e, next)
        ids[n++] = e->id;
    qsort (ids, n, sizeof (*ids), compare_u64);
    remove_dirs (b, ids, n, b->next_id);
}

void entry_retire (struct broker *b, struct entry *e)
{
    e->done_prev = b->done_last;
    if (b->done_last)
        b->done_last->done_next = e;
    else
        b->done_first = e;
    b->done_last = e;
    for (int i = 0; i < RETIRE_MAX && b->nfinished > b->config->keep_finished
                    && b->done_first && b->done_first->result_told;
         i++) {
        struct entry *old = b->done_first;
        b->done_first = old->done_next;
        if (b->done_first)
            b->done_first->done_prev = NULL;
        else
            b->done_last = NULL;
        b->nfinished--;
        remove_dir (b, old->id);
        entry_remove (b, old);
    }
}

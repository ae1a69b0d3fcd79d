/* recover.c - at start-up: reads jobs from the journal, and continues what was under way
 *
 * 1. broker_recover(), before the loop: applies every job's events to a new record, and
 * queues waiting jobs.
 *
 * 2. broker_recovered_nodes(), when the executor has listed its nodes: books running jobs
 * again and hands them to the executor to pick up, and continues removals. Only then are
 * new jobs placed.
 */
#include "broker/core/inside.h"
#include "broker/core/job_dirs.h"
#include "broker/core/jobs.h"
#include "broker/core/recover.h"
#include "broker/core/service.h"
#include "broker/core/sizes.h"
#include "broker/core/start.h"
#include "broker/core/turn.h"
#include "common/thousandths.h"

struct loading {
    struct broker *b;
    struct entry *last;
};

/* All events of the last job have been applied. */
static void settle (struct loading *l)
{
    struct entry *e = l->last;

    if (!e)
        return;
    if (entry_job (e)->queue)
        entry_find_queue (l->b, e);
    services_call (replayed, l->b, e);
    entry_drop_spec (e);
    l->last = NULL;
}

static int on_job (const struct journal_job_row *row, void *arg)
{
    struct loading *l = arg;
    struct broker *b = l->b;
    struct error err = { 0 };
    struct entry *e = entry_create (row->id);

    if (!e)
        return -ENOMEM;
    settle (l);
    l->last = e;
    entry_insert (b, e);
    if (row->inactive)
        return 0;
    if (!(e->js = jobspec_parse (row->jobspec, row->jobspec_len, &err))
        && err.code == ENOMEM)
        return -ENOMEM;
    if (!e->js)
        log_error ("job %ju: %s", (uintmax_t)row->id, err.text);
    if (e->js)
        entry_take_sizes (e);
    e->spec_bytes = row->of ? 0 : row->jobspec_len;
    if (e->js)
        services_call (take, b, e, row->of != 0);
    return 0;
}

static int on_event (uint64_t id, double timestamp, const char *name, const char *context,
                     void *arg)
{
    struct loading *l = arg;
    struct error err = { 0 };
    unsigned actions;
    json_t *value = NULL;

    if (context && *context
        && !(value = json_parse (context, strlen (context), "event", &err))) {
        if (err.code == ENOMEM)
            return -ENOMEM;
        log_error ("job %ju: event %s: %s", (uintmax_t)id, name, err.text);
        return 0;
    }
    struct event *ev = event_create (timestamp, name, value);
    if (!ev && errno == ENOMEM)
        return -ENOMEM;
    if (!ev) {
        log_error ("job %ju: '%.64s' is no event", (uintmax_t)id, name);
        return 0;
    }
    int rc = l->last && entry_id (l->last) == id
                 ? job_apply (entry_job (l->last), ev, &actions, &err)
                 : -EPROTO;
    event_destroy (ev);
    if (rc == -ENOMEM) /* without this event, the record would be another one */
        return rc;
    if (rc < 0)
        log_error ("job %ju: event %s cannot be replayed: %s", (uintmax_t)id, name,
                   err.text);
    return 0;
}

static int by_id (const void *a, const void *b)
{
    return entry_cmp (*(struct entry *const *)a, *(struct entry *const *)b);
}

/* All entries ordered by id; the caller frees. */
static struct entry **sorted (struct broker *b, size_t *ret_n)
{
    size_t n = HASH_COUNT (b->table.all), i = 0;
    struct entry *e, *next, **list = calloc (n + 1, sizeof (struct entry *));

    if (!list)
        return NULL;
    HASH_ITER (hh, b->table.all, e, next)
        list[i++] = e;
    qsort (list, n, sizeof (struct entry *), by_id);
    *ret_n = n;
    return list;
}

static void resume_waiting (struct broker *b, struct entry *e)
{
    static const unsigned next[] = { [JOB_NEW] = JOB_ACT_VALIDATE,
                                     [JOB_DEPEND] = JOB_ACT_DEPEND,
                                     [JOB_PRIORITY] = JOB_ACT_PRIORITY,
                                     [JOB_SCHED] = JOB_ACT_ENQUEUE };
    enum job_state state = entry_job (e)->state;

    if (state == JOB_SCHED)
        services_call (waits_again, b, e);
    if (state < JOB_RUN) {
        broker_act (b, e, next[state]);
    } else if (state == JOB_INACTIVE) {
        e->result_told = true;
        entry_retire (b, e);
    } else { /* broker_recovered_nodes() continues it */
        /* an array has no processes of its own */
        e->recovered = state != JOB_RUN || !entry_job (e)->array;
    }
}

int broker_recover (struct broker *b, struct error *err)
{
    struct loading l = { b, NULL };
    size_t n = 0;

    int rc = journal_load (b->journal, broker_config (b)->keep_finished, on_job, on_event,
                           &l, err);
    if (rc == -ENOMEM)
        return error_no_memory (err, "the jobs of the journal");
    if (rc < 0)
        return -EIO;
    settle (&l);
    /* The spool in a directory of a job unknown to the journal is not the broker's. */
    b->table.next_id = MAX (journal_last_id (b->journal), job_dirs_last (b)) + 1;
    autofree struct entry **list = sorted (b, &n);
    if (!list)
        return error_set (err, ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        entry_find_queue (b, list[i]);
        entry_count (b, list[i]);
        services_call (comes, b, list[i]);
    }
    size_t active = b->table.npending + b->table.nrunning;
    for (size_t i = 0; i < n; i++) {
        if (entry_job (list[i])->state < JOB_RUN && !list[i]->req)
            continue; /* logged; the administrator decides */
        resume_waiting (b, list[i]);
    }
    if (active)
        log_info ("%zu jobs wait, %zu jobs run; all go on", b->table.npending,
                  b->table.nrunning);
    return 0;
}

/* The size of a node before make_room(). */
struct size {
    int index; /* -1: unchanged */
    bool added;
    uint32_t cores, gpus;
    int64_t memory;
    struct gres_list gres;
};

static uint32_t above (const struct idset *ids)
{
    uint32_t end = 0;
    IDSET_FOREACH (ids, id)
    {
        end = id + 1;
    }
    return end;
}

static void node_resize (struct broker *b, int index, uint32_t cores, uint32_t gpus,
                         int64_t memory, const struct gres_list *gres)
{
    struct machine_node_info info;

    if (machine_node_info (b->graph, index, &info) < 0)
        return;
    struct machine_node_spec spec = { .name = info.name,
                                      .places = info.places,
                                      .properties = info.properties,
                                      .gpu_type = info.gpu_type,
                                      .cores = cores,
                                      .gpus = gpus,
                                      .memory_mib = memory,
                                      .gres = gres };
    machine_node_update (b->graph, &spec, NULL);
}

/* The node's resources, or as many more as its bookings and this one need. */
static void room_for_gres (const struct broker *b, int index, const struct gres_list *has,
                           const struct gres_list *more, struct gres_list *ret)
{
    struct machine_gres_info info = { 0 };

    if (gres_copy (ret, has) < 0)
        return;
    for (size_t i = 0; i < more->n; i++) {
        const struct gres *x = &more->v[i];
        machine_node_gres (b->graph, index, x->name, &info);
        gres_set (ret, x->name, MAX (info.count, info.used + x->count));
    }
}

/* The cores needed for the rank and the other bookings of the node. */
static uint32_t room_for_cpus (const struct rset_rank *rank, int64_t used)
{
    int64_t milli = used + rset_rank_cpu_milli (rank);

    return MAX (above (rank->cores), (uint32_t)milli_whole (milli));
}

/* Makes the node of a running job as large as the job needs. */
static struct size make_room (struct broker *b, const struct rset_rank *rank)
{
    struct machine_node_info info;
    struct machine_node_spec spec = { .name = rank->node,
                                      .cores = room_for_cpus (rank, 0),
                                      .gpus = above (rank->gpus),
                                      .memory_mib = rank->memory_mib,
                                      .gres = &rank->gres };
    struct size was = { .index = machine_node_find (b->graph, rank->node) };

    if (was.index < 0) {
        was.index = machine_node_add (b->graph, &spec, NULL);
        was.added = true;
    } else if (machine_node_info (b->graph, was.index, &info) == 0) {
        was.cores = info.cores;
        was.gpus = info.gpus;
        was.memory = info.memory_mib;
        gres_copy (&was.gres, info.gres);
        struct gres_list gres = { 0 };
        room_for_gres (b, was.index, info.gres, &rank->gres, &gres);
        spec.cores = room_for_cpus (rank, info.cpu_milli_used);
        node_resize (b, was.index, MAX (info.cores, spec.cores),
                     MAX (info.gpus, spec.gpus),
                     MAX (info.memory_mib, info.memory_used + spec.memory_mib), &gres);
        gres_release (&gres);
    }
    return was;
}

static void make_as_before (struct broker *b, struct size *was)
{
    if (was->index >= 0 && was->added)
        machine_node_remove (b->graph, was->index); /* goes when the job ends */
    else if (was->index >= 0)
        node_resize (b, was->index, was->cores, was->gpus, was->memory, &was->gres);
    gres_release (&was->gres);
}

/* Nodes may have gone or shrunk meanwhile: they stay booked anyway, and so do the job's
 * other nodes, which no other job may get. */
static int book_lost (struct broker *b, struct entry *e, struct error *err)
{
    autofree struct size *was = calloc (e->r->nranks, sizeof (*was));

    if (!was)
        return error_set (err, ENOMEM, "out of memory");
    log_warning ("job %ju: %s; its nodes stay booked", (uintmax_t)entry_id (e),
                 err->text);
    for (size_t i = 0; i < e->r->nranks; i++)
        was[i] = make_room (b, &e->r->ranks[i]);
    int rc = match_update (b->matcher, entry_id (e), e->r, err);
    for (size_t i = 0; i < e->r->nranks; i++)
        make_as_before (b, &was[i]);
    return rc;
}

int broker_book (struct broker *b, struct entry *e)
{
    struct error err = { 0 };
    int rc = match_update (b->matcher, entry_id (e), e->r, &err);

    if (rc == -ENOENT)
        rc = book_lost (b, e, &err);
    if (rc < 0)
        log_error ("job %ju: its nodes cannot be booked again: %s",
                   (uintmax_t)entry_id (e), err.text);
    return rc;
}

static void book (struct broker *b, struct entry *e)
{
    struct error err = { EINVAL, "there is none" };

    if (entry_job (e)->r)
        e->r = rset_decode (entry_job (e)->r, strlen (entry_job (e)->r), &err);
    if (!e->r && err.code == ENOMEM)
        broker_no_memory ("the allocation of a job");
    if (!e->r)
        log_error ("job %ju: its allocation cannot be read: %s", (uintmax_t)entry_id (e),
                   err.text);
    else if (!services_any (books, b, e))
        broker_book (b, e);
}

static void resume_running (struct broker *b, struct entry *e)
{
    if (entry_job (e)->allocated)
        book (b, e);
    if (!e->r && entry_job (e)->state == JOB_RUN
        && broker_exception (b, e, "start-failed", b->uid,
                             "its allocation cannot be read")
               == -ENOMEM)
        broker_no_memory ("the end of a job");
    broker_start (b, e); /* looks everything up, then calls exec recover */
}

/* The job has no processes any more. Objects that the last broker did not remove are
 * leftovers for the sweep. */
static void give_up_objects (struct broker *b, struct entry *e)
{
    e->recovered = false;
    broker_act (b, e, JOB_ACT_CLEAN);
}

void broker_recovered_nodes (struct broker *b)
{
    size_t n = 0, nlive = 0;
    autofree struct entry **list = sorted (b, &n);
    autofree uint64_t *live = calloc (n + 1, sizeof (*live));

    if (!list || !live)
        broker_no_memory ("the running jobs");
    b->recovering = false;
    services_call (nodes_known, b);
    for (size_t i = 0; i < n; i++) {
        enum job_state state = entry_job (list[i])->state;
        if ((state != JOB_RUN && state != JOB_CLEANUP)
            || (state == JOB_RUN && entry_job (list[i])->array))
            continue;
        if (state == JOB_CLEANUP && !entry_job (list[i])->allocated) {
            give_up_objects (b, list[i]);
            continue;
        }
        live[nlive++] = entry_id (list[i]);
        resume_running (b, list[i]);
    }
    b->ops->sweep (b->exec, live, nlive);
    services_call (recovered, b);
    broker_plan_due (b);
}

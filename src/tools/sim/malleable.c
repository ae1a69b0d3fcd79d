/* malleable.c - running jobs get nodes while no job waits, and give them back later
 *
 * Works as in the broker (src/broker/services/resize/malleable.c), but at once, as no program has to be
 * told: with the same plan of the jobs that give nodes, and the same order of those that
 * get some. The remaining work of a job stays constant; with the linear model it takes
 * longer on fewer nodes.
 */
#include <errno.h>
#include <stdlib.h>

#include "sched/giveback.h"
#include "tools/sim/sim_private.h"

#define JOBS_MAX 256 /* malleable jobs considered in a round */
#define FRONT 8

struct round {
    struct sim *s;
    struct job *jobs[JOBS_MAX]; /* the least priority first */
    struct jobspec_resource sizes[JOBS_MAX];
    size_t n;
};

/* -- progress of a job -- */

static double rate (const struct sim *s, const struct job *j)
{
    return s->setup->linear ? sim_part (&j->trace.size, j->r, rset_slots (j->r)) : 1;
}

/* Updates the remaining work of the job to now. */
static void settle (struct sim *s, struct job *j)
{
    double seconds = s->now - j->since;

    j->left = MAX (j->left - seconds * rate (s, j), 0);
    j->told.core_seconds += seconds * (double)j->cores;
    j->since = s->now;
}

int malleable_start (struct sim *s, struct job *j, const struct sim_start *told,
                     const struct rset *r)
{
    j->told = *told;
    j->since = s->now;
    j->left = j->trace.runtime;
    j->r = rset_first (r, r->nranks);
    return j->r ? 0 : -ENOMEM;
}

void malleable_end (struct sim *s, struct job *j)
{
    settle (s, j);
    j->told.end = s->now;
    j->told.job = &j->trace;
    j->told.r = j->r;
    j->told.cores = j->cores;
    j->told.slots = rset_slots (j->r);
    s->observer->start (s->observer->arg, &j->told);
    rset_destroy (j->r);
    j->r = NULL;
}

/* Replaces the job's resources by r, which is taken over. */
static int change (struct sim *s, struct job *j, struct rset *r)
{
    const struct trace_job *t = &j->trace;
    double limit = t->limit > 0 ? t->limit : TRACE_RUN_MAX;

    if (!r)
        return -ENOMEM;
    settle (s, j);
    match_cancel (s->matcher, j->id);
    int rc = match_update (s->matcher, j->id, r, s->err);
    rset_destroy (j->r);
    j->r = r;
    if (rc < 0)
        return rc;
    s->cores_used -= j->cores;
    j->cores =
        t->size.exclusive ? rset_cores (r) : (uint64_t)rset_slots (r) * t->size.cores;
    s->cores_used += j->cores;
    double last = j->told.start + limit;
    j->end = MIN (s->now + j->left / rate (s, j), last);
    j->told.killed = j->end >= last && j->left > 0;
    s->counts->resizes++;
    return events_add (&s->ends, j->end, j->id);
}

/* -- jobs that can change size -- */

static bool gives_before (const struct job *a, const struct job *b)
{
    return a->trace.priority != b->trace.priority ? a->trace.priority < b->trace.priority
                                                  : a->id > b->id;
}

static void insert (struct round *x, struct job *j)
{
    size_t at = MIN (x->n, (size_t)JOBS_MAX - 1);

    if (x->n == JOBS_MAX && !gives_before (j, x->jobs[JOBS_MAX - 1]))
        return;
    for (; at > 0 && gives_before (j, x->jobs[at - 1]); at--)
        x->jobs[at] = x->jobs[at - 1];
    x->jobs[at] = j;
    x->n = MIN (x->n + 1, (size_t)JOBS_MAX);
}

static void find_jobs (struct round *x)
{
    struct job *j, *next;

    HASH_ITER (hh, x->s->jobs, j, next) {
        if (j->r && j->trace.size.nodes_max > j->trace.size.nodes_min)
            insert (x, j);
    }
    for (size_t i = 0; i < x->n; i++) {
        const struct job_size *size = &x->jobs[i]->trace.size;
        x->sizes[i].count =
            (struct jobspec_count){ size->nodes_min, size->nodes_max, '+', 1 };
    }
}

/* -- back -- */

static struct growth *model_of (const struct sim *s)
{
    struct growth *x =
        growth_create (s->setup->cluster->machine, s->matcher, s->setup->match_policy,
                       NULL, 0, true, SIM_EPOCH + s->now);
    struct job *j, *next;
    int rc = 0;

    HASH_ITER (hh, s->jobs, j, next) {
        if (x && j->r && rc == 0)
            rc = growth_run (x, j->id, j->r);
    }
    if (rc == 0)
        return x;
    growth_destroy (x);
    return NULL;
}

static int take_from (struct round *x, const struct giveback_job *jobs)
{
    int rc = 0;

    for (size_t i = 0; i < x->n && rc == 0; i++)
        if (jobs[i].nodes < (int64_t)jobs[i].r->nranks)
            rc = change (x->s, x->jobs[i],
                         rset_first (x->jobs[i]->r, (size_t)jobs[i].nodes));
    return rc < 0 ? rc : 1;
}

static int give_to (struct round *x, struct growth *model,
                    const struct sched_entry *front)
{
    const struct growth_job wanted = { front->id, front->req, front->duration };
    struct giveback_job jobs[JOBS_MAX];

    for (size_t i = 0; i < x->n; i++)
        jobs[i] = (struct giveback_job){ .id = x->jobs[i]->id,
                                         .r = x->jobs[i]->r,
                                         .sizes = &x->sizes[i] };
    int rc = giveback_plan (model, jobs, x->n, &wanted, SIM_EPOCH + x->s->now);
    return rc == 1 ? take_from (x, jobs) : rc;
}

static bool has_spare (const struct round *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->jobs[i]->r->nranks > x->jobs[i]->trace.size.nodes_min)
            return true;
    return false;
}

static int take_back (struct round *x, const struct sched_entry **front, size_t n)
{
    struct growth *model = n > 0 && has_spare (x) ? model_of (x->s) : NULL;
    int rc = n > 0 && has_spare (x) && !model ? -ENOMEM : 0;

    for (size_t i = 0; i < n && model && rc == 0; i++)
        rc = give_to (x, model, front[i]);
    growth_destroy (model);
    return rc;
}

/* -- more -- */

static int offer (struct round *x, struct job *j)
{
    struct sim *s = x->s;
    double now = SIM_EPOCH + s->now, end = j->r->expiration;
    autofree char *own = rset_nodelist (j->r);
    struct rset *more = NULL;
    int rc = -EBUSY;

    if (end > 0 && end <= now)
        return 0;
    for (uint32_t n = j->trace.size.nodes_max - (uint32_t)j->r->nranks;
         rc == -EBUSY && n > 0; n--) {
        struct match_request *req = requests_more (&j->trace.size, n, own);
        if (!req)
            return -ENOMEM;
        rc = match_without_allocating (s->matcher, req, now, end > 0 ? end - now : 0,
                                       &more, NULL);
        match_request_destroy (req);
    }
    if (rc == 0)
        rc = change (s, j, rset_join (j->r, more));
    else if (rc == -EBUSY || rc == -ENOENT)
        rc = 0;
    rset_destroy (more);
    return rc;
}

int malleable_round (struct sim *s)
{
    struct round x = { .s = s };
    const struct sched_entry *front[FRONT];
    size_t n = sched_front (s->sched, front, FRONT);

    find_jobs (&x);
    int rc = take_back (&x, front, n);
    for (size_t i = x.n; n == 0 && i-- > 0 && rc == 0;)
        if (x.jobs[i]->r->nranks < x.jobs[i]->trace.size.nodes_max)
            rc = offer (&x, x.jobs[i]);
    return rc;
}

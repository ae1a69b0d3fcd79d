/* giveback.c - see giveback.h */
#include "sched/giveback.h"

int64_t giveback_smaller (const struct jobspec_resource *sizes, int64_t n)
{
    int64_t least = sizes->count.min;

    n = MIN (n, sizes->count.max + 1);
    if (!sizes->sizes)
        return n > least ? jobspec_count_fit (&sizes->count, n - 1) : 0;
    while (--n >= least)
        if (idset_has (sizes->sizes, (uint32_t)n))
            return n;
    return 0;
}

int64_t giveback_larger (const struct jobspec_resource *sizes, int64_t n)
{
    int64_t most = MIN (sizes->count.max, JOBSPEC_MALLEABLE_NODES);

    for (n = MAX (n + 1, sizes->count.min); n <= most; n++)
        if (sizes->sizes ? idset_has (sizes->sizes, (uint32_t)n)
                         : jobspec_count_fit (&sizes->count, n) == n)
            return n;
    return 0;
}

struct plan {
    struct growth *x;
    const struct growth_job *wanted;
    double now;
    unsigned tries;
};

static bool fits (struct plan *p)
{
    p->tries++;
    return growth_fits (p->x, p->wanted, p->now);
}

/* Gives the job so many nodes in the model from now on. */
static int keep (struct plan *p, struct giveback_job *job, int64_t nodes)
{
    struct rset *r = rset_first (job->r, (size_t)nodes);
    int rc = r ? growth_run_again (p->x, job->id, r) : -ENOMEM;

    rset_destroy (r);
    job->nodes = nodes;
    return rc;
}

/* Takes nodes size by size until the waiting job fits: 1. */
static int take (struct plan *p, struct giveback_job *job)
{
    int64_t n = job->nodes;
    int rc = 0;

    while (rc == 0 && p->tries < GIVEBACK_TRIES
           && (n = giveback_smaller (job->sizes, n)) > 0) {
        rc = keep (p, job, n);
        if (rc == 0 && fits (p))
            return 1;
    }
    return rc;
}

/* Gives back as many nodes as possible while the waiting job still fits. */
static int give_again (struct plan *p, struct giveback_job *job)
{
    int64_t taken = job->nodes, n = (int64_t)job->r->nranks;
    int rc = 0;

    while (rc == 0 && n > taken && p->tries < GIVEBACK_TRIES) {
        rc = keep (p, job, n);
        if (rc == 0 && fits (p))
            return 0;
        n = giveback_smaller (job->sizes, n);
    }
    return rc < 0 ? rc : keep (p, job, taken);
}

/* No job gives nodes: the model gets the waiting job at its future place. */
static int leave (struct plan *p)
{
    bool waits;

    return growth_plan (p->x, p->wanted, p->now, NULL, &waits);
}

int giveback_plan (struct growth *x, struct giveback_job *jobs, size_t n,
                   const struct growth_job *wanted, double now)
{
    struct plan p = { .x = x, .wanted = wanted, .now = now };
    size_t last = 0;
    int rc = 0;

    for (size_t i = 0; i < n; i++)
        jobs[i].nodes = (int64_t)jobs[i].r->nranks;
    if (fits (&p))
        return leave (&p);
    for (; last < n && rc == 0; last++)
        rc = take (&p, &jobs[last]);
    for (size_t i = 0; i < n && rc == 0; i++) /* in vain: restore */
        if (jobs[i].nodes < (int64_t)jobs[i].r->nranks)
            rc = keep (&p, &jobs[i], (int64_t)jobs[i].r->nranks);
    if (rc != 1)
        return rc < 0 ? rc : leave (&p);
    /* The last job gave the nodes still missing; the jobs before it may have given in
     * vain. */
    for (size_t i = 0; i + 1 < last && rc >= 0; i++)
        rc = give_again (&p, &jobs[i]);
    return rc < 0 ? rc : 1;
}

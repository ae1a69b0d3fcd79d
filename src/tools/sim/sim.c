/* sim.c - see sim.h */
#include "tools/sim/sim.h"

#include <math.h>

#include "common/clock.h"
#include "tools/sim/sim_private.h"

#define EPOCH SIM_EPOCH
#define QUEUE 0

/* -- submits -- */

/* Converts a trace's time to virtual time. */
static double time_of (const struct sim *s, double when)
{
    return MAX (when - s->origin, 0);
}

static void fetch_next (struct sim *s)
{
    s->has_next = trace_next (s->trace, &s->next) == 1;
}

static void make_elastic (unsigned percent, uint32_t *min, uint32_t max, double *limit)
{
    uint32_t least = (uint32_t)(((uint64_t)max * percent + 99) / 100);

    if (*min != max || least >= max)
        return;
    *min = least;
    *limit *= (double)max / *min;
}

static void adapt (const struct sim_setup *setup, struct trace_job *t)
{
    double limit = t->limit;

    if (setup->elastic == 0)
        return;
    if (t->size.nodes_max > 0)
        make_elastic (setup->elastic, &t->size.nodes_min, t->size.nodes_max, &limit);
    else
        make_elastic (setup->elastic, &t->size.slots_min, t->size.slots_max, &limit);
    if (setup->linear)
        t->limit = MIN (limit, TRACE_RUN_MAX);
}

static void refuse (struct sim *s, uint64_t id, const struct trace_job *t,
                    const char *why)
{
    if (s->counts->refused++ > 0)
        return;
    s->counts->first_refused = id;
    s->counts->first_refused_line = t->line;
    snprintf (s->counts->why, sizeof (s->counts->why), "%s", why);
}

static int enqueue (struct sim *s, const struct job *j)
{
    const struct trace_job *t = &j->trace;
    double begin = time_of (s, t->begin);
    const struct sched_entry e = { .id = j->id,
                                   .priority = t->priority,
                                   .begin = begin > s->now ? EPOCH + begin : 0,
                                   .duration = t->limit,
                                   .req = j->request->req,
                                   .queue = QUEUE };
    int rc = sched_enqueue (s->sched, &e);
    return rc == 0 ? 0 : error_errno (s->err, -rc, "job %ju", (uintmax_t)j->id);
}

static int submit (struct sim *s)
{
    struct job *j = calloc (1, sizeof (*j));

    if (!j)
        return error_no_memory (s->err, NULL);
    j->id = ++s->counts->jobs;
    j->trace = s->next;
    adapt (s->setup, &j->trace);
    if (!(j->request = requests_get (s->requests, &j->trace.size))) {
        free (j);
        return error_no_memory (s->err, NULL);
    }
    if (j->request->never) {
        refuse (s, j->id, &j->trace, j->request->never);
        requests_put (s->requests, j->request);
        free (j);
        return 0;
    }
    HASH_ADD (hh, s->jobs, id, sizeof (j->id), j);
    if (!j->hh.tbl) {
        requests_put (s->requests, j->request);
        free (j);
        return error_no_memory (s->err, NULL);
    }
    return enqueue (s, j);
}

static int apply_submits (struct sim *s)
{
    int rc = 0;

    while (rc == 0 && s->has_next && time_of (s, s->next.submit) <= s->now) {
        rc = submit (s);
        fetch_next (s);
    }
    return rc;
}

/* -- ends -- */

static struct job *find_job (const struct sim *s, uint64_t id)
{
    struct job *j;

    HASH_FIND (hh, s->jobs, &id, sizeof (id), j);
    return j;
}

static void apply_ends (struct sim *s)
{
    double when;

    while (events_first (&s->ends, &when) && when <= s->now) {
        struct job *j = find_job (s, events_take (&s->ends));
        if (!j || when < j->end)
            continue; /* outdated: the job has got fewer nodes since */
        if (j->r)
            malleable_end (s, j);
        match_cancel (s->matcher, j->id);
        s->cores_used -= j->cores;
        HASH_DELETE (hh, s->jobs, j);
        free (j);
    }
}

/* -- starts -- */

double sim_part (const struct job_size *size, const struct rset *r, uint32_t slots)
{
    return size->nodes_max > 0 ? (double)r->nranks / size->nodes_max
                               : (double)slots / size->slots_max;
}

static int start (struct sim *s, const struct rset *r, struct job *j)
{
    const struct trace_job *t = &j->trace;
    uint32_t slots = rset_slots (r);
    double part = sim_part (&t->size, r, slots);
    double run = s->setup->linear ? t->runtime / part : t->runtime;
    double limit = t->limit > 0 ? t->limit : TRACE_RUN_MAX;
    bool killed = run > limit;

    run = MIN (run, limit);
    j->cores = t->size.exclusive ? rset_cores (r) : (uint64_t)slots * t->size.cores;
    requests_put (s->requests, j->request);
    j->request = NULL;
    s->cores_used += j->cores;
    s->counts->started++;
    j->end = s->now + run;
    if (events_add (&s->ends, j->end, j->id) < 0)
        return error_no_memory (s->err, NULL);
    const struct sim_start told = {
        .id = j->id,
        .job = t,
        .submit = time_of (s, MAX (t->submit, t->begin)),
        .start = s->now,
        .end = s->now + run,
        .shortest = MIN (t->runtime, limit),
        .killed = killed,
        .smaller = part < 1,
        .slots = slots,
        .cores = j->cores,
        .r = r,
    };
    if (s->setup->malleable)
        return malleable_start (s, j, &told, r) < 0 ? error_no_memory (s->err, NULL) : 0;
    s->observer->start (s->observer->arg, &told);
    return 0;
}

static int not_pending (const struct sim *s, uint64_t id)
{
    return error_set (s->err, EPROTO, "the scheduler starts job %ju, which does not wait",
                      (uintmax_t)id);
}

static int plan (struct sim *s)
{
    struct sched_decision d;
    int rc;

    while ((rc = sched_next (s->sched, EPOCH + s->now, 0, &d)) == 1) {
        struct job *j = find_job (s, d.id);
        rc = j && j->request ? start (s, d.r, j) : not_pending (s, d.id);
        rset_destroy (d.r);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? error_errno (s->err, -rc, "the scheduler") : 0;
}

/* Starts the jobs that can start with nodes given back by others. */
static int plan_malleable (struct sim *s)
{
    int rc = plan (s);

    while (rc == 0 && (rc = malleable_round (s)) == 1)
        rc = plan (s);
    return rc == -ENOMEM ? error_no_memory (s->err, NULL) : rc;
}

/* -- the loop -- */

/* Moves to the time of the next event; false: there are no more events. */
static bool advance (struct sim *s)
{
    double wakeup = sched_wakeup (s->sched) - EPOCH, when = INFINITY, end;

    if (events_first (&s->ends, &end))
        when = end;
    if (s->has_next)
        when = MIN (when, time_of (s, s->next.submit));
    if (wakeup > s->now)
        when = MIN (when, wakeup);
    s->now = isfinite (when) ? MAX (when, s->now) : s->now;
    return isfinite (when);
}

static int complain_of_rest (struct sim *s)
{
    const struct job *j = s->jobs, *i;

    if (!j)
        return 0;
    for (i = s->jobs; i; i = i->hh.next)
        j = i->id < j->id ? i : j;
    return error_set (s->err, EDEADLK,
                      "%u jobs were never started though nothing runs; the first is job "
                      "%ju (line %ju)",
                      HASH_COUNT (s->jobs), (uintmax_t)j->id, (uintmax_t)j->trace.line);
}

static int run (struct sim *s)
{
    int rc = 0;

    fetch_next (s);
    s->origin = s->has_next ? s->next.submit : 0;
    while (rc == 0 && advance (s)) {
        if (s->now > SIM_TIME_MAX)
            return error_set (
                s->err, ERANGE,
                "after %ju jobs more than %g s of virtual time have passed: "
                "run times or submits are too long",
                (uintmax_t)s->counts->started, SIM_TIME_MAX);
        apply_ends (s);
        rc = apply_submits (s);
        if (rc == 0)
            rc = s->setup->malleable ? plan_malleable (s) : plan (s);
        if (rc == 0)
            s->observer->now (s->observer->arg, s->now, sched_pending (s->sched),
                              s->cores_used);
    }
    return rc == 0 ? complain_of_rest (s) : rc;
}

static int set_up (struct sim *s)
{
    s->matcher = matcher_create (s->setup->cluster->machine, s->setup->match_policy);
    if (!s->matcher)
        return error_no_memory (s->err, NULL);
    s->sched = sched_create (s->matcher, s->setup->policy, s->setup->depth);
    s->requests = requests_create (s->matcher);
    if (!s->sched || !s->requests || sched_queue_set (s->sched, QUEUE, true) < 0)
        return error_no_memory (s->err, NULL);
    return 0;
}

static void tear_down (struct sim *s)
{
    struct job *j, *next;

    sched_destroy (s->sched);
    HASH_ITER (hh, s->jobs, j, next) {
        HASH_DELETE (hh, s->jobs, j);
        if (j->request)
            requests_put (s->requests, j->request);
        rset_destroy (j->r);
        free (j);
    }
    requests_destroy (s->requests);
    matcher_destroy (s->matcher);
    events_release (&s->ends);
}

int sim_run (const struct sim_setup *setup, struct trace *trace,
             const struct sim_observer *observer, struct sim_counts *ret,
             struct error *err)
{
    struct sim s = {
        .setup = setup, .trace = trace, .observer = observer, .counts = ret, .err = err
    };
    double begin = clock_mono ();

    *ret = (struct sim_counts){ 0 };
    int rc = set_up (&s);
    if (rc == 0)
        rc = run (&s);
    ret->seconds = clock_mono () - begin;
    tear_down (&s);
    return rc;
}

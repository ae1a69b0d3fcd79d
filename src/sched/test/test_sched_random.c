/* Random streams compared with the obvious queue: for each decision everything is planned
 * from scratch, in order, by another matcher with the same bookings: a job starts, gets a
 * reservation, or is skipped. Fails if another job starts, or elsewhere, if a job is lost
 * or starts twice, if a plan in steps differs from one made at once, if a job that starts
 * early delays a reservation, or if a job that can run never does. */
#include "common/test/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "match/machine/match_private.h"
#include "match/test/build.h"
#include "sched/sched.h"

#define JOBS 40
#define SHAPES 8
#define STREAMS 600
#define NODES 4

struct ref_job {
    enum { OUT, PENDING, RUNNING } state;
    bool held;
    int64_t priority;
    double begin, duration, end; /* end: of the limit, while the job runs */
    unsigned queue;
    int shape;
    double start; /* of its reservation in the last plan from scratch, 0: none */
};

/* The rules of the policies once more, as data: the reference does not ask the
 * policies. */
struct rules {
    const char *policy; /* NULL: the policy of this test */
    bool fcfs;          /* no job starts before another */
    bool closed;        /* behind `depth` reservations no job starts */
    bool shortest;      /* short jobs first, whatever their priority */
    double longest;     /* duration of a job that may pass; 0: any */
};
static const struct rules rules[] = {
    { .policy = "conservative", .closed = true },
    { .policy = "easy" },
    { .policy = "fcfs", .fcfs = true },
    { .policy = "hybrid" },
    { .shortest = true, .longest = 5 },
};

static int64_t rank_shortest (const struct sched_entry *job)
{
    return -(int64_t)job->duration;
}

static enum queue_pass pass_short (const struct queue_plan *plan,
                                   const struct sched_entry *job)
{
    (void)plan;
    return job->duration <= 5 ? QUEUE_PASS : QUEUE_WAIT;
}

static const struct queue_policy shortest = {
    .name = "shortest",
    .depth = 2,
    .takes_depth = true,
    .rank = rank_shortest,
    .plan = queue_plan_reserved,
    .pass = pass_short,
};

struct world {
    uint64_t random;
    double now;
    struct machine *g[2]; /* 0: the scheduler's, 1: the reference's */
    struct matcher *m[2];
    struct sched *s;
    const struct rules *rules;
    const struct queue_policy *policy;
    unsigned depth;
    struct ref_job job[JOBS + 1];
    bool started[2]; /* queues that are started */
};

static struct match_request *shapes[SHAPES];

static uint64_t below (struct world *w, uint64_t n)
{
    return build_random (&w->random) % n;
}

/* -- the reference -- */

static bool is_in_order (const struct world *w, const struct ref_job *j)
{
    return j->state == PENDING && !j->held && j->begin <= w->now && w->started[j->queue];
}

static int64_t ref_rank (const struct world *w, const struct ref_job *j)
{
    return w->rules->shortest ? -(int64_t)j->duration : j->priority;
}

static uint64_t ref_first_after (const struct world *w, const bool *seen)
{
    uint64_t best = 0;

    for (uint64_t id = 1; id <= JOBS; id++) {
        const struct ref_job *j = &w->job[id];
        if (seen[id] || !is_in_order (w, j))
            continue;
        if (!best || ref_rank (w, j) > ref_rank (w, &w->job[best]))
            best = id;
    }
    return best;
}

static void ref_forget_plan (struct world *w)
{
    for (uint64_t id = 1; id <= JOBS; id++) {
        if (w->job[id].state == PENDING && w->job[id].start > 0)
            assert_int_equal (match_cancel (w->m[1], id), 0);
        w->job[id].start = 0;
    }
}

/* The next job that starts, with *ret; 0: none. The plan stays until it is discarded. */
static uint64_t ref_next (struct world *w, struct rset **ret)
{
    bool seen[JOBS + 1] = { false };
    unsigned reserved = 0;
    uint64_t id;

    ref_forget_plan (w);
    while ((id = ref_first_after (w, seen))) {
        struct ref_job *j = &w->job[id];
        seen[id] = true;
        if (reserved >= w->depth && w->rules->longest > 0
            && j->duration > w->rules->longest)
            continue;
        if (match_allocate (w->m[1], id, shapes[j->shape], w->now, j->duration, ret, NULL)
            == 0)
            return id;
        if (reserved < w->depth)
            reserved += match_reserve (w->m[1], id, shapes[j->shape], w->now, j->duration,
                                       &j->start, NULL)
                        == 0;
        if (w->rules->fcfs || (w->rules->closed && reserved >= w->depth))
            return 0;
    }
    return 0;
}

/* Makes a plan from scratch and undoes its starts: returns the start of each job. */
static void ref_plan (struct world *w, double *start)
{
    struct rset *r;
    uint64_t id = ref_next (w, &r);

    if (id) {
        rset_destroy (r);
        match_cancel (w->m[1], id);
    }
    for (uint64_t k = 1; k <= JOBS; k++)
        start[k] = w->job[k].start;
    ref_forget_plan (w);
}

/* -- steps -- */

/* Each job that had a reservation before this start still has it, at the same time. */
static void check_no_delay (struct world *w, const double *before, uint64_t id)
{
    double after[JOBS + 1];

    ref_plan (w, after);
    for (uint64_t k = 1; k <= JOBS; k++)
        if (before[k] > 0 && k != id && w->job[k].state == PENDING
            && after[k] > before[k])
            fail_msg ("job %d starts: job %d is planned for %g, no longer for %g", (int)id,
                      (int)k, after[k], before[k]);
}

static void start_job (struct world *w, uint64_t id, struct sched_decision *d,
                       struct rset *ref, const double *before)
{
    autofree char *is = rset_encode (d->r), *wanted = rset_encode (ref);
    struct ref_job *j = &w->job[id];

    assert_string_equal (is, wanted);
    assert_true (match_has (w->m[0], id));
    rset_destroy (d->r);
    rset_destroy (ref);
    j->state = RUNNING;
    j->end = w->now + j->duration;
    check_no_delay (w, before, id);
}

static void do_pass (struct world *w)
{
    struct sched_decision d;
    unsigned max_tries = (unsigned)below (w, 4);

    for (;;) {
        double before[JOBS + 1];
        struct rset *ref = NULL;
        int rc;
        while ((rc = sched_next (w->s, w->now, max_tries, &d)) == -EAGAIN)
            ;
        uint64_t expected = ref_next (w, &ref);
        for (uint64_t k = 1; k <= JOBS; k++)
            before[k] = w->job[k].start;
        ref_forget_plan (w);
        assert_int_equal (rc, expected ? 1 : 0);
        if (rc == 0)
            return;
        assert_int_equal (d.id, expected);
        start_job (w, expected, &d, ref, before);
        if (below (w, 10) == 0)
            return; /* a pass may be left */
    }
}

static void end_job (struct world *w, uint64_t id)
{
    assert_int_equal (match_cancel (w->m[0], id), 0);
    assert_int_equal (match_cancel (w->m[1], id), 0);
    w->job[id].state = OUT;
}

/* No job runs past its limit. */
static void do_time (struct world *w, double seconds)
{
    w->now += seconds;
    for (uint64_t id = 1; id <= JOBS; id++)
        if (w->job[id].state == RUNNING && w->job[id].end <= w->now)
            end_job (w, id);
}

static void do_enqueue (struct world *w)
{
    static const double durations[] = { 2, 5, 20 };
    uint64_t id = 1 + below (w, JOBS);
    struct ref_job *j = &w->job[id];
    struct ref_job next = {
        .state = PENDING,
        .held = below (w, 8) == 0,
        .priority = (int64_t)below (w, 4),
        .begin = below (w, 5) == 0 ? w->now + (double)below (w, 6) : 0,
        .duration = durations[below (w, 3)],
        .queue = (unsigned)below (w, 2),
        .shape = (int)below (w, SHAPES),
    };
    struct sched_entry e = {
        .id = id,
        .priority = next.priority,
        .held = next.held,
        .begin = next.begin,
        .duration = next.duration,
        .queue = next.queue,
        .req = shapes[next.shape],
    };
    assert_int_equal (sched_enqueue (w->s, &e), j->state == RUNNING ? -EINVAL : 0);
    if (j->state != RUNNING)
        *j = next;
}

static void do_end_or_dequeue (struct world *w)
{
    uint64_t id = 1 + below (w, JOBS);
    struct ref_job *j = &w->job[id];

    assert_int_equal (sched_dequeue (w->s, id), j->state == PENDING ? 0 : -ENOENT);
    if (j->state == RUNNING)
        end_job (w, id);
    j->state = OUT;
}

static void do_machine (struct world *w)
{
    uint64_t what = below (w, 2);

    if (what == 0) {
        unsigned q = (unsigned)below (w, 2);
        w->started[q] = below (w, 3) > 0;
        assert_int_equal (sched_queue_set (w->s, q, w->started[q]), 0);
        return;
    }
    int node = (int)below (w, NODES);
    enum machine_node_state state = below (w, 3) ? MACHINE_NODE_UP : MACHINE_NODE_DRAINED;
    for (int k = 0; k < 2; k++)
        machine_node_set_state (w->g[k], node, state, NULL);
}

static size_t ref_ahead (const struct world *w, uint64_t id, const bool *ripe)
{
    size_t ahead = 0;

    for (uint64_t k = 1; k <= JOBS; k++) {
        const struct ref_job *j = &w->job[k], *own = &w->job[id];
        ahead +=
            k != id && j->state == PENDING && ripe[k] && w->started[j->queue]
            && (ref_rank (w, j) > ref_rank (w, own)
                || (ref_rank (w, j) == ref_rank (w, own) && k < id));
    }
    return ahead;
}

static void check_reasons (struct world *w)
{
    struct sched_reason reason[JOBS + 1];
    bool ripe[JOBS + 1];
    size_t pending = 0;

    for (uint64_t id = 1; id <= JOBS; id++) {
        const struct ref_job *j = &w->job[id];
        int rc = sched_reason (w->s, id, &reason[id]);
        assert_int_equal (rc, j->state == PENDING ? 0 : -ENOENT);
        const char *name = sched_reason_name (w->s, id);
        assert_true (rc == 0 ? name && !strcmp (name, reason[id].name) : !name);
        pending += j->state == PENDING;
        ripe[id] = rc == 0 && reason[id].code != SCHED_REASON_HELD
                   && reason[id].code != SCHED_REASON_BEGIN
                   && reason[id].code != SCHED_REASON_QUEUE_STOPPED;
        if (rc == 0)
            assert_true (reason[id].text[0] != 0
                         && (reason[id].code == SCHED_REASON_HELD) == j->held);
    }
    for (uint64_t id = 1; id <= JOBS; id++) {
        if (w->job[id].state == PENDING && ripe[id])
            assert_int_equal (reason[id].ahead, ref_ahead (w, id, ripe));
    }
    assert_int_equal (sched_pending (w->s), pending);
}

/* After a pass, the planned starts are those of the plan from scratch. */
static void check_starts (struct world *w)
{
    double start[JOBS + 1];

    ref_plan (w, start);
    for (uint64_t id = 1; id <= JOBS; id++) {
        struct sched_reason reason;
        double when = 0;
        bool planned = false;
        if (w->job[id].state != PENDING)
            continue;
        assert_int_equal (sched_reason (w->s, id, &reason), 0);
        if (fabs (reason.start - start[id]) > 1e-5)
            fail_msg ("job %d is planned for %f, from scratch for %f", (int)id,
                      reason.start, start[id]);
        int rc = sched_estimate (w->s, id, w->now, &when, &planned);
        assert_true (rc == 0 || rc == -EBUSY);
        assert_true (planned == (start[id] > 0) && (rc < 0 || when >= w->now));
    }
}

static void full_pass (struct world *w)
{
    struct sched_decision d;
    int rc;

    while ((rc = sched_next (w->s, w->now, 0, &d)) == 1) {
        struct rset *ref = NULL;
        uint64_t expected = ref_next (w, &ref);
        assert_int_equal (d.id, expected);
        ref_forget_plan (w);
        rset_destroy (ref);
        rset_destroy (d.r);
        w->job[d.id].state = RUNNING;
        w->job[d.id].end = w->now + w->job[d.id].duration;
    }
    assert_int_equal (rc, 0);
    check_starts (w);
}

/* Without new jobs, and with everything up, every job runs. */
static void drain (struct world *w)
{
    for (unsigned q = 0; q < 2; q++) {
        w->started[q] = true;
        sched_queue_set (w->s, q, true);
    }
    for (int node = 0; node < NODES; node++)
        for (int k = 0; k < 2; k++)
            machine_node_set_state (w->g[k], node, MACHINE_NODE_UP, NULL);
    for (uint64_t id = 1; id <= JOBS; id++)
        if (w->job[id].state == PENDING && w->job[id].held) {
            assert_int_equal (sched_dequeue (w->s, id), 0);
            w->job[id].state = OUT;
        }
    for (int k = 0; k < 1000 && sched_pending (w->s) > 0; k++) {
        full_pass (w);
        do_time (w, 1);
    }
    assert_int_equal (sched_pending (w->s), 0);
}

static void choose_policy (struct world *w)
{
    w->rules = &rules[below (w, ARRAY_SIZE (rules))];
    w->policy = w->rules->policy ? queue_policy_find (w->rules->policy) : &shortest;
    w->depth = w->policy->takes_depth ? 1 + (unsigned)below (w, 4) : w->policy->depth;
}

static void do_policy (struct world *w)
{
    choose_policy (w);
    sched_set_policy (w->s, w->policy, w->depth);
}

static void world_make (struct world *w, uint64_t seed)
{
    *w = (struct world){ .random = seed, .now = 1000, .started = { true, true } };
    for (int k = 0; k < 2; k++) {
        w->g[k] = machine_create ("cluster");
        w->m[k] = matcher_create (w->g[k], match_policy_find ("lonode"));
        for (int i = 0; i < NODES; i++) {
            char name[16];
            snprintf (name, sizeof (name), "n%d", i);
            struct machine_node_spec spec = { .name = name, .cores = 4, .gpus = 1 };
            machine_node_add (w->g[k], &spec, NULL);
        }
    }
    choose_policy (w);
    w->s = sched_create (w->m[0], w->policy, w->policy->takes_depth ? w->depth : 0);
    if (below (w, 2) == 0) /* whole searches, or a few times of each in a call */
        match_search_in_pieces (w->m[0], 1 + below (w, 5000));
    sched_queue_set (w->s, 0, true);
    sched_queue_set (w->s, 1, true);
}

static void stream (uint64_t seed)
{
    struct world w;

    world_make (&w, seed);
    for (int k = 0; k < 80; k++) {
        uint64_t what = below (&w, 48);
        if (what == 0) {
            do_policy (&w);
            continue;
        }
        what %= 12;
        if (what < 5)
            do_enqueue (&w);
        else if (what < 7)
            do_end_or_dequeue (&w);
        else if (what < 8)
            do_machine (&w);
        else if (what < 10)
            do_time (&w, (double)below (&w, 4));
        else
            do_pass (&w);
        check_reasons (&w);
    }
    drain (&w);
    sched_destroy (w.s);
    assert_int_equal (planner_count (w.m[0]->p), planner_count (w.m[1]->p));
    for (int k = 0; k < 2; k++) {
        matcher_destroy (w.m[k]);
        machine_destroy (w.g[k]);
    }
}

/* -- many limits -- */

/* A few calls complete a pass for any time limits of the jobs, and in the end
 * all jobs have run. */
static void bounded_pass (struct world *w)
{
    struct sched_decision d;
    int calls = 0, rc;

    while ((rc = sched_next (w->s, w->now, 1 + (unsigned)below (w, 4), &d)) != 0) {
        assert_true (rc == 1 || rc == -EAGAIN);
        if (calls++ > 50 * JOBS)
            fail_msg ("a pass under %s does not end", w->policy->name);
        if (rc == -EAGAIN)
            continue;
        rset_destroy (d.r);
        w->job[d.id].state = RUNNING;
        w->job[d.id].end = w->now + w->job[d.id].duration;
    }
}

static void end_late_ones (struct world *w)
{
    for (uint64_t id = 1; id <= JOBS; id++) {
        struct ref_job *j = &w->job[id];
        bool early = below (w, 40) == 0;
        if (j->state != RUNNING || (j->end > w->now && !early))
            continue;
        assert_int_equal (match_cancel (w->m[0], id), 0);
        j->state = OUT;
    }
}

static void stream_of_limits (uint64_t seed)
{
    struct world w;

    world_make (&w, seed);
    for (uint64_t id = 1; id <= JOBS; id++) {
        struct sched_entry e = { .id = id,
                                 .priority = (int64_t)below (&w, 3),
                                 .duration = 1 + (double)below (&w, 300),
                                 .req = shapes[below (&w, 4)] };
        w.job[id].state = PENDING;
        w.job[id].duration = e.duration;
        assert_int_equal (sched_enqueue (w.s, &e), 0);
        if (below (&w, 4) == 0)
            bounded_pass (&w);
    }
    for (int k = 0; k < 5000 && sched_pending (w.s) > 0; k++) {
        bounded_pass (&w);
        w.now += 1 + (double)below (&w, 4);
        end_late_ones (&w);
    }
    assert_int_equal (sched_pending (w.s), 0);
    sched_destroy (w.s);
    for (int k = 0; k < 2; k++) {
        matcher_destroy (w.m[k]);
        machine_destroy (w.g[k]);
    }
}

static void test_streams (void **state)
{
    (void)state;
    static const char *const trees[SHAPES] = {
        "slot=1>core=1",         "slot=1>core=3",         "slot=2>core=2",
        "node=2>slot=1>core=1",  "node=1!>slot=1>core=1", "slot=1>gpu=1",
        "node=3!>slot=1>core=4", "slot=6>core=1",
    };
    struct error err;
    for (int i = 0; i < SHAPES; i++)
        shapes[i] = build_request (trees[i], 0, NULL, &err);
    uint64_t seed = build_seed ("sched");
    for (uint64_t k = 0; k < STREAMS; k++) {
        stream (seed + k);
        stream_of_limits (seed + k);
    }
    for (int i = 0; i < SHAPES; i++)
        match_request_destroy (shapes[i]);
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_streams) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

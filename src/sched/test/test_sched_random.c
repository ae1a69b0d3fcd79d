/* Random streams against the obvious queue: a list that is walked from the front,
 * every job tried. What would be wrong: another job starts than there, one is lost or
 * starts twice, one overtakes an equal one. Both matchers see the same bookings, so a
 * difference is the queue's. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/test/build.h"
#include "sched/sched.h"

#define JOBS 40
#define SHAPES 8
#define STREAMS 1500

struct ref_job {
    enum { OUT, PENDING, RUNNING } state;
    bool held;
    int64_t priority;
    double begin;
    unsigned queue;
    int shape;
};

struct world {
    uint64_t random;
    double now;
    struct machine *g[2]; /* 0: the scheduler's, 1: the reference's */
    struct matcher *m[2];
    struct sched *s;
    struct ref_job job[JOBS + 1];
    bool started[2]; /* queues */
};

static struct match_request *shapes[SHAPES];

static uint64_t below (struct world *w, uint64_t n)
{
    return build_random (&w->random) % n;
}

/* Does the reference start this job now, when it is its turn? */
static bool may_start (const struct world *w, const struct ref_job *j)
{
    return j->state == PENDING && !j->held && j->begin <= w->now && w->started[j->queue];
}

static uint64_t ref_first_after (const struct world *w, const bool *seen)
{
    uint64_t best = 0;
    for (uint64_t id = 1; id <= JOBS; id++) {
        const struct ref_job *j = &w->job[id];
        if (seen[id] || !may_start (w, j))
            continue;
        if (!best || j->priority > w->job[best].priority)
            best = id;
    }
    return best;
}

/* Walk the whole order from the front; the first that fits starts. 0: none does. */
static uint64_t ref_next (struct world *w)
{
    bool seen[JOBS + 1] = { false };
    uint64_t id;
    while ((id = ref_first_after (w, seen))) {
        struct rset *r;
        seen[id] = true;
        if (match_allocate (w->m[1], id, shapes[w->job[id].shape], w->now, 0, &r, NULL)
            == 0) {
            rset_destroy (r);
            w->job[id].state = RUNNING;
            return id;
        }
    }
    return 0;
}

static void do_pass (struct world *w)
{
    struct sched_decision d;
    unsigned max_tries = (unsigned)below (w, 4);
    for (;;) {
        int rc;
        while ((rc = sched_next (w->s, w->now, max_tries, &d)) == -EAGAIN)
            ;
        uint64_t expected = ref_next (w);
        assert_int_equal (rc, expected ? 1 : 0);
        if (rc == 0)
            return;
        assert_int_equal (d.id, expected);
        assert_true (match_has (w->m[0], d.id));
        rset_destroy (d.r);
        if (below (w, 10) == 0)
            return; /* a pass may be left */
    }
}

static void do_enqueue (struct world *w)
{
    uint64_t id = 1 + below (w, JOBS);
    struct ref_job *j = &w->job[id];
    struct ref_job next = {
        .state = PENDING,
        .held = below (w, 8) == 0,
        .priority = (int64_t)below (w, 4),
        .begin = below (w, 5) == 0 ? w->now + (double)below (w, 6) : 0,
        .queue = (unsigned)below (w, 2),
        .shape = (int)below (w, SHAPES),
    };
    struct sched_entry e = {
        .id = id,
        .priority = next.priority,
        .held = next.held,
        .begin = next.begin,
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
    if (j->state == RUNNING) {
        assert_int_equal (match_cancel (w->m[0], id), 0);
        assert_int_equal (match_cancel (w->m[1], id), 0);
    }
    j->state = OUT;
}

static void do_machine (struct world *w)
{
    uint64_t what = below (w, 3);
    if (what == 0) {
        unsigned q = (unsigned)below (w, 2);
        w->started[q] = below (w, 3) > 0;
        assert_int_equal (sched_queue_set (w->s, q, w->started[q]), 0);
        return;
    }
    int node = (int)below (w, 4);
    uint32_t foreign = (uint32_t)below (w, 3);
    enum machine_node_state state = below (w, 3) ? MACHINE_NODE_UP : MACHINE_NODE_DRAINED;
    for (int k = 0; k < 2; k++) {
        if (what == 1)
            machine_node_set_state (w->g[k], node, state, NULL);
        else
            machine_node_set_foreign (w->g[k], node, foreign, 0, 0);
    }
}

static size_t ref_ahead (const struct world *w, uint64_t id, const bool *ripe)
{
    size_t ahead = 0;
    for (uint64_t k = 1; k <= JOBS; k++) {
        const struct ref_job *j = &w->job[k], *own = &w->job[id];
        ahead +=
            k != id && j->state == PENDING && ripe[k] && w->started[j->queue]
            && (j->priority > own->priority || (j->priority == own->priority && k < id));
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
                   && reason[id].code != SCHED_REASON_BEGIN;
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

static void stream (uint64_t seed)
{
    struct world w = { .random = seed, .now = 1000, .started = { true, true } };
    for (int k = 0; k < 2; k++) {
        w.g[k] = machine_create ("cluster");
        w.m[k] = matcher_create (w.g[k], match_policy_find ("lonode"));
        for (int i = 0; i < 4; i++) {
            char name[16];
            snprintf (name, sizeof (name), "n%d", i);
            struct machine_node_spec spec = { .name = name, .cores = 4, .gpus = 1 };
            machine_node_add (w.g[k], &spec, NULL);
        }
    }
    w.s = sched_create (w.m[0]);
    sched_queue_set (w.s, 0, true);
    sched_queue_set (w.s, 1, true);
    for (int k = 0; k < 60; k++) {
        uint64_t what = below (&w, 12);
        if (what < 5)
            do_enqueue (&w);
        else if (what < 8)
            do_end_or_dequeue (&w);
        else if (what < 9)
            do_machine (&w);
        else if (what < 10)
            w.now += (double)below (&w, 4);
        else
            do_pass (&w);
        check_reasons (&w);
    }
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
    for (uint64_t k = 0; k < STREAMS; k++)
        stream (seed + k);
    for (int i = 0; i < SHAPES; i++)
        match_request_destroy (shapes[i]);
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_streams) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* The plan of a conservative or hybrid queue compared with a plan from scratch: after
 * each change, for any number of calls in the pass and any changes in between, each job
 * has exactly the cores and the start of a plan that books all jobs in order on another
 * matcher with the same running jobs. Fails if a job keeps a place although an earlier
 * job has moved, or does not move to a better place. */
#include "common/test/unit.h"

#include <stdio.h>
#include <string.h>

#include "match/machine/match_private.h"
#include "match/test/build.h"
#include "match/test/inspect.h"
#include "match/test/places.h"
#include "match/test/verify.h"
#include "sched/sched.h"

#define JOBS 70
#define NODES 24
#define STREAMS 60
#define STEPS 50

struct job {
    enum { OUT, PENDING, RUNNING } state;
    int64_t priority;
    double duration, end;
    const struct match_request *req;
};

struct world {
    uint64_t random;
    double now;
    struct machine *g[2]; /* 0: the queue's, 1: the reference's */
    struct matcher *m[2];
    struct sched *s;
    unsigned depth;
    struct job job[JOBS + 1];
};

static const struct {
    const char *tree, *constraints;
    int64_t memory;
} shapes[] = {
    { "slot=1>core=1", NULL, 0 },
    { "slot=1>core=3", NULL, 0 },
    { "slot=5>core=2", NULL, 0 },
    { "slot=1>(core=2,gpu=1)", NULL, 0 },
    { "node=1!>slot=1>core=1", NULL, 0 },
    { "node=2>slot=1>core=3", NULL, 0 },
    { "node=3!>slot=1>core=4", NULL, 0 },
    { "node=6!>slot=1>core=1", NULL, 0 },
    { "node=12>slot=1>core=2", NULL, 0 },
    { "slot=1>core=2", "{\"properties\":[\"big\"]}", 0 },
    { "node=2!>slot=1>core=1", "{\"properties\":[\"big\"]}", 0 },
    { "slot=2>core=1", NULL, 0 },
    { "node=1>slot=1>core=1", NULL, 5 * 1024 },
    { "node=2>slot=1>core=1", NULL, 3 * 1024 },
    { "slot=2>(core=1,memory=3:GiB)", NULL, 0 },
    { "node=1-4>slot=1>core=4", NULL, 0 },
};
#define SHAPES ARRAY_SIZE (shapes)

static struct match_request *reqs[SHAPES];

static const char *const policies[] = { "lonode", "lonode",  "low",      "high",
                                        "hinode", "lonodex", "variation" };

static uint64_t below (struct world *w, uint64_t n)
{
    return build_random (&w->random) % n;
}

/* -- the plan from scratch -- */

static uint64_t first_after (const struct world *w, const bool *seen)
{
    uint64_t best = 0;

    for (uint64_t id = 1; id <= JOBS; id++)
        if (!seen[id] && w->job[id].state == PENDING
            && (!best || w->job[id].priority > w->job[best].priority))
            best = id;
    return best;
}

static void expect_same_place (struct world *w, uint64_t id, double start)
{
    autoselection struct selection *is = planner_selection (w->m[0]->p, id);
    autoselection struct selection *wanted = planner_selection (w->m[1]->p, id);
    size_t ahead;
    double told = 0;

    assert_int_equal (sched_position (w->s, id, &ahead, &told), 0);
    if (told < start - 1e-5 || told > start + 1e-5)
        fail_msg ("job %d is planned for %f, from scratch for %f", (int)id, told, start);
    assert_true (!is == !wanted);
    if (!is)
        return;
    assert_int_equal (is->n, wanted->n);
    assert_true (is->start == wanted->start && is->end == wanted->end);
    for (size_t i = 0; i < is->n; i++) {
        const struct pick *a = &is->picks[i], *b = &wanted->picks[i];
        if (a->v != b->v || a->unit != b->unit || a->count != b->count
            || a->amount != b->amount)
            fail_msg ("job %d has another place than from scratch", (int)id);
    }
}

/* No job starts any more, so no job starts in the plan from scratch. */
static void check_plan (struct world *w)
{
    bool seen[JOBS + 1] = { false }, planned[JOBS + 1] = { false };
    unsigned reserved = 0;
    struct error why;
    uint64_t id;

    while (reserved < w->depth && (id = first_after (w, seen))) {
        const struct job *j = &w->job[id];
        double start = 0;
        seen[id] = true;
        planned[id] =
            match_reserve (w->m[1], id, j->req, w->now, j->duration, &start, &why) == 0;
        assert_false (match_has (w->m[1], id));
        reserved += planned[id];
        expect_same_place (w, id, start);
    }
    for (id = 1; id <= JOBS; id++)
        if (planned[id])
            assert_int_equal (match_cancel (w->m[1], id), 0);
    if (planner_verify (w->m[0]->p, &why) < 0)
        fail_msg ("%s", why.text);
}

/* -- steps -- */

static void start_job (struct world *w, struct sched_decision *d)
{
    struct job *j = &w->job[d->id];

    assert_int_equal (match_update (w->m[1], d->id, d->r, NULL), 0);
    rset_destroy (d->r);
    j->state = RUNNING;
    j->end = w->now + j->duration;
}

/* False if the pass was left before its end. */
static bool do_pass (struct world *w)
{
    unsigned max_tries = (unsigned)below (w, 3);
    bool leave = below (w, 3) == 0;
    struct sched_decision d;
    int rc;

    while ((rc = sched_next (w->s, w->now, max_tries, &d)) != 0) {
        if (rc == 1)
            start_job (w, &d);
        if (leave && below (w, 8) == 0)
            return false;
    }
    return true;
}

static void end_job (struct world *w, uint64_t id)
{
    for (int k = 0; k < 2; k++)
        assert_int_equal (match_cancel (w->m[k], id), 0);
    w->job[id].state = OUT;
}

/* Some jobs are late. */
static void do_time (struct world *w, double seconds)
{
    w->now += seconds;
    for (uint64_t id = 1; id <= JOBS; id++)
        if (w->job[id].state == RUNNING && w->job[id].end <= w->now && below (w, 4))
            end_job (w, id);
}

static void do_enqueue (struct world *w)
{
    uint64_t id = 1 + below (w, JOBS);
    struct job *j = &w->job[id];

    if (j->state == RUNNING)
        return;
    *j = (struct job){ .state = PENDING,
                       .priority = (int64_t)below (w, 3),
                       .duration = 1 + (double)below (w, below (w, 2) ? 10 : 100),
                       .req = reqs[below (w, SHAPES)] };
    struct sched_entry e = {
        .id = id, .priority = j->priority, .duration = j->duration, .req = j->req
    };
    assert_int_equal (sched_enqueue (w->s, &e), 0);
}

static void do_end_or_cancel (struct world *w)
{
    uint64_t id = 1 + below (w, JOBS);

    if (w->job[id].state == RUNNING)
        end_job (w, id);
    else if (w->job[id].state == PENDING)
        assert_int_equal (sched_dequeue (w->s, id), 0);
    w->job[id].state = OUT;
}

static void do_node (struct world *w)
{
    int node = (int)below (w, NODES);
    enum machine_node_state state = below (w, 3) ? MACHINE_NODE_UP : MACHINE_NODE_DRAINED;

    for (int k = 0; k < 2; k++)
        machine_node_set_state (w->g[k], node, state, NULL);
}

static void do_step (struct world *w)
{
    uint64_t what = below (w, 20);

    if (what < 9)
        do_enqueue (w);
    else if (what < 15)
        do_end_or_cancel (w);
    else if (what < 16)
        do_node (w);
    else if (what < 18)
        do_time (w, (double)below (w, 8));
    if (below (w, 2) && do_pass (w))
        check_plan (w);
}

/* -- streams -- */

static void world_make (struct world *w, uint64_t seed)
{
    static const char *const properties[] = { "big", NULL };

    *w = (struct world){ .random = seed, .now = 1000 };
    const char *policy = policies[below (w, ARRAY_SIZE (policies))];
    for (int k = 0; k < 2; k++) {
        w->g[k] = machine_create ("cluster");
        w->m[k] = matcher_create (w->g[k], match_policy_find (policy));
        for (int i = 0; i < NODES; i++) {
            char name[16], rack[16];
            snprintf (name, sizeof (name), "n%d", i);
            snprintf (rack, sizeof (rack), "r%d", i / 8);
            struct machine_node_spec spec = { .name = name,
                                              .places = IN_RACK (rack),
                                              .cores = 4,
                                              .gpus = 1,
                                              .memory_mib = 8 * 1024,
                                              .properties = i < 6 ? properties : NULL };
            machine_node_add (w->g[k], &spec, NULL);
        }
    }
    bool hybrid = below (w, 3) == 0;
    w->depth = hybrid ? 1 + (unsigned)below (w, 12) : QUEUE_DEPTH_MAX;
    w->s = sched_create (w->m[0], queue_policy_find (hybrid ? "hybrid" : "conservative"),
                         hybrid ? w->depth : 0);
    if (below (w, 2) == 0) /* whole searches, or a few times of each in a call */
        match_search_in_pieces (w->m[0], 1 + below (w, 5000));
    sched_queue_set (w->s, 0, true);
    for (int k = 0; k < JOBS; k++)
        do_enqueue (w);
}

static void stream (uint64_t seed)
{
    struct world w;

    world_make (&w, seed);
    for (int k = 0; k < STEPS; k++)
        do_step (&w);
    sched_destroy (w.s);
    for (int k = 0; k < 2; k++) {
        matcher_destroy (w.m[k]);
        machine_destroy (w.g[k]);
    }
}

static void test_streams (void **state)
{
    (void)state;
    struct error err;
    for (size_t i = 0; i < SHAPES; i++)
        reqs[i] =
            build_request (shapes[i].tree, shapes[i].memory, shapes[i].constraints, &err);
    uint64_t seed = build_seed ("plan");
    for (uint64_t k = 0; k < STREAMS; k++)
        stream (seed + k);
    for (size_t i = 0; i < SHAPES; i++)
        match_request_destroy (reqs[i]);
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_streams) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

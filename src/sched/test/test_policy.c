/* A policy decides which job is tried next, which gets a reservation, and which may
 * pass others. Fails if the scheduler does not follow the answers of the policy. */
#include "common/test/unit.h"

#include <stdio.h>

#include "match/test/build.h"
#include "sched/sched_private.h"

#define NOW 1000.0

/* -- policies of this test: short jobs first; no jobs, or only urgent jobs, in the
 * plan; only short jobs pass -- */

static int64_t rank_shortest (const struct sched_entry *job)
{
    return job->duration > 0 ? -(int64_t)job->duration : INT64_MIN;
}

static bool plan_none (const struct queue_plan *plan, const struct sched_entry *job)
{
    (void)plan;
    (void)job;
    return false;
}

static bool plan_urgent (const struct queue_plan *plan, const struct sched_entry *job)
{
    return job->priority > 16 && queue_plan_reserved (plan, job);
}

static enum queue_pass pass_short (const struct queue_plan *plan,
                                   const struct sched_entry *job)
{
    (void)plan;
    return job->duration > 0 && job->duration <= 60 ? QUEUE_PASS : QUEUE_WAIT;
}

static const struct queue_policy shortest = {
    .depth = 1,
    .rank = rank_shortest,
    .plan = queue_plan_reserved,
    .pass = queue_pass_any,
};
static const struct queue_policy unplanned = {
    .depth = 1,
    .rank = queue_rank_priority,
    .plan = plan_none,
    .pass = queue_pass_any,
};
static const struct queue_policy urgent = {
    .depth = 5,
    .rank = queue_rank_priority,
    .plan = plan_urgent,
    .pass = queue_pass_any,
};
static const struct queue_policy short_passes = {
    .depth = 1,
    .rank = queue_rank_priority,
    .plan = queue_plan_reserved,
    .pass = pass_short,
};

/* -- two nodes with four cores -- */

struct fixture {
    struct machine *g;
    struct matcher *m;
    struct sched *s;
    struct match_request *core, *node, *both;
};

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));
    struct error err;

    f->g = machine_create ("cluster");
    f->m = matcher_create (f->g, match_policy_find ("lonode"));
    f->s = sched_create (f->m, queue_policy_find ("easy"), 0);
    for (int i = 0; i < 2; i++) {
        struct machine_node_spec spec = { .name = i ? "n1" : "n0", .cores = 4 };
        machine_node_add (f->g, &spec, NULL);
    }
    f->core = build_request ("slot=1>core=1", 0, NULL, &err);
    f->node = build_request ("node=1!>slot=1>core=1", 0, NULL, &err);
    f->both = build_request ("node=2!>slot=1>core=1", 0, NULL, &err);
    sched_queue_set (f->s, 0, true);
    *state = f;
    return 0;
}

static int teardown (void **state)
{
    struct fixture *f = *state;

    match_request_destroy (f->core);
    match_request_destroy (f->node);
    match_request_destroy (f->both);
    sched_destroy (f->s);
    matcher_destroy (f->m);
    machine_destroy (f->g);
    free (f);
    return 0;
}

static void add (struct fixture *f, uint64_t id, int64_t priority, double duration,
                 const struct match_request *req)
{
    struct sched_entry e = {
        .id = id, .priority = priority, .duration = duration, .req = req
    };

    assert_int_equal (sched_enqueue (f->s, &e), 0);
}

/* The ids that start now, "3 1 2". */
static void expect_starts (struct fixture *f, double now, const char *ids)
{
    autostrbuf struct strbuf sb;
    struct sched_decision d;
    int rc;

    strbuf_init (&sb, 4096);
    while ((rc = sched_next (f->s, now, 0, &d)) == 1) {
        strbuf_addf (&sb, "%s%llu", sb.len ? " " : "", (unsigned long long)d.id);
        rset_destroy (d.r);
    }
    assert_int_equal (rc, 0);
    assert_string_equal (sb.buf, ids);
}

/* start: start of the reservation, 0: none */
static void expect_place (struct fixture *f, uint64_t id, size_t ahead, double start)
{
    size_t is_ahead;
    double is_start;

    assert_int_equal (sched_position (f->s, id, &is_ahead, &is_start), 0);
    assert_int_equal (is_ahead, ahead);
    assert_true (is_start > start - 1e-3 && is_start < start + 1e-3);
}

static void test_rank (void **state)
{
    struct fixture *f = *state;

    sched_set_policy (f->s, &shortest, 0);
    add (f, 1, 16, 300, f->both);
    add (f, 2, 31, 0, f->both);
    add (f, 3, 0, 100, f->both);
    add (f, 4, 16, 200, f->both);
    expect_starts (f, NOW, "3");
    expect_place (f, 4, 0, NOW + 100);
    expect_place (f, 1, 1, 0);
    expect_place (f, 2, 2, 0);
}

/* Pending jobs get the order of a new policy, also in a stopped queue, and get
 * the old order back. */
static void test_rank_changes (void **state)
{
    struct fixture *f = *state;

    add (f, 9, 20, 1000, f->both);
    expect_starts (f, NOW, "9");
    add (f, 1, 18, 300, f->both);
    add (f, 2, 17, 100, f->both);
    add (f, 3, 16, 200, f->both);
    expect_starts (f, NOW, "");
    expect_place (f, 1, 0, NOW + 1000);
    sched_set_policy (f->s, &shortest, 0);
    expect_starts (f, NOW, "");
    expect_place (f, 2, 0, NOW + 1000);
    expect_place (f, 3, 1, 0);
    expect_place (f, 1, 2, 0);
    sched_queue_set (f->s, 0, false);
    sched_set_policy (f->s, queue_policy_find ("hybrid"), 2);
    sched_queue_set (f->s, 0, true);
    expect_starts (f, NOW, "");
    expect_place (f, 1, 0, NOW + 1000);
    expect_place (f, 2, 1, NOW + 1300);
    expect_place (f, 3, 2, 0);
}

static void test_plan (void **state)
{
    struct fixture *f = *state;

    add (f, 1, 20, 100, f->node);
    expect_starts (f, NOW, "1");
    sched_set_policy (f->s, &unplanned, 0);
    add (f, 2, 18, 100, f->both);
    add (f, 3, 17, 100, f->both);
    expect_starts (f, NOW, "");
    expect_place (f, 2, 0, 0);
    sched_set_policy (f->s, &urgent, 0);
    expect_starts (f, NOW, "");
    expect_place (f, 2, 0, NOW + 100);
    expect_place (f, 3, 1, NOW + 200);
    add (f, 3, 16, 100, f->both); /* less urgent now */
    expect_starts (f, NOW, "");
    expect_place (f, 2, 0, NOW + 100);
    expect_place (f, 3, 1, 0);
}

/* Without a reservation for the first job, a job behind it delays it. */
static void test_plan_holds_back (void **state)
{
    struct fixture *f = *state;

    add (f, 1, 20, 100, f->node);
    expect_starts (f, NOW, "1");
    add (f, 2, 18, 100, f->both);
    add (f, 3, 17, 500, f->core);
    expect_starts (f, NOW, "");
    sched_set_policy (f->s, &unplanned, 0);
    expect_starts (f, NOW, "3");
}

static void test_pass (void **state)
{
    struct fixture *f = *state;

    sched_set_policy (f->s, &short_passes, 0);
    add (f, 1, 20, 500, f->node);
    expect_starts (f, NOW, "1");
    add (f, 2, 18, 100, f->both);
    add (f, 3, 17, 90, f->core);
    add (f, 4, 16, 60, f->core);
    add (f, 5, 15, 0, f->core);
    add (f, 6, 14, 30, f->core);
    expect_starts (f, NOW, "4 6");
    assert_int_equal (sched_dequeue (f->s, 2), 0); /* now job 3 is first */
    expect_starts (f, NOW, "3 5");
}

/* The policy is asked once about a job that may not pass, and the job is not tried. */
static void test_pass_costs_no_match (void **state)
{
    struct fixture *f = *state;

    sched_set_policy (f->s, &short_passes, 0);
    add (f, 1, 20, 500, f->node);
    add (f, 2, 18, 100, f->both);
    expect_starts (f, NOW, "1");
    uint64_t tries = f->s->tries;
    for (uint64_t id = 3; id < 1000; id++)
        add (f, id, 16, 100 + (double)id, f->core);
    expect_starts (f, NOW, "");
    assert_int_equal (f->s->tries, tries);
}

static void test_may_pass (void **state)
{
    static const struct sched_entry brief = { .duration = 60 }, lasting = { 0 };
    struct fixture *f = *state;

    for (size_t i = 0; queue_policies[i]; i++) {
        sched_set_policy (f->s, queue_policies[i], 0);
        assert_int_equal (sched_may_pass (f->s, &brief),
                          strcmp (queue_policies[i]->name, "fcfs") != 0);
    }
    sched_set_policy (f->s, &short_passes, 0);
    assert_true (sched_may_pass (f->s, &brief));
    assert_false (sched_may_pass (f->s, &lasting));
}

#define CASE(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        CASE (test_rank),
        CASE (test_rank_changes),
        CASE (test_plan),
        CASE (test_plan_holds_back),
        CASE (test_pass),
        CASE (test_pass_costs_no_match),
        CASE (test_may_pass),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

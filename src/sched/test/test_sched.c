/* The queue by example: order, holds, begin times, reasons, and the cost of a pass. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/test/build.h"
#include "sched/sched_private.h"

struct fixture {
    struct machine *g;
    struct matcher *m;
    struct sched *s;
    struct match_request *one, *four, *node; /* 1 core, 4 cores, a whole node */
    struct match_request *both;              /* two nodes; made by tests that need it */
};

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));
    struct error err;
    f->g = machine_create ("cluster");
    f->m = matcher_create (f->g, match_policy_find ("lonode"));
    f->s = sched_create (f->m, queue_policy_find ("easy"), 0);
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        struct machine_node_spec spec = { .name = name, .cores = 4 };
        machine_node_add (f->g, &spec, NULL);
    }
    f->one = build_request ("slot=1>core=1", 0, NULL, &err);
    f->four = build_request ("slot=1>core=4", 0, NULL, &err);
    f->node = build_request ("node=1!>slot=1>core=1", 0, NULL, &err);
    sched_queue_set (f->s, 0, true);
    *state = f;
    return 0;
}

static int teardown (void **state)
{
    struct fixture *f = *state;
    match_request_destroy (f->both);
    match_request_destroy (f->one);
    match_request_destroy (f->four);
    match_request_destroy (f->node);
    sched_destroy (f->s);
    matcher_destroy (f->m);
    machine_destroy (f->g);
    free (f);
    return 0;
}

static void set_policy (struct fixture *f, const char *name, unsigned depth)
{
    sched_set_policy (f->s, queue_policy_find (name), depth);
}

/* A job of the default priority with a time limit. */
static void add_timed (struct fixture *f, uint64_t id, double duration,
                       const struct match_request *req)
{
    struct sched_entry e = { .id = id, .priority = 16, .duration = duration, .req = req };
    assert_int_equal (sched_enqueue (f->s, &e), 0);
}

/* 0: no limit */
static void expect_planned (struct fixture *f, uint64_t id, double start)
{
    struct sched_reason reason;
    assert_int_equal (sched_reason (f->s, id, &reason), 0);
    assert_true (reason.start > start - 1e-3 && reason.start < start + 1e-3);
}

static void add (struct fixture *f, uint64_t id, int64_t priority,
                 const struct match_request *req)
{
    struct sched_entry e = { .id = id, .priority = priority, .req = req };
    assert_int_equal (sched_enqueue (f->s, &e), 0);
}

/* The ids that start now, "3 1 2". */
static void expect_starts (struct fixture *f, double now, const char *ids)
{
    struct strbuf sb;
    struct sched_decision d;
    int rc;
    strbuf_init (&sb, 4096);
    while ((rc = sched_next (f->s, now, 0, &d)) == 1) {
        strbuf_addf (&sb, "%s%llu", sb.len ? " " : "", (unsigned long long)d.id);
        assert_true (match_has (f->m, d.id));
        rset_destroy (d.r);
    }
    assert_int_equal (rc, 0);
    assert_string_equal (sb.buf, ids);
    strbuf_release (&sb);
}

static void expect_reason (struct fixture *f, uint64_t id, const char *name,
                           const char *text)
{
    struct sched_reason reason;
    assert_int_equal (sched_reason (f->s, id, &reason), 0);
    assert_string_equal (reason.text, text);
    assert_string_equal (reason.name, name);
    assert_string_equal (sched_reason_name (f->s, id), name);
}

static void test_priority_then_age (void **state)
{
    struct fixture *f = *state;
    add (f, 3, 16, f->one);
    add (f, 1, 16, f->one);
    add (f, 2, 31, f->one);
    add (f, 4, 0, f->one);
    expect_starts (f, 1, "2 1 3 4");
    assert_int_equal (sched_pending (f->s), 0);
}

/* A job that does not fit is skipped, and is first when it fits. */
static void test_backfill (void **state)
{
    struct fixture *f = *state;
    add (f, 1, 16, f->one);
    add (f, 2, 16, f->four);
    add (f, 3, 16, f->four);
    add (f, 4, 16, f->one);
    expect_starts (f, 1, "1 2 4");
    expect_reason (f, 3, "Resources",
                   "needs 4 cores in all, 2 are free now (of 8); job 4 has 1 node and no "
                   "time limit");
    assert_int_equal (match_cancel (f->m, 1), 0);
    expect_starts (f, 1, "");
    assert_int_equal (match_cancel (f->m, 4), 0);
    expect_starts (f, 1, "3");
}

static void test_order_changes (void **state)
{
    struct fixture *f = *state;
    add (f, 1, 16, f->node);
    add (f, 2, 16, f->node);
    add (f, 3, 16, f->node);
    add (f, 3, 20, f->node);
    expect_starts (f, 1, "3 1");
    assert_int_equal (sched_pending (f->s), 1);
    add (f, 4, 16, f->node);
    add (f, 2, 1, f->node);
    assert_int_equal (match_cancel (f->m, 3), 0);
    expect_starts (f, 1, "4");
    assert_int_equal (sched_dequeue (f->s, 2), 0);
    assert_int_equal (sched_dequeue (f->s, 2), -ENOENT);
    assert_int_equal (match_cancel (f->m, 4), 0);
    expect_starts (f, 1, "");
}

static void test_held (void **state)
{
    struct fixture *f = *state;
    struct sched_entry e = { .id = 7, .priority = 16, .held = true, .req = f->one };
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    expect_starts (f, 1, "");
    expect_reason (f, 7, "JobHeldUser", "held");
    e.held = false;
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    expect_starts (f, 1, "7");
}

static void test_begin (void **state)
{
    struct fixture *f = *state;
    struct sched_reason reason;
    struct sched_entry e = { .id = 1, .priority = 16, .begin = 100.5, .req = f->one };
    assert_true (sched_wakeup (f->s) == 0);
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    e.id = 2;
    e.begin = 50;
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    assert_true (sched_wakeup (f->s) == 50);
    expect_starts (f, 49, "");
    assert_int_equal (sched_reason (f->s, 1, &reason), 0);
    assert_int_equal (reason.code, SCHED_REASON_BEGIN);
    assert_string_equal (reason.name, "BeginTime");
    expect_starts (f, 50, "2");
    assert_true (sched_wakeup (f->s) == 100.5);
    expect_starts (f, 101, "1");
    assert_true (sched_wakeup (f->s) == 0);
}

static void test_queues (void **state)
{
    struct fixture *f = *state;
    struct sched_entry e = { .id = 1, .priority = 31, .req = f->one, .queue = 3 };
    assert_int_equal (sched_enqueue (f->s, &e), -EINVAL);
    assert_int_equal (sched_queue_set (f->s, 256, true), -EINVAL);
    assert_int_equal (sched_queue_set (f->s, 3, false), 0);
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    add (f, 2, 1, f->one);
    expect_reason (f, 1, "QueueStopped", "its queue is stopped");
    expect_reason (f, 2, "Priority",
                   "it is tried next"); /* a stopped queue is not ahead */
    expect_starts (f, 1, "2");
    assert_int_equal (sched_queue_set (f->s, 3, true), 0);
    expect_starts (f, 1, "1");
}

static void test_reasons (void **state)
{
    struct fixture *f = *state;
    struct sched_reason reason;
    add (f, 1, 16, f->node);
    add (f, 2, 16, f->one);
    add (f, 3, 16, f->node);
    expect_starts (f, 1, "1 2");
    add (f, 4, 16, f->node);
    add (f, 5, 16, f->four);
    expect_reason (f, 3, "Resources",
                   "needs 1 whole node, 0 are free now (of 2); job 1 has 1 node and no "
                   "time limit");
    expect_reason (f, 4, "Resources",
                   "needs 1 whole node, 0 are free now (of 2); 1 job ahead");
    expect_reason (f, 5, "Priority", "2 jobs ahead");
    assert_int_equal (sched_reason (f->s, 5, &reason), 0);
    assert_int_equal (reason.ahead, 2);
    assert_int_equal (sched_reason (f->s, 9, &reason), -ENOENT);
    struct sched_entry e = { .id = 1, .priority = 16, .req = f->one };
    assert_int_equal (sched_enqueue (f->s, &e), -EINVAL); /* the job runs */
}

/* One failed try counts for all equal jobs; a full machine costs one try in total. */
static void test_cost (void **state)
{
    struct fixture *f = *state;
    for (uint64_t id = 1; id <= 3000; id++)
        add (f, id, 16, id % 2 ? f->node : f->one);
    expect_starts (f, 1, "1 2 4 6 8");
    uint64_t tries = f->s->tries;
    assert_true (tries <= 7);
    expect_starts (f, 1, "");
    assert_int_equal (f->s->tries, tries);
    assert_int_equal (match_cancel (f->m, 8), 0);
    expect_starts (f, 1, "10");
    assert_true (f->s->tries <= tries + 3);
}

/* A bounded call continues where the last one stopped. */
static void test_bounded (void **state)
{
    struct fixture *f = *state;
    struct error err;
    struct match_request *req[6];
    struct sched_decision d;
    for (uint64_t i = 0; i < 6; i++) {
        char tree[32];
        snprintf (tree, sizeof (tree), "slot=1>core=%d", 5 + (int)i);
        req[i] = build_request (tree, 0, NULL, &err);
        add (f, i + 1, 16, req[i]);
    }
    add (f, 7, 16, f->one);
    assert_int_equal (sched_next (f->s, 1, 4, &d), -EAGAIN);
    assert_int_equal (sched_next (f->s, 1, 4, &d), 1);
    assert_int_equal (d.id, 7);
    rset_destroy (d.r);
    assert_int_equal (sched_next (f->s, 1, 4, &d), 0);
    expect_reason (f, 1, "Resources", "needs 5 cores on a node, the largest has 4");
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal (sched_dequeue (f->s, i + 1), 0);
        match_request_destroy (req[i]);
    }
}

/* The next call starts a job on that node. */
static void expect_first (struct fixture *f, const char *node)
{
    struct sched_decision d;

    assert_int_equal (sched_next (f->s, 1, 1, &d), 1);
    assert_string_equal (d.r->ranks[0].node, node);
    rset_destroy (d.r);
}

static void test_nodes_come (void **state)
{
    struct fixture *f = *state;
    char name[16];
    struct machine_node_spec spec = { .name = name, .cores = 4 };

    for (int i = 0; i < 4000; i++) {
        snprintf (name, sizeof (name), "more%d", i);
        assert_true (machine_node_add (f->g, &spec, NULL) >= 0);
        if (i % 1000 == 0)
            expect_starts (f, 1, "");
    }
    for (uint64_t id = 1; id <= 4; id++)
        add (f, id, 16, f->node);
    expect_first (f, "n0");
    machine_node_set_state (f->g, machine_node_find (f->g, "more0"), MACHINE_NODE_DRAINED,
                            "looked at");
    expect_first (f, "n1");
    machine_node_remove (f->g, machine_node_find (f->g, "more1"));
    expect_first (f, "more2");
    snprintf (name, sizeof (name), "another"); /* it has the index of more1 */
    assert_true (machine_node_add (f->g, &spec, NULL) >= 0);
    expect_first (f, "another");
}

/* Two nodes of four cores. Job 1 has one until 100; 2 requests both; 3 and 4 request
 * one core for a short and a long time, 5 a node. */
static void fill (struct fixture *f)
{
    add_timed (f, 1, 100, f->node);
    expect_starts (f, 0, "1");
    struct error err;
    f->both = build_request ("node=2!>slot=1>core=1", 0, NULL, &err);
    add_timed (f, 2, 50, f->both);
    add_timed (f, 3, 80, f->one);
    add_timed (f, 4, 120, f->one);
    add_timed (f, 5, 40, f->node);
}

static void test_fcfs (void **state)
{
    struct fixture *f = *state;
    set_policy (f, "fcfs", 0);
    fill (f);
    expect_starts (f, 0, "");
    expect_planned (f, 2, 100);
    expect_planned (f, 3, 0);
    match_cancel (f->m, 1);
    expect_starts (f, 10, "2");
    expect_planned (f, 3, 60);
}

/* A job that ends before the first begins may start, others may not. */
static void test_easy (void **state)
{
    struct fixture *f = *state;
    double start;
    bool planned;
    fill (f);
    expect_starts (f, 0, "3");
    expect_planned (f, 2, 100);
    expect_planned (f, 5, 0);
    expect_reason (f, 2, "Resources",
                   "needs 2 whole nodes, 0 are free now (of 2); job 1 frees 1 node by "
                   "1970-01-01T00:01:40; starts about 1970-01-01T00:01:40");
    assert_int_equal (sched_estimate (f->s, 2, 0, &start, &planned), 0);
    assert_true (planned && start == 100);
    assert_int_equal (sched_estimate (f->s, 4, 0, &start, &planned), 0);
    assert_true (!planned && start == 150);
    assert_int_equal (match_cancel (f->m, 3), 0);
    expect_starts (f, 5, "5");
    expect_starts (f, 61, ""); /* 4 would delay 2 */
    assert_int_equal (match_cancel (f->m, 5), 0);
    assert_int_equal (match_cancel (f->m, 1), 0);
    expect_starts (f, 62, "2");
    expect_planned (f, 4, 112);
    assert_int_equal (match_cancel (f->m, 2), 0);
    expect_starts (f, 70, "4");
}

static void test_conservative (void **state)
{
    struct fixture *f = *state;
    set_policy (f, "conservative", 0);
    fill (f);
    expect_starts (f, 0, "3");
    expect_planned (f, 2, 100);
    expect_planned (f, 4, 150);
    expect_planned (f, 5, 150);
    assert_int_equal (sched_dequeue (f->s, 2), 0);
    expect_starts (f, 1, "4");
    expect_planned (f, 5, 100);
}

/* Behind the jobs with a planned start no job starts, because it could delay
 * a job without one. */
static void test_conservative_is_closed (void **state)
{
    struct fixture *f = *state;
    set_policy (f, "conservative", 1);
    fill (f);
    expect_starts (f, 0, "");
    expect_planned (f, 2, 100);
    expect_planned (f, 4, 0);
    set_policy (f, "conservative", 2);
    expect_starts (f, 1, "3");
}

static void test_hybrid (void **state)
{
    struct fixture *f = *state;
    set_policy (f, "hybrid", 2);
    fill (f);
    expect_starts (f, 0, "3");
    expect_planned (f, 2, 100);
    expect_planned (f, 4, 150);
    expect_planned (f, 5, 0);
    /* A new job of higher priority is planned before these. */
    struct sched_entry e = { .id = 6, .priority = 20, .duration = 10, .req = f->both };
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    expect_starts (f, 1, "");
    expect_planned (f, 6, 100);
    expect_planned (f, 2, 110);
    expect_planned (f, 4, 0);
    assert_true (sched_wakeup (f->s) == 100);
}

/* With down nodes no start can be planned, and other jobs start. */
static void test_no_time (void **state)
{
    struct fixture *f = *state;
    fill (f);
    machine_node_set_state (f->g, 0, MACHINE_NODE_DRAINED, "disk");
    machine_node_set_state (f->g, 1, MACHINE_NODE_DRAINED, "disk");
    expect_starts (f, 0, "");
    expect_planned (f, 2, 0);
    expect_reason (f, 2, "Resources",
                   "needs 2 exclusive nodes with 1 slot of 1 core each, no node is up; "
                   "n0 is drained: disk; n1 is drained: disk");
    machine_node_set_state (f->g, 0, MACHINE_NODE_UP, NULL);
    expect_starts (f, 0, "");
    machine_node_set_state (f->g, 1, MACHINE_NODE_UP, NULL);
    expect_starts (f, 0, "3");
}

static void add_elastic (struct fixture *f, uint64_t id, double max_wait,
                         const struct match_request *req)
{
    struct sched_entry e = {
        .id = id, .priority = 16, .duration = 50, .max_wait = max_wait, .req = req
    };
    assert_int_equal (sched_enqueue (f->s, &e), 0);
}

/* Elastic jobs start at once with the free nodes, or wait for more from the time when
 * the minimum fits. */
static void test_elastic (void **state)
{
    struct fixture *f = *state;
    struct sched_decision d;
    struct error err;
    f->both = build_request ("node=1-2!>slot=1>core=1", 0, NULL, &err);
    add_timed (f, 1, 100, f->node);
    add_timed (f, 2, 100, f->node);
    expect_starts (f, 0, "1 2");
    add_elastic (f, 3, 30, f->both);
    expect_starts (f, 1, "");
    expect_planned (f, 3, 100);
    assert_int_equal (match_cancel (f->m, 1), 0);
    expect_starts (f, 10, "");
    assert_true (sched_wakeup (f->s) == 40);
    expect_reason (f, 3, "Resources",
                   "a smaller size fits now; it waits for its largest until "
                   "1970-01-01T00:00:40");
    add_elastic (f, 4, 0, f->both); /* does not wait, and takes the rest */
    assert_int_equal (sched_next (f->s, 11, 0, &d), 1);
    assert_int_equal (d.id, 4);
    assert_int_equal (d.r->nranks, 1);
    assert_int_equal (d.size.code, SCHED_SIZE_FITTED);
    assert_string_equal (d.size.text,
                         "the largest size that fitted at 1970-01-01T00:00:11; its "
                         "largest needs 2 whole nodes, 1 is free (of 2)");
    rset_destroy (d.r);
    expect_starts (f, 11, "");
    assert_int_equal (match_cancel (f->m, 4), 0);
    expect_starts (f, 39, "");
    assert_int_equal (sched_next (f->s, 40, 0, &d), 1);
    assert_int_equal (d.id, 3);
    assert_int_equal (d.r->nranks, 1);
    assert_int_equal (d.size.code, SCHED_SIZE_WAITED);
    assert_string_equal (d.size.text,
                         "the largest size that fitted at 1970-01-01T00:00:40, after "
                         "holding out 0:30 for more; its largest needs 2 whole nodes, 1 "
                         "is free (of 2)");
    rset_destroy (d.r);
    assert_int_equal (match_cancel (f->m, 3), 0);
    assert_int_equal (match_cancel (f->m, 2), 0);
    add_elastic (f, 5, 30, f->both);
    assert_int_equal (sched_next (f->s, 50, 0, &d), 1);
    assert_int_equal (d.r->nranks, 2);
    assert_int_equal (d.size.code, SCHED_SIZE_LARGEST);
    assert_string_equal (d.size.text, "its largest size");
    rset_destroy (d.r);
}

/* A place is found, given back, requested at the largest size and found again: no other
 * job's try suffers, and only jobs that start cost an additional match or two. */
static void test_size_is_explained (void **state)
{
    struct fixture *f = *state;
    struct sched_decision d;
    struct error err;
    f->both = build_request ("node=1-2!>slot=1>core=1", 0, NULL, &err);
    add_elastic (f, 1, 0, f->both);
    assert_int_equal (sched_next (f->s, 1, 0, &d), 1);
    assert_int_equal (d.size.code, SCHED_SIZE_LARGEST);
    assert_int_equal (d.r->nranks, 2);
    rset_destroy (d.r);
    add_elastic (f, 2, 0, f->both);
    add_timed (f, 3, 100, f->one);
    expect_starts (f, 2, "");
    uint64_t tries = f->s->tries;
    expect_starts (f, 2.1, "");
    assert_int_equal (f->s->tries, tries);
    assert_int_equal (match_cancel (f->m, 1), 0);
    add_timed (f, 4, 100, f->node);
    assert_int_equal (sched_next (f->s, 3, 0, &d), 1);
    assert_int_equal (d.id, 2);
    assert_int_equal (d.r->nranks, 2);
    rset_destroy (d.r);
    assert_int_equal (match_cancel (f->m, 2), 0);
    expect_starts (f, 4, "3 4");
}

/* A job gets less time if it then ends before the first begins; never less
 * than its minimum. */
static void test_time_min (void **state)
{
    struct fixture *f = *state;
    struct sched_entry e = {
        .id = 6, .priority = 16, .duration = 300, .time_min = 95, .req = f->one
    };
    struct sched_decision d;
    fill (f);
    expect_starts (f, 0, "3");
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    assert_int_equal (sched_next (f->s, 4.5, 0, &d), 1);
    assert_int_equal (d.id, 6);
    assert_true (d.duration == 95 && d.r->expiration == 99.5);
    rset_destroy (d.r);
    e.id = 7;
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    expect_starts (f, 6, ""); /* 94 seconds are left */
    e.id = 8;
    e.time_min = 50;
    assert_int_equal (sched_enqueue (f->s, &e), 0);
    assert_int_equal (sched_next (f->s, 6, 0, &d), 1);
    assert_int_equal (d.id, 8);
    assert_true (d.duration == 94);
    rset_destroy (d.r);
    expect_planned (f, 2, 100);
}

/* A node with a reservation leaves, shrinks and comes back: so does the plan, and nodes
 * that were only kept for a reservation go with it. */
static void test_nodes_go (void **state)
{
    struct fixture *f = *state;
    struct machine_node_spec spec = { .name = "n2", .cores = 4 };
    struct machine_node_info info;
    fill (f);
    expect_starts (f, 0, "3");
    expect_planned (f, 2, 100);
    int third = machine_node_add (f->g, &spec, NULL);
    assert_true (third >= 0);
    expect_starts (f, 1, "5"); /* job 5 on n2, until 41 */
    expect_planned (f, 2, 80); /* when job 3 has left n1 */
    assert_int_equal (match_cancel (f->m, 3), 0);
    expect_starts (f, 2, "");
    expect_planned (f, 2, 41);
    assert_int_equal (machine_node_remove (f->g, third), 0);
    expect_starts (f, 3, "");
    expect_planned (f, 2, 100);
    assert_int_equal (match_cancel (f->m, 5), 0);
    assert_int_equal (machine_node_info (f->g, third, &info), -ENOENT);
    expect_starts (f, 4, "");
    int second = machine_node_find (f->g, "n1"); /* only reserved */
    assert_int_equal (machine_node_remove (f->g, second), 0);
    expect_starts (f, 5, "");
    assert_int_equal (machine_node_info (f->g, second, &info), -ENOENT);
    expect_planned (f, 2, 0);
    spec.name = "n1";
    assert_true (machine_node_add (f->g, &spec, NULL) >= 0);
    expect_starts (f, 6, "");
    expect_planned (f, 2, 100);
    spec.cores = 0;
    spec.memory_mib = 100;
    assert_true (machine_node_update (f->g, &spec, NULL) >= 0);
    expect_starts (f, 7, "");
    expect_planned (f, 2, 0);
    spec.cores = 4;
    assert_true (machine_node_update (f->g, &spec, NULL) >= 0);
    expect_starts (f, 8, "");
    expect_planned (f, 2, 100);
}

/* A search for the earliest time is in progress when the job lowers its request: the
 * search begins again, because the job may now fit at earlier times. */
static void test_asks_for_less (void **state)
{
    static const double limits[] = { 100, 300, 200, 400 };
    struct fixture *f = *state;
    struct match_request *half;
    struct sched_decision d;
    struct error err;

    f->both = build_request ("node=2>slot=1>core=3", 0, NULL, &err);
    half = build_request ("node=1>slot=1>core=2", 0, NULL, &err);
    match_search_in_pieces (f->m, 1);
    for (uint64_t id = 1; id <= 4; id++) /* n0 is free from 300 on, n1 from 400 */
        add_timed (f, id, limits[id - 1], half);
    expect_starts (f, 0, "1 2 3 4");
    add_timed (f, 5, 50, f->both);
    for (unsigned n = 0; !match_search_goes_on (f->m, 5, 0); n++) {
        assert_int_equal (sched_next (f->s, 0, 1, &d), -EAGAIN);
        assert_true (n < 10);
    }
    add_timed (f, 5, 50, f->four);
    assert_false (match_search_goes_on (f->m, 5, 0));
    expect_starts (f, 0, "");
    expect_planned (f, 5, 300);
    add_timed (f, 5, 50, f->both);
    expect_starts (f, 0, "");
    expect_planned (f, 5, 400);
    match_request_destroy (half);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_priority_then_age, setup, teardown),
        cmocka_unit_test_setup_teardown (test_backfill, setup, teardown),
        cmocka_unit_test_setup_teardown (test_order_changes, setup, teardown),
        cmocka_unit_test_setup_teardown (test_held, setup, teardown),
        cmocka_unit_test_setup_teardown (test_begin, setup, teardown),
        cmocka_unit_test_setup_teardown (test_queues, setup, teardown),
        cmocka_unit_test_setup_teardown (test_reasons, setup, teardown),
        cmocka_unit_test_setup_teardown (test_cost, setup, teardown),
        cmocka_unit_test_setup_teardown (test_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown (test_nodes_come, setup, teardown),
        cmocka_unit_test_setup_teardown (test_fcfs, setup, teardown),
        cmocka_unit_test_setup_teardown (test_easy, setup, teardown),
        cmocka_unit_test_setup_teardown (test_conservative, setup, teardown),
        cmocka_unit_test_setup_teardown (test_conservative_is_closed, setup, teardown),
        cmocka_unit_test_setup_teardown (test_hybrid, setup, teardown),
        cmocka_unit_test_setup_teardown (test_no_time, setup, teardown),
        cmocka_unit_test_setup_teardown (test_elastic, setup, teardown),
        cmocka_unit_test_setup_teardown (test_size_is_explained, setup, teardown),
        cmocka_unit_test_setup_teardown (test_time_min, setup, teardown),
        cmocka_unit_test_setup_teardown (test_nodes_go, setup, teardown),
        cmocka_unit_test_setup_teardown (test_asks_for_less, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

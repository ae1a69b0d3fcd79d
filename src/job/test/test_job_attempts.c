/* The attempts of a job. Fails if a requeue counts as another kind or takes a wrong
 * place in the queue, or if nodes of a resize are booked twice or never. */
#include "job/test/job_events.h"

#include <errno.h>
#include <string.h>

static void test_requeue (void **state)
{
    (void)state;
    now = 1000;
    struct job *job = job_after (TO_RUN " requeue");
    assert_int_equal (job_phase (job), JOB_REQUEUED);
    unsigned actions;
    assert_string_equal (job->size_reason, "largest");
    assert_string_equal (job->size_text, "all");
    assert_int_equal (apply (job, "release", &actions), 0);
    assert_int_equal (apply (job, "free", &actions), 0);
    assert_int_equal (apply (job, "clean", &actions), 0);
    assert_int_equal (job_phase (job), JOB_PENDING);
    assert_null (job->size_reason);
    assert_null (job->size_text);
    assert_string_equal (job->asked_nodes, "2-4");
    assert_int_equal (job->restarts, 1);
    assert_int_equal (job->failed_starts, 1);
    assert_int_equal (job->nnodes, 2);
    assert_int_equal (job->ntasks, 4);
    assert_int_equal (job->ncores, 8);
    assert_null (job->r);
    assert_null (job->nodelist);
    assert_null (job->namespace_);
    assert_false (job->finished || job->started || job->allocated || job->requeue);
    assert_true (job->t_submit == 1000 && job->t_eligible == 1003 && job->t_alloc == 0);
    assert_true (job->t_begin == 500);
    assert_string_equal (job->requeue_reason, "no such node");
    assert_string_equal (job_hold_reason (job, 499), "BeginTime");
    assert_null (job_hold_reason (job, 501));
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_int_equal (apply (job, "alloc", &actions), 0);
    assert_true (job->t_begin == 0);
    assert_int_equal (apply (job, "start", &actions), 0);
    assert_int_equal (job->failed_starts, 0);
    assert_int_equal (job->restarts, 1);
    assert_null (job->requeue_reason);
    job_destroy (job);
}

/* A lost run is not a failed start, and neither resets the other's count. */
static void test_requeue_of_a_run (void **state)
{
    static const char *const lost[] = { "start", "requeue",  "release", "free",
                                        "clean", "priority", "alloc" };
    static const char *const failed[] = { "requeue", "release",  "free",
                                          "clean",   "priority", "alloc" };
    (void)state;
    struct job *job = job_after (TO_RUN);
    apply_all (job, lost, ARRAY_SIZE (lost));
    assert_true (job->reruns == 1 && job->failed_starts == 0 && job->restarts == 1);
    assert_true (!job->started && job->t_start == 0);
    apply_all (job, failed, ARRAY_SIZE (failed));
    apply_all (job, failed, ARRAY_SIZE (failed));
    assert_true (job->reruns == 1 && job->failed_starts == 2 && job->restarts == 3);
    apply_all (job, lost, ARRAY_SIZE (lost));
    assert_true (job->reruns == 2 && job->failed_starts == 0 && job->restarts == 4);
    job_destroy (job);
}

/* With the old place in the order the age goes on. With the end the age begins
 * again at the requeue. */
static void test_requeue_order (void **state)
{
    static const struct {
        const char *order;
        double age;
    } table[] = { { "old", 1003 }, { "end", 5000 } };
    static const char *const rest[] = { "release", "free", "clean", "priority", "alloc" };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        unsigned actions;
        now = 1000;
        struct job *job = job_after (TO_RUN " start");
        now = 5000;
        json_t *context =
            json_pack ("{s:s s:s}", "reason", "lost", "order", table[i].order);
        assert_int_equal (apply_context (job, "requeue", context, &actions), 0);
        assert_true (job->t_begin == 0);
        apply_all (job, rest, ARRAY_SIZE (rest));
        assert_true (job_age_since (job) == table[i].age);
        assert_true (job->t_eligible == 1003 && job->t_submit == 1000);
        job_destroy (job);
    }
}

/* The end is behind the jobs that were pending then; the next requeue is
 * behind other jobs. */
static void test_requeue_at_end (void **state)
{
    static const char *const rest[] = { "release", "free", "clean", "priority", "alloc" };
    (void)state;
    unsigned actions;
    struct job *job = job_after (TO_RUN " start");
    assert_true (job->turn == 0 && job->setback == 0);
    for (int i = 1; i <= 2; i++) {
        json_t *context = json_pack ("{s:s s:s s:i s:i}", "reason", "lost", "order",
                                     "end", "turn", 90 * i, "setback", 7 * (2 - i));
        assert_int_equal (apply_context (job, "requeue", context, &actions), 0);
        apply_all (job, rest, ARRAY_SIZE (rest));
        assert_true (job->turn == 90u * (unsigned)i && job->setback == 7 * (2 - i));
    }
    assert_int_equal (
        apply_context (job, "requeue",
                       json_pack ("{s:s s:s}", "reason", "x", "order", "old"), &actions),
        0);
    assert_true (job->turn == 180
                 && job->setback == 0); /* its own place, which is the end already */
    job_destroy (job);
}

/* Nodes on which the job failed to start are known until a successful start. */
static void test_avoid (void **state)
{
    static const char *const again[] = { "release", "free", "clean", "priority",
                                         "alloc" };
    (void)state;
    unsigned actions;
    struct job *job = job_after (TO_RUN);
    assert_null (job->avoid);
    assert_int_equal (
        apply_context (job, "requeue",
                       json_pack ("{s:s s:s}", "reason", "hung", "avoid", "n[2-3]"),
                       &actions),
        0);
    apply_all (job, again, ARRAY_SIZE (again));
    assert_string_equal (job->avoid, "n[2-3]");
    assert_int_equal (apply (job, "start", &actions), 0);
    assert_null (job->avoid);
    job_destroy (job);
}

/* With another limit, the limit applies from then on, also after a requeue; R
 * has the same limit. */
static void test_backoff (void **state)
{
    static const double wait[] = { 0, 60, 120, 240, 480, 960, 1920, 3600, 3600 };
    (void)state;
    for (unsigned n = 0; n < ARRAY_SIZE (wait); n++)
        assert_true (job_backoff (n, 60, 3600) == wait[n]);
    assert_true (job_backoff (UINT_MAX, 1e-9, 3600) == 3600);
    assert_true (job_backoff (1000, 0, 3600) == 0);
    assert_true (job_backoff (1, 5, 5) == 5 && job_backoff (3, 0, 0) == 0);
}

/* -- other nodes while it runs -- */

static int resize (struct job *job, const char *name, const char *context,
                   unsigned *actions)
{
    return apply_context (job, name, json_loads (context, 0, NULL), actions);
}

#define GROW(g)                                                                          \
    "{\"generation\":" g ",\"nnodes\":4,\"from\":2,\"R\":{\"version\":1,\"x\":4},"       \
    "\"nodelist\":\"n[0-3]\",\"ncores\":16}"
#define BACK(g) "{\"generation\":" g ",\"nnodes\":2,\"from\":4,\"reason\":\"none came\"}"
#define LESS(g)                                                                          \
    "{\"generation\":" g ",\"R\":{\"version\":1,\"x\":2},\"nodelist\":\"n[0-1]\","       \
    "\"nnodes\":2,\"ncores\":8}"

static void test_resize_grows (void **state)
{
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    (void)state;
    assert_int_equal (resize (job, "resize", GROW ("1"), &actions), 0);
    assert_int_equal (actions, JOB_ACT_RESIZE);
    /* granted nodes belong to the job at once, so that a replay books them */
    assert_true (job->resize.active && job->resize.nnodes == 4 && job->ncores == 16);
    assert_string_equal (job->nodelist, "n[0-3]");
    assert_non_null (strstr (job->r, "\"x\":4"));
    assert_int_equal (due_actions (job), JOB_ACT_RESIZE);
    assert_true (job->t_cores > job->t_start);
    assert_int_equal (resize (job, "resize", GROW ("2"), &actions), -EPROTO);
    assert_int_equal (resize (job, "resized", LESS ("1"), &actions), -EINVAL);
    assert_int_equal (resize (job, "resized", "{\"generation\":2}", &actions), -EPROTO);
    assert_int_equal (resize (job, "resized", "{\"generation\":1}", &actions), 0);
    assert_true (!job->resize.active && job->resize.generation == 1);
    assert_int_equal (due_actions (job), 0);
    assert_int_equal (resize (job, "resized", "{\"generation\":1}", &actions), -EPROTO);
    job_destroy (job);
}

static void test_resize_is_taken_back (void **state)
{
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    (void)state;
    assert_int_equal (resize (job, "resize", GROW ("1"), &actions), 0);
    assert_int_equal (resize (job, "resize", BACK ("3"), &actions), -EPROTO);
    assert_int_equal (resize (job, "resize", BACK ("2"), &actions), 0);
    assert_string_equal (job->nodelist, "n[0-3]"); /* until the nodes are free */
    assert_int_equal (resize (job, "resize", BACK ("3"), &actions), -EPROTO);
    assert_int_equal (resize (job, "resized", "{\"generation\":2}", &actions), -EINVAL);
    assert_int_equal (resize (job, "resized", LESS ("2"), &actions), 0);
    assert_string_equal (job->nodelist, "n[0-1]");
    assert_true (job->nnodes == 2 && job->ncores == 8 && !job->resize.active);
    job_destroy (job);
}

static void test_resize_by_whom (void **state)
{
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    (void)state;
    assert_int_equal (
        resize (job, "resize",
                "{\"generation\":1,\"nnodes\":2,\"from\":4,\"by\":\"user\"}", &actions),
        0);
    assert_true (job->resize.by_user && !job->resize.failed);
    assert_int_equal (resize (job, "resized", LESS ("1"), &actions), 0);
    double at = job->resize.at;
    assert_int_equal (resize (job, "resize", GROW ("2"), &actions), 0);
    assert_true (job->resize.by_user && job->resize.at > at); /* set once by the user */
    assert_int_equal (
        resize (job, "resize",
                "{\"generation\":3,\"nnodes\":2,\"from\":4,\"by\":\"broker\"}", &actions),
        0);
    assert_true (job->resize.failed);
    job_destroy (job);
}

static void test_resize_ends_with_the_attempt (void **state)
{
    struct job *job = job_after (TO_RUN);
    unsigned actions;
    (void)state;
    assert_int_equal (resize (job, "resize", GROW ("1"), &actions), -EPROTO);
    job_destroy (job);
    job = job_after (TO_RUN " start resize requeue release free clean");
    assert_true (!job->resize.active && job->resize.generation == 0);
    job_destroy (job);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_requeue),
        cmocka_unit_test (test_requeue_of_a_run),
        cmocka_unit_test (test_requeue_order),
        cmocka_unit_test (test_requeue_at_end),
        cmocka_unit_test (test_avoid),
        cmocka_unit_test (test_backoff),
        cmocka_unit_test (test_resize_grows),
        cmocka_unit_test (test_resize_is_taken_back),
        cmocka_unit_test (test_resize_by_whom),
        cmocka_unit_test (test_resize_ends_with_the_attempt),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* The record of a job. Fails if an event does not set a field, or sets a wrong value, if
 * a bad context is accepted, or if a text for users does not tell how the job ended. */
#include "job/test/job_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_bad_contexts (void **state)
{
    (void)state;
    static const struct {
        const char *before, *event, *context;
    } table[] = {
        { "", "submit", "{}" },
        { "", "submit", "{\"userid\":1}" },
        { "", "submit", "{\"userid\":1,\"urgency\":32}" },
        { "", "submit", "{\"userid\":-1,\"urgency\":16}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"version\":2}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"user\":3}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"duration\":-1}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"adopted\":\"x\"}" },
        { "", "submit", "{\"userid\":1,\"urgency\":16,\"adopted\":{\"name\":\"x\"}}" },
        { "submit validate depend", "priority", "{}" },
        { "submit validate depend", "priority", "{\"priority\":\"1\"}" },
        { "submit", "urgency", "{\"urgency\":3}" },
        { "submit", "urgency", "{\"urgency\":-1,\"userid\":1}" },
        { "submit", "exception", "{\"severity\":0}" },
        { "submit", "exception", "{\"type\":\"x\",\"severity\":8}" },
        { TO_SCHED, "alloc", "{}" },
        { TO_SCHED, "alloc", "{\"R\":\"text\"}" },
        { TO_SCHED, "alloc", "{\"R\":{},\"nnodes\":-1}" },
        { TO_SCHED, "alloc", "{\"R\":{},\"size\":\"large\"}" },
        { TO_SCHED, "alloc", "{\"R\":{},\"size\":{\"reason\":\"largest\"}}" },
        { TO_RUN, "finish", "{}" },
        { TO_RUN, "finish", "{\"status\":65536}" },
        { TO_RUN, "requeue", "{\"begin\":5}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"begin\":-5}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":\"last\"}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":true}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"avoid\":[\"n1\"]}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":\"end\",\"turn\":-1}" },
        { TO_RUN, "requeue", "{\"reason\":\"x\",\"order\":\"end\",\"setback\":-1}" },
        { TO_RUN " finish", "release", "{\"ranks\":\"all\"}" },
        { TO_RUN " finish", "release", "{\"final\":true}" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        struct job *job = job_after (table[i].before);
        char *before = job_text (job);
        unsigned actions = 1;
        json_t *context = json_loads (table[i].context, 0, NULL);
        if (apply_context (job, table[i].event, context, &actions) != -EINVAL)
            fail_msg ("accepted %s %s", table[i].event, table[i].context);
        char *after = job_text (job);
        assert_string_equal (before, after);
        assert_int_equal (actions, 0);
        free (before);
        free (after);
        job_destroy (job);
    }
}

static void test_fields (void **state)
{
    (void)state;
    now = 1000;
    struct job *job = job_after (TO_RUN " start");
    assert_int_equal (job->userid, 7);
    assert_int_equal (job->groupid, 8);
    assert_string_equal (job->user, "ann");
    assert_string_equal (job->name, "sim");
    assert_string_equal (job->queue, "q");
    assert_true (job->duration == 60);
    assert_int_equal (job->priority, 42);
    assert_int_equal (job->nnodes, 4);
    assert_int_equal (job->ncores, 16);
    assert_string_equal (job->nodelist, "n[0-3]");
    assert_string_equal (job->namespace_, "jobs-%u");
    assert_string_equal (job->r, "{\"version\":1,\"execution\":{\"starttime\":1003}}");
    assert_true (job->t_submit == 1000 && job->t_eligible == 1003 && job->t_alloc == 1004
                 && job->t_start == 1005);
    job_destroy (job);
    assert_true (sizeof (struct job) < 600);
}

/* Fails if an attribute of listings is lost, or if the job keeps more of the event
 * than the attributes. */
static void test_shown (void **state)
{
    (void)state;
    struct job *job = job_create (1);
    unsigned actions;
    json_t *context = json_loads ("{\"userid\":7,\"urgency\":16,\"nice\":3,\"comment\":"
                                  "\"words\",\"color\":\"red\"}",
                                  0, NULL);

    assert_int_equal (apply_context (job, "submit", context, &actions), 0);
    assert_int_equal (json_object_size (job->shown), 1);
    assert_string_equal (json_string_value (json_object_get (job->shown, "comment")),
                         "words");
    job_destroy (job);
    job = job_after ("submit");
    assert_null (job->shown);
    job_destroy (job);
}

/* An adopted job stays an adopted job as long as the job exists. */
static void test_adopted (void **state)
{
    (void)state;
    struct job *job = job_create (1);
    unsigned actions;
    json_t *context =
        json_loads ("{\"userid\":7,\"urgency\":16,\"adopted\":{\"name\":\"Job "
                    "team-a/train\",\"key\":\"job:1\"}}",
                    0, NULL);
    assert_int_equal (apply_context (job, "submit", context, &actions), 0);
    assert_string_equal (job->adopted, "Job team-a/train");
    assert_string_equal (job->adopted_key, "job:1");
    job_destroy (job);
    job = job_after ("submit");
    assert_true (!job->adopted && !job->adopted_key);
    job_destroy (job);
}

/* A requeued job is as it was before its attempt, except for the count and the first
 * times. */
static void test_limit (void **state)
{
    struct job *job = job_after (TO_SCHED " jobspec-update");

    (void)state;
    assert_true (job->duration == 90 && !job->limit_changed);
    job_destroy (job);
    job = job_after (TO_RUN " start resource-update");
    assert_true (job->duration == 120 && job->limit_changed);
    assert_non_null (strstr (job->r, "1123"));
    assert_non_null (strstr (job->r, "1003"));
    job_destroy (job);
    job = job_after (TO_RUN " start resource-update requeue release free clean");
    assert_true (job->duration == 120);
    job_destroy (job);
    job = job_after (TO_RUN " start resource-update requeue release free clean priority "
                            "alloc");
    assert_false (job->limit_changed); /* its new agent starts with the changed limit */
    job_destroy (job);
}

static void test_hold (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_after ("submit validate");
    assert_null (job_hold_reason (job, 0));
    json_t *hold = json_pack ("{s:i, s:i}", "urgency", 0, "userid", 7);
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_string_equal (job_hold_reason (job, 0), "JobHeldUser");
    assert_int_equal (apply (job, "depend", &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job->t_eligible == 0);
    assert_int_equal (due_actions (job), JOB_ACT_ENQUEUE);
    assert_int_equal (apply (job, "urgency", &actions), 0);
    assert_int_equal (due_actions (job), JOB_ACT_ENQUEUE | JOB_ACT_PRIORITY);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job->t_eligible > 0);
    assert_null (job_hold_reason (job, 0));
    job_destroy (job);
}

/* The holder is the job's own user or another. A release removes the holder and the
 * reason. */
static void test_hold_by_operator (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_after ("submit validate depend priority");
    json_t *hold = json_pack ("{s:i s:i s:s}", "urgency", 0, "userid", 99, "note", "why");
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_true (job->held_by_operator);
    assert_string_equal (job->hold_note, "why");
    assert_string_equal (job_hold_reason (job, 0), "JobHeldAdmin");
    json_t *own = json_pack ("{s:i s:i}", "urgency", 0, "userid", 7);
    assert_int_equal (apply_context (job, "urgency", own, &actions), 0);
    assert_false (job->held_by_operator);
    assert_null (job->hold_note);
    hold = json_pack ("{s:i s:i s:s}", "urgency", 0, "userid", 99, "note", "");
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_true (job->held_by_operator && !job->hold_note);
    json_t *more = json_pack ("{s:i s:i s:s}", "urgency", 9, "userid", 99, "note", "x");
    assert_int_equal (apply_context (job, "urgency", more, &actions), 0);
    assert_true (!job->held_by_operator && !job->hold_note && job->urgency == 9);
    json_t *bad = json_pack ("{s:i s:i s:i}", "urgency", 0, "userid", 99, "note", 5);
    assert_int_equal (apply_context (job, "urgency", bad, &actions), -EINVAL);
    job_destroy (job);
}

/* Age counts from the time when a job may start; not while it is held, but
 * between its starts. */
static void test_age (void **state)
{
    (void)state;
    unsigned actions;
    now = 1000;
    struct job *job = job_after ("submit validate depend");
    assert_true (job_age_since (job) == 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job_age_since (job) == 1003);
    json_t *hold = json_pack ("{s:i s:i}", "urgency", 0, "userid", 7);
    assert_int_equal (apply_context (job, "urgency", hold, &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job_age_since (job) == 0 && job->t_eligible == 1003);
    now = 2000;
    assert_int_equal (apply (job, "urgency", &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job_age_since (job) == 2001);
    job->t_begin = 3000;
    assert_true (job_age_since (job) == 3000);
    const char *const again[] = { "alloc", "requeue", "release", "free", "clean" };
    for (size_t i = 0; i < ARRAY_SIZE (again); i++)
        assert_int_equal (apply (job, again[i], &actions), 0);
    assert_true (job->restarts == 1 && job_age_since (job) == 3000);
    job->t_begin = 9000; /* the back-off */
    assert_true (job_age_since (job) == 3000);
    job_destroy (job);
}

/* Submitted times: the job is not eligible before its begin, and a replay keeps the
 * times. */
static void test_begin_and_deadline (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_create (1);
    json_t *context = context_of ("submit");
    now = 1000;
    json_object_set_new (context, "begin", json_real (5000.5));
    json_object_set_new (context, "deadline", json_real (9000));
    assert_int_equal (apply_context (job, "submit", context, &actions), 0);
    assert_true (job->t_begin == 5000.5 && job->t_deadline == 9000);
    assert_string_equal (job_hold_reason (job, 5000), "BeginTime");
    assert_null (job_hold_reason (job, 5001));
    assert_int_equal (apply (job, "validate", &actions), 0);
    assert_int_equal (apply (job, "depend", &actions), 0);
    assert_int_equal (apply (job, "priority", &actions), 0);
    assert_true (job->t_eligible == 5000.5);
    job_destroy (job);
    job = job_create (2);
    context = context_of ("submit");
    json_object_set_new (context, "deadline", json_integer (-1));
    assert_int_equal (apply_context (job, "submit", context, &actions), -EINVAL);
    assert_true (job->nevents == 0);
    job_destroy (job);
}

/* The executor knows better than a wait status why a job failed; it may add a
 * remark to a success. */
static void test_finish_text (void **state)
{
    (void)state;
    for (int status = 0; status <= 15; status += 15) {
        unsigned actions;
        char text[128];
        struct job *job = job_after (TO_RUN " start");
        json_t *context =
            json_pack ("{s:i, s:s}", "status", status, "text", "no space left");
        assert_int_equal (apply_context (job, "finish", context, &actions), 0);
        job_result_text (job, text, sizeof (text));
        assert_string_equal (text, status ? "no space left" : "completed; no space left");
        job_destroy (job);
    }
}

/* The end of a job, in all three forms of text. */
static void test_endings (void **state)
{
    (void)state;
    static const struct {
        const char *exception; /* type or NULL */
        int status;            /* -1: no event finish */
        enum job_phase phase;
        int code;
        const char *text;
    } table[] = {
        { NULL, 0, JOB_COMPLETED, 0, "completed" },
        { NULL, 3 << 8, JOB_FAILED, 3, "exited with status 3" },
        { NULL, 9, JOB_FAILED, 137, "killed by signal 9 (SIGKILL)" },
        { NULL, 6 | 0x80, JOB_FAILED, 134, "killed by signal 6 (SIGABRT)" },
        { "cancel", 15, JOB_CANCELLED, 1, "cancelled: so" },
        { "cancel", -1, JOB_CANCELLED, 1, "cancelled: so" },
        { "timeout", 15, JOB_TIMEOUT, 143, "time limit of 1:00 reached" },
        { "timeout", 0, JOB_TIMEOUT, 1, "time limit of 1:00 reached" },
        { "timelimit", 143 << 8, JOB_TIMEOUT, 143, "time limit of 1:00 reached" },
        { "node-lost", -1, JOB_NODE_FAIL, 1, "node lost: so" },
        { "oom", 9, JOB_OUT_OF_MEMORY, 137, "out of memory: so" },
        { "preempt", 15, JOB_PREEMPTED, 143, "preempted: so" },
        { "deadline", -1, JOB_DEADLINE, 1, "deadline passed: so" },
        { "dependency", -1, JOB_CANCELLED, 1, "cancelled: so" },
        { "exec", 2 << 8, JOB_FAILED, 2, "failed (exec): so" },
        { "start-failed", -1, JOB_FAILED, 1, "could not start: so" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        unsigned actions;
        struct job *job = job_after (TO_RUN " start");
        if (table[i].exception)
            assert_int_equal (
                apply_context (job, "exception",
                               json_pack ("{s:s, s:i, s:s}", "type", table[i].exception,
                                          "severity", 0, "note", "so"),
                               &actions),
                0);
        if (table[i].status >= 0)
            assert_int_equal (
                apply_context (job, "finish",
                               json_pack ("{s:i}", "status", table[i].status), &actions),
                0);
        assert_int_equal (job_phase (job), JOB_COMPLETING);
        assert_int_equal (job_result_phase (job), table[i].phase);
        assert_int_equal (apply (job, "release", &actions), 0);
        assert_int_equal (apply (job, "free", &actions), 0);
        assert_int_equal (apply (job, "clean", &actions), 0);
        char text[128];
        job_result_text (job, text, sizeof (text));
        assert_string_equal (text, table[i].text);
        assert_int_equal (job_phase (job), table[i].phase);
        assert_int_equal (job_exit_code (job), table[i].code);
        job_destroy (job);
    }
}

/* The agent's note has the node and the figures, so the text does not repeat them. */
static void test_note_of_memory_stands_for_itself (void **state)
{
    const char *note = "node n1: out of memory: it asked for 64 MiB";
    struct job *job = job_after (TO_RUN " start");
    unsigned actions;
    char text[128];

    (void)state;
    assert_int_equal (apply_context (job, "exception",
                                     json_pack ("{s:s, s:i, s:s}", "type", "oom",
                                                "severity", 0, "note", note),
                                     &actions),
                      0);
    job_result_text (job, text, sizeof (text));
    assert_string_equal (text, note);
    job_destroy (job);
}

/* Only severity 0 ends a job; the first such exception is the cause. */
static void test_exceptions (void **state)
{
    (void)state;
    unsigned actions;
    struct job *job = job_after (TO_RUN " start");
    assert_int_equal (
        apply_context (job, "exception",
                       json_pack ("{s:s, s:i}", "type", "slow", "severity", 3), &actions),
        0);
    assert_int_equal (actions, 0);
    assert_int_equal (job->state, JOB_RUN);
    assert_int_equal (job_phase (job), JOB_RUNNING);
    assert_int_equal (
        apply_context (job, "exception",
                       json_pack ("{s:s, s:i}", "type", "oom", "severity", 0), &actions),
        0);
    assert_int_equal (apply (job, "exception", &actions), 0);
    assert_string_equal (job->exception_type, "oom");
    job_destroy (job);
    job = job_after (TO_SCHED " exception");
    assert_int_equal (job_phase (job), JOB_CANCELLED); /* it can no longer complete */
    job_destroy (job);
}

static void test_names (void **state)
{
    (void)state;
    for (int p = JOB_PENDING; p <= JOB_REQUEUED; p++) {
        assert_int_equal (job_phase_from_name (job_phase_name ((enum job_phase)p)), p);
        assert_int_equal (job_phase_from_name (job_phase_letter ((enum job_phase)p)), p);
    }
    assert_int_equal (job_phase_from_name ("pending"), JOB_PENDING);
    assert_int_equal (job_phase_from_name ("cd"), JOB_COMPLETED);
    assert_int_equal (job_phase_from_name ("nonsense"), -EINVAL);
}

/* A polling client must not take a job that starts again for an ended one. */
static void test_groups (void **state)
{
    static const enum job_group expected[] = {
        [JOB_PENDING] = JOB_GROUP_PENDING,    [JOB_CONFIGURING] = JOB_GROUP_RUNNING,
        [JOB_RUNNING] = JOB_GROUP_RUNNING,    [JOB_COMPLETING] = JOB_GROUP_RUNNING,
        [JOB_COMPLETED] = JOB_GROUP_FINISHED, [JOB_FAILED] = JOB_GROUP_FINISHED,
        [JOB_CANCELLED] = JOB_GROUP_FINISHED, [JOB_TIMEOUT] = JOB_GROUP_FINISHED,
        [JOB_NODE_FAIL] = JOB_GROUP_FINISHED, [JOB_OUT_OF_MEMORY] = JOB_GROUP_FINISHED,
        [JOB_PREEMPTED] = JOB_GROUP_FINISHED, [JOB_DEADLINE] = JOB_GROUP_FINISHED,
        [JOB_REQUEUED] = JOB_GROUP_PENDING,
    };

    (void)state;
    assert_int_equal (ARRAY_SIZE (expected), JOB_REQUEUED + 1);
    for (int p = JOB_PENDING; p <= JOB_REQUEUED; p++)
        assert_int_equal (job_phase_group ((enum job_phase)p), expected[p]);
}

/* The event `memo` changes texts that are only shown, also of a job that has ended, and nothing
 * else; a wrong one changes nothing. */
static void test_memo (void **state)
{
    struct job *job = job_after (TO_RUN);
    unsigned actions = 9;

    (void)state;
    json_t *memo = json_pack ("{s:s s:s s:s s:i}", "comment", "c", "admin_comment", "a",
                              "account", "no", "userid", 0);
    assert_int_equal (apply_context (job, "memo", memo, &actions), 0);
    assert_int_equal (actions, 0);
    assert_string_equal (json_string_value (json_object_get (job->shown, "comment")),
                         "c");
    assert_null (json_object_get (job->shown, "account"));
    memo = json_pack ("{s:s s:i}", "comment", "d", "extra", 7);
    assert_int_equal (apply_context (job, "memo", memo, &actions), -EINVAL);
    assert_string_equal (json_string_value (json_object_get (job->shown, "comment")),
                         "c");
    memo = json_pack ("{s:s}", "comment", "");
    assert_int_equal (apply_context (job, "memo", memo, &actions), 0);
    assert_string_equal (json_string_value (json_object_get (job->shown, "comment")), "");
    assert_string_equal (
        json_string_value (json_object_get (job->shown, "admin_comment")), "a");
    job_destroy (job);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_bad_contexts),
        cmocka_unit_test (test_fields),
        cmocka_unit_test (test_shown),
        cmocka_unit_test (test_memo),
        cmocka_unit_test (test_adopted),
        cmocka_unit_test (test_limit),
        cmocka_unit_test (test_hold),
        cmocka_unit_test (test_hold_by_operator),
        cmocka_unit_test (test_age),
        cmocka_unit_test (test_begin_and_deadline),
        cmocka_unit_test (test_finish_text),
        cmocka_unit_test (test_endings),
        cmocka_unit_test (test_note_of_memory_stands_for_itself),
        cmocka_unit_test (test_exceptions),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_groups),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* Arrays as jobs. Fails if a task starts twice or ends without a start, if an array
 * ends while a task runs or never ends, if a result hides a failure, or if a log
 * replays to another state. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "job/job.h"

#define SUBMIT "submit {\"userid\":7,\"urgency\":16,\"array\":\"1-5:2%2\"}"
#define TO_SCHED SUBMIT "|validate|depend|priority {\"priority\":1}"
#define START(n) "|task-start {\"task\":" #n "}"
#define END_OK(n) "|task-end {\"task\":" #n ",\"state\":\"COMPLETED\",\"exit_code\":0}"
#define END_BAD(n) "|task-end {\"task\":" #n ",\"state\":\"FAILED\",\"exit_code\":3}"
#define CANCEL_ALL                                                                       \
    "|exception {\"type\":\"cancel\",\"severity\":0,\"userid\":7,\"note\":\"\"}"

static int apply (struct job *job, const char *line, unsigned *actions)
{
    struct error err = { 0 };
    const char *context = strchr (line, ' ');
    char name[64];

    snprintf (name, sizeof (name), "%.*s", (int)strcspn (line, " "), line);
    struct event *e = event_create ((double)job->nevents + 100, name,
                                    context ? json_loads (context + 1, 0, NULL) : NULL);
    int rc = job_apply (job, e, actions, &err);
    assert_true ((rc < 0) == (err.text[0] != 0));
    event_destroy (e);
    return rc;
}

/* *actions: those of the last event. */
static struct job *job_after (const char *lines, unsigned *actions)
{
    struct job *job = job_create (12);
    char *words = strdup (lines), *rest = words, *line;
    while ((line = strsep (&rest, "|"))) {
        if (apply (job, line, actions) < 0)
            fail_msg ("%s in %s", line, lines);
    }
    free (words);
    return job;
}

static void test_ids (void **state)
{
    unsigned actions;
    struct job *job = job_after (SUBMIT, &actions);

    (void)state;
    assert_int_equal (job_array_task_id (job->array, 12, 1), 13);
    assert_int_equal (job_array_task_id (job->array, 12, 5), 15);
    assert_int_equal (job_array_task_of (job->array, 12, 14), 3);
    assert_int_equal (job_array_task_of (job->array, 12, 12), IDSET_END);
    assert_int_equal (job_array_task_of (job->array, 12, 16), IDSET_END);
    assert_int_equal (job_array_ids (&job->array->spec), 4);
    job_destroy (job);
}

static const struct {
    const char *lines;
    enum job_state state;
    enum job_phase phase;
    unsigned actions;
    int exit_code; /* -1: not asked */
    const char *result;
} lives[] = {
    { TO_SCHED, JOB_SCHED, JOB_PENDING, JOB_ACT_ENQUEUE, -1, NULL },
    { TO_SCHED START (1), JOB_SCHED, JOB_PENDING, JOB_ACT_ENQUEUE, -1, NULL },
    { TO_SCHED START (1) START (3) END_OK (1), JOB_SCHED, JOB_PENDING, JOB_ACT_ENQUEUE,
      -1, NULL },
    { TO_SCHED START (1) START (3) START (5), JOB_RUN, JOB_RUNNING, JOB_ACT_DEQUEUE, -1,
      NULL },
    { TO_SCHED START (1) START (3) START (5) END_OK (3), JOB_RUN, JOB_RUNNING, 0, -1,
      NULL },
    { TO_SCHED START (1) START (3) START (5) END_OK (3) END_OK (1) END_OK (5),
      JOB_CLEANUP, JOB_COMPLETED, JOB_ACT_CLEAN, 0, "completed, all 3 tasks" },
    { TO_SCHED START (1) START (3) START (5) END_OK (3) END_BAD (1) END_OK (5),
      JOB_CLEANUP, JOB_FAILED, JOB_ACT_CLEAN, 3, "1 of 3 tasks failed: 1" },
    { TO_SCHED START (1) "|task-cancel {\"tasks\":\"3,5\"}", JOB_RUN, JOB_RUNNING,
      JOB_ACT_DEQUEUE, -1, NULL },
    { TO_SCHED START (1) "|task-cancel {\"tasks\":\"3\"}" START (5) END_OK (1) END_OK (5),
      JOB_CLEANUP, JOB_CANCELLED, JOB_ACT_CLEAN, 1,
      "1 of 3 tasks cancelled before they started" },
    { TO_SCHED "|task-cancel {\"tasks\":\"1-3:2\"}", JOB_SCHED, JOB_PENDING,
      JOB_ACT_ENQUEUE, -1, NULL },
    { TO_SCHED "|task-cancel {\"tasks\":\"1,3,5\"}", JOB_CLEANUP, JOB_CANCELLED,
      JOB_ACT_DEQUEUE | JOB_ACT_CLEAN, 1, "3 of 3 tasks cancelled before they started" },
    { SUBMIT "|validate|task-cancel {\"tasks\":\"1,3,5\"}", JOB_CLEANUP, JOB_CANCELLED,
      JOB_ACT_DEQUEUE | JOB_ACT_CLEAN, 1, NULL },
    { TO_SCHED CANCEL_ALL, JOB_CLEANUP, JOB_CANCELLED, JOB_ACT_DEQUEUE | JOB_ACT_CLEAN, 1,
      "cancelled" },
    { TO_SCHED START (1) CANCEL_ALL, JOB_RUN, JOB_RUNNING, JOB_ACT_DEQUEUE, -1, NULL },
    { TO_SCHED START (1) CANCEL_ALL CANCEL_ALL, JOB_RUN, JOB_RUNNING, 0, -1, NULL },
    { TO_SCHED START (1) CANCEL_ALL END_OK (1), JOB_CLEANUP, JOB_CANCELLED, JOB_ACT_CLEAN,
      1, "cancelled" },
    { TO_SCHED START (1) START (3) START (5) CANCEL_ALL, JOB_RUN, JOB_RUNNING, 0, -1,
      NULL },
    { TO_SCHED START (1) CANCEL_ALL END_BAD (1), JOB_CLEANUP, JOB_CANCELLED,
      JOB_ACT_CLEAN, 1, NULL },
    { TO_SCHED CANCEL_ALL "|clean", JOB_INACTIVE, JOB_CANCELLED, JOB_ACT_INACTIVE, 1,
      "cancelled" },
};

static void test_lives (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (lives); i++) {
        unsigned actions;
        char text[200];
        struct job *job = job_after (lives[i].lines, &actions);
        if (job->state != lives[i].state || job_phase (job) != lives[i].phase
            || actions != lives[i].actions)
            fail_msg ("%s: %s, %s, actions 0x%x", lives[i].lines,
                      job_state_name (job->state), job_phase_name (job_phase (job)),
                      actions);
        if (lives[i].exit_code >= 0)
            assert_int_equal (job_exit_code (job), lives[i].exit_code);
        job_result_text (job, text, sizeof (text));
        if (lives[i].result)
            assert_string_equal (text, lives[i].result);
        job_destroy (job);
    }
}

static const struct {
    const char *lines, *event;
    int rc;
} refusals[] = {
    { TO_SCHED, "task-start {\"task\":2}", -EPROTO },
    { TO_SCHED, "task-start {}", -EINVAL },
    { TO_SCHED, "task-start", -EINVAL },
    { TO_SCHED START (1), "task-start {\"task\":1}", -EPROTO },
    { TO_SCHED, "task-end {\"task\":1,\"state\":\"COMPLETED\",\"exit_code\":0}",
      -EPROTO },
    { TO_SCHED START (1), "task-end {\"task\":1,\"state\":\"COMPLETED\"}", -EINVAL },
    { TO_SCHED START (1), "task-cancel {\"tasks\":\"1\"}", -EPROTO },
    { TO_SCHED, "task-cancel {\"tasks\":\"2\"}", -EPROTO },
    { TO_SCHED, "task-cancel {\"tasks\":\"x\"}", -EINVAL },
    { TO_SCHED, "alloc {\"R\":{\"version\":1}}", -EPROTO },
    { TO_SCHED START (1) START (3) START (5), "start", -EPROTO },
    { TO_SCHED START (1) START (3) START (5), "finish {\"status\":0}", -EPROTO },
    { TO_SCHED START (1) START (3) START (5), "requeue {\"reason\":\"x\"}", -EPROTO },
    { "submit {\"userid\":7,\"urgency\":16}|validate|depend|priority {\"priority\":1}",
      "task-start {\"task\":1}", -EPROTO },
    { "submit {\"userid\":7,\"urgency\":16}|validate|depend|priority {\"priority\":1}",
      "task-cancel {\"tasks\":\"1\"}", -EPROTO },
};

static void test_refusals (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (refusals); i++) {
        unsigned actions;
        struct job *job = job_after (refusals[i].lines, &actions);
        enum job_state before = job->state;
        uint64_t nevents = job->nevents;
        int rc = apply (job, refusals[i].event, &actions);
        if (rc != refusals[i].rc)
            fail_msg ("%s | %s: %d", refusals[i].lines, refusals[i].event, rc);
        assert_int_equal (job->state, before);
        assert_int_equal (job->nevents, nevents);
        job_destroy (job);
    }
}

static void test_limit (void **state)
{
    unsigned actions;
    struct job *job = job_after (TO_SCHED START (1), &actions);

    (void)state;
    assert_false (job_array_is_full (job->array));
    assert_int_equal (apply (job, "task-start {\"task\":3}", &actions), 0);
    assert_true (job_array_is_full (job->array));
    assert_int_equal (idset_first (job->array->waiting), 5);
    job_destroy (job);
}

static void test_task (void **state)
{
    unsigned actions;
    struct job *job = job_after ("submit {\"userid\":7,\"urgency\":16,\"array_task\":"
                                 "{\"job\":12,\"task\":3}}",
                                 &actions);
    (void)state;
    assert_int_equal (job->array_job, 12);
    assert_int_equal (job->array_task, 3);
    assert_null (job->array);
    job_destroy (job);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_ids),      cmocka_unit_test (test_lives),
        cmocka_unit_test (test_refusals), cmocka_unit_test (test_limit),
        cmocka_unit_test (test_task),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

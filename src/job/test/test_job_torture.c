/* test_job_torture.c - events for which there is no memory: the job is as it was before */
#include "job/test/job_events.h"

#include <errno.h>
#include <string.h>

#include "common/test/torture.h"

static json_t *parse (const char *text)
{
    return json_loads (text, JSON_REJECT_DUPLICATES, NULL);
}

/* An array of three tasks that waits; the first runs. */
static struct job *array_job (void)
{
    struct job *job = job_create (1);
    json_t *submit = context_of ("submit");
    unsigned actions;

    json_object_set_new (submit, "array", json_string ("1-3"));
    assert_int_equal (apply_context (job, "submit", submit, &actions), 0);
    apply_all (job, (const char *const[]){ "validate", "depend", "priority" }, 3);
    assert_int_equal (apply_context (job, "task-start", parse ("{\"task\":1}"), &actions),
                      0);
    return job;
}

static char *tasks_text (const struct job *job)
{
    const struct job_array *a = job->array;
    char *text = NULL;

    if (a)
        assert_true (asprintf (&text, "%u %u %u %u %u", idset_count (a->waiting),
                               idset_count (a->running), idset_count (a->ok),
                               idset_count (a->failed), idset_count (a->cancelled))
                     > 0);
    return text ? text : strdup ("none");
}

/* The job and its tasks, to compare two. */
static char *whole_text (const struct job *job)
{
    autofree char *record = job_text (job), *tasks = tasks_text (job);
    char *text;

    assert_true (asprintf (&text, "%s %s", record, tasks) > 0);
    return text;
}

/* Applies the event to a job after the events `before` (NULL: to array_job()), with the n-th
 * allocation failing (< 0: none); returns the result. */
static int try (const char *before, const char *name, const char *context, long n,
                char **ret_old, char **ret_new)
{
    struct error err = { 0 };
    unsigned actions;

    now = 1000;
    struct job *job = before ? job_after (before) : array_job ();
    struct event *e =
        event_create (now, name, context ? parse (context) : context_of (name));
    *ret_old = whole_text (job);
    torture_has_failed = false;
    torture_countdown = n;
    int rc = job_apply (job, e, &actions, &err);
    torture_stop ();
    *ret_new = whole_text (job);
    event_destroy (e);
    job_destroy (job);
    return rc;
}

/* Each allocation fails in turn. */
static void suffer (const char *before, const char *name, const char *context)
{
    autofree char *old = NULL, *good = NULL;
    int failed = 0;

    assert_int_equal (try (before, name, context, -1, &old, &good), 0);
    assert_string_not_equal (old, good);
    for (long n = 0; n == 0 || torture_failed (); n++) {
        autofree char *same = NULL, *text = NULL;
        int rc = try (before, name, context, n, &same, &text);
        if (rc != 0 && rc != -ENOMEM)
            fail_msg ("%s, allocation %ld: %d", name, n, rc);
        assert_string_equal (text, rc < 0 ? old : good);
        failed += rc < 0;
    }
    assert_true (failed > 0);
}

static void test_no_memory (void **state)
{
    (void)state;
    suffer ("", "submit", NULL);
    suffer (TO_SCHED, "alloc", NULL);
    suffer (TO_SCHED, "urgency", "{\"urgency\":0,\"userid\":7,\"note\":\"later\"}");
    suffer (TO_SCHED, "exception", NULL);
    suffer (TO_RUN, "requeue", "{\"reason\":\"r\",\"avoid\":\"n1\"}");
    suffer (TO_RUN " start", "finish", "{\"status\":0,\"text\":\"done\"}");
    suffer (TO_RUN " start", "exception", NULL);
    suffer (TO_RUN " start resize", "resized", NULL);
}

static void test_no_memory_array (void **state)
{
    (void)state;
    suffer (NULL, "task-cancel", "{\"tasks\":\"2-3\"}");
    suffer (NULL, "exception", NULL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_no_memory),
        cmocka_unit_test (test_no_memory_array),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

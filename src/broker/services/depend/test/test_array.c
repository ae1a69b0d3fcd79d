/* test_array.c - an array is in the queue for its tasks, and the tasks become jobs one
 * by one */
#include "broker/core/test/small.h"

#include <string.h>

#include "broker/services/depend/array.h"

extern const struct broker_service service_array;

static struct entry *submit_array (struct small *s, const char *tasks)
{
    char system[128];

    snprintf (system, sizeof (system),
              "duration: 60, job: {name: a}, fluxq: {array: \"%s\"}", tasks);
    return small_submit (s, system);
}

static enum job_state state_of_job (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->state;
}

/* Four jobs that use the node until they end. */
static void occupy (struct small *s)
{
    for (int i = 0; i < 4; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
}

/* Each task becomes a job with the id that the submit reserved. */
static void test_tasks_start (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = entry_id (submit_array (s, "1-3"));

    (void)unused;
    assert_int_equal (id, 1);
    assert_int_equal (entries_next_id (s->b), 5);
    small_turn (s);
    assert_string_equal (s->told, "start 2, start 3, start 4");
    assert_string_equal (small_events (s, id), "submit validate depend priority "
                                               "task-start task-start task-start");
    assert_string_equal (small_events (s, 2), "submit validate depend priority alloc");
    const struct job *task = entry_job (entry_find (s->b, 3));
    assert_int_equal (task->array_job, id);
    assert_int_equal (task->array_task, 2);
    assert_string_equal (task->name, "a");
    assert_true (array_is_whole (entry_find (s->b, id)));
    small_destroy (s);
}

/* The array ends with its last task, and its record has the result of each task. */
static void test_tasks_end (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = entry_id (submit_array (s, "1-3"));

    (void)unused;
    small_turn (s);
    for (uint64_t task = 2; task <= 4; task++)
        small_ready (s, task);
    small_finish (s, 2, "exited");
    small_finish (s, 4, "timeout");
    assert_int_equal (state_of_job (s, id), JOB_RUN);
    const struct job_array *a = entry_job (entry_find (s->b, id))->array;
    assert_true (idset_has (a->ok, 1) && idset_has (a->failed, 3));
    assert_int_equal (idset_count (a->running), 1);
    small_finish (s, 3, "exited");
    assert_int_equal (state_of_job (s, id), JOB_INACTIVE);
    assert_non_null (strstr (small_events (s, id), "task-end task-end task-end"));
    small_destroy (s);
}

/* The scheduler orders the array by its next task. */
static void test_head (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    occupy (s);
    struct entry *e = submit_array (s, "1-3");
    small_turn (s);
    assert_int_equal (array_queued_id (e), entry_id (e) + 1);
    assert_false (array_is_whole (e));
    array_dequeue (s->b, e);
    assert_int_equal (array_queued_id (e), 0);
    assert_null (array_start (s->b, entry_id (e) + 1)); /* no longer queued */
    assert_int_equal (array_enqueue (s->b, e), entry_id (e) + 1);
    broker_enqueue (s->b, e);
    small_finish (s, 1, "exited");
    assert_int_equal (array_queued_id (e), entry_id (e) + 2);
    assert_non_null (entry_find (s->b, entry_id (e) + 1));
    assert_int_equal (array_queued_id (entry_find (s->b, entry_id (e) + 1)),
                      entry_id (e) + 1);
    small_destroy (s);
}

/* "%2": no more than two tasks run at a time. */
static void test_limit (void **unused)
{
    struct small *s = small_create (1);
    autostrbuf struct strbuf text;

    (void)unused;
    strbuf_init (&text, 200);
    struct entry *e = submit_array (s, "1-4%2");
    assert_null (service_array.reason (s->b, e, &text));
    small_turn (s);
    assert_string_equal (s->told, "start 2, start 3");
    assert_int_equal (array_queued_id (e), 0);
    assert_string_equal (service_array.reason (s->b, e, &text), "JobArrayTaskLimit");
    assert_non_null (strstr (text.buf, "2 of its tasks run, and at most 2 may run"));
    small_finish (s, 2, "startfail");
    assert_non_null (strstr (s->told, "start 4"));
    assert_null (entry_find (s->b, 5));
    small_finish (s, 3, "startfail");
    assert_non_null (strstr (s->told, "start 5"));
    small_destroy (s);
}

static void test_cancelled_tasks (void **unused)
{
    struct small *s = small_create (1);
    struct idset *tasks = idset_create ();

    (void)unused;
    occupy (s);
    struct entry *e = submit_array (s, "1-3");
    small_turn (s);
    assert_int_equal (idset_add (tasks, 1), 0);
    assert_int_equal (idset_add (tasks, 3), 0);
    assert_int_equal (array_cancel (s->b, e, tasks, 1000, "not needed"), 0);
    small_turn (s);
    assert_int_equal (array_queued_id (e), entry_id (e) + 2);
    for (uint64_t id = 1; id <= 4; id++)
        small_finish (s, id, "exited");
    assert_null (entry_find (s->b, entry_id (e) + 1));
    assert_int_equal (state_of_job (s, entry_id (e) + 2), JOB_RUN);
    assert_null (entry_find (s->b, entry_id (e) + 3));
    idset_destroy (tasks);
    small_destroy (s);
}

/* An array without a remaining task ends without a start. */
static void test_all_tasks_cancelled (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    occupy (s);
    struct entry *e = submit_array (s, "1-3");
    small_turn (s);
    struct idset *tasks = idset_copy (entry_job (e)->array->waiting);
    assert_int_equal (array_cancel (s->b, e, tasks, 1000, ""), 0);
    idset_destroy (tasks);
    small_turn (s);
    assert_int_equal (state_of_job (s, entry_id (e)), JOB_INACTIVE);
    assert_int_equal (array_queued_id (e), 0);
    small_destroy (s);
}

/* The array vanishes before its tasks: no task starts, and no task's end needs the
 * array. */
static void test_array_vanishes (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct entry *e = submit_array (s, "1-6");
    small_turn (s);
    assert_int_equal (array_queued_id (e), 6);
    broker_act (s->b, e, JOB_ACT_DEQUEUE);
    entry_remove (s->b, e);
    assert_null (array_start (s->b, 6));
    small_ready (s, 2);
    small_finish (s, 2, "exited");
    assert_int_equal (state_of_job (s, 2), JOB_INACTIVE);
    assert_null (entry_find (s->b, 6));
    small_destroy (s);
}

static void scenario (struct small *s)
{
    struct idset *tasks = NULL;
    struct entry *e;

    submit_array (s, "1-4%2");
    submit_array (s, "0-3");
    small_turn (s);
    small_ready (s, 2);
    small_finish (s, 2, "exited");
    small_finish (s, 3, "startfail");
    if ((e = entry_find (s->b, 6)) && entry_job (e)->state == JOB_SCHED
        && (tasks = idset_copy (entry_job (e)->array->waiting)))
        array_cancel (s->b, e, tasks, 1000, "not needed");
    idset_destroy (tasks);
    small_turn (s);
    for (uint64_t id = 4; id <= 10; id++)
        small_finish (s, id, "startfail");
    /* After any failure an ended array has no pending or running task. */
    for (uint64_t id = 1; id <= 6; id += 5)
        if ((e = entry_find (s->b, id)) && entry_job (e)->state == JOB_INACTIVE)
            assert_int_equal (idset_count (entry_job (e)->array->waiting)
                                  + idset_count (entry_job (e)->array->running),
                              0);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_tasks_start),
        cmocka_unit_test (test_tasks_end),
        cmocka_unit_test (test_head),
        cmocka_unit_test (test_limit),
        cmocka_unit_test (test_cancelled_tasks),
        cmocka_unit_test (test_all_tasks_cancelled),
        cmocka_unit_test (test_array_vanishes),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

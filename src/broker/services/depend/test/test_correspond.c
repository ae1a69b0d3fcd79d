/* test_correspond.c - a task waits for the task of the same number of another array */
#include "broker/core/test/small.h"

#include <string.h>

#include "broker/services/depend/array.h"
#include "broker/services/depend/correspond.h"
#include "broker/services/depend/depend.h"

extern const struct broker_service service_array;

extern const struct broker_service service_correspond, service_depend;

static uint64_t submit_array (struct small *s, const char *tasks, const char *more)
{
    char system[256];

    snprintf (system, sizeof (system), "duration: 60%s, fluxq: {array: \"%s\"}", more,
              tasks);
    struct entry *e = small_submit (s, system);
    return e ? entry_id (e) : 0;
}

/* An array whose tasks wait for those of array 1. */
static uint64_t submit_after (struct small *s, const char *tasks)
{
    return submit_array (s, tasks, ", dependencies: [{scheme: aftercorr, value: \"1\"}]");
}

static const struct job_array *array_of (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->array;
}

/* Array 1 with the tasks 1 to 3, which run as jobs 2 to 4. */
static struct small *begin (void)
{
    struct small *s = small_create (2);

    assert_int_equal (submit_array (s, "1-3", ""), 1);
    small_turn (s);
    for (uint64_t id = 2; id <= 4; id++)
        small_ready (s, id);
    return s;
}

static void test_same_number (void **unused)
{
    struct small *s = begin ();
    uint64_t id = submit_after (s, "1-3");
    struct entry *e = entry_find (s->b, id);

    (void)unused;
    small_advance (s, 1);
    assert_int_equal (entry_job (e)->state, JOB_SCHED);
    assert_int_equal (array_queued_id (e), 0); /* no task may start */
    assert_true (idset_count (correspond_ready (e)) == 0);
    assert_string_equal (service_array.reason (s->b, e, NULL), "Dependency");
    small_finish (s, 3, "exited"); /* task 2 */
    assert_null (entry_find (s->b, id + 1));
    assert_int_equal (entry_job (entry_find (s->b, id + 2))->state, JOB_RUN);
    small_finish (s, 2, "exited");
    assert_int_equal (entry_job (entry_find (s->b, id + 1))->state, JOB_RUN);
    assert_null (entry_find (s->b, id + 3));
    small_destroy (s);
}

/* A task whose counterpart fails, or does not exist, never starts. */
static void test_hopeless (void **unused)
{
    struct small *s = begin ();
    uint64_t id = submit_after (s, "2-4");

    (void)unused;
    small_advance (s, 1);
    assert_true (idset_has (array_of (s, id)->cancelled, 4)); /* array 1 has no task 4 */
    assert_true (idset_has (array_of (s, id)->waiting, 2));
    small_finish (s, 3, "timeout");
    assert_true (idset_has (array_of (s, id)->cancelled, 2));
    small_finish (s, 4, "exited");
    assert_int_equal (entry_job (entry_find (s->b, id + 2))->state, JOB_RUN); /* task 3 */
    small_destroy (s);
}

/* The job may set that its tasks keep waiting in this case. */
static void test_hopeless_is_kept (void **unused)
{
    struct small *s = begin ();
    char system[] = "duration: 60, dependencies: [{scheme: aftercorr, value: \"1\"}], "
                    "fluxq: {array: 2-4, kill-invalid-depend: false}";
    struct entry *e = small_submit (s, system);

    (void)unused;
    small_finish (s, 3, "timeout");
    small_finish (s, 4, "exited");
    assert_int_equal (idset_count (entry_job (e)->array->cancelled), 0);
    assert_true (idset_has (entry_job (e)->array->waiting, 2));
    assert_true (idset_has (entry_job (e)->array->running, 3));
    small_destroy (s);
}

/* Tasks that ended earlier count as well. */
static void test_ended_before (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    small_finish (s, 2, "exited");
    small_finish (s, 4, "timeout");
    uint64_t id = submit_after (s, "1-3");
    small_advance (s, 1);
    assert_true (idset_has (array_of (s, id)->running, 1));
    assert_true (idset_has (array_of (s, id)->waiting, 2));
    assert_true (idset_has (array_of (s, id)->cancelled, 3));
    small_destroy (s);
}

/* The other array has ended and is in the journal only. */
static void test_ended_array (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    s->config->keep_finished = 0;
    small_finish (s, 2, "exited");
    small_finish (s, 3, "timeout");
    small_finish (s, 4, "exited");
    assert_null (entry_find (s->b, 1));
    uint64_t id = submit_after (s, "1-3");
    small_advance (s, 1);
    assert_true (idset_has (array_of (s, id)->running, 1));
    assert_true (idset_has (array_of (s, id)->cancelled, 2));
    assert_true (idset_has (array_of (s, id)->running, 3));
    small_destroy (s);
}

/* With two arrays both counterparts are needed. */
static void test_two_arrays (void **unused)
{
    struct small *s = begin ();
    uint64_t other = submit_array (s, "1-2", "");

    (void)unused;
    uint64_t id = submit_array (s, "1-2",
                                ", dependencies: [{scheme: aftercorr, value: \"1\"}, "
                                "{scheme: aftercorr, value: \"5\"}]");
    assert_int_equal (other, 5);
    small_advance (s, 1);
    small_finish (s, 2, "exited");
    assert_true (idset_has (array_of (s, id)->waiting, 1));
    small_ready (s, other + 1);
    small_finish (s, other + 1, "exited");
    assert_true (idset_has (array_of (s, id)->running, 1));
    small_destroy (s);
}

/* Tasks of the other array may be cancelled before their start. */
static void test_counterpart_is_cancelled (void **unused)
{
    struct small *s = small_create (1);
    struct idset *tasks = idset_create ();

    (void)unused;
    assert_int_equal (submit_array (s, "1-3%1", ""), 1);
    uint64_t id = submit_after (s, "1-3");
    small_turn (s);
    assert_int_equal (idset_add (tasks, 3), 0);
    assert_int_equal (array_cancel (s->b, entry_find (s->b, 1), tasks, 1000, ""), 0);
    small_turn (s);
    assert_true (idset_has (array_of (s, id)->cancelled, 3));
    assert_true (idset_has (array_of (s, id)->waiting, 2));
    idset_destroy (tasks);
    small_destroy (s);
}

/* After a restart a queued array looks its antecedents up again. */
static void test_restart (void **unused)
{
    struct small *s = begin ();
    struct error err = { 0 };
    uint64_t id = submit_array (s, "1-3", ", constraints: {hostlist: [node9]}");
    struct entry *e = entry_find (s->b, id);

    (void)unused;
    small_turn (s);
    assert_int_equal (array_queued_id (e), id + 1);
    if (!entry_jobspec (e))
        entry_set_jobspec (e, jobspec_parse ("{}", 2, NULL));
    assert_non_null (entry_jobspec (e));
    assert_int_equal (
        dependencies_parse (&entry_jobspec (e)->depend, "aftercorr:1", "test", &err), 0);
    service_depend.take (s->b, e, false);
    service_correspond.waits_again (s->b, e);
    assert_false (correspond_is_unknown (e)); /* array 1 is in memory */
    assert_int_equal (array_queued_id (e), 0);
    assert_int_equal (depend_list (e)->n, 0);
    small_finish (s, 3, "exited");
    assert_int_equal (array_queued_id (e), id + 2);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    submit_array (s, "1-3%2", "");
    uint64_t id = submit_after (s, "1-4");
    struct entry *e;

    submit_array (s, "1-2",
                  ", dependencies: [{scheme: aftercorr, value: \"1\"}, {scheme: "
                  "aftercorr, value: \"5\"}]");
    small_advance (s, 1);
    small_ready (s, 2);
    small_ready (s, 3);
    small_finish (s, 3, "timeout");
    small_finish (s, 2, "exited");
    small_finish (s, 4, "startfail");
    small_advance (s, 1);
    /* After any failure no task starts whose counterpart did not complete. */
    if (id == 5 && (e = entry_find (s->b, id)) && entry_job (e)->array)
        assert_false (idset_has (entry_job (e)->array->running, 2)
                      || idset_has (entry_job (e)->array->running, 4));
    small_finish (s, 6, "startfail");
    s->config->keep_finished = 0;
    submit_after (s, "1-2");
    small_advance (s, 10);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (2, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (2, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_same_number),
        cmocka_unit_test (test_hopeless),
        cmocka_unit_test (test_hopeless_is_kept),
        cmocka_unit_test (test_ended_before),
        cmocka_unit_test (test_ended_array),
        cmocka_unit_test (test_two_arrays),
        cmocka_unit_test (test_counterpart_is_cancelled),
        cmocka_unit_test (test_restart),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

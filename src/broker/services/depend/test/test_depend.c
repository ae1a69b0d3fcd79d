/* test_depend.c - jobs with dependencies wait for other jobs, in memory or in the journal */
#include "broker/core/test/small.h"

#include <string.h>

#include "broker/api/privacy.h"
#include "broker/services/depend/antecedents.h"
#include "broker/services/depend/depend.h"

extern const struct broker_service service_depend;

static enum job_state state_of_job (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->state;
}

/* Submits a job with this dependency, KIND:ID. more: further keys of
 * attributes.system. */
static struct entry *submit (struct small *s, const char *kind, const char *value,
                             const char *more)
{
    char system[256];

    snprintf (system, sizeof (system),
              "duration: 60%s, dependencies: [{scheme: %s, value: \"%s\"}]", more, kind,
              value);
    return small_submit (s, system);
}

/* Job 1, which runs. */
static struct small *begin (void)
{
    struct small *s = small_create (2);

    assert_int_equal (entry_id (small_submit (s, "duration: 60")), 1);
    small_turn (s);
    small_ready (s, 1);
    return s;
}

static void test_no_dependency (void **unused)
{
    struct small *s = begin ();
    struct entry *e = entry_find (s->b, 1);
    size_t n = 1;

    (void)unused;
    assert_non_null (strstr (small_events (s, 1), "validate depend priority"));
    assert_null (service_depend.reason (s->b, e, NULL));
    depend_needs (e, &n);
    assert_int_equal (n, 0);
    assert_true (depend_has_room (s->b, 1000));
    assert_false (depend_has_room (s->b, 2000001));
    small_destroy (s);
}

/* For each kind and each end of the other job: which jobs go on, and which never can. */
static void test_kinds (void **unused)
{
    static const struct {
        const char *kind, *end;
        bool met;
    } table[] = {
        { "afterok", "exited", true },     { "afterok", "timeout", false },
        { "afternotok", "timeout", true }, { "afternotok", "exited", false },
        { "afterany", "exited", true },    { "afterany", "timeout", true },
        { "aftercorr", "exited", true },   { "aftercorr", "timeout", false },
    };

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        struct small *s = begin ();
        uint64_t id = entry_id (submit (s, table[i].kind, "1", ""));
        small_advance (s, 1);
        assert_int_equal (state_of_job (s, id), JOB_DEPEND);
        small_finish (s, 1, table[i].end);
        small_advance (s, 1);
        assert_int_equal (state_of_job (s, id), table[i].met ? JOB_RUN : JOB_INACTIVE);
        assert_true (!strstr (small_events (s, id), "exception") == table[i].met);
        small_destroy (s);
    }
}

static void test_explained (void **unused)
{
    struct small *s = begin ();
    struct entry *e = submit (s, "afterok", "1", ", fluxq: {kill-invalid-depend: false}");
    uint64_t ids[4] = { 0 };
    autostrbuf struct strbuf text;
    size_t n = 0;

    (void)unused;
    strbuf_init (&text, 200);
    small_advance (s, 1);
    assert_string_equal (service_depend.reason (s->b, e, &text), "Dependency");
    assert_string_equal (text.buf, "waits for job 1 to succeed");
    assert_int_equal (depend_blockers (s->b, entry_id (e), ids, 4), 1);
    assert_int_equal (ids[0], 1);
    const uint64_t *needs = depend_needs (e, &n);
    assert_true (n == 2 && needs[0] == 1 && needs[1] == 0);
    assert_int_equal (depend_list (e)->n, 0); /* deps.h owns the list now */
    assert_true (depend_keeps_invalid (e));
    small_finish (s, 1, "timeout");
    small_advance (s, 1);
    assert_int_equal (entry_job (e)->state, JOB_DEPEND); /* the job still waits */
    assert_string_equal (service_depend.reason (s->b, e, NULL),
                         "DependencyNeverSatisfied");
    small_destroy (s);
}

/* A delay counts from the start of the other job. */
static void test_delay (void **unused)
{
    struct small *s = begin ();
    uint64_t id =
        entry_id (small_submit (s, "duration: 60, dependencies: [{scheme: after, value: "
                                   "\"1\", delay: 120}]"));

    (void)unused;
    small_advance (s, 119);
    assert_int_equal (state_of_job (s, id), JOB_DEPEND);
    small_advance (s, 2);
    assert_int_equal (state_of_job (s, id), JOB_RUN);
    small_destroy (s);
}

/* Only one job of a user and name at a time, in the order of ids. */
static void test_singleton (void **unused)
{
    struct small *s = begin ();
    const char *own = ", job: {name: own}";

    (void)unused;
    uint64_t first = entry_id (submit (s, "singleton", "", own));
    uint64_t second = entry_id (submit (s, "singleton", "", own));
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, first), JOB_RUN); /* job 1 has another name */
    assert_int_equal (state_of_job (s, second), JOB_DEPEND);
    small_finish (s, first, "timeout");
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, second), JOB_RUN);
    small_destroy (s);
}

/* One of several dependencies is enough. */
static void test_any (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_turn (s);
    uint64_t id = entry_id (submit (s, "any", "afterok:1?afterok:2", ""));
    small_finish (s, 1, "timeout");
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, id), JOB_DEPEND);
    small_ready (s, 2);
    small_finish (s, 2, "exited");
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, id), JOB_RUN);
    small_destroy (s);
}

/* A job that has left memory is read from the journal, with its result. */
static void test_ended_long_ago (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    s->config->keep_finished = 0;
    small_finish (s, 1, "exited");
    assert_null (entry_find (s->b, 1));
    uint64_t good = entry_id (submit (s, "afterok", "1", ""));
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, good), JOB_RUN);
    small_ready (s, good);
    s->config->keep_finished = 10;
    uint64_t bad = entry_id (submit (s, "afternotok", "1", ""));
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, bad), JOB_INACTIVE);
    small_destroy (s);
}

/* A job that never existed cannot succeed. */
static void test_unknown (void **unused)
{
    struct small *s = begin ();
    uint64_t id = entry_id (submit (s, "afterok", "1000", ""));

    (void)unused;
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, id), JOB_INACTIVE);
    assert_non_null (strstr (small_events (s, id), "exception"));
    small_destroy (s);
}

/* Tasks of arrays: a task that has not started, one that runs, and one that never
 * will. */
static void test_tasks (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    assert_int_equal (entry_id (small_submit (s, "duration: 60, fluxq: {array: 1-3%1}")),
                      1);
    small_turn (s);
    uint64_t first = entry_id (submit (s, "afterok", "1_1", ""));
    uint64_t third = entry_id (submit (s, "afterok", "1_3", ""));
    uint64_t none = entry_id (submit (s, "afterok", "1_9", ""));
    uint64_t whole = entry_id (submit (s, "afterany", "1", ""));
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, none), JOB_INACTIVE);
    small_ready (s, 2);
    small_finish (s, 2, "exited");
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, first), JOB_RUN);
    assert_int_equal (state_of_job (s, third), JOB_DEPEND);
    assert_int_equal (broker_exception (s->b, entry_find (s->b, 1), "cancel", 1000, ""),
                      0);
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, third), JOB_INACTIVE);
    assert_int_equal (state_of_job (s, whole), JOB_DEPEND); /* task 2 still runs */
    small_finish (s, 3, "cancelled");
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, whole), JOB_RUN);
    small_destroy (s);
}

static struct {
    int calls, rc;
    uint64_t unknown;
} answer;

static void looked_up (int rc, struct antecedents *found, uint64_t unknown, void *arg)
{
    (void)arg;
    answer.calls++;
    answer.rc = rc;
    answer.unknown = unknown;
    antecedents_free (found);
}

static void ask (struct small *s, const char *text, uid_t viewer)
{
    struct dependencies list = { 0 };
    struct error err = { 0 };

    assert_int_equal (dependencies_parse (&list, text, "test", &err), 0);
    answer.calls = 0;
    antecedents_find (s->b, &list, NULL, &viewer, looked_up, NULL);
    small_turn (s);
    assert_int_equal (answer.calls, 1);
    assert_int_equal (answer.rc, 0);
    dependencies_release (&list);
}

/* At submit, jobs that the user may not see count as unknown. */
static void test_antecedents (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_turn (s);
    s->config->keep_finished = 0;
    small_finish (s, 1, "exited");
    for (int private = 0; private < 2; private ++) {
        s->config->private_parts = private ? PRIVATE_JOBS : 0;
        ask (s, "afterok:1:2", 1000);
        assert_int_equal (answer.unknown, 0);
        ask (s, "afterok:1", 1001);
        assert_int_equal (answer.unknown, private ? 1 : 0);
        ask (s, "afterok:2", 1001);
        assert_int_equal (answer.unknown, private ? 2 : 0);
        ask (s, "afterok:2:77", 1000);
        assert_int_equal (answer.unknown, 77);
    }
    small_destroy (s);
}

/* The job vanishes during the look-up of its antecedent: nothing of the look-up is
 * left. */
static void test_vanishes (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    s->config->keep_finished = 0;
    small_finish (s, 1, "exited");
    entry_remove (s->b, submit (s, "afterok", "1", ""));
    uint64_t id = entry_id (submit (s, "afterok", "1", ""));
    small_advance (s, 1);
    assert_int_equal (state_of_job (s, id), JOB_RUN);
    small_destroy (s);
}

/* Submits a job that waits for the success of job 1; returns its id, or 0. */
static uint64_t submit_afterok (struct small *s)
{
    struct entry *e = submit (s, "afterok", "1", "");

    return e ? entry_id (e) : 0;
}

static void scenario (struct small *s)
{
    struct entry *first = small_submit (s, "duration: 60"), *e;
    uint64_t waits[2];

    small_submit (s, "duration: 60, fluxq: {array: 1-2%1}");
    waits[0] = submit_afterok (s);
    submit (s, "afternotok", "1", "");
    submit (s, "any", "afterok:1?afterany:2_2", "");
    submit (s, "singleton", "", "");
    small_advance (s, 1);
    small_ready (s, 1);
    small_ready (s, 3);
    small_finish (s, 1, "timeout");
    s->config->keep_finished = 0;
    small_finish (s, 3, "exited");
    waits[1] = submit_afterok (s);
    submit (s, "afternotok", "1", "");
    small_advance (s, 10);
    /* After any failure: job 1 did not complete, so these jobs do not start. */
    for (size_t i = 0; first && i < 2; i++)
        if (waits[i] && (e = entry_find (s->b, waits[i])))
            assert_int_not_equal (entry_job (e)->state, JOB_RUN);
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
        cmocka_unit_test (test_no_dependency),  cmocka_unit_test (test_kinds),
        cmocka_unit_test (test_explained),      cmocka_unit_test (test_delay),
        cmocka_unit_test (test_singleton),      cmocka_unit_test (test_any),
        cmocka_unit_test (test_ended_long_ago), cmocka_unit_test (test_unknown),
        cmocka_unit_test (test_tasks),          cmocka_unit_test (test_antecedents),
        cmocka_unit_test (test_vanishes),       cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

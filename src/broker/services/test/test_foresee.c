/* test_foresee.c - forecasts of jobs: when and where they would start */
#include "broker/core/test/small.h"

#include <math.h>
#include <string.h>

#include "broker/services/placing.h"
#include "broker/services/submit/submission.h"

#define JOB(count, system)                                                               \
    "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":" count                  \
    ",\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":1}]}],"                  \
    "\"tasks\":[{\"command\":[\"true\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}]," \
    "\"attributes\":{\"system\":{" system "}}}"

/* The forecast for this jobspec; NULL if there is no memory. */
static json_t *foresee (struct small *s, const char *jobspec)
{
    struct error err = { 0 };
    struct entry *e = entry_new ();
    json_t *o = NULL;

    if (!e)
        return NULL;
    e->js = jobspec_parse (jobspec, strlen (jobspec), &err);
    if (e->js && placing_make (s->b, e, 0, &err) == 0)
        o = broker_foresee (s->b, e);
    entry_destroy (e);
    return o;
}

static double number (const json_t *o, const char *key)
{
    const json_t *value = json_object_get (o, key);

    assert_true (json_is_number (value));
    return json_number_value (value);
}

static const char *text (const json_t *o, const char *key)
{
    const char *value = json_string_value (json_object_get (o, key));

    return value ? value : "";
}

static void submit (struct small *s, int n, const char *system)
{
    for (int i = 0; i < n; i++)
        small_submit (s, system);
    small_turn (s);
}

static void test_now (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    submit (s, 1, "duration: 60");
    autojson json_t *o = foresee (s, JOB ("4", "\"duration\":60"));
    assert_true (json_is_true (json_object_get (o, "now")));
    assert_true (fabs (number (o, "start") - small_now ()) < 0.1);
    assert_string_equal (text (o, "nodelist"), "node[0-1]");
    assert_true (number (o, "nnodes") == 2 && number (o, "ncores") == 4);
    assert_true (number (o, "ntasks") == 4 && number (o, "pending") == 0);
    assert_null (json_object_get (o, "reason"));
    assert_null (
        strstr (small_events (s, 0), "submit validate depend priority alloc submit"));
    small_destroy (s);
}

/* The machine is full: the job would start when enough cores are free, or at its own time. */
static void test_later (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 3, "duration: 60");
    submit (s, 1, "duration: 200");
    double from = entry_find (s->b, 1)->r->starttime;
    autojson json_t *three = foresee (s, JOB ("3", "\"duration\":60"));
    assert_true (json_is_false (json_object_get (three, "now")));
    assert_in_range ((uint64_t)(number (three, "start") - from), 60, 61);
    assert_string_equal (text (three, "nodelist"), "node0");
    autojson json_t *four = foresee (s, JOB ("4", "\"duration\":60"));
    assert_in_range ((uint64_t)(number (four, "start") - from), 200, 201);
    autojson json_t *begin =
        foresee (s, JOB ("1", "\"duration\":60,\"begin-time\":1000500"));
    assert_in_range ((uint64_t)number (begin, "start"), 1000500, 1000501);
    assert_true (json_is_false (json_object_get (begin, "now")));
    small_destroy (s);
}

/* There is no forecast for a machine that is too small, and no soon start behind jobs
 * without a time limit. */
static void test_never (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 6, "duration: 0");
    autojson json_t *o = foresee (s, JOB ("1", "\"duration\":60"));
    assert_true (json_is_false (json_object_get (o, "now")));
    assert_true (number (o, "start") > small_now () + 86400);
    assert_true (number (o, "pending") == 2);
    autojson json_t *large = foresee (s, JOB ("5", "\"duration\":60"));
    assert_true (json_is_null (json_object_get (large, "start")));
    assert_true (*text (large, "reason"));
    small_destroy (s);
}

/* Nothing is booked, and no job is made. */
static void test_no_trace (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    for (int i = 0; i < 3; i++) {
        autojson json_t *o = foresee (s, JOB ("4", "\"duration\":60"));
        assert_true (json_is_true (json_object_get (o, "now")));
    }
    small_turn (s);
    assert_string_equal (small_events (s, 0), "");
    assert_int_equal (s->b->table.next_id, 1);
    submit (s, 4, "duration: 60");
    assert_int_equal (entry_job (entry_find (s->b, 4))->state, JOB_RUN);
    small_destroy (s);
}

/* Without memory there is no forecast, rather than a wrong one. */
static void scenario (struct small *s)
{
    submit (s, 5, "duration: 60");
    json_t *o = foresee (s, JOB ("2", "\"duration\":60"));
    long countdown = small_spare ();
    assert_true (!o || json_object_get (o, "reason") || *text (o, "nodelist"));
    assert_true (!o || json_object_get (o, "start"));
    json_decref (o);
    small_resume (countdown);
    small_finish (s, 1, "ended");
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
        cmocka_unit_test (test_now),         cmocka_unit_test (test_later),
        cmocka_unit_test (test_never),       cmocka_unit_test (test_no_trace),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

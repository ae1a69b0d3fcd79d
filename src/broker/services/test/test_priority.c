/* test_priority.c - priorities of waiting jobs: their terms, their order, and the rounds */
#include "broker/core/test/fake_http.h"

#include <string.h>

#include "sched/priority.h"

#define USER 1000
#define OTHER 1001

extern const struct broker_service service_priority;

#define INTERVAL 60 /* between two computations, the default */

static json_t *get (struct small *s, uid_t uid, const char *head, int status)
{
    struct client *c = client_call (s, uid, head, NULL);

    assert_int_equal (c->status, status);
    return status == 200 ? json_loads (c->text, 0, NULL) : NULL;
}

static double number (const json_t *o, const char *key)
{
    const json_t *value = json_object_get (o, key);

    assert_true (json_is_number (value));
    return json_number_value (value);
}

static void submit (struct small *s, int n)
{
    for (int i = 0; i < n; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
}

/* GET /v1/jobs/ID/priority uses the machine at the last round; running jobs
 * have no priority. */
static void test_job (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    submit (s, 9);
    small_advance (s, INTERVAL + 1);
    autojson json_t *o = get (s, USER, "GET /v1/jobs/9/priority", 200);
    assert_true (number (o, "cores_all") == 8);
    assert_true (number (o, "nodes_all") == 2);
    assert_true (number (o, "cores") == 1);
    assert_true (number (o, "users") == 1);
    autojson json_t *list = get (s, USER, "GET /v1/jobs?ids=9&fields=priority", 200);
    assert_true (
        number (o, "priority")
        == number (json_array_get (json_object_get (list, "jobs"), 0), "priority"));
    assert_true (number (json_array_get (json_object_get (o, "terms"), 0), "points")
                 == 16.0 * PRIORITY_URGENCY_WEIGHT);
    json_decref (get (s, USER, "GET /v1/jobs/1/priority", 409));
    json_decref (get (s, USER, "GET /v1/jobs/77/priority", 404));
    small_destroy (s);
}

/* The next round puts the job of a user with less usage before earlier jobs. */
static void test_order (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 6);
    entry_job (entry_find (s->b, 6))->userid = OTHER;
    assert_true (entry_job (entry_find (s->b, 5))->priority
                 >= entry_job (entry_find (s->b, 6))->priority);
    small_advance (s, 10 * INTERVAL);
    assert_true (entry_job (entry_find (s->b, 5))->priority
                 < entry_job (entry_find (s->b, 6))->priority);
    small_finish (s, 1, "ended");
    assert_int_equal (entry_job (entry_find (s->b, 6))->state, JOB_RUN);
    assert_int_equal (entry_job (entry_find (s->b, 5))->state, JOB_SCHED);
    small_destroy (s);
}

/* With requeue-at-end a job with a failed start goes behind the pending jobs. */
static void test_setback (void **unused)
{
    const struct exec_start_failure why = { .text = "no answer", .retry = true };
    struct small *s = small_create (1);

    (void)unused;
    s->config->requeue_at_end = true;
    submit (s, 4);
    small_advance (s, 100000); /* the job that failed has aged most */
    submit (s, 1);
    s->b->host.start_failed (s->b, 1, &why);
    small_turn (s);
    autojson json_t *context = json_loads (small_context (1, "requeue"), 0, NULL);
    assert_true (number (context, "setback") >= 0);
    assert_int_equal (entry_job (entry_find (s->b, 5))->state, JOB_RUN);
    submit (s, 1);
    small_advance (s, 3600);
    assert_true (entry_job (entry_find (s->b, 1))->priority
                 <= entry_job (entry_find (s->b, 6))->priority);
    small_destroy (s);
}

/* The job that a round would visit next vanishes; the round continues with
 * the jobs after it. */
static void test_round_goes_on (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 50);
    service_priority.recovered (s->b);
    small_advance (s, 0.0015);
    for (uint64_t id = 5; id <= 50; id += 2) {
        broker_act (s->b, entry_find (s->b, id), JOB_ACT_DEQUEUE);
        entry_remove (s->b, entry_find (s->b, id));
    }
    small_advance (s, 10 * INTERVAL);
    for (uint64_t id = 6; id <= 50; id += 2)
        assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_SCHED);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    submit (s, 6);
    small_ready (s, 1);
    small_advance (s, INTERVAL + 1);
    struct client *job = client_ask (s, USER, "GET /v1/jobs/6/priority", NULL);
    small_finish (s, 1, "ended");
    small_advance (s, INTERVAL + 1);
    assert_true (job->ended);
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
        cmocka_unit_test (test_job),         cmocka_unit_test (test_order),
        cmocka_unit_test (test_setback),     cmocka_unit_test (test_round_goes_on),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* test_adopt.c - objects made outside fluxq become jobs, and their owners learn the state */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB                                                                              \
    "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\","   \
    "\"with\":[{\"type\":\"core\",\"count\":4}]}],\"tasks\":[{\"command\":[\"true\"],"   \
    "\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":"         \
    "{\"duration\":600}}}"

static void adopt (struct small *s, const char *key, const char *owner, const char *text)
{
    const struct exec_foreign f = { .key = key,
                                    .name = "Job team/train",
                                    .owner = owner,
                                    .urgency = 16,
                                    .jobspec = json_loads (text, 0, NULL) };

    s->b->host.adopt (s->b, &f);
    json_decref ((json_t *)f.jobspec);
    small_turn (s);
}

/* The calls of the executor since the last time; valid until the next call. */
static const char *told (struct small *s)
{
    static char text[4096];

    snprintf (text, sizeof (text), "%s", s->told ? s->told : "");
    free (s->told);
    s->told = NULL;
    return text;
}

static void test_life (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    adopt (s, "a", "user", JOB);
    assert_string_equal (entry_job (entry_find (s->b, 1))->adopted, "Job team/train");
    assert_int_equal (entry_job (entry_find (s->b, 1))->userid, 1000);
    const char *text = told (s);
    assert_non_null (strstr (text, "adopted 1 a, state 1 PENDING"));
    assert_non_null (strstr (text, "active, start 1"));
    small_ready (s, 1);
    assert_string_equal (told (s), "state 1 RUNNING active");
    small_finish (s, 1, "exited");
    text = told (s);
    assert_non_null (strstr (text, "cleanup 1"));
    assert_non_null (strstr (text, "state 1 COMPLETED ended"));
    small_advance (s, 100);
    assert_string_equal (told (s), "");
    small_destroy (s);
}

/* One object has one job, however often the executor asks. */
static void test_again (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    adopt (s, "a", "user", JOB);
    told (s);
    adopt (s, "a", "user", JOB);
    assert_non_null (strstr (told (s), "adopted 1 a, state 1 "));
    assert_null (entry_find (s->b, 2));
    adopt (s, "b", "user", JOB);
    assert_non_null (strstr (told (s), "adopted 2 b, state 2 PENDING"));
    /* Only the journal remembers the job. */
    entry_remove (s->b, entry_find (s->b, 1));
    adopt (s, "a", "user", JOB);
    assert_string_equal (told (s), "adopted 1 a, state 1 ENDED ended");
    small_destroy (s);
}

/* The reason of a pending job is reported every few seconds, and nothing for other
 * jobs. */
static void test_waits (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    adopt (s, "a", "user", JOB);
    adopt (s, "b", "user", JOB);
    told (s);
    small_advance (s, 4);
    assert_string_equal (told (s), "state 2 PENDING Resources");
    services_call (recovered, s->b);
    const char *text = told (s);
    assert_non_null (strstr (text, "state 1 "));
    assert_non_null (strstr (text, "state 2 "));
    small_destroy (s);
}

static void test_gone (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    adopt (s, "a", "user", JOB);
    small_submit (s, "duration: 60");
    told (s);
    s->b->host.adopt_gone (s->b, 1, "it was deleted");
    s->b->host.adopt_gone (s->b, 2, "it was deleted"); /* not an adopted job */
    s->b->host.adopt_gone (s->b, 9, "it was deleted");
    small_turn (s);
    assert_non_null (strstr (told (s), "cancelled"));
    assert_string_equal (entry_job (entry_find (s->b, 1))->exception_note,
                         "it was deleted");
    assert_null (strstr (small_events (s, 2), "exception"));
    small_finish (s, 1, "cancelled");
    s->b->host.adopt_gone (s->b, 1, "it was deleted"); /* the job has ended */
    small_destroy (s);
}

static void test_refused (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    adopt (s, "a", "nobody", JOB);
    assert_string_equal (told (s), "adopted 0 a: its owner nobody is not a user of the "
                                   "broker's machine");
    adopt (s, "b", "user", "{\"version\":1}");
    assert_non_null (strstr (told (s), "adopted 0 b: jobspec: "));
    client_ask (s, 1000, "POST /v1/jobs\nIdempotency-Key: c", JOB);
    small_turn (s);
    told (s);
    adopt (s, "c", "user", JOB);
    assert_string_equal (told (s),
                         "adopted 0 c: its Idempotency-Key was used for another "
                         "job");
    s->b->stopping = true;
    adopt (s, "d", "user", JOB);
    assert_string_equal (told (s), "adopted 0 d again: the queue is full");
    small_destroy (s);
}

/* Without memory there is still an answer: the job, or an error after which the
 * executor asks again. */
static void adopt_somehow (struct small *s, const char *key, const char *with_job)
{
    told (s);
    adopt (s, key, "user", JOB);
    const char *text = told (s);
    assert_true (strstr (text, with_job)
                 || (strstr (text, "adopted 0 ") && strstr (text, " again: ")));
}

static void scenario (struct small *s)
{
    adopt_somehow (s, "a", "adopted 1 a");
    adopt_somehow (s, "a", "adopted 1 a");
    adopt_somehow (s, "b", "adopted 2 b");
    small_advance (s, 4);
    small_ready (s, 1);
    small_finish (s, 1, "exited");
    s->b->host.adopt_gone (s->b, 2, "it was deleted");
    small_turn (s);
    adopt_somehow (s, "b", "adopted 2 b");
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
        cmocka_unit_test (test_life),      cmocka_unit_test (test_again),
        cmocka_unit_test (test_waits),     cmocka_unit_test (test_gone),
        cmocka_unit_test (test_refused),   cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

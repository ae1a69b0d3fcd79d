/* test_submit.c - POST /v1/jobs: a job is checked, numbered, written, and then answered */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/services/submit/submit.h"

#define USER 1000
#define OPERATOR 0
/* A job of one core; more: further members of attributes.system. */
#define JOB_OF(cores, more)                                                              \
    "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\","   \
    "\"with\":[{\"type\":\"core\",\"count\":" cores "}]}],\"tasks\":[{\"command\":"      \
    "[\"true\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":"          \
    "{\"system\":{\"duration\":600" more "}}}"
#define JOB JOB_OF ("1", "")

static struct client *submit (struct small *s, const char *more, const char *job)
{
    char head[200];

    snprintf (head, sizeof (head), "POST /v1/jobs%s", more);
    struct client *c = client_ask (s, USER, head, job);
    small_turn (s);
    return c;
}

/* The answer comes when the job is on disk, and only then is it in the table. */
static void test_taken (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *c = client_ask (s, USER, "POST /v1/jobs", JOB);
    assert_int_equal (c->status, 0);
    assert_null (entry_find (s->b, 1));
    small_turn (s);
    assert_int_equal (c->status, 201);
    assert_string_equal (c->text, "{\"id\":1}");
    assert_int_equal (entry_job (entry_find (s->b, 1))->userid, USER);
    assert_string_equal (s->told, "start 1");
    assert_string_equal (submit (s, "?urgency=3", JOB)->text, "{\"id\":2}");
    assert_int_equal (entry_job (entry_find (s->b, 2))->urgency, 3);
    assert_int_equal (s->b->under_way, 0);
    small_destroy (s);
}

/* The jobspec of a pending job is dropped after the pass: the journal has it. */
static void test_waits (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, "", JOB_OF ("4", ""));
    submit (s, "", JOB_OF ("4", ""));
    assert_non_null (entry_find (s->b, 1)->js);
    assert_null (entry_find (s->b, 2)->js);
    small_destroy (s);
}

static void test_array (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    assert_string_equal (
        submit (s, "", JOB_OF ("4", ",\"fluxq\":{\"array\":\"1-3\"}"))->text,
        "{\"id\":1}");
    assert_string_equal (submit (s, "", JOB)->text, "{\"id\":5}");
    small_destroy (s);
}

/* A job has one id, however often the client submits it. */
static void test_key (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *a = client_ask (s, USER, "POST /v1/jobs\nIdempotency-Key: k", JOB);
    struct client *b = client_ask (s, USER, "POST /v1/jobs\nIdempotency-Key: k", JOB);
    assert_int_equal (b->status, 409);
    assert_string_equal (b->header, "Retry-After: 1");
    small_turn (s);
    assert_string_equal (a->text, "{\"id\":1}");
    assert_string_equal (submit (s, "\nIdempotency-Key: k", JOB)->text,
                         "{\"id\":1,\"repeated\":true}");
    struct client *other = client_ask (s, 1001, "POST /v1/jobs\nIdempotency-Key: k", JOB);
    small_turn (s);
    assert_string_equal (other->text, "{\"id\":2}");
    assert_int_equal (submit (s, "\nIdempotency-Key: ", JOB)->status, 400);
    small_destroy (s);
}

/* -- test-only -- */

static void test_only (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *c = submit (s, "?test-only=1", JOB);
    assert_int_equal (c->status, 200);
    assert_null (s->b->table.all);
    assert_int_equal (s->b->table.next_id, 1);
    assert_int_equal (submit (s, "?test-only=1", JOB_OF ("5", ""))->status, 422);
    small_destroy (s);
}

/* -- refusals -- */

static void test_refused (void **unused)
{
    static const struct {
        const char *more, *job;
        int status;
        const char *text;
    } cases[] = {
        { "", "{", 422, "bad-jobspec: " },
        { "", JOB_OF ("5", ""), 422, "infeasible: " },
        { "?urgency=17", JOB, 422, "only operators" },
        { "?urgency=x", JOB, 400, "bad-request: urgency" },
        { "", JOB_OF ("1", ",\"queue\":\"none\""), 422, "unknown-queue: queue 'none' " },
        { "", JOB_OF ("1", ",\"fluxq\":{\"nice\":-1}"), 422, "not-operator: " },
        { "",
          JOB_OF ("1", ",\"dependencies\":[{\"scheme\":\"afterok\",\"value\":\"9\"}]"),
          422, "there is no job 9" },
    };
    struct small *s = small_create (1);

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct client *c = submit (s, cases[i].more, cases[i].job);
        if (c->status != cases[i].status || !strstr (c->text, cases[i].text))
            fail_msg ("%s: %d %s", cases[i].job, c->status, c->text);
    }
    assert_null (s->b->table.all);
    assert_int_equal (s->b->table.next_id, 1);
    assert_int_equal (s->b->under_way, 0);
    assert_int_equal (submit (s, "?allow-infeasible=1", JOB_OF ("5", ""))->status, 201);
    struct client *c = client_ask (s, OPERATOR, "POST /v1/jobs?urgency=31", JOB);
    small_turn (s);
    assert_int_equal (c->status, 201);
    small_destroy (s);
}

static void test_stopping (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *late = client_ask (s, USER, "POST /v1/jobs", JOB);
    s->b->stopping = true;
    assert_int_equal (client_ask (s, USER, "POST /v1/jobs", JOB)->status, 429);
    small_turn (s);
    assert_int_equal (late->status, 201); /* a submit in progress is completed */
    small_destroy (s);
}

/* A large jobspec is parsed by a worker. */
static void test_large (void **unused)
{
    struct small *s = small_create (1);
    size_t size = 100 * 1024; /* bytes of each of two variables */
    char *job = malloc (2 * size + 1000), *text = malloc (size);

    (void)unused;
    memset (text, 'x', size - 1);
    text[size - 1] = '\0';
    snprintf (job, 2 * size + 1000,
              JOB_OF ("1", ",\"environment\":{\"A\":\"%s\",\"B\":\"%s\"}"), text, text);
    s->works = true;
    struct client *c = client_ask (s, USER, "POST /v1/jobs", job);
    struct client *bad = client_ask (s, USER, "POST /v1/jobs", job + 1);
    assert_int_equal (bad->status, 0);
    for (int i = 0; i < 3 && !c->ended; i++) {
        s->works = false; /* workers do not make the directory of the job */
        small_turn (s);
    }
    assert_string_equal (c->text, "{\"id\":1}");
    assert_int_equal (bad->status, 422);
    free (job);
    free (text);
    small_destroy (s);
}

/* -- faults -- */

static void expect_taken_or_busy (struct client *c)
{
    if (c->status != 201 && c->status != 503)
        fail_msg ("%d %s", c->status, c->text);
}

/* The job is never blamed for a lack of memory. */
static void scenario (struct small *s)
{
    struct client *a = submit (s, "\nIdempotency-Key: k", JOB);
    expect_taken_or_busy (a);
    expect_taken_or_busy (submit (s, "", JOB_OF ("4", "")));
    struct client *after = submit (
        s, "",
        JOB_OF ("1", ",\"dependencies\":[{\"scheme\":\"afterok\",\"value\":\"1\"}]"));
    if (a->status == 201 && entry_find (s->b, 1))
        expect_taken_or_busy (after);
    expect_taken_or_busy (submit (s, "", JOB_OF ("1", ",\"fluxq\":{\"array\":\"1-3\"}")));
    submit (s, "?test-only=1", JOB);
    assert_int_equal (s->b->under_way, 0);
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
        cmocka_unit_test (test_taken),       cmocka_unit_test (test_waits),
        cmocka_unit_test (test_array),       cmocka_unit_test (test_key),
        cmocka_unit_test (test_only),        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_stopping),    cmocka_unit_test (test_large),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

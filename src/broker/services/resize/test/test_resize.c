/* test_resize.c - a running malleable job gets and gives back nodes */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <string.h>

#include "broker/services/resize/resize.h"
#include "broker/services/resize/test/malleable_job.h"

#define USER 1000

/* Job 1 has all three nodes, and runs. */
static void start_malleable (struct small *s)
{
    small_set (s, "resize-grow", json_false ());
    client_ask (s, USER, "POST /v1/jobs", MALLEABLE_JOB);
    small_turn (s);
    small_ready (s, 1);
}

static struct small *begin (void)
{
    struct small *s = small_create (3);

    start_malleable (s);
    assert_string_equal (s->told, "start 1");
    assert_int_equal (entry_alloc (entry_find (s->b, 1))->nranks, 3);
    return s;
}

static struct client *ask (struct small *s, uid_t uid, int nodes)
{
    char body[40];

    snprintf (body, sizeof (body), "{\"nodes\": %d}", nodes);
    struct client *c = client_ask (s, uid, "POST /v1/jobs/1/resize", body);
    small_turn (s);
    return c;
}

static void report (struct small *s, uint32_t generation, bool done)
{
    s->b->host.resized (s->b, 1, generation, done, done ? "" : "no agent came");
    small_turn (s);
}

static size_t size_of (struct small *s)
{
    return entry_alloc (entry_find (s->b, 1))->nranks;
}

static bool is_changing (struct small *s)
{
    return entry_job (entry_find (s->b, 1))->resize.active;
}

static void test_less_and_more (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    struct client *c = ask (s, USER, 1);
    assert_string_equal (c->text, "{\"nodes\":1,\"from\":3,\"generation\":1}");
    assert_non_null (strstr (s->told, "resize 1 from 3 to 1"));
    assert_int_equal (size_of (s), 3); /* until the executor is done */
    small_submit (s, "duration: 60");
    small_turn (s);
    assert_null (strstr (s->told, "start 2"));
    report (s, 1, true);
    assert_int_equal (size_of (s), 1);
    assert_non_null (strstr (s->told, "start 2")); /* on the free nodes */
    assert_string_equal (ask (s, USER, 2)->text,
                         "{\"nodes\":2,\"from\":1,\"generation\":2}");
    assert_int_equal (size_of (s), 2); /* from now on */
    assert_true (is_changing (s));
    assert_non_null (strstr (s->told, "resize 1 from 1 to 2"));
    report (s, 1, true); /* an old report */
    assert_true (is_changing (s));
    report (s, 2, true);
    assert_false (is_changing (s));
    small_finish (s, 1, "exited");
    assert_int_equal (entry_job (entry_find (s->b, 1))->state, JOB_INACTIVE);
    small_destroy (s);
}

/* Nodes that do not start are given back. */
static void test_does_not_come (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    ask (s, USER, 1);
    report (s, 1, true);
    ask (s, USER, 3);
    report (s, 2, false);
    assert_string_equal (entry_note (entry_find (s->b, 1)), "no agent came");
    assert_non_null (strstr (s->told, "resize 1 from 3 to 1, resize 1 from 1 to 3, "
                                      "resize 1 from 3 to 1"));
    report (s, 3, true);
    assert_int_equal (size_of (s), 1);
    assert_false (is_changing (s));
    assert_non_null (
        strstr (small_events (s, 1), "resize resized resize resize resized"));
    small_destroy (s);
}

static void test_refused (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    assert_non_null (strstr (ask (s, USER, 5)->text, "is not one of its sizes"));
    assert_int_equal (ask (s, USER, 3)->status, 409); /* has this size already */
    assert_int_equal (ask (s, 1001, 1)->status, 403);
    s->config->queues[0].max_nodes = 2;
    assert_non_null (strstr (ask (s, USER, 4)->text, "at most 2 nodes"));
    s->config->queues[0].max_nodes = 0;
    assert_non_null (
        strstr (ask (s, USER, 4)->text, "keeps its 3 nodes")); /* no free node */
    assert_int_equal (ask (s, USER, 1)->status, 200);
    assert_non_null (strstr (ask (s, USER, 2)->text, "is changing its size"));
    small_finish (s, 1, "exited");
    assert_non_null (strstr (ask (s, USER, 1)->text, "has ended"));
    report (s, 1, true); /* too late */
    assert_null (strstr (small_events (s, 1), "resized"));
    small_destroy (s);
}

static void test_not_malleable (void **unused)
{
    struct small *s = small_create (1);
    struct jobspec js = { .malleable = true };
    struct exec_ops ops = *broker_ops (s->b);
    struct error err = { 0 };

    (void)unused;
    small_submit (s, "duration: 60");
    assert_non_null (strstr (ask (s, USER, 2)->text, "does not run yet"));
    assert_non_null (strstr (ask (s, USER, 2)->text, "is being started"));
    small_ready (s, 1);
    assert_non_null (strstr (ask (s, USER, 2)->text, "is not malleable"));
    assert_int_equal (resize_check (s->b, &js, &err), 0);
    ops.resize = NULL;
    s->b->ops = &ops;
    assert_true (resize_check (s->b, &js, &err) < 0);
    js.malleable = false;
    assert_int_equal (resize_check (s->b, &js, &err), 0);
    small_destroy (s);
}

/* The broker has restarted, and the executor has found the job. */
static void test_picked_up (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    services_call (picked_up, s->b, entry_find (s->b, 1));
    assert_string_equal (s->told, "start 1"); /* no resize is in progress */
    ask (s, USER, 2);
    services_call (picked_up, s->b, entry_find (s->b, 1));
    assert_non_null (strstr (s->told, "resize 1 from 3 to 2, resize 1 from 3 to 2"));
    small_destroy (s);
}

/* A resize that the executor has reported is no longer in progress. */
static void scenario (struct small *s)
{
    start_malleable (s);
    ask (s, USER, 1);
    report (s, 1, true);
    if (entry_find (s->b, 1) && entry_job (entry_find (s->b, 1))->resize.generation == 1)
        assert_false (is_changing (s));
    ask (s, USER, 3);
    report (s, 2, false);
    report (s, 3, true);
    small_submit (s, "duration: 60");
    small_turn (s);
    if (entry_find (s->b, 1) && entry_job (entry_find (s->b, 1))->resize.generation == 3)
        assert_false (is_changing (s));
    small_finish (s, 1, "exited");
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (3, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (3, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_less_and_more), cmocka_unit_test (test_does_not_come),
        cmocka_unit_test (test_refused),       cmocka_unit_test (test_not_malleable),
        cmocka_unit_test (test_picked_up),     cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

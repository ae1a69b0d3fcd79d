/* test_malleable.c - malleable jobs get free nodes, and give theirs to pending jobs */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <string.h>

#include "broker/services/resize/malleable.h"
#include "broker/services/resize/test/malleable_job.h"

#define USER 1000

/* Submits a malleable job, which then runs. */
static uint64_t start_malleable (struct small *s)
{
    uint64_t id = s->b->table.next_id;

    client_ask (s, USER, "POST /v1/jobs", MALLEABLE_JOB);
    small_turn (s);
    small_ready (s, id);
    return id;
}

static void report (struct small *s, uint64_t id)
{
    struct entry *e = entry_find (s->b, id);

    if (e)
        s->b->host.resized (s->b, id, entry_job (e)->resize.generation, true, "");
    small_turn (s);
}

static bool is_changing (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->resize.active;
}

static size_t size_of (struct small *s, uint64_t id)
{
    return entry_find (s->b, id)->r->nranks;
}

static const char *reason_of (struct small *s, uint64_t id)
{
    static char text[200];
    struct strbuf sb;

    strbuf_init (&sb, sizeof (text));
    malleable_add_reason (s->b, entry_find (s->b, id), &sb);
    snprintf (text, sizeof (text), "%s", sb.buf);
    strbuf_release (&sb);
    return text;
}

/* A job is pending: the malleable job must give one of its nodes, and no more. */
static void test_asked (void **unused)
{
    struct small *s = small_create (3);

    (void)unused;
    start_malleable (s);
    assert_int_equal (size_of (s, 1), 3);
    small_advance (s, 5);
    assert_false (is_changing (s, 1)); /* no job waits */
    small_submit (s, "duration: 60");
    small_turn (s);
    assert_string_equal (reason_of (s, 2), "");
    small_advance (s, 3);
    assert_non_null (strstr (s->told, "resize 1 from 3 to 2"));
    assert_string_equal (reason_of (s, 2), "waits for 1 node of malleable job 1");
    small_submit (s, "duration: 60");
    small_advance (s, 10); /* one resize at a time */
    assert_null (strstr (s->told, "to 1"));
    assert_string_equal (reason_of (s, 3), "");
    report (s, 1);
    assert_int_equal (size_of (s, 1), 2);
    assert_non_null (strstr (s->told, "start 2"));
    small_destroy (s);
}

/* Its nodes would not be enough: the pending job needs more. */
static void test_no_help (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    for (int i = 0; i < 4; i++)
        small_submit (s, "duration: 6000");
    small_turn (s);
    start_malleable (s); /* one node, the minimum */
    assert_int_equal (size_of (s, 5), 1);
    small_submit (s, "duration: 60");
    small_advance (s, 10);
    assert_null (strstr (s->told, "resize"));
    small_destroy (s);
}

/* No job is pending: after the interval the job gets the largest size that fits. */
static void test_offered (void **unused)
{
    struct small *s = small_create (3);

    (void)unused;
    for (int i = 0; i < 8; i++)
        small_submit (s, "duration: 6000");
    small_turn (s);
    small_set (s, "resize-interval", json_integer (100));
    uint64_t id = start_malleable (s);
    assert_int_equal (size_of (s, id), 1);
    for (uint64_t other = 1; other <= 8; other++)
        small_finish (s, other, "exited");
    small_advance (s, 90);
    assert_false (is_changing (s, id));
    small_advance (s, 15);
    assert_non_null (strstr (s->told, "resize 9 from 1 to 3"));
    report (s, id);
    assert_int_equal (size_of (s, id), 3);
    small_destroy (s);
}

/* The job gets no nodes if `resize-grow` is off, if the queue allows no more, or if
 * its user has set its size. */
static void test_not_offered (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    small_set (s, "resize-interval", json_integer (10));
    small_set (s, "resize-grow", json_false ());
    start_malleable (s);
    client_ask (s, USER, "POST /v1/jobs/1/resize", "{\"nodes\": 1}");
    small_turn (s);
    report (s, 1);
    assert_int_equal (size_of (s, 1), 1);
    small_advance (s, 100);
    assert_false (is_changing (s, 1));
    small_set (s, "resize-grow", json_true ());
    broker_plan_due (s->b);
    small_advance (s, 100);
    assert_false (is_changing (s, 1)); /* by its user */
    entry_job (entry_find (s->b, 1))->resize.by_user = false;
    s->config->queues[0].max_nodes = 1;
    broker_plan_due (s->b);
    small_advance (s, 100);
    assert_false (is_changing (s, 1));
    s->config->queues[0].max_nodes = 0;
    broker_plan_due (s->b);
    small_advance (s, 100);
    assert_true (is_changing (s, 1));
    small_destroy (s);
}

/* The newer of two jobs with the same priority gives nodes first. */
static void test_newest_gives (void **unused)
{
    struct small *s = small_create (4);

    (void)unused;
    small_set (s, "resize-grow", json_false ());
    start_malleable (s);
    client_ask (s, USER, "POST /v1/jobs/1/resize", "{\"nodes\": 2}");
    small_turn (s);
    report (s, 1);
    start_malleable (s);
    assert_int_equal (size_of (s, 2), 2);
    small_submit (s, "duration: 60");
    small_advance (s, 10);
    assert_false (is_changing (s, 1));
    assert_true (is_changing (s, 2));
    assert_string_equal (reason_of (s, 3), "waits for 1 node of malleable job 2");
    small_destroy (s);
}

static void scenario (struct small *s)
{
    small_set (s, "resize-interval", json_integer (10));
    start_malleable (s);
    small_submit (s, "duration: 60");
    small_advance (s, 3);
    report (s, 1);
    small_ready (s, 2);
    small_finish (s, 2, "exited");
    small_advance (s, 30);
    report (s, 1);
    small_finish (s, 1, "exited");
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
        cmocka_unit_test (test_asked),        cmocka_unit_test (test_no_help),
        cmocka_unit_test (test_offered),      cmocka_unit_test (test_not_offered),
        cmocka_unit_test (test_newest_gives), cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* test_jobuse.c - the usage of a job's steps goes from the agents' reports into its
 * record */
#include "broker/core/test/small.h"

#include <stdio.h>
#include <string.h>

#include "protocol/stepuse.h"

extern const struct broker_service service_jobuse;

/* The agents report the step: each of its ranks has used `seconds` of processor time. */
static void report (struct small *s, uint64_t id, const char *step, uint32_t ranks,
                    unsigned seconds)
{
    struct stepuse use = {
        .begin_ms = 1000, .end_ms = 2500, .ntasks = ranks, .nnodes = 1
    };
    struct strbuf text;
    long countdown = small_spare ();

    strbuf_init (&text, 64 * 1024);
    snprintf (use.step, sizeof (use.step), "%s", step);
    snprintf (use.name, sizeof (use.name), "prog");
    for (uint32_t i = 0; i < ranks; i++) {
        struct use own = { 0 };
        use_set (&own, USE_USER, (uint64_t)(i + 1) * seconds * 1000000);
        stepuse_add (&use, i, &own);
    }
    stepuse_encode (&use, &text);
    stepuse_release (&use);
    small_resume (countdown);
    s->b->host.usage (s->b, id, text.buf, text.len);
    strbuf_release (&text);
}

static uint64_t run_one (struct small *s)
{
    struct entry *e = small_submit (s, "duration: 60");
    uint64_t id = e ? entry_id (e) : 0;

    small_turn (s);
    small_ready (s, id);
    return id;
}

static json_t *usage_event (uint64_t id)
{
    const char *context = small_context (id, "usage");

    return context ? json_loads (context, 0, NULL) : NULL;
}

static json_t *step_of (json_t *usage, size_t i)
{
    return json_array_get (json_object_get (usage, "steps"), i);
}

/* The steps that the job's description shows before there is an event. */
static json_t *shown (struct small *s, uint64_t id)
{
    const struct journal_record none = { 0 };
    autojson json_t *job = json_object ();

    service_jobuse.shows_job (s->b, entry_find (s->b, id), NULL, &none, job);
    return json_incref (json_object_get (job, "steps"));
}

static size_t count_shown (struct small *s, uint64_t id)
{
    autojson json_t *steps = shown (s, id);

    return json_array_size (steps);
}

/* The event comes before the end of the job, and has the last report of each step. */
static void test_event (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = run_one (s);

    (void)unused;
    assert_int_equal (count_shown (s, id), 0);
    report (s, id, "0", 2, 1);
    report (s, id, "batch", 1, 5);
    report (s, id, "0", 2, 3);
    autojson json_t *sofar = shown (s, id);
    assert_int_equal (json_array_size (sofar), 2);
    assert_null (small_context (id, "usage"));
    small_finish (s, id, "ended");
    assert_non_null (strstr (small_events (s, id), "start usage finish"));
    autojson json_t *usage = usage_event (id);
    assert_true (json_equal (json_object_get (usage, "steps"), sofar));
    json_t *first = step_of (usage, 0), *user = json_object_get (first, "user");
    assert_string_equal (json_string_value (json_object_get (first, "step")), "0");
    assert_string_equal (json_string_value (json_object_get (first, "name")), "prog");
    assert_true (json_real_value (json_object_get (first, "end")) == 2.5);
    assert_true (json_real_value (json_object_get (user, "sum")) == 9);
    assert_true (json_real_value (json_object_get (user, "min")) == 3);
    assert_true (json_real_value (json_object_get (user, "max")) == 6);
    assert_string_equal (json_string_value (json_object_get (user, "min_node")), "node0");
    assert_int_equal (json_array_size (json_object_get (first, "ranks")), 2);
    assert_int_equal (count_shown (s, id), 0); /* the usage is not kept twice */
    small_destroy (s);
}

/* Without a report there is no event; reports for unknown or ended jobs, and unreadable
 * reports, are ignored. */
static void test_nothing (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = run_one (s);

    (void)unused;
    report (s, 77, "0", 1, 1);
    s->b->host.usage (s->b, id, "no report", 9);
    small_finish (s, id, "ended");
    report (s, id, "0", 1, 1);
    assert_int_equal (count_shown (s, id), 0);
    assert_null (strstr (small_events (s, 0), "usage"));
    small_destroy (s);
}

/* Each attempt has its own usage. */
static void test_attempts (void **unused)
{
    const struct exec_start_failure why = { .text = "lost", .retry = true };
    struct small *s = small_create (1);

    (void)unused;
    uint64_t id = entry_id (small_submit (s, "duration: 60"));
    small_turn (s);
    report (s, id, "0", 1, 1);
    s->b->host.start_failed (s->b, id, &why);
    small_turn (s);
    autojson json_t *usage = usage_event (id);
    assert_int_equal (json_integer_value (json_object_get (usage, "attempt")), 0);
    small_advance (s, 3600);
    assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_RUN);
    assert_int_equal (count_shown (s, id), 0);
    small_ready (s, id);
    report (s, id, "1", 1, 1);
    small_finish (s, id, "ended");
    autojson json_t *second = usage_event (id);
    assert_int_equal (json_integer_value (json_object_get (second, "attempt")), 1);
    assert_int_equal (json_array_size (json_object_get (second, "steps")), 1);
    small_destroy (s);
}

/* A user's file cannot fill the record: 256 steps, and 2 more for batch and all. */
static void test_bounds (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = run_one (s);
    char step[16];

    (void)unused;
    for (unsigned i = 0; i < 300; i++) {
        snprintf (step, sizeof (step), "%u", i);
        report (s, id, step, 1, 1);
    }
    report (s, id, "batch", 1, 1);
    small_finish (s, id, "ended");
    autojson json_t *usage = usage_event (id);
    assert_int_equal (json_array_size (json_object_get (usage, "steps")), 257);
    assert_int_equal (json_integer_value (json_object_get (usage, "steps_not_kept")), 44);
    assert_non_null (json_object_get (step_of (usage, 15), "ranks"));
    assert_null (
        json_object_get (step_of (usage, 16), "ranks")); /* only the first ones */
    small_destroy (s);
}

static void scenario (struct small *s)
{
    uint64_t id = run_one (s);

    report (s, id, "0", 2, 1);
    report (s, id, "batch", 1, 1);
    small_finish (s, id, "ended");
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
        cmocka_unit_test (test_event),       cmocka_unit_test (test_nothing),
        cmocka_unit_test (test_attempts),    cmocka_unit_test (test_bounds),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* test_runsteps.c - GET /v1/jobs/ID/steps: what the agent says, who may ask, what is no
 * answer */
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STEP_0                                                                           \
    "ranks 0\nstep 0\nname prog\ntime 1000 0\nsize 2 1\nstatus 0\nreported 1\n"          \
    "spread user 3000000 1 3000000 0 3000000 0\nrank 0 user 3000000\n"

static uint64_t run_one (struct small *s)
{
    uint64_t id = entry_id (small_submit (s, "duration: 60"));

    small_turn (s);
    small_ready (s, id);
    return id;
}

static struct client *ask (struct small *s, uid_t uid, uint64_t id, const char *query)
{
    char head[80];

    snprintf (head, sizeof (head), "GET /v1/jobs/%ju/steps%s", (uintmax_t)id, query);
    return client_call (s, uid, head, NULL);
}

static uid_t owner_of (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->userid;
}

/* The answer waits for the agent, and has the figures by node. */
static void test_answer (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = run_one (s);
    struct client *c = ask (s, owner_of (s, id), id, "?fresh=1");

    (void)unused;
    assert_int_equal (c->status, 0);
    assert_non_null (strstr (s->told, "steps 1 fresh"));
    small_steps (s, 0,
                 "waiting 3\n\n" STEP_0 "\nranks 0\nstep batch\nname x\n"
                 "time 1000 0\nsize 1 1\nstatus 0\nreported 0\n\n");
    assert_int_equal (c->status, 200);
    autojson json_t *o = json_loads (c->text, 0, NULL);
    json_t *steps = json_object_get (o, "steps"), *first = json_array_get (steps, 0);
    assert_int_equal (json_integer_value (json_object_get (o, "waiting")), 3);
    assert_int_equal (json_array_size (steps), 2);
    assert_string_equal (json_text (first, "step"), "0");
    assert_string_equal (json_text (first, "nodes"), "node0");
    assert_true (json_is_null (json_object_get (first, "end")));
    const json_t *user = json_object_get (first, "user");
    assert_true (json_real_value (json_object_get (user, "sum")) == 3);
    assert_string_equal (json_text (user, "max_node"), "node0");
    assert_string_equal (json_text (json_array_get (steps, 1), "step"), "batch");
    small_destroy (s);
}

/* An agent is a process of the user: a text that is no answer does no harm. */
static void test_hostile (void **unused)
{
    static const char *const wrong[] = {
        "",
        "waiting",
        "waiting x\n\n",
        "waiting -1\n\n",
        "waiting 1",
        "steps\n\n" STEP_0,
        "waiting 99999999999999\n\n",
    };
    static const char *const odd[] = {
        "waiting 0\n\nranks 9\n\n",
        "waiting 0\n\nstep 0\nname x\n\n",
        "waiting 0\n\nranks 0\nno step\n\n",
        "waiting 0\n\n\n\n\n",
        "waiting 0\n\nranks",
    };
    struct small *s = small_create (1);
    uint64_t id = run_one (s);
    uid_t owner = owner_of (s, id);

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        struct client *c = ask (s, owner, id, "");
        small_steps (s, 0, wrong[i]);
        assert_int_equal (c->status, 503);
        assert_non_null (strstr (c->text, "its answer is not valid"));
    }
    for (size_t i = 0; i < ARRAY_SIZE (odd); i++) {
        struct client *c = ask (s, owner, id, "");
        small_steps (s, 0, odd[i]);
        assert_int_equal (c->status, 200);
        assert_non_null (strstr (c->text, "\"steps\":[]"));
    }
    /* ranks that the job does not have are no nodes */
    struct client *c = ask (s, owner, id, "");
    small_steps (s, 0,
                 "waiting 0\n\nranks 0-9999999\nstep 0\nname x\ntime 1 0\nsize 1 1\n"
                 "status 0\nreported 0\n\n");
    assert_int_equal (c->status, 200);
    assert_non_null (strstr (c->text, "\"nodes\":\"\""));
    small_destroy (s);
}

/* Only the owner and operators may ask, and only about a job that runs. */
static void test_refused (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = run_one (s);
    uid_t owner = owner_of (s, id);

    (void)unused;
    assert_int_equal (ask (s, owner + 1, id, "")->status, 403);
    assert_int_equal (ask (s, owner, 77, "")->status, 404);
    assert_int_equal (ask (s, owner, id, "?fresh=2")->status, 400);
    assert_null (s->told ? strstr (s->told, "steps") : NULL);
    s->agents_away = true;
    assert_int_equal (ask (s, owner, id, "")->status, 503);
    s->agents_away = false;
    const struct client *c = ask (s, owner, id, "");
    small_steps (s, -ECONNREFUSED, NULL);
    assert_int_equal (c->status, 503);
    c = ask (s, 0, id, "");
    small_steps (s, -ESRCH, NULL);
    assert_int_equal (c->status, 409);
    small_finish (s, id, "ended");
    assert_int_equal (ask (s, owner, id, "")->status, 409);
    small_destroy (s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_answer),
        cmocka_unit_test (test_hostile),
        cmocka_unit_test (test_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

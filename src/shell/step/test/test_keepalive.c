/* test_keepalive.c - the end of an allocation that a client holds (keepalive.c) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "shell/step/steps_private.h"

#define KEEPER 7
#define WAITER 9

struct told {
    int ends, status; /* the waiter */
    char why[256];
    char note[256]; /* the keeper */
};

static void take (void *ctx, uint32_t rank, const struct frame *msg)
{
    struct told *t = ctx;
    assert_int_equal (rank, 0);
    if (msg->type == WIRE_RUN_END) {
        assert_int_equal (msg->task, WAITER);
        t->ends++;
        t->status = (int)wire_get_u32 (msg->data);
        snprintf (t->why, sizeof (t->why), "%.*s", (int)msg->len - 4, msg->data + 4);
    } else {
        assert_int_equal (msg->type, WIRE_RUN_NOTE);
        assert_int_equal (msg->task, KEEPER);
        snprintf (t->note, sizeof (t->note), "%.*s", (int)msg->len, msg->data);
    }
}

struct fixture {
    struct loop loop;
    struct launch launch;
    struct told told;
    struct steps *steps;
};

static int set_up (void **state)
{
    static struct launch_node node = { .name = "node0", .cores = "0-3", .ntasks = 1 };
    static struct fixture f;
    f = (struct fixture){ .launch = { .job_id = 1, .nodes = &node, .nnodes = 1 } };
    if (loop_init (&f.loop) < 0)
        return -1;
    f.steps = steps_create (&f.loop, &f.launch, take, NULL, &f.told);
    *state = &f;
    return f.steps ? 0 : -1;
}

static int tear_down (void **state)
{
    struct fixture *f = *state;
    steps_destroy (f->steps);
    loop_release (&f->loop);
    return 0;
}

static void say (struct fixture *f, uint32_t client, enum keepalive_kind kind,
                 uint32_t value)
{
    uint8_t data[4];
    wire_put_u32 (data, value);
    assert_true (steps_message (f->steps, 0,
                                &(struct frame){ .type = WIRE_RUN_KEEPALIVE,
                                                 .stream = (uint8_t)kind,
                                                 .task = client,
                                                 .len = sizeof (data),
                                                 .data = (char *)data }));
}

static void gone (struct fixture *f, uint32_t client)
{
    assert_true (steps_message (
        f->steps, 0, &(struct frame){ .type = WIRE_RUN_GONE, .task = client }));
}

static void the_keeper_ends_it_with_a_status (void **state)
{
    struct fixture *f = *state;
    say (f, WAITER, KEEPALIVE_WAIT, 0);
    say (f, KEEPER, KEEPALIVE_KEEP, 0);
    keepalive_time (f->steps, loop_now () + 1e6);
    assert_int_equal (f->told.ends, 0);
    say (f, KEEPER + 1, KEEPALIVE_END, 0); /* only the keeper can end it */
    assert_int_equal (f->told.ends, 0);
    say (f, KEEPER, KEEPALIVE_END, 3 << 8);
    assert_int_equal (f->told.ends, 1);
    assert_int_equal (f->told.status, 3 << 8);
    assert_string_equal (f->told.why, "");
    gone (f, KEEPER);
    assert_int_equal (f->told.ends, 1);
}

static void without_grace_it_ends_with_the_connection (void **state)
{
    struct fixture *f = *state;
    say (f, KEEPER, KEEPALIVE_KEEP, 0);
    gone (f, KEEPER + 1);
    gone (f, KEEPER); /* the job's task does not exist yet, and is informed later */
    assert_int_equal (f->told.ends, 0);
    say (f, WAITER, KEEPALIVE_WAIT, 0);
    assert_int_equal (f->told.ends, 1);
    assert_int_not_equal (f->told.status, 0);
    assert_non_null (strstr (f->told.why, "is gone"));
}

static void within_the_grace_it_can_be_taken_up_again (void **state)
{
    struct fixture *f = *state;
    say (f, WAITER, KEEPALIVE_WAIT, 0);
    say (f, KEEPER + 1, KEEPALIVE_KEEP, 30);
    gone (f, KEEPER + 1);
    keepalive_time (f->steps, loop_now () + 25);
    assert_int_equal (f->told.ends, 0);
    say (f, KEEPER, KEEPALIVE_KEEP, 30);
    keepalive_time (f->steps, loop_now () + 1e6);
    assert_int_equal (f->told.ends, 0);
    gone (f, KEEPER);
    keepalive_time (f->steps, loop_now () + 31);
    assert_int_equal (f->told.ends, 1);
    assert_non_null (strstr (f->told.why, "is gone"));
}

static void a_job_that_nobody_comes_for_ends (void **state)
{
    struct fixture *f = *state;
    say (f, WAITER, KEEPALIVE_WAIT, 0);
    keepalive_time (f->steps, loop_now () + KEEPALIVE_FIRST - 5);
    assert_int_equal (f->told.ends, 0);
    keepalive_time (f->steps, loop_now () + KEEPALIVE_FIRST + 1);
    assert_int_equal (f->told.ends, 1);
    assert_non_null (strstr (f->told.why, "no program came"));
}

static void a_grace_has_a_bound (void **state)
{
    struct fixture *f = *state;
    say (f, WAITER, KEEPALIVE_WAIT, 0);
    say (f, KEEPER, KEEPALIVE_KEEP, UINT32_MAX);
    gone (f, KEEPER);
    keepalive_time (f->steps, loop_now () + KEEPALIVE_GRACE_MAX + 1);
    assert_int_equal (f->told.ends, 1);
}

static void the_keeper_hears_why_the_job_ends (void **state)
{
    struct fixture *f = *state;
    say (f, KEEPER, KEEPALIVE_KEEP, 0);
    steps_close (f->steps, "time limit of 0:01 reached");
    assert_non_null (strstr (f->told.note, "time limit"));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (the_keeper_ends_it_with_a_status, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (without_grace_it_ends_with_the_connection,
                                         set_up, tear_down),
        cmocka_unit_test_setup_teardown (within_the_grace_it_can_be_taken_up_again,
                                         set_up, tear_down),
        cmocka_unit_test_setup_teardown (a_job_that_nobody_comes_for_ends, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (a_grace_has_a_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown (the_keeper_hears_why_the_job_ends, set_up,
                                         tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

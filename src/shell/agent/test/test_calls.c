/* test_calls.c - pairs of commands and servers at rank 0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "common/macros.h"
#include "shell/agent/calls.h"

/* The messages that were sent: "RANK.NUMBER KIND DATA;". */
static char sent[65536];
static int woken, wake_result;

static void on_send (void *ctx, uint32_t rank, const struct frame *msg)
{
    size_t len = strlen (sent);

    (void)ctx;
    assert_int_equal (msg->type, WIRE_RUN_CALL);
    assert_int_equal (msg->rank, rank);
    snprintf (sent + len, sizeof (sent) - len, "%u.%u %u %.*s;", rank, msg->task,
              msg->stream, (int)MIN (msg->len, 5), msg->data ? msg->data : "");
}

static int on_wake (void *ctx)
{
    (void)ctx;
    woken++;
    return wake_result;
}

static struct calls *calls;

static int create (void **state)
{
    (void)state;
    calls = calls_create (on_send, on_wake, NULL);
    sent[0] = '\0';
    woken = wake_result = 0;
    return calls ? 0 : -1;
}

static int destroy (void **state)
{
    (void)state;
    calls_destroy (calls);
    return 0;
}

static void say (uint32_t rank, uint32_t number, uint8_t kind, const char *data)
{
    calls_message (calls, rank,
                   &(struct frame){ .type = WIRE_RUN_CALL,
                                    .stream = kind,
                                    .task = number,
                                    .len = (uint32_t)strlen (data),
                                    .data = data });
}

static void leave (uint32_t rank, uint32_t number)
{
    calls_message (calls, rank, &(struct frame){ .type = WIRE_RUN_GONE, .task = number });
}

static void expect_sent (const char *want)
{
    assert_string_equal (sent, want);
    sent[0] = '\0';
}

static void test_pair (void **state)
{
    (void)state;
    say (3, 7, INSIDE_ASK, "");
    assert_int_equal (woken, 1);
    expect_sent ("");
    say (0, 7, INSIDE_TAKE, "");
    expect_sent ("0.7 2 ;3.7 2 ;");
    say (3, 7, INSIDE_REQUEST, "words");
    say (0, 7, INSIDE_OUTPUT, "text");
    expect_sent ("0.7 5 words;3.7 9 text;");
    leave (0, 7);
    expect_sent ("3.7 4 ;");
    say (3, 7, INSIDE_REQUEST, "late");
    expect_sent ("");
}

static void test_the_oldest_is_first (void **state)
{
    (void)state;
    say (1, 1, INSIDE_ASK, "");
    say (2, 1, INSIDE_ASK, "");
    say (3, 1, INSIDE_ASK, "");
    leave (1, 1);
    say (0, 9, INSIDE_TAKE, "");
    expect_sent ("0.9 2 ;2.1 2 ;");
    leave (2, 1);
    expect_sent ("0.9 4 ;");
    say (0, 9, INSIDE_OUTPUT, "late");
    expect_sent ("");
    say (0, 10, INSIDE_TAKE, "");
    expect_sent ("0.10 2 ;3.1 2 ;");
    say (0, 11, INSIDE_TAKE, "");
    expect_sent ("0.11 3 ;");
}

/* A client that says what only rank 0 or the other side may say changes nothing. */
static void test_forbidden_messages (void **state)
{
    (void)state;
    for (unsigned kind = INSIDE_TAKEN; kind < 256; kind++)
        say (1, 1, (uint8_t)kind, "x");
    expect_sent ("");
    say (1, 1, INSIDE_ASK, "");
    for (unsigned kind = 0; kind < 256; kind++)
        say (1, 1, (uint8_t)kind, "x");
    expect_sent ("");
    assert_int_equal (woken, 1);
    say (0, 2, INSIDE_TAKE, "");
    expect_sent ("0.2 2 ;1.1 2 ;");
    for (unsigned kind = INSIDE_USED + 1; kind < 256; kind++)
        say (1, 1, (uint8_t)kind, "x");
    for (unsigned kind = 0; kind < INSIDE_REQUEST; kind++)
        say (1, 1, (uint8_t)kind, "x");
    expect_sent ("");
}

static void test_limits (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < INSIDE_WAITING_MAX; i++)
        say (1, i, INSIDE_ASK, "");
    expect_sent ("");
    say (1, INSIDE_WAITING_MAX, INSIDE_ASK, "");
    expect_sent ("1.64 3 too m;");
    assert_int_equal (woken, INSIDE_WAITING_MAX);
    leave (1, 0);
    wake_result = -ENOSPC;
    say (1, 100, INSIDE_ASK, "");
    expect_sent ("1.100 3 the j;");
    leave (1, 100);
    expect_sent ("");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_pair, create, destroy),
        cmocka_unit_test_setup_teardown (test_the_oldest_is_first, create, destroy),
        cmocka_unit_test_setup_teardown (test_forbidden_messages, create, destroy),
        cmocka_unit_test_setup_teardown (test_limits, create, destroy),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

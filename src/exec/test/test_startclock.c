/* test_startclock.c - the clocks of a start: which one runs out when, and for which
 * ranks */
#include "common/test/unit.h"

#include <math.h>
#include <string.h>

#include "common/macros.h"
#include "exec/startclock.h"

static const struct exec_limits limits = { .start = 300, .place = 60, .pull = 1800 };

/* Ranks that have been in stages for some seconds, and the resulting late ranks. */
struct span {
    double seconds;
    const char *stages; /* a letter for each rank: u(nplaced) p(ulling) c(reated) U(p) */
};

static enum start_stage stage_of (char letter)
{
    switch (letter) {
    case 'u':
        return START_UNPLACED;
    case 'p':
        return START_PULLING;
    case 'c':
        return START_CREATED;
    default:
        return START_UP;
    }
}

static void play (struct startclock *c, const struct span *spans)
{
    double now = 1000;

    assert_int_equal (
        startclock_init (c, (uint32_t)strlen (spans[0].stages), &limits, now), 0);
    for (; spans->stages; spans++) {
        for (uint32_t r = 0; spans->stages[r]; r++)
            startclock_set (c, r, stage_of (spans->stages[r]));
        startclock_advance (c, now += spans->seconds / 2);
        startclock_advance (c, now += spans->seconds / 2);
    }
}

static void test_which_is_late (void **state)
{
    static const struct {
        const char *what;
        struct span spans[6];
        enum start_late late;
        const char *at_fault; /* x: this rank is at fault */
    } cases[] = {
        { "nothing yet", { { 59, "uu" } }, START_IN_TIME, "--" },
        { "not placed", { { 10, "uu" }, { 50, "uU" } }, START_LATE_PLACE, "x-" },
        { "placed in time", { { 50, "uu" }, { 240, "cU" } }, START_IN_TIME, "--" },
        { "time without a place counts for the whole",
          { { 50, "uu" }, { 250, "cU" } },
          START_LATE_UP,
          "x-" },
        { "created, not ready", { { 300, "Uccc" } }, START_LATE_UP, "-xxx" },
        { "pulling does not count",
          { { 299, "cU" }, { 1700, "pU" } },
          START_IN_TIME,
          "--" },
        { "... for the rank itself either way",
          { { 200, "cU" }, { 1700, "pU" }, { 100, "cU" } },
          START_LATE_UP,
          "x-" },
        { "pulling too long", { { 1800, "pUp" } }, START_LATE_PULL, "x-x" },
        { "pulls in pieces",
          { { 1000, "pU" }, { 100, "cU" }, { 800, "pU" } },
          START_LATE_PULL,
          "x-" },
        { "who does nothing is late although another pulls",
          { { 300, "pc" } },
          START_LATE_UP,
          "-x" },
        { "not placed goes before not up", { { 300, "uc" } }, START_LATE_PLACE, "x-" },
        { "all up, not joined", { { 10, "cc" }, { 290, "UU" } }, START_LATE_JOIN, "--" },
        { "they wait for one that pulled",
          { { 1700, "pU" }, { 299, "UU" } },
          START_IN_TIME,
          "--" },
        { "... but not forever",
          { { 1700, "pU" }, { 300, "UU" } },
          START_LATE_JOIN,
          "--" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct startclock c;
        enum start_late late;

        play (&c, cases[i].spans);
        late = startclock_late (&c);
        if (late != cases[i].late)
            fail_msg ("%s: %d", cases[i].what, late);
        for (uint32_t r = 0; cases[i].at_fault[r]; r++)
            if (startclock_is_at_fault (&c, late, r) != (cases[i].at_fault[r] == 'x'))
                fail_msg ("%s: rank %u", cases[i].what, r);
        startclock_release (&c);
    }
}

/* An event tells later what the pod does not show. */
static void test_pulling_found_out (void **state)
{
    struct startclock c;

    (void)state;
    play (&c, (struct span[]){ { 5, "uu" }, { 290, "cU" }, { 0, NULL } });
    startclock_was_pulling (&c, 0, 280);
    assert_true (fabs (c.ranks[0].spent[START_PULLING] - 280) < 1e-9);
    assert_true (fabs (c.ranks[0].spent[START_CREATED] - 10) < 1e-9);
    assert_true (fabs (c.unpulled - 15) < 1e-9);
    startclock_advance (&c, c.at + 284);
    assert_int_equal (startclock_late (&c), START_IN_TIME);
    startclock_was_pulling (&c, 0, 1e9); /* clocks of machines differ */
    assert_true (c.ranks[0].spent[START_CREATED] == 0);
    startclock_was_pulling (&c, 0, -5);
    startclock_was_pulling (&c, 7, 5);
    startclock_release (&c);
}

/* During an outage of the API server no rank is late. */
static void test_time_that_does_not_count (void **state)
{
    struct startclock c;

    (void)state;
    play (&c, (struct span[]){ { 59, "u" }, { 0, NULL } });
    startclock_skip (&c, c.at + 1e6);
    startclock_advance (&c, c.at + 0.5);
    assert_int_equal (startclock_late (&c), START_IN_TIME);
    startclock_advance (&c, c.at + 0.5);
    assert_int_equal (startclock_late (&c), START_LATE_PLACE);
    startclock_advance (&c, c.at - 100); /* the clock does not go back */
    assert_int_equal (startclock_late (&c), START_LATE_PLACE);
    startclock_release (&c);
    assert_int_equal (startclock_late (&c), START_IN_TIME);
}

static void test_limits (void **state)
{
    struct startclock c;
    const struct exec_limits odd = { .start = 10, .place = 60, .pull = 5 };

    (void)state;
    assert_int_equal (startclock_init (&c, 1, &odd, 0), 0);
    startclock_advance (&c, 10); /* the total time is over, so every part of it is */
    assert_int_equal (startclock_late (&c), START_LATE_PLACE);
    assert_true (startclock_limit (&c, START_LATE_PLACE) == 10);
    assert_true (startclock_limit (&c, START_LATE_PULL) == 5);
    assert_true (startclock_limit (&c, START_LATE_UP) == 10);
    assert_true (startclock_limit (&c, START_LATE_JOIN) == 10);
    startclock_release (&c);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_which_is_late),
        cmocka_unit_test (test_pulling_found_out),
        cmocka_unit_test (test_time_that_does_not_count),
        cmocka_unit_test (test_limits),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

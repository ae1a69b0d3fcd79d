/* test_clock.c - tests of clock.h: the offset between the clocks, and monotonic time */
#include "common/test/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

/* The difference between the wall clock and time(2) in a process with this offset,
 * which is read once. */
static long offset_with (const char *text)
{
    int fds[2];
    long distance = 0;

    assert_int_equal (pipe (fds), 0);
    pid_t pid = fork ();
    if (pid == 0) {
        setenv ("FLUXQ_CLOCK_OFFSET", text, 1);
        distance = (long)(clock_wall () - (double)time (NULL) + 1e6 + 0.5) - 1000000;
        _exit (write (fds[1], &distance, sizeof (distance))
               != (ssize_t)sizeof (distance));
    }
    assert_int_equal (read (fds[0], &distance, sizeof (distance)), sizeof (distance));
    assert_int_equal (waitpid (pid, NULL, 0), pid);
    close (fds[0]);
    close (fds[1]);
    return distance;
}

static bool near (long got, long want)
{
    return got >= want - 1 && got <= want + 1;
}

static void test_offset (void **state)
{
    (void)state;
    assert_true (near (offset_with ("86400"), 86400));
    assert_true (near (offset_with ("-3600"), -3600));
    assert_true (near (offset_with (""), 0));
    assert_true (near (offset_with ("soon"), 0));
    assert_true (near (offset_with ("99999999999999999999"), 0));
}

static void test_mono_does_not_go_back (void **state)
{
    double last = clock_mono ();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        double now = clock_mono ();
        assert_true (now >= last);
        last = now;
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_offset),
        cmocka_unit_test (test_mono_does_not_go_back),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* Kills of processes, and a process that has got the pid of a killed one meanwhile. */
#include "exec/local/local.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/test/unit.h"

static pid_t victim;

static void sleep_ms (long ms)
{
    const struct timespec t = { .tv_nsec = ms * 1000000 };
    nanosleep (&t, NULL);
}

/* Starts a child in a session of its own (otherwise this test would be killed
 * with it) that waits for its end; pid: its pid, 0 for any. Returns -1 if this
 * pid cannot be had. */
static pid_t start_child (pid_t pid)
{
    const struct clone_args how = { .exit_signal = SIGCHLD,
                                    .set_tid = pid > 0 ? (uintptr_t)&pid : 0,
                                    .set_tid_size = pid > 0 };
    pid_t child = (pid_t)syscall (SYS_clone3, &how, sizeof (how));

    if (child == 0)
        setsid ();
    while (child == 0)
        pause ();
    while (child > 0 && getsid (child) != child)
        sleep_ms (1);
    return child;
}

static void end_child (pid_t pid)
{
    kill (pid, SIGKILL);
    assert_int_equal (waitpid (pid, NULL, 0), pid);
}

static bool is_victim (pid_t pid, void *arg)
{
    (void)arg;
    return pid == victim;
}

/* The victim ends after its selection, and another process gets its pid. */
static bool is_replaced (pid_t pid, void *arg)
{
    pid_t *other = arg;

    if (pid != victim)
        return false;
    end_child (victim);
    *other = start_child (victim);
    return true;
}

static void test_is_killed (void **state)
{
    int status;

    (void)state;
    victim = start_child (0);
    assert_true (victim > 0);
    assert_int_equal (processes_kill (is_victim, NULL), 1);
    assert_int_equal (waitpid (victim, &status, 0), victim);
    assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
}

static void test_another_is_spared (void **state)
{
    pid_t other = 0;

    (void)state;
    victim = start_child (0);
    assert_true (victim > 0);
    sleep_ms (50); /* the other process begins at a later tick */
    assert_int_equal (processes_kill (is_replaced, &other), 1);
    if (other < 0)
        skip (); /* only root can choose pids */
    assert_int_equal (other, victim);
    sleep_ms (50);
    assert_int_equal (waitpid (other, NULL, WNOHANG), 0);
    end_child (other);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_is_killed),
        cmocka_unit_test (test_another_is_spared),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

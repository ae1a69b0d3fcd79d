/* small_faults.c - faults of small.h: no memory, and jobs that vanish */
#include "broker/core/test/small_inside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/test/torture.h"

static struct {
    long completions; /* until all jobs vanish; < 0: they do not */
    bool vanished;
} vanish = { .completions = -1 };

long small_spare (void)
{
    long countdown = torture_countdown;

    torture_countdown = -1;
    return countdown;
}

void small_resume (long countdown)
{
    torture_countdown = countdown;
}

/* -- the tries -- */

void small_vanish_if_due (void)
{
    struct broker *b = small_current->b;
    struct entry *e, *next;

    if (vanish.completions < 0 || vanish.completions-- > 0)
        return;
    vanish.vanished = true;
    HASH_ITER (hh, b->table.all, e, next) {
        broker_act (b, e, JOB_ACT_DEQUEUE);
        entry_remove (b, e);
    }
}

enum fault { ALLOCATION, VANISH };

/* In the child: whether the fault was reached. */
static bool suffer (int nodes, small_scenario_f run, enum fault fault, long n)
{
    struct small *s = small_create (nodes);

    vanish.vanished = torture_has_failed = false;
    vanish.completions = fault == VANISH ? n : -1;
    torture_countdown = fault == ALLOCATION ? n : -1;
    run (s);
    torture_stop ();
    bool reached = fault == VANISH ? vanish.vanished : torture_failed ();
    small_destroy (s);
    return reached;
}

#define REACHED 0
#define NOT_REACHED 42

/* Whether the process stopped because it had no memory for something that it may not
 * lose. */
static bool stopped_for_memory (int status, FILE *said)
{
    char line[512];

    rewind (said);
    while (WIFSIGNALED (status) && WTERMSIG (status) == SIGABRT
           && fgets (line, sizeof (line), said))
        if (strstr (line, "out of memory: the broker stops"))
            return true;
    return false;
}

static void show (FILE *said)
{
    char line[512];

    rewind (said);
    while (fgets (line, sizeof (line), said))
        fputs (line, stderr);
}

/* Whether there may be a further fault. */
static bool try (int nodes, small_scenario_f run, enum fault fault, long n)
{
    const char *here = getenv ("SMALL_FAULT");
    FILE *said = here ? NULL : tmpfile ();
    int status;

    if (here)
        return n < strtol (here, NULL, 10) || suffer (nodes, run, fault, n);
    assert_non_null (said);
    fflush (NULL);
    pid_t pid = fork ();
    assert_true (pid >= 0);
    if (pid == 0) {
        setenv ("CMOCKA_TEST_ABORT", "1", 1);
        dup2 (fileno (said), STDERR_FILENO);
        exit (suffer (nodes, run, fault, n) ? REACHED : NOT_REACHED);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    bool stopped = stopped_for_memory (status, said);
    bool good =
        stopped
        || (WIFEXITED (status)
            && (WEXITSTATUS (status) == REACHED || WEXITSTATUS (status) == NOT_REACHED));
    if (!good)
        show (said);
    fclose (said);
    if (stopped)
        return true;
    if (!good)
        fail_msg ("%s %ld: the process ended with status 0x%x",
                  fault == VANISH ? "completion" : "allocation", n, (unsigned)status);
    return WEXITSTATUS (status) == REACHED;
}

void small_torture (int nodes, small_scenario_f run)
{
    long n = 0;

    while (try (nodes, run, ALLOCATION, n))
        n++;
    assert_true (n > 0);
}

void small_vanish (int nodes, small_scenario_f run)
{
    long n = 0;

    while (try (nodes, run, VANISH, n))
        n++;
    assert_true (n > 0);
}

/* history.c - fills a history (store/history.h) with jobs and measures the questions of sacct
 *
 *     history [-n JOBS] [-u USERS] FILE
 *
 * The jobs are those of a year, in the order of their end; each has one step. User 0 has half of
 * them. With an existing FILE the jobs are there already. Prints a table; times are milliseconds of
 * the monotonic clock from the question to the last row on the loop, the median and the greatest of
 * 20 questions. Exit status: 0 done, 1 failed.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../t/bench/measure.h"
#include "job/job.h"
#include "store/history.h"

#define END 1800000000.0 /* unix time of the last job's end */
#define YEAR (365 * 86400.0)
#define TRIES 20

static struct history *history;
static int wakefd;
static int64_t njobs = 1000000, nusers = 100;
static int64_t put;

static void wake (void *arg)
{
    uint64_t one = 1;

    (void)arg;
    if (write (wakefd, &one, sizeof (one)) < 0)
        abort ();
}

static void turn (void)
{
    struct pollfd p = { .fd = wakefd, .events = POLLIN };
    uint64_t n;

    if (poll (&p, 1, 1000) == 1 && read (wakefd, &n, sizeof (n)) < 0)
        abort ();
    history_dispatch (history);
}

static void on_put (int rc, void *arg)
{
    (void)arg;
    if (rc < 0)
        exit (1);
    put++;
}

static void put_job (int64_t id)
{
    static const struct history_step step = { .step = "batch",
                                              .name = "simulate",
                                              .usage = "{\"user\":{\"sum\":3600}}" };
    char user[32], nodes[32];
    int64_t uid = id % 2 ? 0 : id / 2 % nusers;
    double end = END - YEAR * (double)(njobs - id) / (double)njobs;
    struct history_job job = { .id = id,
                               .array_job = HISTORY_NONE,
                               .array_task = HISTORY_NONE,
                               .userid = uid,
                               .groupid = 100,
                               .user = user,
                               .account = uid % 3 ? "physics" : "chemistry",
                               .name = "simulate",
                               .queue = "batch",
                               .state = id % 10 ? JOB_COMPLETED : JOB_FAILED,
                               .first_time = end - 4000,
                               .submit_time = end - 4000,
                               .eligible_time = end - 4000,
                               .start_time = end - 3600,
                               .end_time = end,
                               .ended_time = end + 1,
                               .time_limit = 7200,
                               .nodes = 2,
                               .ntasks = 64,
                               .ncores = 64,
                               .asked_nodes = 2,
                               .asked_ntasks = 64,
                               .asked_ncores = 64,
                               .nodelist = nodes,
                               .cwd = "/home/user/projects/simulation",
                               .result_text = "completed",
                               .cancelled_by = HISTORY_NONE,
                               .steps = &step,
                               .nsteps = 1 };

    snprintf (user, sizeof (user), "user%d", (int)uid);
    snprintf (nodes, sizeof (nodes), "node[%d-%d]", (int)(id % 512), (int)(id % 512 + 1));
    while (history_put (history, &job, on_put, NULL) < 0)
        turn ();
}

static void fill (void)
{
    double begin = measure_us (CLOCK_MONOTONIC);

    for (int64_t id = 1; id <= njobs; id++)
        put_job (id);
    while (put < njobs)
        turn ();
    double seconds = (measure_us (CLOCK_MONOTONIC) - begin) / 1e6;
    printf ("%-44s %9.0f jobs/s\n", "written", (double)njobs / seconds);
}

/* -- questions -- */

static size_t nrows;
static bool batch_done, all_done;

static void on_rows (int rc, const struct history_job *jobs, size_t n, bool last,
                     void *arg)
{
    (void)jobs;
    (void)arg;
    if (rc < 0)
        exit (1);
    nrows += n;
    batch_done = true;
    all_done = last;
}

/* Returns microseconds. */
static double ask (const struct history_filter *f)
{
    double begin = measure_us (CLOCK_MONOTONIC);
    struct history_scan *s = history_scan_create (history, f);

    nrows = 0;
    for (all_done = false; !all_done;) {
        batch_done = false;
        history_scan_next (s, on_rows, NULL);
        while (!batch_done)
            turn ();
    }
    history_scan_destroy (s);
    return measure_us (CLOCK_MONOTONIC) - begin;
}

static void measure (const char *what, struct history_filter (*make) (int i), int tries)
{
    double us[TRIES];

    for (int i = 0; i < tries; i++) {
        struct history_filter f = make (i);
        us[i] = ask (&f);
    }
    double most = measure_quantile (us, (size_t)tries, 1);
    printf ("%-44s %9.2f ms, at most %.2f ms, %zu rows\n", what,
            measure_quantile (us, (size_t)tries, 0.5) / 1e3, most / 1e3, nrows);
}

static struct history_filter of_day (int user)
{
    static char name[32];
    static const char *names[] = { name };

    snprintf (name, sizeof (name), "user%d", user);
    return (struct history_filter){ .users = { names, 1 }, .since = END - 86400 };
}

static struct history_filter last_day (int i)
{
    return of_day (1 + i);
}

static struct history_filter last_day_of_most (int i)
{
    (void)i;
    return of_day (0);
}

static struct history_filter fifty_ids (int i)
{
    static uint64_t ids[50];

    for (int k = 0; k < 50; k++)
        ids[k] =
            1 + (uint64_t)(k * 50 + i) * ((uint64_t)njobs / 3000 + 1) % (uint64_t)njobs;
    return (struct history_filter){ .ids = ids, .nids = 50, .steps = true };
}

static struct history_filter whole_year (int i)
{
    (void)i;
    return (struct history_filter){ .steps = true };
}

static struct history_filter failed_of_user (int i)
{
    struct history_filter f = of_day (1 + i);

    f.since = 0;
    f.states = 1U << JOB_FAILED;
    return f;
}

int main (int argc, char **argv)
{
    struct error err = { 0 };
    struct rusage use;
    int c;

    while ((c = getopt (argc, argv, "n:u:")) != -1)
        *(c == 'n' ? &njobs : &nusers) = strtoll (optarg, NULL, 10);
    if (optind + 1 != argc || njobs < 1 || nusers < 2)
        return 2;
    bool there = access (argv[optind], F_OK) == 0;
    wakefd = eventfd (0, EFD_NONBLOCK);
    history = history_open (argv[optind], wake, NULL, &err);
    if (!history) {
        fprintf (stderr, "%s\n", err.text);
        return 1;
    }
    if (!there)
        fill ();
    printf ("%-44s %9.0f MiB\n", "file", (double)history_bytes (history) / 1048576);
    getrusage (RUSAGE_SELF, &use);
    long before = use.ru_maxrss;
    measure ("last day of a user with 0.5 % of the jobs", last_day, TRIES);
    measure ("last day of the user with half of the jobs", last_day_of_most, TRIES);
    measure ("50 ids, with their steps", fifty_ids, TRIES);
    measure ("failed jobs of a user, all year", failed_of_user, TRIES);
    measure ("all jobs, with their steps", whole_year, 1);
    getrusage (RUSAGE_SELF, &use);
    printf ("%-44s %9.1f MiB more than after the start, of %.1f\n", "memory, greatest",
            (double)(use.ru_maxrss - before) / 1024, (double)use.ru_maxrss / 1024);
    history_close (history);
    return 0;
}

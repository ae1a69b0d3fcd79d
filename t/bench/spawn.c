/* spawn.c - runs a command many times and measures each run, from posix_spawn to its end
 *
 *     spawn [-n COUNT] [-c CLIENTS] [-r RATE] [-w WARM-UPS] [-e] COMMAND [ARGUMENT]...
 *     spawn -n 500 -c 8 fluxq-submit -- true
 *     count=500 failed=0 seconds=0.412 rate=1213.6 p50=6.40 p95=9.12 p99=11.80 max=14.02
 *
 * CLIENTS processes run at a time (1); when one ends the next begins. Times are milliseconds of the
 * monotonic clock; rate is processes a second over the whole run. The output of the processes goes to
 * /dev/null; for failed processes stderr shows the status of the first. With -e the command's own
 * stderr is also shown. With -r at most RATE processes begin in a second. SIGTERM ends the run: the
 * processes that have ended count. Warm-ups run before, one after another, and do not count.
 * Exit status: 0 all exited with 0, 1 some did not, 2 wrong usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 10000000
#define CLIENTS_MAX 1024

extern char **environ;

struct client {
    pid_t pid; /* 0: none */
    double began;
};

struct bench {
    long count, clients, warmups, rate;
    char **argv;
    posix_spawn_file_actions_t files;
    double *times;
    long started, ended, failed;
    struct client client[CLIENTS_MAX];
};

static double now_ms (void)
{
    struct timespec t;

    clock_gettime (CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static volatile sig_atomic_t stopped;

static void stop (int signum)
{
    (void)signum;
    stopped = 1;
}

static void usage (void)
{
    fputs ("usage: spawn [-n COUNT] [-c CLIENTS] [-r RATE] [-w WARM-UPS] [-e] COMMAND "
           "[ARGUMENT]...\n",
           stderr);
    exit (2);
}

static long number (const char *text, long min, long max)
{
    char *end;
    long n = strtol (text, &end, 10);

    if (end == text || *end || n < min || n > max)
        usage ();
    return n;
}

static void start (struct bench *b, struct client *c)
{
    c->began = now_ms ();
    int rc = posix_spawnp (&c->pid, b->argv[0], &b->files, NULL, b->argv, environ);
    if (rc != 0) {
        fprintf (stderr, "spawn: %s: %s\n", b->argv[0], strerror (rc));
        exit (2);
    }
}

static void note_failure (struct bench *b, int status)
{
    if (b->failed++ > 0)
        return;
    if (WIFSIGNALED (status))
        fprintf (stderr, "spawn: %s: %s\n", b->argv[0], strsignal (WTERMSIG (status)));
    else
        fprintf (stderr, "spawn: %s: exit status %d\n", b->argv[0], WEXITSTATUS (status));
}

/* Waits for one process; its client is free then. */
static struct client *finish (struct bench *b, int *ret_status)
{
    pid_t pid;

    while ((pid = waitpid (-1, ret_status, 0)) < 0 && errno == EINTR)
        ;
    for (long i = 0; i < b->clients; i++) {
        if (b->client[i].pid == pid && pid > 0) {
            b->client[i].pid = 0;
            return &b->client[i];
        }
    }
    fprintf (stderr, "spawn: wait: %s\n", strerror (errno));
    exit (2);
}

static void warm_up (struct bench *b)
{
    int status;

    for (long i = 0; i < b->warmups; i++) {
        start (b, &b->client[0]);
        finish (b, &status);
    }
}

/* Starts the next process when the rate allows it. */
static void start_next (struct bench *b, struct client *c, double began)
{
    double early =
        b->rate ? began + 1e3 * (double)b->started / (double)b->rate - now_ms () : 0;

    if (early > 0)
        usleep ((useconds_t)(early * 1e3));
    start (b, c);
    b->started++;
}

static double measure (struct bench *b)
{
    double began = now_ms ();
    int status;

    while (b->started < b->clients && b->started < b->count && !stopped)
        start_next (b, &b->client[b->started], began);
    while (b->ended < b->started) {
        struct client *c = finish (b, &status);
        b->times[b->ended++] = now_ms () - c->began;
        if (status != 0)
            note_failure (b, status);
        if (b->started < b->count && !stopped)
            start_next (b, c, began);
    }
    b->count = b->ended;
    return now_ms () - began;
}

static int by_value (const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double percentile (const struct bench *b, int p)
{
    return b->times[(b->count - 1) * p / 100];
}

static void report (struct bench *b, double ms)
{
    qsort (b->times, (size_t)b->count, sizeof (*b->times), by_value);
    printf ("count=%ld failed=%ld seconds=%.3f rate=%.1f p50=%.2f p95=%.2f p99=%.2f max=%.2f\n",
            b->count, b->failed, ms / 1e3, (double)b->count * 1e3 / ms, percentile (b, 50),
            percentile (b, 95), percentile (b, 99), b->times[b->count - 1]);
}

int main (int argc, char **argv)
{
    static struct bench b = { .count = 1, .clients = 1 };
    bool show_errors = false;
    int opt;

    while ((opt = getopt (argc, argv, "+n:c:r:w:e")) != -1) {
        switch (opt) {
        case 'n':
            b.count = number (optarg, 1, COUNT_MAX);
            break;
        case 'c':
            b.clients = number (optarg, 1, CLIENTS_MAX);
            break;
        case 'r':
            b.rate = number (optarg, 1, COUNT_MAX);
            break;
        case 'w':
            b.warmups = number (optarg, 0, COUNT_MAX);
            break;
        case 'e':
            show_errors = true;
            break;
        default:
            usage ();
        }
    }
    b.argv = argv + optind;
    b.times = calloc ((size_t)b.count, sizeof (*b.times));
    if (!b.argv[0] || !b.times)
        usage ();
    posix_spawn_file_actions_init (&b.files);
    posix_spawn_file_actions_addopen (&b.files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen (&b.files, 1, "/dev/null", O_WRONLY, 0);
    if (!show_errors)
        posix_spawn_file_actions_addopen (&b.files, 2, "/dev/null", O_WRONLY, 0);
    signal (SIGTERM, stop);
    warm_up (&b);
    double ms = measure (&b);
    if (b.count > 0)
        report (&b, ms);
    free (b.times);
    return b.failed > 0;
}

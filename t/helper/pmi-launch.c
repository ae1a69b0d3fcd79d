/* pmi-launch.c - a launcher for tests of src/shell/pmi/pmi.c: it acts as the agents of several
 * ranks in one process, each with a struct pmi of its own, and starts the tasks itself
 *
 *   pmi-launch [-r RANKS] [-c] [-t SECONDS] -n TASKS PROGRAM [ARGS]
 *
 * Tasks are spread over the ranks in blocks, or, with -c, cyclically. Exit status: the largest of
 * the tasks (128 + N for signal N); that of an abort; 1 for a task that ended without finalize, or
 * whose connection was closed because of an invalid message; 124 at the timeout (60 s). Then, and
 * when one task fails, all others are killed. At the end it prints the number of fences.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macros.h"
#include "common/parse.h"
#include "common/strbuf.h"
#include "shell/pmi/pmi.h"

#define TASKS_MAX 256
#define SECONDS_DEFAULT 60

struct rank {
    struct pmi *pmi;
    struct pmi_config config;
    uint32_t global[TASKS_MAX];
    struct strbuf given; /* data of the fence in progress */
    bool gave;
};

static struct {
    uint32_t ntasks;
    uint32_t nranks;
    uint32_t node_of[TASKS_MAX];
    uint32_t local_of[TASKS_MAX];
    int fd[TASKS_MAX];
    pid_t pid[TASKS_MAX];
    struct rank ranks[TASKS_MAX];
    uint32_t fences;
    int status;
} run;

static _Noreturn void die (const char *what)
{
    fprintf (stderr, "pmi-launch: %s\n", what);
    exit (2);
}

static void kill_all (int status)
{
    run.status = MAX (run.status, status);
    for (uint32_t i = 0; i < run.ntasks; i++)
        if (run.pid[i] > 0)
            kill (run.pid[i], SIGKILL);
}

static void send_to (void *ctx, uint32_t local, const char *data, size_t len)
{
    const struct rank *rank = ctx;
    uint32_t task = rank->global[local];

    while (len > 0) {
        ssize_t n = send (run.fd[task], data, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return; /* the task is gone; its end of file will be read */
        data += MAX (n, 0);
        len -= (size_t)MAX (n, 0);
    }
}

/* All data of one fence is there: sends it to all ranks, in the order of their
 * numbers. */
static void complete_fence (void)
{
    struct strbuf all;
    struct error err = { 0 };

    strbuf_init (&all, (size_t)PMI_KVS_MAX * 2);
    for (uint32_t i = 0; i < run.nranks; i++) {
        strbuf_add (&all, run.ranks[i].given.buf, run.ranks[i].given.len);
        strbuf_reset (&run.ranks[i].given);
        run.ranks[i].gave = false;
    }
    if (all.err)
        die ("no memory for a fence");
    run.fences++;
    for (uint32_t i = 0; i < run.nranks; i++)
        if (pmi_exchanged (run.ranks[i].pmi, all.buf, all.len, &err) < 0)
            fprintf (stderr, "pmi-launch: rank %" PRIu32 ": %s\n", i, err.text);
    strbuf_release (&all);
}

static void exchange (void *ctx, const char *data, size_t len)
{
    struct rank *rank = ctx;

    if (strbuf_add (&rank->given, data, len) < 0)
        die ("no memory for a fence");
    rank->gave = true;
    for (uint32_t i = 0; i < run.nranks; i++)
        if (!run.ranks[i].gave)
            return;
    complete_fence ();
}

static void aborted (void *ctx, uint32_t local, int status, const char *text)
{
    const struct rank *rank = ctx;

    fprintf (stderr, "pmi-launch: task %" PRIu32 " aborts the step: status %d %s\n",
             rank->global[local], status, text);
    kill_all (status);
}

static int set_variable (void *ctx, const char *name, const char *value)
{
    (void)ctx;
    return setenv (name, value, 1);
}

static void start_task (uint32_t task, char **argv)
{
    const struct rank *rank = &run.ranks[run.node_of[task]];
    int fds[2];

    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        die (strerror (errno));
    run.fd[task] = fds[0];
    run.pid[task] = fork ();
    if (run.pid[task] < 0)
        die (strerror (errno));
    if (run.pid[task] > 0) {
        close (fds[1]);
        return;
    }
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    int fd = dup (fds[1]); /* without close-on-exec */
    if (fd < 0
        || pmi_environment (&rank->config, run.local_of[task], fd, set_variable, NULL)
               != 0)
        _exit (127);
    execvp (argv[0], argv);
    fprintf (stderr, "pmi-launch: %s: %s\n", argv[0], strerror (errno));
    _exit (127);
}

static void make_ranks (bool cyclic)
{
    static const struct pmi_events events = { send_to, exchange, aborted };
    struct error err = { 0 };

    for (uint32_t i = 0; i < run.ntasks; i++) {
        uint32_t node =
            cyclic ? i % run.nranks : (uint32_t)((uint64_t)i * run.nranks / run.ntasks);
        struct rank *rank = &run.ranks[node];
        run.node_of[i] = node;
        run.local_of[i] = rank->config.nlocal;
        rank->global[rank->config.nlocal++] = i;
    }
    for (uint32_t i = 0; i < run.nranks; i++) {
        struct rank *rank = &run.ranks[i];
        strbuf_init (&rank->given, PMI_KVS_MAX);
        rank->config.jobid = "12.0";
        rank->config.ntasks = run.ntasks;
        rank->config.global = rank->global;
        rank->config.node_of = run.node_of;
        rank->config.nnodes = run.nranks;
        rank->pmi = pmi_create (&rank->config, &events, rank, &err);
        if (!rank->pmi)
            die (err.text);
    }
}

static void close_task (uint32_t task)
{
    close (run.fd[task]);
    run.fd[task] = -1;
    pmi_closed (run.ranks[run.node_of[task]].pmi, run.local_of[task]);
}

static void read_from (uint32_t task)
{
    struct error err = { 0 };
    char data[4096];
    ssize_t n = read (run.fd[task], data, sizeof (data));

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close_task (task);
        return;
    }
    if (pmi_receive (run.ranks[run.node_of[task]].pmi, run.local_of[task], data,
                     (size_t)n, &err)
        < 0) {
        fprintf (stderr, "pmi-launch: %s\n", err.text);
        close_task (task);
        kill_all (1);
    }
}

static void ended (pid_t pid, int wstatus)
{
    int status = WIFEXITED (wstatus) ? WEXITSTATUS (wstatus) : 128 + WTERMSIG (wstatus);

    for (uint32_t i = 0; i < run.ntasks; i++) {
        if (run.pid[i] != pid)
            continue;
        run.pid[i] = 0;
        if (run.status == 0 && status == 0
            && pmi_is_unfinished (run.ranks[run.node_of[i]].pmi, run.local_of[i])) {
            fprintf (stderr, "pmi-launch: task %" PRIu32 " ended without finalize\n", i);
            status = 1;
        }
        /* Results after the kill of all tasks are not reasons of their own. */
        if (status != 0 && run.status == 0)
            kill_all (status);
    }
}

/* Reads until all sockets are at their end or the time is over. */
static void serve (double deadline)
{
    struct pollfd polls[TASKS_MAX];
    uint32_t task_of[TASKS_MAX];

    for (;;) {
        nfds_t n = 0;
        for (uint32_t i = 0; i < run.ntasks; i++) {
            if (run.fd[i] < 0)
                continue;
            task_of[n] = i;
            polls[n++] = (struct pollfd){ .fd = run.fd[i], .events = POLLIN };
        }
        if (n == 0)
            return;
        if (clock_mono () >= deadline) {
            fprintf (stderr, "pmi-launch: the time is over\n");
            kill_all (124);
            return;
        }
        if (poll (polls, n, 50) < 0 && errno != EINTR)
            die (strerror (errno));
        for (nfds_t i = 0; i < n; i++)
            if (polls[i].revents)
                read_from (task_of[i]);
        int wstatus;
        for (pid_t pid; (pid = waitpid (-1, &wstatus, WNOHANG)) > 0;)
            ended (pid, wstatus);
    }
}

static uint32_t number (const char *text, int64_t max, const char *what)
{
    struct error err = { 0 };
    int64_t n;

    if (parse_int (text, 1, max, &n, what, &err) < 0)
        die (err.text);
    return (uint32_t)n;
}

int main (int argc, char **argv)
{
    uint32_t seconds = SECONDS_DEFAULT;
    bool cyclic = false;
    int wstatus;

    run.nranks = 1;
    for (int c; (c = getopt (argc, argv, "+r:n:t:c")) != -1;) {
        switch (c) {
        case 'r':
            run.nranks = number (optarg, TASKS_MAX, "-r");
            break;
        case 'n':
            run.ntasks = number (optarg, TASKS_MAX, "-n");
            break;
        case 't':
            seconds = number (optarg, 3600, "-t");
            break;
        case 'c':
            cyclic = true;
            break;
        default:
            die (
                "usage: pmi-launch [-r RANKS] [-c] [-t SECONDS] -n TASKS PROGRAM [ARGS]");
        }
    }
    if (optind == argc || run.ntasks < run.nranks)
        die ("needs a program, and at least as many tasks as ranks");
    make_ranks (cyclic);
    for (uint32_t i = 0; i < run.ntasks; i++)
        start_task (i, argv + optind);
    serve (clock_mono () + seconds);
    alarm (seconds);
    for (pid_t pid; (pid = wait (&wstatus)) > 0 || errno == EINTR;)
        ended (pid, wstatus);
    for (uint32_t i = 0; i < run.nranks; i++) {
        pmi_destroy (run.ranks[i].pmi);
        strbuf_release (&run.ranks[i].given);
    }
    printf ("pmi-launch: %" PRIu32 " fences\n", run.fences);
    return run.status;
}

/* tree.c - the duration of one job of N agents on this machine (see t/bench/tree)
 *
 *     tree AGENT RANKS tree|star
 *     12.1 14.9 21.0 3.4 2.2
 *
 * Milliseconds from the start of the first agent until all were spawned, until READY and until
 * FINISH is in the spool; then the processor times of rank 0 and of the other rank with the most,
 * each with its task. The files are made in the working directory. Exit status: 0, or 1 if the job
 * does not end normally within two minutes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macros.h"
#include "common/parse.h"
#include "common/sha256.h"
#include "measure.h"
#include "protocol/agent_api.h"
#include "protocol/frame.h"
#include "protocol/launch.h"

#define RANKS_MAX 4096
#define SECONDS_MAX 120
#define LOOK_US 500

extern char **environ;

struct bench {
    const char *agent;
    uint32_t nranks;
    bool star;
    pid_t pids[RANKS_MAX];
    double cpu_ms[RANKS_MAX];
    double began, spawned, ready, finished; /* us */
    int spool;
    off_t seen;
};

static _Noreturn void fail (struct bench *b, const char *what)
{
    fprintf (stderr, "tree: %s: %s\n", what, errno ? strerror (errno) : "failed");
    for (uint32_t i = 0; i < b->nranks; i++)
        if (b->pids[i] > 0)
            kill (b->pids[i], SIGTERM); /* the agent ends its tasks */
    exit (1);
}

static void put_file (struct bench *b, const char *name, const char *data, size_t len)
{
    autoclose int fd = open (name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write (fd, data, len) != (ssize_t)len)
        fail (b, name);
}

static void put_files (struct bench *b)
{
    uint8_t key[AGENT_KEY_SIZE];
    char hex[2 * AGENT_KEY_SIZE + 1], cwd[3000], address[3100], spool[3100];
    char *args[] = { (char *)"true", NULL };
    struct launch l = { .job_id = 1,
                        .cwd = cwd,
                        .args = args,
                        .nargs = 1,
                        .cores_per_task = 1,
                        .grace = 1,
                        .join_timeout = SECONDS_MAX,
                        .rendezvous = address,
                        .listen = address,
                        .spool = spool,
                        .nodes = calloc (b->nranks, sizeof (*l.nodes)),
                        .nnodes = b->nranks };
    struct strbuf sb;

    if (!getcwd (cwd, sizeof (cwd)) || !l.nodes || secret_random (key, sizeof (key)) < 0)
        fail (b, "files");
    snprintf (address, sizeof (address), "unix:%s/%s", cwd, b->star ? "sock" : "sock-%r");
    snprintf (spool, sizeof (spool), "%s/spool", cwd);
    for (uint32_t i = 0; i < b->nranks; i++) {
        l.nodes[i].ntasks = 1;
        if (asprintf (&l.nodes[i].name, "node%u", i) < 0)
            fail (b, "memory");
    }
    strbuf_init (&sb, LAUNCH_MAX);
    if (launch_write (&l, &sb) < 0)
        fail (b, "launch");
    put_file (b, "launch", sb.buf, sb.len);
    hex_encode (key, sizeof (key), hex);
    put_file (b, "key", hex, strlen (hex));
    strbuf_release (&sb);
    for (uint32_t i = 0; i < b->nranks; i++)
        free (l.nodes[i].name);
    free (l.nodes);
}

static void spawn_rank (struct bench *b, uint32_t rank)
{
    char number[16];
    const char *argv[] = { b->agent, "--launch", "launch", "--key",
                           "key",    "--rank",   number,   NULL };

    snprintf (number, sizeof (number), "%u", rank);
    errno =
        posix_spawn (&b->pids[rank], b->agent, NULL, NULL, (char *const *)argv, environ);
    if (errno)
        fail (b, b->agent);
}

/* Reads new frames of the spool: 1 after the FINISH of a successful job. */
static int look (struct bench *b)
{
    char buf[FRAME_HEAD + FRAME_DATA_MAX];
    struct frame f;
    struct frame_finish fin;
    ssize_t n, used;

    if (b->spool < 0 && (b->spool = open ("spool", O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    while ((n = pread (b->spool, buf, sizeof (buf), b->seen)) > 0
           && (used = frame_parse (buf, (size_t)n, &f)) > 0) {
        b->seen += used;
        if (f.type == FRAME_READY)
            b->ready = measure_us (CLOCK_MONOTONIC);
        if (f.type != FRAME_FINISH)
            continue;
        b->finished = measure_us (CLOCK_MONOTONIC);
        if (frame_finish_decode (f.data, f.len, &fin) < 0 || fin.status != 0) {
            errno = 0;
            fail (b, "the job");
        }
        return 1;
    }
    return 0;
}

static double cpu_ms (const struct rusage *ru)
{
    return (double)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * 1e3
           + (double)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) / 1e3;
}

/* A guardian's usage includes the worker's, and that includes the task's. */
static void reap (struct bench *b)
{
    struct rusage ru;
    int status;

    for (uint32_t i = 0; i < b->nranks; i++) {
        if (wait4 (b->pids[i], &status, 0, &ru) < 0)
            fail (b, "wait");
        b->pids[i] = 0;
        b->cpu_ms[i] = cpu_ms (&ru);
    }
}

int main (int argc, char **argv)
{
    static struct bench b = { .spool = -1 };
    int64_t nranks;
    double most = 0;

    if (argc != 4 || parse_int (argv[2], 1, RANKS_MAX, &nranks, "RANKS", NULL) < 0) {
        fprintf (stderr, "usage: tree AGENT RANKS tree|star\n");
        return 2;
    }
    b.agent = argv[1];
    b.nranks = (uint32_t)nranks;
    b.star = strcmp (argv[3], "star") == 0;
    put_files (&b);
    b.began = measure_us (CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < b.nranks; i++)
        spawn_rank (&b, i);
    b.spawned = measure_us (CLOCK_MONOTONIC);
    while (!look (&b)) {
        errno = ETIMEDOUT;
        if (measure_us (CLOCK_MONOTONIC) - b.began > SECONDS_MAX * 1e6)
            fail (&b, "the job");
        usleep (LOOK_US);
    }
    reap (&b);
    for (uint32_t i = 1; i < b.nranks; i++)
        most = MAX (most, b.cpu_ms[i]);
    printf ("%.2f %.2f %.2f %.2f %.2f\n", (b.spawned - b.began) / 1e3,
            (b.ready - b.began) / 1e3, (b.finished - b.began) / 1e3, b.cpu_ms[0], most);
    return 0;
}

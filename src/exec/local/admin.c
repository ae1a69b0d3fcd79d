/* admin.c - the administrator's prolog and epilog around a local job
 *
 *   admin_start --> fluxq-shell admin-run, one a rank --> all have ended: done()
 *
 * The programs run with the broker's identity (as root, if it is root), not as the user,
 * for each rank, before any agent and after the last one. So their exit status can be
 * believed, and a file in the broker's own directory has the reason of a failure. A
 * broker that is killed meanwhile starts them once more after its restart: they must
 * tolerate that.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "common/hostlist.h"
#include "common/io.h"
#include "common/log.h"
#include "exec/local/local.h"
#include "protocol/agent_api.h"

#define SETS 12

struct admin_rank {
    struct local_admin *admin;
    uint32_t rank;
    bool runs;
};

struct local_admin {
    struct exec *x;
    const struct exec_job *job;
    bool epilog;
    size_t from, to;        /* ranks */
    size_t left;            /* programs that run, plus one while they are being started */
    char text[512];         /* about the first failure */
    int shortage;           /* ... for this shortage of the machine, or 0 */
    struct hostlist *nodes; /* nodes with a failure; or NULL */
    void (*done) (struct local_admin *a, void *arg);
    void *arg;
    uv_timer_t timer; /* calls done() from the loop */
    struct admin_rank ranks[];
};

static const char *name_of (const struct local_admin *a)
{
    return a->epilog ? "epilog" : "prolog";
}

static void report_path (const struct admin_rank *r, char *buf, size_t size)
{
    const struct local_admin *a = r->admin;

    snprintf (buf, size, "%s/%s-%ju-%u-%u", a->x->host->runtime_dir, name_of (a),
              (uintmax_t)a->job->id, a->job->attempt, (unsigned)r->rank);
}

/* Reads the reason, one line. */
static void read_report (const struct admin_rank *r, char *buf, size_t size)
{
    char path[4200];

    report_path (r, path, sizeof (path));
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : io_read_all (fd, buf, size - 1);
    unlink (path);
    if (n <= 0) {
        snprintf (buf, size, "no reason is known");
        return;
    }
    buf[n] = '\0';
    for (char *p = buf; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
}

static void note_failure (const struct admin_rank *r, const char *why)
{
    struct local_admin *a = r->admin;
    const struct exec_host *host = a->x->host;
    const char *node = a->job->r->ranks[r->rank].node;
    char text[512];

    snprintf (text, sizeof (text), "%s failed on node %.128s: %.300s", name_of (a), node,
              why);
    log_warning ("job %ju: %s", (uintmax_t)a->job->id, text);
    if (!a->text[0])
        snprintf (a->text, sizeof (a->text), "%s", text);
    if (!a->nodes)
        a->nodes = hostlist_create ();
    if (a->nodes)
        hostlist_append (a->nodes, node);
    host->node_failed (host->arg, node, text);
}

static void on_timer (uv_timer_t *t)
{
    struct local_admin *a = t->data;

    a->done (a, a->arg);
}

static void one_less (struct local_admin *a)
{
    if (--a->left == 0)
        uv_timer_start (&a->timer, on_timer, 0, 0);
}

/* A program that we told to end counts as failed, too, but its node is not at fault. */
static void rank_ended (uint32_t rank, int status, bool known, void *arg)
{
    struct admin_rank *r = arg;
    char why[400];

    (void)rank;
    r->runs = false;
    read_report (r, why, sizeof (why));
    if (known && WIFEXITED (status) && WEXITSTATUS (status) == ADMINRUN_FAILED)
        note_failure (r, why);
    else if (known && WIFSIGNALED (status))
        note_failure (r, "its watching process was killed");
    one_less (r->admin);
}

/* NAME=VALUE, NAME=VALUE, ... with a NUL behind each. */
struct words {
    struct strbuf text;
    size_t starts[SETS], n;
};

PRINTF_LIKE (2, 3) static void add (struct words *w, const char *fmt, ...)
{
    va_list ap;

    w->starts[w->n++] = w->text.len;
    va_start (ap, fmt);
    strbuf_vaddf (&w->text, fmt, ap);
    va_end (ap);
    strbuf_add (&w->text, "", 1);
}

/* The whole environment: nothing in it comes from the user. */
static int add_environment (struct words *w, const struct admin_rank *r)
{
    const struct exec_job *job = r->admin->job;

    add (w, "FLUXQ_JOB_ID=%ju", (uintmax_t)job->id);
    add (w, "FLUXQ_JOB_USER=%s", job->user.name);
    add (w, "FLUXQ_JOB_UID=%u", (unsigned)job->user.uid);
    add (w, "FLUXQ_JOB_GID=%u", (unsigned)job->user.gid);
    add (w, "FLUXQ_QUEUE=%s", job->queue);
    add (w, "FLUXQ_NODENAME=%s", job->r->ranks[r->rank].node);
    add (w, "FLUXQ_NODEID=%u", (unsigned)r->rank);
    add (w, "FLUXQ_NNODES=%zu", job->r->nranks);
    add (w, "FLUXQ_RESTART_COUNT=%u", job->attempt);
    add (w, "FLUXQ_ADMIN_PROGRAM=%s", name_of (r->admin));
    return w->text.err;
}

/* By fluxq-launch, as root, which writes to a file of the broker. */
static int launch (const struct local_admin *a, struct admin_rank *r, const char *report,
                   const struct words *w, struct error *err)
{
    autoclose int fd =
        open (report, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return error_errno (err, errno, "%s", report);
    return agents_launch_admin (a->x->agents, a->epilog ? a->job->epilog : a->job->prolog,
                                (int)a->job->admin_timeout, &w->text, fd, r->rank,
                                rank_ended, r, err);
}

static int spawn (struct local_admin *a, uint32_t rank, struct error *err)
{
    struct admin_rank *r = &a->ranks[rank - a->from];
    const char *path = a->x->host->shell_path;
    char report[4200], timeout[32];
    struct words w = { .n = 0 };

    *r = (struct admin_rank){ a, rank, false };
    report_path (r, report, sizeof (report));
    unlink (report); /* left by a broker that was killed */
    snprintf (timeout, sizeof (timeout), "%.0f", a->job->admin_timeout);
    const char *argv[8 + 2 * SETS + 1] = {
        path,        ADMINRUN_COMMAND,
        "--program", a->epilog ? a->job->epilog : a->job->prolog,
        "--timeout", timeout,
        "--report",  report,
    };
    strbuf_init (&w.text, 65536);
    int rc = add_environment (&w, r) < 0 ? error_set (err, ENOMEM, "out of memory") : 0;
    for (size_t i = 0; i < w.n && rc == 0; i++) {
        argv[8 + 2 * i] = "--set";
        argv[9 + 2 * i] = w.text.buf + w.starts[i];
    }
    if (rc == 0 && launcher_is_on ())
        rc = launch (a, r, report, &w, err);
    else if (rc == 0)
        rc = agents_spawn (a->x->agents, (char *const *)argv, rank, rank_ended, r, err);
    strbuf_release (&w.text);
    r->runs = rc == 0;
    a->left += r->runs;
    return rc;
}

struct local_admin *admin_start (struct exec *x, const struct exec_job *job, bool epilog,
                                 size_t from, size_t to,
                                 void (*done) (struct local_admin *a, void *arg),
                                 void *arg)
{
    struct local_admin *a = calloc (1, sizeof (*a) + (to - from) * sizeof (a->ranks[0]));
    struct error err = { 0 };

    if (!a)
        return NULL;
    a->x = x;
    a->job = job;
    a->epilog = epilog;
    a->from = from;
    a->to = to;
    a->done = done;
    a->arg = arg;
    a->left = 1;
    uv_timer_init (x->host->loop, &a->timer);
    a->timer.data = a;
    for (size_t i = from; i < to; i++) {
        if (spawn (a, (uint32_t)i, &err) == 0)
            continue;
        log_warning ("job %ju: %s: %s", (uintmax_t)job->id, name_of (a), err.text);
        snprintf (a->text, sizeof (a->text), "%s: %.400s", name_of (a), err.text);
        a->shortage = error_shortage (err.code);
        break;
    }
    one_less (a);
    return a;
}

void admin_end (struct local_admin *a)
{
    for (size_t i = 0; i < a->to - a->from; i++)
        if (a->ranks[i].runs)
            agents_signal (a->x->agents, &a->ranks[i], 0, SIGTERM);
}

const char *admin_failure (const struct local_admin *a)
{
    return a->text[0] ? a->text : NULL;
}

int admin_shortage (const struct local_admin *a)
{
    return a->nodes ? 0 : a->shortage;
}

const struct hostlist *admin_failed_nodes (const struct local_admin *a)
{
    return a->nodes;
}

static void closed (uv_handle_t *h)
{
    struct local_admin *a = h->data;

    hostlist_destroy (a->nodes);
    free (a);
}

void admin_free (struct local_admin *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->to - a->from; i++)
        if (a->ranks[i].runs)
            agents_forget (a->x->agents, &a->ranks[i]);
    uv_close ((uv_handle_t *)&a->timer, closed);
}

/* step_pmix.c - starts fluxq-pmix and passes messages between it and rank 0, see
 * step_pmix.h */
#include "shell/step/step_pmix.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/io.h"
#include "protocol/pmix_helper.h"
#include "shell/io/wait_status.h"
#include "shell/step/env.h"
#include "shell/step/env_table.h"
#include "shell/step/stepd_private.h"

#define START_WITHIN 60.0 /* seconds */
#define RECEIVE (2 * (FRAME_HEAD + FRAME_DATA_MAX))
#define NO_NUMBER UINT32_MAX
#define WHY_MAX 256

struct pmix_task {
    char **env; /* NULL-terminated */
    size_t nenv;
    bool connected, finalized;
};

struct steppmix {
    struct steppmix *next;
    struct stepd *d;
    struct rank_step *s; /* NULL: the step is over */
    struct taskset *set; /* the helper */
    struct loop_io io;   /* fd -1: closed */
    struct outbuf out;
    char *in; /* [RECEIVE] */
    size_t in_len;
    struct loop_timer timer; /* of the start */
    struct pmix_task *tasks; /* [ntasks] */
    uint32_t ntasks;
    bool ready, failed;
    bool told_lack; /* a task without PMIx has ended, and rank 0 was told */
};

/* -- end -- */

static void disconnect (struct steppmix *p)
{
    loop_timer_clear (p->d->loop, &p->timer);
    if (p->io.fd < 0)
        return;
    loop_watch (p->d->loop, &p->io, 0);
    close (p->io.fd);
    p->io.fd = -1;
    outbuf_release (&p->out);
}

static void destroy (struct steppmix *p)
{
    struct steppmix **at = &p->d->helpers;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    disconnect (p);
    if (p->set)
        taskset_destroy (p->set);
    for (uint32_t i = 0; p->tasks && i < p->ntasks; i++)
        free_strings (p->tasks[i].env);
    free (p->tasks);
    free (p->in);
    loop_free_later (p->d->loop, p);
}

void steppmix_release (struct steppmix *p)
{
    if (!p)
        return;
    p->s = NULL;
    disconnect (p);
}

void steppmix_destroy_all (struct stepd *d)
{
    while (d->helpers)
        destroy (d->helpers);
}

/* -- to the helper -- */

static void flush (struct steppmix *p)
{
    int rc = outbuf_flush (&p->out, p->io.fd);

    /* Reading finds a broken socket. */
    loop_watch (p->d->loop, &p->io, rc == 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void put (void *ctx, const struct frame *frame)
{
    struct steppmix *p = ctx;

    if (p->io.fd >= 0)
        wire_put (&p->out, frame);
}

void steppmix_message (struct steppmix *p, const struct frame *msg)
{
    struct frame f = {
        .type = PMIX_FENCED, .stream = msg->stream, .data = msg->data, .len = msg->len
    };

    if (p->io.fd < 0)
        return;
    if (msg->type == WIRE_STEP_SEND) {
        if (msg->len < 4)
            return;
        f = (struct frame){ .type = PMIX_FROM,
                            .rank = wire_get_u32 (msg->data),
                            .data = msg->data + 4,
                            .len = msg->len - 4 };
    }
    put (p, &f);
    flush (p);
}

/* -- from the helper -- */

static void up (struct steppmix *p, uint8_t type, uint8_t stream, const char *data,
                uint32_t len)
{
    p->d->up (p->d->ctx, &(struct frame){ .type = type,
                                          .stream = stream,
                                          .rank = p->d->rank,
                                          .task = p->s->id,
                                          .data = data,
                                          .len = len });
}

/* Ends the step, or its start here. The step may be freed. */
static void fail (struct steppmix *p, const char *text)
{
    struct rank_step *s = p->s;
    struct error err = { 0 };

    error_set (&err, EIO, "--mpi=pmix: %.120s", text);
    if (!s || p->failed)
        return;
    p->failed = true;
    if (p->ready)
        stepd_put (s, WIRE_STEP_FAIL, 0, NO_NUMBER, err.text, strlen (err.text));
    else
        stepd_pmix_ready (s, &err);
}

static void abort_step (struct steppmix *p, uint32_t local, int status, const char *text)
{
    char why[WHY_MAX + 64];
    int len = snprintf (why, sizeof (why), "task %" PRIu32 " %.200s", p->s->own[local].id,
                        text);

    for (char *c = why; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    stepd_put (p->s, WIRE_STEP_ABORT, 0, (uint32_t)status, why,
               MIN ((size_t)len, sizeof (why) - 1));
}

static void on_abort (struct steppmix *p, const struct frame *f)
{
    char text[WHY_MAX];
    int code = f->len < 4 ? 1 : (int)(wire_get_u32 (f->data) & 0xff);
    int len = f->len < 4 ? 0 : (int)MIN (f->len - 4, 200u);

    snprintf (text, sizeof (text), "aborts%s%.*s", len ? ": " : "", len, f->data + 4);
    abort_step (p, f->task, (code ? code : 1) << 8, text);
}

static bool on_env (struct steppmix *p, const struct frame *f)
{
    struct pmix_task *t = &p->tasks[f->task];

    if (p->ready || t->nenv >= PMIX_ENVS_MAX || f->len > PMIX_ENV_MAX
        || memchr (f->data, '\0', f->len) || !memchr (f->data, '=', f->len))
        return false;
    if (!t->env && !(t->env = calloc (PMIX_ENVS_MAX + 1, sizeof (char *))))
        return false;
    t->env[t->nenv] = strndup (f->data, f->len);
    return t->env[t->nenv++] != NULL;
}

static bool on_to (struct steppmix *p, const struct frame *f)
{
    char data[FRAME_DATA_MAX];

    if (f->rank >= p->s->nnodes || f->len == 0 || f->len > sizeof (data) - 4)
        return false;
    wire_put_u32 ((uint8_t *)data, f->rank);
    memcpy (data + 4, f->data, f->len);
    up (p, WIRE_STEP_SEND, 0, data, f->len + 4);
    return true;
}

static bool on_failed (struct steppmix *p, const struct frame *f)
{
    char text[160];

    snprintf (text, sizeof (text), "%.*s", (int)MIN (f->len, 150u), f->data);
    fail (p, text);
    return true;
}

/* False: the helper sends nonsense. The step may be freed. */
static bool on_frame (struct steppmix *p, const struct frame *f)
{
    bool of_task = f->task < p->ntasks;

    switch (f->type) {
    case PMIX_ENV:
        return of_task && on_env (p, f);
    case PMIX_READY:
        if (p->ready)
            return false;
        p->ready = true;
        loop_timer_clear (p->d->loop, &p->timer);
        stepd_pmix_ready (p->s, NULL);
        return true;
    case PMIX_FAILED:
        return on_failed (p, f);
    case PMIX_CONNECTED:
        return of_task && (p->tasks[f->task].connected = true);
    case PMIX_FINALIZED:
        return of_task && (p->tasks[f->task].finalized = true);
    case PMIX_ABORT:
        if (of_task)
            on_abort (p, f);
        return of_task;
    case PMIX_FENCE:
        up (p, WIRE_STEP_PUT, f->stream == 1, f->data, f->len);
        return true;
    case PMIX_TO:
        return on_to (p, f);
    default:
        return false;
    }
}

/* Reads what is there. 1: something was; 0: nothing now; -EPIPE: the end; -EPROTO. */
static int receive (struct steppmix *p)
{
    ssize_t n = recv (p->io.fd, p->in + p->in_len, RECEIVE - p->in_len, MSG_DONTWAIT);
    struct frame f;
    size_t done = 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return -EPIPE;
    p->in_len += (size_t)n;
    while (p->s && n > 0) {
        n = frame_parse (p->in + done, p->in_len - done, &f);
        if (n < 0 || (n > 0 && !on_frame (p, &f)))
            return -EPROTO;
        done += (size_t)n;
    }
    p->in_len -= done;
    memmove (p->in, p->in + done, p->in_len);
    return 1;
}

static void on_ready (struct loop_io *io, uint32_t events)
{
    struct steppmix *p = CONTAINER_OF (io, struct steppmix, io);

    if (events & EPOLLOUT)
        flush (p);
    int rc = p->io.fd >= 0 && (events & ~(uint32_t)EPOLLOUT) ? receive (p) : 0;
    if (rc >= 0 || !p->s)
        return;
    disconnect (p);
    taskset_signal (p->set, SIGKILL);
    fail (p, rc == -EPROTO ? PMIX_HELPER " sends an invalid message"
                           : PMIX_HELPER " has closed its connection");
}

static void on_too_late (struct loop_timer *timer)
{
    struct steppmix *p = CONTAINER_OF (timer, struct steppmix, timer);

    taskset_signal (p->set, SIGKILL);
    fail (p, PMIX_HELPER " does not start in time");
}

/* -- the helper's process -- */

static size_t on_room (void *ctx)
{
    const struct steppmix *p = ctx;

    return p->s ? stepd_room (p->s) : FRAME_DATA_MAX;
}

static void on_output (void *ctx, uint32_t task, int stream, const char *data, size_t len)
{
    const struct steppmix *p = ctx;

    (void)task, (void)stream;
    if (p->s)
        stepd_output (p->s, p->s->own[0].id, 2, data, len);
}

static void on_exited (void *ctx, uint32_t task, int status, bool oom)
{
    struct steppmix *p = ctx;
    char text[64], why[128];

    (void)task, (void)oom;
    while (p->s && p->io.fd >= 0 && receive (p) > 0)
        ;
    wait_status_text (status, text, sizeof (text));
    snprintf (why, sizeof (why), PMIX_HELPER " ended (%s)", text);
    if (p->s) {
        struct rank_step *s = p->s;
        fail (p, why);
        if (p->s)
            s->pmix = NULL;
    }
    destroy (p);
}

static const struct task_events events = { on_room, on_output, on_exited, NULL, NULL };

static int spawn (struct steppmix *p, int fd, struct error *err)
{
    const struct stepd *d = p->d;
    char path[PATH_MAX], number[16];
    char *argv[] = { path, number, NULL };
    size_t nenv;
    char *const *own =
        step_spec_env (&p->s->spec, d->launch->nodes[d->rank].component, &nenv);
    autofree char **env = calloc (nenv + 1, sizeof (*env));
    struct task_start how = { .argv = argv,
                              .env = env,
                              .cwd_fd = p->s->cwd_fd,
                              .cwd = p->s->cwd,
                              .in_fd = -1,
                              .pass_fd = fd };

    if (steppmix_program (path) < 0)
        return error_set (err, ENOENT,
                          "--mpi=pmix: " PMIX_HELPER " is not installed here; "
                          "mpirun of Open MPI needs no PMIx of fluxq");
    if (!env)
        return error_no_memory (err, NULL);
    for (size_t i = 0, n = 0; i < nenv; i++)
        if (!env_is_of_pmi (own[i])) /* of another server */
            env[n++] = own[i];
    snprintf (number, sizeof (number), "%d", fd);
    p->set = taskset_create (p->d->tasks, 1, &events, p);
    return p->set ? taskset_start (p->set, &how, err) : error_no_memory (err, NULL);
}

static int describe (struct steppmix *p, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (PMIX_SETUP_MAX);
    int rc = steppmix_describe (p->s, &text, err);

    if (rc < 0)
        return rc;
    wire_pieces (&(struct frame){ .type = PMIX_SETUP }, text.buf, text.len, put, p);
    flush (p);
    return 0;
}

static struct steppmix *create (struct rank_step *s)
{
    struct steppmix *p = calloc (1, sizeof (*p));

    if (!p)
        return NULL;
    *p = (struct steppmix){ .next = s->d->helpers,
                            .d = s->d,
                            .s = s,
                            .io = { .fd = -1, .ready = on_ready },
                            .timer = { .fire = on_too_late },
                            .in = malloc (RECEIVE),
                            .tasks = calloc (s->nown, sizeof (*p->tasks)),
                            .ntasks = s->nown };
    s->d->helpers = p;
    if (p->in && p->tasks)
        return p;
    destroy (p);
    return NULL;
}

int steppmix_start (struct rank_step *s, struct error *err)
{
    struct steppmix *p = create (s);
    int fds[2];

    if (!p)
        return error_no_memory (err, NULL);
    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
        destroy (p);
        return error_errno (err, errno, "socketpair");
    }
    p->io.fd = fds[0];
    io_set_nonblock (fds[0]);
    int rc = spawn (p, fds[1], err);
    close (fds[1]);
    if (rc == 0)
        rc = describe (p, err);
    if (rc < 0) {
        destroy (p);
        return rc;
    }
    s->pmix = p;
    loop_timer_set (p->d->loop, &p->timer, loop_now () + START_WITHIN);
    return 0;
}

/* -- its tasks -- */

int steppmix_environment (const struct steppmix *p, uint32_t local, char ***env)
{
    const struct pmix_task *t = &p->tasks[local];
    int rc = 0;

    for (size_t i = 0; i < t->nenv && rc == 0; i++)
        rc = env_replace (env, t->env[i]);
    return rc;
}

/* Reads the helper's last messages first: the helper has sent PMIX_FINALIZED before the
 * task could end. */
void steppmix_exited (struct steppmix *p, uint32_t local, int status)
{
    const struct pmix_task *t = &p->tasks[local];
    char text[64], why[128];

    while (p->s && p->io.fd >= 0 && receive (p) > 0)
        ;
    if (!t->connected && p->s->ntasks > 1 && !p->told_lack) {
        p->told_lack = true;
        stepd_put (p->s, WIRE_STEP_PUT, 2, NO_NUMBER, NULL, 0);
    }
    if (!t->connected || t->finalized)
        return;
    wait_status_text (status, text, sizeof (text));
    snprintf (why, sizeof (why), "ended before PMIx_Finalize (%s)", text);
    abort_step (p, local, status ? status : 1 << 8, why);
}

void steppmix_resume (struct steppmix *p)
{
    if (p)
        taskset_resume (p->set);
}

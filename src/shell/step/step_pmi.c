/* step_pmi.c - the sockets between the tasks of a step on this rank and their PMI (pmi.h)
 *
 * Each task has one end of a socket pair; we have the other. The pairs that pmi.c
 * exchanges go to rank 0 in pieces (WIRE_STEP_PUT). Rank 0 sends the pairs of all ranks
 * to all of them (WIRE_STEP_KVS).
 */
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/io.h"
#include "shell/io/wait_status.h"
#include "shell/pmi/pmi.h"
#include "shell/step/env.h"
#include "shell/step/stepd_private.h"
#include "shell/step/steps.h"

#define RECEIVE 16384

struct line {
    struct loop_io io; /* fd -1: closed */
    struct steppmi *p;
    uint32_t local;
    int task_fd; /* the task's end, until the task has started; -1 */
    struct outbuf out;
};

struct steppmi {
    struct rank_step *s;
    struct pmi *pmi;
    struct pmi_config config;
    char jobid[48];
    uint32_t *global;
    struct line *lines; /* [nown] */
    struct strbuf all;  /* pieces of the KVS received so far */
    bool told_lack;     /* a task without PMI has ended, and rank 0 was told */
};

static void close_line (struct line *l)
{
    if (l->io.fd < 0)
        return;
    loop_watch (l->p->s->d->loop, &l->io, 0);
    close (l->io.fd);
    l->io.fd = -1;
    outbuf_release (&l->out);
    pmi_closed (l->p->pmi, l->local);
}

/* Reads no request while replies wait. */
static void flush (struct line *l)
{
    int rc = outbuf_flush (&l->out, l->io.fd);
    if (rc < 0)
        close_line (l);
    else
        loop_watch (l->p->s->d->loop, &l->io, rc ? EPOLLIN : EPOLLOUT);
}

static void on_line (struct loop_io *io, uint32_t events)
{
    struct line *l = CONTAINER_OF (io, struct line, io);
    struct error err = { 0 };
    char buf[RECEIVE];
    if (events & EPOLLOUT) {
        flush (l);
        return;
    }
    ssize_t n = recv (io->fd, buf, sizeof (buf), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || pmi_receive (l->p->pmi, l->local, buf, (size_t)n, &err) < 0)
        close_line (l);
}

/* -- events of pmi.c -- */

static void on_send (void *ctx, uint32_t local, const char *data, size_t len)
{
    struct line *l = &((struct steppmi *)ctx)->lines[local];
    if (l->io.fd < 0)
        return;
    outbuf_add (&l->out, data, len);
    int rc = outbuf_flush (&l->out, l->io.fd);
    /* Reading finds a broken socket: nothing may be closed within a call of pmi.c. */
    loop_watch (l->p->s->d->loop, &l->io, rc == 0 ? EPOLLOUT : EPOLLIN);
}

static void put_piece (void *ctx, const struct frame *msg)
{
    const struct steppmi *p = ctx;
    p->s->d->up (p->s->d->ctx, msg);
}

static void on_exchange (void *ctx, const char *data, size_t len)
{
    const struct steppmi *p = ctx;
    wire_pieces (
        &(struct frame){ .type = WIRE_STEP_PUT, .rank = p->s->d->rank, .task = p->s->id },
        data, len, put_piece, ctx);
}

static void abort_step (struct steppmi *p, uint32_t local, int status, const char *text)
{
    char why[PMI_ABORT_TEXT_MAX + 64];
    int len = snprintf (why, sizeof (why), "task %u %s", p->global[local], text);
    stepd_put (p->s, WIRE_STEP_ABORT, 0, (uint32_t)status, why,
               MIN ((size_t)len, sizeof (why) - 1));
}

static void on_aborted (void *ctx, uint32_t local, int status, const char *text)
{
    char why[PMI_ABORT_TEXT_MAX + 16];
    snprintf (why, sizeof (why), "aborts%s%s", text[0] ? ": " : "", text);
    abort_step (ctx, local, status << 8, why);
}

static const struct pmi_events events = { on_send, on_exchange, on_aborted };

/* -- tasks -- */

int steppmi_create (struct rank_step *s, struct error *err)
{
    struct steppmi *p = calloc (1, sizeof (*p));
    if (!p)
        return error_no_memory (err, NULL);
    s->pmi = p;
    p->s = s;
    strbuf_init (&p->all, STEP_PUTS_MAX);
    snprintf (p->jobid, sizeof (p->jobid), "%" PRIu64 ".%u", s->d->launch->job_id, s->id);
    p->global = calloc (s->nown, sizeof (*p->global));
    p->lines = calloc (s->nown, sizeof (*p->lines));
    if (!p->global || !p->lines)
        return error_no_memory (err, NULL);
    for (uint32_t i = 0; i < s->nown; i++) {
        p->global[i] = s->own[i].id;
        p->lines[i] = (struct line){
            .io = { .fd = -1, .ready = on_line }, .p = p, .local = i, .task_fd = -1
        };
    }
    p->config = (struct pmi_config){ .jobid = p->jobid,
                                     .ntasks = s->ntasks,
                                     .nlocal = s->nown,
                                     .global = p->global,
                                     .node_of = s->rank_of,
                                     .nnodes = s->nnodes };
    p->pmi = pmi_create (&p->config, &events, p, err);
    return p->pmi ? 0 : -ENOMEM;
}

void steppmi_destroy (struct steppmi *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; p->lines && i < p->s->nown; i++) {
        steppmi_started (p, i);
        close_line (&p->lines[i]);
    }
    pmi_destroy (p->pmi);
    strbuf_release (&p->all);
    free (p->global);
    loop_free_later (p->s->d->loop, p->lines);
    free (p);
}

/* Sets a variable in the environment in ctx. */
static int add_variable (void *ctx, const char *name, const char *value)
{
    char *text = NULL;
    if (asprintf (&text, "%s=%s", name, value) < 0)
        return -ENOMEM;
    int rc = env_replace (ctx, text);
    free (text);
    return rc;
}

int steppmi_open (struct steppmi *p, uint32_t local, char ***env, int *ret_fd,
                  struct error *err)
{
    struct line *l = &p->lines[local];
    int fds[2];
    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return error_errno (err, errno, "socketpair");
    io_set_nonblock (fds[0]);
    l->io.fd = fds[0];
    l->task_fd = *ret_fd = fds[1];
    loop_watch (p->s->d->loop, &l->io, EPOLLIN);
    int rc = pmi_environment (&p->config, local, fds[1], add_variable, env);
    return rc < 0 ? error_errno (err, -rc, "environment") : 0;
}

void steppmi_started (struct steppmi *p, uint32_t local)
{
    struct line *l = &p->lines[local];
    if (l->task_fd >= 0)
        close (l->task_fd);
    l->task_fd = -1;
}

/* Reads the task's last commands first. If the task has initialised PMI and not finalized
 * it, the other tasks would wait for it forever. */
void steppmi_exited (struct steppmi *p, uint32_t local, int status)
{
    char text[64], why[128];
    for (struct line *l = &p->lines[local]; l->io.fd >= 0 && l->out.len == 0;) {
        char buf[RECEIVE];
        struct error err = { 0 };
        ssize_t n = recv (l->io.fd, buf, sizeof (buf), MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || pmi_receive (p->pmi, local, buf, (size_t)n, &err) < 0)
            break;
    }
    bool unfinished = pmi_is_unfinished (p->pmi, local);
    if (pmi_is_new (p->pmi, local) && p->s->ntasks > 1 && !p->told_lack) {
        p->told_lack = true;
        stepd_put (p->s, WIRE_STEP_PUT, 2, UINT32_MAX, NULL, 0);
    }
    close_line (&p->lines[local]);
    if (!unfinished)
        return;
    wait_status_text (status, text, sizeof (text));
    snprintf (why, sizeof (why), "ended before MPI_Finalize (%s)", text);
    abort_step (p, local, status ? status : 1 << 8, why);
}

void steppmi_message (struct steppmi *p, const struct frame *msg)
{
    struct error err = { 0 };
    strbuf_add (&p->all, msg->data, msg->len);
    if (msg->stream == 0)
        return;
    if (pmi_exchanged (p->pmi, p->all.buf, p->all.len, &err) < 0)
        stepd_put (p->s, WIRE_STEP_FAIL, 0, UINT32_MAX, err.text, strlen (err.text));
    strbuf_reset (&p->all);
}

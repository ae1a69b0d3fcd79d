/* agentio.c - a running job: the connection to rank 0's agent, and its output on the way
 * to disk (see run.h) */
#include "exec/kube/files/output.h"
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

#define LINK_BUFFER ((size_t)4 << 20) /* beyond that, bytes wait at the agent */
#define CHECKPOINT_EVERY 1.0
#define WRITE_AGAIN 2.0

/* -- worker -- */

static void work_run (uv_work_t *req)
{
    struct kjob *k = req->data;
    struct kwork *w = &k->work;

    w->err = (struct error){ 0 };
    if (w->opening)
        w->rc = output_open (k->out, &w->err);
    else {
        w->rc = k->writing.len
                    ? output_write (k->out, k->writing.buf, k->writing.len, &w->err)
                    : 0;
        if (w->rc == 0) {
            strbuf_reset (&k->writing);
            if (w->checkpoint)
                w->rc = output_checkpoint (k->out, &w->err);
        }
    }
}

static void after_write (struct kjob *k)
{
    struct exec_host *host = &k->x->host;
    const char *lost = output_note (k->out);
    double now = clock_mono ();

    if (lost) {
        log_error ("job %ju: %s", (uintmax_t)k->id, lost);
        host->note (host->arg, k->id, lost);
        snprintf (k->lost_text, sizeof (k->lost_text), "%s", lost);
    }
    if (k->work.rc < 0) {
        if (k->write_again == 0) {
            log_error ("job %ju: %s (tried again)", (uintmax_t)k->id, k->work.err.text);
            host->note (host->arg, k->id, k->work.err.text);
        }
        if (k->out->shortage)
            host->shortage (host->arg, k->work.err.text, k->out->shortage);
        k->write_again = now + WRITE_AGAIN;
        return;
    }
    k->write_again = 0;
    k->dirty = !k->work.checkpoint;
    if (k->work.checkpoint)
        k->last_checkpoint = now;
    /* The release of READY starts the tasks of a job that runs at most once. */
    if (k->link && k->out->safe > k->released && !k->have_fin && !k->start_lost) {
        k->released = k->out->safe;
        agentlink_release (k->link, k->released);
    }
    host->output (host->arg, k->id);
}

/* Reports the usage that the spool had when it was opened, from before a restart. */
static void tell_usages (struct kjob *k)
{
    struct exec_host *host = &k->x->host;
    const struct strbuf *all = &k->out->usage;
    struct frame f;
    ssize_t n;

    for (size_t at = 0; (n = frame_parse (all->buf + at, all->len - at, &f)) > 0;
         at += (size_t)n)
        host->usage (host->arg, k->id, f.data, f.len);
}

static void work_done (uv_work_t *req, int status)
{
    struct kjob *k = req->data;
    struct exec *x = k->x;

    (void)status;
    k->work.busy = false;
    x->working--;
    if (x->closing) {
        x->hooks->worker_ended (x);
        return;
    }
    if (k->work.opening)
        tell_usages (k);
    else if (k->phase != K_REMOVE)
        after_write (k);
    if (k->link_stopped && k->pending.len < LINK_BUFFER / 2) {
        k->link_stopped = false;
        agentlink_resume (k->link);
    }
    job_poke (k);
}

static void work_start (struct kjob *k)
{
    k->work.busy = true;
    k->work.req.data = k;
    k->x->working++;
    if (uv_queue_work (k->x->host.loop, &k->work.req, work_run, work_done) < 0) {
        k->work.busy = false;
        k->x->working--;
    }
}

void agentio_open_output (struct kjob *k)
{
    k->work.open = k->work.opening = true;
    work_start (k);
}

bool agentio_is_written (const struct kjob *k)
{
    return !k->work.busy && k->pending.len == 0 && k->writing.len == 0 && !k->dirty;
}

void agentio_write (struct kjob *k, bool final)
{
    double now = clock_mono ();
    bool due = now - k->last_checkpoint >= CHECKPOINT_EVERY;

    if (k->work.busy || now < k->write_again)
        return;
    if (k->writing.len == 0 && k->pending.len > 0) {
        struct strbuf empty = k->writing;

        k->writing = k->pending;
        k->pending = empty;
        k->dirty = true;
    }
    if (k->writing.len == 0 && !(k->dirty && (final || due)))
        return;
    k->work.opening = false;
    k->work.checkpoint = final || due;
    work_start (k);
}

/* -- the line -- */

static int on_bytes (uint64_t offset, const void *data, size_t len, void *arg)
{
    struct kjob *k = arg;

    (void)offset;
    if (k->pending.len > 0 && k->pending.len + len > LINK_BUFFER) {
        k->link_stopped = true;
        return -EBUSY;
    }
    if (strbuf_add (&k->pending, data, len) < 0)
        return -ENOMEM;
    job_poke (k);
    return 0;
}

static void on_frame (const struct frame *f, void *arg)
{
    struct kjob *k = arg;
    struct exec_host *host = &k->x->host;
    char text[512];

    k->link_trouble[0] = 0;
    switch (f->type) {
    case FRAME_READY:
        k->ready_seen = true;
        break;
    case FRAME_NOTE:
    case FRAME_LOST:
        snprintf (text, sizeof (text), "%.*s", (int)MIN (f->len, sizeof (text) - 1),
                  f->data);
        host->note (host->arg, k->id, text);
        if (f->type == FRAME_LOST && !k->ready_seen)
            job_blame (k, f->rank, false); /* agents run as the user, who can end them */
        break;
    case FRAME_RESIZED:
        resize_frame (k, f);
        return;
    case FRAME_USAGE:
        host->usage (host->arg, k->id, f->data, f->len);
        return;
    case FRAME_CALL:
        host->call (host->arg, k->id);
        return;
    default:
        return;
    }
    job_poke (k);
}

static void on_trouble (unsigned n, const struct error *err, void *arg)
{
    struct kjob *k = arg;

    (void)n;
    snprintf (k->link_trouble, sizeof (k->link_trouble), "%.200s", err->text);
    log_debug ("job %ju: line to rank 0, try %u: %s", (uintmax_t)k->id, n, err->text);
}

static void on_finish (const struct frame_finish *fin, void *arg)
{
    struct kjob *k = arg;

    if (k->have_fin)
        return;
    k->have_fin = true;
    k->fin = *fin;
    job_poke (k);
}

static const struct agentlink_events link_events = { .on_bytes = on_bytes,
                                                     .on_frame = on_frame,
                                                     .on_trouble = on_trouble,
                                                     .on_finish = on_finish };

void agentio_open_link (struct kjob *k)
{
    struct exec *x = k->x;
    char prefix[1024];
    struct agentlink_where where = { .url_prefix = prefix,
                                     .headers = kube_auth_headers (x->kube),
                                     .tls = kube_tls (x->kube) };
    struct error err = { 0 };

    if (k->link || k->have_fin)
        return;
    snprintf (prefix, sizeof (prefix), "%s/api/v1/namespaces/%s/pods/%s:%d/proxy",
              kube_server (x->kube), k->space->name, k->pods[0]->name, AGENT_PORT);
    k->link = agentlink_open (x->http, x->host.loop, &where, k->out->key, k->out->offset,
                              &link_events, k, &err);
    if (!k->link)
        log_error ("job %ju: %s", (uintmax_t)k->id, err.text);
    else if (k->job->limit_changed)
        agentlink_limit (k->link, k->job->time_limit);
}

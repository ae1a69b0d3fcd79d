/* follow.c - GET /v1/jobs/ID/output: text from the frames of a growing spool
 *
 *   read 256 KiB of the spool (worker) --> wanted frames --> stream --> drained --> again
 *         | end of file, job goes on: wait until file changes (inotify) or job ends
 *         | end of file, there is a later attempt: its spool, from the start
 *         | cut out (protocol/output_limit.h), perhaps while reading: say so, continue after the gap
 *
 * With ?positions=1 a line "ATTEMPT OFFSET OPEN TASK LENGTH" precedes each piece of text:
 * the position in the spools of the next piece, whether the last line has no newline yet,
 * the task of that line, and the number of bytes that follow. A request with
 * ?from=ATTEMPT:OFFSET:OPEN:TASK gets the following output, also from a restarted broker.
 * The last line is "end". A stream without that line was broken off.
 *
 * The spool is in the user's directory: only a regular file of that user (or the
 * broker's) is read.
 */
#include <fcntl.h>
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/core/job_dirs.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/stream/output_text.h"
#include "common/parse.h"
#include "common/userdir.h"
#include "protocol/frame.h"
#include "protocol/output_limit.h"

#define CHUNK (256 * 1024)
#define TEXT_MAX (16 * CHUNK) /* size of a chunk when each line has a label */

struct follower {
    uv_work_t work;
    uv_fs_event_t changed;
    struct broker *b;
    uint64_t id;
    struct entry *e;          /* the entry that lists f; NULL once the job is over */
    struct http_request *req; /* NULL: the client left, free f when idle */
    struct follower *prev, *next;
    char *dir;
    char spool[24];           /* file name in dir */
    unsigned attempt, latest; /* of the spool; of the job */
    uid_t owner;              /* user of the job */
    int fd;
    uint64_t offset;
    bool positions; /* send the end position of each piece */
    bool follow, busy, again, watching, over, finish_seen;
    /* state of the work under way */
    char *buf; /* NULL while waiting */
    size_t got, used;
    int rc;
    struct output_text out;
};

struct slot {
    struct follower *followers; /* until the job is inactive */
};

static struct service_place place;
SERVICE_SLOT_OF (struct slot)

static void step (struct follower *f);

static void closed (uv_handle_t *h)
{
    struct follower *f = h->data;
    if (f->fd >= 0)
        close (f->fd);
    strbuf_release (&f->out.text);
    free (f->buf);
    free (f->dir);
    free (f);
}

/* Removes f from the job's list and frees it; not while work is under way. */
static void destroy (struct follower *f)
{
    if (f->e)
        DL_DELETE (slot_of (f->e)->followers, f);
    f->e = NULL;
    uv_close ((uv_handle_t *)&f->changed, closed);
}

static void client_left (struct http_request *req, void *arg)
{
    struct follower *f = arg;
    (void)req;
    f->req = NULL;
    if (!f->busy)
        destroy (f);
}

/* The spool before `next` was cut out: says so, whatever the request selects. */
static void skip_cut (struct follower *f, uint64_t next)
{
    uint64_t bytes = next - (f->offset + f->used);
    char text[200];
    int n = snprintf (text, sizeof (text),
                      "[... about %.1f MB of output are left out here: fluxq-logs keeps "
                      "the beginning and the end; the output files have all output ...]",
                      (double)bytes / 1e6);

    output_text_add_line (&f->out, text, (size_t)n);
    f->used += bytes;
}

static int open_spool (struct follower *f)
{
    struct error err = { 0 };
    autoclose int dir = userdir_open (f->dir, userdir_owner (f->owner), &err);
    int fd = dir < 0 ? dir
                     : userdir_open_file (dir, f->spool, O_RDONLY,
                                          job_spool_owner (f->b, f->owner), &err);

    if (dir == -EPERM) /* made, but not given to its user yet */
        return -ENOENT;
    f->fd = MAX (fd, -1);
    return MIN (fd, 0);
}

/* Takes whole frames from the buffer; -EBADMSG after the last valid one. */
static int take_frames (struct follower *f)
{
    struct frame fr;
    ssize_t size = 0;

    while (f->used < f->got && !f->finish_seen
           && (size = frame_parse (f->buf + f->used, f->got - f->used, &fr)) > 0) {
        f->finish_seen = fr.type == FRAME_FINISH;
        output_text_add (&f->out, &fr);
        f->used += (size_t)size;
    }
    return (int)MIN (size, 0);
}

/* There is no valid frame at offset: it may have been cut out. */
static int look_for_cut (struct follower *f)
{
    uint64_t next;
    int rc = output_limit_find (f->fd, &next);

    if (rc == 0 && next <= f->offset)
        rc = -EBADMSG;
    if (rc == 0)
        skip_cut (f, next);
    return rc;
}

static int read_chunk (struct follower *f)
{
    uint64_t next;
    ssize_t n = pread (f->fd, f->buf, CHUNK, (off_t)f->offset);

    if (n < 0)
        return -errno;
    f->got = output_limit_before_hole (f->fd, f->offset, f->buf, (size_t)n);
    bool hole = f->got < (size_t)n;
    int rc = take_frames (f);
    if (rc < 0 && output_gap_parse (f->buf + f->used, f->got - f->used, &next)
        && next > f->offset + f->used) {
        skip_cut (f, next);
        return 0;
    }
    if (f->used > 0) /* the next read looks at the rest */
        return 0;
    return rc < 0 || hole ? look_for_cut (f) : 0;
}

static void read_work (uv_work_t *w)
{
    struct follower *f = w->data;

    f->used = 0;
    f->got = 0;
    if (f->fd < 0 && (f->rc = open_spool (f)) < 0) {
        if (f->rc == -ENOENT)
            f->rc = 0;
        return;
    }
    if (!f->buf && !(f->buf = malloc (CHUNK))) {
        f->rc = -ENOMEM;
        return;
    }
    f->rc = read_chunk (f);
}

/* Ends the stream without the last line: the client asks for the rest. */
static void break_off (struct follower *f)
{
    if (f->req)
        http_stream_end (f->req);
    f->req = NULL;
    destroy (f);
}

static void end (struct follower *f)
{
    static const char last[] = "end\n";

    if (f->req && f->positions)
        http_stream_write (f->req, last, sizeof (last) - 1);
    break_off (f);
}

static void on_change (uv_fs_event_t *h, const char *name, int events, int status)
{
    (void)name, (void)events, (void)status;
    step (h->data);
}

static void set_spool (struct follower *f, unsigned attempt)
{
    f->attempt = attempt;
    snprintf (f->spool, sizeof (f->spool), "spool-%u", attempt);
}

/* The job was started again: continues with the spool of that attempt. */
static void next_attempt (struct follower *f)
{
    if (f->watching)
        uv_fs_event_stop (&f->changed);
    f->watching = false;
    if (f->fd >= 0)
        close (f->fd);
    f->fd = -1;
    f->offset = 0;
    f->finish_seen = false;
    f->out.line_open = false;
    set_spool (f, f->latest);
}

static void write_out (struct follower *f)
{
    char head[128];
    int n = snprintf (head, sizeof (head), "%u %ju %d %u %zu\n", f->attempt,
                      (uintmax_t)f->offset, f->out.line_open, f->out.line_task,
                      f->out.text.len);

    if (f->out.text.len > 0 && f->positions)
        http_stream_write (f->req, head, (size_t)n);
    if (f->out.text.len > 0)
        http_stream_write (f->req, f->out.text.buf, f->out.text.len);
    strbuf_reset (&f->out.text);
}

static void read_done (uv_work_t *w, int status)
{
    struct follower *f = w->data;

    f->busy = false;
    if (!f->req) {
        destroy (f);
        return;
    }
    if (status < 0 || f->rc == -ENOMEM || f->out.text.err) {
        break_off (f);
        return;
    }
    f->offset += f->used;
    write_out (f);
    bool again = f->again;
    f->again = false;
    if (f->rc == 0 && !f->used && (again || f->attempt != f->latest)) {
        if (!again)
            next_attempt (f);
        step (f);
        return;
    }
    if (f->rc < 0 || (f->finish_seen && f->attempt == f->latest)
        || (!f->used && (!f->follow || f->over))) {
        end (f);
        return;
    }
    bool watch = !f->used && f->fd >= 0 && !f->watching;
    if (watch) {
        /* Watches the open file: the name may lead to another file by now. */
        char path[32];
        snprintf (path, sizeof (path), "/proc/self/fd/%d", f->fd);
        f->watching = uv_fs_event_start (&f->changed, on_change, path, 0) == 0;
    }
    if (f->used || watch) { /* the file may have grown before the watch began */
        step (f);
    } else {
        free (f->buf);
        f->buf = NULL;
    }
}

static void drained (struct http_request *req, void *arg)
{
    (void)req;
    step (arg);
}

static void step (struct follower *f)
{
    if (f->busy)
        f->again = true; /* the data read may predate the event */
    if (f->busy || !f->req || http_stream_unsent (f->req) > 0)
        return; /* drained() or read_done() continues */
    f->busy = true;
    f->rc = 0;
    f->work.data = f;
    if (uv_queue_work (broker_loop (f->b), &f->work, read_work, read_done) < 0) {
        f->busy = false;
        break_off (f);
    }
}

static bool is_on (const struct http_request *req, const char *name)
{
    const char *value = http_request_query (req, name);

    return value && strcmp (value, "0") != 0;
}

/* Parses a position of ?positions=1. */
static int parse_from (struct follower *f, const char *text, struct error *err)
{
    static const int64_t most[] = { UINT32_MAX, INT64_MAX, 1, UINT32_MAX };
    int64_t n[ARRAY_SIZE (most)];
    autofree char *copy = text ? strdup (text) : NULL;
    char *next = copy;

    if (!text)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE (most); i++) {
        const char *word = next ? strsep (&next, ":") : NULL;
        if (!word || parse_int (word, 0, most[i], &n[i], "from", err) < 0)
            return error_set (err, EINVAL, "from: '%s' is not a position", text);
    }
    if (n[0] > f->latest)
        return error_set (err, EINVAL, "from: the job has not been started so often");
    f->attempt = (unsigned)n[0];
    f->offset = (uint64_t)n[1];
    f->out.line_open = n[2];
    f->out.line_task = (uint32_t)n[3];
    return 0;
}

static int parse_query (struct follower *f, struct http_request *req, struct error *err)
{
    const char *rank = http_request_query (req, "rank");
    const char *task = http_request_query (req, "task");
    const char *stream = http_request_query (req, "stream");

    f->follow = is_on (req, "follow");
    f->out.label = is_on (req, "label");
    f->positions = is_on (req, "positions");
    f->out.rank = -1;
    f->out.task = -1;
    if (parse_from (f, http_request_query (req, "from"), err) < 0)
        return -EINVAL;
    if (task && parse_int (task, 0, UINT32_MAX, &f->out.task, "task", err) < 0)
        return -EINVAL;
    if (rank && parse_int (rank, 0, UINT32_MAX, &f->out.rank, "rank", err) < 0)
        return -EINVAL;
    if (!stream)
        return 0;
    f->out.stream = !strcmp (stream, "stdout") ? 1 : !strcmp (stream, "stderr") ? 2 : 0;
    return f->out.stream
               ? 0
               : error_set (err, EINVAL, "stream: '%s' is neither stdout nor stderr",
                            stream);
}

/* Answers with the job's output; with ?follow=1 until the job is over. */
static void follow_output (struct broker *b, struct entry *e, struct http_request *req)
{
    struct error err = { 0 };
    struct follower *f = calloc (1, sizeof (*f));

    if (f)
        f->attempt = f->latest = entry_job (e)->restarts;
    if (f && parse_query (f, req, &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        free (f);
        return;
    }
    if (!f
        || asprintf (&f->dir, "%s/%ju", broker_jobs_dir (b), (uintmax_t)entry_id (e))
               < 0) {
        free (f);
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    strbuf_init (&f->out.text, TEXT_MAX);
    f->b = b;
    f->id = entry_id (e);
    set_spool (f, f->attempt);
    f->owner = entry_job (e)->userid;
    f->fd = -1;
    f->req = req;
    f->over = entry_job (e)->state == JOB_INACTIVE;
    uv_fs_event_init (broker_loop (b), &f->changed);
    f->changed.data = f;
    if (!f->over) { /* else the entry could go before the stream */
        f->e = e;
        DL_APPEND (slot_of (e)->followers, f);
    }
    http_stream_begin (req, "text/plain", client_left, f);
    http_stream_on_drain (req, drained);
    step (f);
}

static void api_job_output (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    uint64_t id = 0;
    struct entry *e = api_entry (b, req, path, &id);

    if (e && entry_job (e)->array)
        http_reply_problem (
            req, 409, "wrong-state",
            strchr (path->arg, '_')
                ? "task %s has not started"
                : "job %s is an array: name one of its tasks, as in %s_%u",
            path->arg, path->arg, idset_first (entry_job (e)->array->spec.tasks));
    else if (e && entry_job (e)->adopted && api_require (b, req, path, e))
        http_reply_problem (req, 409, "wrong-state",
                            "job %ju is %s: its pods have no agent of fluxq; use kubectl "
                            "logs",
                            (uintmax_t)entry_id (e), entry_job (e)->adopted);
    else if (e && !entry_job (e)->adopted && api_require (b, req, path, e))
        follow_output (b, e, req);
    else if (!e && id)
        http_reply_problem (
            req, 404, "unknown-job",
            "job %ju is unknown, or ended so long ago that its output is no longer kept",
            (uintmax_t)id);
}

/* The spool may exist now, or has grown. */
static void output (struct broker *b, struct entry *e)
{
    struct follower *f, *next;

    (void)b;
    DL_FOREACH_SAFE (slot_of (e)->followers, f, next)
    {
        f->latest = entry_job (e)->restarts;
        step (f);
    }
}

/* The job is over, or leaves the table: followers get the rest of the output. */
static void over (struct broker *b, struct entry *e)
{
    struct slot *slot = slot_of (e);
    struct follower *f, *next;

    (void)b;
    DL_FOREACH_SAFE (slot->followers, f, next)
    {
        DL_DELETE (slot->followers, f);
        f->e = NULL;
        f->latest = entry_job (e)->restarts;
        f->over = true;
        step (f);
    }
}

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}/output", api_job_output, ROLE_OWNER, NULL },
    { 0 },
};

const struct broker_service service_follow = {
    .name = "follow",
    .place = &place,
    .slot_size = sizeof (struct slot),
    .output = output,
    .ended = over,
    .goes = over,
    .routes = routes,
};

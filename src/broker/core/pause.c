/* pause.c - see pause.h
 */
#include "broker/core/inside.h"
#include "broker/core/pause.h"
#include "broker/core/probe.h"
#include "broker/core/turn.h"
#include "broker/core/service.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <utlist.h>

#include "common/clock.h"

#define LOOK_MS 1000
#define BACKOFF_MIN_MS 250
#define BACKOFF_MAX_MS 5000
#define CALM_SECONDS 30.0 /* after which the back-off starts over */
#define RESERVE_PART 20   /* the reserve is at most 1/RESERVE_PART of the file system */

enum socket_state { SOCKET_THERE, SOCKET_GONE, SOCKET_OTHERS };

/* A look by a worker thread, and its findings. */
struct look {
    bool probe;       /* try what a start needs; else only check state and room */
    uint64_t reserve; /* bytes */
    int errnum;       /* 0: no shortage */
    bool low;         /* less room than the reserve */
    uint64_t room;    /* bytes available to users on the state directory's disk */
    enum socket_state socket;
};

struct examination {
    double since;
    void (*done) (bool is_ours, void *arg);
    void *arg;
    bool asked; /* the look under way is for it */
    struct examination *prev, *next;
};

struct pause {
    struct broker *b;
    uv_timer_t timer;
    uv_work_t work;
    struct look look;
    bool looking, released;
    struct stat state, socket; /* as of the start */
    char *socket_path, *jobs_dir, *state_dir;
    int errnum; /* why starts are paused; 0: they are not */
    bool low;
    enum socket_state socket_now;
    double since, ended; /* unix time */
    uint64_t backoff;    /* ms */
    struct examination *examinations;
    char text[600], low_text[600];
};

static bool is_of_disk (int errnum)
{
    return errnum == ENOSPC || errnum == EDQUOT || errnum == EIO || errnum == EROFS
           || errnum == ESTALE;
}

/* The text is for all users: it names no job. */
static void describe (const struct pause *p, int errnum, char *text, size_t size)
{
    static const struct {
        int errnum;
        const char *before, *after; /* the state directory; NULL: it is not named */
    } texts[] = {
        { ENOSPC, "no space is left on the disk of ", "" },
        { EDQUOT, "the disk quota of ", " is used up" },
        { EROFS, "", " is read-only" },
        { EMFILE, "the broker has no file descriptors left", NULL },
        { ENFILE, "the broker's machine has no file descriptors left", NULL },
        { ENOMEM, "the broker has no memory left", NULL },
        { EAGAIN, "the broker can start no more processes or threads", NULL },
        { ESTALE, "the state directory ", " or its journal was removed or replaced" },
    };

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        const char *after = texts[i].after;
        if (texts[i].errnum == errnum) {
            snprintf (text, size, "%s%s%s", texts[i].before, after ? p->state_dir : "",
                      after ? after : "");
            return;
        }
    }
    snprintf (text, size, "%s: %s", p->state_dir, strerror (errnum));
}

/* -- a look, on a worker thread -- */

static bool is_same (const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static enum socket_state look_at_socket (const struct pause *p)
{
    struct stat st;

    if (lstat (p->socket_path, &st) < 0)
        return errno == ENOENT ? SOCKET_GONE : SOCKET_THERE;
    return is_same (&st, &p->socket) ? SOCKET_THERE : SOCKET_OTHERS;
}

static void look_work (uv_work_t *w)
{
    struct pause *p = w->data;
    struct look *l = &p->look;
    struct statvfs fs;
    struct stat st;
    int rc = stat (p->state_dir, &st);

    l->errnum = 0;
    l->low = false;
    l->socket = look_at_socket (p);
    if ((rc < 0 && (errno == ENOENT || errno == ENOTDIR))
        || (rc == 0 && !is_same (&st, &p->state))) {
        l->errnum = ESTALE;
        return;
    }
    if (l->probe)
        l->errnum = probe_start (p->state_dir, p->jobs_dir);
    if (statvfs (p->state_dir, &fs) < 0 || fs.f_blocks == 0)
        return;
    uint64_t least = MIN (l->reserve, fs.f_blocks * fs.f_frsize / RESERVE_PART);
    l->room = fs.f_bavail * fs.f_frsize;
    l->low = l->reserve > 0
             && (l->room < least || (fs.f_files > 0 && fs.f_favail < PROBE_INODES));
}

/* -- consequences of a look -- */

static void look_due (uv_timer_t *t);

static void schedule (struct pause *p)
{
    if (!p->released)
        uv_timer_start (&p->timer, look_due, p->errnum ? p->backoff : LOOK_MS, 0);
}

static void start_pause (struct pause *p, int errnum)
{
    bool first = p->errnum == 0;
    double now = clock_wall ();

    if (p->errnum == errnum)
        return;
    p->errnum = errnum;
    describe (p, errnum, p->text, sizeof (p->text));
    if (!first)
        return;
    p->since = now;
    p->backoff = now - p->ended < CALM_SECONDS && p->backoff > 0
                     ? MIN (2 * p->backoff, BACKOFF_MAX_MS)
                     : BACKOFF_MIN_MS;
    log_error ("%s: starts wait until this is over", p->text);
    if (!p->looking)
        schedule (p);
}

static void end_pause (struct pause *p)
{
    struct broker *b = p->b;

    if (p->errnum == 0)
        return;
    p->errnum = 0;
    p->ended = clock_wall ();
    log_info ("starts resume after %.1f s", p->ended - p->since);
    broker_plan_due (b);
    broker_starts_due (b);
}

static void note_room (struct pause *p)
{
    if (p->look.low && !p->low) {
        snprintf (p->low_text, sizeof (p->low_text),
                  "the disk of %s is nearly full: the remaining %ju KiB are kept for "
                  "accepted jobs (disk-reserve)",
                  p->state_dir, (uintmax_t)(p->look.room >> 10));
        log_warning ("%s: submits are refused", p->low_text);
    } else if (!p->look.low && p->low) {
        log_info ("there is room on the disk of %s again", p->state_dir);
    }
    p->low = p->look.low;
}

/* If another broker has taken the path, it keeps it: running jobs go on, and TCP, if
 * configured, is served. */
static void note_socket (struct pause *p)
{
    struct error err = { 0 };
    enum socket_state before = p->socket_now;

    p->socket_now = p->look.socket;
    if (p->socket_now == SOCKET_OTHERS && before != SOCKET_OTHERS)
        log_error ("%s is no longer this broker's socket: another program has taken the "
                   "path; clients do not reach this broker until that socket is removed",
                   p->socket_path);
    if (p->socket_now != SOCKET_GONE)
        return;
    if (http_server_listen_unix (p->b->http, p->socket_path,
                                 broker_serves_all (p->b) ? 0666 : 0600, &err)
            < 0
        || lstat (p->socket_path, &p->socket) < 0) {
        if (before != SOCKET_GONE)
            log_error ("the socket %s was removed and cannot be made again: %s",
                       p->socket_path, err.text);
        return;
    }
    p->socket_now = SOCKET_THERE;
    log_warning ("the socket %s was removed and is made again", p->socket_path);
}

static void answer_examinations (struct pause *p)
{
    struct examination *x, *next;

    DL_FOREACH_SAFE (p->examinations, x, next)
    {
        if (!x->asked && !p->b->dead)
            continue;
        DL_DELETE (p->examinations, x);
        x->done (p->errnum != 0 || p->ended >= x->since, x->arg);
        free (x);
    }
}

static void freed (uv_handle_t *h)
{
    struct pause *p = h->data;

    answer_examinations (p);
    free (p->socket_path);
    free (p);
}

/* Errors of the database itself count as I/O errors. */
static int journal_errno (struct broker *b)
{
    int errnum = error_shortage (journal_trouble_errno (b->journal));

    return errnum ? errnum : EIO;
}

static void look_done (uv_work_t *w, int status)
{
    struct pause *p = w->data;
    struct broker *b = p->b;

    p->looking = false;
    if (p->released) {
        uv_close ((uv_handle_t *)&p->timer, freed);
        return;
    }
    if (status == 0) {
        note_room (p);
        note_socket (p);
        if (p->look.errnum)
            start_pause (p, p->look.errnum);
        else if (journal_trouble (b->journal))
            start_pause (p, journal_errno (b));
        else if (p->look.probe)
            end_pause (p);
        answer_examinations (p);
    }
    if (p->errnum)
        p->backoff = MIN (2 * p->backoff, BACKOFF_MAX_MS);
    schedule (p);
}

static void look_due (uv_timer_t *t)
{
    struct pause *p = t->data;
    struct examination *x;

    if (p->looking)
        return;
    p->looking = true;
    DL_FOREACH (p->examinations, x)
        x->asked = true;
    p->look = (struct look){ .probe = p->errnum != 0 || p->examinations,
                             .reserve = broker_config (p->b)->disk_reserve };
    p->work.data = p;
    if (uv_queue_work (p->b->loop, &p->work, look_work, look_done) < 0) {
        p->looking = false;
        schedule (p);
    }
}

/* -- for others -- */

struct state {
    struct pause *pause; /* a look under way may outlive the broker */
};

static struct service_place place;
SERVICE_STATE_OF (struct state)

void pause_note (struct broker *b, const char *what, int errnum)
{
    struct pause *p = state_of (b)->pause;

    if (!p)
        return;
    if (p->errnum == 0)
        log_warning ("%s", what);
    start_pause (p, errnum);
}

const char *pause_reason (const struct broker *b)
{
    const struct pause *p = state_of (b)->pause;

    return p && p->errnum ? p->text : NULL;
}

const char *pause_refusal (const struct broker *b)
{
    const struct pause *p = state_of (b)->pause;

    if (p && p->errnum && is_of_disk (p->errnum))
        return p->text;
    return p && p->low ? p->low_text : NULL;
}

json_t *pause_json (const struct broker *b)
{
    const struct pause *p = state_of (b)->pause;
    const char *socket =
        p && p->socket_now == SOCKET_OTHERS ? "another program has taken its path"
        : p && p->socket_now == SOCKET_GONE ? "it was removed and cannot be made again"
                                            : NULL;

    if (!p || (!p->errnum && !pause_refusal (b) && !socket))
        return NULL;
    return json_pack ("{s:o s:s? s:s? s:s?}", "since",
                      p->errnum ? json_real (p->since) : json_null (), "starts",
                      pause_reason (b), "submits", pause_refusal (b), "socket", socket);
}

int pause_examine (struct broker *b, double since, void (*done) (bool is_ours, void *arg),
                   void *arg)
{
    struct pause *p = state_of (b)->pause;
    struct examination *x = p && !p->released ? calloc (1, sizeof (*x)) : NULL;

    if (!x)
        return -ENOMEM;
    x->since = since;
    x->done = done;
    x->arg = arg;
    DL_APPEND (p->examinations, x);
    if (!p->looking)
        uv_timer_start (&p->timer, look_due, 0, 0);
    return 0;
}

/* -- begin and end -- */

static int init (struct broker *b, struct error *err)
{
    struct pause *p = calloc (1, sizeof (*p));

    if (!p || !(p->socket_path = strdup (b->socket_path))) {
        free (p);
        return error_set (err, ENOMEM, "out of memory");
    }
    p->b = b;
    p->state_dir = broker_config (b)->state_dir; /* a reload keeps the string */
    p->jobs_dir = b->jobs_dir;
    uv_timer_init (b->loop, &p->timer);
    p->timer.data = p;
    state_of (b)->pause = p;
    return stat (p->state_dir, &p->state) < 0
               ? error_errno (err, errno, "%s", p->state_dir)
               : 0;
}

static int begin (struct broker *b, struct error *err)
{
    struct pause *p = state_of (b)->pause;

    (void)err;
    if (lstat (p->socket_path, &p->socket) < 0)
        log_warning ("%s: %s", p->socket_path, strerror (errno));
    schedule (p);
    return 0;
}

static void close_pause (struct broker *b)
{
    struct pause *p = state_of (b)->pause;

    if (!p || p->released)
        return;
    p->released = true;
    state_of (b)->pause = NULL;
    uv_timer_stop (&p->timer);
    if (!p->looking)
        uv_close ((uv_handle_t *)&p->timer, freed);
}

const struct broker_service service_pause = {
    .name = "pause",
    .place = &place,
    .state_size = sizeof (struct state),
    .init = init,
    .begin = begin,
    .close = close_pause,
};

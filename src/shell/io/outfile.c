/* outfile.c - writes the user's output files on rank 0 */
#include "shell/io/outfile.h"

#include <sys/epoll.h>
#include <sys/stat.h>

#include "common/userfile.h"
#include "shell/io/wire.h"

#define NAME_MAX_BYTES 4096
#define FULL_AGAIN 0.5 /* seconds between attempts to write to a full file system */

struct outfile {
    struct loop_io io; /* watched only while output waits */
    struct outfiles *files;
    char *path;
    bool failed;
    bool full; /* its file system has no room for the waiting output */
    struct outbuf waiting;
};

/* The files of one stream, by unit (task, rank or 0). */
struct outset {
    const char *pattern;
    bool per_task;
    bool per_node;
    struct outfile **v;
    size_t n;
    bool shared; /* v belongs to the other stream */
};

struct outfiles {
    const struct launch *launch;
    struct loop *loop;
    void (*on_room) (void *ctx);
    void *ctx;
    struct outset sets[2];
    uint32_t *rank_of; /* task to rank */
    uint32_t ntasks;
    uint32_t nblocked;
    uint32_t nfull; /* of nblocked, files without room */
    struct loop_timer timer; /* retries the files without room */
    uint64_t lost;  /* bytes lost in files without room */
    char lost_text[256]; /* reason for the first of these files */
};

static size_t unit_of (const struct outfiles *files, const struct outset *set,
                       uint32_t task)
{
    return set->per_task ? task : set->per_node ? files->rank_of[task] : 0;
}

static bool is_full (int errnum)
{
    return errnum == ENOSPC || errnum == EDQUOT;
}

static void note_lost (struct outfile *file, size_t len, int errnum)
{
    struct outfiles *files = file->files;
    files->lost += len;
    if (!files->lost_text[0])
        snprintf (files->lost_text, sizeof (files->lost_text), "cannot write %.150s: %s",
                  file->path, strerror (errnum));
}

static void stop_waiting (struct outfile *file)
{
    struct outfiles *files = file->files;
    outbuf_release (&file->waiting);
    loop_watch (files->loop, &file->io, 0);
    files->nblocked--;
    files->nfull -= file->full;
    file->full = false;
    files->on_room (files->ctx);
}

static void write_waiting (struct outfile *file)
{
    while (file->waiting.len > 0) {
        ssize_t n = write (file->io.fd, file->waiting.data + file->waiting.off,
                           file->waiting.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || (file->full && is_full (errno))))
            return;
        if (n < 0) {
            if (file->full)
                note_lost (file, file->waiting.len, errno);
            file->failed = true; /* the reader of a FIFO is gone: drop the rest */
            break;
        }
        file->waiting.off += (size_t)n;
        file->waiting.len -= (size_t)n;
    }
    stop_waiting (file);
}

static void on_writable (struct loop_io *io, uint32_t events)
{
    (void)events;
    write_waiting (CONTAINER_OF (io, struct outfile, io));
}

static void for_each_full (struct outfiles *files, void (*fn) (struct outfile *file))
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; files->sets[s].v && i < files->sets[s].n; i++)
            if (files->sets[s].v[i] && files->sets[s].v[i]->full)
                fn (files->sets[s].v[i]);
}

static void on_timer (struct loop_timer *timer)
{
    struct outfiles *files = CONTAINER_OF (timer, struct outfiles, timer);
    for_each_full (files, write_waiting);
    if (files->nfull > 0)
        loop_timer_set (files->loop, timer, loop_now () + FULL_AGAIN);
}

static void give_up (struct outfile *file)
{
    note_lost (file, file->waiting.len, ENOSPC);
    file->failed = true;
    stop_waiting (file);
}

void outfiles_give_up (struct outfiles *files)
{
    for_each_full (files, give_up);
}

uint64_t outfiles_lost (const struct outfiles *files, const char **ret_why)
{
    *ret_why = files->lost_text;
    return files->lost;
}

bool outfiles_full (const struct outfiles *files)
{
    return files->nfull > 0;
}

static struct outfile *open_one (struct outfiles *files, const char *path,
                                 struct error *err)
{
    const struct launch *l = files->launch;
    struct outfile *file = calloc (1, sizeof (*file));
    if (!file || !(file->path = strdup (path))) {
        free (file);
        return error_null (error_no_memory (err, NULL));
    }
    file->files = files;
    file->io.ready = on_writable;
    file->io.fd = userfile_open (l->cwd ? l->cwd : "/", path,
                                 l->append ? USERFILE_APPEND : USERFILE_TRUNCATE, err);
    if (file->io.fd < 0) {
        error_prefix (err, "output file");
        free (file->path);
        free (file);
        return NULL;
    }
    return file;
}

static int expand (const struct outfiles *files, const struct outset *set, uint32_t task,
                   struct strbuf *sb, struct error *err)
{
    struct pattern_vars vars =
        launch_pattern_vars (files->launch, files->rank_of[task], task);
    strbuf_reset (sb);
    int rc = pattern_expand (set->pattern, &vars, sb, err);
    return rc < 0 ? error_prefix (err, "output file") : 0;
}

/* Opens the files of one stream. If standard error has the same file name as standard
 * output of the task, both share the file: truncating it twice would lose output. */
static int open_set (struct outfiles *files, int stream, struct error *err)
{
    struct outset *set = &files->sets[stream];
    const struct outset *other = &files->sets[0];
    struct strbuf path = STRBUF_INIT (NAME_MAX_BYTES);
    struct strbuf theirs = STRBUF_INIT (NAME_MAX_BYTES);
    int rc = 0;
    set->per_task = pattern_is_per_task (set->pattern);
    set->per_node = !set->per_task && pattern_is_per_node (set->pattern);
    set->n = set->per_task ? files->ntasks : set->per_node ? files->launch->nnodes : 1;
    set->v = calloc (set->n, sizeof (*set->v));
    if (!set->v)
        return error_no_memory (err, NULL);
    for (uint32_t task = 0; task < files->ntasks && rc == 0; task++) {
        size_t unit = unit_of (files, set, task);
        if (set->v[unit])
            continue;
        rc = expand (files, set, task, &path, err);
        if (rc == 0 && stream == 1 && other->v)
            rc = expand (files, other, task, &theirs, err);
        if (rc < 0)
            break;
        if (stream == 1 && other->v && strcmp (path.buf, theirs.buf) == 0)
            set->v[unit] = other->v[unit_of (files, other, task)];
        else
            set->v[unit] = open_one (files, path.buf, err);
        if (!set->v[unit])
            rc = -EIO;
    }
    strbuf_release (&path);
    strbuf_release (&theirs);
    return rc;
}

static int map_tasks (struct outfiles *files)
{
    const struct launch *l = files->launch;
    files->ntasks = l->batch ? 1 : launch_ntasks (l);
    files->rank_of = calloc (MAX (files->ntasks, 1u), sizeof (uint32_t));
    if (!files->rank_of)
        return -ENOMEM;
    if (l->batch)
        return 0;
    uint32_t task = 0;
    for (uint32_t rank = 0; rank < l->nnodes; rank++)
        for (uint32_t i = 0; i < launch_rank_tasks (l, rank); i++)
            files->rank_of[task++] = rank;
    return 0;
}

struct outfiles *outfiles_open (const struct launch *launch, struct loop *loop,
                                void (*on_room) (void *ctx), void *ctx, struct error *err)
{
    struct outfiles *files = calloc (1, sizeof (*files));
    if (!files)
        return error_null (error_no_memory (err, NULL));
    *files = (struct outfiles){
        .launch = launch, .loop = loop, .on_room = on_room, .ctx = ctx,
        .timer.fire = on_timer
    };
    int rc = map_tasks (files);
    if (rc < 0)
        error_no_memory (err, NULL);
    files->sets[0].pattern = launch->output && *launch->output ? launch->output : NULL;
    files->sets[1].pattern = launch->error && *launch->error ? launch->error : NULL;
    for (int s = 0; s < 2 && rc == 0; s++)
        if (files->sets[s].pattern)
            rc = open_set (files, s, err);
    if (rc < 0) {
        outfiles_close (files);
        return NULL;
    }
    if (!launch->error) {
        files->sets[1] = files->sets[0];
        files->sets[1].shared = true;
    }
    return files;
}

static void close_one (struct outfile *file)
{
    loop_watch (file->files->loop, &file->io, 0);
    close (file->io.fd);
    outbuf_release (&file->waiting);
    free (file->path);
    free (file);
}

void outfiles_close (struct outfiles *files)
{
    if (!files)
        return;
    loop_timer_clear (files->loop, &files->timer);
    struct outset *out = &files->sets[0], *errs = &files->sets[1];
    for (uint32_t task = 0; errs->v && !errs->shared && task < files->ntasks; task++) {
        struct outfile **file = &errs->v[unit_of (files, errs, task)];
        if (*file && !(out->v && *file == out->v[unit_of (files, out, task)]))
            close_one (*file);
        *file = NULL;
    }
    for (size_t i = 0; out->v && i < out->n; i++)
        if (out->v[i])
            close_one (out->v[i]);
    if (!errs->shared)
        free (errs->v);
    free (out->v);
    free (files->rank_of);
    free (files);
}

/* Keeps output that a FIFO, a terminal or a full file system does not take now. */
static void wait_with (struct outfile *file, const char *data, size_t len, bool full)
{
    struct outfiles *files = file->files;
    bool waits = file->waiting.len > 0;
    outbuf_add (&file->waiting, data, len);
    if (waits)
        return;
    files->nblocked++;
    if (!full) {
        loop_watch (files->loop, &file->io, EPOLLOUT);
        return;
    }
    file->full = true;
    files->nfull++;
    loop_timer_set (files->loop, &files->timer, loop_now () + FULL_AGAIN);
}

/* 0, or a negative errno: the rest of the output is lost. */
static int write_one (struct outfile *file, const char *data, size_t len)
{
    enum launch_on_full on_full = (enum launch_on_full)file->files->launch->on_full;
    bool full = false;
    while (len > 0 && file->waiting.len == 0) {
        ssize_t n = write (file->io.fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0 && is_full (errno) && on_full == LAUNCH_FULL_WAIT) {
            full = true;
            break;
        }
        if (n < 0) {
            int errnum = errno;
            note_lost (file, len, errnum);
            return is_full (errnum) && on_full == LAUNCH_FULL_DROP ? 0 : -errnum;
        }
        data += n;
        len -= (size_t)n;
    }
    if (len > 0)
        wait_with (file, data, len, full);
    return 0;
}

int outfiles_write (struct outfiles *files, uint32_t task, int stream, const char *data,
                    size_t len, struct error *err)
{
    const struct outset *set = &files->sets[stream == 2];
    if (!set->v || task >= files->ntasks)
        return 0;
    struct outfile *file = set->v[unit_of (files, set, task)];
    if (file->failed) {
        files->lost += files->lost_text[0] ? len : 0;
        return 0;
    }
    int rc = write_one (file, data, len);
    if (rc < 0) {
        file->failed = true;
        return error_errno (err, -rc, "cannot write %s", file->path);
    }
    return 0;
}

bool outfiles_blocked (const struct outfiles *files)
{
    return files->nblocked > 0;
}

/* outputfiles.c - see outputfiles.h */
#include "exec/kube/files/outputfiles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/io.h"
#include "common/userfile.h"

#define OPEN_MAX_FILES 16
#define PATH_TEXT_MAX 4096

struct file {
    char *path;
    int fd;       /* -1: closed for now */
    int64_t size; /* when last synced or closed; -1: not a regular file */
    bool failed, dirty;
    UT_hash_handle hh;
};

struct set { /* the files of one stream */
    const char *pattern;
    bool per_task, per_node;
    struct file **v; /* by task, rank or 0 */
    size_t n;
};

/* A FIFO or a terminal takes as much as its reader lets it, and a worker waits for it,
 * one of a few that serve all jobs. It waits so long in total, plus a tenth of the time
 * that passes. */
#define PATIENCE_MS 5000
#define PATIENCE_SHARE 0.1

struct outputfiles {
    const struct launch *launch;
    double patience; /* ms */
    double counted;  /* last update, by clock_mono() */
    struct set sets[2];
    struct file *files;
    uint32_t ntasks;
    uint32_t *rank_of; /* task to rank */
    struct file *open[OPEN_MAX_FILES];
    unsigned next_open;
};

/* -- names -- */

static size_t unit_of (const struct outputfiles *f, const struct set *set, uint32_t task)
{
    return set->per_task ? task : set->per_node ? f->rank_of[task] : 0;
}

static int map_tasks (struct outputfiles *f)
{
    const struct launch *l = f->launch;
    uint32_t task = 0;

    f->ntasks = l->batch ? 1 : launch_ntasks (l);
    f->rank_of = calloc (f->ntasks ? f->ntasks : 1, sizeof (f->rank_of[0]));
    if (!f->rank_of)
        return -ENOMEM;
    for (uint32_t rank = 0; !l->batch && rank < l->nnodes; rank++)
        for (uint32_t i = 0; i < l->nodes[rank].ntasks; i++)
            f->rank_of[task++] = rank;
    return 0;
}

static struct file *get_file (struct outputfiles *f, const char *path, struct error *err)
{
    struct file *file;

    HASH_FIND_STR (f->files, path, file);
    if (file)
        return file;
    if (HASH_COUNT (f->files) >= OUTPUTFILES_MAX)
        return error_null (error_set (
            err, E2BIG, "output: more than %d files for one job", OUTPUTFILES_MAX));
    file = calloc (1, sizeof (*file));
    if (!file || !(file->path = strdup (path))) {
        free (file);
        return error_null (error_set (err, ENOMEM, "out of memory"));
    }
    file->fd = -1;
    HASH_ADD_KEYPTR (hh, f->files, file->path, strlen (file->path), file);
    return file;
}

static int name_set (struct outputfiles *f, struct set *set, struct error *err)
{
    const struct launch *l = f->launch;
    autostrbuf struct strbuf path = STRBUF_INIT (PATH_TEXT_MAX);
    int rc = 0;

    set->per_task = pattern_is_per_task (set->pattern);
    set->per_node = !set->per_task && pattern_is_per_node (set->pattern);
    set->n = set->per_task ? f->ntasks : set->per_node ? l->nnodes : 1;
    set->v = calloc (set->n ? set->n : 1, sizeof (set->v[0]));
    if (!set->v)
        return error_set (err, ENOMEM, "out of memory");
    for (uint32_t task = 0; task < f->ntasks && rc == 0; task++) {
        struct pattern_vars vars = launch_pattern_vars (l, f->rank_of[task], task);
        size_t unit = unit_of (f, set, task);

        if (set->v[unit])
            continue;
        strbuf_reset (&path);
        rc = pattern_expand (set->pattern, &vars, &path, err);
        if (rc < 0)
            return error_prefix (err, "output file");
        set->v[unit] = get_file (f, path.buf, err);
        rc = set->v[unit] ? 0 : -EIO;
    }
    return rc;
}

struct outputfiles *outputfiles_create (const struct launch *launch, const char *output,
                                        const char *error, struct error *err)
{
    struct outputfiles *f = calloc (1, sizeof (*f));

    if (!f)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    f->launch = launch;
    f->patience = PATIENCE_MS;
    f->counted = clock_mono ();
    f->sets[0].pattern = output && output[0] ? output : NULL;
    f->sets[1].pattern = error && error[0] ? error : error ? NULL : f->sets[0].pattern;
    int rc = map_tasks (f);
    for (int i = 0; i < 2 && rc == 0; i++)
        if (f->sets[i].pattern)
            rc = name_set (f, &f->sets[i], err);
    if (rc == 0)
        return f;
    outputfiles_destroy (f);
    return NULL;
}

void outputfiles_destroy (struct outputfiles *f)
{
    struct file *file, *tmp;

    if (!f)
        return;
    HASH_ITER (hh, f->files, file, tmp) {
        HASH_DEL (f->files, file);
        if (file->fd >= 0)
            close (file->fd);
        free (file->path);
        free (file);
    }
    free (f->sets[0].v);
    free (f->sets[1].v);
    free (f->rank_of);
    free (f);
}

/* -- descriptors: at most OPEN_MAX_FILES at a time -- */

static void sync_file (struct file *file)
{
    struct stat st;

    if (file->dirty)
        fsync (file->fd); /* an error here is final, and the next write reports it */
    file->dirty = false;
    file->size = fstat (file->fd, &st) == 0 && S_ISREG (st.st_mode) ? st.st_size : -1;
}

static void close_file (struct file *file)
{
    sync_file (file);
    close (file->fd);
    file->fd = -1;
}

static int open_file (struct outputfiles *f, struct file *file, enum userfile_mode mode,
                      struct error *err)
{
    struct file **slot = &f->open[f->next_open++ % OPEN_MAX_FILES];

    if (*slot && (*slot)->fd >= 0)
        close_file (*slot);
    *slot = NULL;
    file->fd = userfile_open (f->launch->cwd, file->path, mode, err);
    if (file->fd < 0)
        return error_prefix (err, "output file");
    *slot = file;
    return 0;
}

int outputfiles_begin (struct outputfiles *f, struct error *err)
{
    const enum userfile_mode mode =
        f->launch->append ? USERFILE_APPEND : USERFILE_TRUNCATE;
    struct file *file, *tmp;
    int rc = 0;

    HASH_ITER (hh, f->files, file, tmp) {
        if (rc == 0)
            rc = open_file (f, file, mode, err);
    }
    return rc;
}

int outputfiles_restore (struct outputfiles *f, json_t *sizes, struct error *err)
{
    struct file *file, *tmp;
    struct stat st;

    HASH_ITER (hh, f->files, file, tmp) {
        json_t *size = json_object_get (sizes, file->path);
        int rc = open_file (f, file, USERFILE_APPEND, err);

        if (rc < 0)
            return rc;
        if (fstat (file->fd, &st) == 0 && S_ISREG (st.st_mode) && json_is_integer (size)
            && st.st_size > json_integer_value (size)
            && ftruncate (file->fd, (off_t)json_integer_value (size)) < 0)
            return error_errno (err, errno, "output file: %s", file->path);
    }
    return 0;
}

/* -- writing -- */

static struct file *file_of (struct outputfiles *f, const struct frame *frame)
{
    const struct set *set = &f->sets[frame->stream == 2];
    uint32_t task = f->launch->batch ? 0 : frame->task;

    return set->v && task < f->ntasks ? set->v[unit_of (f, set, task)] : NULL;
}

static int write_file (struct outputfiles *f, struct file *file,
                       const struct frame *frame, struct error *err)
{
    double now = clock_mono ();
    double patience = f->patience + (now - f->counted) * 1000.0 * PATIENCE_SHARE;
    int ms = (int)MIN (patience, (double)PATIENCE_MS), rc;

    rc = io_write_within (file->fd, frame->data, frame->len, &ms);
    f->patience = ms;
    f->counted = clock_mono ();
    if (rc == -ETIMEDOUT)
        return error_set (err, ETIMEDOUT, "output file: %s: its reader does not keep up",
                          file->path);
    return rc < 0 ? error_errno (err, -rc, "output file: %s", file->path) : 0;
}

int outputfiles_write (struct outputfiles *f, const struct frame *frame,
                       struct error *err)
{
    struct file *file = file_of (f, frame);
    int rc = 0;

    if (!file || file->failed)
        return 0;
    if (file->fd < 0)
        rc = open_file (f, file, USERFILE_APPEND, err);
    if (rc == 0)
        rc = write_file (f, file, frame, err);
    file->dirty = rc == 0;
    file->failed = rc < 0;
    return rc;
}

json_t *outputfiles_sync (struct outputfiles *f)
{
    json_t *sizes = json_object ();
    struct file *file, *tmp;

    HASH_ITER (hh, f->files, file, tmp) {
        if (file->fd >= 0)
            sync_file (file);
        if (file->size >= 0)
            json_object_set_new (sizes, file->path, json_integer (file->size));
    }
    return sizes;
}

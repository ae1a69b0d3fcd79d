/* stagefiles.c - see stagefiles.h */
#include "exec/kube/files/stagefiles.h"

#include <sys/stat.h>
#include <uthash.h>

#include "common/io.h"
#include "common/userfile.h"

#define OPEN_MAX_FILES 16
#define PATH_TEXT_MAX 4096
#define KEY_MAX 32

struct file {
    char key[KEY_MAX]; /* "ENTRY.RANK" */
    char *path;
    int fd;       /* -1: closed for now */
    int64_t size; /* when last synced or closed */
    bool failed, dirty;
    UT_hash_handle hh;
};

struct stagefiles {
    const struct launch *launch;
    struct file *files; /* files that were begun */
    struct file *open[OPEN_MAX_FILES];
    unsigned next_open;
};

struct stagefiles *stagefiles_create (const struct launch *launch)
{
    struct stagefiles *f = calloc (1, sizeof (*f));

    if (f)
        f->launch = launch;
    return f;
}

void stagefiles_destroy (struct stagefiles *f)
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
    free (f);
}

/* -- which file -- */

/* NULL: no such file is expected. */
static const struct launch_stage *entry_of (const struct stagefiles *f, size_t entry,
                                            uint32_t rank)
{
    const struct launch *l = f->launch;
    const struct launch_stage *s = entry < l->nstage_out ? &l->stage_out[entry] : NULL;

    if (!s || !s->send || rank >= l->nnodes
        || (s->rank != LAUNCH_ALL_RANKS && s->rank != rank))
        return NULL;
    return s;
}

/* Returns the name of the file on the broker's machine; the caller frees it. */
static char *path_of (const struct stagefiles *f, const struct launch_stage *s,
                      uint32_t rank, struct error *err)
{
    const struct pattern_vars vars =
        launch_pattern_vars (f->launch, rank, launch_first_task (f->launch, rank));
    autostrbuf struct strbuf path = STRBUF_INIT (PATH_TEXT_MAX);

    if (pattern_expand (s->to, &vars, &path, err) < 0)
        return error_null (error_prefix (err, "stage-out"));
    char *text = strbuf_detach (&path);
    if (!text)
        error_set (err, ENOMEM, "stage-out: out of memory");
    return text;
}

static struct file *find (struct stagefiles *f, size_t entry, uint32_t rank)
{
    struct file *file;
    char key[KEY_MAX];

    snprintf (key, sizeof (key), "%zu.%u", entry, rank);
    HASH_FIND_STR (f->files, key, file);
    return file;
}

static struct file *add (struct stagefiles *f, size_t entry, uint32_t rank,
                         struct error *err)
{
    struct file *file = calloc (1, sizeof (*file));

    if (!file)
        return error_null (error_set (err, ENOMEM, "stage-out: out of memory"));
    file->path = path_of (f, &f->launch->stage_out[entry], rank, err);
    if (!file->path) {
        free (file);
        return NULL;
    }
    file->fd = -1;
    snprintf (file->key, sizeof (file->key), "%zu.%u", entry, rank);
    HASH_ADD_STR (f->files, key, file);
    return file;
}

/* -- descriptors: at most OPEN_MAX_FILES at a time -- */

static int sync_file (struct file *file)
{
    struct stat st;
    int rc = file->dirty && fsync (file->fd) < 0 ? -errno : 0;

    file->dirty = false;
    if (fstat (file->fd, &st) == 0)
        file->size = st.st_size;
    return rc;
}

static void close_file (struct file *file)
{
    sync_file (file); /* an error here comes again with the next piece */
    close (file->fd);
    file->fd = -1;
}

static int open_file (struct stagefiles *f, struct file *file, enum userfile_mode mode,
                      struct error *err)
{
    struct file **slot = &f->open[f->next_open++ % OPEN_MAX_FILES];
    struct stat st;

    if (*slot && (*slot)->fd >= 0)
        close_file (*slot);
    *slot = NULL;
    file->fd = userfile_open (f->launch->cwd, file->path, mode, err);
    if (file->fd < 0)
        return error_prefix (err, "stage-out");
    *slot = file;
    if (fstat (file->fd, &st) == 0 && S_ISREG (st.st_mode))
        return 0;
    return error_set (err, EINVAL, "stage-out: %s is not a regular file", file->path);
}

/* -- the verbs -- */

int stagefiles_check (struct stagefiles *f, struct error *err)
{
    const struct launch *l = f->launch;

    for (size_t i = 0; i < l->nstage_out; i++) {
        for (uint32_t rank = 0; rank < l->nnodes; rank++) {
            const struct launch_stage *s = entry_of (f, i, rank);

            if (!s)
                continue;
            autofree char *path = path_of (f, s, rank, err);
            if (!path)
                return -err->code;
            if (userfile_check (l->cwd, path, err) < 0)
                return error_prefix (err, "stage-out");
        }
    }
    return 0;
}

/* Cuts the file back to its size at the checkpoint. */
static int restore_one (struct stagefiles *f, struct file *file, int64_t size,
                        struct error *err)
{
    struct stat st;
    int rc = open_file (f, file, USERFILE_APPEND, err);

    if (rc < 0)
        return rc;
    file->size = size;
    if (fstat (file->fd, &st) == 0 && st.st_size > size
        && ftruncate (file->fd, (off_t)size) < 0)
        return error_errno (err, errno, "stage-out: %s", file->path);
    return 0;
}

int stagefiles_restore (struct stagefiles *f, json_t *sizes, struct error *err)
{
    const char *key;
    json_t *size;
    int first = 0;

    json_object_foreach (sizes, key, size) {
        struct error why = { 0 };
        size_t entry;
        uint32_t rank;

        if (sscanf (key, "%zu.%u", &entry, &rank) != 2 || !json_is_integer (size)
            || !entry_of (f, entry, rank) || find (f, entry, rank))
            continue;
        struct file *file = add (f, entry, rank, &why);
        int rc =
            file ? restore_one (f, file, json_integer_value (size), &why) : -why.code;
        if (file)
            file->failed = rc < 0;
        if (rc < 0 && first == 0) {
            first = rc;
            *err = why;
        }
    }
    return first;
}

/* The first frame of a file begins it, also for the second time. */
static int begin (struct stagefiles *f, const struct frame *frame, struct file **ret,
                  struct error *err)
{
    struct file *file = find (f, frame->stream, frame->rank);

    if (!file)
        file = add (f, frame->stream, frame->rank, err);
    if (!file)
        return -err->code;
    if (file->fd >= 0)
        close_file (file);
    file->failed = false;
    *ret = file;
    int rc = open_file (f, file, USERFILE_TRUNCATE, err);
    if (rc == 0)
        userfile_chmod (file->fd, frame->task & 0777); /* fails on another user's file */
    return rc;
}

int stagefiles_write (struct stagefiles *f, const struct frame *frame, struct error *err)
{
    struct file *file = find (f, frame->stream, frame->rank);
    int rc = 0;

    if (!entry_of (f, frame->stream, frame->rank))
        return 0;
    if (frame->task & FRAME_FILE_FIRST)
        rc = begin (f, frame, &file, err);
    else if (!file || file->failed)
        return 0;
    else if (file->fd < 0)
        rc = open_file (f, file, USERFILE_APPEND, err);
    if (rc == 0 && (rc = io_write_all (file->fd, frame->data, frame->len)) < 0)
        error_errno (err, -rc, "stage-out: %s", file->path);
    if (file) {
        file->dirty = rc == 0;
        file->failed = rc < 0;
    }
    return rc;
}

json_t *stagefiles_sync (struct stagefiles *f)
{
    json_t *sizes = json_object ();
    struct file *file, *tmp;

    HASH_ITER (hh, f->files, file, tmp) {
        if (file->fd >= 0)
            sync_file (file);
        if (!file->failed) /* a file given up does not continue after a restart */
            json_object_set_new (sizes, file->key, json_integer (file->size));
    }
    return sizes;
}

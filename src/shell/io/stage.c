/* stage.c - copies staged files to the job and back on one rank */
#include "shell/io/stage.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/userfile.h"

#define NAME_MAX_BYTES 4096
#define TURN_MAX (1024 * 1024) /* bytes copied in one turn of the loop */

struct stage {
    struct loop *loop;
    const struct launch *launch;
    uint32_t rank;
    const struct stage_events *events;
    void *ctx;
    int cwd_fd; /* -1: none */
    const char *cwd;
    struct loop_timer timer; /* armed while there is something to do */
    bool out;
    bool waiting; /* for room */
    size_t next;  /* next index in the list */
    /* The current file; fds -1: none. */
    int from, to, dir;
    char *from_name, *to_name;
    char temporary[64]; /* in dir */
    uint32_t mode;
    uint64_t left; /* bytes left of the length that it had when it was opened */
    bool first;    /* no part of it was sent */
    char buf[FRAME_DATA_MAX];
};

static bool is_for (const struct launch_stage *s, uint32_t rank)
{
    return s->rank == LAUNCH_ALL_RANKS || s->rank == rank;
}

static bool has_any (const struct launch_stage *list, size_t n, uint32_t rank)
{
    for (size_t i = 0; i < n; i++)
        if (is_for (&list[i], rank))
            return true;
    return false;
}

bool stage_has_in (const struct launch *l, uint32_t rank)
{
    return has_any (l->stage_in, l->nstage_in, rank);
}

bool stage_has_out (const struct launch *l, uint32_t rank)
{
    return has_any (l->stage_out, l->nstage_out, rank);
}

static const char *option_name (const struct stage *stage)
{
    return stage->out ? "stage-out" : "stage-in";
}

/* Expands the pattern of a file name for this rank; the caller frees the result. */
static char *expand (const struct stage *stage, const char *pattern, struct error *err)
{
    const struct pattern_vars vars = launch_pattern_vars (
        stage->launch, stage->rank, launch_first_task (stage->launch, stage->rank));
    struct strbuf sb = STRBUF_INIT (NAME_MAX_BYTES);

    char *name =
        pattern_expand (pattern, &vars, &sb, err) < 0 ? NULL : strbuf_detach (&sb);
    strbuf_release (&sb);
    if (!name && !err->code)
        error_no_memory (err, NULL);
    return name;
}

/* -- one file -- */

static void close_fd (int *fd)
{
    if (*fd >= 0)
        close (*fd);
    *fd = -1;
}

static void close_file (struct stage *stage)
{
    if (stage->temporary[0])
        unlinkat (stage->dir, stage->temporary, 0);
    stage->temporary[0] = '\0';
    close_fd (&stage->from);
    close_fd (&stage->to);
    close_fd (&stage->dir);
    free (stage->from_name);
    free (stage->to_name);
    stage->from_name = stage->to_name = NULL;
}

static int open_from (struct stage *stage, struct stat *st, struct error *err)
{
    const char *name = stage->from_name;

    stage->from =
        openat (stage->cwd_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (stage->from < 0 || fstat (stage->from, st) < 0)
        return error_errno (err, errno, "%s", name);
    if (S_ISDIR (st->st_mode))
        return error_set (err, EISDIR, "%s is a directory, not a file", name);
    if (!S_ISREG (st->st_mode))
        return error_set (err, EINVAL, "%s is not a regular file", name);
    stage->left = (uint64_t)st->st_size;
    return 0;
}

/* Opens the directory of to_name; *ret_base: the name after the last '/'. */
static int open_directory (struct stage *stage, const char **ret_base, struct error *err)
{
    const char *slash = strrchr (stage->to_name, '/');
    size_t len = slash ? (size_t)(slash - stage->to_name) : 0;
    autofree char *dir = strndup (stage->to_name, MAX (len, 1u));

    if (!dir)
        return error_no_memory (err, NULL);
    stage->dir = openat (stage->cwd_fd, slash ? dir : ".",
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (stage->dir < 0) /* a directory without read permission */
        stage->dir =
            openat (stage->cwd_fd, slash ? dir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (stage->dir < 0)
        return error_errno (err, errno, "%s: directory %s", stage->to_name,
                            slash ? dir : stage->cwd);
    *ret_base = slash ? slash + 1 : stage->to_name;
    return 0;
}

/* Checks the destination. 1: it is the source file itself. */
static int check_to (const struct stage *stage, const char *base, const struct stat *from,
                     struct error *err)
{
    struct stat st;

    if (fstatat (stage->dir, base, &st, 0) == 0 && st.st_dev == from->st_dev
        && st.st_ino == from->st_ino)
        return 1;
    if (fstatat (stage->dir, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : error_errno (err, errno, "%s", stage->to_name);
    if (S_ISDIR (st.st_mode))
        return error_set (err, EISDIR, "%s is a directory, not a file", stage->to_name);
    if (!S_ISREG (st.st_mode) && !S_ISLNK (st.st_mode))
        return error_set (err, EINVAL, "%s is not a regular file", stage->to_name);
    return 0;
}

static int open_to (struct stage *stage, const struct stat *from, struct error *err)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const char *base = NULL;
    int rc = open_directory (stage, &base, err);

    if (rc == 0)
        rc = check_to (stage, base, from, err);
    if (rc != 0)
        return rc;
    snprintf (stage->temporary, sizeof (stage->temporary), ".fluxq-%ju-%u-%s-%zu",
              (uintmax_t)stage->launch->job_id, stage->rank, stage->out ? "out" : "in",
              stage->next);
    stage->to = openat (stage->dir, stage->temporary, flags, 0600);
    /* An agent that was killed may have left the file. */
    if (stage->to < 0 && errno == EEXIST
        && unlinkat (stage->dir, stage->temporary, 0) == 0)
        stage->to = openat (stage->dir, stage->temporary, flags, 0600);
    if (stage->to >= 0)
        return 0;
    rc = error_errno (err, errno, "%s", stage->to_name);
    stage->temporary[0] = '\0';
    return rc;
}

/* Opens the files of an entry. 1: nothing to do. */
static int open_file (struct stage *stage, const struct launch_stage *s,
                      struct error *err)
{
    struct stat st;

    stage->from_name = expand (stage, s->from, err);
    stage->to_name = stage->from_name ? expand (stage, s->to, err) : NULL;
    if (!stage->to_name)
        return -err->code;
    int rc = open_from (stage, &st, err);
    if (rc < 0)
        return rc;
    stage->mode = s->mode ? s->mode : st.st_mode & 0777;
    stage->first = true;
    return s->send ? 0 : open_to (stage, &st, err);
}

/* Reads the next piece, at most max bytes; 0: end of the file. */
static ssize_t read_piece (struct stage *stage, size_t max, struct error *err)
{
    ssize_t n;

    max = (size_t)MIN ((uint64_t)MIN (max, sizeof (stage->buf)), stage->left);
    do {
        n = max > 0 ? read (stage->from, stage->buf, max) : 0;
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_errno (err, errno, "%s", stage->from_name);
    stage->left = n == 0 ? 0 : stage->left - (uint64_t)n;
    return n;
}

static int put_in_place (struct stage *stage, struct error *err)
{
    const char *slash = strrchr (stage->to_name, '/');
    int fd = stage->to;

    stage->to = -1;
    int rc = fchmod (fd, stage->mode) < 0 ? -errno : 0;
    if (close (fd) < 0 && rc == 0)
        rc = -errno; /* some file servers report a full disk only here */
    if (rc == 0
        && renameat (stage->dir, stage->temporary, stage->dir,
                     slash ? slash + 1 : stage->to_name)
               < 0)
        rc = -errno;
    if (rc < 0)
        return error_errno (err, -rc, "%s", stage->to_name);
    stage->temporary[0] = '\0';
    return 0;
}

/* Copies pieces. 1: the file is complete; 0: more in the next turn. */
static int copy_some (struct stage *stage, struct error *err)
{
    for (size_t done = 0; done < TURN_MAX;) {
        ssize_t n = read_piece (stage, sizeof (stage->buf), err);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return put_in_place (stage, err) < 0 ? -err->code : 1;
        int rc = io_write_all (stage->to, stage->buf, (size_t)n);
        if (rc < 0)
            return error_errno (err, -rc, "%s", stage->to_name);
        done += (size_t)n;
    }
    return 0;
}

static void send_piece (struct stage *stage, size_t len)
{
    stage->events->send (
        stage->ctx,
        &(struct frame){ .type = FRAME_FILE,
                         .stream = (uint8_t)stage->next,
                         .rank = stage->rank,
                         .task = stage->first ? FRAME_FILE_FIRST | stage->mode : 0,
                         .len = (uint32_t)len,
                         .data = stage->buf });
    stage->first = false;
}

static int send_some (struct stage *stage, struct error *err)
{
    for (size_t done = 0; done < TURN_MAX;) {
        size_t room = stage->events->room (stage->ctx);
        stage->waiting = room == 0 && stage->left > 0;
        if (stage->waiting)
            return 0;
        ssize_t n = read_piece (stage, room, err);
        if (n < 0)
            return (int)n;
        if (n > 0 || stage->first)
            send_piece (stage, (size_t)n);
        if (stage->left == 0)
            return 1;
        done += (size_t)n;
    }
    return 0;
}

/* -- all -- */

/* Returns the next entry for this rank; NULL: none. */
static const struct launch_stage *next_entry (struct stage *stage)
{
    const struct launch *l = stage->launch;
    const struct launch_stage *list = stage->out ? l->stage_out : l->stage_in;
    size_t n = stage->out ? l->nstage_out : l->nstage_in;

    while (stage->next < n && !is_for (&list[stage->next], stage->rank))
        stage->next++;
    return stage->next < n ? &list[stage->next] : NULL;
}

/* Handles the next part of a file. 1: the last part; 0: more follow; or a negative
 * errno. */
static int go_on (struct stage *stage, const struct launch_stage *s, struct error *err)
{
    int rc = 0;

    if (!stage->from_name)
        rc = open_file (stage, s, err);
    if (rc != 0)
        return rc;
    return s->send ? send_some (stage, err) : copy_some (stage, err);
}

static void tell_problem (struct stage *stage, struct error *err)
{
    char text[400];

    snprintf (text, sizeof (text), "%.290s (%.100s)", err->text,
              stage->launch->nodes[stage->rank].name);
    stage->events->problem (stage->ctx, text);
}

static void on_turn (struct loop_timer *timer)
{
    struct stage *stage = CONTAINER_OF (timer, struct stage, timer);
    const struct launch_stage *s = next_entry (stage);
    struct error err = { 0 };
    int rc = s ? go_on (stage, s, &err) : 0;

    if (rc != 0) {
        close_file (stage);
        stage->next++;
    }
    if (rc < 0) {
        error_prefix (&err, "%s", option_name (stage));
        if (stage->out)
            tell_problem (stage, &err);
    }
    if (!s || (rc < 0 && !stage->out))
        stage->events->done (stage->ctx, &err);
    else if (!stage->waiting)
        loop_timer_set (stage->loop, &stage->timer, loop_now ());
}

static void begin (struct stage *stage, bool out)
{
    close_file (stage);
    stage->out = out;
    stage->waiting = false;
    stage->next = 0;
    loop_timer_set (stage->loop, &stage->timer, loop_now ());
}

void stage_in (struct stage *stage)
{
    begin (stage, false);
}

void stage_out (struct stage *stage)
{
    begin (stage, true);
}

void stage_resume (struct stage *stage)
{
    if (!stage->waiting)
        return;
    stage->waiting = false;
    loop_timer_set (stage->loop, &stage->timer, loop_now ());
}

int stage_check (const struct stage *stage, struct error *err)
{
    const struct launch *l = stage->launch;
    int rc = 0;

    for (size_t i = 0; i < l->nstage_out && rc == 0; i++) {
        const struct launch_stage *s = &l->stage_out[i];
        if (s->send || !is_for (s, stage->rank))
            continue;
        autofree char *name = expand (stage, s->to, err);
        rc = name ? userfile_check (stage->cwd, name, err) : -err->code;
        if (rc < 0)
            error_prefix (err, "stage-out");
    }
    return rc;
}

void stage_set_directory (struct stage *stage, int fd, const char *name)
{
    stage->cwd_fd = fd;
    stage->cwd = name;
}

struct stage *stage_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct stage_events *events, void *ctx)
{
    struct stage *stage = calloc (1, sizeof (*stage));

    if (!stage)
        return NULL;
    stage->loop = loop;
    stage->launch = launch;
    stage->rank = rank;
    stage->events = events;
    stage->ctx = ctx;
    stage->cwd_fd = stage->from = stage->to = stage->dir = -1;
    stage->cwd = "/";
    stage->timer.fire = on_turn;
    return stage;
}

void stage_destroy (struct stage *stage)
{
    if (!stage)
        return;
    loop_timer_clear (stage->loop, &stage->timer);
    close_file (stage);
    free (stage);
}

/* run_input.c - standard input of a step: our own, a file, or one file for each task
 *
 * The agent reports the bytes that the tasks have taken (WIRE_RUN_TAKEN), which bounds
 * the bytes under way. The files of --input=PATTERN with %t, %n or %N are read in pieces,
 * and each is opened for one piece only, as there may be more files than descriptors.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "common/macros.h"
#include "common/sha256.h"
#include "protocol/pattern.h"
#include "shell/io/stderr_line.h"
#include "shell/run/run.h"

#define PIECE (32 * 1024)
#define PATH_TEXT_MAX (64 * 1024)

struct own { /* file of one task */
    uint64_t at;
    uint32_t room;
    bool ended;
};

struct run_input {
    struct loop *loop;
    const struct run_options *options;
    struct run_input_events events;
    void *ctx;
    struct loop_io io; /* fd: input for all tasks */
    struct loop_timer more;
    int64_t room;
    bool started, ended;
    struct sha256 sum; /* digest of the input */
    uint64_t sent;
    struct run_vars vars;
    struct own *own; /* [vars.ntasks] or NULL */
};

static void put (struct run_input *in, const void *data, size_t len)
{
    in->events.put (in->ctx, data, len);
}

/* -- one source for all readers -- */

/* Whether epoll can wait for the descriptor. A file, /dev/null or a closed descriptor
 * always has bytes, an end or an error to read. */
static bool can_wait (int fd)
{
    struct stat st;
    return fstat (fd, &st) == 0
           && (S_ISFIFO (st.st_mode) || S_ISSOCK (st.st_mode) || isatty (fd));
}

static void watch (struct run_input *in)
{
    bool wanted = in->started && !in->ended && in->room > 0;
    if (can_wait (in->io.fd))
        loop_watch (in->loop, &in->io, wanted ? EPOLLIN : 0);
    else if (wanted)
        loop_timer_set (in->loop, &in->more, 0.0);
}

/* Adds the digest after the last byte of a file that must arrive complete. */
static size_t add_digest (struct run_input *in, char *data, ssize_t n)
{
    size_t len = (size_t)MAX (n, 0);
    if (!in->options->digest)
        return len;
    sha256_update (&in->sum, data, len);
    in->sent += len;
    if (in->sent < in->options->size && n > 0)
        return len;
    if (in->sent == in->options->size && !in->ended) {
        sha256_final (&in->sum, (uint8_t *)data + len);
        len += SHA256_SIZE;
    }
    in->ended = true;
    return len;
}

static void read_all (struct run_input *in)
{
    char data[PIECE + SHA256_SIZE];
    uint64_t most = (uint64_t)MIN (in->room, PIECE);
    if (in->options->digest)
        most = MIN (most, in->options->size - in->sent);
    ssize_t n = read (in->io.fd, data, most);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        watch (in);
        return;
    }
    if (n < 0 && errno != EIO) /* EIO: the terminal is not ours now */
        stderr_line (run_name, "standard input: %s", strerror (errno));
    size_t len = add_digest (in, data, n);
    in->ended = in->ended || n <= 0;
    in->room -= (int64_t)len;
    if (len > 0)
        put (in, data, len);
    if (in->ended)
        put (in, NULL, 0);
    watch (in);
}

static void on_readable (struct loop_io *io, uint32_t events)
{
    (void)events;
    read_all (CONTAINER_OF (io, struct run_input, io));
}

static void on_more (struct loop_timer *timer)
{
    read_all (CONTAINER_OF (timer, struct run_input, more));
}

/* -- files -- */

/* Expands the file name for a task. */
static int name_file (const struct run_input *in, uint32_t task, struct strbuf *path,
                      struct error *err)
{
    const struct pattern_vars vars = run_pattern_vars (&in->vars, task);
    int rc = pattern_expand (in->options->input, &vars, path, err);
    return rc < 0 ? error_prefix (err, "--input") : 0;
}

static int open_file (const char *path, int flags, struct error *err)
{
    int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
    return fd < 0 ? error_errno (err, errno, "--input: %s", path) : fd;
}

/* Checks that the file can be read at any offset, repeatedly. */
static int check_own (int fd, const char *path, struct error *err)
{
    struct stat st;
    if (fstat (fd, &st) < 0)
        return error_errno (err, errno, "--input: %s", path);
    if (S_ISDIR (st.st_mode))
        return error_set (err, EISDIR, "--input: %s: Is a directory", path);
    if (!S_ISREG (st.st_mode) && !S_ISCHR (st.st_mode))
        return error_set (err, EINVAL,
                          "--input: %s is not a regular file: with %%t, %%n or %%N in "
                          "the name each task needs one",
                          path);
    return 0;
}

/* Reads a piece of a task's file into buf. Returns the number of bytes, 0 at end of file,
 * or -errno. */
static ssize_t read_own (struct run_input *in, uint32_t task, char *buf, size_t len,
                         struct error *err)
{
    autostrbuf struct strbuf path = STRBUF_INIT (PATH_TEXT_MAX);
    int rc = name_file (in, task, &path, err);
    autoclose int fd = rc < 0 ? -1 : open_file (path.buf, O_NONBLOCK, err);
    if (rc == 0)
        rc = fd < 0 ? fd : check_own (fd, path.buf, err);
    if (rc < 0)
        return rc;
    ssize_t n = pread (fd, buf, len, (off_t)in->own[task].at);
    return n < 0 ? error_errno (err, errno, "--input: %s", path.buf) : n;
}

static void feed (struct run_input *in, uint32_t task)
{
    char buf[4 + PIECE];
    struct own *own = &in->own[task];
    wire_put_u32 ((uint8_t *)buf, task);
    while (own->room > 0 && !own->ended && !in->ended) {
        struct error err = { 0 };
        size_t most = MIN (own->room, (size_t)PIECE);
        ssize_t n = read_own (in, task, buf + 4, most, &err);
        if (n < 0) {
            in->ended = true;
            in->events.failed (in->ctx, &err);
            return;
        }
        own->ended = n == 0;
        own->at += (uint64_t)n;
        own->room -= (uint32_t)n;
        put (in, buf, 4 + (size_t)n);
    }
}

static int start_own (struct run_input *in, struct error *err)
{
    uint32_t n = in->vars.ntasks;
    in->own = calloc (n, sizeof (*in->own));
    if (!in->own)
        return error_no_memory (err, NULL);
    for (uint32_t task = 0; task < n; task++) {
        in->own[task].room = wire_input_share (n);
        feed (in, task);
    }
    return 0;
}

/* -- all -- */

static bool is_plain (const char *name)
{
    return !strpbrk (name, "%\\");
}

struct run_input *run_input_create (struct loop *loop, const struct run_options *o,
                                    const struct run_input_events *events, void *ctx,
                                    struct error *err)
{
    struct run_input *in = calloc (1, sizeof (*in));
    if (!in)
        return error_null (error_no_memory (err, NULL));
    *in = (struct run_input){ .loop = loop,
                              .options = o,
                              .events = *events,
                              .ctx = ctx,
                              .io = { .fd = o->input_fd, .ready = on_readable },
                              .more = { .fire = on_more },
                              .room = WIRE_INPUT_WINDOW };
    sha256_init (&in->sum);
    if (o->input && is_plain (o->input)) /* before any task runs */
        in->io.fd = open_file (o->input, 0, err);
    if (!o->input || !is_plain (o->input) || in->io.fd >= 0)
        return in;
    run_input_destroy (in);
    return NULL;
}

void run_input_destroy (struct run_input *in)
{
    if (!in)
        return;
    loop_watch (in->loop, &in->io, 0);
    loop_timer_clear (in->loop, &in->more);
    if (in->options->input && in->io.fd > STDERR_FILENO)
        close (in->io.fd);
    free (in->own);
    free (in);
}

int run_input_start (struct run_input *in, const struct run_vars *vars, struct error *err)
{
    const char *name = in->options->input;
    autostrbuf struct strbuf path = STRBUF_INIT (PATH_TEXT_MAX);
    in->vars = *vars;
    if (in->options->spec.input == STEP_INPUT_NONE)
        return 0;
    if (in->options->spec.input == STEP_INPUT_EACH)
        return start_own (in, err);
    if (name && !is_plain (name)) {
        int rc = name_file (in, 0, &path, err);
        if (rc < 0 || (in->io.fd = open_file (path.buf, 0, err)) < 0)
            return -EIO;
    }
    in->started = true;
    watch (in);
    return 0;
}

void run_input_taken (struct run_input *in, const struct frame *msg)
{
    if (!in->own && msg->len == 4) {
        in->room += wire_get_u32 (msg->data);
        watch (in);
    } else if (in->own && msg->len == 8) {
        uint32_t task = wire_get_u32 (msg->data);
        if (task >= in->vars.ntasks)
            return;
        in->own[task].room += wire_get_u32 (msg->data + 4);
        feed (in, task);
    }
}

void run_input_ended (struct run_input *in, uint32_t task)
{
    if (in->own)
        in->own[task].ended = true;
}

/* inside.c - see inside.h */
#include "cmd/client/inside.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cmd/client/command.h"
#include "common/io.h"
#include "common/parse.h"
#include "protocol/inside.h"

#define CPU_SECONDS 60

extern char **environ;

/* One command a process. */
static struct {
    bool on;
    struct inside_link link;
    struct inside_request request;
    char last;         /* of standard input: 'e' at its end, 'o' open, 0 not asked for */
    size_t got, given; /* of input */
    char input[FRAME_DATA_MAX]; /* a message of standard input */
} inside = { .link = { .fd = INSIDE_FD } };

bool inside_is_on (void)
{
    return inside.on;
}

const char *inside_directory (void)
{
    return inside.request.cwd;
}

int inside_nice (void)
{
    return (int)inside.request.nice;
}

const char *inside_host (void)
{
    return inside.request.host;
}

/* -- output -- */

static ssize_t write_stream (void *cookie, const char *data, size_t len)
{
    int rc = inside_flow (&inside.link, *(enum inside_kind *)cookie, data, len);

    if (rc == 0)
        return (ssize_t)len;
    _exit (CMD_FAILED); /* nobody reads any more: a command may not look at this */
}

/* -- files -- */

static int open_file (const char *path)
{
    size_t len = strlen (path);

    return len >= INSIDE_PATH_MAX ? -ENAMETOOLONG
                                  : inside_send (&inside.link, INSIDE_OPEN, path, len);
}

/* Takes the next bytes: 1; 0 at the end of the file; a negative errno with the reason. */
static int next_bytes (struct frame *ret, struct error *err)
{
    int rc;

    do
        rc = inside_receive (&inside.link, ret);
    while (rc == 0 && ret->stream != INSIDE_DATA && ret->stream != INSIDE_FAILED
           && ret->stream != INSIDE_GONE);
    if (rc < 0 || ret->stream == INSIDE_GONE)
        return error_errno (err, rc < 0 ? -rc : EPIPE, "the job");
    if (ret->stream == INSIDE_FAILED)
        return error_set (err, EIO, "%.*s", (int)ret->len, ret->data);
    if (ret->len == 0)
        return 0;
    rc = inside_took (&inside.link, ret->len);
    return rc < 0 ? error_errno (err, -rc, "the job") : 1;
}

/* Reads a file of the job; an io_reader_fn. */
static int read_file (const char *path, struct strbuf *sb, size_t max, struct error *err)
{
    struct frame msg;
    size_t got = 0;
    int rc = open_file (path);

    if (rc < 0)
        return error_errno (err, -rc, "%s", path);
    while ((rc = next_bytes (&msg, err)) > 0) {
        got += msg.len;
        if (got <= max && strbuf_add (sb, msg.data, msg.len) < 0)
            return error_errno (err, -sb->err, "%s", path);
    }
    if (rc == 0 && got > max)
        return error_set (err, EFBIG, "%s: larger than %zu bytes", path, max);
    return rc;
}

/* Standard input, asked for when the command first reads it. */
static ssize_t read_stream (void *cookie, char *buf, size_t len)
{
    struct error err = { 0 };
    struct frame msg = { 0 };
    int rc = 0;

    (void)cookie;
    if (inside.last == 'e')
        return 0;
    if (inside.last == 0 && (rc = open_file ("")) == 0)
        inside.last = 'o';
    if (rc == 0 && inside.given == inside.got) {
        rc = next_bytes (&msg, &err);
        inside.got = rc > 0 ? msg.len : 0;
        inside.given = 0;
        if (inside.got > 0)
            memcpy (inside.input, msg.data, inside.got);
    }
    if (rc <= 0 && inside.given == inside.got) {
        inside.last = 'e';
        errno = EIO;
        return rc < 0 ? -1 : 0;
    }
    size_t n = MIN (len, inside.got - inside.given);
    memcpy (buf, inside.input + inside.given, n);
    inside.given += n;
    return (ssize_t)n;
}

static int redirect (void)
{
    static enum inside_kind output = INSIDE_OUTPUT, error = INSIDE_ERROR;
    const cookie_io_functions_t reads = { .read = read_stream };
    const cookie_io_functions_t writes = { .write = write_stream };
    FILE *in = fopencookie (NULL, "r", reads);
    FILE *out = fopencookie (&output, "w", writes);
    FILE *err = fopencookie (&error, "w", writes);

    if (!in || !out || !err)
        return -ENOMEM;
    stdin = in;
    stdout = out;
    stderr = err;
    setvbuf (stdout, NULL, _IOFBF, BUFSIZ);
    setvbuf (stderr, NULL, _IOLBF, BUFSIZ);
    io_set_reader (read_file);
    return 0;
}

/* -- the command -- */

/* The process takes what the job's user sends: it can write no file, start no process, and
 * not run for ever. */
static void limit (void)
{
    static const struct {
        int resource;
        rlim_t most;
    } limits[] = {
        { RLIMIT_FSIZE, 0 },
        { RLIMIT_CORE, 0 },
        { RLIMIT_CPU, CPU_SECONDS },
        { RLIMIT_NPROC, 0 },
    };

    prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE (limits); i++) {
        const struct rlimit l = { limits[i].most, limits[i].most };
        setrlimit ((__rlimit_resource_t)limits[i].resource, &l);
    }
}

/* 0, or a negative errno. */
static int receive_request (struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (INSIDE_REQUEST_MAX + 1);
    struct frame msg;
    int rc;

    while ((rc = inside_receive (&inside.link, &msg)) == 0 && msg.stream == INSIDE_REQUEST
           && msg.len > 0)
        strbuf_add (&sb, msg.data, msg.len);
    if (rc < 0 || msg.stream != INSIDE_REQUEST)
        return rc < 0 ? rc : -EPIPE;
    if (sb.err)
        return error_set (err, E2BIG, "the request is too large");
    return inside_request_read (sb.buf, sb.len, &inside.request, err);
}

static int run_command (struct error *err)
{
    const struct inside_request *r = &inside.request;
    const struct command *command =
        inside_is_served (r->command) ? command_find_slurm (r->command) : NULL;
    char broker[16];

    if (!command)
        return error_set (err, ENOENT, "the broker does not run the command %s for jobs",
                          r->command);
    snprintf (broker, sizeof (broker), "fd:%d", INSIDE_BROKER_FD);
    static char *none[] = { NULL };
    environ = r->env ? r->env : none;
    umask ((mode_t)r->umask);
    rlimits_stand_in (&r->rlimits);
    return command_execute (command, (int)r->nargs, r->args, broker, false);
}

/* Closes what libraries of the broker have left open, and becomes the user for good. */
static int become_user (int argc, char **argv)
{
    int64_t uid = 0, gid = 0;

    if (close_range (INSIDE_FD + 1, ~0U, 0) < 0)
        return -errno;
    if (argc < 3)
        return 0;
    if (parse_int (argv[1], 1, UINT32_MAX - 1, &uid, "uid", NULL) < 0
        || parse_int (argv[2], 0, UINT32_MAX - 1, &gid, "gid", NULL) < 0)
        return -EINVAL;
    if (setgroups (0, NULL) < 0 || setgid ((gid_t)gid) < 0 || setuid ((uid_t)uid) < 0
        || getuid () != (uid_t)uid || geteuid () != (uid_t)uid || getegid () != (gid_t)gid
        || setuid (0) == 0)
        return -EPERM;
    return 0;
}

int inside_main (int argc, char **argv)
{
    struct error err = { 0 };
    struct frame msg;
    uint8_t status;

    if (become_user (argc, argv) < 0)
        return 1;
    limit ();
    int rc = inside_send (&inside.link, INSIDE_TAKE, NULL, 0);
    if (rc == 0)
        rc = inside_receive (&inside.link, &msg);
    if (rc < 0 || msg.stream != INSIDE_TAKEN)
        return INSIDE_EXIT_NONE;
    /* The broker knows from this that a client was there. */
    if (inside_took (&inside.link, 0) < 0 || redirect () < 0)
        return 1;
    rc = receive_request (&err);
    inside.on = true;
    if (rc == 0)
        rc = run_command (&err);
    if (rc < 0)
        fprintf (stderr, "error: %s\n", err.text[0] ? err.text : strerror (-rc));
    status = (uint8_t)(rc < 0 ? CMD_FAILED : rc);
    fflush (stdout);
    fflush (stderr);
    inside_send (&inside.link, INSIDE_END, &status, 1);
    return 0;
}

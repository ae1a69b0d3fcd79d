/* inside.c - the client of a command that the broker runs, see inside.h */
#include "shell/run/inside.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "common/io.h"
#include "protocol/inside.h"
#include "shell/io/stderr_line.h"
#include "shell/run/run.h"

extern char **environ;

struct client {
    const char *name;
    struct inside_link link;
    int file; /* that is being sent; -1: none */
    char file_name[INSIDE_PATH_MAX];
};

static int fail (const struct client *c, const char *why)
{
    stderr_line (c->name, "error: %s", why);
    return 1;
}

static int lost (const struct client *c, int rc)
{
    stderr_line (c->name,
                 "error: the broker has ended the command: it ran for too long, "
                 "the job is over, or the broker was stopped (%s)",
                 strerror (-rc));
    return 1;
}

/* -- the server -- */

static void set_patience (const struct client *c, int seconds)
{
    const struct timeval most = { .tv_sec = seconds };

    setsockopt (c->link.fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof (most));
}

/* Waits until the broker has a server for this command. 0, or -1 after a message. */
static int find_server (struct client *c)
{
    struct frame msg;
    char text[64];

    set_patience (c, INSIDE_WAIT);
    int rc = inside_send (&c->link, INSIDE_ASK, NULL, 0);
    if (rc == 0)
        rc = inside_receive (&c->link, &msg);
    set_patience (c, 0);
    if (rc == 0 && msg.stream == INSIDE_TAKEN)
        return 0;
    if (rc == 0 && msg.stream == INSIDE_NONE)
        stderr_line (c->name, "error: %.*s", (int)msg.len, msg.data);
    else if (rc == -EAGAIN)
        stderr_line (c->name, "error: no answer from the broker for %d s", INSIDE_WAIT);
    else {
        snprintf (text, sizeof (text), "the job's agent: %s",
                  rc < 0 ? strerror (-rc) : "it talks nonsense");
        fail (c, text);
    }
    return -1;
}

/* -- the request -- */

static int fill_env (struct inside_request *r)
{
    size_t n = 0;

    while (environ[n])
        n++;
    if (!(r->env = calloc (n + 1, sizeof (*r->env))))
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr (environ[i], '=');
        if (equals && equals != environ[i])
            r->env[r->nenv++] = environ[i];
    }
    return 0;
}

static int send_pieces (struct client *c, const struct strbuf *sb)
{
    int rc = 0;

    for (size_t at = 0, n; rc == 0 && at < sb->len; at += n) {
        n = MIN (sb->len - at, INSIDE_PIECE);
        rc = inside_send (&c->link, INSIDE_REQUEST, sb->buf + at, n);
    }
    return rc < 0 ? rc : inside_send (&c->link, INSIDE_REQUEST, NULL, 0);
}

/* Sends command line, environment and directory. 0, or -1 after a message. */
static int send_request (struct client *c, int argc, char **argv)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (INSIDE_REQUEST_MAX + 1);
    autofree char *cwd = getcwd (NULL, 0);
    char host[256] = "";
    mode_t mask = umask (0); /* the only way to read it */
    struct inside_request r = { .command = (char *)c->name,
                                .cwd = cwd && *cwd == '/' ? cwd : "/",
                                .host = host,
                                .args = argv,
                                .nargs = (size_t)argc,
                                .umask = mask };

    umask (mask);
    rlimits_select ("ALL", &r.rlimits, "", NULL);
    rlimits_read (&r.rlimits);
    r.nice = (uint32_t)MAX (0, getpriority (PRIO_PROCESS, 0));
    gethostname (host, sizeof (host) - 1);
    int rc = fill_env (&r);
    if (rc == 0)
        rc = inside_request_write (&r, &sb);
    free (r.env);
    if (rc == -E2BIG) {
        stderr_line (c->name, "error: arguments and environment have more than %zu bytes",
                     INSIDE_REQUEST_MAX);
        return -1;
    }
    if (rc == 0)
        rc = send_pieces (c, &sb);
    return rc < 0 ? -lost (c, rc) : 0;
}

/* -- files -- */

static int refuse_file (struct client *c, const char *name, int errnum)
{
    char text[INSIDE_PATH_MAX + 128];

    snprintf (text, sizeof (text), "%.*s: %s", INSIDE_PATH_MAX,
              *name ? name : "standard input", strerror (errnum));
    return inside_send (&c->link, INSIDE_FAILED, text, strlen (text));
}

static void close_file (struct client *c)
{
    if (c->file > STDIN_FILENO)
        close (c->file);
    c->file = -1;
}

/* Opens a file that the command names, or standard input. */
static int on_open (struct client *c, const struct frame *msg)
{
    close_file (c);
    if (msg->len >= sizeof (c->file_name))
        return refuse_file (c, "", ENAMETOOLONG);
    memcpy (c->file_name, msg->data, msg->len);
    c->file_name[msg->len] = '\0';
    c->file = msg->len == 0 ? STDIN_FILENO
                            : open (c->file_name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return c->file < 0 ? refuse_file (c, c->file_name, errno) : 0;
}

/* Sends the next piece of the file, or its end. */
static int send_piece (struct client *c)
{
    char buf[INSIDE_PIECE];
    ssize_t n = read (c->file, buf, sizeof (buf));
    int rc;

    if (n > 0) {
        c->link.unread += (size_t)n;
        return inside_send (&c->link, INSIDE_DATA, buf, (size_t)n);
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    rc = n < 0 ? refuse_file (c, c->file_name, errno)
               : inside_send (&c->link, INSIDE_DATA, NULL, 0);
    close_file (c);
    return rc;
}

/* -- the course -- */

static int on_bytes (struct client *c, const struct frame *msg)
{
    int fd = msg->stream == INSIDE_OUTPUT ? STDOUT_FILENO : STDERR_FILENO;
    int rc = io_write_all (fd, msg->data, msg->len);

    if (rc == 0)
        return inside_took (&c->link, msg->len);
    stderr_line (c->name, "error: cannot write the output: %s", strerror (-rc));
    exit (1);
}

/* Waits for messages, and sends the file while there is none: a command may answer before it
 * has read all of standard input. */
static int wait_for_message (struct client *c)
{
    struct pollfd p[] = { { .fd = c->link.fd, .events = POLLIN },
                          { .fd = inside_has_room (&c->link) ? c->file : -1,
                            .events = POLLIN } };

    if (c->file < 0)
        return inside_pump (&c->link, true);
    if (poll (p, ARRAY_SIZE (p), -1) < 0)
        return errno == EINTR ? 0 : -errno;
    return p[0].revents ? inside_pump (&c->link, true) : send_piece (c);
}

/* Follows the command to its end. Returns the exit status. */
static int follow (struct client *c)
{
    struct frame msg;
    int rc = 0;

    while (rc == 0) {
        if (!inside_message (&c->link, &msg))
            rc = wait_for_message (c);
        else if (msg.stream == INSIDE_END && msg.len == 1)
            return (uint8_t)msg.data[0];
        else if (msg.stream == INSIDE_GONE)
            rc = -EPIPE;
        else if (msg.stream == INSIDE_OPEN)
            rc = on_open (c, &msg);
        else if (msg.stream == INSIDE_OUTPUT || msg.stream == INSIDE_ERROR)
            rc = on_bytes (c, &msg);
    }
    return lost (c, rc);
}

/* A job that requeues itself gets SIGTERM, with this process, perhaps before the answer is
 * here. The caller must not take that for a failure. */
static void outlive_requeue (const char *name, int argc, char **argv)
{
    bool requeues = false;

    for (int i = 1; i < argc; i++)
        requeues |= !strncmp (argv[i], "requeue", strlen ("requeue"));
    if (requeues && !strcmp (name, "scontrol"))
        signal (SIGTERM, SIG_IGN);
}

int inside_client_main (const char *name, int argc, char **argv)
{
    static struct client c;
    struct error err = { 0 };

    c.name = name;
    c.file = -1;
    outlive_requeue (name, argc, argv);
    c.link.fd = run_connect (NULL, &err);
    if (c.link.fd < 0)
        return fail (&c, err.text);
    fcntl (c.link.fd, F_SETFL, 0); /* blocking */
    if (find_server (&c) < 0 || send_request (&c, argc, argv) < 0)
        return 1;
    return follow (&c);
}

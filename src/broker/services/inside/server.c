/* server.c - see server.h */
#include "broker/services/inside/server.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utlist.h>

#include "broker/services/stream/carry.h"
#include "common/io.h"
#include "exec/agentstream.h"
#include "net/http_server.h"
#include "protocol/inside.h"

/* A server without a client says no more than INSIDE_TAKE. */
#define SAID_LEAST FRAME_HEAD
#define APOLOGY_MS 2000
#define LEAVE_MS 2000

struct inside_server {
    struct broker *b;
    uint64_t id, number;
    uid_t uid;
    gid_t gid;
    inside_ended_fn ended; /* NULL: dying */
    void *arg;
    struct agentstream *agent;
    int fd;    /* our end of its messages, or -1 */
    int pidfd; /* -1: there is no process */
    uv_process_t process;
    uv_poll_t poll, exited;
    uv_timer_t limit;
    unsigned handles;          /* not closed yet */
    bool spawned;              /* process is a handle */
    bool gone;                 /* the process has ended */
    bool leaving;              /* the attempt of the job is over */
    struct carry_way up, down; /* to the agent, to the process */
    uint64_t said;             /* bytes from the process */
    struct inside_server *prev, *next;
};

/* All of them, also dying ones: a process has one broker. */
static struct inside_server *servers;

/* -- its end -- */

static void on_closed (uv_handle_t *handle)
{
    struct inside_server *s = handle->data;

    if (--s->handles > 0)
        return;
    if (s->fd >= 0)
        close (s->fd);
    if (s->pidfd >= 0)
        close (s->pidfd);
    free (s->up.buf);
    free (s->down.buf);
    free (s);
}

static void release (struct inside_server *s)
{
    DL_DELETE (servers, s);
    if (s->fd >= 0)
        uv_close ((uv_handle_t *)&s->poll, on_closed);
    if (s->pidfd >= 0)
        uv_close ((uv_handle_t *)&s->exited, on_closed);
    if (s->spawned)
        uv_close ((uv_handle_t *)&s->process, on_closed);
    uv_close ((uv_handle_t *)&s->limit, on_closed);
}

static void end (struct inside_server *s)
{
    s->ended = NULL;
    agentstream_close (s->agent);
    s->agent = NULL;
    uv_timer_stop (&s->limit);
    if (s->fd >= 0)
        uv_poll_stop (&s->poll);
    if (s->pidfd >= 0 && !s->gone)
        syscall (SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
    else
        release (s);
}

static void finish (struct inside_server *s, bool failed)
{
    inside_ended_fn ended = s->ended;
    void *arg = s->arg;
    bool served = s->said > SAID_LEAST;

    end (s);
    if (ended)
        ended (arg, served, failed);
}

/* The executor may have reaped the process already. */
static void on_exited (uv_poll_t *poll, int status, int events)
{
    struct inside_server *s = poll->data;
    siginfo_t info;

    (void)status;
    (void)events;
    uv_poll_stop (poll);
    waitid (P_PIDFD, (id_t)s->pidfd, &info, WEXITED | WNOHANG);
    s->gone = true;
    if (!s->ended)
        release (s);
}

static void on_limit (uv_timer_t *timer)
{
    struct inside_server *s = timer->data;

    if (s->fd >= 0 && !s->leaving)
        log_info ("job %ju: a command inside the job ran for %d s and is ended",
                  (uintmax_t)s->id, INSIDE_SECONDS);
    finish (s, false);
}

/* -- its messages -- */

static ssize_t take_process (void *arg, char *buf, size_t len)
{
    struct inside_server *s = arg;

    if (s->fd < 0)
        return -EAGAIN;
    ssize_t n = recv (s->fd, buf, len, MSG_DONTWAIT);

    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? -EAGAIN : 0;
    s->said += (size_t)n;
    return n;
}

static ssize_t give_process (void *arg, const char *buf, size_t len)
{
    const struct inside_server *s = arg;

    if (s->fd < 0)
        return (ssize_t)len;
    ssize_t n = send (s->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? -EAGAIN : -EPIPE;
    return n;
}

static ssize_t take_agent (void *arg, char *buf, size_t len)
{
    const struct inside_server *s = arg;

    return agentstream_read (s->agent, buf, len);
}

static ssize_t give_agent (void *arg, const char *buf, size_t len)
{
    const struct inside_server *s = arg;

    return agentstream_write (s->agent, buf, len);
}

static void on_process (uv_poll_t *poll, int status, int events);

/* The process is the side that ends: its last messages must reach the agent. */
static void pump (struct inside_server *s)
{
    enum carried up = carry (s, &s->up, take_process, give_agent), down = CARRY_WANT_TAKE;
    int events;

    if (up == CARRY_ENDED || up == CARRY_BROKEN) {
        finish (s, false);
        return;
    }
    if (!s->down.ended)
        down = carry (s, &s->down, take_agent, give_process);
    if (down == CARRY_ENDED) { /* the job is over */
        finish (s, false);
        return;
    }
    s->down.ended |= down == CARRY_BROKEN;
    events = (up == CARRY_WANT_TAKE ? UV_READABLE : 0)
             | (down == CARRY_WANT_GIVE ? UV_WRITABLE : 0);
    if (s->fd >= 0 && events)
        uv_poll_start (&s->poll, events, on_process);
    else if (s->fd >= 0)
        uv_poll_stop (&s->poll);
    agentstream_want (s->agent, !s->down.ended && down == CARRY_WANT_TAKE,
                      up == CARRY_WANT_GIVE);
}

static void on_process (uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    pump (poll->data);
}

static void on_ready (void *arg)
{
    pump (arg);
}

/* -- its process -- */

/* Slurm's commands are beside the agent, each a link to fluxq. The caller frees. */
static char *program_path (const struct broker *b)
{
    const char *shell = broker_config (b)->shell_path;
    const char *slash = shell ? strrchr (shell, '/') : NULL;
    char *path;

    if (!slash
        || asprintf (&path, "%.*s/" INSIDE_DIR "/sbatch", (int)(slash - shell), shell)
               < 0)
        return NULL;
    return path;
}

/* Where its requests come from: rank 0 of the job passes them on. */
static const char *print_from (const struct inside_server *s, char buf[HTTP_FROM_SIZE])
{
    struct entry *e = entry_find (s->b, s->id);
    const struct rset *r = e ? entry_alloc (e) : NULL;

    snprintf (buf, HTTP_FROM_SIZE, "job %ju%s%s", (uintmax_t)s->id,
              r && r->nranks > 0 ? " on " : "",
              r && r->nranks > 0 ? r->ranks[0].node : "");
    return buf;
}

/* Starts the process with these descriptors. 0 or negative errno. */
static int spawn (struct inside_server *s, int broker_fd, int fd)
{
    autofree char *path = program_path (s->b);
    char uid[16], gid[16];
    char *argv[] = { (char *)INSIDE_SERVER, NULL, NULL, NULL }, *env[] = { NULL };
    uv_stdio_container_t stdio[INSIDE_FD + 1] = {
        [INSIDE_BROKER_FD] = { .flags = UV_INHERIT_FD, .data.fd = broker_fd },
        [INSIDE_FD] = { .flags = UV_INHERIT_FD, .data.fd = fd },
    };
    uv_process_options_t options = { .file = path,
                                     .args = argv,
                                     .env = env,
                                     .cwd = "/",
                                     .stdio = stdio,
                                     .stdio_count = ARRAY_SIZE (stdio) };

    if (!path)
        return -ENOMEM;
    if (broker_uid (s->b) == 0 && s->uid != 0) {
        /* It becomes the user when it has closed what libraries of the broker leave open. */
        snprintf (uid, sizeof (uid), "%u", (unsigned)s->uid);
        snprintf (gid, sizeof (gid), "%u", (unsigned)s->gid);
        argv[1] = uid;
        argv[2] = gid;
    }
    s->process.data = s;
    s->spawned = true;
    s->handles++;
    return uv_spawn (broker_loop (s->b), &s->process, &options);
}

/* Watches the process and its socket, which is the server's from now on. */
static int watch (struct inside_server *s, int fd)
{
    uv_loop_t *loop = broker_loop (s->b);

    int pidfd = (int)syscall (SYS_pidfd_open, s->process.pid, 0);
    if (pidfd < 0 || uv_poll_init (loop, &s->exited, pidfd) < 0) {
        if (pidfd >= 0)
            close (pidfd);
        return -EMFILE; /* its connections are closed, so the process ends */
    }
    s->pidfd = pidfd;
    s->exited.data = s;
    s->handles++;
    uv_poll_start (&s->exited, UV_READABLE, on_exited);
    if (io_set_nonblock (fd) < 0 || uv_poll_init (loop, &s->poll, fd) < 0)
        return -EMFILE;
    s->poll.data = s;
    s->handles++;
    s->fd = fd;
    return 0;
}

static int start_process (struct inside_server *s)
{
    int http[2] = { -1, -1 }, pair[2] = { -1, -1 };
    char from[HTTP_FROM_SIZE];
    int rc = -EMFILE;

    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, http) == 0
        && socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0
        && (rc = http_server_admit (broker_http (s->b), http[0], s->uid, s->number,
                                    print_from (s, from)))
               == 0)
        rc = spawn (s, http[1], pair[1]);
    else if (pair[0] < 0 && http[0] >= 0)
        close (http[0]);
    if (http[1] >= 0)
        close (http[1]);
    if (pair[1] >= 0)
        close (pair[1]);
    if (rc == 0)
        rc = watch (s, pair[0]);
    if (rc < 0 && pair[0] >= 0 && s->fd < 0)
        close (pair[0]);
    return rc;
}

static void say (struct inside_server *s, enum inside_kind kind, const void *data,
                 size_t len)
{
    const struct frame f = { .type = INSIDE_TYPE,
                             .stream = (uint8_t)kind,
                             .len = (uint32_t)len };

    frame_encode_head (&f, (uint8_t *)s->up.buf + s->up.len);
    memcpy (s->up.buf + s->up.len + FRAME_HEAD, data, len);
    s->up.len += FRAME_HEAD + len;
    s->said += FRAME_HEAD + len;
}

/* Answers the client in place of a process. The client closes the connection. */
static void apologize (struct inside_server *s, int rc)
{
    char text[256];
    int len =
        snprintf (text, sizeof (text), "error: the broker cannot start the command: %s\n",
                  strerror (-rc));

    log_error ("job %ju: a command inside the job cannot be started: %s",
               (uintmax_t)s->id, strerror (-rc));
    say (s, INSIDE_TAKE, "", 0);
    say (s, INSIDE_ERROR, text, (size_t)len);
    say (s, INSIDE_END, "\1", 1);
    uv_timer_start (&s->limit, on_limit, APOLOGY_MS, 0);
    pump (s);
}

static void on_opened (const struct error *err, void *arg)
{
    struct inside_server *s = arg;
    int rc;

    if (err) {
        finish (s, true);
        return;
    }
    if ((rc = start_process (s)) < 0) {
        apologize (s, rc);
        return;
    }
    uv_timer_start (&s->limit, on_limit, INSIDE_SECONDS * UINT64_C (1000), 0);
    pump (s);
}

/* -- for the service -- */

struct inside_server *inside_server_start (struct broker *b, struct entry *e,
                                           uint64_t number, inside_ended_fn ended,
                                           void *arg)
{
    static const struct agentstream_events events = { .opened = on_opened,
                                                      .ready = on_ready };
    struct inside_server *s = calloc (1, sizeof (*s));
    struct exec_job *job = entry_exec_job (e);
    struct error err = { 0 };

    if (s) {
        s->up.buf = malloc (CARRY_BUFFER);
        s->down.buf = malloc (CARRY_BUFFER);
    }
    if (!s || !s->up.buf || !s->down.buf
        || broker_ops (b)->connect (broker_exec (b), job, &events, s, &s->agent, &err)
               < 0) {
        if (s) {
            free (s->up.buf);
            free (s->down.buf);
        }
        free (s);
        return NULL;
    }
    s->b = b;
    s->id = entry_id (e);
    s->number = number;
    s->uid = job->user.uid;
    s->gid = job->user.gid;
    s->ended = ended;
    s->arg = arg;
    s->fd = s->pidfd = -1;
    uv_timer_init (broker_loop (b), &s->limit);
    s->limit.data = s;
    s->handles = 1;
    DL_APPEND (servers, s);
    return s;
}

void inside_server_leave (struct inside_server *s)
{
    s->leaving = true;
    uv_timer_start (&s->limit, on_limit, LEAVE_MS, 0);
}

void inside_server_kill (struct inside_server *s)
{
    end (s);
}

void inside_servers_close (void)
{
    struct inside_server *s, *next;

    DL_FOREACH_SAFE (servers, s, next)
    {
        if (s->ended)
            end (s);
        else
            release (s);
    }
    DL_FOREACH_SAFE (servers, s, next)
    release (s);
}

bool inside_server_has (pid_t pid)
{
    const struct inside_server *s;

    DL_FOREACH (servers, s)
        if (s->pidfd >= 0 && s->process.pid == pid)
            return true;
    return false;
}

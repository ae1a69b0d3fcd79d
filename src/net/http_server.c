/* http_server.c - MHD daemons in the libuv loop, and their listeners; see http_private.h
 */
#include <sys/stat.h>
#include <utlist.h>

#include "common/log.h"
#include "net/http_private.h"

#define STALL_TURNS 64 /* turns in which MHD only asked to be called at once */
#define STALL_MS 20

/* -- the loop -- */

static void on_timer (uv_timer_t *timer);

static void on_again (uv_idle_t *idle);

/* Lets MHD work, and schedules its next call. The timer never gets 0 ms: a timer started
 * with 0 from within libuv's timer run fires again in the same run, and the loop hangs.
 * Zero therefore means the next turn. If MHD asks for that again and again without an
 * event, it waits busily for a client, and is called after STALL_MS. */
void http_listener_run (struct http_listener *l)
{
    struct http_server *s = l->server;
    MHD_UNSIGNED_LONG_LONG wait = 0;

    l->dirty = false;
    l->again = false;
    s->turns++;
    MHD_run (l->daemon);
    enum MHD_Result timed = MHD_get_timeout (l->daemon, &wait);
    if (timed != MHD_YES) {
        uv_timer_stop (&l->timer);
    } else if (wait > 0) {
        l->idle_turns = 0;
        uv_timer_start (&l->timer, on_timer, wait, 0);
    } else if (l->idle_turns++ < STALL_TURNS) {
        l->again = true;
        uv_idle_start (&s->again, on_again);
    } else {
        s->stalls++;
        uv_timer_start (&l->timer, on_timer, STALL_MS, 0);
    }
}

static void on_timer (uv_timer_t *timer)
{
    http_listener_run (timer->data);
}

static void on_poll (uv_poll_t *poll, int status, int events)
{
    struct http_listener *l = poll->data;

    (void)status;
    (void)events;
    l->idle_turns = 0;
    http_listener_run (l);
}

static void run_dirty (struct http_server *s)
{
    for (struct http_listener *l = s->listeners; l; l = l->next) {
        if (l->dirty)
            http_listener_run (l);
    }
}

/* Before the loop sleeps: runs MHD for connections resumed in this turn. */
static void on_prepare (uv_prepare_t *prepare)
{
    run_dirty (prepare->data);
}

/* Runs before the prepare handles of others, which end the turn of a handler call. */
static void on_again (uv_idle_t *idle)
{
    struct http_server *s = idle->data;

    uv_idle_stop (idle);
    for (struct http_listener *l = s->listeners; l; l = l->next) {
        if (l->again)
            http_listener_run (l);
    }
}

/* -- listeners -- */

static void on_log (void *cls, const char *fmt, va_list ap) PRINTF_LIKE (2, 0);
static void on_log (void *cls, const char *fmt, va_list ap)
{
    char text[512];

    (void)cls;
    vsnprintf (text, sizeof (text), fmt, ap);
    log_debug ("http: %.*s", (int)strcspn (text, "\n"), text);
}

/* clang-format off */
static int start_daemon (struct http_listener *l, struct error *err)
{
    l->daemon = MHD_start_daemon (
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG
            | MHD_USE_TURBO,
        0,
        NULL, NULL, http_request_access, l,
        /* first, for messages about the other options */
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)(l->path ? 0 : HTTP_ADDRESS_MAX),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_POOL_SIZE,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, http_request_create, l,
        MHD_OPTION_NOTIFY_COMPLETED, http_request_completed, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, http_connection_event, l,
        MHD_OPTION_END);
    return l->daemon ? 0 : error_set (err, EIO, "libmicrohttpd does not start");
}
/* clang-format on */

static int watch_daemon (struct http_listener *l, struct error *err)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info (l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    int rc = info ? uv_poll_init (l->server->loop, &l->poll, info->epoll_fd) : -EIO;

    if (rc < 0)
        return error_errno (err, -rc, "libmicrohttpd in the loop");
    uv_timer_init (l->server->loop, &l->timer);
    l->poll.data = l;
    l->timer.data = l;
    l->watched = true;
    l->server->handles += 2;
    rc = uv_poll_start (&l->poll, UV_READABLE, on_poll);
    if (rc == 0)
        rc = http_accept_start (l);
    return rc < 0 ? error_errno (err, -rc, "libmicrohttpd in the loop") : 0;
}

static void listener_unlink (struct http_listener *l)
{
    struct stat st;

    if (l->path && lstat (l->path, &st) == 0 && st.st_dev == l->dev
        && st.st_ino == l->ino)
        unlink (l->path);
}

static void handle_closed (uv_handle_t *handle);

/* Stops it; its memory is freed with the server's. */
static void listener_stop (struct http_listener *l)
{
    listener_unlink (l);
    if (l->watched) {
        l->watched = false;
        uv_close ((uv_handle_t *)&l->poll, handle_closed);
        uv_close ((uv_handle_t *)&l->timer, handle_closed);
    }
    http_accept_stop (l, handle_closed);
    if (l->daemon)
        MHD_stop_daemon (l->daemon);
    if (l->fd >= 0)
        close (l->fd);
    l->daemon = NULL;
    l->fd = -1;
}

static struct http_listener *listener_create (struct http_server *s, struct error *err)
{
    struct http_listener *l = calloc (1, sizeof (*l));

    if (!l)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    l->server = s;
    l->fd = -1;
    LL_APPEND (s->listeners, l);
    return l;
}

static void listener_free (struct http_listener *l)
{
    LL_DELETE (l->server->listeners, l);
    free (l->path);
    free (l->host);
    free (l);
}

/* Serves fd; if that is an error, frees l. On another failure l is a stopped listener. */
static int listener_start (struct http_listener *l, int fd, struct error *err)
{
    if (fd < 0) {
        listener_free (l);
        return fd;
    }
    l->fd = fd;
    int rc = start_daemon (l, err);
    if (rc == 0)
        rc = watch_daemon (l, err);
    if (rc < 0)
        listener_stop (l);
    return rc;
}

int http_server_listen_unix (struct http_server *s, const char *path, mode_t mode,
                             struct error *err)
{
    struct http_listener *l = listener_create (s, err);

    if (!l)
        return -ENOMEM;
    l->path = strdup (path);
    int fd = l->path ? http_listen_unix (path, mode, &l->dev, &l->ino, err)
                     : error_no_memory (err, NULL);
    return listener_start (l, fd, err);
}

int http_server_listen_tcp (struct http_server *s, const char *host, uint16_t port,
                            struct error *err)
{
    struct http_listener *l = listener_create (s, err);

    if (!l)
        return -ENOMEM;
    l->host = strdup (host);
    int fd = l->host ? http_listen_tcp (host, port, &l->port, err)
                     : error_no_memory (err, NULL);
    return listener_start (l, fd, err);
}

uint16_t http_server_port (const struct http_server *s)
{
    uint16_t port = 0;

    for (const struct http_listener *l = s->listeners; l; l = l->next) {
        if (l->daemon && l->port)
            port = l->port;
    }
    return port;
}

/* -- the server -- */

struct http_server *http_server_create (uv_loop_t *loop, http_handler_f handler,
                                        void *arg, struct error *err)
{
    struct http_server *s = calloc (1, sizeof (*s));

    if (!s)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    s->loop = loop;
    s->handler = handler;
    s->arg = arg;
    uv_prepare_init (loop, &s->prepare);
    uv_prepare_start (&s->prepare, on_prepare);
    s->prepare.data = s;
    uv_idle_init (loop, &s->again);
    s->again.data = s;
    http_accept_init (s);
    s->handles = 3;
    return s;
}

void http_server_set_limits (struct http_server *s, const struct http_limits *limits)
{
    s->limits = *limits;
}

void http_server_set_users (struct http_server *s,
                            bool (*privileged) (uid_t uid, void *arg),
                            uid_t (*account) (uid_t uid, void *arg))
{
    s->privileged = privileged;
    s->account = account;
}

void http_server_count (const struct http_server *s, uint64_t *ret_turns,
                        uint64_t *ret_stalls)
{
    *ret_turns = s->turns;
    *ret_stalls = s->stalls;
}

void http_server_set_review (struct http_server *s, http_review_f fn)
{
    s->review = fn;
}

void http_server_set_tokens (struct http_server *s, const struct http_tokens *tokens)
{
    struct token_key *old = s->tokens.key;

    s->tokens = tokens ? *tokens : (struct http_tokens){ .key = NULL };
    token_key_keep (s->tokens.key);
    token_key_release (old);
}

void http_server_set_open (struct http_server *s)
{
    s->open = true;
}

int http_server_set_munge_socket (struct http_server *s, const char *path)
{
    char *copy = path ? strdup (path) : NULL;

    if (path && !copy)
        return -ENOMEM;
    free (s->munge_socket);
    s->munge_socket = copy;
    return 0;
}

static void server_free (struct http_server *s)
{
    while (s->listeners)
        listener_free (s->listeners);
    free (s->munge_socket);
    token_key_release (s->tokens.key);
    free (s);
}

void http_server_unref (struct http_server *s)
{
    if (--s->handles == 0)
        server_free (s);
}

static void handle_closed (uv_handle_t *handle)
{
    const struct http_listener *l = handle->data;

    http_server_unref (l->server);
}

static void own_closed (uv_handle_t *handle)
{
    http_server_unref (handle->data);
}

void http_server_destroy (struct http_server *s)
{
    struct http_request *req;

    if (!s)
        return;
    /* MHD cannot stop while connections are suspended. */
    DL_FOREACH (s->requests, req) {
        http_request_resume (req);
    }
    for (struct http_listener *l = s->listeners; l; l = l->next)
        listener_stop (l);
    http_tls_stop (s);
    http_peer_sweep (s, true);
    if (s->reserve_fd >= 0)
        close (s->reserve_fd);
    uv_close ((uv_handle_t *)&s->prepare, own_closed);
    uv_close ((uv_handle_t *)&s->again, own_closed);
    uv_close ((uv_handle_t *)&s->sweep, own_closed);
}

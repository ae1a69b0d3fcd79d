/* http_server.c - MHD daemons in the libuv loop, and who may connect; see http_private.h
 * */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <utlist.h>

#include "common/log.h"
#include "net/http_private.h"

/* -- connections -- */

static struct http_peer *peer_add (struct http_server *s, uid_t uid)
{
    struct http_peer *peer;

    HASH_FIND (hh, s->peers, &uid, sizeof (uid), peer);
    if (!peer) {
        peer = calloc (1, sizeof (*peer));
        if (!peer)
            return NULL;
        peer->uid = uid;
        HASH_ADD (hh, s->peers, uid, sizeof (uid), peer);
    }
    peer->connections++;
    return peer;
}

static void peer_remove (struct http_server *s, struct http_peer *peer)
{
    if (--peer->connections == 0) {
        HASH_DEL (s->peers, peer);
        free (peer);
    }
}

static void identify (struct http_conn *conn, int fd)
{
    struct ucred cred;
    socklen_t len = sizeof (cred);

    if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0
        && len == sizeof (cred)) {
        conn->uid = cred.uid;
        conn->gid = cred.gid;
        conn->peer = peer_add (conn->listener->server, cred.uid);
    }
}

static void connection_opened (struct http_listener *l, struct MHD_Connection *mhd,
                               void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info (mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_conn *conn = calloc (1, sizeof (*conn));

    *context = conn;
    if (!conn || !info)
        return;
    conn->listener = l;
    conn->uid = (uid_t)-1;
    conn->gid = (gid_t)-1;
    if (!l->path)
        return;
    identify (conn, info->connect_fd);
    if (conn->peer && conn->peer->connections > HTTP_PEER_MAX) {
        conn->refused = true;
        if (conn->peer->connections > HTTP_PEER_MAX + HTTP_PEER_REFUSALS)
            shutdown (info->connect_fd, SHUT_RDWR);
    }
}

static void on_connection (void *cls, struct MHD_Connection *mhd, void **context,
                           enum MHD_ConnectionNotificationCode what)
{
    struct http_listener *l = cls;
    struct http_conn *conn = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_opened (l, mhd, context);
        return;
    }
    if (conn && conn->peer)
        peer_remove (l->server, conn->peer);
    free (conn);
    *context = NULL;
}

/* -- the loop -- */

static void on_timer (uv_timer_t *timer);

static void run_listener (struct http_listener *l)
{
    MHD_UNSIGNED_LONG_LONG wait;

    l->dirty = false;
    MHD_run (l->daemon);
    if (MHD_get_timeout (l->daemon, &wait) == MHD_YES)
        uv_timer_start (&l->timer, on_timer, wait, 0);
    else
        uv_timer_stop (&l->timer);
}

static void on_timer (uv_timer_t *timer)
{
    run_listener (timer->data);
}

static void on_poll (uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run_listener (poll->data);
}

/* Before the loop sleeps: connections that were resumed in this turn. */
static void on_prepare (uv_prepare_t *prepare)
{
    struct http_server *s = prepare->data;

    for (struct http_listener *l = s->listeners; l; l = l->next) {
        if (l->dirty)
            run_listener (l);
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
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG
            | MHD_USE_TURBO,
        0,
        NULL, NULL, http_request_access, l,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, /* first, for what the others say */
        MHD_OPTION_LISTEN_SOCKET, l->fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)(l->path ? 0 : HTTP_ADDRESS_MAX),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_POOL_SIZE,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, http_request_create, l,
        MHD_OPTION_NOTIFY_COMPLETED, http_request_completed, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, l,
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

/* Stop it; its memory goes with the server's. */
static void listener_stop (struct http_listener *l)
{
    listener_unlink (l);
    if (l->watched) {
        l->watched = false;
        uv_close ((uv_handle_t *)&l->poll, handle_closed);
        uv_close ((uv_handle_t *)&l->timer, handle_closed);
    }
    if (l->daemon)
        MHD_stop_daemon (l->daemon); /* closes the socket */
    else if (l->fd >= 0)
        close (l->fd);
    l->daemon = NULL;
    l->fd = -1;
}

/* Serve what l has in fd. On failure l is a listener that has stopped. */
static int listener_start (struct http_listener *l, struct error *err)
{
    int rc = start_daemon (l, err);

    if (rc == 0)
        rc = watch_daemon (l, err);
    if (rc < 0)
        listener_stop (l);
    return rc;
}

static struct http_listener *listener_create (struct http_server *s, struct error *err)
{
    struct http_listener *l = calloc (1, sizeof (*l));

    if (!l) {
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    l->server = s;
    l->fd = -1;
    LL_APPEND (s->listeners, l);
    return l;
}

int http_server_listen_unix (struct http_server *s, const char *path, mode_t mode,
                             struct error *err)
{
    struct http_listener *l = listener_create (s, err);

    if (!l)
        return -ENOMEM;
    int fd = http_listen_unix (path, mode, &l->dev, &l->ino, err);
    if (fd < 0) {
        LL_DELETE (s->listeners, l);
        free (l);
        return fd;
    }
    l->fd = fd;
    l->path = strdup (path);
    if (!l->path) {
        unlink (path);
        return error_set (err, ENOMEM, "out of memory");
    }
    return listener_start (l, err);
}

int http_server_listen_tcp (struct http_server *s, const char *host, uint16_t port,
                            struct error *err)
{
    struct http_listener *l = listener_create (s, err);

    if (!l)
        return -ENOMEM;
    int fd = http_listen_tcp (host, port, &l->port, err);
    if (fd < 0)
        return fd;
    l->fd = fd;
    return listener_start (l, err);
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

    if (!s) {
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    s->loop = loop;
    s->handler = handler;
    s->arg = arg;
    uv_prepare_init (loop, &s->prepare);
    uv_prepare_start (&s->prepare, on_prepare);
    s->prepare.data = s;
    s->handles = 1;
    return s;
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
    while (s->listeners) {
        struct http_listener *l = s->listeners;
        LL_DELETE (s->listeners, l);
        free (l->path);
        free (l);
    }
    free (s->munge_socket);
    free (s);
}

static void server_unref (struct http_server *s)
{
    if (--s->handles == 0)
        server_free (s);
}

static void handle_closed (uv_handle_t *handle)
{
    const struct http_listener *l = handle->data;

    server_unref (l->server);
}

static void prepare_closed (uv_handle_t *handle)
{
    server_unref (handle->data);
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
    uv_close ((uv_handle_t *)&s->prepare, prepare_closed);
}

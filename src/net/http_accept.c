/* http_accept.c - accepts connections for MHD: who may connect, and time limits
 *
 * The server accepts connections itself, because MHD stops looking at its listening
 * socket when descriptors run out, and may never look again. Here a reserve descriptor
 * accepts the connection for a moment, so that the client is told to try again; if even
 * that fails, a timer tries again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/io.h"
#include "net/http_private.h"

#define ACCEPTS_A_TURN 32
#define ACCEPT_AGAIN_MS 100
#define SWEEP_MS 1000

/* -- connections of MHD -- */

static void identify (struct http_conn *conn)
{
    struct ucred cred;
    socklen_t len = sizeof (cred);

    if (getsockopt (conn->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0
        || len != sizeof (cred))
        return;
    conn->uid = cred.uid;
    conn->pid = cred.pid;
    http_peer_join (conn, conn->uid);
    if (conn->peer
        && conn->peer->connections
               > conn->listener->server->limits.connections + HTTP_PEER_REFUSALS)
        shutdown (conn->fd, SHUT_RDWR);
}

/* The connection of http_server_admit(): the broker's own credentials are not the
 * user's. */
static void identify_guest (struct http_conn *conn)
{
    struct http_server *s = conn->listener->server;

    conn->uid = s->guest.uid;
    conn->guest = s->guest.number;
    conn->from = s->guest.from;
    s->guest.from = NULL;
    s->guest.fd = -1;
    http_peer_join (conn, conn->uid);
}

static void connection_opened (struct http_listener *l, struct MHD_Connection *mhd,
                               void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info (mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_conn *conn = info ? calloc (1, sizeof (*conn)) : NULL;

    *context = conn;
    if (!conn)
        return;
    conn->listener = l;
    conn->fd = info->connect_fd;
    conn->uid = (uid_t)-1;
    conn->since = uv_now (l->server->loop);
    DL_APPEND (l->server->conns, conn);
    l->server->nconns++;
    if (conn->fd == l->server->guest.fd)
        identify_guest (conn);
    else if (l->path)
        identify (conn);
    else
        http_conn_note_address (conn, mhd);
    conn->secure = l->server->tls.secure;
    l->server->tls.secure = NULL;
}

void http_connection_event (void *cls, struct MHD_Connection *mhd, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    struct http_listener *l = cls;
    struct http_conn *conn = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_opened (l, mhd, context);
        return;
    }
    if (!conn)
        return;
    http_peer_leave (conn);
    DL_DELETE (l->server->conns, conn);
    l->server->nconns--;
    free (conn->from);
    free (conn->secure);
    free (conn);
    *context = NULL;
}

/* -- time -- */

/* Milliseconds that the connection may stay in its present state; 0: unlimited. */
static uint64_t patience (const struct http_conn *conn)
{
    const struct http_limits *limits = &conn->listener->server->limits;
    const struct http_request *req = conn->req;

    if (!req || !req->begun)
        return limits->head_seconds * UINT64_C (1000);
    return req->complete || req->response ? 0 : limits->body_seconds * UINT64_C (1000);
}

/* MHD's own limit restarts with each byte, so a client that sends one byte a minute would
 * stay forever. */
static void on_sweep (uv_timer_t *timer)
{
    struct http_server *s = timer->data;
    struct http_conn *conn;
    uint64_t now = uv_now (s->loop);

    http_peer_sweep (s, false);
    http_tls_sweep (s);
    DL_FOREACH (s->conns, conn)
    {
        uint64_t most = patience (conn);
        if (most > 0 && now - conn->since > most)
            shutdown (conn->fd, SHUT_RDWR); /* MHD notices and closes it */
    }
}

/* -- accepting -- */

static bool has_tls (const struct http_listener *l)
{
    return !l->path && l->server->tls.context;
}

/* With TLS there is no way to say it before a handshake. */
static void turn_down (const struct http_listener *l, int fd)
{
    static const char body[] =
        "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
        "\"code\":\"busy\",\"detail\":\"the broker has too many connections: try again "
        "in a second\"}\n";
    char text[512];
    int n = snprintf (text, sizeof (text),
                      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                      "Connection: close\r\nContent-Type: application/problem+json\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      sizeof (body) - 1, body);

    if (!has_tls (l))
        send (fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    close (fd);
}

static bool is_of_privileged (const struct http_server *s, int fd)
{
    struct ucred cred;
    socklen_t len = sizeof (cred);

    return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0
           && http_is_privileged (s, cred.uid);
}

static bool has_room (const struct http_listener *l, int fd)
{
    const struct http_server *s = l->server;
    unsigned reserve = MIN (s->limits.reserve, s->max_connections / 8);

    if (s->nconns + s->tls.nhandshakes + reserve < s->max_connections
        && s->nconns + 2 * s->tls.nlinks + reserve < s->max_descriptors)
        return true;
    return l->path && s->nconns < s->max_connections && is_of_privileged (s, fd);
}

static int reserve_open (void)
{
    return open ("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_pause (struct http_listener *l);

static void on_accept_again (uv_timer_t *timer);

static int accept_next (const struct http_listener *l, struct sockaddr_storage *addr,
                        socklen_t *len)
{
    int fd;

    do {
        *len = sizeof (*addr);
        fd = accept4 (l->fd, (struct sockaddr *)addr, len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return fd < 0 ? -errno : fd;
}

/* No descriptor is left: accepts one connection with the reserve, to tell its client.
 * false: nothing more can be done now. */
static bool turn_away (struct http_listener *l)
{
    struct http_server *s = l->server;
    struct sockaddr_storage addr;
    socklen_t len;

    if (s->reserve_fd >= 0)
        close (s->reserve_fd);
    int fd = accept_next (l, &addr, &len);
    if (fd >= 0)
        turn_down (l, fd);
    s->reserve_fd = reserve_open ();
    return fd >= 0 && s->reserve_fd >= 0;
}

/* Accepts waiting connections; false: pause, as descriptors are short. */
static bool accept_some (struct http_listener *l)
{
    struct sockaddr_storage addr;
    socklen_t len;

    for (unsigned i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept_next (l, &addr, &len);
        if (fd == -EAGAIN)
            return true;
        if (fd < 0 && ((fd != -EMFILE && fd != -ENFILE) || !turn_away (l)))
            return false;
        if (fd >= 0 && !has_room (l, fd))
            turn_down (l, fd);
        else if (fd >= 0 && has_tls (l))
            http_tls_accept (l, fd, (struct sockaddr *)&addr, len);
        else if (fd >= 0)
            MHD_add_connection (l->daemon, fd, (struct sockaddr *)&addr, len);
    }
    return true;
}

static struct http_listener *unix_listener (const struct http_server *s)
{
    struct http_listener *l = s->listeners;

    while (l && !l->path)
        l = l->next;
    return l;
}

int http_server_admit (struct http_server *s, int fd, uid_t uid, uint64_t guest,
                       const char *from)
{
    const struct sockaddr addr = { .sa_family = AF_UNIX };
    struct http_listener *l = unix_listener (s);

    if (!l || s->nconns >= s->max_connections || io_set_nonblock (fd) < 0) {
        close (fd);
        return -EAGAIN;
    }
    s->guest.fd = fd;
    s->guest.uid = uid;
    s->guest.number = guest;
    s->guest.from = strdup (from);
    bool added = MHD_add_connection (l->daemon, fd, &addr, sizeof (addr)) == MHD_YES;
    bool known = s->guest.fd < 0;
    s->guest.fd = -1;
    free (s->guest.from);
    s->guest.from = NULL;
    if (added && !known) /* must never count as a connection of the broker's own user */
        shutdown (fd, SHUT_RDWR);
    l->dirty = true;
    return added && known ? 0 : -EIO;
}

static void on_acceptable (uv_poll_t *poll, int status, int events)
{
    struct http_listener *l = poll->data;

    (void)status;
    (void)events;
    if (!accept_some (l))
        accept_pause (l);
    l->idle_turns = 0;
    http_listener_run (l);
}

static void accept_pause (struct http_listener *l)
{
    uv_poll_stop (&l->acceptable);
    uv_timer_start (&l->accept_again, on_accept_again, ACCEPT_AGAIN_MS, 0);
}

static void on_accept_again (uv_timer_t *timer)
{
    struct http_listener *l = timer->data;

    if (l->server->reserve_fd < 0)
        l->server->reserve_fd = reserve_open ();
    uv_poll_start (&l->acceptable, UV_READABLE, on_acceptable);
}

int http_accept_start (struct http_listener *l)
{
    struct http_server *s = l->server;
    int rc = uv_poll_init (s->loop, &l->acceptable, l->fd);

    if (rc < 0)
        return rc;
    uv_timer_init (s->loop, &l->accept_again);
    l->acceptable.data = l;
    l->accept_again.data = l;
    l->accepting = true;
    s->handles += 2;
    return uv_poll_start (&l->acceptable, UV_READABLE, on_acceptable);
}

void http_accept_stop (struct http_listener *l, uv_close_cb closed)
{
    if (!l->accepting)
        return;
    l->accepting = false;
    uv_close ((uv_handle_t *)&l->acceptable, closed);
    uv_close ((uv_handle_t *)&l->accept_again, closed);
}

/* The other half of the descriptors is for the rest of the broker. */
static unsigned most_descriptors (void)
{
    struct rlimit limit;

    if (getrlimit (RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 2 > UINT_MAX)
        return 3 * HTTP_CONNECTIONS_MAX;
    return (unsigned)(limit.rlim_cur / 2);
}

void http_accept_init (struct http_server *s)
{
    s->limits = (struct http_limits)HTTP_LIMITS_DEFAULT;
    s->max_descriptors = most_descriptors ();
    s->max_connections = MIN (s->max_descriptors, HTTP_CONNECTIONS_MAX);
    s->reserve_fd = reserve_open ();
    s->guest.fd = -1;
    uv_timer_init (s->loop, &s->sweep);
    s->sweep.data = s;
    uv_timer_start (&s->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    uv_unref ((uv_handle_t *)&s->sweep);
}

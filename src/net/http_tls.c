/* http_tls.c - TLS in front of MHD: accepts, shakes hands and pumps; see http_private.h
 *
 *     accept --> SHAKING <--> QUEUED --> (worker)     the next step of the handshake
 *                   |                        |
 *                   '---- failed, late, <----|
 *                         or pushed out      '--> OPEN --> LINGERING --> ended
 *
 * A handshake costs a signature (0.6 ms with RSA-2048), so worker threads of libuv's pool
 * do its steps, few at a time. A connection costs MHD nothing before its handshake is
 * complete: then MHD gets one end of a socket pair, and the pump (tls_pump.h) carries bytes
 * between the other end and the client.
 *
 * A client that connects and does not go on holds a place among the handshakes. When no
 * place is left, the oldest handshake loses its own, of the same address first: a real one
 * takes milliseconds, so it gets through.
 */
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/log.h"
#include "net/http_private.h"
#include "net/tls_policy.h"
#include "net/tls_pump.h"

#define HANDSHAKES_MAX 1024
#define HANDSHAKES_OF_ADDRESS 256
#define WORKERS 2 /* of the four of the pool */
#define LINGER_MS 5000
#define DISCARD_SIZE 65536

enum link_state {
    LINK_SHAKING,
    LINK_QUEUED,
    LINK_WORKING,
    LINK_OPEN,
    LINK_LINGERING,
    LINK_ENDED
};

enum handshake { SHAKE_DONE, SHAKE_READS, SHAKE_WRITES, SHAKE_FAILED, SHAKE_NO_TLS };

struct http_link {                   /* a TLS connection */
    struct http_link *prev, *next;   /* of the handshakes or of the open links */
    struct http_link *qprev, *qnext; /* of those that wait for a worker */
    struct http_listener *listener;
    enum link_state state;
    unsigned holders; /* itself until its end, handles, the worker */
    uint64_t since;   /* ms of the loop: accepted, or the last byte moved */
    int net, plain;
    int net_events, plain_events; /* watched */
    struct sockaddr_storage address;
    socklen_t address_len;
    SSL *ssl;
    struct tls_pump *pump; /* when open */
    uv_poll_t net_poll, plain_poll;
    uv_work_t work;
    /* the worker's result */
    enum handshake result;
    char reason[128];
    struct http_secure *secure;
    int (*uid_of) (const char *name, uid_t *ret);
};

static void advance (struct http_link *link);

/* -- the end -- */

static void release (struct http_link *link)
{
    struct http_server *s = link->listener->server;

    if (--link->holders > 0)
        return;
    close (link->net); /* not earlier: a worker may have used it */
    tls_pump_destroy (link->pump);
    SSL_free (link->ssl);
    free (link->secure);
    free (link);
    http_server_unref (s);
}

static void on_closed (uv_handle_t *handle)
{
    release (handle->data);
}

static bool is_handshake (const struct http_link *link)
{
    return link->state <= LINK_WORKING;
}

/* Takes the link out of the list of its state. */
static void leave_list (struct http_link *link)
{
    struct http_tls *tls = &link->listener->server->tls;

    if (link->state == LINK_QUEUED)
        DL_DELETE2 (tls->queue, link, qprev, qnext);
    if (is_handshake (link)) {
        DL_DELETE (tls->handshakes, link);
        tls->nhandshakes--;
    } else {
        DL_DELETE (tls->open, link);
    }
}

static void link_end (struct http_link *link)
{
    if (link->state == LINK_ENDED)
        return;
    leave_list (link);
    link->state = LINK_ENDED;
    link->listener->server->tls.nlinks--;
    uv_close ((uv_handle_t *)&link->net_poll, on_closed);
    if (link->plain >= 0) {
        uv_close ((uv_handle_t *)&link->plain_poll, on_closed);
        close (link->plain);
    }
    release (link);
}

/* -- an open link -- */

static void on_event (uv_poll_t *poll, int status, int events)
{
    (void)status; /* an error shows at the next read or write */
    (void)events;
    advance (poll->data);
}

static void watch (uv_poll_t *poll, int *watched, int events)
{
    if (*watched == events)
        return;
    *watched = events;
    if (events)
        uv_poll_start (poll, events, on_event);
    else
        uv_poll_stop (poll);
}

static void watch_net (struct http_link *link, int events)
{
    watch (&link->net_poll, &link->net_events, events);
}

/* Reads and forgets what the client still sends: closing at once would reset the
 * connection, and the client could lose the answer. */
static void discard (struct http_link *link)
{
    char buffer[DISCARD_SIZE];
    ssize_t n = recv (link->net, buffer, sizeof (buffer), MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        link_end (link);
}

static void linger (struct http_link *link)
{
    if (is_handshake (link)) {
        leave_list (link);
        DL_APPEND (link->listener->server->tls.open, link);
    }
    link->state = LINK_LINGERING;
    link->since = uv_now (link->listener->server->loop);
    shutdown (link->net, SHUT_WR);
    if (link->plain >= 0)
        watch (&link->plain_poll, &link->plain_events, 0);
    watch_net (link, UV_READABLE);
}

static void move (struct http_link *link)
{
    int wants = tls_pump_move (link->pump);

    if (tls_pump_moved (link->pump))
        link->since = uv_now (link->listener->server->loop);
    if (wants < 0 || (wants == 0 && !tls_pump_is_deaf (link->pump))) {
        link_end (link);
    } else if (wants == 0) {
        linger (link);
    } else {
        watch_net (link, (wants & TLS_NET_IN ? UV_READABLE : 0)
                             | (wants & TLS_NET_OUT ? UV_WRITABLE : 0));
        watch (&link->plain_poll, &link->plain_events,
               (wants & TLS_PLAIN_IN ? UV_READABLE : 0)
                   | (wants & TLS_PLAIN_OUT ? UV_WRITABLE : 0));
    }
}

/* Adds the connection to MHD, which closes fd in any case. */
static bool add_connection (struct http_link *link, int fd)
{
    struct http_listener *l = link->listener;
    struct http_tls *tls = &l->server->tls;

    tls->secure = link->secure;
    link->secure = NULL;
    bool added = MHD_add_connection (l->daemon, fd, (struct sockaddr *)&link->address,
                                     link->address_len)
                 == MHD_YES;
    bool known = !tls->secure; /* the connection has it */
    free (tls->secure);
    tls->secure = NULL;
    if (added && !known) /* must never count as a connection without TLS */
        shutdown (fd, SHUT_RDWR);
    l->dirty = true;
    return added && known;
}

/* The handshake is complete: MHD gets its end of a socket pair. */
static void open_link (struct http_link *link)
{
    struct http_server *s = link->listener->server;
    int pair[2];

    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
        link_end (link);
        return;
    }
    link->pump = tls_pump_create (link->ssl, pair[1]);
    if (!link->pump || uv_poll_init (s->loop, &link->plain_poll, pair[1]) < 0) {
        close (pair[0]);
        close (pair[1]);
        link_end (link);
        return;
    }
    link->plain = pair[1];
    link->plain_poll.data = link;
    link->holders++;
    leave_list (link);
    DL_APPEND (s->tls.open, link);
    link->state = LINK_OPEN;
    http_keep_alive (link->net);
    if (add_connection (link, pair[0]))
        move (link);
    else
        link_end (link);
}

/* -- the handshake, on a worker thread -- */

static void note_failure (struct http_link *link)
{
    int reason = ERR_GET_REASON (ERR_peek_last_error ());

    link->result = reason == SSL_R_HTTP_REQUEST ? SHAKE_NO_TLS : SHAKE_FAILED;
    snprintf (link->reason, sizeof (link->reason), "%s",
              reason ? tls_policy_reason () : "the client has gone");
}

/* Notes the facts about the connection that its requests need: channel, certificate,
 * addresses. */
static void learn (struct http_link *link)
{
    struct http_secure *secure = link->secure;
    const X509 *cert = SSL_get0_peer_certificate (link->ssl);
    socklen_t len = sizeof (secure->local);

    getsockname (link->net, (struct sockaddr *)&secure->local, &len);
    secure->has_channel = tls_policy_channel (link->ssl, secure->channel) == 0;
    secure->has_certificate = cert != NULL;
    if (cert)
        secure->user_rc = tls_user_of (cert, secure->user);
    if (cert && secure->user_rc == 0)
        secure->user_rc = link->uid_of (secure->user, &secure->uid);
    ERR_clear_error ();
}

static void on_worker (uv_work_t *work)
{
    struct http_link *link = work->data;

    ERR_clear_error ();
    int rc = SSL_do_handshake (link->ssl);
    int error = rc == 1 ? SSL_ERROR_NONE : SSL_get_error (link->ssl, rc);
    if (error == SSL_ERROR_NONE) {
        link->result = SHAKE_DONE;
        learn (link);
    } else if (error == SSL_ERROR_WANT_READ) {
        link->result = SHAKE_READS;
    } else if (error == SSL_ERROR_WANT_WRITE) {
        link->result = SHAKE_WRITES;
    } else {
        note_failure (link);
    }
    ERR_clear_error ();
}

/* Tells a client that speaks HTTP without TLS. */
static void say_tls (struct http_link *link)
{
    static const char body[] =
        "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
        "\"code\":\"needs-tls\",\"detail\":\"this port speaks TLS: use https:// instead "
        "of "
        "http://\"}\n";
    char text[512];
    int n = snprintf (text, sizeof (text),
                      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
                      "Content-Type: application/problem+json\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      sizeof (body) - 1, body);

    send (link->net, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    linger (link);
}

static void start_workers (struct http_server *s);

static void after_worker (uv_work_t *work, int status)
{
    struct http_link *link = work->data;
    struct http_server *s = link->listener->server;

    s->tls.working--;
    if (link->state == LINK_ENDED) {
        start_workers (s);
        release (link); /* perhaps the last holder of the server */
        return;
    }
    release (link); /* the worker's hold; the link has its own */
    link->state = LINK_SHAKING;
    if (status < 0) {
        link_end (link);
    } else if (link->result == SHAKE_DONE) {
        open_link (link);
    } else if (link->result == SHAKE_NO_TLS) {
        say_tls (link);
    } else if (link->result == SHAKE_FAILED) {
        log_debug ("tls: handshake failed: %s", link->reason);
        link_end (link);
    } else {
        watch_net (link, link->result == SHAKE_READS ? UV_READABLE : UV_WRITABLE);
    }
    start_workers (s);
}

static void start_workers (struct http_server *s)
{
    while (s->tls.queue && s->tls.working < WORKERS) {
        struct http_link *link = s->tls.queue;
        DL_DELETE2 (s->tls.queue, link, qprev, qnext);
        link->state = LINK_WORKING;
        link->holders++;
        link->work.data = link;
        s->tls.working++;
        if (uv_queue_work (s->loop, &link->work, on_worker, after_worker) < 0) {
            s->tls.working--;
            release (link);
            link_end (link);
        }
    }
}

/* -- events -- */

static void advance (struct http_link *link)
{
    struct http_server *s = link->listener->server;

    switch (link->state) {
    case LINK_SHAKING:
        watch_net (link, 0);
        link->state = LINK_QUEUED;
        DL_APPEND2 (s->tls.queue, link, qprev, qnext);
        start_workers (s);
        break;
    case LINK_OPEN:
        move (link);
        break;
    case LINK_LINGERING:
        discard (link);
        break;
    default:
        break;
    }
}

/* -- accepting -- */

/* One machine has many IPv6 addresses, so the /64 network is compared. */
static bool is_same_address (const struct sockaddr_storage *a,
                             const struct sockaddr_storage *b)
{
    const struct sockaddr_in *a4 = (const struct sockaddr_in *)a;
    const struct sockaddr_in *b4 = (const struct sockaddr_in *)b;
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family != AF_INET6)
        return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    bool mapped = IN6_IS_ADDR_V4MAPPED (&a6->sin6_addr);
    return !memcmp (&a6->sin6_addr, &b6->sin6_addr, mapped ? 16 : 8);
}

/* Ends the oldest handshake that no worker has; address: of this one, or NULL: of any. */
static bool push_out (struct http_server *s, const struct sockaddr_storage *address)
{
    struct http_link *link;

    DL_FOREACH (s->tls.handshakes, link) {
        if (link->state != LINK_WORKING
            && (!address || is_same_address (&link->address, address))) {
            link_end (link);
            return true;
        }
    }
    return false;
}

static bool make_room (struct http_server *s, const struct sockaddr_storage *address)
{
    struct http_link *link;
    unsigned n = 0;

    DL_FOREACH (s->tls.handshakes, link) {
        n += is_same_address (&link->address, address);
    }
    if (n >= HANDSHAKES_OF_ADDRESS && !push_out (s, address))
        return false;
    return s->tls.nhandshakes < MIN (HANDSHAKES_MAX, s->max_connections / 4)
           || push_out (s, NULL);
}

static struct http_link *create_link (struct http_listener *l, int fd)
{
    struct http_link *link = calloc (1, sizeof (*link));

    if (link && (link->secure = calloc (1, sizeof (*link->secure)))
        && (link->ssl = SSL_new (l->server->tls.context))
        && SSL_set_fd (link->ssl, fd) == 1
        && uv_poll_init (l->server->loop, &link->net_poll, fd) == 0)
        return link;
    ERR_clear_error ();
    if (link) {
        SSL_free (link->ssl);
        free (link->secure);
    }
    free (link);
    return NULL;
}

void http_tls_accept (struct http_listener *l, int fd, const struct sockaddr *address,
                      socklen_t len)
{
    struct http_server *s = l->server;
    struct http_link *link = NULL;
    struct sockaddr_storage from = { 0 };

    memcpy (&from, address, MIN (len, sizeof (from)));
    if (make_room (s, &from))
        link = create_link (l, fd);
    if (!link) {
        close (fd);
        return;
    }
    SSL_set_accept_state (link->ssl);
    link->listener = l;
    link->address = from;
    link->address_len = len;
    link->net = fd;
    link->plain = -1;
    link->since = uv_now (s->loop);
    link->uid_of = s->tls.uid_of;
    link->net_poll.data = link;
    link->holders = 2;
    s->handles++;
    s->tls.nlinks++;
    s->tls.nhandshakes++;
    DL_APPEND (s->tls.handshakes, link);
    watch_net (link, UV_READABLE);
}

/* -- time -- */

/* Whether MHD has closed its end. */
static bool is_closed (const struct http_link *link)
{
    struct pollfd p = { .fd = link->plain };

    return poll (&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

/* Whether nobody waits for the link any more: MHD has closed its end, and the client takes
 * nothing, or does not close its own. */
static bool is_left (const struct http_link *link, uint64_t quiet)
{
    if (quiet <= LINGER_MS)
        return false;
    if (link->state == LINK_LINGERING)
        return true;
    bool waits = tls_pump_is_waiting (link->pump);
    if (waits && quiet <= HTTP_IDLE_SECONDS * UINT64_C (1000))
        return false;
    return (waits || tls_pump_has_ended (link->pump)) && is_closed (link);
}

void http_tls_sweep (struct http_server *s)
{
    struct http_link *link, *next;
    uint64_t now = uv_now (s->loop);

    DL_FOREACH_SAFE (s->tls.handshakes, link, next)
    {
        if (now - link->since > s->limits.head_seconds * UINT64_C (1000))
            link_end (link);
    }
    DL_FOREACH_SAFE (s->tls.open, link, next)
    {
        if (is_left (link, now - link->since))
            link_end (link);
    }
}

void http_tls_stop (struct http_server *s)
{
    while (s->tls.handshakes)
        link_end (s->tls.handshakes);
    while (s->tls.open)
        link_end (s->tls.open);
    SSL_CTX_free (s->tls.context);
    s->tls.context = NULL;
}

void http_server_set_tls (struct http_server *s, SSL_CTX *context,
                          int (*uid_of) (const char *name, uid_t *ret))
{
    if (context)
        SSL_CTX_up_ref (context);
    SSL_CTX_free (s->tls.context);
    s->tls.context = context;
    s->tls.uid_of = uid_of;
}

bool http_server_has_tls (const struct http_server *s)
{
    return s->tls.context;
}

/* http_peer.c - accounts of users: their shares of the server; see http_private.h
 */
#include <unistd.h>

#include "net/http_private.h"

/* Root, the server's own user, and users that the broker names. */
bool http_is_privileged (const struct http_server *s, uid_t uid)
{
    if (uid == (uid_t)-1)
        return false;
    return uid == 0 || uid == geteuid () || (s->privileged && s->privileged (uid, s->arg));
}

static struct http_peer *peer_get (struct http_server *s, uid_t uid)
{
    struct http_peer *peer;

    HASH_FIND (hh, s->peers, &uid, sizeof (uid), peer);
    if (!peer) {
        peer = calloc (1, sizeof (*peer));
        if (!peer)
            return NULL;
        peer->uid = uid;
        peer->tokens = s->limits.burst;
        peer->filled = uv_now (s->loop);
        HASH_ADD (hh, s->peers, uid, sizeof (uid), peer);
    }
    return peer;
}

void http_peer_join (struct http_conn *conn, uid_t uid)
{
    struct http_server *s = conn->listener->server;
    uid_t account = s->account ? s->account (uid, s->arg) : uid;

    if (conn->peer && conn->peer->uid == account)
        return;
    http_peer_leave (conn);
    conn->peer = peer_get (s, account);
    conn->refused = conn->peer && ++conn->peer->connections > s->limits.connections;
}

void http_peer_leave (struct http_conn *conn)
{
    struct http_peer *peer = conn->peer;

    conn->peer = NULL;
    if (peer)
        peer->connections--; /* the bucket stays: a new connection does not fill it */
}

/* -- requests a second: a token bucket for each account -- */

static void fill (const struct http_server *s, struct http_peer *peer)
{
    uint64_t now = uv_now (s->loop);
    double more = (double)(now - peer->filled) * s->limits.requests / 1000;

    peer->tokens = MIN (peer->tokens + more, (double)s->limits.burst);
    peer->filled = now;
}

static bool take_token (struct http_request *req)
{
    const struct http_server *s = req->server;
    struct http_peer *peer = req->conn->peer;

    if (s->limits.requests == 0 || !peer || http_is_privileged (s, req->uid))
        return true;
    fill (s, peer);
    if (peer->tokens < 1)
        return false;
    peer->tokens -= 1;
    return true;
}

bool http_peer_admit (struct http_request *req)
{
    const struct http_server *s = req->server;

    if (!req->conn->refused && take_token (req))
        return true;
    http_reply_header (req, "Retry-After", "1");
    if (req->conn->refused) {
        http_reply_header (req, "Connection", "close");
        http_reply_problem (req, MHD_HTTP_TOO_MANY_REQUESTS, "busy",
                            "user %u has more than %u connections: try again in a second",
                            (unsigned)req->conn->peer->uid, s->limits.connections);
    } else {
        http_reply_problem (
            req, MHD_HTTP_TOO_MANY_REQUESTS, "too-many-requests",
            "more than %u requests a second from user %u: try again in a second",
            s->limits.requests, (unsigned)req->conn->peer->uid);
    }
    return false;
}

void http_peer_sweep (struct http_server *s, bool all)
{
    struct http_peer *peer, *next;

    HASH_ITER (hh, s->peers, peer, next)
    {
        fill (s, peer);
        if (!all && (peer->connections > 0 || peer->tokens < s->limits.burst))
            continue;
        HASH_DEL (s->peers, peer);
        free (peer);
    }
}

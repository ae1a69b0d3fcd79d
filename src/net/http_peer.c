/* http_peer.c - accounts of users: how much of the server each has; see http_private.h
 */
#include <unistd.h>

#include "net/http_private.h"

/* Root, the server's own user, and those that the broker names. */
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
        HASH_ADD (hh, s->peers, uid, sizeof (uid), peer);
    }
    return peer;
}

void http_peer_join (struct http_conn *conn)
{
    struct http_server *s = conn->listener->server;

    conn->peer = peer_get (s, s->account ? s->account (conn->uid, s->arg) : conn->uid);
    if (conn->peer)
        conn->refused = ++conn->peer->connections > s->limits.connections;
}

void http_peer_leave (struct http_conn *conn)
{
    struct http_server *s = conn->listener->server;
    struct http_peer *peer = conn->peer;

    conn->peer = NULL;
    if (peer && --peer->connections == 0) {
        HASH_DEL (s->peers, peer);
        free (peer);
    }
}

/* server.h - incoming connections of a rank: its children in the tree of agents, and
 * requests
 *
 *     server = server_create (&loop, &config, &events, ctx);
 *     server_send (server, rank, &msg);            // to a rank below this one
 *     server_reply (conn, 204, NULL, NULL);        // from within events->request
 *     server_pump (server);                        // once a round, for the streams
 *
 * States of a connection:
 *
 *     FIRST --"FQJ1"--> HELLO --challenge--> PROOF --right--> JOINING --join--> MEMBER
 *       +---anything--> HTTP --a request--> REPLY or STREAM, then REPLY until closed
 *                        +-----an upgrade--> handed on, no connection of ours any more
 *
 * A connection that is neither MEMBER nor STREAM is closed after 10 seconds. There are at
 * most 2,048 of them; one more closes the oldest. A slow peer delays no other, since each
 * connection has its own buffer. The server logs 16 refused connections a minute, and the
 * number of further ones.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shell/agent/tree.h"
#include "shell/io/http.h"
#include "shell/io/loop.h"
#include "shell/io/spool.h"
#include "shell/io/wire.h"

#define SERVER_LOOSE_MAX 2048
#define SERVER_LOOSE_SECONDS 10.0
#define SERVER_STREAMS_MAX 16

struct server;
struct conn;

struct server_config {
    int fd;             /* a listening socket; the server owns it */
    const uint8_t *key; /* the job's key */
    uint64_t job_id;
    const struct tree *tree;
    uint32_t rank;             /* this rank */
    const struct spool *spool; /* for server_stream() */
};

struct server_events {
    /* A child has proven that it has the key. False refuses it, with *ret_why for the
     * log. */
    bool (*join) (void *ctx, uint32_t rank, const struct frame *msg,
                  const char **ret_why);
    /* A message from a rank below this one, first the WIRE_JOIN of a child; no
     * heartbeats. False: the message is invalid, close the child through which it
     * came. */
    bool (*message) (void *ctx, uint32_t rank, const struct frame *msg);
    /* The connection of this child is closed. */
    void (*closed) (void *ctx, uint32_t rank, const char *why);
    /* Must end in server_reply(), server_stream() or server_upgrade(). */
    void (*request) (void *ctx, struct conn *conn, const struct http_request *req);
    /* After server_upgrade(): the callee owns the connection and out, the bytes to
     * send first. data: bytes that the peer has sent already. NULL if no request is
     * upgraded. */
    void (*upgraded) (void *ctx, int fd, struct outbuf *out, const char *data,
                      size_t len);
    void (*log) (void *ctx, const char *text);
};

/* The data that config and events point to must outlive the server. NULL: no memory (the
 * caller still owns fd). */
struct server *server_create (struct loop *loop, const struct server_config *config,
                              const struct server_events *events, void *ctx);
void server_destroy (struct server *server);
/* Lets no one else in: closes the listening socket and all connections except those of
 * joined children. The key is not used any more. */
void server_shut (struct server *server);
/* Sends to one rank below this one; does nothing if the child on the way is not
 * connected. */
void server_send (struct server *server, uint32_t rank, const struct frame *msg);
/* Sends to all ranks below this one. */
void server_broadcast (struct server *server, const struct frame *msg);
/* A child has left for good: a new child with its rank may join. */
void server_forget (struct server *server, uint32_t rank);
uint32_t server_members (const struct server *server); /* children connected now */
uint32_t server_streams (const struct server *server);
void server_reply (struct conn *conn, int status, const char *type, const char *body);
/* Streams the spool from offset on, without output frames if !output. -EBUSY: too many
 * streams. */
int server_stream (struct conn *conn, const struct http_request *req, uint64_t offset,
                   bool output);
/* Accepts req->upgrade: events->upgraded gets the connection. */
void server_upgrade (struct conn *conn);
void server_pump (struct server *server);

/* server.h - who connects to this rank: its children in the tree of agents, and requests
 *
 *     server = server_create (&loop, &config, &events, ctx);
 *     server_send (server, rank, &msg);            // to a rank below this one
 *     server_reply (conn, 204, NULL);              // from within events->request
 *     server_pump (server);                        // once a round, for the streams
 *
 * A connection is one of:
 *
 *     FIRST --"FQJ1"--> HELLO --challenge--> PROOF --right--> JOINING --join--> MEMBER
 *       +---anything--> HTTP --a request--> REPLY or STREAM, then REPLY until closed
 *                        +-----an upgrade--> handed on, no connection of ours any more
 *
 * Whoever is neither MEMBER nor STREAM has 10 seconds; at most 2,048 of those at once,
 * then the oldest goes. Nothing waits for a slow peer: each has its own buffer. Of those
 * that are refused 16 a minute are logged, and how many more there were.
 */
#ifndef FLUXQ_SHELL_SERVER_H
#define FLUXQ_SHELL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "shell/http.h"
#include "shell/loop.h"
#include "shell/spool.h"
#include "shell/tree.h"
#include "shell/wire.h"

#define SERVER_LOOSE_MAX 2048
#define SERVER_LOOSE_SECONDS 10.0
#define SERVER_STREAMS_MAX 16

struct server;
struct conn;

struct server_config {
    int fd;             /* a listening socket, taken over */
    const uint8_t *key; /* the job's */
    uint64_t job_id;
    const struct tree *tree;
    uint32_t rank;             /* this one */
    const struct spool *spool; /* for server_stream() */
};

struct server_events {
    /* A child that has proven itself; false refuses it (with *ret_why for the log). */
    bool (*join) (void *ctx, uint32_t rank, const struct frame *msg,
                  const char **ret_why);
    /* From this rank below us, a child's WIRE_JOIN first; not heartbeats. False: it talks
     * nonsense, close the child through which it came. */
    bool (*message) (void *ctx, uint32_t rank, const struct frame *msg);
    /* This child's connection is gone. */
    void (*closed) (void *ctx, uint32_t rank, const char *why);
    /* Must end in server_reply(), server_stream() or server_upgrade(). */
    void (*request) (void *ctx, struct conn *conn, const struct http_request *req);
    /* After server_upgrade(): the connection is the callee's. out: what it is to be told
     * before all else (the callee's, too); data: what it has said already. NULL where
     * nothing is upgraded. */
    void (*upgraded) (void *ctx, int fd, struct outbuf *out, const char *data,
                      size_t len);
    void (*log) (void *ctx, const char *text);
};

/* What config and events point to must outlive it. NULL: no memory (fd is still the
 * caller's). */
struct server *server_create (struct loop *loop, const struct server_config *config,
                              const struct server_events *events, void *ctx);
void server_destroy (struct server *server);
/* Nobody else is let in: the listening socket closes, so do all connections but those of
 * children that have joined, and the key is not used any more. */
void server_shut (struct server *server);
/* To one rank below this one; nothing happens when the child on the way is not there. */
void server_send (struct server *server, uint32_t rank, const struct frame *msg);
/* To all of them. */
void server_broadcast (struct server *server, const struct frame *msg);
/* A child that has left for good: one of its rank may join again. */
void server_forget (struct server *server, uint32_t rank);
uint32_t server_members (const struct server *server); /* children connected now */
uint32_t server_streams (const struct server *server);
void server_reply (struct conn *conn, int status, const char *type, const char *body);
/* Stream the spool from offset on; without output frames when !output. -EBUSY: too many.
 */
int server_stream (struct conn *conn, const struct http_request *req, uint64_t offset,
                   bool output);
/* Say yes to req->upgrade: events->upgraded gets the connection. */
void server_upgrade (struct conn *conn);
void server_pump (struct server *server);

#endif

/* server.h - rank 0's connections: members of the job and requests, from accept to close
 *
 *     server = server_create (&loop, fd, key, job_id, nranks, &spool, &events, ctx);
 *     server_send (server, rank, &msg);            // to a member that has joined
 *     server_reply (conn, 204, NULL);              // from within events->request
 *     server_pump (server);                        // once a round, for the streams
 *
 * A connection is one of:
 *
 *     FIRST --"FQJ1"--> HELLO --challenge--> PROOF --right--> JOINING --join--> MEMBER
 *       +---anything--> HTTP --a request--> REPLY or STREAM, then REPLY until closed
 *
 * Whoever is neither MEMBER nor STREAM has 10 seconds; at most 2,048 of those at once,
 * then the oldest goes. Nothing waits for a slow peer: each has its own buffer.
 */
#ifndef FLUXQ_SHELL_SERVER_H
#define FLUXQ_SHELL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "shell/http.h"
#include "shell/loop.h"
#include "shell/spool.h"
#include "shell/wire.h"

#define SERVER_LOOSE_MAX 2048
#define SERVER_LOOSE_SECONDS 10.0
#define SERVER_STREAMS_MAX 16

struct server;
struct conn;

struct server_events {
    /* A member that has proven itself; false refuses it (with *ret_why for the log). */
    bool (*join) (void *ctx, uint32_t rank, const struct frame *msg,
                  const char **ret_why);
    /* Its messages; false: it talks nonsense, close it. */
    bool (*message) (void *ctx, uint32_t rank, const struct frame *msg);
    /* Its connection is gone. */
    void (*closed) (void *ctx, uint32_t rank, const char *why);
    /* Must end in server_reply() or server_stream(). */
    void (*request) (void *ctx, struct conn *conn, const struct http_request *req);
    void (*log) (void *ctx, const char *text);
};

/* Takes over fd, a listening socket. key, spool and events must outlive it. NULL: no
 * memory. */
struct server *server_create (struct loop *loop, int fd, const uint8_t *key,
                              uint64_t job_id, uint32_t nranks, const struct spool *spool,
                              const struct server_events *events, void *ctx);
void server_destroy (struct server *server);
/* To one member; nothing happens when it is not there. */
void server_send (struct server *server, uint32_t rank, const struct frame *msg);
void server_broadcast (struct server *server, const struct frame *msg);
uint32_t server_members (const struct server *server); /* connected now */
uint32_t server_streams (const struct server *server);
void server_reply (struct conn *conn, int status, const char *type, const char *body);
/* Stream the spool from offset on; without output frames when !output. -EBUSY: too many.
 * */
int server_stream (struct conn *conn, const struct http_request *req, uint64_t offset,
                   bool output);
void server_pump (struct server *server);

#endif

/* http_server.h - HTTP/1.1 for fluxqd: libmicrohttpd inside the libuv loop, callers known
 * by uid
 *
 *     struct http_server *s = http_server_create (loop, handler, arg, &err);
 *     http_server_listen_unix (s, "/run/fluxq/fluxqd.sock", 0666, &err);
 *     http_server_listen_tcp (s, "127.0.0.1", 7718, &err);          // MUNGE
 *
 *     static void handler (struct http_request *req, void *arg)
 *     {
 *         http_reply (req, 200, "application/json", text, len);   // now or later, once
 *     }
 *
 * The handler is called when the caller is authenticated and the whole body is there:
 * SO_PEERCRED on the unix socket; on TCP a MUNGE credential (header "Authorization: MUNGE
 * <cred>") for this request and for this broker (see credential.h), decoded on a worker
 * thread (libuv's pool) before the body is read, replay refused by munged. Anything else gets
 * 401 problem+json (`unauthenticated`; `wrong-broker`: the credential names another, or none)
 * and never reaches the handler. Keep-alive works.
 *
 * Bounds: body 9 MiB (413; of all requests at a time 512 MiB, of one uid's 64 MiB: 429) with
 * a Content-Length (a Transfer-Encoding is 411: no client of ours sends one, and MHD waits
 * busily for chunks that do not fit into its buffer), 120 s for it; head 32 KiB, 75 s from
 * the connection or the request before; 60 s idle. 4,096 connections, at most half of the
 * descriptors; the last 64 of them (or an eighth) only for root and privileged users on the
 * unix socket, others get 503 + Retry-After; 512 for each user (a connection over TCP is of
 * the user of its last request), 429 + Retry-After beyond; 2,048 for each address on TCP, as
 * those that are upgraded stay for days and a login node has many users. 1 MiB unsent data of a
 * stream (then the stream is ended: its client is too slow). Requests of one user: 2,000 a
 * second and 10,000 at once, 429 + Retry-After beyond. Refusals come before the body is read.
 * The values in struct http_limits are defaults.
 *
 * How long a request lives: the handler owns req until it calls one of the http_reply
 * functions or http_stream_end(), or until on_close runs: exactly one of them, and
 * exactly once. Until then req and all that the http_request_ functions return stay
 * valid, also when the client has gone, and also after http_server_destroy(): a reply to
 * nobody only frees. That a client has gone is noticed at once for streams; for a request
 * without a reply when the reply is sent. Headers are the one exception: they are NULL
 * once the connection is gone.
 *
 * One thread: the loop's. Nothing here blocks but the listen functions (names are looked
 * up).
 */
#ifndef FLUXQ_NET_HTTP_SERVER_H
#define FLUXQ_NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/error.h"

#define HTTP_BODY_MAX ((size_t)9 * 1024 * 1024)
#define HTTP_STREAM_UNSENT_MAX ((size_t)1024 * 1024)

struct http_server;
struct http_request;
typedef void (*http_handler_f) (struct http_request *req, void *arg);

/* NULL: no memory. */
struct http_server *http_server_create (uv_loop_t *loop, http_handler_f handler,
                                        void *arg, struct error *err);
/* Where munged listens (copied); NULL: FLUXQ_MUNGE_SOCKET, else libmunge's default.
 * Before the first request. 0 or -ENOMEM. */
int http_server_set_munge_socket (struct http_server *s, const char *path);
/* Names of this server besides those that it knows of (http_names.c), HOST or HOST:PORT,
 * NULL-terminated, or NULL: none. Borrowed until the next call; at any time. */
void http_server_set_names (struct http_server *s, char *const *names);
/* How much of the server one user or client may have. */
struct http_limits {
    unsigned connections;  /* of one user */
    unsigned reserve;      /* connections that only privileged users get */
    unsigned requests;     /* a second, of one user who is not privileged; 0: any number */
    unsigned burst;        /* so many at once, when there were none for a time */
    unsigned head_seconds; /* until the head of a connection's next request is there */
    unsigned body_seconds; /* then until its body is */
};
#define HTTP_LIMITS_DEFAULT \
    { .connections = 512, .reserve = 64,    .requests = 2000, \
      .burst = 10000,     .head_seconds = 75, .body_seconds = 120 }
/* At any time; they hold for what comes then. */
void http_server_set_limits (struct http_server *s, const struct http_limits *limits);
/* Before the first connection; arg is the handler's. privileged (or NULL): whether a uid besides
 * root and the server's own may use what is kept in reserve. account (or NULL): the uid in
 * whose account this one counts. */
void http_server_set_users (struct http_server *s, bool (*privileged) (uid_t uid, void *arg),
                            uid_t (*account) (uid_t uid, void *arg));
/* For tests: how often MHD was run, and how often it had to be slowed down as it wanted to be
 * run again and again without an event. */
void http_server_count (const struct http_server *s, uint64_t *ret_turns,
                        uint64_t *ret_stalls);
/* A stale socket is replaced, a live one is -EADDRINUSE, what is no socket is -EEXIST. */
int http_server_listen_unix (struct http_server *s, const char *path, mode_t mode,
                             struct error *err);
/* host: name or address; port 0: any, see http_server_port(). */
int http_server_listen_tcp (struct http_server *s, const char *host, uint16_t port,
                            struct error *err);
/* of the last TCP listener, 0: none */
uint16_t http_server_port (const struct http_server *s);
/* Close listeners and connections; waits for nothing. Unix sockets are unlinked. on_close
 * of open streams runs; requests without a reply stay their owner's, see above. The
 * memory goes in the loop's next turn: run the loop once more (uv_run with UV_RUN_DEFAULT
 * ends by itself). NULL is fine. */
void http_server_destroy (struct http_server *s);

const char *http_request_method (const struct http_request *req);
/* decoded, without query */
const char *http_request_path (const struct http_request *req);
/* Query parameter (decoded, the first of that name) or header; NULL when absent. */
const char *http_request_query (const struct http_request *req, const char *name);
const char *http_request_header (const struct http_request *req, const char *name);
/* NUL-terminated, may hold any bytes; "" when there is none. */
const char *http_request_body (const struct http_request *req, size_t *ret_len);
uid_t http_request_uid (const struct http_request *req);
gid_t http_request_gid (const struct http_request *req);
/* For the handler to keep its own state with the request; free_fn runs when the request
 * ends. */
void http_request_set_aux (struct http_request *req, void *aux, void (*free_fn) (void *));
void *http_request_aux (const struct http_request *req);

/* Reply, once; copies body. content_type NULL: application/json. Without memory for it
 * the connection is closed. */
void http_reply (struct http_request *req, int status, const char *content_type,
                 const char *body, size_t len);
/* As http_reply(), takes over the malloc()ed body. */
void http_reply_take (struct http_request *req, int status, const char *content_type,
                      char *body, size_t len);
/* application/problem+json (RFC 9457):
 * {"type":"about:blank","title":...,"status":N,"code":CODE,"detail":TEXT}. */
void http_reply_problem (struct http_request *req, int status, const char *code,
                         const char *fmt, ...) __attribute__ ((format (printf, 4, 5)));
/* Header for the reply to come (Retry-After, ...); both are copied. */
void http_reply_header (struct http_request *req, const char *name, const char *value);

/* A reply without known length (chunked, status 200): begin, write any number of times,
 * end. on_close runs once, from the loop and never inside one of these functions, when
 * the client has gone (half-closing counts) or was too slow; after it, and after end, req
 * is invalid. */
void http_stream_begin (struct http_request *req, const char *content_type,
                        void (*on_close) (struct http_request *req, void *arg),
                        void *arg);
/* 0; -EPIPE: the client has gone or had 1 MiB unsent before this already (on_close
 * follows); -E2BIG: more than 9 MiB at once, nothing is written; -ENOMEM (on_close
 * follows). */
int http_stream_write (struct http_request *req, const void *data, size_t len);
size_t http_stream_unsent (const struct http_request *req);
/* Called whenever all that was written has been sent (NULL: no call); may write and end.
 */
void http_stream_on_drain (struct http_request *req,
                           void (*on_drain) (struct http_request *req, void *arg));
void http_stream_end (struct http_request *req);

/* Switch to another protocol (RFC 9110, 7.8) for a request that wants that one: its headers
 * say "Connection: Upgrade" and "Upgrade: protocol". */
bool http_request_wants_upgrade (const struct http_request *req, const char *protocol);
/* fd: a stream socket that does not block, the caller's to read and write until
 * http_upgraded_close(); data: what the client has said behind its request, less than 32 KiB.
 * req NULL, fd -1: the client has gone before. */
typedef void (*http_upgraded_f) (struct http_request *req, int fd, const char *data,
                                 size_t len, void *arg);
/* Instead of a reply: 101, then fn, once; also from within this call when the client has
 * gone. The request is not to be touched until then. No time limit applies to what is
 * upgraded; TCP keepalive finds clients whose machine is gone after two minutes. */
void http_upgrade (struct http_request *req, const char *protocol, http_upgraded_f fn,
                   void *arg);
/* After which fd and req are not the caller's any more. All must be closed before
 * http_server_destroy(). Poll handles for fd must be stopped first. */
void http_upgraded_close (struct http_request *req);

#endif

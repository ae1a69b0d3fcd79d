/* http_server.h - HTTP/1.1 for fluxqd: libmicrohttpd in the libuv loop, and caller uids
 *
 *     struct http_server *s = http_server_create (loop, handler, arg, &err);
 *     http_server_listen_unix (s, "/run/fluxq/fluxqd.sock", 0666, &err);
 *     http_server_listen_tcp (s, "127.0.0.1", 7718, &err);          // TLS, MUNGE
 *
 *     static void handler (struct http_request *req, void *arg)
 *     {
 *         http_reply (req, 200, "application/json", text, len);   // now or later, once
 *     }
 *
 * The server calls the handler when the caller is authenticated and the whole body has
 * arrived. On the unix socket SO_PEERCRED authenticates the caller; on TCP a MUNGE
 * credential (header "Authorization: MUNGE <cred>") for this request and this broker does
 * (see credential.h). A worker thread of libuv's pool decodes the credential before the
 * body is read; munged refuses replays. All other requests get 401 problem+json
 * (`unauthenticated`; `wrong-broker`: the credential names another broker, or none) and
 * never reach the handler. Keep-alive works.
 *
 * After http_server_set_tls(), TCP is TLS (http_tls.c). A credential must then be bound to
 * the connection (`wrong-channel`), and a client certificate identifies its user in requests
 * without a credential.
 *
 * A JSON web token (header "Authorization: Bearer <token>", token.h) also authenticates
 * its user, on the unix socket, over TLS and on TCP from this machine, where nobody else
 * can read it; see http_server_set_tokens(). Other tokens go to the function of
 * http_server_set_review().
 *
 * Limits; those in struct http_limits are defaults. Refusals are sent before the body is
 * read:
 *
 * - body: 9 MiB (413), 120 s; of all requests together 512 MiB, of one uid's 64 MiB
 *   (429). It needs a Content-Length: a Transfer-Encoding gets 411, as fluxq's clients
 *   send none and MHD waits busily for chunks that do not fit into its buffer;
 * - head: 32 KiB, 75 s from the connection or the previous request; idle: 60 s;
 * - connections: 4,096, at most half of the descriptors; the last 64 (or an eighth) are
 *   only for root and privileged users on the unix socket, others get 503 + Retry-After;
 * - connections of one user: 512, then 429 + Retry-After; a TCP connection counts for the
 *   user of its last request;
 * - TLS handshakes: 75 s from the connection; 256 of one address and 1,024 in all at once,
 *   then the oldest ends;
 * - connections of one address on TCP: 2,048, as upgraded ones stay for days and a login
 *   node has many users;
 * - requests of one user: 2,000 a second, 10,000 at once, then 429 + Retry-After;
 * - unsent data of a stream: 1 MiB; the server ends a stream whose client is slower.
 *
 * Lifetime of a request: the handler owns req until it calls one of the http_reply
 * functions or http_stream_end(), or until on_close runs: exactly one of them, exactly
 * once. Until then req and all that the http_request_ functions return stay valid, even
 * after the client has gone and after http_server_destroy(): a reply to nobody only frees
 * memory. Headers are the exception: they are NULL once the connection is gone. The
 * server notices at once that the client of a stream has gone, and for other requests
 * when the reply is sent.
 *
 * Thread: the loop's. Only the listen functions block (they look up names).
 */
#pragma once

#include <openssl/types.h>
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
/* Path of munged's socket (copied); NULL: FLUXQ_MUNGE_SOCKET, else libmunge's default.
 * Call before the first request. 0 or -ENOMEM. */
int http_server_set_munge_socket (struct http_server *s, const char *path);
/* Further names of this server, besides its own (http_names.c): HOST or HOST:PORT,
 * NULL-terminated, or NULL: none. Borrowed until the next call. May be called at any
 * time. */
void http_server_set_names (struct http_server *s, char *const *names);
/* Shares of the server that one user or client may use. */
struct http_limits {
    unsigned connections;  /* of one user */
    unsigned reserve;      /* connections kept for privileged users */
    unsigned requests;     /* a second, of one unprivileged user; 0: unlimited */
    unsigned burst;        /* requests at once, after a time without any */
    unsigned head_seconds; /* until the head of a connection's next request has arrived */
    unsigned body_seconds; /* then until its body has arrived */
};
#define HTTP_LIMITS_DEFAULT \
    { .connections = 512, .reserve = 64,    .requests = 2000, \
      .burst = 10000,     .head_seconds = 75, .body_seconds = 120 }
/* May be called at any time; applies to later connections and requests. */
void http_server_set_limits (struct http_server *s, const struct http_limits *limits);
/* Call before the first connection; arg is the handler's. privileged (or NULL): whether a
 * uid other than root and the server's own may use the reserved connections. account (or
 * NULL): the uid whose account a uid counts in. */
void http_server_set_users (struct http_server *s, bool (*privileged) (uid_t uid, void *arg),
                            uid_t (*account) (uid_t uid, void *arg));
/* The tokens that requests may have. */
struct http_tokens {
    struct token_key *key; /* of token.h; the server keeps a reference */
    /* The uid of a user's name, on a worker thread: 0; -ENOENT; other negative errno */
    int (*uid_of) (const char *name, uid_t *ret);
    /* Whether the user's tokens of this time (unix time) have been revoked. arg: the
     * handler's */
    bool (*is_revoked) (uid_t uid, int64_t issued, void *arg);
};
/* May be called at any time; NULL: requests with tokens get 401, as before the first
 * call. */
void http_server_set_tokens (struct http_server *s, const struct http_tokens *tokens);
/* fn (NULL: none) identifies the caller of a request by a token that is not the site's
 * own: it calls one of the two functions below, once, at once or later. token: valid during
 * the call. arg: the handler's. May be called at any time. */
typedef void (*http_review_f) (struct http_request *req, const char *token, void *arg);
void http_server_set_review (struct http_server *s, http_review_f fn);
/* The caller is this user. by (copied): for http_request_by(). */
void http_request_known (struct http_request *req, uid_t uid, const char *by);
/* rc -EACCES: the caller is refused (401); else the request is answered with 503. */
void http_request_unknown (struct http_request *req, int rc, const char *why);
/* Later connections over TCP speak TLS with this context (tls_context.h; the server keeps
 * a reference); NULL: none. Earlier ones go on with theirs. uid_of: as in struct
 * http_tokens, for users of client certificates. May be called at any time. */
void http_server_set_tls (struct http_server *s, SSL_CTX *context,
                          int (*uid_of) (const char *name, uid_t *ret));
bool http_server_has_tls (const struct http_server *s);
/* fn (NULL: none) is called once for each later request, when its answer is decided: before
 * the answer is sent, and also when the client has gone. code: of a problem, else NULL.
 * arg: the handler's. May be called at any time. */
typedef void (*http_answered_f) (struct http_request *req, int status, const char *code,
                                 void *arg);
void http_server_set_observer (struct http_server *s, http_answered_f fn);
/* For a server whose handler authenticates callers itself: requests need no credential,
 * and http_request_uid() is the peer's on the unix socket, (uid_t)-1 on TCP. Callers over
 * TCP share one account. Call before the first request. */
void http_server_set_open (struct http_server *s);
/* For tests: the number of times that MHD ran, and that it was slowed down because it
 * asked to run again and again without an event. */
void http_server_count (const struct http_server *s, uint64_t *ret_turns,
                        uint64_t *ret_stalls);
/* Replaces a stale socket. -EADDRINUSE: a live socket, -EEXIST: not a socket. */
int http_server_listen_unix (struct http_server *s, const char *path, mode_t mode,
                             struct error *err);
/* host: name or address; port 0: any free one, see http_server_port(). */
int http_server_listen_tcp (struct http_server *s, const char *host, uint16_t port,
                            struct error *err);
/* Adds a connection that the broker made itself (one end of a socket pair), for requests
 * of this user. Takes over fd in any case. guest: a number > 0, which marks the requests:
 * http_request_guest(). from (copied): where they come from, see http_request_from().
 * Needs a unix listener. 0, or negative errno. */
int http_server_admit (struct http_server *s, int fd, uid_t uid, uint64_t guest,
                       const char *from);
/* The port of the last TCP listener; 0: none. */
uint16_t http_server_port (const struct http_server *s);
/* Closes listeners and connections, without waiting, and unlinks unix sockets. Runs
 * on_close of open streams; requests without a reply stay their owners', see above. The
 * memory is freed in the loop's next turn: run the loop once more (uv_run with
 * UV_RUN_DEFAULT ends by itself). NULL is allowed. */
void http_server_destroy (struct http_server *s);

const char *http_request_method (const struct http_request *req);
/* Decoded, without the query. */
const char *http_request_path (const struct http_request *req);
/* A query parameter (decoded, the first of that name) or a header; NULL when absent. */
const char *http_request_query (const struct http_request *req, const char *name);
/* The name of the n-th parameter, from 0; NULL: there are fewer. */
const char *http_request_query_name (const struct http_request *req, size_t n);
const char *http_request_header (const struct http_request *req, const char *name);
/* NUL-terminated, may contain any bytes; "" without a body. */
const char *http_request_body (const struct http_request *req, size_t *ret_len);
uid_t http_request_uid (const struct http_request *req);
/* The number of the connection's guest, see http_server_admit(); 0: an ordinary client. */
uint64_t http_request_guest (const struct http_request *req);
/* Whether the caller was identified by a token. */
bool http_request_has_token (const struct http_request *req);
/* How the caller is known: "socket", "munge", "token", "certificate", "guest" or the text
 * of http_request_known(), also when the request was refused for that; NULL: the request
 * says nothing. */
const char *http_request_by (const struct http_request *req);
#define HTTP_FROM_SIZE 320
/* Where the request comes from: "10.0.0.5:51234", "[2001:db8::1]:51234", "pid 4711" or the
 * text of http_server_admit(). Also known when the client has gone, while there is an
 * observer. Returns buf. */
const char *http_request_from (const struct http_request *req, char buf[HTTP_FROM_SIZE]);
/* Attaches the handler's own state to the request; free_fn runs when the request ends. */
void http_request_set_aux (struct http_request *req, void *aux, void (*free_fn) (void *));
/* Whether an observer will be called for the request; and its note for the observer, which
 * it frees with free() when the request ends. */
bool http_request_is_observed (const struct http_request *req);
void http_request_set_note (struct http_request *req, void *note);
void *http_request_note (const struct http_request *req);

/* Replies, once; copies body. content_type NULL: application/json. Closes the connection
 * when there is no memory for the reply. */
void http_reply (struct http_request *req, int status, const char *content_type,
                 const char *body, size_t len);
/* As http_reply(), but takes over the malloc()ed body. */
void http_reply_take (struct http_request *req, int status, const char *content_type,
                      char *body, size_t len);
/* Replies application/problem+json (RFC 9457):
 * {"type":"about:blank","title":...,"status":N,"code":CODE,"detail":TEXT}. */
void http_reply_problem (struct http_request *req, int status, const char *code,
                         const char *fmt, ...) __attribute__ ((format (printf, 4, 5)));
/* Adds a header (Retry-After, ...) to the reply; copies both texts. */
void http_reply_header (struct http_request *req, const char *name, const char *value);

/* A reply of unknown length (chunked, status 200): begin, write any number of times, end.
 * on_close runs once, from the loop and never inside one of these functions, when the
 * client has gone (half-closing counts) or was too slow. After on_close, and after end,
 * req is invalid. */
void http_stream_begin (struct http_request *req, const char *content_type,
                        void (*on_close) (struct http_request *req, void *arg),
                        void *arg);
/* 0; -EPIPE: the client has gone or already had 1 MiB unsent (on_close follows); -E2BIG:
 * more than 9 MiB at once, nothing was written; -ENOMEM (on_close follows). */
int http_stream_write (struct http_request *req, const void *data, size_t len);
size_t http_stream_unsent (const struct http_request *req);
/* Sets the function called whenever all written data has been sent (NULL: none); it may
 * write and end. */
void http_stream_on_drain (struct http_request *req,
                           void (*on_drain) (struct http_request *req, void *arg));
void http_stream_end (struct http_request *req);

/* Switching protocols (RFC 9110, 7.8): whether the request asks for `protocol`, with the
 * headers "Connection: Upgrade" and "Upgrade: protocol". */
bool http_request_wants_upgrade (const struct http_request *req, const char *protocol);
/* fd: a non-blocking stream socket that the caller reads and writes until
 * http_upgraded_close(); data: bytes that the client has sent after its request, less
 * than 32 KiB. req NULL, fd -1: the client has gone. */
typedef void (*http_upgraded_f) (struct http_request *req, int fd, const char *data,
                                 size_t len, void *arg);
/* Replies 101, then calls fn, once; from within this call when the client has gone. Do
 * not touch the request until then. No time limit applies to an upgraded connection; TCP
 * keepalive detects clients whose machine is gone after two minutes. */
void http_upgrade (struct http_request *req, const char *protocol, http_upgraded_f fn,
                   void *arg);
/* Gives fd and req back. Close all before http_server_destroy(), and stop poll handles
 * for fd first. */
void http_upgraded_close (struct http_request *req);

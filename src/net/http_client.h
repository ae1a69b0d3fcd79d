/* http_client.h - HTTP client of the commands for fluxqd: small, blocking, fast to start
 *
 *     struct http_client *c = http_client_open (NULL, &err);   // the default broker
 *     struct http_response r = {0};
 *     rc = http_client_request (c, "GET", "/v1/jobs?limit=10", NULL, 0, NULL, &r, &err);
 *     // r.status, r.body (NUL-terminated), r.len
 *     http_response_release (&r);
 *     http_client_close (c);
 *
 * URLs: unix:///path/to/fluxqd.sock (or only the path), or https://host:port (default port
 * 7718) with MUNGE, see http_server.h and tls_start.h; or http://host:port without TLS. The
 * environment variable FLUXQ_MUNGE_SOCKET names a munged socket that is not libmunge's
 * default. A token in the variable SLURM_JWT ("scontrol token"), or in the file that
 * FLUXQ_TOKEN_FILE names (of a Kubernetes service account), identifies the user instead of
 * the socket or MUNGE; it is sent only over TLS or to a broker on this machine. The default
 * unix sockets are those of run_dir.h; the error lists all that were tried and says how to
 * start a broker. The listener of a unix socket must be trusted, see trust.h.
 *
 * The client is its own HTTP/1.1 implementation because loading libcurl costs 5.4 ms at
 * start (doc/dependencies.md). It understands Content-Length and chunked bodies. Bounds:
 * head 32 KiB, body 1 GiB; streams are unbounded.
 *
 * One thread at a time for each client. SIGPIPE is never raised.
 */
#pragma once

#include <signal.h>

#include "common/error.h"

#define HTTP_DEFAULT_PORT 7718
#define HTTP_TOKEN_VARIABLE "SLURM_JWT"
#define HTTP_TOKEN_FILE_VARIABLE "FLUXQ_TOKEN_FILE"

struct http_client;

/* Waiting for a broker that is away, for example while it restarts: nobody listens at its
 * socket, the socket was removed a moment ago, the connection broke, or the answer is 429
 * or 503 with Retry-After. */
struct http_patience {
    /* the time that each call waits for such a broker; 0: does not wait */
    double seconds;
    /* Gets a line for the user after some seconds: the reason and the end of the wait;
     * also when a broker accepts the connection and does not answer. NULL: no line. */
    void (*tell) (const char *text, void *arg);
    void *arg;
};

struct http_response {
    int status;
    char *body; /* NUL-terminated; never NULL after success */
    size_t len;
    char content_type[64];
    int retry_after; /* seconds; 0: none */
};

/* Connects. url NULL: FLUXQ_BROKER, else the default sockets. NULL on error: -EINVAL not
 * a URL, else the connection's error. */
struct http_client *http_client_open (const char *url, struct error *err);
/* The same with patience (copied), also for this connection. interrupt: see
 * http_client_set_interrupt(). */
struct http_client *http_client_open_patient (const char *url,
                                              const struct http_patience *patience,
                                              const volatile sig_atomic_t *interrupt,
                                              struct error *err);
void http_client_close (struct http_client *c); /* NULL is allowed */
const char *http_client_url (const struct http_client *c);
/* When a signal interrupts a wait and *flag is not 0, requests and streams end with
 * -EINTR. Install the handler without SA_RESTART. flag NULL: waits continue after
 * signals. */
void http_client_set_interrupt (struct http_client *c, const volatile sig_atomic_t *flag);
/* headers: NULL-terminated list of "Name: value", or NULL; a body is sent as
 * application/json. Returns 0 for any response, whatever its status; -ECONNRESET and the
 * like when the connection broke before the response, -EPROTO for a malformed one,
 * -ETIMEDOUT after 60 s without a byte. Reconnects when the server closed a kept-alive
 * connection. When the connection broke after the request was sent, sends it again only
 * if that is harmless: GET, or any method with an Idempotency-Key among the headers. */
int http_client_request (struct http_client *c, const char *method, const char *target,
                         const char *body, size_t len, const char *const headers[],
                         struct http_response *ret, struct error *err);
void http_response_release (struct http_response *r);
/* Streams a body: fn gets each piece; a non-zero result of fn ends the stream and is
 * returned. Bodies of errors (status >= 400) go to ret instead (otherwise ret->body is
 * ""). No time limit. */
int http_client_stream (struct http_client *c, const char *method, const char *target,
                        int (*fn) (const char *data, size_t len, void *arg), void *arg,
                        struct http_response *ret, struct error *err);
/* Reads a body while it arrives. */
struct http_reader {
    /* Comes before the first piece, and again when the request is repeated, because the
     * connection broke: then the earlier pieces do not count. */
    void (*begin) (void *arg);
    void (*piece) (const char *data, size_t len, void *arg);
    void *arg;
};
/* GET as http_client_request(), with the same repeats and time limit, but the reader gets
 * the body. The pieces are the whole body only if the result is 0. Bodies of errors
 * (status >= 400) go to ret. */
int http_client_read (struct http_client *c, const char *target,
                      const struct http_reader *reader, struct http_response *ret,
                      struct error *err);
/* Sends POST target with "Connection: Upgrade" and "Upgrade: fluxq", to speak with the
 * agents of a job (/v1/jobs/ID/connect). Returns 0 and a connected stream socket,
 * blocking and close-on-exec, which the caller closes; from its first byte on it carries
 * the other protocol, both ways. c reconnects for later requests. Negative errno with the
 * reason: that of http_response_error() when the broker refuses, else as
 * http_client_request(). */
int http_client_upgrade (struct http_client *c, const char *target, int *ret_fd,
                         struct error *err);
/* Sets err to one line for a person, made from a problem+json (or any) error response.
 * Always returns a negative errno: -EACCES 401/403, -ENOENT 404, -EAGAIN 429/503, -EINVAL
 * other 4xx, -EIO 5xx, -EPROTO all others. */
int http_response_error (const struct http_response *r, struct error *err);

/* http_client.h - what commands use to talk to fluxqd: small, blocking, fast to start
 *
 *     struct http_client *c = http_client_open (NULL, &err);   // the default broker
 *     struct http_response r = {0};
 *     rc = http_client_request (c, "GET", "/v1/jobs?limit=10", NULL, 0, NULL, &r, &err);
 *     // r.status, r.body (NUL-terminated), r.len
 *     http_response_release (&r);
 *     http_client_close (c);
 *
 * URLs: unix:///path/to/fluxqd.sock (or just the path), http://host:port (port 7718 when
 * there is none; MUNGE, see http_server.h; a munged that is not where libmunge expects it
 * is named by the environment variable FLUXQ_MUNGE_SOCKET). Default sockets: those of
 * run_dir.h; who listens on a unix socket must be trusted, see trust.h;
 * the error names all that were tried and says how to start a broker. Own HTTP/1.1
 * instead of libcurl because loading libcurl costs 5.4 ms a start (doc/dependencies.md).
 * Understands Content-Length and chunked bodies; bounds: head 32 KiB, body 1 GiB (streams
 * unbounded).
 *
 * One thread at a time for each client. SIGPIPE is never raised.
 */
#ifndef FLUXQ_NET_HTTP_CLIENT_H
#define FLUXQ_NET_HTTP_CLIENT_H

#include <signal.h>
#include <stddef.h>

#include "common/error.h"

#define HTTP_DEFAULT_PORT 7718

struct http_client;

/* A broker that is away, as it is when it is started again: nobody listens at its socket, the
 * socket has been removed a moment ago, the connection broke, or the answer is 429 or 503 with
 * Retry-After. */
struct http_patience {
    double seconds; /* how long each call waits for such a broker; 0: not at all */
    /* A line for the user, after some seconds: what is waited for, and until when; also of a
     * broker that takes the connection and does not answer. NULL: nobody is told. */
    void (*tell) (const char *text, void *arg);
    void *arg;
};

struct http_response {
    int status;
    char *body; /* NUL-terminated; never NULL after success */
    size_t len;
    char content_type[64];
    int retry_after; /* seconds, 0: none */
};

/* Connects. url NULL: FLUXQ_BROKER, else the default sockets. NULL on error: -EINVAL not
 * a URL, else the connection's. */
struct http_client *http_client_open (const char *url, struct error *err);
/* The same with patience (copied), from this connection on. interrupt: as of
 * http_client_set_interrupt(). */
struct http_client *http_client_open_patient (const char *url,
                                              const struct http_patience *patience,
                                              const volatile sig_atomic_t *interrupt,
                                              struct error *err);
void http_client_close (struct http_client *c); /* NULL is fine */
const char *http_client_url (const struct http_client *c);
/* Whenever a signal interrupts a wait and *flag is then not 0, requests and streams end
 * with -EINTR. The handler must have been installed without SA_RESTART; flag NULL:
 * signals are waited through. */
void http_client_set_interrupt (struct http_client *c, const volatile sig_atomic_t *flag);
/* headers: NULL-terminated list of "Name: value" or NULL; a body is sent as
 * application/json. 0 whenever there is a response (whatever its status); a connection
 * that broke before the answer is -ECONNRESET and so on, a broken answer -EPROTO, silence
 * -ETIMEDOUT. Reconnects when the server closed a kept-alive connection. When the
 * connection broke after the request was sent, it is sent again if that is harmless: GET, or
 * any method with an Idempotency-Key among the headers. timeout: 60 s without a byte (not
 * for streams). */
int http_client_request (struct http_client *c, const char *method, const char *target,
                         const char *body, size_t len, const char *const headers[],
                         struct http_response *ret, struct error *err);
void http_response_release (struct http_response *r);
/* A body as it comes: fn gets each piece; non-zero from fn ends it and is returned.
 * Errors' (status >= 400) bodies go to ret instead (ret->body is "" otherwise). No time
 * limit. */
int http_client_stream (struct http_client *c, const char *method, const char *target,
                        int (*fn) (const char *data, size_t len, void *arg), void *arg,
                        struct http_response *ret, struct error *err);
/* POST target with "Connection: Upgrade" and "Upgrade: fluxq", for what is spoken with the
 * agents of a job (/v1/jobs/ID/connect). 0 and a connected stream socket, blocking and
 * close-on-exec, which is the caller's to close: from its first byte on it carries the other
 * protocol, both ways. c connects anew for what else it is asked. Negative errno with the
 * reason: that of http_response_error() when the broker refuses, else as
 * http_client_request(). */
int http_client_upgrade (struct http_client *c, const char *target, int *ret_fd,
                         struct error *err);
/* One line for a person out of a problem+json (or any) error response. Always a negative
 * errno: -EACCES 401/403, -ENOENT 404, -EAGAIN 429/503, -EINVAL other 4xx, -EIO 5xx,
 * -EPROTO all others. */
int http_response_error (const struct http_response *r, struct error *err);

#endif

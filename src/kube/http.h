/* http.h - an asynchronous HTTP client: libcurl's multi interface in the libuv loop
 *
 *     struct httpc *h = httpc_create (loop);
 *     struct httpc_request *r = httpc_send (h, &(struct httpc_options) {
 *         .method = "GET", .url = "https://10.0.0.1:6443/version",
 *         .on_done = done, .arg = x }, &err);
 *     httpc_cancel (r);                     // no callback after this
 *
 * HTTP/2 with multiplexing over TLS where the server has it. Bodies are collected
 * (bounded by max_body, default 64 MiB) unless on_data is given. One thread: the loop's.
 * Used by the Kubernetes client and, over unix sockets, to reach local agents.
 */
#pragma once

#include "common/error.h"

#include <sys/types.h>
#include <uv.h> /* after common/macros.h: its sys/param.h has another MIN and MAX */

struct httpc;
struct httpc_request;

struct httpc_response {
    int status;       /* 0: no answer, see err */
    const char *body; /* NUL-terminated, "": none, or on_data took it */
    size_t len;
    double retry_after; /* seconds, 0: none */
    struct error err;   /* set when status == 0: connection refused, TLS, timeout... */
};

/* All strings remain the caller's while requests run; each may be NULL. */
struct httpc_tls {
    const char *ca_file, *ca_data;     /* PEM */
    const char *cert_file, *cert_data; /* PEM */
    const char *key_file, *key_data;   /* PEM; key_data is never logged */
    const char *server_name;
    int insecure; /* insecure-skip-tls-verify */
};

struct httpc_options {
    const char *method; /* "GET", "POST", ... */
    const char *url;
    const char *unix_socket;    /* or NULL */
    const char *const *headers; /* "Name: value", NULL-terminated, or NULL */
    const char *body;
    size_t body_len;
    const struct httpc_tls *tls;
    double timeout;      /* seconds for the whole request, 0: none (streams, watches) */
    double idle_timeout; /* seconds without a byte, 0: none */
    size_t max_body;
    /* Only connects, with TLS if the URL says so; see "raw connections" below. */
    int connect_only;
    /* Called for each piece as it comes, for 2xx answers only; non-zero ends the request
     * (-ECANCELED). */
    int (*on_data) (const char *data, size_t len, void *arg);
    void (*on_done) (const struct httpc_response *resp, void *arg); /* exactly once */
    void *arg;
};

struct httpc *httpc_create (uv_loop_t *loop, struct error *err);
/* guard is called before anything is sent or received. It does not return if the caller
 * must not act any more (exec/claim.h). */
void httpc_set_guard (struct httpc *h, void (*guard) (void *arg), void *arg);
/* Cancels requests under way; handles close on the loop's next turn. */
void httpc_destroy (struct httpc *h);
struct httpc_request *httpc_send (struct httpc *h, const struct httpc_options *opt,
                                  struct error *err);
void httpc_cancel (struct httpc_request *r);

/* -- raw connections --
 *
 * A request with connect_only sends nothing. on_done with status 0 and err.code 0
 * reports the connection. From then on its bytes belong to the caller, in any protocol
 * (TLS agrees on HTTP/1.1), until httpc_cancel(), which closes it. Use a client of its
 * own for such requests: a client with other requests closes idle connections. */

/* The descriptor to poll. Data may be there that it does not show: read until -EAGAIN. */
int httpc_raw_fd (const struct httpc_request *r);
/* Bytes (> 0); 0: the other side has closed; -EAGAIN, -ECONNRESET. */
ssize_t httpc_raw_read (struct httpc_request *r, void *buf, size_t len);
/* Bytes (> 0), -ECONNRESET; -EAGAIN: call again later, with the same buf and len. */
ssize_t httpc_raw_write (struct httpc_request *r, const void *buf, size_t len);

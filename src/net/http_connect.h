/* http_connect.h - broker addresses: URLs, default sockets, connecting (http_client.c)
 */
#pragma once

#include "common/error.h"
#include "net/tls_channel.h"

struct http_address {
    char *url;
    char *path; /* unix, else NULL */
    char *host, *port;
    bool tls;                   /* to host and port */
    struct tls_channel channel; /* of the last connection over TLS */
    int given; /* "fd:N": a connection that this process was given; -1: none, or used */
};

/* -EINVAL: not a URL; -ENOMEM. */
int http_address_parse (struct http_address *a, const char *url, struct error *err);
void http_address_release (struct http_address *a);
/* Returns a connected socket, close-on-exec, or a negative errno; TCP within 10 s for
 * each address, and TLS within 10 s more. On a unix socket the caller must trust the broker (trust.h), else
 * -EPERM. A given connection can be had once; then -ENOTCONN. */
int http_address_connect (struct http_address *a, struct error *err);
/* Whether a connection that failed with rc may succeed soon, as the broker is restarting:
 * nobody listens at its socket, or the socket is missing but its private directory
 * changed in the last `seconds`. Otherwise there never was a broker, and waiting is
 * useless. */
bool http_address_may_return (const struct http_address *a, int rc, double seconds);
/* Tries the default sockets: fills a with the first that answers, and returns the
 * connected socket. On failure a is the first for which http_address_may_return (a, the
 * result, seconds), or empty. */
int http_address_connect_default (struct http_address *a, double seconds,
                                  struct error *err);

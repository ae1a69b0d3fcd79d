/* http_connect.h - where the broker is: URLs, default sockets, connecting (for
 * http_client.c)
 */
#ifndef FLUXQ_NET_HTTP_CONNECT_H
#define FLUXQ_NET_HTTP_CONNECT_H

#include <stdbool.h>

#include "common/error.h"

struct http_address {
    char *url;
    char *path; /* unix, else NULL */
    char *host, *port;
};

/* -EINVAL: not a URL; -ENOMEM. */
int http_address_parse (struct http_address *a, const char *url, struct error *err);
void http_address_release (struct http_address *a);
/* A connected socket, close-on-exec, or negative errno; TCP within 10 s an address. On a unix
 * socket the broker is one that the caller trusts (trust.h), else -EPERM. */
int http_address_connect (const struct http_address *a, struct error *err);
/* Whether the failure rc of a connection may be that of a broker that is being started again:
 * nobody listens at its socket, or there is none, but its private directory has changed in the
 * last `seconds`. Where there never was a broker nobody is to wait for one. */
bool http_address_may_return (const struct http_address *a, int rc, double seconds);
/* The first default socket that answers: fills a, returns the connected socket. On failure
 * a is the first for which http_address_may_return (a, the result, seconds), or empty. */
int http_address_connect_default (struct http_address *a, double seconds,
                                  struct error *err);

#endif

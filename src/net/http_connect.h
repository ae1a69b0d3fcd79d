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
/* A connected socket, close-on-exec, or negative errno; TCP within 10 s an address. */
int http_address_connect (const struct http_address *a, struct error *err);
/* The first default socket that answers: fills a, returns the connected socket. */
int http_address_connect_default (struct http_address *a, struct error *err);

#endif

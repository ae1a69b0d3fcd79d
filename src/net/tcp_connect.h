/* tcp_connect.h - connects to a host over TCP
 *
 *     int fd = tcp_connect ("login1.example", "7718", "https://login1.example:7718", &err);
 */
#pragma once

#include "common/error.h"

#define TCP_CONNECT_MS 10000 /* for each address of a host */

/* Tries the addresses of the host in turn. Returns a socket, non-blocking, close-on-exec,
 * with keepalive, or a negative errno with a reason that names `url`. */
int tcp_connect (const char *host, const char *port, const char *url, struct error *err);

/* tls_start.h - connects a command to a broker over TLS
 *
 *     int fd = tls_start ("login1.example", "7718", &channel, &err);
 *
 * The commands do not link OpenSSL, because loading it costs more than most of them. A
 * helper process, fluxq-tls, connects, checks the broker's certificate (tls_verify.h) and
 * carries bytes between the connection and a socket pair (tls_pump.h), whose other end is
 * the caller's. It has a session of its own, so that no signal of the terminal reaches it,
 * and no parent that has to wait for it; it ends when the last holder of the socket does.
 */
#pragma once

#include "common/error.h"
#include "net/tls_channel.h"

/* Returns a connected stream socket, close-on-exec, and what is known of the connection; or a
 * negative errno with a line for the user. */
int tls_start (const char *host, const char *port, struct tls_channel *channel,
               struct error *err);

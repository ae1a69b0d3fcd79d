/* tls_verify.h - a command's side of a TLS connection: handshake, and whose broker it is
 *
 *     SSL *ssl = tls_verify_connect (fd, "login1.example", "7718", &set, &identified, &err);
 *     ...
 *     SSL_free (ssl);
 *
 * The broker's certificate must be signed by an authority of the settings, or of the
 * system, be valid now, and name the host (RFC 6125: only subject alternative names). With
 * pins, its public key must also be one of them. Nothing switches the checks off.
 */
#pragma once

#include <openssl/types.h>

#include "net/client_settings.h"

#define TLS_HANDSHAKE_MS 10000

/* fd: a connected, non-blocking TCP socket, borrowed. *ret_identified: the broker has asked
 * for the user's certificate and got it. NULL with one line for the user that
 * says what is wrong with the broker, or with a file of the settings. */
SSL *tls_verify_connect (int fd, const char *host, const char *port,
                         const struct client_settings *set, bool *ret_identified,
                         struct error *err);

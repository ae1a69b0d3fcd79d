/* tls_policy.h - the demands of both sides on a TLS connection, and its name
 *
 *     SSL_CTX *ctx = SSL_CTX_new (TLS_server_method ());
 *     rc = tls_policy_apply (ctx);                  // versions, cipher suites, options
 *     ... after the handshake:
 *     rc = tls_policy_channel (ssl, channel);       // the same on both sides
 *
 * TLS 1.2 and later; only suites with forward secrecy and authenticated encryption; no
 * renegotiation and no compression. Thread: one at a time for each SSL.
 */
#pragma once

#include <openssl/ssl.h>

#include "common/error.h"
#include "net/tls_channel.h"

/* 0, or -EINVAL: the library does not support it. */
int tls_policy_apply (SSL_CTX *ctx);
/* The connection's exported key material (RFC 9266). -EPROTO: the connection has none that
 * is unique, as it is of TLS 1.2 without the extended master secret (RFC 7627). */
int tls_policy_channel (SSL *ssl, uint8_t ret[TLS_CHANNEL_SIZE]);
/* The reason of the calling thread's first error of OpenSSL, and forgets its errors. */
const char *tls_policy_reason (void);

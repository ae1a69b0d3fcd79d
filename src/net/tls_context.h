/* tls_context.h - a server's certificate, key and client authorities, from PEM files
 *
 *     static const struct tls_files files = { "/etc/fluxq/tls.crt", "/etc/fluxq/tls.key", NULL };
 *     SSL_CTX *ctx = tls_context_load (&files, NULL, &err);
 *     ...
 *     tls_context_release (ctx);
 *
 * Connections keep the context with which they began. The files must belong to root or to
 * this process's user; nobody else may write them, or read the key, except the group of a
 * key of root's (keyfile.h). tls_context_load()
 * reads files and blocks; the context does not change afterwards, and threads may share it.
 */
#pragma once

#include <openssl/types.h>

#include "common/error.h"
#include "common/sha256.h"

struct tls_files {
    const char
        *certificate; /* the server's, then those of its authorities up to the root */
    const char *key;  /* private, without passphrase */
    const char
        *client_ca; /* authorities of client certificates, or NULL: none is asked for */
};

/* digest (or NULL): of the contents of all files, to see whether a later call has others.
 * NULL with a reason that names the file and the way out. A certificate out of its time is
 * accepted: see tls_context_remark(). */
SSL_CTX *tls_context_load (const struct tls_files *files, uint8_t ret_digest[SHA256_SIZE],
                           struct error *err);
void tls_context_release (SSL_CTX *ctx); /* NULL is allowed */
/* Whether the server's certificate needs attention at this time (unix time): it is expired
 * or not valid yet, or expires within 14 days. Then true, and the remark. */
bool tls_context_remark (SSL_CTX *ctx, int64_t now, struct error *remark);

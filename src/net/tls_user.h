/* tls_user.h - the user that a client certificate names
 *
 *     char name[TLS_USER_SIZE];
 *     rc = tls_user_of (SSL_get0_peer_certificate (ssl), name);
 *
 * The name is in a URI "fluxq:user:NAME" among the subject's alternative names, else it is
 * the subject's common name (CN). Whether the certificate is signed by an authority that
 * may say so is checked by the handshake.
 */
#pragma once

#include <openssl/types.h>

#include "common/error.h"

#define TLS_USER_SIZE 257 /* a user's name and NUL */

/* 0; -ENOENT: the certificate names nobody; -EINVAL: it names several users, or the name is
 * too long or not printable ASCII. ret is "" then. */
int tls_user_of (const X509 *cert, char ret[TLS_USER_SIZE]);

/* credential.h - MUNGE credentials bound to one request to one broker
 *
 *     char *cred = credential_make (NULL, "login1:7718", channel, "POST", "/v1/jobs", body,
 *                                   len, &err);
 *     // header "Authorization: MUNGE <cred>"; the broker, when it has the head:
 *     rc = credential_decode (NULL, cred, &credential, &err);
 *     // ... is credential.authority a name of mine, and credential.channel the connection
 *     // (credential_is_of())? Then read the body:
 *     credential_begin (&sum, "POST", "/v1/jobs");
 *     sha256_update (&sum, piece, len);
 *     if (!credential_fits (&credential, &sum)) ...    // made for another request
 *
 * The payload is the hex SHA-256 of METHOD "\n" TARGET "\n" BODY, a blank, and the
 * broker's HOST:PORT as the client knows it (authority.h); for localhost also a blank and
 * the machine's id; over TLS also a blank, "tls:" and the hex SHA-256 of the connection's
 * name (tls_channel.h). So a stolen credential fits no other request, a broker cannot pass a
 * credential on to another broker with the same MUNGE key, a machine between client and
 * broker cannot end the TLS and pass it on, and munged refuses a second use. The name is in clear text, so that a refusal can quote it, and because a proxy may
 * change the header Host.
 *
 * credential_make() and credential_decode() block (up to seconds): in the broker, call
 * them on worker threads only. Thread-safe. libmunge is linked (costs 0.05 ms at start,
 * measured).
 *
 * munge_socket: the path of munged's socket; NULL: the environment variable
 * FLUXQ_MUNGE_SOCKET, else libmunge's default.
 */
#pragma once

#include <sys/types.h>

#include "common/sha256.h"
#include "net/authority.h"
#include "net/tls_channel.h"

/* The contents of a credential. */
struct credential {
    char digest[SHA256_HEX_SIZE];   /* of the request */
    char authority[AUTHORITY_SIZE]; /* of the broker; "": none, from older clients */
    char machine[MACHINE_SIZE];     /* the broker's machine, for localhost names */
    char channel[SHA256_HEX_SIZE];  /* of the TLS connection; "": none */
    uid_t uid;                      /* the sender */
};

/* channel: of the TLS connection (TLS_CHANNEL_SIZE bytes); NULL: there is no TLS. Returns
 * the credential as text, which the caller frees; NULL with a reason (munged is
 * not running, ...). */
char *credential_make (const char *munge_socket, const char *authority,
                       const uint8_t *channel, const char *method, const char *target,
                       const void *body, size_t len, struct error *err);
/* 0, or -EACCES (replayed, expired, not a credential for a request), -EIO (no munged). */
int credential_decode (const char *munge_socket, const char *cred, struct credential *ret,
                       struct error *err);
/* Whether the credential was made for the connection with this channel, or, NULL, for one
 * without TLS. */
bool credential_is_of (const struct credential *credential, const uint8_t *channel);
/* Begins the digest of a request with its head; sha256_update() adds the body. */
void credential_begin (struct sha256 *ret_sum, const char *method, const char *target);
/* Whether the credential is for the request with this digest. Constant time. */
bool credential_fits (const struct credential *credential, const struct sha256 *sum);

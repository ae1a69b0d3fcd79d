/* credential.h - MUNGE credentials bound to one request to one broker
 *
 *     char *cred = credential_make (NULL, "login1:7718", "POST", "/v1/jobs", body, len,
 *                                   &err);
 *     // header "Authorization: MUNGE <cred>"; the broker, when it has the head:
 *     rc = credential_decode (NULL, cred, &credential, &err);
 *     // ... is credential.authority a name of mine? Then read the body:
 *     credential_begin (&sum, "POST", "/v1/jobs");
 *     sha256_update (&sum, piece, len);
 *     if (!credential_fits (&credential, &sum)) ...    // made for another request
 *
 * The payload is the hex SHA-256 of METHOD "\n" TARGET "\n" BODY, a blank, and the
 * broker's HOST:PORT as the client knows it (authority.h); for localhost also a blank and
 * the machine's id. So a stolen credential fits no other request, a broker cannot pass a
 * credential on to another broker with the same MUNGE key, and munged refuses a second
 * use. The name is in clear text, so that a refusal can quote it, and because a proxy may
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

/* The contents of a credential. */
struct credential {
    char digest[SHA256_HEX_SIZE];   /* of the request */
    char authority[AUTHORITY_SIZE]; /* of the broker; "": none, from older clients */
    char machine[MACHINE_SIZE];     /* the broker's machine, for localhost names */
    uid_t uid;                      /* the sender */
};

/* Returns the credential as text, which the caller frees; NULL with a reason (munged is
 * not running, ...). */
char *credential_make (const char *munge_socket, const char *authority,
                       const char *method, const char *target, const void *body,
                       size_t len, struct error *err);
/* 0, or -EACCES (replayed, expired, not a credential for a request), -EIO (no munged). */
int credential_decode (const char *munge_socket, const char *cred, struct credential *ret,
                       struct error *err);
/* Begins the digest of a request with its head; sha256_update() adds the body. */
void credential_begin (struct sha256 *ret_sum, const char *method, const char *target);
/* Whether the credential is for the request with this digest. Constant time. */
bool credential_fits (const struct credential *credential, const struct sha256 *sum);

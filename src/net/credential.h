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
 * Payload = hex SHA-256 of METHOD "\n" TARGET "\n" BODY, a blank, and the broker's HOST:PORT as
 * the client knows it (authority.h); where that is localhost, a blank and the machine's id. So a credential that somebody sees fits no other request,
 * a broker that gets one cannot use it at another broker with the same MUNGE key, and munged
 * refuses it a second time. The name stands there as text, so that a refusal can tell it, and
 * since a proxy may change the header Host. credential_make() and credential_decode() block (up
 * to seconds): worker threads only in the broker. Thread-safe. libmunge (linked: 0.05 ms
 * a start, measured).
 *
 * munge_socket: where munged listens; NULL: the environment variable FLUXQ_MUNGE_SOCKET,
 * else libmunge's own default.
 */
#ifndef FLUXQ_NET_CREDENTIAL_H
#define FLUXQ_NET_CREDENTIAL_H

#include <sys/types.h>

#include "common/sha256.h"
#include "net/authority.h"

/* What a credential says. */
struct credential {
    char digest[SHA256_HEX_SIZE];   /* of the request that it was made for */
    char authority[AUTHORITY_SIZE]; /* the broker that it is for; "": none, older clients */
    char machine[MACHINE_SIZE];     /* and where that is, for a name that each machine has */
    uid_t uid;                      /* the sender */
    gid_t gid;
};

/* The credential as text, caller frees; NULL with a reason (munged is not running, ...).
 */
char *credential_make (const char *munge_socket, const char *authority,
                       const char *method, const char *target, const void *body,
                       size_t len, struct error *err);
/* 0, or -EACCES (replayed, expired, not a credential for a request), -EIO (no munged). */
int credential_decode (const char *munge_socket, const char *cred, struct credential *ret,
                       struct error *err);
/* The digest of a request: begin with its head, then sha256_update() with the body. */
void credential_begin (struct sha256 *ret_sum, const char *method, const char *target);
/* Whether the credential was made for the request of that digest. Constant time. */
bool credential_fits (const struct credential *credential, const struct sha256 *sum);

#endif

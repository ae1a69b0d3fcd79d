/* credential.h - MUNGE credentials bound to one request to one broker
 *
 *     char *cred = credential_make (NULL, "login1:7718", "POST", "/v1/jobs", body, len,
 *                                   &err);
 *     // header "Authorization: MUNGE <cred>"; the other side:
 *     rc = credential_check (NULL, cred, "POST", "/v1/jobs", body, len, authority, &uid,
 *                            &gid, &err);
 *     // ... and then: is authority a name of mine?
 *
 * Payload = hex SHA-256 of METHOD "\n" TARGET "\n" BODY, a blank, and the broker's HOST:PORT as
 * the client knows it (authority.h). So a credential that somebody sees fits no other request,
 * a broker that gets one cannot use it at another broker with the same MUNGE key, and munged
 * refuses it a second time. The name stands there as text, so that a refusal can tell it, and
 * since a proxy may change the header Host. Both calls block (up
 * to seconds): worker threads only in the broker. Thread-safe. libmunge (linked: 0.05 ms
 * a start, measured).
 *
 * munge_socket: where munged listens; NULL: the environment variable FLUXQ_MUNGE_SOCKET,
 * else libmunge's own default.
 */
#ifndef FLUXQ_NET_CREDENTIAL_H
#define FLUXQ_NET_CREDENTIAL_H

#include <sys/types.h>

#include "net/authority.h"

/* The credential as text, caller frees; NULL with a reason (munged is not running, ...).
 * */
char *credential_make (const char *munge_socket, const char *authority,
                       const char *method, const char *target, const void *body,
                       size_t len, struct error *err);
/* 0, the broker that the credential names ("": none, older clients) and the
 * sender's ids, or -EACCES (digest differs, replayed, expired, not a
 * credential), -EIO (no munged). */
int credential_check (const char *munge_socket, const char *cred, const char *method,
                      const char *target, const void *body, size_t len,
                      char ret_authority[AUTHORITY_SIZE], uid_t *ret_uid, gid_t *ret_gid,
                      struct error *err);

#endif

/* credential.h - MUNGE credentials bound to one request
 *
 *     char *cred = credential_make (NULL, "POST", "/v1/jobs", body, len, &err);
 *     // header "Authorization: MUNGE <cred>"; the other side:
 *     rc = credential_check (NULL, cred, "POST", "/v1/jobs", body, len, &uid, &gid,
 *                            &err);
 *
 * Payload = hex SHA-256 of METHOD "\n" TARGET "\n" BODY, so a credential that somebody
 * sees fits no other request, and munged refuses it a second time. Both calls block (up
 * to seconds): worker threads only in the broker. Thread-safe. libmunge (linked: 0.05 ms
 * a start, measured).
 *
 * munge_socket: where munged listens; NULL: the environment variable FLUXQ_MUNGE_SOCKET,
 * else libmunge's own default.
 */
#ifndef FLUXQ_NET_CREDENTIAL_H
#define FLUXQ_NET_CREDENTIAL_H

#include <sys/types.h>

#include "common/error.h"

/* The credential as text, caller frees; NULL with a reason (munged is not running, ...).
 * */
char *credential_make (const char *munge_socket, const char *method, const char *target,
                       const void *body, size_t len, struct error *err);
/* 0 and the sender's ids, or -EACCES (digest differs, replayed, expired, not a
 * credential), -EIO (no munged). */
int credential_check (const char *munge_socket, const char *cred, const char *method,
                      const char *target, const void *body, size_t len, uid_t *ret_uid,
                      gid_t *ret_gid, struct error *err);

#endif

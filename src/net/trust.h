/* trust.h - whose brokers a client talks to over a unix socket
 *
 * The client sends a script and an environment, so the process behind a socket must be the
 * caller's own, root's, or that of a user whom the administrator names in
 * SYSCONFDIR/fluxq/client.yaml:
 *
 *     brokers: [fluxq]          # names of users, or uids
 *
 * The file counts only if it belongs to root and nobody else may write it. The kernel tells
 * who called listen() on the socket (SO_PEERCRED): a broker must call it as its final user.
 */
#ifndef FLUXQ_NET_TRUST_H
#define FLUXQ_NET_TRUST_H

#include "common/error.h"

/* The connected unix socket fd leads to a broker that the caller may trust: 0, else -EPERM
 * with the reason (or why client.yaml cannot be read). */
int trust_check_peer (int fd, const char *path, struct error *err);

#endif

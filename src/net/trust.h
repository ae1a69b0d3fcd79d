/* trust.h - which brokers a client trusts on a unix socket
 *
 * The client sends a script and an environment, so the process that listens on the socket
 * must be the caller's own, root's, or that of a user whom the administrator names in
 * SYSCONFDIR/fluxq/client.yaml:
 *
 *     brokers: [fluxq]          # names of users, or uids
 *
 * (client_settings.h). The kernel tells
 * which user called listen() on the socket (SO_PEERCRED), so a broker must call listen()
 * as its final user.
 */
#pragma once

#include "common/error.h"

/* Whether fd, a connected unix socket, leads to a broker that the caller trusts: 0, else
 * -EPERM with the reason (or why client.yaml cannot be read). */
int trust_check_peer (int fd, const char *path, struct error *err);

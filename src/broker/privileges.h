/* privileges.h - the broker becomes its own user, and fluxq-launch stays root
 *
 *     if (privileges_separate (config, &err) < 0) ...   // before the broker is created
 *
 * With `user` in fluxq.yaml, a broker that was started as root starts fluxq-launch
 * (launch/launcher.h) and then becomes this user for good. Its directories belong to the
 * user; missing ones are made.
 */
#pragma once

#include "broker/config/config.h"

/* socket: that of a fluxq-launch that systemd starts, for a broker that is not root; or
 * NULL. 0 also without `user` and socket. */
int privileges_separate (const struct config *c, const char *socket, struct error *err);

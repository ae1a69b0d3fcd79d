/* privileges.h - the broker becomes its own user, and fluxq-launch stays root
 *
 *     if (privileges_separate (config, &err) < 0) ...   // before the broker is created
 *
 * With `user` in fluxq.yaml, a broker that was started as root starts fluxq-launch
 * (launch/launcher.h) and then becomes this user for good. Its directories belong to the
 * user; its own are made if they are missing.
 */
#pragma once

#include "broker/config/config.h"

/* 0 also without `user`. */
int privileges_separate (const struct config *c, struct error *err);

/* shares.h - usage and fair shares of all users
 */
#pragma once

#include "cmd/client/command.h"

/* Gets GET /v1/fair-share with the users of all its pages: CMD_OK and *ret, a new
 * reference, or the status after a message. */
int cmd_get_shares (struct cmd *c, json_t **ret);

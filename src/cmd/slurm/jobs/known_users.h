/* known_users.h - the users that a list of Slurm's commands names
 */
#pragma once

#include "cmd/client/command.h"

/* Appends the names of the users that exist, separated by commas; a number is a user id.
 * list may be NULL. The others are named on stderr in Slurm's words. CMD_OK, or the status
 * when the broker cannot be asked. */
int known_users (struct cmd *c, const char *list, struct strbuf *ret);

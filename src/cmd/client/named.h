/* named.h - users and queues that a command line names must exist
 *
 *     if (named_users_check (c, "ann,bob") != CMD_OK)
 *         return c->status;                        // "there is no user 'bob'"
 *
 * A name that nobody has is a mistake of the user; the answer "no jobs" would hide it.
 */
#pragma once

#include "cmd/client/command.h"

/* names: separated by commas, or NULL. CMD_OK, or a failure that was printed. A user without
 * an account on this machine may have one on the broker's: the user's jobs prove that. */
int named_users_check (struct cmd *c, const char *names);
bool named_user_exists (struct cmd *c, const char *name);
/* The same for queues. A queue that is no longer configured exists while it has jobs. */
int named_queues_check (struct cmd *c, const char *names);

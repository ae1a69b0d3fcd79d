/* operators.h - the administrators of the site, and the operators of each queue
 *
 *     struct operators *o = operators_find (config, &err);   // NULL: a name is unknown
 *     operators_have_user (o, OPERATORS_SITE, uid, users);
 *     operators_have_user (o, queue, uid, users);            // index in config->queues
 *     operators_destroy (o);
 *
 * `operators:` at the top of fluxq.yaml names administrators, `operators:` of a queue the
 * operators of that queue: users, and as "@name" the members of unix groups. Names become
 * numbers at the start and at a reload. Groups of a user are those of the last look-up of
 * the user (users.h), so a user who left a group loses its rights within a minute.
 *
 * Thread: the loop's.
 */
#pragma once

#include "broker/config/config.h"
#include "broker/core/users.h"

#define OPERATORS_SITE (-1)

struct operators;

/* Looks up the names; blocks, so only at start and reload. NULL: -ENOENT (err names key and
 * user or group), -ENOMEM. */
struct operators *operators_find (const struct config *c, struct error *err);
/* NULL is allowed. */
void operators_destroy (struct operators *o);
/* Adds a user to the list of the queue, or of OPERATORS_SITE; for unit tests, too.
 * -ENOMEM. */
int operators_add (struct operators *o, int queue, uid_t uid);
/* Lists of a configuration with this many queues, all empty; NULL: no memory. */
struct operators *operators_create (size_t nqueues);
/* o NULL: nobody is. */
bool operators_have_user (const struct operators *o, int queue, uid_t uid,
                          struct users *users);
/* Whether a list names a group: decisions about a user then need the user's look-up. */
bool operators_have_groups (const struct operators *o);

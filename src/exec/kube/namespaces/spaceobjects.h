/* spaceobjects.h - a namespace that is made for a queue's jobs, and the objects in it
 *
 * Pure functions; new references, NULL without memory. The source names the namespace.
 * Its labels mark it as ours, and name the user if a template made it for a user.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define SPACE_QUOTA "fluxq" /* name of the ResourceQuota */

struct space_source {
    const char *cluster, *name;
    const json_t *set; /* of the queue, see exec/spaceset.h */
    bool restricted;   /* kube.security */
    bool is_users;     /* only for the jobs of this user: */
    uid_t uid;
    const char *user;    /* name of the user, or NULL */
    const char *subject; /* the broker's name in the API server; or NULL */
};

json_t *space_namespace (const struct space_source *src);
/* An array of {"path": of the collection, "object": to make there}: quota, limits,
 * network policies, and the broker's rights. */
json_t *space_objects (const struct space_source *src);
/* The reason why these jobs cannot use an existing namespace; NULL: they can. literal:
 * the queue names it, so that it need not be ours. */
const char *space_refusal (const struct space_source *src, const json_t *namespace_,
                           bool literal);
/* Whether it has the marks of this broker's cluster. */
bool space_is_ours (const char *cluster, const json_t *namespace_);

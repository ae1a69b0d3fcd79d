/* spaceobjects.h - a namespace that is made for a queue's jobs, and what comes with it
 *
 * Pure functions; new references, NULL without memory. The namespace is named in the source;
 * its labels say that it is ours, and whose jobs it is for if a template made it for a user.
 */
#ifndef FLUXQ_EXEC_KUBE_SPACEOBJECTS_H
#define FLUXQ_EXEC_KUBE_SPACEOBJECTS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define SPACE_QUOTA "fluxq" /* its name */

struct space_source {
    const char *cluster, *name;
    const json_t *set; /* of the queue, see exec/spaceset.h */
    bool restricted;   /* kube.security */
    bool is_users;     /* it is for the jobs of this user alone: */
    uid_t uid;
    const char *user;    /* its name, or NULL */
    const char *subject; /* the broker, as the API server names it; or NULL */
};

json_t *space_namespace (const struct space_source *src);
/* An array of {"path": of the collection, "object": to be made there}: quota, limits, network
 * policies, and the broker's rights. */
json_t *space_objects (const struct space_source *src);
/* What is wrong with a namespace that is there, for these jobs; NULL: nothing. literal: the
 * queue names it, so that it need not be ours. */
const char *space_refusal (const struct space_source *src, const json_t *namespace_,
                           bool literal);
/* It has the marks of this broker's cluster. */
bool space_is_ours (const char *cluster, const json_t *namespace_);

#endif

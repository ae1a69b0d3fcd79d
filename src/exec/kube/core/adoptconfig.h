/* adoptconfig.h - `kube.adopt` of fluxq.yaml: the Jobs of others that become jobs, and
 * their owners
 *
 *     kube:
 *       adopt:
 *         namespaces: {team-a: alice, team-b: bob, shared: null}   # null: no default
 *         owner-policy: fluxq-adopt-owner     # believe fluxq.io/owner while it is in force
 *         on-cancel: delete                   # Jobs of cancelled jobs; else suspend
 *         priority-classes: {high: 24, low: 8}  # urgencies by priorityClassName of the pods
 *
 *     adoptconfig_read (doc, config, &a, &err);
 *     adoptconfig_owner (&a, "team-a");       // "alice", borrowed
 */
#pragma once

#include "common/yaml.h"

#define ADOPT_NAMESPACES_MAX 256 /* each has a watch */

struct adoptconfig {
    json_t *namespaces; /* name: its user or null; NULL: the executor adopts nothing */
    /* name of a ValidatingAdmissionPolicy and of its binding; or NULL */
    char *owner_policy;
    bool delete_cancelled;
    json_t *priority_classes; /* name: urgency; or NULL */
};

/* config: the mapping kube; its key `adopt` is optional. *ret was zeroed. 0, -EINVAL with
 * line and column, -ENOMEM. */
int adoptconfig_read (const struct yaml_doc *doc, const json_t *config,
                      struct adoptconfig *ret, struct error *err);
void adoptconfig_release (struct adoptconfig *a);
/* The urgency of a job whose pods have this priorityClassName, which may be "". */
int adoptconfig_urgency (const struct adoptconfig *a, const char *priority_class);
/* "": the namespace has no owner, or is not configured. */
const char *adoptconfig_owner (const struct adoptconfig *a, const char *namespace_);

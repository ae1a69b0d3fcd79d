/* adoptconfig.h - `kube.adopt` of fluxq.yaml: which Jobs of others become jobs, and whose
 *
 *     kube:
 *       adopt:
 *         namespaces: {team-a: alice, team-b: bob, shared: null}   # null: no owner but named
 *         owner-policy: fluxq-adopt-owner     # believe fluxq.io/owner while it is in force
 *         on-cancel: delete                   # of a Job whose job is cancelled; else suspend
 *         priority-classes: {high: 24, low: 8}  # urgencies by priorityClassName of the pods
 *
 *     adoptconfig_read (doc, config, &a, &err);
 *     adoptconfig_owner (&a, "team-a");       // "alice", borrowed
 */
#ifndef FLUXQ_EXEC_KUBE_ADOPTCONFIG_H
#define FLUXQ_EXEC_KUBE_ADOPTCONFIG_H

#include <stdbool.h>

#include "common/json.h"
#include "common/yaml.h"

#define ADOPT_NAMESPACES_MAX 256 /* each has a watch */

struct adoptconfig {
    json_t *namespaces; /* name: its user or null; NULL: nothing is adopted */
    /* name of a ValidatingAdmissionPolicy and of its binding; or NULL */
    char *owner_policy;
    bool delete_cancelled;
    json_t *priority_classes; /* name: urgency; or NULL */
};

/* config: the mapping kube, which need not have a key `adopt`. *ret was zeroed. 0, -EINVAL with
 * line and column, -ENOMEM. */
int adoptconfig_read (const struct yaml_doc *doc, const json_t *config,
                      struct adoptconfig *ret, struct error *err);
void adoptconfig_release (struct adoptconfig *a);
/* Of a job whose pods have this priorityClassName, which may be "". */
int adoptconfig_urgency (const struct adoptconfig *a, const char *priority_class);
/* NULL: the namespace has none, or is none of these. */
const char *adoptconfig_owner (const struct adoptconfig *a, const char *namespace_);

#endif

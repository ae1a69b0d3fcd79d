/* lease.h - the claim to a cluster id (exec/claim.h) as a Lease of coordination.k8s.io/v1
 *
 *     lease_claim (&host, &cfg, &claim, &err)       // waits until it is ours
 *
 * The Lease fluxq-CLUSTER, in the jobs' namespace, names its holder, who renews it every
 * LEASE_RENEW seconds. Who waits looks at it every second, and takes it when it is free, or
 * when it has not changed for LEASE_SECONDS by the waiter's own clock: no two clocks are
 * compared. Whose last renewal began LEASE_DEADLINE seconds ago ends, so that
 * LEASE_SECONDS - LEASE_DEADLINE are left for what it had under way.
 *
 * With the Lease goes the state: its annotation has the number that is in the file
 * `identity` of the state directory. A broker with another state is refused, as it would
 * take the jobs of the first for strangers' and remove them.
 *
 * Idea: client-go's leader election.
 */
#ifndef FLUXQ_EXEC_KUBE_LEASE_H
#define FLUXQ_EXEC_KUBE_LEASE_H

#include "exec/claim.h"
#include "exec/exec.h"
#include "exec/kube/config.h"

#define LEASE_SECONDS 10
#define LEASE_RENEW 2.0
#define LEASE_DEADLINE 7.0
#define LEASE_STATE "fluxq.io/state" /* annotation */

/* What a Lease says to who waits for it. */
enum lease_view {
    LEASE_FREE,    /* nobody's */
    LEASE_TAKEN,   /* somebody's, who may be alive */
    LEASE_EXPIRED, /* ... who is not any more */
    LEASE_FOREIGN, /* it belongs to another state */
};
/* unchanged: seconds since it was first seen as it is now. */
enum lease_view lease_judge (const json_t *lease, const char *state, double unchanged);

/* 0 and the claim; -EEXIST: another state has it; -EACCES: no right to leases; ... */
int lease_claim (const struct exec_host *host, const struct kube_config *cfg,
                 struct exec_claim **ret, struct error *err);

#endif

/* lease.h - the claim to a cluster id (exec/claim.h) as a Lease of coordination.k8s.io/v1
 *
 *     lease_claim (&host, &cfg, &claim, &err)       // waits until it is ours
 *
 * The Lease fluxq-CLUSTER, in the jobs' namespace, names its holder, which renews it
 * every LEASE_RENEW seconds. A waiting broker reads it every second, and takes it when
 * it is free, or when it has not changed for LEASE_SECONDS by the waiting broker's own
 * clock: no two clocks are compared. The holder ends itself LEASE_DEADLINE seconds after
 * its last renewal began. LEASE_SECONDS - LEASE_DEADLINE remain for its requests under
 * way.
 *
 * An annotation of the Lease has the number in the file `identity` of the state
 * directory. A broker with another state is refused, since it would take the jobs of the
 * first for strangers' and remove them.
 *
 * Idea: client-go's leader election.
 */
#pragma once

#include "exec/claim.h"
#include "exec/exec.h"
#include "exec/kube/core/config.h"

#define LEASE_SECONDS 10
#define LEASE_RENEW 2.0
#define LEASE_DEADLINE 7.0
#define LEASE_STATE "fluxq.io/state" /* annotation */

/* The meaning of a Lease for a waiting broker. */
enum lease_view {
    LEASE_FREE,    /* nobody holds it */
    LEASE_TAKEN,   /* its holder may be alive */
    LEASE_EXPIRED, /* ... is dead */
    LEASE_FOREIGN, /* it belongs to another state */
};
/* unchanged: seconds since the Lease was first seen in its present form. */
enum lease_view lease_judge (const json_t *lease, const char *state, double unchanged);

/* 0 and the claim; -EEXIST: another state has it; -EACCES: no right to leases; ... */
int lease_claim (const struct exec_host *host, const struct kube_config *cfg,
                 struct exec_claim **ret, struct error *err);

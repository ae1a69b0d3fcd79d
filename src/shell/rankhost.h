/* rankhost.h - the hosts of a job's ranks, under names that the ranks can resolve
 *
 *     char *host = rank_host (&launch, 3);                  // a pod: "fluxq-c-7-0-3.fluxq-..."
 *     ssize_t rank = rank_of_host (&launch, "fluxq-c-7-0-3");             // 3
 *
 * A pod does not know the name of its node, only the one that it has itself; and launchers
 * such as Open MPI's mpirun take for their own host what is called as the host is. What the
 * agents call each other in the launch file has both properties. Where agents meet at unix
 * sockets, all on one machine, the name is the node's; that of an only rank is what its host
 * calls itself, so these are to be asked for on rank 0.
 */
#ifndef FLUXQ_SHELL_RANKHOST_H
#define FLUXQ_SHELL_RANKHOST_H

#include <stdint.h>
#include <sys/types.h>

#include "common/launch.h"

/* The caller frees; NULL: no memory. rank < nnodes. */
char *rank_host (const struct launch *launch, uint32_t rank);
/* By the whole name or by its part before the first dot; -1: no rank has it. O(ranks). */
ssize_t rank_of_host (const struct launch *launch, const char *name);

#endif

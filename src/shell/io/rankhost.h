/* rankhost.h - host names of a job's ranks that the ranks can resolve
 *
 *     char *host = rank_host (&launch, 3);  // "fluxq-c-7-0-3.fluxq-..."
 *     ssize_t rank = rank_of_host (&launch, "fluxq-c-7-0-3");  // 3
 *
 * A pod cannot resolve the name of its node, only its own name. Launchers such as Open
 * MPI's mpirun recognize their own host by the name that the host has. The names in the
 * launch file by which agents address each other satisfy both. If the agents of a job
 * meet at unix sockets, all on one machine, the host name is the node's name. The only
 * rank of a job has the name that its host reports, so call these functions on rank 0.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "protocol/launch.h"

/* The caller frees; NULL: no memory. rank < nnodes. */
char *rank_host (const struct launch *launch, uint32_t rank);
/* Finds a rank by its whole host name or by the part before the first dot; -1: no rank.
 * O(ranks). */
ssize_t rank_of_host (const struct launch *launch, const char *name);

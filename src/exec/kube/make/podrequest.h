/* podrequest.h - the amounts that a pod of a job requests, from the job's R
 *
 *     struct rset ranks = podrequest_ranks (r, 1);
 *     struct pod_request q = podrequest_least (&ranks);   // in the template of a Job
 *     q = podrequest_of_rank (r, 3);                      // of one pod
 *
 * Pure.
 */
#pragma once

#include "match/machine/rset.h"

struct pod_request {
    int64_t cpu_milli; /* 0: not requested */
    uint32_t gpus;
    int64_t memory_mib; /* 0: not requested */
    /* of the rank, borrowed; NULL: as the template has it */
    const struct gres_list *gres;
};

/* The ranks of a component, borrowed from r. */
struct rset podrequest_ranks (const struct rset *r, uint32_t component);
/* The amounts of a rank if they are equal, else the smallest: all pods of a Job have one
 * template. */
struct pod_request podrequest_least (const struct rset *r);
/* The amounts allocated to that rank. */
struct pod_request podrequest_of_rank (const struct rset *r, uint32_t rank);
/* A quantity of CPUs: "2", "500m". */
#define PODREQUEST_CPU_MAX 24
const char *podrequest_cpu (int64_t milli, char buf[PODREQUEST_CPU_MAX]);

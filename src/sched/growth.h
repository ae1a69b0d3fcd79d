/* growth.h - nodes that the machine does not have and that would let waiting jobs start
 *
 *     struct growth *x = growth_create (machine, matcher, policy, kinds, nkinds, true, now);
 *     growth_run (x, id, r);                            // for each job that runs
 *     while (the next job in the queue's order)
 *         n = growth_plan (x, &job, now, needs);        // missing nodes that can be made
 *     growth_destroy (x);
 *
 * A growth is a model of the machine with additional nodes that do not exist yet: for
 * each kind (a node group of an autoscaler), as many nodes as can still be made,
 * available from now + the delay of the kind. The model plans jobs one after another, as
 * the queue does, and the missing nodes of a job are requested for that job alone. So two
 * jobs never count on the same new node, and all jobs together never count on more nodes
 * than can be made. A job lacks nodes if it starts sooner with them than on the present
 * nodes (or on resources freed until then), and starts as soon as the new nodes are
 * there, without waiting for other jobs. A job lacks as few nodes as suffice; between
 * kinds that are available equally soon, the first takes precedence. The real machine is
 * not affected.
 *
 * No clock, no input or output. Times are unix times in seconds. Costs: to create,
 * O(nodes); to plan a job, some matches, and O(log possible) more for each kind that it
 * could use.
 */
#pragma once

#include "match/machine/match.h"

#define GROWTH_KINDS_MAX 64
#define GROWTH_NODES_MAX 10000 /* of one kind that could be made */

struct growth;

struct growth_kind {
    const struct machine_node_spec *node; /* spec of each node; the name is ignored */
    uint32_t possible; /* nodes that can still be made; values above the max count as the
                        * max */
    double delay;      /* seconds until a new node is available, >= 0 */
};

struct growth_job {
    uint64_t id;
    const struct match_request *req;
    double duration; /* seconds, 0: unlimited */
};

/* Nodes of one kind for one job, with the most that the job would have on each of
 * them. */
struct growth_need {
    uint64_t job;
    size_t kind;
    uint32_t nodes;
    uint32_t cores, gpus; /* the largest of a rank */
    int64_t memory_mib;
};

/* kinds (copied, with specs) are at most GROWTH_KINDS_MAX. as_it_is: the model has the
 * down and drained nodes, the foreign use and the windows of the machine; false: an empty
 * machine, for growth_could_run() alone. m: the matcher of the machine g. NULL: no
 * memory. */
struct growth *growth_create (const struct machine *g, const struct matcher *m,
                              const struct match_policy *policy,
                              const struct growth_kind *kinds, size_t nkinds,
                              bool as_it_is, double now);
void growth_destroy (struct growth *x);
/* Adds a running job with its resources. A job that cannot be booked (its nodes are gone,
 * or are reserved) is skipped. 0 or -ENOMEM. */
int growth_run (struct growth *x, uint64_t id, const struct rset *r);
/* Replaces the resources of a job that is in the model already. Errors as
 * growth_run(). */
int growth_run_again (struct growth *x, uint64_t id, const struct rset *r);
/* True if the job fits beside all jobs in the model; books nothing. */
bool growth_fits (struct growth *x, const struct growth_job *job, double now);
/* Plans the next job in the order of the queue. needs has room for one entry for each
 * kind. Returns the number of needs of the job, in the order of kinds; 0: the job lacks
 * no nodes, or new nodes would not help. *ret_waits: the job does not start now. -ENOMEM:
 * the model is unusable. */
int growth_plan (struct growth *x, const struct growth_job *job, double now,
                 struct growth_need *needs, bool *ret_waits);
/* Tells whether the request could run if all nodes were there, up and empty. As
 * match_satisfiability(). */
int growth_could_run (struct growth *x, const struct match_request *req,
                      struct error *why);

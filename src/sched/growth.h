/* growth.h - which nodes that the machine does not have would let waiting jobs start
 *
 *     struct growth *x = growth_create (machine, policy, kinds, nkinds, true);
 *     growth_run (x, id, r);                            // for each job that runs
 *     while (the next job in the queue's order)
 *         n = growth_plan (x, &job, now, needs);        // what it lacks, if that can be made
 *     growth_destroy (x);
 *
 * A model of the machine, with nodes beside it that do not exist: of each kind (a node group of
 * an autoscaler) so many as could still be made, to be had from now + its delay on. Jobs are
 * planned there one after another, as the queue does, and what one of them lacks is asked for it
 * alone: so two jobs never count on the same node, and all together never on more nodes than can
 * be made. A job lacks nodes if with them it starts sooner than on what there is (or becomes free
 * until then), and as soon as they are there: it has not to wait for others besides. It lacks
 * as few as will do; of kinds that would be there equally soon, the first ones. Nothing of
 * this is seen by the real machine.
 *
 * No clock, no input or output. Times are unix times in seconds. Costs: to create, O(nodes);
 * to plan a job, some matches, and O(log possible) more for each kind that it could use.
 */
#ifndef FLUXQ_SCHED_GROWTH_H
#define FLUXQ_SCHED_GROWTH_H

#include "match/match.h"

#define GROWTH_KINDS_MAX 64
#define GROWTH_NODES_MAX 10000 /* of one kind that could be made */

struct growth;

struct growth_kind {
    const struct machine_node_spec *node; /* each of them; its name is not looked at */
    uint32_t possible; /* could still be made; more than the max is that */
    double delay;      /* seconds until one is there, >= 0 */
};

struct growth_job {
    uint64_t id;
    const struct match_request *req;
    double duration; /* seconds, 0: unlimited */
};

/* Nodes of one kind for one job: on each it would have at most so much. */
struct growth_need {
    uint64_t job;
    size_t kind;
    uint32_t nodes;
    uint32_t cores, gpus; /* the most of a rank */
    int64_t memory_mib;
};

/* kinds (copied, specs too) are at most GROWTH_KINDS_MAX. as_it_is: what is down, drained or
 * taken by strangers is so in the model, and windows are closed; false: an empty machine, for
 * growth_could_run() alone. m: that of the machine g. NULL: no memory. */
struct growth *growth_create (const struct machine *g, const struct matcher *m,
                              const struct match_policy *policy,
                              const struct growth_kind *kinds, size_t nkinds,
                              bool as_it_is, double now);
void growth_destroy (struct growth *x);
/* A job that runs and has this. What cannot be booked (its nodes have gone, or are reserved) is
 * passed over: 0; -ENOMEM. */
int growth_run (struct growth *x, uint64_t id, const struct rset *r);
/* The same of one that is there already, and has something else now. */
int growth_run_again (struct growth *x, uint64_t id, const struct rset *r);
/* Whether the job fits beside all that is there; nothing is booked. */
bool growth_fits (struct growth *x, const struct growth_job *job, double now);
/* The next job in the order of the queue; needs: room for as many as there are kinds. The number
 * of them that it lacks, in the order of kinds; 0: none, or these nodes would not help either.
 * *ret_waits: it does not start now. -ENOMEM: the model is of no use any more. */
int growth_plan (struct growth *x, const struct growth_job *job, double now,
                 struct growth_need *needs, bool *ret_waits);
/* Could it run if all nodes were there, up and empty? As match_satisfiability(). */
int growth_could_run (struct growth *x, const struct match_request *req,
                      struct error *why);

#endif

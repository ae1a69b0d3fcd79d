/* request.h - the inside of a compiled request, for the matcher only
 *
 * A request is six counts and a constraint. Which vertices the jobspec has decides what a
 * "unit" is, of which `count` must be found:
 *
 *     rack[R] > node[N] > slot[S]    R racks, in each N nodes with S slots each
 *     rack[R] > slot[S]              R racks, in each S slots, on any of its nodes
 *     node[N] > slot[S]              N nodes with S slots each
 *     slot[S] > node[1]              S whole nodes with one slot each
 *     slot[S]                        S slots, as many on a node as fit
 */
#ifndef FLUXQ_MATCH_REQUEST_H
#define FLUXQ_MATCH_REQUEST_H

#include "match/constraint.h"
#include "match/match.h"

enum dim { DIM_RACK, DIM_NODE, DIM_SLOT, DIM_CORE, DIM_GPU, DIM_MEMORY, DIM_COUNT };

struct match_request {
    struct jobspec_count count[DIM_COUNT]; /* min 0: the jobspec has no such vertex */
    enum dim unit;                         /* outermost: rack, node or slot */
    bool exclusive;                        /* whole nodes */
    int64_t node_gpus, node_memory;        /* beside the slots on each node; MiB */
    int64_t memory_per_node;               /* at least, slots and all; MiB */
    struct constraint *constraint;         /* or NULL */
    uint64_t shape;
};

/* What `slots` slots, sized as size[] says, need on one node. Saturates. */
struct room request_need (const struct match_request *req, const int64_t size[DIM_COUNT],
                          int64_t slots);
/* Product of two counts, at most INT64_MAX / 4 so that sums of a few do not overflow. */
int64_t request_times (int64_t a, int64_t b);

#endif

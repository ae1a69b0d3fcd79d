/* planner_private.h - the planner's inside: what walk.c, planner.c, book.c and find.c share
 *
 * A claim is the booking of some units of one vertex by one job. Claims of a vertex are a
 * list from graph_vertex.claims; claims of a job another. What is allocated (not what is
 * reserved) is also in graph_vertex.busy and .used, so that the question "free now?" reads
 * one word for 64 units.
 */
#ifndef FLUXQ_MATCH_PLANNER_PRIVATE_H
#define FLUXQ_MATCH_PLANNER_PRIVATE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/index.h"
#include "match/planner.h"

struct claim { /* at most 100 bytes with its share of all else */
    uint32_t v;
    uint32_t booking;     /* number of the job's booking */
    uint32_t next, prev;  /* of the same vertex; GRAPH_NONE */
    uint32_t next_of_job; /* GRAPH_NONE */
    uint32_t unit, count; /* a run of units */
    bool reserved;
    bool exclusive;
    int64_t amount; /* of each unit */
};

struct booking {
    uint64_t job;
    int64_t start, end;
    bool reserved;
    uint32_t first, last; /* claims */
    uint32_t nclaims;
    uint32_t number;
    UT_hash_handle hh;
};

struct window { /* the time that is asked for */
    int64_t at, end;
    bool now;  /* at is now, and it is to be allocated */
    bool ever; /* satisfiability: nothing is booked and all is up */
};

struct above { /* a vertex with nodes below it */
    uint32_t v;
    struct index *index; /* of all nodes below it, in the policy's order */
    uint32_t *nodes;     /* their handles by place */
    size_t nnodes;
    uint32_t *loose; /* children that are not nodes and have none below them */
    size_t nloose;
    uint32_t *kids; /* children that have nodes below them */
    size_t nkids;
    size_t nown; /* of the nodes: its own children */
};

struct profile;

struct planner {
    struct graph *g;
    struct match_policy policy;
    struct planner_options opt;
    struct claim *claims;                        /* by number */
    uint32_t nclaims, claims_alloc, claims_free; /* free ones are a list by next */
    struct booking *by_job;                      /* hash */
    struct booking **bookings;                   /* by number */
    uint32_t nbookings, bookings_alloc, bookings_free;
    uint16_t dims[INDEX_DIMS]; /* type of each dimension; dims[0] is GRAPH_NODE: whole */
    unsigned ndims;
    struct above *above; /* by graph_vertex.place of vertices with GRAPH_ABOVE */
    size_t nabove;
    uint32_t
        *place; /* of node number k (graph_vertex.place): its place in the index of each
                      * vertex above it, depth by depth: place[k * levels + depth] */
    size_t levels;
    bool any_loose;                   /* some vertex has loose children */
    bool type_above[GRAPH_TYPES_MAX]; /* types of vertices above nodes, but the root's */
    uint64_t layout;                  /* of the graph when the above was made */
    struct profile *profile;          /* sums over time of the dimensions */
    uint64_t generation;
    uint64_t changes; /* bumped with every booking and cancel */
};

struct walk_miss;
/* -- miss.c: why it did not fit, a sentence for its user. -EBUSY, or -ENODEV for never -- */
int planner_why (const struct planner *p, const struct shape *s,
                 const struct walk_miss *miss, bool never, struct error *why);

/* -- book.c: claims -- */

/* Units of word i (64 i ...) of v that are free in the window; bits past n are 0. Nothing
 * above v is asked. Not of divisible vertices. */
uint64_t claims_free_word (const struct planner *p, uint32_t v, uint32_t i,
                           const struct window *w);
/* Of a divisible vertex: the amount that is free all through the window. */
int64_t claims_free_amount (const struct planner *p, uint32_t v, const struct window *w);
int64_t claims_free_count (const struct planner *p, uint32_t v, const struct window *w);
/* No claim on v or below it overlaps the window. */
bool claims_untouched (const struct planner *p, uint32_t v, const struct window *w);
/* An exclusive claim on v itself overlaps the window (for vertices with children: nothing
 * below it is free then). */
bool claims_taken (const struct planner *p, uint32_t v, const struct window *w);
/* Book, whether free or not (the caller has looked). -ENOMEM: nothing is booked. */
int claims_add (struct planner *p, uint64_t job, const struct selection *s,
                bool reserved);

/* -- levels.c: the indexes -- */

/* Make or mend them after changes of the graph. -ENOMEM. O(nodes log nodes) when the
 * layout changed, else O(1). */
int levels_update (struct planner *p);
/* The node's claims, or what it has, changed: its key in all indexes above it. */
void levels_touch (struct planner *p, uint32_t node);
void levels_hold (struct planner *p);
void levels_settle (struct planner *p);
const struct above *levels_above (const struct planner *p, uint32_t v);
void levels_destroy (struct planner *p);
/* Dimension of the type in the indexes; -1: not tracked. */
int levels_dim (const struct planner *p, uint16_t type);

#endif

/* machine_private.h - the machine's inside, for machine*.c and match*.c only
 *
 *     const struct machine_node *n = g->nodes[i];     // or NULL: that index is vacant
 *     graph_vertex (g->graph, n->v) ...               // the node in the graph
 *     machine_book (g, n, NULL);                      // a job has something there now
 *
 * The graph is the truth about sizes and bookings. Here is what it has no place for: the
 * node by its index, what executors said of it, and how many jobs are on it. Every change
 * of the graph is told to the planner at once, one by one, see planner_changed().
 */
#ifndef FLUXQ_MATCH_MACHINE_PRIVATE_H
#define FLUXQ_MATCH_MACHINE_PRIVATE_H

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/machine.h"
#include "match/planner.h"

struct machine_rack { /* stays when it is empty: its id is its place in the order */
    char *name;
    uint32_t v; /* GRAPH_NONE: no node is in it */
    uint32_t nnodes;
    int id;
    UT_hash_handle hh;
};

struct machine_amounts {
    uint32_t cores, gpus;
    int64_t memory; /* MiB */
};

struct machine_node {
    char *name;
    char *reason;
    char **properties; /* NULL-terminated */
    struct machine_rack *rack;
    enum machine_node_state state;
    int index;
    bool leaving;
    bool exclusive; /* booked as a whole */
    bool withheld;  /* some of it may be, see node_withhold() */
    uint32_t njobs;
    uint32_t v, core, gpu, memory; /* in the graph; GRAPH_NONE: it has none of that */
    struct machine_amounts size, foreign;
    struct machine_amounts taken; /* while exclusive: what the job was given */
    struct machine_node *next;    /* in a list of those on which a job was */
};

struct machine {
    char *name;
    struct graph *graph;
    struct planner *planner;     /* the matcher's, or NULL */
    struct machine_node **nodes; /* by index, NULL where vacant */
    size_t size, alloc;          /* indexes 0..size-1 were given */
    size_t count;                /* nodes that exist */
    size_t vacant;               /* no index below it is vacant */
    struct machine_rack *racks;  /* hash by name */
    uint64_t lost;               /* times that the planner was told of a loss */
    uint64_t layout; /* bumped when nodes come, go or change size, rack or properties */
};

struct machine_node *machine_node_at (const struct machine *g, int index); /* or NULL */
/* The node in which the vertex is, or which it is. */
struct machine_node *machine_node_of (const struct machine *g, uint32_t v);
/* The graph has changed at v. */
void machine_changed (struct machine *g, uint32_t v);
/* The same, and all that has changed is that less is free: what did not fit need not be
 * tried again. */
void machine_lost (struct machine *g, uint32_t v);

/* One job more is booked on the node; taken: it has all of it, and was given so much. */
void machine_book (struct machine *g, struct machine_node *n,
                   const struct machine_amounts *taken);
/* One less. The node is gone afterwards when it was leaving and this was the last. */
void machine_unbook (struct machine *g, struct machine_node *n);
/* A reservation there is gone: so is the node if only that kept it. */
void machine_tidy (struct machine *g, struct machine_node *n);

/* -- machine_size.c: what a node has, and what of that others use -- */

/* It gets this size. -EINVAL, -ENOMEM: some of it may have changed. */
int node_resize (struct machine *g, struct machine_node *n,
                 const struct machine_amounts *size, struct error *err);
/* Withhold what is foreign, and what is booked beyond the node's size, from what is free
 * now. After each change of any of these. 0 or -ENOMEM. */
int node_withhold (struct machine *g, struct machine_node *n);
/* Leaves that were only kept for jobs are dropped when they are free. */
void node_tidy (struct machine *g, struct machine_node *n);
/* Booked, by units; and what could be booked now if the node took jobs. */
struct machine_amounts node_used (const struct machine *g, const struct machine_node *n);
struct machine_amounts node_left (const struct machine *g, const struct machine_node *n);

#endif

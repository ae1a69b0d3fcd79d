/* planner_state.h - what the planner knows, for its own files and for the search
 *
 *     planner.c         operations: update, cancel, extend; the jobs
 *     cancel_part.c     gives back a part of a booking
 *     holders.c         which jobs have a unit, and how much is free
 *     claims.c          units that are free in a window of time
 *     bookings.c        adds and removes bookings and their claims
 *     suspend.c         suspends and resumes reservations
 *     removed_log.c     the log of removed bookings
 *     levels.c          the indexes of nodes above each vertex, and the keys of nodes
 *     levels_lookup.c   finds nodes and the vertices above them
 *     node_entry.c      a node comes or goes: its entry
 *     places.c          places of nodes in the indexes
 *     rebuild.c         rebuilds everything (rebuild_count.c: counts everything first;
 *                       nested_nodes.c: nodes in nodes)
 *     sums.c            amounts by dimension: of a subtree, of a booking; sums over time
 *     properties.c      dimensions for properties
 *     node_kinds.c      nodes with equal contents
 *     node_load.c       the load of nodes, for the order of policy first
 *     window_nodes.c    which nodes have a booking in a window
 *
 * Only the planner writes the state, except `search` and `room`, which are the search's.
 *
 * A claim is the booking of some units of one vertex by one job. The claims of a vertex
 * are a list from graph_vertex.claims; the claims of a job are another. Allocated units
 * (not reserved ones) are also in graph_vertex.busy and .used, so that the question "free
 * now?" reads one word for 64 units.
 *
 * An exclusive claim on a vertex with children covers all below it in the tree; further
 * children below it have claims of their own. A claim on a divisible vertex takes its
 * amount, exclusive or not.
 */
#pragma once

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/index/index.h"
#include "match/index/ordered.h"
#include "match/planner/planner.h"

#define NOWHERE GRAPH_NONE

struct claim { /* at most 100 bytes, with its share of other memory */
    uint32_t v;
    uint32_t booking;     /* number of the booking */
    uint32_t next, prev;  /* in the list of the vertex; GRAPH_NONE */
    uint32_t next_of_job; /* GRAPH_NONE */
    uint32_t unit, count; /* a run of units; count 0: dropped, see bookings_sweep() */
    bool reserved;
    bool exclusive;
    int64_t amount;     /* of each unit */
    int64_t start, end; /* of its booking; a copy, as the booking is far away in memory */
};

struct node_load { /* of a node by one booking: what the selection named there */
    uint32_t node, cores;
    bool whole; /* the node itself */
};

struct booking {
    uint64_t job;
    int64_t start, end;
    bool reserved;
    /* a reservation on units that other jobs may have at that time; the sums count what
     * the others have as theirs */
    bool over;
    bool suspended;       /* see booking_suspend() */
    bool unlisted;        /* suspended, and its claims are not in the lists of their
                           * vertices */
    bool fresh;           /* in planner.fresh */
    uint32_t first, last; /* claims */
    uint32_t nclaims;
    uint32_t number;
    int64_t own_start, own_end; /* the real start and end while suspended */
    uint64_t stamp;             /* of the last round that visited it, see struct
                                 * planner */
    int64_t sums[INDEX_DIMS];   /* what the booking takes of the profile in [start,
                                 * end) */
    uint64_t made; /* p->made for which `sums` are in the profile and `load` is
                    * counted */
    struct ordered_link by_id, by_end;
    struct node_load *load; /* see node_load.c; owned */
    size_t nload;
    struct reach *reach;         /* or NULL; owned */
    struct booking *prev, *next; /* in planner.reserved, when reserved */
    struct booking *fresh_prev, *fresh_next;
    struct booking *suspended_prev, *suspended_next;
    UT_hash_handle hh;
};

#define USELESS_MAX 6

struct useless {
    int64_t cores;      /* cores needed in one node; -1: whole nodes */
    uint8_t properties; /* of the nodes */
    int64_t length;     /* length or more of a window that begins at the end of the
                         * booking */
};

/* Data about a booking for later times, made at first use. */
struct reach {
    uint64_t placed;   /* p->placed at that time; places of nodes are of that time */
    uint64_t shown;    /* p->shown for which `useless` holds */
    unsigned nuseless; /* in total; the last USELESS_MAX of them are kept */
    /* needs that do not profit from the end of the booking */
    struct useless useless[USELESS_MAX];
    uint32_t first, words; /* of the bits below */
    bool any_whole;
    uint64_t bits[]; /* `words` words of nodes used in part or whole, then as many of
                      * whole nodes */
};

struct window { /* the requested time */
    int64_t at, end;
    bool now;  /* at is now, and the units are to be allocated */
    bool ever; /* satisfiability: nothing counts as booked, all counts as up */
    /* For a later window, if known (else NULL): a bit per node, by place in the root's
     * index. */
    const uint64_t *touched; /* nodes with a booking in it */
    const uint64_t *taken;   /* those nodes that are booked as a whole */
    const uint64_t *up;      /* nodes that are up */
};

/* An upper vertex: one with nodes below it, such as a rack or the cluster. */
struct upper {
    uint32_t v;
    struct index *index; /* of all nodes below it, in the policy's order */
    uint32_t *nodes; /* handles by place; NOWHERE: vacant, but the last is not; owned */
    size_t places, room;
    size_t nnodes;   /* places that are not vacant */
    uint32_t *loose; /* children without nodes at or below them */
    size_t nloose;
    uint32_t *kids; /* children with nodes below them */
    size_t nkids;
    size_t nown; /* nodes that are its own children */
    /* for policies with `first`: kids, the freest first, see levels_kid() */
    int64_t whole; /* nodes taken as a whole, see node_load.c */
    struct ordered by_free;
    struct ordered_link in_parent;
    bool in_order;
    /* while the index is held: the next such vertex; the last one points to itself */
    struct upper *next_held;
};

/* A node (the outermost one of nested nodes), by its number. */
struct level_node {
    uint32_t v, parent; /* v: GRAPH_NONE: vacant, and parent is the next such number */
    uint32_t units;     /* of vertices in it */
    uint32_t nclaims, nreserved; /* on the node and below it */
    uint64_t stamp;
    bool down;          /* the node or a vertex above it is down */
    bool dirty;         /* the key has to be made */
    bool entered;       /* the indexes have its `ever` */
    bool changed;       /* reported to planner_changed() */
    uint32_t kind;      /* nodes of one kind are alike; 0: unknown */
    uint8_t properties; /* a bit for each of planner.properties that it has */
    bool soonest_gone;  /* `soonest` has to be looked up */
    uint32_t inner;     /* number in planner.inner, if the node has nodes in it */
    int64_t load;       /* cores, see node_load.c */
    int64_t soonest;    /* least end of the allocations in it, INT64_MAX: none */
    int64_t score;
    int64_t ever[INDEX_DIMS], up[INDEX_DIMS]; /* amounts if all is up; of what is up */
};

#define CORES 1 /* the dimension */
#define TYPE_DIMS 8
#define PROPERTIES_MAX (INDEX_DIMS - TYPE_DIMS)

struct property { /* a property that jobs asked for */
    char *name;
    size_t nodes;  /* nodes with the property */
    int64_t least; /* least number of cores that are up on such a node; INT64_MAX: no such
                    * node */
};

#define NODE_KINDS_MAX 16

struct kind {         /* of nodes, see node_kinds.c */
    uint32_t example; /* number of a node */
    uint32_t kind;
};

struct profile;

/* The nodes of a later window: bits by place of the node, see window_nodes.c. */
struct window_nodes {
    uint64_t *any, *whole, *up; /* booked in part, booked as a whole, bookable at all */
    size_t room;                /* words of each */
    uint64_t told;              /* p->told when `up` was made */
    /* Allocations, so that a window need not visit all of them: */
    struct booking **running; /* sorted by end */
    size_t nrunning, running_room;
    uint64_t *after; /* for each block of them: the union of that block and all later
                      * ones */
    size_t after_room, block;
    int64_t latest;        /* latest start among them */
    uint64_t runs, placed; /* p->runs and p->placed for which these are valid */
    uint64_t asked;        /* p->runs at the last query for a window */
};

struct removed { /* a booking that was removed */
    int64_t start, end;
    uint32_t first, n; /* its nodes in the log */
    bool ran;          /* it was allocated */
};

struct removed_log { /* of removed bookings, see removed_log.c */
    bool on;         /* the log is in use */
    bool all;        /* the log is incomplete: too much was freed, or not only bookings
                    * changed */
    struct removed *list;
    uint32_t *nodes;
    size_t n, nnodes, asked; /* asked: how often the log was searched */
    uint64_t generation;     /* of the planner; the log is complete up to it */
};

struct search {  /* for the earliest time, a piece per call, see plan.c */
    size_t work; /* per piece; 0: the search is done at once */
    bool going_on;
    uint64_t job;
    int64_t at;             /* no later window that begins before this time fits */
    bool possible;          /* the request fits on an empty machine */
    uint64_t shown, layout; /* for which the search is valid */
    unsigned begun;         /* number of restarts: pieces grow */
};

struct walk_room {                /* memory that one walk leaves to the next */
    struct candidate *candidates; /* see walk_private.h */
    size_t ncandidates, norder;
    uint32_t *order;
    size_t bytes; /* of candidates and order */
    struct pick *picks;
    size_t npicks;
};

struct planner {
    struct graph *g;
    struct match_policy policy;
    struct planner_options opt;
    struct claim *claims;          /* by number */
    uint32_t nclaims, claims_free; /* free ones are a list, linked by next */
    struct booking *by_job;        /* hash */
    struct booking **bookings;     /* by number */
    uint32_t nbookings, bookings_free;
    size_t claims_alloc, bookings_alloc;
    uint16_t dims[TYPE_DIMS]; /* type of each dimension; dims[0] is GRAPH_NODE: whole
                               * nodes */
    unsigned ntypes;          /* dimensions of types; those of properties follow */
    unsigned ndims;           /* in total */
    struct property properties[PROPERTIES_MAX]; /* see properties.c */
    unsigned nproperties;
    char *asked[PROPERTIES_MAX]; /* properties that join at the next rebuild */
    unsigned nasked;
    struct kind kinds[NODE_KINDS_MAX];
    size_t nkinds;
    uint32_t last_kind;
    struct upper *upper; /* by graph_vertex.place of vertices with GRAPH_UPPER */
    size_t nupper;
    /* place of node number k (graph_vertex.place) in the index of each vertex above it,
     * depth by depth: place[k * levels + depth] */
    uint32_t *place;
    size_t levels;
    bool any_upper;                   /* some claim is on a vertex above nodes */
    bool any_loose;                   /* some vertex has loose children */
    bool type_upper[GRAPH_TYPES_MAX]; /* types of vertices above nodes, except the root's
                                       * type */
    int64_t least_id[GRAPH_TYPES_MAX],
        most_id[GRAPH_TYPES_MAX]; /* of units of each type */
    /* divisible vertices of the type had bookings above their size: the sums over time of
     * the type exclude nothing */
    bool overbooked[GRAPH_TYPES_MAX];
    bool deep; /* some node contains vertices with children */
    /* the scores put the nodes in the order of the graph, or in reverse order */
    bool graph_order;
    bool sized[GRAPH_TYPES_MAX];       /* types with a unit that may not count as 1 */
    bool type_inner[GRAPH_TYPES_MAX];  /* types of which a vertex has children */
    bool type_loose[GRAPH_TYPES_MAX];  /* types of which a vertex is outside nodes */
    bool type_shared[GRAPH_TYPES_MAX]; /* types of which a vertex has several ways to
                                        * it */
    uint64_t layout;                   /* of the graph when the above was made */
    struct profile *profile;           /* sums over time of the dimensions */
    uint64_t generation;
    uint64_t changes;         /* grows with every booking and cancel */
    uint64_t runs;            /* ... of allocations */
    struct booking *reserved; /* list of the reservations */

    struct ordered ids, ends; /* of the bookings; ends as planner_order() */
    uint32_t claims_live;     /* among nclaims */
    char *tracked[TYPE_DIMS];
    size_t ntracked;
    int8_t dim_of[GRAPH_TYPES_MAX]; /* dimension of each type, or -1 */

    /* upper, nodes and profile do not exist or are outdated: the next match makes them,
     * see rebuild.c */
    bool stale;
    bool changing;  /* see planner_begin_change() */
    uint64_t told;  /* graph layout up to which `changed` lists all changes */
    uint64_t units; /* of the graph at that time */
    struct level_node *nodes;
    size_t nnodes, room_nodes; /* numbers, with vacant ones; room for so many */
    uint32_t vacant;           /* a vacant number, or NOWHERE */
    uint32_t *order; /* by number: ascends along the graph, 0: the first node. Numbers
                      * also do after a rebuild */
    uint32_t *dirty, *changed; /* numbers of nodes, room for all of them */
    size_t ndirty, nchanged;
    unsigned held;
    bool nested;         /* there are nodes in nodes */
    struct upper *inner; /* vertices above nodes inside such a node, including the node:
                          * their indexes exclude nothing */
    size_t ninner;
    uint32_t *inner_lists;
    struct window_nodes window_nodes;
    struct removed_log removed;
    struct search search;
    size_t nsuspended;         /* suspended bookings */
    struct booking *suspended; /* suspended bookings whose claims are in the lists, the
                                * latest first */
    struct booking *fresh; /* list of bookings made meanwhile, which ignored the suspended
                            * ones */
    bool sums_changed;     /* ... the sums of the suspended bookings may be outdated */
    uint64_t shown;        /* grows when a window may have more free units than before */
    struct walk_room room;
    uint64_t made;   /* grows with each rebuild: all nodes have new numbers */
    uint64_t placed; /* grows when booked nodes have new places in the root's index */
    uint64_t stamp;  /* of the last round over bookings or nodes; each round has its
                      * own */
    uint32_t *lists; /* memory of loose and kids of all `upper` */
    bool big[GRAPH_TYPES_MAX];      /* types of which a vertex with children counts as
                                * several */
    int64_t total[INDEX_DIMS];      /* what is up, in total; the profile is this less the
                                * bookings */
    int64_t loose_free[INDEX_DIMS]; /* free now outside nodes */
};

/* Turns times into keys of `ends`. */
static inline uint64_t planner_order (int64_t time)
{
    return (uint64_t)time ^ (UINT64_C (1) << 63);
}

/* Returns the end of a window of that length; with PLANNER_FOREVER, the end of time. at +
 * duration does not overflow. */
static inline int64_t planner_window_end (const struct planner *p, int64_t at,
                                          int64_t duration)
{
    if (duration != PLANNER_FOREVER)
        return at + duration;
    return p->opt.end ? p->opt.end : INT64_MAX;
}

#define CLAIMS(p, vertex, c)                                                             \
    for (uint32_t c = graph_vertex ((p)->g, (vertex))->claims; c != GRAPH_NONE;          \
         c = (p)->claims[c].next)
#define CLAIMS_OF_JOB(p, b, c)                                                           \
    for (uint32_t c = (b)->first; c != GRAPH_NONE; c = (p)->claims[c].next_of_job)

static inline struct booking *claims_booking (const struct planner *p,
                                              const struct claim *c)
{
    return p->bookings[c->booking];
}

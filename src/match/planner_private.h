/* planner_private.h - the planner's inside: what its files and the walk share
 *
 *     planner.c    the verbs: update, cancel, extend; the jobs
 *     part.c       a part of what a job has is given back
 *     holders.c    who has a unit, how much is free
 *     plan.c       planner_match: when does it fit
 *     walk.c ...   and with what (walk.h)
 *     claims.c     what is free in a window of time
 *     book.c       bookings and their claims come and go
 *     aside.c      reservations are set aside, and resumed
 *     levels.c     the indexes of nodes above each vertex, and the nodes' keys
 *     make.c       the same made anew, piece by piece (make_count.c: first all is counted)
 *     inner.c      ... of nodes in nodes
 *     sums.c       amounts by dimension: of a subtree, of a booking; the sums over time
 *     freed.c      what became free since a plan was made
 *
 * A claim is the booking of some units of one vertex by one job. Claims of a vertex are a
 * list from graph_vertex.claims; claims of a job another. What is allocated (not what is
 * reserved) is also in graph_vertex.busy and .used, so that the question "free now?" reads
 * one word for 64 units.
 *
 * A claim on a vertex that has children covers, when it is exclusive, all below it in the
 * tree; what is below it as a further child is claimed by itself. On a divisible vertex a
 * claim takes its amount, exclusive or not.
 */
#ifndef FLUXQ_MATCH_PLANNER_PRIVATE_H
#define FLUXQ_MATCH_PLANNER_PRIVATE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/index.h"
#include "match/ordered.h"
#include "match/planner.h"

struct claim { /* at most 100 bytes with its share of all else */
    uint32_t v;
    uint32_t booking;     /* number of the job's booking */
    uint32_t next, prev;  /* of the same vertex; GRAPH_NONE */
    uint32_t next_of_job; /* GRAPH_NONE */
    uint32_t unit, count; /* a run of units; count 0: dropped, see bookings_sweep() */
    bool reserved;
    bool exclusive;
    int64_t amount;     /* of each unit */
    int64_t start, end; /* of its booking, which is far away in memory */
};

struct listed { /* what an answer named on a node */
    uint32_t node, cores;
    bool whole; /* the node itself */
};

struct booking {
    uint64_t job;
    int64_t start, end;
    bool reserved;
    /* reserved, and others may have something there at that time: what they have
     * counts as theirs in the sums */
    bool over;
    bool aside;           /* it is at no time now: see booking_suspend() */
    bool away;            /* and so its claims are not in the lists of their vertices */
    bool fresh;           /* it is in planner.fresh */
    uint32_t first, last; /* claims */
    uint32_t nclaims;
    uint32_t number;
    int64_t own_start, own_end; /* when aside, what start and end were */
    uint64_t stamp;             /* of the last round that came by, see struct planner */
    int64_t sums[INDEX_DIMS];   /* what it takes of the profile in [start, end) */
    uint64_t made; /* p->made for which these are in it, and what is listed is counted */
    struct ordered_link by_id, by_end;
    struct listed *listed; /* see listed.c; owned */
    size_t nlisted;
    struct reach *reach;         /* or NULL; owned */
    struct booking *prev, *next; /* in planner.reserved, when reserved */
    struct booking *fresh_prev, *fresh_next;
    struct booking *aside_prev, *aside_next;
    UT_hash_handle hh;
};

#define USELESS_MAX 6

struct useless {
    int64_t cores;      /* that are needed in one node; -1: whole nodes */
    uint8_t properties; /* of the nodes */
    int64_t length;     /* of a window that begins at the end of the booking, or more */
};

/* What is known of a booking for times ahead, made when first asked for. */
struct reach {
    uint64_t made;     /* p->made when it was: places of nodes are of that time */
    uint64_t shown;    /* p->shown for which `useless` holds */
    unsigned nuseless; /* ever; the last USELESS of them are kept */
    /* needs to which what it gives back is of no use */
    struct useless useless[USELESS_MAX];
    uint32_t first, words;    /* of the bits below */
    bool any_whole;
    uint64_t bits[]; /* words of any part, then as many of whole nodes */
};

struct window { /* the time that is asked for */
    int64_t at, end;
    bool now;   /* at is now, and it is to be allocated */
    bool ever;  /* satisfiability: nothing is booked and all is up */
    /* Of a window ahead, where known (else NULL), a bit each by place in the root's index: */
    const uint64_t *touched; /* nodes with something booked in it */
    const uint64_t *taken;   /* of these the ones that are booked as a whole */
    const uint64_t *up;      /* nodes that are up */
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
    /* policies that take the first that do: kids, the freest first, see levels_kid() */
    int64_t listed; /* nodes that are taken as a whole, see listed.c */
    struct ordered by_free;
    struct ordered_link in_parent;
    bool in_order;
    /* while the index is held: the next such; itself: the last */
    struct above *next_held;
};

/* A node, the outermost where they are in each other, by its number. */
struct level_node {
    uint32_t v, parent;
    uint32_t nclaims, nreserved; /* on it and below it */
    uint64_t stamp;
    bool down;          /* it or something above it */
    bool dirty;         /* its key is to be made */
    bool entered;       /* the indexes know what it ever has */
    bool changed;       /* it was told to planner_changed() */
    uint32_t kind;      /* nodes with the same one are alike; 0: unknown */
    uint8_t properties; /* a bit for each of planner.properties that it has */
    bool soonest_gone;  /* `soonest` is to be looked up */
    uint32_t inner;     /* number in planner.inner, when there are nodes in it */
    int64_t listed;     /* cores, see listed.c */
    int64_t soonest;    /* least end of what is allocated in it, INT64_MAX */
    int64_t score;
    int64_t ever[INDEX_DIMS], up[INDEX_DIMS]; /* when all is up, of what is up */
};

#define CORES 1 /* the dimension */
#define TYPE_DIMS 8
#define PROPERTIES_MAX (INDEX_DIMS - TYPE_DIMS)

struct property { /* that jobs asked for */
    char *name;
    size_t nodes;  /* that have it */
    int64_t least; /* no node that has it has fewer cores up; INT64_MAX: none has it */
};

#define NODE_KINDS_MAX 16

struct kind {         /* of nodes, see kinds.c */
    uint32_t example; /* number of a node */
    uint32_t kind;
};

struct profile;

struct overlap { /* of a window ahead, bits by place of the node, see overlap.c */
    uint64_t *any, *whole, *up; /* booked in part, as a whole; up: can be booked at all */
    size_t room;                /* words of each */
    uint64_t told;              /* p->told when `up` was made */
    /* Of what is allocated, so that not all of it is gone through for each window: */
    struct booking **running; /* by their ends */
    size_t nrunning, running_room;
    uint64_t *after; /* for each block of them: the union of that and all behind it */
    size_t after_room, block;
    int64_t latest;      /* start of them */
    uint64_t runs, made; /* p->runs and p->made for which that holds */
    uint64_t asked;      /* p->runs when a window was last asked for */
};

struct freed { /* a booking that went */
    int64_t start, end;
    uint32_t first, n; /* its nodes in the log */
    bool ran;          /* it was allocated */
};

struct freed_log { /* of bookings that went, see freed.c */
    bool on;       /* somebody asks */
    bool all;      /* too much, or more than bookings */
    struct freed *list;
    uint32_t *nodes;
    size_t n, nnodes, asked; /* how often it was looked through */
    uint64_t generation;     /* of the planner up to which the log is whole */
};

struct search {  /* for the earliest time, a piece a call: see plan.c */
    size_t work; /* of a piece; 0: all of it is done at once */
    bool going_on;
    uint64_t job;
    int64_t at;             /* no window ahead that begins before will do */
    bool possible;          /* were all empty, it would fit */
    uint64_t shown, layout; /* for which that holds */
    unsigned begun;         /* how often it was in vain: pieces grow */
};

struct walk_room {                /* memory that one walk leaves for the next */
    struct candidate *candidates; /* see walk_private.h */
    uint32_t ncandidates, norder;
    uint32_t *order;
    struct pick *picks;
    size_t npicks;
};

struct planner {
    struct graph *g;
    struct match_policy policy;
    struct planner_options opt;
    struct claim *claims;                        /* by number */
    uint32_t nclaims, claims_alloc, claims_free; /* free ones are a list by next */
    struct booking *by_job;                      /* hash */
    struct booking **bookings;                   /* by number */
    uint32_t nbookings, bookings_alloc, bookings_free;
    uint16_t dims[TYPE_DIMS]; /* type of each dimension; dims[0] is GRAPH_NODE: whole */
    unsigned ntypes; /* dimensions of types; behind them stand those of properties */
    unsigned ndims;  /* in all */
    struct property properties[PROPERTIES_MAX]; /* see properties.c */
    unsigned nproperties;
    char *asked[PROPERTIES_MAX]; /* that are to be among them when all is made anew */
    unsigned nasked;
    struct kind kinds[NODE_KINDS_MAX];
    size_t nkinds;
    uint32_t last_kind;
    struct above *above; /* by graph_vertex.place of vertices with GRAPH_ABOVE */
    size_t nabove;
    /* of node number k (graph_vertex.place): its place in the index of each vertex
     * above it, depth by depth: place[k * levels + depth] */
    uint32_t *place;
    size_t levels;
    bool any_above;                   /* some claim is of a vertex above nodes */
    bool any_loose;                   /* some vertex has loose children */
    bool type_above[GRAPH_TYPES_MAX]; /* types of vertices above nodes, but the root's */
    int64_t least_id[GRAPH_TYPES_MAX],
        most_id[GRAPH_TYPES_MAX]; /* of units of each type */
    /* divisible vertices of it had more booked than they have left: their sums over
     * time rule out nothing */
    bool overbooked[GRAPH_TYPES_MAX];
    bool deep;                       /* some node has vertices with children in it */
    /* of score the nodes stand as in the graph, or just the other way */
    bool graph_order;
    bool sized[GRAPH_TYPES_MAX];       /* types of which a unit may not count as 1 */
    bool type_inner[GRAPH_TYPES_MAX];  /* types of which one has children */
    bool type_loose[GRAPH_TYPES_MAX];  /* types of which one is beside the nodes */
    bool type_shared[GRAPH_TYPES_MAX]; /* types of which one has several ways to it */
    uint64_t layout;                   /* of the graph when the above was made */
    struct profile *profile;           /* sums over time of the dimensions */
    uint64_t generation;
    uint64_t changes;         /* bumped with every booking and cancel */
    uint64_t runs;            /* ... of what is allocated */
    struct booking *reserved; /* list of those that are */

    struct ordered ids, ends; /* of the bookings; ends as planner_order() */
    uint32_t claims_live;     /* of nclaims */
    char *tracked[TYPE_DIMS];
    size_t ntracked;
    int8_t dim_of[GRAPH_TYPES_MAX]; /* of each type, -1 */

    /* above, nodes and profile are not there, or not ready: they are made with the
     * next match, see make.c */
    bool stale;
    bool making;       /* that is under way, and nothing is in its way */
    bool totalled;     /* profile and loose_free are kept in step */
    size_t measured;   /* of the nodes: those that are kept in step, all when not stale */
    unsigned begun;    /* how often it was, since it was last done */
    struct make *make; /* or NULL */
    bool patient;      /* somebody calls planner_prepare() */
    uint64_t told;     /* layout up to which `changed` has all that changed */
    uint64_t units;    /* of the graph then */
    struct level_node *nodes;
    size_t nnodes, nodes_room;
    uint32_t *dirty, *changed; /* numbers of nodes, room for all */
    size_t ndirty, nchanged;
    unsigned held;
    bool nested;         /* there are nodes in nodes */
    struct above *inner; /* what in such a node is above others, itself included: their
                          * indexes rule nothing out */
    size_t ninner;
    uint32_t *inner_lists;
    struct overlap overlap;
    struct freed_log freed;
    struct search search;
    size_t naside;         /* bookings that are suspended */
    struct booking *aside; /* of these the ones that are not away, the last one first */
    struct booking *fresh; /* list of those that were made meanwhile, and saw them not */
    bool sums_changed;     /* ... the sums of these may not hold any more */
    uint64_t shown;        /* bumped when a window may have more free than it had */
    struct walk_room room;
    uint64_t made;   /* bumped when nodes get numbers anew */
    uint64_t stamp;  /* of the last round over bookings or nodes; each has its own */
    uint32_t *lists; /* all nodes, loose and kids of `above` */
    bool big[GRAPH_TYPES_MAX]; /* types of which one with children counts as several */
    int64_t total[INDEX_DIMS]; /* what is up, in all: of this the profile subtracts */
    int64_t loose_free[INDEX_DIMS]; /* free now of what is not in nodes */
};

/* Times as keys of `ends`. */
static inline uint64_t planner_order (int64_t time)
{
    return (uint64_t)time ^ (UINT64_C (1) << 63);
}

/* When a window of that length ends: PLANNER_FOREVER with time itself. at + duration does not
 * overflow. */
static inline int64_t planner_window_end (const struct planner *p, int64_t at,
                                          int64_t duration)
{
    if (duration != PLANNER_FOREVER)
        return at + duration;
    return p->opt.end ? p->opt.end : INT64_MAX;
}

size_t walk_room_memory (const struct walk_room *room);

struct walk_miss;
/* -- miss.c: why it did not fit, a sentence for its user. -EBUSY, or -ENODEV for never -- */
int planner_why (const struct planner *p, const struct shape *s,
                 const struct walk_miss *miss, bool never, struct error *why);

/* -- claims.c: what is free -- */

/* Units of word i (64 i ...) of v that are free in the window; bits past n are 0. Nothing
 * above v is asked. Not of divisible vertices. */
uint64_t claims_free_word (const struct planner *p, uint32_t v, uint32_t i,
                           const struct window *w);
/* Of a divisible vertex: the amount that is free all through the window. */
int64_t claims_free_amount (const struct planner *p, uint32_t v, const struct window *w);
/* Units; of a divisible vertex 1 when some of it is free. */
int64_t claims_free_count (const struct planner *p, uint32_t v, const struct window *w);
/* No claim on v or below it, by any way, overlaps the window. */
bool claims_untouched (const struct planner *p, uint32_t v, const struct window *w);
/* An exclusive claim on v itself overlaps the window (for vertices with children: nothing
 * below it is free then). */
bool claims_taken (const struct planner *p, uint32_t v, const struct window *w);

/* So for a vertex above v in the tree: of what is further children of others, who may come
 * from elsewhere. */
bool claims_covered (const struct planner *p, uint32_t v, const struct window *w);

/* Does the claim count in the window? */
bool claims_counts (const struct planner *p, const struct claim *c,
                    const struct window *w);
/* Bits of word i that are in the run. */
uint64_t claims_run_word (uint32_t unit, uint32_t count, uint32_t i);
/* Most that is taken of a divisible vertex at any one time of the window. */
int64_t claims_most_used (const struct planner *p, uint32_t v, const struct window *w);
/* A claim on v or below it, not of the booking number `but`, that counts; GRAPH_NONE. */
uint32_t claims_below (const struct planner *p, uint32_t v, const struct window *w,
                       uint32_t but);
/* A claim that counts in the window and stands in the way of `c`: on its units, covering
 * them from above, or, when c is exclusive, below its vertex; c's own booking's do not.
 * GRAPH_NONE: none. Amounts are not asked. */
uint32_t claims_in_way (const struct planner *p, const struct claim *c,
                        const struct window *w);
/* v is covered by an exclusive claim of the booking above it. */
bool claims_covered_by (const struct planner *p, uint32_t v, uint32_t booking);

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

/* -- book.c: bookings and claims -- */

/* Book, whether free or not (the caller has looked). -ENOMEM: nothing is booked. */
int claims_add (struct planner *p, uint64_t job, const struct selection *s,
                bool reserved);
/* Reserve beside what is allocated there: see struct booking. */
int claims_add_over (struct planner *p, uint64_t job, const struct selection *s);
/* The same after a look: -EBUSY, -ENOENT, -EINVAL with the reason. */
int claims_check_add (struct planner *p, uint64_t job, const struct selection *s,
                      bool reserved, struct error *why);
struct booking *booking_find (const struct planner *p, uint64_t job);
void booking_drop (struct planner *p, struct booking *b);
/* Room for so many more claims: claims_split() then cannot fail. 0 or -ENOMEM. */
int claims_reserve (struct planner *p, size_t more);
/* Put c (which has a booking, and units that are nobody's) behind claim `after` of its job;
 * GRAPH_NONE: at the end. Needs room. */
uint32_t claims_link (struct planner *p, const struct claim *c, uint32_t after);
/* c becomes these units of its own, and this amount; count 0: none, drop it by
 * bookings_sweep(). */
void claims_shrink (struct planner *p, uint32_t c, uint32_t unit, uint32_t count,
                    int64_t amount);
/* Drop the booking's claims without units. */
void bookings_sweep (struct planner *p, struct booking *b);
void booking_set_end (struct planner *p, struct booking *b, int64_t end);
/* In the list of its vertex, and out of it; the rest of its vertex stays. */
void claims_list (struct planner *p, uint32_t c);
void claims_unlist (struct planner *p, const struct claim *claim);

/* -- aside.c: reservations are set aside -- */

/* The reservation counts at no time until it is resumed; who is matched meanwhile does not
 * see it. */
void booking_suspend (struct planner *p, struct booking *b);
void booking_resume (struct planner *p, struct booking *b);
/* A match comes: some more of them go out of its way. */
void booking_send_away (struct planner *p);
/* Of one that may be suspended. */
static inline int64_t booking_start (const struct booking *b)
{
    return b->aside ? b->own_start : b->start;
}
static inline int64_t booking_end (const struct booking *b)
{
    return b->aside ? b->own_end : b->end;
}
/* One that was booked while it was suspended has what it is of, at its time. */
bool booking_is_taken (struct planner *p, struct booking *b);
/* One that is suspended is dropped or resumed. */
void aside_leave (struct planner *p, struct booking *b);

/* -- freed.c: what became free since a plan was made -- */

/* The plan is made; from here on it is noted what becomes free. */
void freed_forget (struct planner *p);
/* The booking goes. */
void freed_note (struct planner *p, const struct booking *b);
/* p->generation is bumped for what was noted. */
void freed_generation (struct planner *p);
void freed_destroy (struct planner *p);

/* -- planner.c -- */

/* Is what the booking has free of others in the window (in which it has nothing)? */
int booking_check (const struct planner *p, const struct booking *b,
                   const struct window *w, const char *what, struct error *why);

/* -- listed.c: under policies that take the first that do -- */

void listed_add (struct planner *p, struct booking *b, const struct selection *s);
void listed_drop (struct planner *p, struct booking *b);
/* The nodes were entered anew. */
void listed_again (struct planner *p, const struct booking *b);

/* -- overlap.c -- */

/* w->touched and w->taken of a window ahead; -ENOMEM. The levels are up to date. Valid until
 * the next call or booking. */
int overlap_make (struct planner *p, struct window *w);
struct overlap_need {   /* of a request; zeros where nothing is known */
    uint8_t properties; /* of all its nodes */
    const struct shape *shape;
    int64_t whole; /* nodes on which nothing else may be */
    int64_t nodes; /* different nodes */
    int64_t cores; /* that one part of it takes in its node */
    bool only_whole;
};
/* a and b have something on the same node, as far as is known. The levels are up to date. */
bool overlap_shares_node (struct planner *p, struct booking *a, struct booking *b);
void overlap_needs (struct planner *p, const struct shape *s, struct overlap_need *ret);
/* Nodes that the request lacks in the window, as far as is known; 0: none. */
int64_t overlap_missing (const struct planner *p, const struct window *w,
                         const struct overlap_need *need);
/* Nodes have other places now: what was known of the booking is made again, so that the next
 * match need not. */
void overlap_renew (struct planner *p, struct booking *b);
/* The booking's claims have changed. */
void overlap_forget (struct planner *p, struct booking *b);
size_t overlap_memory (const struct booking *b);
void overlap_destroy (struct planner *p);

/* -- freed.c: what a search for a new place may leave out -- */

/* What a search for a new place may leave out, as nothing was found there before. */
struct freed_look {
    struct planner *p;
    struct overlap_need need;
    int64_t now, duration;
    /* of the place that it has; INT64_MAX: none, there was no time for it */
    int64_t start;
    bool all;  /* nothing is known */
    int64_t from, until; /* else: only windows that begin then can do */
};
/* Could the request fit sooner than at `start` now, or there with other parts? What is booked
 * behind it is suspended, and its own. The levels are up to date. */
bool freed_look (struct freed_look *k, struct planner *p, const struct shape *s,
                 int64_t now, int64_t duration, int64_t start);
/* Could it in the window that begins at that time, <= start? */
bool freed_helps (const struct freed_look *k, int64_t at);

/* -- plan.c -- */

/* As planner_match() with WITHOUT_ALLOCATING_FUTURE, and *ret NULL: its place does as before.
 * lost: that is not free any more. -EINPROGRESS as with planner_search_in_pieces(). */
int planner_match_again (struct planner *p, uint64_t job, const struct freed_look *look,
                         bool lost, const struct shape *shape, struct selection **ret);

/* -- properties.c: dimensions of properties -- */

/* A request with this constraint comes. What was asked for the first time makes the planner
 * stale; or, when it is patient, will with the next planner_prepare(). -ENOMEM. O(nodes) the
 * first time. */
int properties_ask (struct planner *p, const struct constraint *c);
/* All is made anew: with what was asked for. */
void properties_take_up (struct planner *p);
/* Those of which the dimensions bound what the constraint (or NULL) allows, as bits. */
uint8_t properties_needed (const struct planner *p, const struct constraint *c);
/* Which of them the node has; its `up` is known. */
void properties_note (struct planner *p, struct level_node *node);
/* Add cores of nodes that have these to their dimensions. */
void properties_spread (const struct planner *p, uint8_t properties, int64_t cores,
                        int64_t *sums);
/* Of each of these dimensions no less is needed than so many whole nodes have. */
void properties_raise (const struct planner *p, uint8_t properties, int64_t nodes,
                       int64_t *need);
/* No node is known to have any. */
void properties_forget (struct planner *p);
void properties_destroy (struct planner *p);

/* -- kinds.c: nodes that are alike -- */

/* The node is measured. */
void kinds_note (struct planner *p, struct level_node *node);
/* a and b, nodes, have the same things in the same order below, and all of them are up. */
bool kinds_alike (const struct planner *p, uint32_t a, uint32_t b);

/* -- release.c: ends of bookings -- */

/* In a node, all through the window. */
int64_t release_free_cores (const struct planner *p, uint32_t v, const struct window *w);

struct release_search {
    struct planner *p;
    const struct overlap_need *need;
    int64_t duration; /* of the windows that begin at the ends */
    /* so many nodes, in part or whole, must be given back after `counted` */
    int64_t missing;
    int64_t counted;
};
/* The first end of a booking in from .. until, both >= 0 and < INT64_MAX, at which something
 * that is of use to the request becomes free, and no more nodes are missing; -1: none. */
int64_t release_next (struct release_search *k, int64_t from, int64_t until);

/* -- levels.c: the indexes -- */

/* Make or mend them after changes of the graph. -ENOMEM. O(nodes log nodes) when the
 * layout changed, else O(1). */
int levels_update (struct planner *p);
/* The same, about so many vertices of it: -EAGAIN when there is more. */
int levels_update_some (struct planner *p, size_t work);
/* What is known of the nodes does not hold any more: all is to be made anew. O(1) */
void levels_spoil (struct planner *p);
/* The node's claims, or what it has, changed: its key in all indexes above it. */
void levels_touch (struct planner *p, uint32_t node);
/* What is free below v, a vertex above nodes, or whether it was seen, has changed: its place
 * among its parent's kids. */
void levels_kid (struct planner *p, struct above *a);
/* The same also while the levels are made. */
void levels_order_kid (struct planner *p, struct above *a);
/* The next kid after link l (NULL: the first), the freest first; NULL: no more. */
struct above *levels_next_kid (const struct above *a, const struct above *kid);
void levels_hold (struct planner *p);
void levels_settle (struct planner *p);
/* While the levels are made: so many of the keys that are to be. kids: and what depends on
 * them, of settled indexes. */
void levels_key (struct planner *p, size_t n, bool kids);
const struct above *levels_above (const struct planner *p, uint32_t v);
/* Dimension of the type in the indexes; -1: not tracked. */
int levels_dim (const struct planner *p, uint16_t type);
/* The outermost node at or above v; GRAPH_NONE: it is in none. */
uint32_t levels_node_of (const struct planner *p, uint32_t v);
/* A node's entry, NULL: not an outermost node, or nothing is known now. */
struct level_node *levels_node (const struct planner *p, uint32_t v);
/* A claim of a booking that ends then was added (more) or removed, or (allocated) an end
 * has changed (`more`, and then removed as it was): for the keys. Between levels_hold() and
 * levels_settle(). */
void levels_claim (struct planner *p, const struct claim *c, int64_t end, bool more);
/* v is in no node: take what is free at it and below it, but not in nodes, out of
 * loose_free, or put it in. Around changes of allocated claims on v. */
void levels_loose (struct planner *p, uint32_t v, int sign);
/* Look again at what the node has, and whether it is up. */
void levels_measure (struct planner *p, struct level_node *node);
/* -- make.c: all anew, from graph and claims -- */

/* A piece of *work vertices of it, or more, if it had to begin from the start too often;
 * *work: what is left. 0: done; -EAGAIN; -ENOMEM: p->stale. */
int levels_make_some (struct planner *p, size_t *work);
void levels_destroy (struct planner *p);

/* -- inner.c: nodes in nodes -- */

struct inner_make {
    size_t at;             /* number of the node that is next */
    size_t above, entries; /* of planner.inner and inner_lists */
    size_t used;           /* of inner_lists */
};

/* A piece of *work vertices of it: how much there is, and then all of it. 0: done;
 * -EAGAIN; -ENOMEM. */
int inner_count (struct planner *p, struct inner_make *k, size_t *work);
int inner_enter (struct planner *p, struct inner_make *k, size_t *work);
/* The node has changed in itself: what there ever is in it. */
void inner_mend (struct planner *p, const struct level_node *node);
void inner_destroy (struct planner *p);

/* -- sums.c: amounts by dimension -- */

#define SUMS_MAX (INT64_C (1) << 59) /* sums end there, see profile.h */

enum sums_of { SUMS_EVER, SUMS_UP, SUMS_FREE };

/* Add what v and all below it has, could give when all is up, or has free now. Of what is
 * above v nothing is asked. sums[0] stays. */
void sums_add (const struct planner *p, uint32_t v, enum sums_of what, int64_t *sums);
/* The same of v above nodes or beside them, but without what is in nodes. */
void sums_add_loose (const struct planner *p, uint32_t v, enum sums_of what,
                     int64_t *sums);
/* Units (amounts) of one type at or below v, likewise. */
int64_t sums_of_type (const struct planner *p, uint32_t v, uint16_t type,
                      enum sums_of what);
/* v, which has children, and what is above it is up. */
bool sums_is_up (const struct planner *p, uint32_t v);
/* An exclusive claim on v is allocated. */
bool sums_is_taken (const struct planner *p, uint32_t v);
/* What the booking takes of the profile. */
void sums_of_booking (struct planner *p, const struct booking *b, int64_t *sums);
/* Enter it, correct it after a change, take it out. No memory: levels_spoil(). While the
 * profile is not there, and of who is not in it yet, nothing is done: see make.c. */
void sums_book (struct planner *p, struct booking *b);
void sums_rebook (struct planner *p, struct booking *b);
void sums_unbook (struct planner *p, struct booking *b);
/* Again, with the same sums. */
void sums_enter (struct planner *p, struct booking *b);
/* Change what there is in all. */
void sums_grow (struct planner *p, const int64_t *more);
/* What the shape needs at least, at one time, of each dimension of the profile. */
void sums_need (const struct planner *p, const struct shape *s, int64_t *need);

#endif

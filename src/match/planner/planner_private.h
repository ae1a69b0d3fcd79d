/* planner_private.h - the planner's inside, shared by its files and the walk
 *
 *     planner.c    operations: update, cancel, extend; the jobs
 *     part.c       gives back a part of a booking
 *     holders.c    which jobs have a unit, and how much is free
 *     plan.c       planner_match: the time at which a request fits
 *     walk.c ...   the units with which it fits (walk.h)
 *     claims.c     units that are free in a window of time
 *     book.c       adds and removes bookings and their claims
 *     aside.c      suspends and resumes reservations
 *     levels.c     the indexes of nodes above each vertex, and the keys of nodes
 *     make.c       rebuilds these, piece by piece (make_count.c: counts everything first)
 *     inner.c      ... for nodes in nodes
 *     sums.c       amounts by dimension: of a subtree, of a booking; the sums over time
 *     freed.c      what became free since a plan was made
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
#ifndef FLUXQ_MATCH_PLANNER_PLANNER_PRIVATE_H
#define FLUXQ_MATCH_PLANNER_PLANNER_PRIVATE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/index/index.h"
#include "match/index/ordered.h"
#include "match/planner/planner.h"

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

struct listed { /* what a selection named on a node */
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
    bool aside;           /* suspended, see booking_suspend() */
    bool away;            /* suspended, and its claims are not in the lists of their
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
    uint64_t made; /* p->made for which `sums` are in the profile and `listed` is
                    * counted */
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
    int64_t cores;      /* cores needed in one node; -1: whole nodes */
    uint8_t properties; /* of the nodes */
    int64_t length;     /* length or more of a window that begins at the end of the
                         * booking */
};

/* Data about a booking for later times, made at first use. */
struct reach {
    uint64_t made;     /* p->made at that time; places of nodes are of that time */
    uint64_t shown;    /* p->shown for which `useless` holds */
    unsigned nuseless; /* in total; the last USELESS_MAX of them are kept */
    /* needs that do not profit from the end of the booking */
    struct useless useless[USELESS_MAX];
    uint32_t first, words;    /* of the bits below */
    bool any_whole;
    uint64_t bits[]; /* `words` words of nodes used in part or whole, then as many of
                      * whole nodes */
};

struct window { /* the requested time */
    int64_t at, end;
    bool now;   /* at is now, and the units are to be allocated */
    bool ever;  /* satisfiability: nothing counts as booked, all counts as up */
    /* For a later window, if known (else NULL): a bit per node, by place in the root's
     * index. */
    const uint64_t *touched; /* nodes with a booking in it */
    const uint64_t *taken;   /* those nodes that are booked as a whole */
    const uint64_t *up;      /* nodes that are up */
};

struct above { /* a vertex with nodes below it */
    uint32_t v;
    struct index *index; /* of all nodes below it, in the policy's order */
    uint32_t *nodes;     /* handles of the nodes by place */
    size_t nnodes;
    uint32_t *loose; /* children without nodes at or below them */
    size_t nloose;
    uint32_t *kids; /* children with nodes below them */
    size_t nkids;
    size_t nown; /* nodes that are its own children */
    /* for policies with `first`: kids, the freest first, see levels_kid() */
    int64_t listed; /* nodes taken as a whole, see listed.c */
    struct ordered by_free;
    struct ordered_link in_parent;
    bool in_order;
    /* while the index is held: the next such vertex; the last one points to itself */
    struct above *next_held;
};

/* A node (the outermost one of nested nodes), by its number. */
struct level_node {
    uint32_t v, parent;
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
    int64_t listed;     /* cores, see listed.c */
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

struct kind {         /* of nodes, see kinds.c */
    uint32_t example; /* number of a node */
    uint32_t kind;
};

struct profile;

struct overlap { /* of a later window, bits by place of the node, see overlap.c */
    uint64_t *any, *whole, *up; /* booked in part, booked as a whole, bookable at all */
    size_t room;                /* words of each */
    uint64_t told;              /* p->told when `up` was made */
    /* Allocations, so that a window need not visit all of them: */
    struct booking **running; /* sorted by end */
    size_t nrunning, running_room;
    uint64_t *after; /* for each block of them: the union of that block and all later
                      * ones */
    size_t after_room, block;
    int64_t latest;      /* latest start among them */
    uint64_t runs, made; /* p->runs and p->made for which these are valid */
    uint64_t asked;      /* p->runs at the last query for a window */
};

struct freed { /* a booking that was removed */
    int64_t start, end;
    uint32_t first, n; /* its nodes in the log */
    bool ran;          /* it was allocated */
};

struct freed_log { /* of removed bookings, see freed.c */
    bool on;       /* the log is in use */
    bool all;      /* the log is incomplete: too much was freed, or not only bookings
                    * changed */
    struct freed *list;
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
    uint32_t nclaims, claims_alloc, claims_free; /* free ones are a list, linked by
                                                  * next */
    struct booking *by_job;                      /* hash */
    struct booking **bookings;                   /* by number */
    uint32_t nbookings, bookings_alloc, bookings_free;
    uint16_t dims[TYPE_DIMS]; /* type of each dimension; dims[0] is GRAPH_NODE: whole
                               * nodes */
    unsigned ntypes; /* dimensions of types; those of properties follow */
    unsigned ndims;  /* in total */
    struct property properties[PROPERTIES_MAX]; /* see properties.c */
    unsigned nproperties;
    char *asked[PROPERTIES_MAX]; /* properties that join at the next rebuild */
    unsigned nasked;
    struct kind kinds[NODE_KINDS_MAX];
    size_t nkinds;
    uint32_t last_kind;
    struct above *above; /* by graph_vertex.place of vertices with GRAPH_ABOVE */
    size_t nabove;
    /* place of node number k (graph_vertex.place) in the index of each vertex above it,
     * depth by depth: place[k * levels + depth] */
    uint32_t *place;
    size_t levels;
    bool any_above;                   /* some claim is on a vertex above nodes */
    bool any_loose;                   /* some vertex has loose children */
    bool type_above[GRAPH_TYPES_MAX]; /* types of vertices above nodes, except the root's
                                       * type */
    int64_t least_id[GRAPH_TYPES_MAX],
        most_id[GRAPH_TYPES_MAX]; /* of units of each type */
    /* divisible vertices of the type had bookings above their size: the sums over time of
     * the type exclude nothing */
    bool overbooked[GRAPH_TYPES_MAX];
    bool deep;                       /* some node contains vertices with children */
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

    /* above, nodes and profile do not exist or are not complete: the next match makes
     * them, see make.c */
    bool stale;
    bool making;       /* a rebuild is under way, and nothing prevents it */
    bool totalled;     /* profile and loose_free are up to date */
    size_t measured;   /* so many first nodes are up to date; all if not stale */
    unsigned begun;    /* rebuilds begun since the last one was completed */
    struct make *make; /* or NULL */
    bool patient;      /* the caller uses planner_prepare() */
    uint64_t told;     /* graph layout up to which `changed` lists all changes */
    uint64_t units;    /* of the graph at that time */
    struct level_node *nodes;
    size_t nnodes, nodes_room;
    uint32_t *dirty, *changed; /* numbers of nodes, room for all of them */
    size_t ndirty, nchanged;
    unsigned held;
    bool nested;         /* there are nodes in nodes */
    struct above *inner; /* vertices above nodes inside such a node, including the node:
                          * their indexes exclude nothing */
    size_t ninner;
    uint32_t *inner_lists;
    struct overlap overlap;
    struct freed_log freed;
    struct search search;
    size_t naside;         /* suspended bookings */
    struct booking *aside; /* suspended bookings that are not away, the latest first */
    struct booking *fresh; /* list of bookings made meanwhile, which ignored the suspended
                            * ones */
    bool sums_changed;     /* ... the sums of the suspended bookings may be outdated */
    uint64_t shown;        /* grows when a window may have more free units than before */
    struct walk_room room;
    uint64_t made;   /* grows when nodes get new numbers */
    uint64_t stamp;  /* of the last round over bookings or nodes; each round has its
                      * own */
    uint32_t *lists; /* memory of nodes, loose and kids of all `above` */
    bool big[GRAPH_TYPES_MAX]; /* types of which a vertex with children counts as
                                * several */
    int64_t total[INDEX_DIMS]; /* what is up, in total; the profile is this less the
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

size_t walk_room_memory (const struct walk_room *room);

/* -- claims.c: what is free -- */

/* Units of word i (64 i ...) of v that are free in the window; bits past n are 0. Ignores
 * vertices above v. Not for divisible vertices. */
uint64_t claims_free_word (const struct planner *p, uint32_t v, uint32_t i,
                           const struct window *w);
/* The amount of a divisible vertex that is free during the whole window. */
int64_t claims_free_amount (const struct planner *p, uint32_t v, const struct window *w);
/* The number of free units; of a divisible vertex 1 if some of it is free. */
int64_t claims_free_count (const struct planner *p, uint32_t v, const struct window *w);
/* True if no claim on v or below it, by any way, overlaps the window. */
bool claims_untouched (const struct planner *p, uint32_t v, const struct window *w);
/* True if an exclusive claim on v itself overlaps the window (nothing below a vertex with
 * children is free then). */
bool claims_taken (const struct planner *p, uint32_t v, const struct window *w);

/* As claims_taken(), on a vertex above v in the tree. For further children, which a walk
 * reaches from elsewhere. */
bool claims_covered (const struct planner *p, uint32_t v, const struct window *w);

/* True if the claim counts in the window. */
bool claims_counts (const struct planner *p, const struct claim *c,
                    const struct window *w);
/* Bits of word i that are in the run of units. */
uint64_t claims_run_word (uint32_t unit, uint32_t count, uint32_t i);
/* The largest amount of a divisible vertex that is taken at any one time of the
 * window. */
int64_t claims_most_used (const struct planner *p, uint32_t v, const struct window *w);
/* Returns a claim on v or below it that counts in the window and is not of booking number
 * `but`; GRAPH_NONE: none. */
uint32_t claims_below (const struct planner *p, uint32_t v, const struct window *w,
                       uint32_t but);
/* Returns a claim that counts in the window and conflicts with `c`: a claim of another
 * booking on c's units, covering them from above, or, if c is exclusive, below c's
 * vertex. GRAPH_NONE: none. Ignores amounts. */
uint32_t claims_in_way (const struct planner *p, const struct claim *c,
                        const struct window *w);
/* True if an exclusive claim of the booking on a vertex above v covers v. */
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

/* Adds a booking without checking whether its units are free (the caller has). -ENOMEM:
 * nothing is booked. */
int claims_add (struct planner *p, uint64_t job, const struct selection *s,
                bool reserved);
/* Reserves units that may be allocated: see `over` in struct booking. */
int claims_add_over (struct planner *p, uint64_t job, const struct selection *s);
/* As claims_add(), after a check: -EBUSY, -ENOENT, -EINVAL with the reason. */
int claims_check_add (struct planner *p, uint64_t job, const struct selection *s,
                      bool reserved, struct error *why);
struct booking *booking_find (const struct planner *p, uint64_t job);
void booking_drop (struct planner *p, struct booking *b);
/* Makes room for so many more claims: claims_link() then cannot fail. 0 or -ENOMEM. */
int claims_reserve (struct planner *p, size_t more);
/* Inserts c (with its booking, and units that no job has) behind claim `after` of its
 * job; GRAPH_NONE: at the end. Needs room. */
uint32_t claims_link (struct planner *p, const struct claim *c, uint32_t after);
/* Shrinks c to these of its units, and to this amount; count 0: to none, for
 * bookings_sweep(). */
void claims_shrink (struct planner *p, uint32_t c, uint32_t unit, uint32_t count,
                    int64_t amount);
/* Drops the claims of the booking that have no units. */
void bookings_sweep (struct planner *p, struct booking *b);
void booking_set_end (struct planner *p, struct booking *b, int64_t end);
/* Add a claim to the list of its vertex, or remove it from there; other data of the
 * vertex stay. */
void claims_list (struct planner *p, uint32_t c);
void claims_unlist (struct planner *p, const struct claim *claim);

/* -- aside.c: reservations are set aside -- */

/* Suspends a reservation: it counts at no time until it is resumed, and matches meanwhile
 * ignore it. */
void booking_suspend (struct planner *p, struct booking *b);
void booking_resume (struct planner *p, struct booking *b);
/* Takes some more suspended claims out of the lists of their vertices, before a match. */
void booking_send_away (struct planner *p);
/* Times of a booking that may be suspended. */
static inline int64_t booking_start (const struct booking *b)
{
    return b->aside ? b->own_start : b->start;
}
static inline int64_t booking_end (const struct booking *b)
{
    return b->aside ? b->own_end : b->end;
}
/* True if a booking made during the suspension has some of its units, at its time. */
bool booking_is_taken (struct planner *p, struct booking *b);
/* Bookkeeping for a suspended booking that is dropped or resumed. */
void aside_leave (struct planner *p, struct booking *b);

/* -- freed.c: what became free since a plan was made -- */

/* Empties the log when a plan is made, and starts logging what becomes free. */
void freed_forget (struct planner *p);
/* Logs a booking that is removed. */
void freed_note (struct planner *p, const struct booking *b);
/* Notes that p->generation grew for what is in the log. */
void freed_generation (struct planner *p);
void freed_destroy (struct planner *p);

/* -- planner.c -- */

/* Checks that other bookings have none of its units in the window (in which the booking
 * itself does not count). 0 or an error with the reason. */
int booking_check (const struct planner *p, const struct booking *b,
                   const struct window *w, const char *what, struct error *why);

/* -- listed.c: under policies that take the first that do -- */

void listed_add (struct planner *p, struct booking *b, const struct selection *s);
void listed_drop (struct planner *p, struct booking *b);
/* Repeats listed_add() after the nodes were rebuilt. */
void listed_again (struct planner *p, const struct booking *b);

/* -- overlap.c -- */

/* Sets w->touched and w->taken of a later window; -ENOMEM. The levels must be up to date.
 * Valid until the next call or booking. */
int overlap_make (struct planner *p, struct window *w);
struct overlap_need {   /* of a request; zeros where unknown */
    uint8_t properties; /* that all its nodes have */
    const struct shape *shape;
    int64_t whole; /* nodes that the job shares with no other */
    int64_t nodes; /* different nodes */
    int64_t cores; /* cores of one part of the request in its node */
    bool only_whole;
};
/* True if a and b have something on the same node, as far as is known. The levels must be
 * up to date. */
bool overlap_shares_node (struct planner *p, struct booking *a, struct booking *b);
void overlap_needs (struct planner *p, const struct shape *s, struct overlap_need *ret);
/* Returns the number of nodes that the request lacks in the window, as far as is known;
 * 0: none. */
int64_t overlap_missing (const struct planner *p, const struct window *w,
                         const struct overlap_need *need);
/* Rebuilds the reach of a booking after nodes got new places, so that the next match need
 * not. */
void overlap_renew (struct planner *p, struct booking *b);
/* Drops the reach of a booking, whose claims have changed. */
void overlap_forget (struct planner *p, struct booking *b);
size_t overlap_memory (const struct booking *b);
void overlap_destroy (struct planner *p);

/* -- freed.c: what a search for a new place may leave out -- */

/* Windows that a search for a new place can skip, as nothing was found there before. */
struct freed_look {
    struct planner *p;
    struct overlap_need need;
    int64_t now, duration;
    /* of the present place; INT64_MAX: none, no window fitted */
    int64_t start;
    bool all;  /* nothing is known */
    int64_t from, until; /* else only windows that begin in this range can fit */
};
/* True if the request could fit before `start` now, or at `start` with other parts. The
 * request's own reservation and those behind it are suspended. The levels must be up to
 * date. */
bool freed_look (struct freed_look *k, struct planner *p, const struct shape *s,
                 int64_t now, int64_t duration, int64_t start);
/* True if the request could fit in the window that begins at that time, <= start. */
bool freed_helps (const struct freed_look *k, int64_t at);

/* -- properties.c: dimensions of properties -- */

/* Notes the properties of a request's constraint. A property that is new makes the
 * planner stale; a patient planner becomes stale with the next planner_prepare().
 * -ENOMEM. O(nodes) the first time. */
int properties_ask (struct planner *p, const struct constraint *c);
/* Adds the noted properties, at a rebuild. */
void properties_take_up (struct planner *p);
/* Returns, as bits, the properties whose dimensions bound what the constraint (or NULL)
 * allows. */
uint8_t properties_needed (const struct planner *p, const struct constraint *c);
/* Sets the properties of a node; its `up` must be valid. */
void properties_note (struct planner *p, struct level_node *node);
/* Adds cores of nodes with these properties to the dimensions of the properties. */
void properties_spread (const struct planner *p, uint8_t properties, int64_t cores,
                        int64_t *sums);
/* Raises the need in each of these dimensions to what so many whole nodes have at
 * least. */
void properties_raise (const struct planner *p, uint8_t properties, int64_t nodes,
                       int64_t *need);
/* Forgets which nodes have properties. */
void properties_forget (struct planner *p);
void properties_destroy (struct planner *p);

/* -- kinds.c: nodes that are alike -- */

/* Sets the kind of a node that was measured. */
void kinds_note (struct planner *p, struct level_node *node);
/* True if nodes a and b have the same things in the same order below, and all of them are
 * up. */
bool kinds_alike (const struct planner *p, uint32_t a, uint32_t b);

/* -- levels.c: the indexes -- */

/* Brings the indexes up to date after changes of the graph. -ENOMEM. O(nodes log nodes)
 * when the layout changed, else O(1). */
int levels_update (struct planner *p);
/* Does a part of that, of about so many vertices: -EAGAIN: there is more. */
int levels_update_some (struct planner *p, size_t work);
/* Marks all data about nodes as outdated, to be rebuilt. O(1) */
void levels_spoil (struct planner *p);
/* Updates the key of a node in all indexes above it, after its claims or contents
 * changed. */
void levels_touch (struct planner *p, uint32_t node);
/* Moves v, a vertex above nodes, among its parent's kids, after what is free below v, or
 * whether v was seen, changed. */
void levels_kid (struct planner *p, struct above *a);
/* As levels_kid(), also during a rebuild. */
void levels_order_kid (struct planner *p, struct above *a);
/* Returns the next kid after `kid` (NULL: the first), the freest first; NULL: no more. */
struct above *levels_next_kid (const struct above *a, const struct above *kid);
void levels_hold (struct planner *p);
void levels_settle (struct planner *p);
/* During a rebuild: makes n of the pending keys. kids: also updates the kids by their
 * settled indexes. */
void levels_key (struct planner *p, size_t n, bool kids);
const struct above *levels_above (const struct planner *p, uint32_t v);
/* Returns the dimension of the type in the indexes; -1: not tracked. */
int levels_dim (const struct planner *p, uint16_t type);
/* Returns the outermost node at or above v; GRAPH_NONE: v is in no node. */
uint32_t levels_node_of (const struct planner *p, uint32_t v);
/* Returns the entry of a node; NULL: not an outermost node, or the data is outdated. */
struct level_node *levels_node (const struct planner *p, uint32_t v);
/* Updates the keys after a claim of a booking with that end was added (more) or removed.
 * For a changed end of an allocation: remove with the old end, add with the new one.
 * Between levels_hold() and levels_settle(). */
void levels_claim (struct planner *p, const struct claim *c, int64_t end, bool more);
/* For v outside nodes: subtracts what is free at and below v, except in nodes, from
 * loose_free, or adds it. Called before and after changes of allocated claims on v. */
void levels_loose (struct planner *p, uint32_t v, int sign);
/* Updates the amounts of a node, and whether it is up. */
void levels_measure (struct planner *p, struct level_node *node);
/* -- make.c: all anew, from graph and claims -- */

/* Does a piece of a rebuild, of *work vertices, or of more if the rebuild had to start
 * over too often; *work: what is left. 0: done; -EAGAIN; -ENOMEM: p->stale. */
int levels_make_some (struct planner *p, size_t *work);
void levels_destroy (struct planner *p);

/* -- inner.c: nodes in nodes -- */

struct inner_make {
    size_t at;             /* number of the next node */
    size_t above, entries; /* entries of planner.inner and inner_lists */
    size_t used;           /* entries of inner_lists in use */
};

/* Do a piece of *work vertices: first count everything, then enter it. 0: done; -EAGAIN;
 * -ENOMEM. */
int inner_count (struct planner *p, struct inner_make *k, size_t *work);
int inner_enter (struct planner *p, struct inner_make *k, size_t *work);
/* Updates the total amounts inside a node that has changed. */
void inner_mend (struct planner *p, const struct level_node *node);
void inner_destroy (struct planner *p);

/* -- sums.c: amounts by dimension -- */

#define SUMS_MAX (INT64_C (1) << 59) /* ceiling of the sums, see profile.h */

enum sums_of { SUMS_EVER, SUMS_UP, SUMS_FREE };

/* Adds what v and all below it has, could give when all is up, or has free now. Ignores
 * vertices above v. sums[0] stays. */
void sums_add (const struct planner *p, uint32_t v, enum sums_of what, int64_t *sums);
/* As sums_add(), for a v above nodes or beside them, without what is in nodes. */
void sums_add_loose (const struct planner *p, uint32_t v, enum sums_of what,
                     int64_t *sums);
/* Units (amounts) of one type at or below v, as in sums_add(). */
int64_t sums_of_type (const struct planner *p, uint32_t v, uint16_t type,
                      enum sums_of what);
/* True if v, which has children, and all vertices above it are up. */
bool sums_is_up (const struct planner *p, uint32_t v);
/* True if an exclusive claim on v is allocated. */
bool sums_is_taken (const struct planner *p, uint32_t v);
/* Computes what the booking takes of the profile. */
void sums_of_booking (struct planner *p, const struct booking *b, int64_t *sums);
/* Enter a booking into the profile, correct it after a change, remove it. Without memory
 * they call levels_spoil(). They do nothing while there is no profile, and for a booking
 * that is not in it yet: see make.c. */
void sums_book (struct planner *p, struct booking *b);
void sums_rebook (struct planner *p, struct booking *b);
void sums_unbook (struct planner *p, struct booking *b);
/* Enters a booking again, with the same sums. */
void sums_enter (struct planner *p, struct booking *b);
/* Changes the total. */
void sums_grow (struct planner *p, const int64_t *more);
/* Computes the least that the shape needs at one time in each dimension of the
 * profile. */
void sums_need (const struct planner *p, const struct shape *s, int64_t *need);

#endif

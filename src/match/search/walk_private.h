/* walk_private.h - what the files of a walk share
 *
 *     walk.c              one walk: the attempts
 *     gather.c            whether a vertex serves a request, and with which of its parts
 *     upper_vertices.c    the same above the nodes, by the indexes
 *     bounds.c            the least that the request needs; excludes hopeless requests
 *     slots.c             makes slots out of parts (or_slots.c: several kinds of slots)
 *     choose.c            the best k candidates, by the policy
 *     groups.c            nodes in few racks, or spread over all of them
 *     further_parents.c   vertices that are below several others
 *     zoned.c             nodes of which a job gets one zone
 *     sibling_holds.c     keeps units chosen for one sibling from the next
 *     apart.c             outermost siblings that get nodes of their own
 *     answer.c            turns the chosen tree into a selection
 *
 * The candidates found for a list of siblings of the request are in one `struct found`
 * for each sibling, in a row on a stack. A `struct found` lists candidates, and a
 * candidate lists its parts. All of this lives for one walk and is named by numbers,
 * since the arrays grow.
 */
#pragma once

#include "match/planner/claims.h"
#include "match/search/walk.h"

#define WALK_NONE UINT32_MAX

/* A vertex, a run of units of a group, or a slot that serves the request. */
struct candidate {
    uint32_t v;     /* of a slot: the vertex that contains its parts */
    uint32_t unit;  /* first of the run */
    uint32_t count; /* units */
    uint32_t next;  /* in its list */
    uint32_t parts; /* the first of the list of parts chosen in it, WALK_NONE */
    uint16_t req;   /* the vertex of the request that it serves */
    bool taken;     /* will be booked */
    uint32_t slots; /* of a whole node whose parts are not listed: slots in it */
    bool whole;     /* with everything below it */
    uint32_t tie;   /* order of its node: between equals the first in the graph wins */
    /* of the first unit; those of the others ascend by one, unless count is 1 */
    int64_t score;
    int64_t amount; /* available amount of each unit */
};

struct found { /* for one vertex of the request */
    uint32_t head, tail;
    uint32_t n;    /* candidates */
    bool sorted;   /* in the order of the policy, with no two runs interleaved */
    int64_t total; /* sum of the amounts */
};

struct
    bound { /* the least that a vertex of the request needs, by dimension of the index */
    int64_t dim[INDEX_DIMS];
};

struct unit_hold { /* units that an earlier sibling takes */
    uint32_t v, unit, count;
    int64_t amount;
};

struct walker;

/* Finds the parts requested in u for the siblings `head`; *parts: the first of their
 * list. */
typedef bool walk_parts_fn (struct walker *k, uint32_t u, uint16_t head, bool excl,
                            uint32_t *parts);
/* Gathers candidates below u for the active siblings `head`, a bit each. */
typedef void walk_below_fn (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                            uint32_t base, bool excl);

struct walker {
    struct planner *p;
    const struct graph *g;
    const struct shape *s;
    const struct match_policy *policy;
    const struct window *w;
    struct walk_miss *miss;
    walk_below_fn *collect;    /* walk_collect(), by which slots get their parts */
    walk_below_fn *gather_top; /* for the outermost vertices of the request */
    uint8_t properties;        /* that all nodes of the request have; see properties.c */
    int32_t *type; /* by vertex of the request: number of the type in the graph, -1:
                         * none */
    int32_t storage_node; /* a type that constraints are about, as about nodes; -1:
                           * none */
    struct bound *bound;  /* by vertex of the request: for one unit of it */
    /* of nodes, on top of that of the request, for the sibling that is served now; NULL:
     * none */
    const struct constraint *sibling_constraint;
    int64_t cap;          /* slots that one node may give, 0: no limit */
    int64_t given;        /* slots of that node given so far */
    int64_t quota;      /* number wanted of the outermost vertex in the present place; 0:
                         * not in a place */
    int64_t group_miss; /* number that fits in as few places as allowed; -1: enough */
    int64_t shares;     /* slots for which parts are gathered, 1 outside slots */
    uint32_t asked;     /* the vertex in which the siblings are searched, see
                         * walk_deeper() */
    bool modest;        /* elastic counts are taken at their least */
    bool span;          /* slots may have parts of several vertices of a node */
    bool failed;        /* no memory */
    struct candidate *c;
    uint32_t nc;
    size_t ac;
    struct found *f;
    uint32_t nf;
    size_t af;
    uint32_t *order; /* buffer for sorting */
    size_t aorder;
    struct unit_hold *held;
    uint32_t nheld;
    size_t aheld;
    bool has_ways; /* there are vertices with several parents */
    /* vertices with further parents in which something was found */
    uint32_t *ways;
    uint32_t nways;
    size_t aways;
    uint32_t twin;              /* the last whole node that served twin_req; GRAPH_NONE */
    uint16_t twin_req;          /* SHAPE_NONE: none yet */
    uint32_t twin_slots;        /* slots in that node */
    uint32_t zone;              /* the only zone to look into, see zoned.c */
    uint32_t node_pick;         /* of the answer: the last pick of a node */
    uint32_t node;              /* order of that node in the graph */
    const uint32_t *node_order; /* by number; NULL: that of the numbers */
    int64_t node_score;         /* of the present node, scaled; 0 outside nodes */
};

/* Weight of a node's score relative to those of its parts under node_centric policies. */
#define WALK_NODE_WEIGHT (INT64_C (1) << 21)

static inline const struct shape_vertex *walk_req (const struct walker *k, uint16_t r)
{
    return &k->s->v[r];
}

/* An outermost slot counts where its tasks run. */
static inline bool walk_is_outermost_slot (const struct walker *k, uint16_t r)
{
    uint16_t up = walk_req (k, r)->parent;
    return walk_req (k, r)->kind != SHAPE_RESOURCE
           && (up == SHAPE_NONE || walk_req (k, up)->slot == SHAPE_NONE);
}

/* The most that is useful: for one, and for all the slots that are made. */
static inline int64_t walk_most (const struct shape_vertex *r)
{
    return shape_count_fit (r, JOBSPEC_COUNT_MAX);
}

static inline int64_t walk_goal (const struct walker *k, uint16_t r)
{
    int64_t most = walk_most (walk_req (k, r)), all;

    if (k->quota > 0 && r == k->s->top)
        return k->quota;
    return __builtin_mul_overflow (most, k->shares, &all) ? INT64_MAX : all;
}

/* True if u is down or has another owner. */
static inline bool walk_is_shut (const struct walker *k, uint32_t u)
{
    const struct graph_vertex *x = graph_vertex (k->g, u);

    if (k->w->ever ? graph_is_leaving (k->g, u)
                   : (x->flags & (GRAPH_DOWN | GRAPH_DRAINED)) != 0)
        return true;
    return x->nclaims > 0 && claims_taken (k->p, u, k->w);
}

/* -- choose.c -- */

uint16_t walk_siblings (const struct walker *k, uint16_t head);
/* Pushes empty lists for the siblings; returns the number of the first. Pop with
 * walk_pop(). */
uint32_t walk_push (struct walker *k, uint16_t head);
void walk_pop (struct walker *k, uint32_t base);
/* Appends a candidate; false: no memory (k->failed). */
bool walk_add (struct walker *k, uint32_t found, const struct candidate *c);
/* Moves the best candidates to the front, as far as `amount` needs them. */
bool walk_sort (struct walker *k, uint32_t found);
/* Drops the candidates added since the list was like this. */
void walk_forget (struct walker *k, uint32_t found, const struct found *was);
/* Reorders the candidates added since then: one of each node, then a second of each, and
 * so on. The list keeps this order. */
bool walk_by_turns (struct walker *k, uint32_t found, const struct found *was);
/* Cuts the first `amount` off the sorted list, as a list *ret_head of its own, and adds
 * its scores to *score. The rest stays. */
bool walk_cut (struct walker *k, uint32_t found, int64_t amount, uint32_t *ret_head,
               int64_t *score);
/* Returns the number of whole slots of `amount` each in the list, at most `most`. */
int64_t walk_shares (struct walker *k, uint32_t found, int64_t amount, int64_t most);
/* Makes one slot: from each list, one per part, that amount. */
bool walk_make_slot (struct walker *k, uint16_t slot, const uint32_t *list,
                     const int64_t *amount, struct candidate *c);
/* Chooses the best allowed count for each active sibling, and joins the choices to one
 * list behind *parts. False: one sibling is short (the miss is noted, at `where`) or no
 * memory. */
bool walk_choose (struct walker *k, uint16_t head, uint64_t active, uint32_t base,
                  uint32_t where, uint32_t *parts);
/* Returns the number of slots in a list of parts that get tasks. */
uint32_t walk_count_slots (const struct walker *k, uint32_t parts);
/* Appends list `more` to *list; either may be WALK_NONE. */
void walk_join (struct walker *k, uint32_t *list, uint32_t more);

/* -- sibling_holds.c -- */

/* True if some of the siblings may compete for the same units. */
bool walk_tangled (const struct walker *k, uint16_t head);
/* Holds the units of the list that will be booked. Reset k->nheld to release them. */
void walk_hold (struct walker *k, uint32_t list);
void walk_hold_unit (struct walker *k, const struct unit_hold *h);
uint64_t walk_held_word (const struct walker *k, uint32_t v, uint32_t word);
int64_t walk_held_amount (const struct walker *k, uint32_t v);
bool walk_is_held (const struct walker *k, uint32_t v);
bool walk_holds_below (const struct walker *k, uint32_t v); /* or v itself is held */

/* -- further_parents.c -- */

/* True if v may be reached from its parent `via`; v has one or several parents. */
bool walk_way_is_open (const struct walker *k, uint32_t v, uint32_t via);
/* Returns the number of candidates found so far for all siblings. 0 if no vertex has
 * several parents. */
uint64_t walk_found (const struct walker *k, uint16_t head, uint32_t base);
/* Notes that something was found in v from there: v is not reached from other parents. */
void walk_way_take (struct walker *k, uint32_t v, uint32_t via);
/* Forget all notes but the first n (k->nways); all but those and the ones that lead to
 * the list. */
void walk_ways_back (struct walker *k, uint32_t n);
void walk_ways_keep (struct walker *k, uint32_t n, uint32_t list);
/* Adds to the selection the further parents by which the vertices in k->ways are reached.
 * 0, -ENOMEM. */
int walk_ways_add (struct walker *k, struct selection *s);

/* -- walk.c -- */

/* Looks up types and bounds of k->s in k->p; -ENOMEM. Call walk_release() in any case. */
int walk_bind (struct walker *k);
void walk_release (struct walker *k);

/* -- gather.c -- */

/* Gathers candidates for the siblings `head` (for those in `active`, a bit each) in u,
 * or, if u has none of their types, for those in `deeper` below u. */
void walk_gather (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                  uint64_t deeper, uint32_t base, bool excl);
/* Returns the number, among the siblings `head`, of the one with u's type that is no
 * slot; -1: none. *ret_req is that vertex. Of siblings that are apart only the active one
 * counts (a bit each). */
int walk_sibling_of_type (const struct walker *k, uint32_t u, uint16_t head,
                          uint64_t active, uint16_t *ret_req);
/* True if nothing in u can be given: u is shut, held, or not allowed. Leaves are never
 * closed, except nodes.
 */
bool walk_closed (const struct walker *k, uint32_t u);
/* As walk_gather(), only below u, for vertices requested in u. */
void walk_collect (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                   uint32_t base, bool excl);
/* The same in the further children of u. */
void walk_collect_further (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                           uint64_t deeper, uint32_t base, bool excl);
/* Returns the active siblings to search at any depth below u: not those with candidates
 * among the children of u, if they were requested in u. */
uint64_t walk_deeper (const struct walker *k, uint32_t u, uint16_t head, uint64_t active);
/* Finds the parts requested in u, from the best candidates. If elastic counts leave
 * nothing for a sibling, they are tried again at their least. excl: the parts are for
 * this job alone. */
walk_parts_fn walk_find_parts;
/* The same for the active siblings alone (a bit each), which do not compete. */
bool walk_find_active (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                       bool excl, uint32_t *parts);

/* -- apart.c -- */

/* As walk_find_parts(), for the outermost vertices of a request that is apart. */
walk_parts_fn walk_find_apart;

/* -- zoned.c -- */

/* u is marked GRAPH_ZONED; u has several zones, so that no job has all of it. */
bool walk_is_zoned (const struct walker *k, uint32_t u);
bool walk_spans_zones (const struct walker *k, uint32_t u);
/* Finds the parts requested in u (which is zoned), by `find`, in one of its zones. */
bool walk_parts_in_zone (struct walker *k, uint32_t u, walk_parts_fn *find, uint16_t head,
                         bool excl, uint32_t *parts);
/* Gathers candidates below u, by `look`, from the zone that has most. */
void walk_below_in_zone (struct walker *k, uint32_t u, walk_below_fn *look, uint16_t head,
                         uint64_t active, uint32_t base, bool excl);
/* Returns the zone of what was chosen in pick i of the first n, a node; GRAPH_NONE:
 * none. */
uint32_t walk_zone_of (const struct walker *k, const struct selection *s, size_t n,
                       size_t i);
/* Divisible memory that is free below u. */
int64_t walk_free_memory (const struct walker *k, uint32_t u);
bool walk_zone_has_memory (const struct walker *k, uint32_t zone); /* GRAPH_NONE: false */

/* -- slots.c -- */

bool walk_has_child (const struct walker *k, uint32_t u, int32_t type);
bool walk_slot_here (const struct walker *k, uint32_t u, uint16_t slot);
void walk_slots (struct walker *k, uint32_t u, uint16_t slot, uint32_t found);
/* Makes one slot, part after part, each with its least need from what is not held. Holds
 * what the slot takes. For parts that may compete for the same units. */
bool walk_make_tangled (struct walker *k, uint32_t u, uint16_t slot, struct candidate *c);

/* -- or_slots.c -- */

bool walk_or_slots_here (const struct walker *k, uint32_t u, uint16_t head);
/* Gathers all or_slots of the siblings together, into the list of the first of them. */
void walk_or_slots (struct walker *k, uint32_t u, uint16_t head, uint32_t found);

/* -- groups.c -- */

/* walk_gather() from the root for the outermost vertex of the request, the only one,
 * placed as in k->s->groups. With too few candidates it sets k->group_miss and leaves the
 * list empty. */
walk_below_fn walk_groups;

/* -- upper_vertices.c -- */

/* Gathers candidates for the active siblings below u, which is above nodes. */
void walk_upper (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                 uint32_t base, bool excl);

/* -- bounds.c -- */

/* Computes the least that each vertex of the request needs. */
void walk_bounds (struct walker *k);
/* True if the policy's measure orders the nodes. For later times the score does, as the
 * measure is about what is free now. */
bool walk_by_measure (const struct walker *k);
/* Returns the sum over all below the vertex of the index: free now, else ever. */
int64_t walk_sum (const struct walker *k, const struct index *x, unsigned d);
/* The amount of dimension d that a node must have for one r inside it. */
int64_t walk_least_in_node (const struct walker *k, uint16_t r, unsigned d);
/* True if r is of that type, such as GRAPH_NODE, or contains it. */
bool walk_has_type (const struct walker *k, uint16_t r, int32_t type);
/* True if all of one r is in one node; r may be the node itself. */
bool walk_within_node (const struct walker *k, uint16_t r);
/* The amounts that a node must have to serve one r, for the indexes. */
void walk_need (const struct walker *k, uint16_t r, struct index_need *need);
/* True if the summaries exclude the request (the miss is noted). */
bool walk_hopeless (struct walker *k);

/* -- answer.c -- */

int walk_answer (struct walker *k, uint32_t parts, struct selection **ret);

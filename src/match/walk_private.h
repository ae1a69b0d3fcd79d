/* walk_private.h - what the files of a walk share
 *
 *     walk.c     a vertex against a request: does it do, and with which of its parts
 *     above.c    the same above the nodes, by the indexes
 *     bounds.c   what the request needs at least; is it hopeless?
 *     slots.c    slots out of parts
 *     choose.c   the best k of what was found, by the policy
 *     groups.c   nodes in few racks, or spread over all of them
 *     ways.c     vertices that are below several others
 *     zoned.c    nodes of which a job is given one zone
 *     held.c     what was chosen for one sibling is not there for the next
 *     answer.c   the chosen tree as a selection
 *
 * What was found for a list of siblings of the request is one `struct found` each, in a row
 * on a stack; it lists candidates, which hang on what they consist of. All of it lives for
 * one walk and is named by numbers, since the arrays grow.
 */
#ifndef FLUXQ_MATCH_WALK_PRIVATE_H
#define FLUXQ_MATCH_WALK_PRIVATE_H

#include "match/walk.h"

#define WALK_NONE UINT32_MAX

/* A vertex, a run of units of a group, or a slot, that would do. */
struct candidate {
    uint32_t v;     /* of a slot: the vertex in which its parts are */
    uint32_t unit;  /* first of the run */
    uint32_t count; /* units */
    uint32_t next;  /* in its list */
    uint32_t parts; /* what was chosen in it: the first of a list, WALK_NONE */
    uint16_t req;   /* the request's vertex that it serves */
    bool taken;     /* is to be booked */
    uint32_t slots; /* of a whole node whose parts are not told: slots in it */
    bool whole;     /* with everything below it */
    uint32_t tie; /* number of the node that it is in: of equals the first in the graph */
    /* of the first unit; the others' follow it by one, unless count is 1 */
    int64_t score;
    int64_t amount; /* of each unit: what it has to give */
};

struct found { /* for one vertex of the request */
    uint32_t head, tail;
    uint32_t n;    /* candidates */
    bool sorted;   /* in the order of the policy, no two runs interleaved */
    int64_t total; /* sum of the amounts */
};

struct
    bound { /* the least that a vertex of the request needs, by dimension of the index */
    int64_t dim[INDEX_DIMS];
};

struct held { /* units that an earlier sibling takes */
    uint32_t v, unit, count;
    int64_t amount;
};

struct walker {
    struct planner *p;
    const struct graph *g;
    const struct shape *s;
    const struct match_policy *policy;
    const struct window *w;
    struct walk_miss *miss;
    uint8_t properties; /* that all its nodes have; see properties.c */
    int32_t *type;      /* by vertex of the request: the graph's number, -1: not there */
    int32_t storage_node; /* a type that constraints are about, as of nodes; -1 */
    struct bound *bound;  /* by vertex of the request: for one of it */
    int64_t cap;          /* slots that one node may give, 0: any number */
    int64_t given;        /* of these it has given */
    int64_t quota;      /* of the outermost vertex, in the place that is looked into; 0 */
    int64_t group_miss; /* so many fit in as few places as are allowed; -1: enough */
    int64_t shares;     /* slots for which parts are gathered, 1 outside of slots */
    uint32_t asked;     /* in it the siblings are to be found, see walk_deeper() */
    bool modest;        /* elastic counts are taken at their least */
    bool span;          /* slots may have parts of several vertices of a node */
    bool failed;        /* no memory */
    struct candidate *c;
    uint32_t nc, ac;
    struct found *f;
    uint32_t nf, af;
    uint32_t *order; /* to sort in */
    uint32_t aorder;
    struct held *held;
    uint32_t nheld, aheld;
    bool has_ways; /* there are vertices with several parents */
    /* vertices with further parents below one of which something was found */
    uint32_t *ways;
    uint32_t nways, aways;
    uint32_t twin;       /* the last whole node that did, for twin_req; GRAPH_NONE */
    uint16_t twin_req;   /* SHAPE_NONE: none yet */
    uint32_t twin_slots; /* slots in it */
    uint32_t zone;       /* the only one that may be looked into, see zoned.c */
    uint32_t node_pick;  /* of the answer: the last one of a node */
    uint32_t node;       /* its number */
    int64_t node_score;  /* of the node that the walk is in, scaled; 0 outside */
};

/* A node's score counts so much more than its parts' under node_centric policies. */
#define WALK_NODE_WEIGHT (INT64_C (1) << 21)

static inline const struct shape_vertex *walk_req (const struct walker *k, uint16_t r)
{
    return &k->s->v[r];
}

/* -- choose.c -- */

uint16_t walk_siblings (const struct walker *k, uint16_t head);
/* Push empty lists for the siblings; number of the first. Pop with walk_pop(). */
uint32_t walk_push (struct walker *k, uint16_t head);
void walk_pop (struct walker *k, uint32_t base);
/* Append one; false: no memory (k->failed). */
bool walk_add (struct walker *k, uint32_t found, const struct candidate *c);
/* Put the best in front, as far as they are needed for `amount`. */
bool walk_sort (struct walker *k, uint32_t found);
/* Forget what was found since the list was like this. */
void walk_forget (struct walker *k, uint32_t found, const struct found *was);
/* Of what was found since: one of each node, then a second of each, and so on; and that is
 * the order from here on. */
bool walk_by_turns (struct walker *k, uint32_t found, const struct found *was);
/* Cut the first `amount` off the list (sorted), as a list of its own: *ret_head. *score is
 * grown by theirs. The rest stays. */
bool walk_cut (struct walker *k, uint32_t found, int64_t amount, uint32_t *ret_head,
               int64_t *score);
/* Whole slots of `amount` each that the list has, at most `most`. */
int64_t walk_shares (struct walker *k, uint32_t found, int64_t amount, int64_t most);
/* One slot: of each list, one a part, that amount. */
bool walk_make_slot (struct walker *k, uint16_t slot, const uint32_t *list,
                     const int64_t *amount, struct candidate *c);
/* For each active sibling the best allowed count, joined to one list behind *parts. False:
 * one is short (the miss is noted, at `where`) or no memory. */
bool walk_choose (struct walker *k, uint16_t head, uint64_t active, uint32_t base,
                  uint32_t where, uint32_t *parts);
/* Append list `more` to *list; either may be WALK_NONE. */
void walk_join (struct walker *k, uint32_t *list, uint32_t more);

/* -- held.c -- */

/* Some of the siblings may come to want the same. */
bool walk_tangled (const struct walker *k, uint16_t head);
/* What of the list will be booked is held from now on; k->nheld: back to what it was. */
void walk_hold (struct walker *k, uint32_t list);
uint64_t walk_held_word (const struct walker *k, uint32_t v, uint32_t word);
int64_t walk_held_amount (const struct walker *k, uint32_t v);
bool walk_is_held (const struct walker *k, uint32_t v);
bool walk_holds_below (const struct walker *k, uint32_t v); /* or v itself */

/* -- ways.c -- */

/* v may be come to from `via`, one of its parents (it has one or several). */
bool walk_way_is_open (const struct walker *k, uint32_t v, uint32_t via);
/* How much was found so far for all siblings. 0 where no vertex has several parents. */
uint64_t walk_found (const struct walker *k, uint16_t head, uint32_t base);
/* Something was found in v from there: it is not come to from elsewhere. */
void walk_way_take (struct walker *k, uint32_t v, uint32_t via);
/* Forget all but the first n (k->nways) of these; all but them and what leads to the list. */
void walk_ways_back (struct walker *k, uint32_t n);
void walk_ways_keep (struct walker *k, uint32_t n, uint32_t list);
/* The selection is told by which further parents one comes to those in k->ways. 0,
 * -ENOMEM. */
int walk_ways_add (struct walker *k, struct selection *s);

/* -- walk.c -- */

/* Types and bounds for k->s in k->p; -ENOMEM. Release in any case. */
int walk_bind (struct walker *k);
void walk_release (struct walker *k);

/* Candidates for the siblings `head` (of those in `active`, a bit each) in u, or, if u is
 * of no such type, for those in `deeper` below it. */
void walk_gather (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                  uint64_t deeper, uint32_t base, bool excl);
/* Number among the siblings `head` of the one of u's type, which is no slot, or -1; *ret_req
 * is it. */
int walk_sibling_of_type (const struct walker *k, uint32_t u, uint16_t head,
                          uint16_t *ret_req);
/* u is down or somebody else's. */
bool walk_is_shut (const struct walker *k, uint32_t u);
/* Nothing in u may be given: it is shut, held, or not allowed. Of leaves only nodes may be.
 */
bool walk_closed (const struct walker *k, uint32_t u);
/* The same below u only, for what is asked for in u. */
void walk_collect (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                   uint32_t base, bool excl);
/* The same in the further children of u. */
void walk_collect_further (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                           uint64_t deeper, uint32_t base, bool excl);
/* Of the active siblings those that are looked for at any depth below u: not those of which
 * there are some among its children, when they were asked for in u. */
uint64_t walk_deeper (const struct walker *k, uint32_t u, uint16_t head, uint64_t active);
/* The most of it that is of use: to one, and to all the slots that are made. */
int64_t walk_most (const struct shape_vertex *r);
int64_t walk_goal (const struct walker *k, uint16_t r);

/* Divisible memory that is free below u. */
int64_t walk_free_memory (const struct walker *k, uint32_t u);

/* -- zoned.c -- */

/* u is marked GRAPH_ZONED; and it has several zones, so that nobody has all of it. */
bool walk_is_zoned (const struct walker *k, uint32_t u);
bool walk_spans_zones (const struct walker *k, uint32_t u);
/* What is asked for in u (which is zoned), by `find`, from one of its zones. */
typedef bool walk_parts_fn (struct walker *k, uint32_t u, uint16_t head, bool excl,
                            uint32_t *parts);
bool walk_parts_in_zone (struct walker *k, uint32_t u, walk_parts_fn *find, uint16_t head,
                         bool excl, uint32_t *parts);
/* Candidates below u, by `look`, from the zone that has most. */
typedef void walk_below_fn (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                            uint32_t base, bool excl);
void walk_below_in_zone (struct walker *k, uint32_t u, walk_below_fn *look, uint16_t head,
                         uint64_t active, uint32_t base, bool excl);
/* The zone of what was chosen in pick i of the first n, a node; GRAPH_NONE. */
uint32_t walk_zone_of (const struct walker *k, const struct selection *s, size_t n,
                       size_t i);
bool walk_zone_has_memory (const struct walker *k, uint32_t zone); /* or NONE: no */

/* -- slots.c -- */

bool walk_has_child (const struct walker *k, uint32_t u, int32_t type);
bool walk_slot_here (const struct walker *k, uint32_t u, uint16_t slot);
void walk_slots (struct walker *k, uint32_t u, uint16_t slot, uint32_t found);
/* One slot, part after part, each with the least that it needs of what is not held; what it
 * takes is held from now on. For parts that may come to want the same. */
bool walk_make_tangled (struct walker *k, uint32_t u, uint16_t slot, struct candidate *c);
bool walk_has_nodes (const struct walker *k, uint16_t r);

/* -- or_slots.c -- */

bool walk_or_slots_here (const struct walker *k, uint32_t u, uint16_t head);
/* All or_slots of the siblings together, into the list of the first of them. */
void walk_or_slots (struct walker *k, uint32_t u, uint16_t head, uint32_t found);

/* -- groups.c -- */

/* walk_gather() from the root for the outermost vertex of the request, the only one, as
 * k->s->groups wants it. Too few: k->group_miss, and the list is empty. */
void walk_groups (struct walker *k, uint16_t head, uint32_t base, bool excl);

/* -- above.c -- */

/* Candidates for the active siblings below u, which is above nodes. */
void walk_above (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                 uint32_t base, bool excl);

/* -- bounds.c -- */

/* What each vertex of the request needs at least. */
void walk_bounds (struct walker *k);
/* The policy's measure gives the order of the nodes. What is free now says nothing of a later
 * time: then the score does. */
bool walk_by_measure (const struct walker *k);
/* What there is in all below the vertex that has the index: now free, else ever. */
int64_t walk_sum (const struct walker *k, const struct index *x, unsigned d);
/* What a node must have of dimension d for one of r that lies in it. */
int64_t walk_least_in_node (const struct walker *k, uint16_t r, unsigned d);
/* All that r stands for lies in one node; r may be the node itself. */
bool walk_within_node (const struct walker *k, uint16_t r);
/* What a node must have to serve one of r, for the indexes. */
void walk_need (const struct walker *k, uint16_t r, struct index_need *need);
/* The summaries tell that it cannot be (the miss is noted). */
bool walk_hopeless (struct walker *k);

/* -- answer.c -- */

int walk_answer (struct walker *k, uint32_t parts, struct selection **ret);
/* Slots in a list of parts in which tasks will be. */
uint32_t walk_count_slots (const struct walker *k, uint32_t parts);

#endif

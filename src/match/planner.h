/* planner.h - who has what until when, and what else fits
 *
 *     struct planner *p = planner_create (g, match_policy_find ("low"), &opt);
 *     autoselection struct selection *s = NULL;
 *     int rc = planner_match (p, PLANNER_ALLOCATE, job, shape, now, duration, &s, &why);
 *     // 0: booked, s is the caller's;  -EBUSY: not now;  -ENODEV: never on this graph;
 *     // -EEXIST: the job has a booking;  -EINVAL, -ENOMEM.  why: a sentence for its user
 *     planner_cancel (p, job);
 *
 * Time is in ticks of the caller's (fluxqd: microseconds, fluxq-match: seconds), durations
 * are > 0; PLANNER_FOREVER means until the end of time. A booking is allocated (it began,
 * and keeps what it has until it is cancelled, even past its end) or reserved (from its
 * start to its end). "Now" a unit is free when it is not allocated and not reserved at any
 * time of the window; at a later time when no booking overlaps the window [at, at +
 * duration).
 *
 * Costs: cancel and update O(units groups of the job * log nodes); match: see walk.h;
 * a reservation looks only at times at which a booking ends and the sums suffice
 * (profile.h). The graph is borrowed; changes of it are told by planner_changed().
 */
#ifndef FLUXQ_MATCH_PLANNER_H
#define FLUXQ_MATCH_PLANNER_H

#include "common/strbuf.h"
#include "match/policy.h"
#include "match/selection.h"
#include "match/shape.h"

#define PLANNER_FOREVER INT64_MAX

struct planner;

struct planner_options {
    int64_t begin, end; /* of time: nothing may begin before or end after; end 0: never */
    /* Fluxion's rule: a slot never spans vertices (sockets, nodes) */
    bool together_slots;
    /* nodes asked for in a vertex may be anywhere below it, also where some are its
     * children; else only these are meant then */
    bool any_depth;
};

enum planner_op {
    PLANNER_ALLOCATE,                     /* now or not */
    PLANNER_ALLOCATE_WITH_SATISFIABILITY, /* the same; when not, tell "never" apart, which
                                            * is said as by PLANNER_SATISFIABILITY */
    PLANNER_ALLOCATE_ORELSE_RESERVE,      /* now, else the earliest time, else never */
    PLANNER_SATISFIABILITY,               /* could it ever, on a graph that is all up and
                                            * empty; nothing is booked, no selection */
    PLANNER_WITHOUT_ALLOCATING,           /* as allocate, nothing is booked */
    PLANNER_WITHOUT_ALLOCATING_FUTURE,    /* as orelse_reserve, nothing is booked */
};

struct planner *planner_create (struct graph *g, const struct match_policy *policy,
                                const struct planner_options *opt);
void planner_destroy (struct planner *p);
struct graph *planner_graph (const struct planner *p);
/* From the next match on; what is booked stays. O(nodes log nodes) then. */
void planner_set_policy (struct planner *p, const struct match_policy *policy);
/* Types whose free counts the index keeps, besides node, core, gpu and memory; at most
 * 7 types in all, later ones are ignored. 0 or -ENOMEM. */
int planner_track (struct planner *p, const char *type);
/* The graph was changed below (or at) v; GRAPH_NONE: anywhere. Cheap: looked at with the
 * next match. Told after each change of status, properties or a size in one node, only
 * that node is looked at again; after all else, several changes at once, or changes that
 * nobody told, all is. (Not to be seen: a change that was not told, behind which v, where
 * nothing changed, is told.) */
void planner_changed (struct planner *p, uint32_t v);

/* After changes of the graph a match first brings all that is known of the nodes up to
 * date, at once, which on a large graph takes as long as many matches. Who cannot wait for
 * that calls this before: it does a piece of it, of about `work` vertices (> 0; a million a
 * tenth of a second), and anything may be done and change until the next. 0: all is up to
 * date; -EAGAIN: there is more, call again; -ENOMEM. Pieces grow when the graph changes so
 * often that it would never end. */
int planner_prepare (struct planner *p, size_t work);
/* The next match has little or nothing to bring up to date. O(1) */
bool planner_is_prepared (const struct planner *p);
/* It has begun, and would begin from the start if a node came or went now. O(1) */
bool planner_is_preparing (const struct planner *p);
int planner_match (struct planner *p, enum planner_op op, uint64_t job,
                   const struct shape *shape, int64_t now, int64_t duration,
                   struct selection **ret, struct error *why);
/* From now on a search of PLANNER_ALLOCATE_ORELSE_RESERVE for a time ahead ends after about
 * `work` nodes that were looked at (10 million a third of a second), with -EINPROGRESS: the
 * same call goes on, where it was if nothing became free meanwhile, else from the start, with
 * twice the work. 0: it is never cut short. */
void planner_search_in_pieces (struct planner *p, size_t work);
/* It does, for this job. O(1) */
bool planner_search_goes_on (const struct planner *p, uint64_t job, int64_t now);
/* The job asks for something else now, or for nothing. */
void planner_search_forget (struct planner *p, uint64_t job);
/* Book what somebody else chose (s->start, s->end): -EBUSY names the unit that is taken,
 * -ENOENT one that is gone, -EEXIST; nothing is booked then. */
int planner_update (struct planner *p, uint64_t job, const struct selection *s,
                    bool reserved, struct error *why);
/* Reserve whole vertices whatever is booked there, and the caller has looked at that: who
 * has something allocated keeps it until it is cancelled, also past s->start. */
int planner_reserve_over (struct planner *p, uint64_t job, const struct selection *s,
                          struct error *why);
int planner_cancel (struct planner *p, uint64_t job); /* 0 or -ENOENT */
/* Give back only these units (also of a larger pick). *ret_empty: the job has none left and
 * is gone. -ENOENT: it has no booking; units that it does not have are passed over. */
int planner_cancel_part (struct planner *p, uint64_t job, const struct selection *s,
                         bool *ret_empty);
/* New end (of time: PLANNER_FOREVER). -ENOENT; -EBUSY when a reservation stands in the way,
 * which is named; nothing changes then. */
int planner_extend (struct planner *p, uint64_t job, int64_t end, struct error *why);

struct planner_job {
    uint64_t job;
    int64_t start, end;
    bool reserved;
    size_t nclaims;
};
bool planner_find (const struct planner *p, uint64_t job, struct planner_job *ret);
/* In the order of their ids, the next one after that; start with 0 (job 0 itself is found
 * by planner_find() only). false: no more. */
bool planner_next (const struct planner *p, uint64_t after, struct planner_job *ret);
size_t planner_count (const struct planner *p);
/* Is a unit of v booked by the job / by anybody, allocated / reserved? Units at or above v
 * count, and v counts as part of what lies below it when `below`. */
bool planner_has (const struct planner *p, uint64_t job, uint32_t v, uint32_t unit,
                  bool below);
bool planner_is_allocated (const struct planner *p, uint32_t v, uint32_t unit);
bool planner_is_reserved (const struct planner *p, uint32_t v, uint32_t unit);
/* Bumped whenever something becomes free, comes up or is added. */
uint64_t planner_generation (const struct planner *p);
/* What is free now of each type, for listings: sums over the graph. O(1) for tracked ones. */
int64_t planner_free (const struct planner *p, uint16_t type);
size_t planner_memory (const struct planner *p);

#endif

/* planner.h - bookings of resources over time
 *
 *     struct planner *p = planner_create (g, match_policy_find ("low"), &opt);
 *     rc = planner_update (p, job, s, false, &why);    // books a selection
 *     planner_cancel (p, job);
 *
 * This folder holds the bookings of a graph, and the data that a search needs to skip
 * what cannot fit: indexes of the nodes above each vertex, and sums over time. Selections
 * and changes of the graph come in; the search (search/search.h) reads the state
 * (planner_state.h) and books its results here. Nothing here searches.
 *
 * The caller chooses the unit of time, the tick (fluxqd: microseconds, fluxq-match:
 * seconds). Durations are > 0; PLANNER_FOREVER means until the end of time. A booking is
 * allocated (the job has begun, and keeps its units until it is cancelled, even past its
 * end) or reserved (from its start to its end). A unit is free "now" if it is not
 * allocated, and not reserved at any time of the window. A unit is free later if no
 * booking overlaps the window [at, at + duration).
 *
 * Costs: cancel and update take O(groups of units of the job * log nodes). The graph is
 * borrowed; the caller reports changes of the graph with planner_changed().
 */
#pragma once

#include "common/strbuf.h"
#include "match/graph/selection.h"
#include "match/policies/policy.h"

#define PLANNER_FOREVER INT64_MAX

struct planner;

struct planner_options {
    int64_t begin, end; /* of time: no booking begins before or ends after; end 0: no
                         * end */
    /* Fluxion's rule: a slot never spans vertices (sockets, nodes) */
    bool together_slots;
    /* nodes requested in a vertex may be anywhere below it, even if some nodes are its
     * children; otherwise only those children match then */
    bool any_depth;
};

struct planner *planner_create (struct graph *g, const struct match_policy *policy,
                                const struct planner_options *opt);
void planner_destroy (struct planner *p);
struct graph *planner_graph (const struct planner *p);
/* Takes effect with the next match, which then costs O(nodes log nodes). Bookings
 * stay. */
void planner_set_policy (struct planner *p, const struct match_policy *policy);
/* Adds a type whose free counts the index keeps, besides node, core, gpu and memory. The
 * index keeps at most 7 types in all and ignores later ones. 0 or -ENOMEM. */
int planner_track (struct planner *p, const char *type);
/* Reports a change of the graph at or below v; GRAPH_NONE: anywhere. Cheap: the next
 * match does the work. If each change of status, properties or size in one node is
 * reported at once, only that node is updated. After any other change, several changes at
 * once, or an unreported change, all data about nodes is rebuilt, in O(nodes log
 * nodes). (The planner cannot detect an unreported change that is followed by the report
 * of a vertex that did not change.) */
void planner_changed (struct planner *p, uint32_t v);
/* Bracket any changes of the graph in one node, which may also come, go or move. node:
 * the node, GRAPH_NONE: it is not there before (after) the changes. O(log nodes), also for
 * the next match; all data is rebuilt when a vertex gets its first node or loses its last
 * one. */
void planner_begin_change (struct planner *p, uint32_t node);
void planner_end_change (struct planner *p, uint32_t node);

/* Books a selection from elsewhere (s->start, s->end). -EBUSY names the unit that is
 * taken, -ENOENT a unit that does not exist, -EEXIST. Errors book nothing. */
int planner_update (struct planner *p, uint64_t job, const struct selection *s,
                    bool reserved, struct error *why);
/* Reserves whole vertices regardless of the bookings there, which the caller has checked.
 * A job with an allocation there keeps it until it is cancelled, even past s->start. */
int planner_reserve_over (struct planner *p, uint64_t job, const struct selection *s,
                          struct error *why);
int planner_cancel (struct planner *p, uint64_t job); /* 0 or -ENOENT */
/* Frees only these units of the job (also a part of a larger pick). *ret_empty: the job
 * has no unit left, and its booking is gone. -ENOENT: the job has no booking; units that
 * the job does not have are ignored. */
int planner_cancel_part (struct planner *p, uint64_t job, const struct selection *s,
                         bool *ret_empty);
/* Changes the end of a booking (PLANNER_FOREVER: the end of time). -ENOENT; -EBUSY: a
 * reservation is in the way, and why names it; nothing changes then. */
int planner_extend (struct planner *p, uint64_t job, int64_t end, struct error *why);

struct planner_job {
    uint64_t job;
    int64_t start, end;
    bool reserved;
    size_t nclaims;
};
bool planner_find (const struct planner *p, uint64_t job, struct planner_job *ret);
/* Iterates over the bookings by id: *ret is the first with an id > after; start with 0
 * (job 0 itself is found by planner_find() only). false: no more. */
bool planner_next (const struct planner *p, uint64_t after, struct planner_job *ret);
size_t planner_count (const struct planner *p);
/* Tells whether a unit of v is booked by the job; or allocated, or reserved, by any job.
 * Units at or above v count; with `below`, v also counts as part of what lies below
 * it. */
bool planner_has (const struct planner *p, uint64_t job, uint32_t v, uint32_t unit,
                  bool below);
bool planner_is_allocated (const struct planner *p, uint32_t v, uint32_t unit);
bool planner_is_reserved (const struct planner *p, uint32_t v, uint32_t unit);
/* Grows whenever something becomes free, comes up or is added. */
uint64_t planner_generation (const struct planner *p);
/* Returns the amount of the type that is free now, summed over the graph, for listings.
 * O(1) for tracked types. */
int64_t planner_free (const struct planner *p, uint16_t type);
size_t planner_memory (const struct planner *p);

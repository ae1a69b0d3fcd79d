/* reference.h - a slow, obvious matcher, as a reference for the walk
 *
 * Every unit is a vertex of its own, every query is a loop over all bookings, all
 * candidates are gathered and sorted. There are no indexes, groups, bounds or words of
 * bits. It knows the policies that go by ids and the rules of doc/matcher.md, and nothing
 * else of the planner.
 *
 *     ref_load (ref, graph);                        // again after each change of the graph
 *     n = ref_match (ref, &request, &window, &claims);
 *     ref_book (ref, job, start, end, false, claims, n);
 */
#pragma once

#include "match/graph/graph.h"

#define REF_REQS 16
#define REF_SIZES 8
#define REF_JOBS 32
#define REF_PROPERTY "fast" /* a property of vertices that a request may require */

struct ref_policy { /* as in policy.h */
    bool high, node_centric, node_exclusive, first;
    bool measured; /* policy first: nodes are ordered by their use */
};

struct ref_vertex { /* parents before children, siblings in the order of the graph */
    const char *type;
    int64_t id, size;
    int parent; /* -1: the root */
    bool leaf, node, divisible, up, fast;
    bool leaving;     /* not part of the permanent machine */
    int64_t withheld; /* of a divisible vertex: not available now */
    bool seen;        /* an answer of policy first used parts of it */
    uint32_t v, unit; /* its handle and unit in the graph */
};

struct ref_req {              /* parents before children */
    char type[12];            /* "slot" */
    int64_t sizes[REF_SIZES]; /* allowed counts, ascending */
    int nsizes;
    bool exclusive, fast;
    bool taken; /* its units are booked although it is in no slot */
    int parent; /* -1: outermost */
};

struct ref_request {
    struct ref_req r[REF_REQS];
    int n;
    bool fast;           /* all nodes must have the property */
    int64_t node_memory; /* minimum of divisible memory from each node */
};

struct ref_claim {
    int v;
    int64_t amount; /* the whole vertex, or a part of a divisible one */
};

struct ref_named { /* vertices of the answer in a node, for policy first */
    uint32_t node; /* its handle in the graph */
    int64_t cores;
    bool whole;
};

struct ref_booking {
    uint64_t job; /* 0: free entry */
    int64_t start, end;
    bool reserved;
    struct ref_claim *claims; /* ascending by v */
    int nclaims;
    struct ref_named *named; /* for an immediate start */
    int nnamed;
};

struct ref {
    struct ref_policy policy;
    struct ref_vertex *v;
    int nv;
    struct ref_booking jobs[REF_JOBS];
};

struct ref_window {
    int64_t at, end;
    bool now;  /* allocations count for any end */
    bool ever; /* nothing is booked, everything is up */
};

/* Reads the state and the size of everything; bookings stay. */
void ref_load (struct ref *ref, const struct graph *g);
int ref_find (const struct ref *ref, uint32_t v, uint32_t unit); /* or -1 */
/* Returns the claims in *ret (the caller frees them) and their number; -1: the
 * request does not fit. */
int ref_match (struct ref *ref, const struct ref_request *req, const struct ref_window *w,
               struct ref_claim **ret);
/* The same now, or else at the first time at which the request fits: *ret_start. */
int ref_earliest (struct ref *ref, const struct ref_request *req, int64_t now,
                  int64_t duration, struct ref_claim **ret, int64_t *ret_start);
/* Takes ownership of the claims. */
struct ref_booking *ref_book (struct ref *ref, uint64_t job, int64_t start, int64_t end,
                              bool reserved, struct ref_claim *claims, int n);
void ref_name (struct ref_booking *b, uint32_t node, int64_t cores, bool whole);
struct ref_booking *ref_booking (struct ref *ref, uint64_t job); /* or NULL */
void ref_cancel (struct ref *ref, uint64_t job);
/* True if v, or a vertex that covers v, is in the booking. *ret: the amount. */
bool ref_has (const struct ref *ref, const struct ref_booking *b, int v, int64_t *ret);
void ref_release (struct ref *ref);

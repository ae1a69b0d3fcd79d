/* reference.h - a slow, obvious matcher to compare the walk with
 *
 * Every unit is a vertex of its own, every question a loop over all bookings, every
 * candidate is gathered and all of them are sorted. No index, no groups, no bounds, no
 * words of bits. It knows the policies that go by ids and the rules of doc/matcher.md, and
 * nothing of the planner but these.
 *
 *     ref_load (ref, graph);                        // again after each change of the graph
 *     n = ref_match (ref, &request, &window, &claims);
 *     ref_book (ref, job, start, end, false, claims, n);
 */
#ifndef FLUXQ_MATCH_SEARCH_TEST_REFERENCE_H
#define FLUXQ_MATCH_SEARCH_TEST_REFERENCE_H

#include "match/graph/graph.h"

#define REF_REQS 16
#define REF_SIZES 8
#define REF_JOBS 32
#define REF_PROPERTY "fast" /* of nodes and others, that a request may insist on */

struct ref_policy { /* as in policy.h */
    bool high, node_centric, node_exclusive, first;
    bool measured; /* first: nodes by how fresh they are */
};

struct ref_vertex { /* parents before children, siblings in the order of the graph */
    const char *type;
    int64_t id, size;
    int parent; /* -1: the root */
    bool leaf, node, divisible, up, fast;
    bool leaving;     /* not part of what there will ever be */
    int64_t withheld; /* of a divisible one: not to be given now */
    bool seen;        /* an answer of policy first had parts in it */
    uint32_t v, unit; /* what the graph calls it */
};

struct ref_req {              /* parents before children */
    char type[12];            /* "slot" */
    int64_t sizes[REF_SIZES]; /* allowed counts, ascending */
    int nsizes;
    bool exclusive, fast;
    bool taken; /* its units are booked though it is in no slot */
    int parent; /* -1: outermost */
};

struct ref_request {
    struct ref_req r[REF_REQS];
    int n;
    bool fast;           /* all nodes must be */
    int64_t node_memory; /* each node gives at least so much divisible memory */
};

struct ref_claim {
    int v;
    int64_t amount; /* of it: all, but of a divisible one */
};

struct ref_named { /* what the answer named in a node, for the order of policy first */
    uint32_t node; /* what the graph calls it */
    int64_t cores;
    bool whole;
};

struct ref_booking {
    uint64_t job; /* 0: vacant */
    int64_t start, end;
    bool reserved;
    struct ref_claim *claims; /* ascending by v */
    int nclaims;
    struct ref_named *named; /* when it began at once */
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
    bool now;  /* what is allocated counts whatever its end */
    bool ever; /* nothing is booked, all is up */
};

/* What is up and what there is; bookings keep what they have. */
void ref_load (struct ref *ref, const struct graph *g);
int ref_find (const struct ref *ref, uint32_t v, uint32_t unit); /* -1 */
/* What would be booked, in *ret (caller frees), and how many that are; -1: it does not
 * fit. */
int ref_match (struct ref *ref, const struct ref_request *req, const struct ref_window *w,
               struct ref_claim **ret);
/* The same now or else at the first time at which it fits: *ret_start. */
int ref_earliest (struct ref *ref, const struct ref_request *req, int64_t now,
                  int64_t duration, struct ref_claim **ret, int64_t *ret_start);
/* Takes the claims over. */
struct ref_booking *ref_book (struct ref *ref, uint64_t job, int64_t start, int64_t end,
                              bool reserved, struct ref_claim *claims, int n);
void ref_name (struct ref_booking *b, uint32_t node, int64_t cores, bool whole);
struct ref_booking *ref_booking (struct ref *ref, uint64_t job); /* or NULL */
void ref_cancel (struct ref *ref, uint64_t job);
/* Of a booking that is given: is v, or what covers it, in it? *ret: how much. */
bool ref_has (const struct ref *ref, const struct ref_booking *b, int v, int64_t *ret);
void ref_release (struct ref *ref);

#endif

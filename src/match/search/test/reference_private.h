/* reference_private.h - what the files of the reference share
 *
 *     reference.c          the machine and the bookings; now, or else when
 *     reference_free.c     what is free in a window; lists of what would do
 *     reference_match.c    one match
 */
#ifndef FLUXQ_MATCH_SEARCH_TEST_REFERENCE_PRIVATE_H
#define FLUXQ_MATCH_SEARCH_TEST_REFERENCE_PRIVATE_H

#include "match/search/test/reference.h"

/* -- reference.c -- */

void *ref_grow (void *p, size_t n);
bool ref_is (const struct ref *ref, int v, const char *type);
/* The next child of v after that one, v: the first; -1. */
int ref_child (const struct ref *ref, int v, int after);
/* v is `above` or below it. */
bool ref_inside (const struct ref *ref, int v, int above);
/* It has nodes below it. */
bool ref_is_above (const struct ref *ref, int v);

#define REF_CHILDREN(ref, v, c)                                                          \
    for (int c = ref_child ((ref), (v), (v)); c >= 0; c = ref_child ((ref), (v), c))

/* -- one match -- */

struct ref_cand { /* something that would do */
    int v;        /* of a slot: where it is */
    int64_t score, amount;
    int tie;                  /* number of the node that it is in */
    struct ref_claim *claims; /* what would be booked */
    int nclaims;
};

struct ref_list {
    struct ref_cand *c;
    int n;
};

struct ref_run {
    struct ref *ref;
    const struct ref_request *q;
    const struct ref_window *w;
    bool span;            /* slots may have parts of several vertices of a node */
    bool modest;          /* elastic counts are taken at their least */
    int64_t node_score;   /* of the node that the search is in */
    int node;             /* its number in the graph */
    int asked;            /* in it the parts are to be found */
    int64_t shares;       /* slots for which parts are gathered; outside of slots 1 */
    struct ref_cand held; /* what siblings that were met earlier would book */
};

/* -- reference_free.c -- */

/* Something at v, or (below) in it, is booked, or held. */
bool ref_claimed (const struct ref_run *r, int v, bool below);
/* Of a divisible v, all through the window. */
int64_t ref_free_amount (const struct ref_run *r, int v);
/* Down, not allowed, or somebody else's. */
bool ref_closed (const struct ref_run *r, int v);
/* In v; above nodes only those in nodes. What siblings hold is not looked at. */
int64_t ref_free_cores (const struct ref_run *r, int v);
/* Policy first orders nodes, and what is above, by how fresh they are now; at a later time
 * that says nothing. */
bool ref_by_freshness (const struct ref_run *r);
/* By what answers named; what was never used comes before. */
int64_t ref_freshness (const struct ref_run *r, int v);

/* Claims of part are claims of c, too. */
void ref_join (struct ref_cand *c, const struct ref_cand *part);
void ref_join_one (struct ref_cand *c, int v, int64_t amount);
void ref_list_add (struct ref_list *l, struct ref_cand c);
void ref_list_free (struct ref_list *l);
int64_t ref_total (const struct ref_list *l);
/* The best first, equals as they are. */
void ref_list_sort (const struct ref_run *r, struct ref_list *l);
/* Take `amount` off the front, as claims of c: whole units, but of what is divisible. */
void ref_cut (const struct ref_run *r, struct ref_list *l, int64_t amount,
              struct ref_cand *c);
/* How many shares of `amount` could be cut off one after the other. */
int64_t ref_shares_of (const struct ref_run *r, const struct ref_list *l, int64_t amount);

#endif

/* reference_private.h - shared declarations of the reference's files
 *
 *     reference.c          the machine and the bookings; matches now or later
 *     reference_free.c     free resources in a window; lists of candidates
 *     reference_match.c    one match
 */
#pragma once

#include "match/search/test/reference.h"

/* -- reference.c -- */

void *ref_grow (void *p, size_t n);
bool ref_is (const struct ref *ref, int v, const char *type);
/* The next child of v after the given one; v: the first; -1: none. */
int ref_child (const struct ref *ref, int v, int after);
/* v is `above` or below it. */
bool ref_inside (const struct ref *ref, int v, int above);
/* The vertex has nodes below it. */
bool ref_is_above (const struct ref *ref, int v);

#define REF_CHILDREN(ref, v, c)                                                          \
    for (int c = ref_child ((ref), (v), (v)); c >= 0; c = ref_child ((ref), (v), c))

/* -- one match -- */

struct ref_cand { /* a candidate */
    int v;        /* for a slot: its place */
    int64_t score, amount;
    int tie;                  /* number of its node */
    struct ref_claim *claims; /* the claims to book */
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
    bool modest;          /* elastic counts are taken at their minimum */
    int64_t node_score;   /* score of the current node */
    int node;             /* its number in the graph */
    int asked;            /* the vertex that must contain the parts */
    int64_t shares;       /* slots for which parts are gathered; 1 outside slots */
    struct ref_cand held; /* the claims of earlier siblings */
};

/* -- reference_free.c -- */

/* v, or (below) a vertex in it, is booked or held. */
bool ref_claimed (const struct ref_run *r, int v, bool below);
/* The free amount of a divisible v throughout the window. */
int64_t ref_free_amount (const struct ref_run *r, int v);
/* Down, not allowed, or a sibling's. */
bool ref_closed (const struct ref_run *r, int v);
/* The amount in v; above nodes only in nodes. Claims of siblings do not count. */
int64_t ref_free_cores (const struct ref_run *r, int v);
/* Policy first orders nodes, and vertices above, by their present use; at a later time
 * this has no meaning. */
bool ref_by_freshness (const struct ref_run *r);
/* By use in answers; unused vertices come first. */
int64_t ref_freshness (const struct ref_run *r, int v);

/* Claims of `part` are claims of c, too. */
void ref_join (struct ref_cand *c, const struct ref_cand *part);
void ref_join_one (struct ref_cand *c, int v, int64_t amount);
void ref_list_add (struct ref_list *l, struct ref_cand c);
void ref_list_free (struct ref_list *l);
int64_t ref_total (const struct ref_list *l);
/* Best first; equals keep their order. */
void ref_list_sort (const struct ref_run *r, struct ref_list *l);
/* Takes `amount` from the front, as claims of c: whole units, or a part of a divisible
 * one. */
void ref_cut (const struct ref_run *r, struct ref_list *l, int64_t amount,
              struct ref_cand *c);
/* The number of shares of `amount` that can be taken one after the other. */
int64_t ref_shares_of (const struct ref_run *r, const struct ref_list *l, int64_t amount);

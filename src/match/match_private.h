/* match_private.h - what match*.c share: requests, and R out of and into selections */
#ifndef FLUXQ_MATCH_MATCH_PRIVATE_H
#define FLUXQ_MATCH_MATCH_PRIVATE_H

#include "match/machine_private.h"
#include "match/match.h"

struct match_request {
    struct shape *shape;
    uint64_t key;
    unsigned refs;              /* besides the first */
    struct match_request **all; /* the hash that it is in, by key; NULL: in none */
    UT_hash_handle hh;
};

#define MATCH_VERDICTS 256 /* power of two */

/* What satisfiability answered for a request while the layout was this; never: why not,
 * or NULL when it can be satisfied. */
struct verdict {
    uint64_t key, layout;
    char *never;
};

struct matcher {
    struct machine *g;
    struct planner *p;
    struct match_request *requests; /* that are shared, by key */
    struct verdict verdicts[MATCH_VERDICTS];
};

/* -- match.c -- */

int64_t match_ticks (double seconds);
/* 0 (no limit), and what is longer, is a year. */
int64_t match_ticks_of_duration (double seconds);
double match_seconds (int64_t ticks);
/* s with all counts at their least; *ret borrows all of it but v, which is to be freed.
 * 0 or -ENOMEM. */
int match_least_shape (const struct shape *s, struct shape *ret);

/* -- match_rset.c -- */

/* Times are left to the caller. NULL: no memory. */
struct rset *rset_of_selection (const struct machine *g, const struct selection *s);
/* The units that r names, by the names of its nodes. -ENOENT names what is gone, -ENOMEM. */
int rset_to_selection (const struct machine *g, const struct rset *r,
                       struct selection **ret, struct error *why);
struct machine_amounts rset_rank_amounts (const struct rset_rank *rank);

#endif

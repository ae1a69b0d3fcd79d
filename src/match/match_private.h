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

/* -- match_rset.c -- */

/* Times are left to the caller. NULL: no memory. */
struct rset *rset_of_selection (const struct machine *g, const struct selection *s);
/* The units that r names, by the names of its nodes. -ENOENT names what is gone, -ENOMEM. */
int rset_to_selection (const struct machine *g, const struct rset *r,
                       struct selection **ret, struct error *why);
struct machine_amounts rset_rank_amounts (const struct rset_rank *rank);

#endif

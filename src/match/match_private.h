/* match_private.h - what match*.c share: requests, and R out of and into selections */
#ifndef FLUXQ_MATCH_MATCH_PRIVATE_H
#define FLUXQ_MATCH_MATCH_PRIVATE_H

#include "match/machine_private.h"
#include "match/match.h"

struct match_request {
    struct shape *shape;
    struct {
        int64_t tasks; /* in all, spread over the nodes; 0: slots are as many as asked */
        uint16_t node, slot; /* of the shape */
    } spread;
    uint64_t key;
    bool of_parts;              /* it asks for parts of a CPU */
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
    struct window_of *windows; /* see match_window.c, by start */
    struct planner *p;
    struct match_request *requests; /* that are shared, by key */
    bool of_parts;                  /* some request was of parts of a CPU */
    struct verdict verdicts[MATCH_VERDICTS];
};

/* -- match.c -- */

int64_t match_ticks (double seconds);
/* 0 (no limit), and what is longer, is a year. */
int64_t match_ticks_of_duration (double seconds);
double match_seconds (int64_t ticks);
/* The request's shape with all counts at their least (of spread tasks: that the machine could
 * ever serve); *ret borrows all of it but v, which is to be freed. 0 or -ENOMEM. */
int match_least_shape (struct matcher *m, const struct match_request *req,
                       struct shape *ret);

/* -- spread.c -- */

/* Numbers of nodes that need as many slots each. */
struct spread_run {
    struct jobspec_count nodes;
    int64_t slots;
};
/* The run of the most nodes that are at most *limit, which then is below them; false: there
 * is none. O(log). */
bool spread_next (const struct match_request *req, int64_t *limit,
                  struct spread_run *ret);
/* The request's shape with these counts; v is to be freed. 0 or -ENOMEM. */
int spread_shape (const struct match_request *req, const struct spread_run *run,
                  struct shape *ret);
/* Are the jobspec's tasks spread? Then req->spread is set. 0, or -ENOTSUP: too many runs. */
int spread_compile (const struct jobspec *js, struct match_request *req,
                    struct error *err);

/* -- match_cpus.c: parts of CPUs -- */

/* Of the copy of a jobspec's resources that is compiled: each node, or slot that is in none, with
 * cores in it gets a child that takes as many thousandths of CPUs; a node that is the job's
 * as a whole needs none. 0 or -ENOMEM. */
int cpus_add (struct jobspec_resource *list, size_t n);
/* The shape of these resources: what was added is marked. */
void cpus_mark (struct shape *s);
/* What was added is as large as the cores are. s: sized, all counts in slots are fixed. */
void cpus_follow (struct shape *s);
bool cpus_asks_for_parts (const struct jobspec_resource *list, size_t n);

/* -- match_window.c -- */

/* What is known of the window besides its booking goes. */
void match_window_forget (struct matcher *m, uint64_t id);
uint64_t match_window_first (const struct matcher *m); /* some window's id */

/* -- match_rset.c -- */

/* Times are left to the caller. NULL: no memory. */
struct rset *rset_of_selection (const struct machine *g, const struct selection *s);
/* The units that r names, by the names of its nodes. -ENOENT names what is gone, -ENOMEM. */
int rset_to_selection (const struct machine *g, const struct rset *r,
                       struct selection **ret, struct error *why);
struct machine_amounts rset_rank_amounts (const struct rset_rank *rank);

#endif

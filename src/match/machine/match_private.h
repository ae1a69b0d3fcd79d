/* match_private.h - what match*.c share: requests, and R out of and into selections */
#pragma once

#include "match/machine/machine_private.h"
#include "match/machine/match.h"
#include "match/request/shape.h"

struct match_request {
    struct shape *shape;
    struct {
        int64_t tasks; /* in total, spread over the nodes; 0: as many slots as
                        * requested */
        uint16_t node, slot; /* vertices of the shape */
    } spread;
    uint64_t key;
    bool of_parts;              /* the request asks for parts of a CPU */
    unsigned refs;              /* besides the first one */
    struct match_request **all; /* the hash that the request is in, by key; NULL: in
                                 * none */
    UT_hash_handle hh;
};

#define MATCH_VERDICTS 256 /* power of two */

/* Answer of match_satisfiability() for a request under that layout. never: the reason, or
 * NULL: it can be satisfied. */
struct verdict {
    uint64_t key, layout;
    char *never;
};

struct matcher {
    struct machine *g;
    struct window_of *windows; /* by start, see match_window.c */
    struct planner *p;
    struct match_request *requests; /* the shared ones, by key */
    bool of_parts;                  /* some request asked for parts of a CPU */
    struct verdict verdicts[MATCH_VERDICTS];
};

/* -- match.c -- */

int64_t match_ticks (double seconds);
/* 0 (no limit), and any longer duration, becomes a year. */
int64_t match_ticks_of_duration (double seconds);
double match_seconds (int64_t ticks);
/* Makes the request's shape with all counts at their largest, or at their least (with
 * spread tasks: the least that the machine could ever serve). *ret borrows everything but
 * v, which the caller frees. 0 or -ENOMEM. */
int match_sized_shape (struct matcher *m, const struct match_request *req, bool most,
                       struct shape *ret);

/* -- spread.c -- */

/* Numbers of nodes with an equal number of slots on each node. */
struct spread_run {
    struct jobspec_count nodes;
    int64_t slots;
};
/* Finds the run of the most nodes that are at most *limit, and sets *limit below the run;
 * false: there is none. O(log). */
bool spread_next (const struct match_request *req, int64_t *limit,
                  struct spread_run *ret);
/* Makes the request's shape with these counts; the caller frees v. 0 or -ENOMEM. */
int spread_shape (const struct match_request *req, const struct spread_run *run,
                  struct shape *ret);
/* Sets req->spread if the jobspec's tasks are spread. 0, or -ENOTSUP: too many runs. */
int spread_compile (const struct jobspec *js, struct match_request *req,
                    struct error *err);

/* -- match_cpus.c: parts of CPUs -- */

/* Adds a child with the same amount of CPU thousandths to each node with cores in it, and
 * to each slot with cores outside nodes. list: the copy of the jobspec's resources that
 * is compiled. Nodes that the job has as a whole need none. 0 or -ENOMEM. */
int cpus_add (struct jobspec_resource *list, size_t n);
/* Marks the added children in the shape of these resources. */
void cpus_mark (struct shape *s);
/* Sets the amounts of the added children to those of the cores. s: sized, all counts in
 * slots are fixed. */
void cpus_follow (struct shape *s);
bool cpus_asks_for_parts (const struct jobspec_resource *list, size_t n);

/* -- match_window.c -- */

/* Drops the data of the window, after its booking. */
void match_window_forget (struct matcher *m, uint64_t id);
uint64_t match_window_first (const struct matcher *m); /* id of some window */

/* -- match_rset.c -- */

/* s: the answer to that shape. Leaves the times to the caller. NULL: no memory. */
struct rset *rset_of_selection (const struct machine *g, const struct selection *s,
                                const struct shape *shape);
/* Finds the units of r by the names of its nodes. -ENOENT names what is missing,
 * -ENOMEM. */
int rset_to_selection (const struct machine *g, const struct rset *r,
                       struct selection **ret, struct error *why);
struct machine_amounts rset_rank_amounts (const struct rset_rank *rank);

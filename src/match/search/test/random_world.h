/* random_world.h - random machines and requests, for the tests of the walk
 *
 *     world_make (&w, seed);                    // w.g, and the same in w.ref
 *     request_make (&w, &a);                    // one that has to do with that machine
 *
 * What is done is told, and comes out when the test fails.
 */
#ifndef FLUXQ_MATCH_SEARCH_TEST_RANDOM_WORLD_H
#define FLUXQ_MATCH_SEARCH_TEST_RANDOM_WORLD_H

#include "match/search/search.h"
#include "match/search/test/reference.h"

#define WORLD_JOBS 24 /* at a time */

/* -- a story -- */

void tell (const char *fmt, ...) __attribute__ ((format (printf, 1, 2)));
/* Prints all that was told, and what is wrong. */
void wrong (const char *fmt, ...) __attribute__ ((format (printf, 1, 2), noreturn));

/* -- chance -- */

bool one_in (uint64_t n);
size_t below (size_t n);
int64_t between (int64_t least, int64_t most);

/* -- machines -- */

struct plan {                /* of a machine */
    int zones, racks, nodes; /* each in each; 0: none between */
    int sockets, cores, gpus, memories;
    int64_t memory; /* size of one, 0: none */
    bool divisible, loose, mixed, shuffled;
    bool bare;    /* nodes have nothing in them */
    bool no_node; /* what else is in nodes is where they would be */
    int64_t next_node, next_rack;
};

struct world {
    struct graph *g;
    struct planner *p;
    struct ref *ref;
    struct plan plan;
    bool all_one; /* no unit is of a size but 1: then all policies come to one verdict */
    /* of the stream of operations */
    int64_t now;
    uint64_t next_job;
    uint64_t jobs[WORLD_JOBS];
    size_t njobs;
    bool shrunk; /* some units, or amounts, are to go when they are free */
};

/* From nothing; the story begins with it. */
void world_make (struct world *w, uint64_t seed);
void world_release (struct world *w);

/* -- requests -- */

struct asked {
    struct ref_request q;
    struct shape *shape;
};

void request_make (const struct world *w, struct asked *a);

#endif

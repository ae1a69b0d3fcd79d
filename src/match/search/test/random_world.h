/* random_world.h - random machines and requests, for the tests of the walk
 *
 *     world_make (&w, seed);                    // w.g, and the same in w.ref
 *     request_make (&w, &a);                    // a request for that machine
 *
 * The test reports its steps, which are printed if it fails.
 */
#pragma once

#include "match/search/search.h"
#include "match/search/test/reference.h"

#define WORLD_JOBS 24 /* at the same time */

/* -- a story -- */

void tell (const char *fmt, ...) __attribute__ ((format (printf, 1, 2)));
/* Prints all that was told, and what is wrong. */
void wrong (const char *fmt, ...) __attribute__ ((format (printf, 1, 2), noreturn));

/* Prints the whole story, and the fault. */

bool one_in (uint64_t n);
size_t below (size_t n);
int64_t between (int64_t least, int64_t most);

/* -- machines -- */

struct plan {                /* the plan of a machine */
    int zones, racks, nodes; /* in each place above; 0: no such level */
    int sockets, cores, gpus, memories;
    int64_t memory; /* size of one unit, 0: none */
    bool divisible, loose, mixed, shuffled;
    bool bare;    /* nodes are empty */
    bool no_node; /* the content of nodes is in their place */
    int64_t next_node, next_rack;
};

struct world {
    struct graph *g;
    struct planner *p;
    struct ref *ref;
    struct plan plan;
    bool all_one; /* all units have size 1: all policies give the same verdict */
    /* of the stream of operations */
    int64_t now;
    uint64_t next_job;
    uint64_t jobs[WORLD_JOBS];
    size_t njobs;
    bool shrunk; /* some units, or amounts, leave when they are free */
};

/* Makes the world from nothing; the story begins here. */
void world_make (struct world *w, uint64_t seed);
void world_release (struct world *w);

/* -- requests -- */

struct asked {
    struct ref_request q;
    struct shape *shape;
};

void request_make (const struct world *w, struct asked *a);

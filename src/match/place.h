/* place.h - where a request goes: first fit over the nodes in index order
 *
 *     struct placement p = {0};
 *     int rc = place (g, req, PLACE_NOW, &p);         // 0, -EBUSY: does not fit, -ENOMEM
 *     for (size_t i = 0; i < p.npicks; i++)
 *         p.picks[i].node, p.picks[i].slots ...       // slots of p.size[] each
 *     placement_release (&p);
 *
 * Elastic counts are maximized from the outermost inwards: first as many units (racks,
 * nodes or slots) as fit with all inner counts at their least, then each inner count in
 * turn. "Fits" is monotone in every count, so the inner ones are found by bisection, a
 * scan a step. Nothing is booked here.
 */
#ifndef FLUXQ_MATCH_PLACE_H
#define FLUXQ_MATCH_PLACE_H

#include "match/request.h"

enum place_when {
    PLACE_NOW,  /* what is free on nodes that take jobs */
    PLACE_EVER, /* all known nodes, up and empty; sizes stay at their least */
};

struct pick {
    uint32_t node;
    uint32_t slots;
};

struct placement {
    struct pick *picks; /* the job's ranks, in order */
    size_t npicks, alloc;
    int64_t size[DIM_COUNT]; /* granted; 0 where the jobspec has no such vertex */
    int64_t found;           /* units found, also when they are too few */
};

int place (const struct machine *g, const struct match_request *req, enum place_when when,
           struct placement *ret);
void placement_release (struct placement *p);

#endif

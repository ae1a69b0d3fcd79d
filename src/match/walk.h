/* walk.h - the match itself: one walk over the tree for one request in one window of time
 *
 *     struct window w = { .at = now, .end = now + duration, .now = true };
 *     rc = walk (p, shape, &w, &selection, &miss);   // 0, -EBUSY: does not fit, -ENOMEM
 *
 * Above the nodes the walk goes by the indexes (index.h) and never looks at what they rule
 * out; in a node it looks at the few groups there. Cost: O(answer * log nodes) where one
 * amount decides. See doc/matcher.md.
 */
#ifndef FLUXQ_MATCH_WALK_H
#define FLUXQ_MATCH_WALK_H

#include "match/planner_private.h"

/* Why it did not fit: the vertex of the request that was short, where, and by how much. */
struct walk_miss {
    uint16_t wanted; /* shape_vertex number; SHAPE_NONE: unknown */
    uint32_t at;     /* graph vertex below which there were too few; GRAPH_NONE */
    int64_t asked, found;
    bool in_groups;   /* so many were found in as few places as are allowed */
    bool known_early; /* a summary told: no node was looked at */
};

int walk (struct planner *p, const struct shape *shape, const struct window *w,
          struct selection **ret, struct walk_miss *miss);

#endif

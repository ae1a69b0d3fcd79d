/* walk.h - the match itself: one walk over the tree for one request in one window of time
 *
 *     struct window w = { .at = now, .end = now + duration, .now = true };
 *     rc = walk (p, shape, &w, &selection, &miss);   // 0, -EBUSY: does not fit, -ENOMEM
 *
 * Above the nodes the walk goes by the indexes (index.h) and never visits what they
 * exclude; in a node it visits the few groups there. Cost: O(answer * log nodes) if one
 * amount decides. See doc/matcher.md.
 */
#pragma once

#include "match/planner/planner_state.h"
#include "match/request/shape.h"

/* Why it did not fit: the vertex of the request that was short, where, and by how much. */
struct walk_miss {
    uint16_t wanted; /* shape_vertex number; SHAPE_NONE: unknown */
    uint32_t at;     /* graph vertex below which there were too few; GRAPH_NONE */
    int64_t asked, found;
    bool known_early; /* a summary decided: no node was visited */
};

int walk (struct planner *p, const struct shape *shape, const struct window *w,
          struct selection **ret, struct walk_miss *miss);

/* -- miss.c -- */

/* Writes a sentence for the user: why the request did not fit. Returns -EBUSY, or -ENODEV
 * for never. */
int search_why (const struct planner *p, const struct shape *s,
                const struct walk_miss *miss, bool never, struct error *why);

/* release.h - ends of bookings, at which something becomes free */
#pragma once

#include "match/planner/window_nodes.h"

/* Returns the number of cores in a node that are free during the whole window. */
int64_t release_free_cores (const struct planner *p, uint32_t v, const struct window *w);

struct release_search {
    struct planner *p;
    const struct node_need *need;
    int64_t duration; /* of the windows that begin at the ends */
    /* so many nodes must be given back, in part or whole, after `counted` */
    int64_t missing;
    int64_t counted;
};
/* Returns the first end of a booking in from .. until, both >= 0 and < INT64_MAX, at
 * which something useful for the request becomes free, and no nodes are missing any more;
 * -1: none. */
int64_t release_next (struct release_search *k, int64_t from, int64_t until);

/* counts.h - used and total sizes of some types below each vertex (find agfilter=true)
 *
 *     struct counts *c = counts_create (planner, filters, nfilters, 0, now, &err);
 *     json_t *o = counts_to_json (c, v);            // {"core": "used:4, total:36"}
 *     counts_destroy (c);
 *
 * Which types is up to the filters (-p): those that are kept at the vertex's type, without
 * that type itself. Both are sums of sizes (8 GB of memory count 8). One pass over the
 * graph and one over the bookings; valid until either changes.
 */
#ifndef FLUXQ_TOOLS_MATCH_COUNTS_H
#define FLUXQ_TOOLS_MATCH_COUNTS_H

#include "common/json.h"
#include "match/planner.h"
#include "tools/match/options.h"

struct counts;

/* job 0: what all have that hold something at `now`; else what that job has. */
struct counts *counts_create (const struct planner *p, const struct filter *filters,
                              size_t nfilters, uint64_t job, int64_t now);
void counts_destroy (struct counts *c);
/* New reference; NULL: none is kept there, or no memory. */
json_t *counts_to_json (const struct counts *c, uint32_t v);

#endif

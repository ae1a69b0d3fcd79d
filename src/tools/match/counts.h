/* counts.h - used and total sizes of some types below each vertex (find agfilter=true)
 *
 *     struct counts *c = counts_create (session, 0);
 *     json_t *o = counts_to_json (c, v);            // {"core": "used:4, total:36"}
 *     counts_destroy (c);
 *
 * The filters (-p) choose the types: those kept at the vertex's type, without that type
 * itself; at clusters also all types without anything below them. Both numbers are sums
 * of sizes (8 GB of memory count 8). The used number counts what jobs were given: 9 for a
 * socket that a job has as a whole for 9 cores. One pass over the graph and one over the
 * jobs' resources; valid until either changes.
 */
#pragma once

#include "common/json.h"
#include "tools/match/session.h"

struct counts;

/* job 0: the resources of all jobs; else of that job. NULL: no memory. */
struct counts *counts_create (const struct session *s, uint64_t job);
void counts_destroy (struct counts *c);
/* New reference; NULL: no type is kept there, or no memory. */
json_t *counts_to_json (const struct counts *c, uint32_t v);

/* why.h - sentences for people whose job does not fit
 *
 *     if (why_short (g, req, why)) return -EBUSY;   // the sums alone tell that it cannot
 *     if (place (...) == -EBUSY) why_not_now (g, req, found, why);
 */
#ifndef FLUXQ_MATCH_WHY_H
#define FLUXQ_MATCH_WHY_H

#include "match/request.h"

/* O(1): true, and why, when totals or the largest free amounts show that it does not
 * fit now. */
bool why_short (const struct machine *g, const struct match_request *req,
                struct error *why);
/* "needs 4 nodes with 8 cores each, 2 are free now (of 16 up)"; found: units that fit.
 * -EBUSY */
int why_not_now (const struct machine *g, const struct match_request *req, int64_t found,
                 struct error *why);
/* "needs 9 gpus on a node, the largest has 8". -ENOENT */
int why_never (const struct machine *g, const struct match_request *req, int64_t found,
               struct error *why);

#endif

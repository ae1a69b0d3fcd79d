/* requests.h - requests for the matcher, shared by all jobs of equal size
 *
 *     struct request *rq = requests_get (all, &job.size);
 *     if (rq->never) ...                   // it fits on no machine like this
 *     entry.req = rq->req;
 *     requests_put (all, rq);              // once for each get
 *
 * A few unused sizes are kept.
 */
#pragma once

#include "match/machine/match.h"
#include "tools/sim/trace.h"

struct requests;

struct request {
    const struct match_request *req;
    const char *never; /* why the request fits on no machine of this size, or NULL */
};

struct requests *requests_create (struct matcher *m);
void requests_destroy (struct requests *all);
/* NULL: no memory. */
struct request *requests_get (struct requests *all, const struct job_size *size);
/* A request for n nodes of that size (with nodes), but none of `but` (a host list). The
 * caller owns it. NULL: no memory. */
struct match_request *requests_more (const struct job_size *size, uint32_t n,
                                     const char *but);
void requests_put (struct requests *all, struct request *rq);

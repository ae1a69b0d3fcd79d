/* request.h - the request of a jobspec by the general rules of RFC 14, for the matcher
 *
 *     struct jobspec_request *q = NULL;
 *     if (jobspec_resources_parse (text, len, "test.yaml", &q, &err) == 0)
 *         s = shape_compile (q->resources, q->nresources, q->constraints, 0, &err);
 *     jobspec_request_destroy (q);
 *
 * jobspec_parse() is for submitted jobs: it takes jobspecs that fluxq can run and refuses
 * the rest. The parser here takes every request of RFC 14:
 *
 *     version     1 to 9999
 *     resources   as in jobspec.h, and also counts as sets ("1,4,9", RFC 22), slots in
 *                 slots, repeated labels, the types or_slot and xor_slot, which need
 *                 labels too, and `requires` (RFC 31) on a vertex
 *     tasks       any number; whether their slots exist is not checked
 *     attributes  null, or user and system; read are duration (seconds, or a duration as
 *                 in RFC 23) and constraints (RFC 31, an object; the matcher checks its
 *                 contents)
 *
 * YAML of at most 4 MiB or JSON of at most 8 MiB; other limits as in jobspec.h.
 */
#pragma once

#include "jobspec/jobspec.h"

#define JOBSPEC_REQUEST_DURATION_MAX 1e15 /* seconds */

struct jobspec_request {
    int version;
    struct jobspec_resource *resources;
    size_t nresources;
    double duration;     /* seconds, >= 0; 0: unlimited, or not given */
    json_t *constraints; /* borrowed from root; or NULL */
    json_t *root;        /* the whole document, owned */
};

/* name: name of the file, which begins each error: "test.yaml: jobspec:
 * resources[0].count: ..." or "test.yaml:3:7: ..." (an error of the YAML itself). 0 and
 * *ret, which the caller owns; -EINVAL, -EFBIG, -ENOMEM. */
int jobspec_resources_parse (const char *text, size_t len, const char *name,
                             struct jobspec_request **ret, struct error *err);
void jobspec_request_destroy (struct jobspec_request *q);

static inline void jobspec_request_destroyp (struct jobspec_request **p)
{
    jobspec_request_destroy (*p);
}
#define autorequest __attribute__ ((cleanup (jobspec_request_destroyp)))

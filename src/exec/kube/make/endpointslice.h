/* endpointslice.h - addresses of the ranks' names: EndpointSlices of the job's Service
 *
 *     for (part = 0; part < endpointslice_parts (n); part++)
 *         object = endpointslice_make (&src, uid, part, all, n);
 *
 * The Service has no selector, so only these slices give its names addresses. A rank's
 * name is its pod's hostname, see rankname_label(). Pure.
 * Source: discovery.k8s.io/v1.
 */
#pragma once

#include "exec/kube/make/objects.h"

#define ENDPOINTSLICE_MAX 1000u /* ranks in a slice; the limit of the API server */
#define ENDPOINTSLICE_NAME_MAX (OBJECT_NAME_MAX + 12)

struct endpoint { /* of a rank; borrowed */
    const char *address, *pod, *node;
};

/* The number of slices of a job with so many ranks: none for one rank. */
uint32_t endpointslice_parts (uint32_t nranks);
/* "fluxq-c-1-0", then "fluxq-c-1-0-1" ... */
void endpointslice_name (char ret[ENDPOINTSLICE_NAME_MAX], const char *name,
                         uint32_t part);
/* all: by rank. uid: of the Job, whose deletion deletes the slices. New reference; NULL
 * without memory. */
json_t *endpointslice_make (const struct object_source *src, const char *uid,
                            uint32_t part, const struct endpoint *all, uint32_t nranks);

/* podrequest.c - see podrequest.h */
#include "exec/kube/make/podrequest.h"

#include "common/macros.h"

struct rset podrequest_ranks (const struct rset *r, uint32_t component)
{
    struct rset part = *r;
    size_t first;

    part.nranks = rset_component (r, component, &first);
    part.ranks += first;
    return part;
}

const char *podrequest_cpu (int64_t milli, char buf[PODREQUEST_CPU_MAX])
{
    bool whole = milli % 1000 == 0;

    snprintf (buf, PODREQUEST_CPU_MAX, "%jd%s", (intmax_t)(whole ? milli / 1000 : milli),
              whole ? "" : "m");
    return buf;
}

struct pod_request podrequest_least (const struct rset *r)
{
    struct pod_request q = { INT64_MAX, UINT32_MAX, INT64_MAX, NULL };

    for (size_t i = 0; i < r->nranks; i++) {
        q.cpu_milli = MIN (q.cpu_milli, rset_rank_cpu_milli (&r->ranks[i]));
        q.gpus = MIN (q.gpus, r->ranks[i].gpus ? idset_count (r->ranks[i].gpus) : 0);
        q.memory_mib = MIN (q.memory_mib, r->ranks[i].memory_mib);
    }
    return r->nranks ? q : (struct pod_request){ 0 };
}

struct pod_request podrequest_of_rank (const struct rset *r, uint32_t rank)
{
    const struct rset_rank *own = &r->ranks[rank];

    return (struct pod_request){ .cpu_milli = rset_rank_cpu_milli (own),
                                 .gpus =
                                     own->gpus ? (uint32_t)idset_count (own->gpus) : 0,
                                 .memory_mib = own->memory_mib,
                                 .gres = &own->gres };
}

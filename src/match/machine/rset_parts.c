/* rset_parts.c - joins and cuts Rs, for a malleable job that grows and shrinks, and finds
 * the ranks of a component
 */
#include <stdlib.h>
#include <string.h>

#include "match/machine/rset.h"

static int copy_rank (struct rset_rank *to, const struct rset_rank *from)
{
    to->node_index = from->node_index;
    to->memory_mib = from->memory_mib;
    to->slots = from->slots;
    to->exclusive = from->exclusive;
    to->component = from->component;
    to->node = strdup (from->node);
    to->gpu_type = from->gpu_type ? strdup (from->gpu_type) : NULL;
    if (!to->node || (from->gpu_type && !to->gpu_type)
        || idset_add_all (to->cores, from->cores) < 0
        || idset_add_all (to->gpus, from->gpus) < 0
        || gres_copy (&to->gres, &from->gres) < 0)
        return -1;
    return 0;
}

struct rset *rset_join (const struct rset *a, const struct rset *b)
{
    size_t more = b ? b->nranks : 0;
    struct rset *r = rset_create (a->nranks + more);
    int rc = r ? 0 : -1;

    for (size_t i = 0; i < a->nranks && rc == 0; i++)
        rc = copy_rank (&r->ranks[i], &a->ranks[i]);
    for (size_t i = 0; i < more && rc == 0; i++)
        rc = copy_rank (&r->ranks[a->nranks + i], &b->ranks[i]);
    if (rc < 0) {
        rset_destroy (r);
        return NULL;
    }
    r->starttime = a->starttime;
    r->expiration = a->expiration;
    return r;
}

struct rset *rset_first (const struct rset *r, size_t nranks)
{
    struct rset part = *r;

    part.nranks = nranks < r->nranks ? nranks : r->nranks;
    return rset_join (&part, NULL);
}

size_t rset_component (const struct rset *r, size_t component, size_t *first)
{
    size_t n = 0;

    *first = 0;
    for (size_t i = 0; i < r->nranks; i++) {
        if (r->ranks[i].component != component)
            continue;
        if (n++ == 0)
            *first = i;
    }
    return n;
}

/* rset.h - the resources of a job: R version 1 (RFC 20)
 *
 *     struct rset *r;                                   // from match_allocate()
 *     for (size_t i = 0; i < r->nranks; i++)
 *         r->ranks[i].node ...                          // i is the job's own rank
 *     char *text = rset_encode (r);                     // JSON, caller frees
 *     struct rset *again = rset_decode (text, len, &err);
 *
 * The order is the job's: element 0 is the job's rank 0. "execution.R_lite" has rank (the
 * node's index in the graph) and the core and gpu idsets; nodelist has the names in the
 * order of ranks. The free-form "scheduling" key has, under "fluxq", what RFC 20 has no
 * place for: memory, generic resources (with parts of CPUs as GRES_CPU_MILLI), slots,
 * exclusive, components, the type of the GPUs, and the job's order if it differs.
 * decode(encode(r)) equals r (times to a
 * microsecond).
 */
#pragma once

#include "common/gres.h"
#include "common/idset.h"

struct rset_rank {
    char *node;          /* name */
    int node_index;      /* in the graph when matched */
    struct idset *cores; /* never NULL, may be empty */
    struct idset *gpus;
    char
        *gpu_type; /* of the gpus (gputype.h); NULL: there are none, or it is not known */
    int64_t memory_mib;
    struct gres_list gres;
    uint32_t slots; /* task slots on this node */
    bool exclusive; /* the whole node */
    uint16_t component; /* of a heterogeneous job, else 0; ascends with the ranks */
};

struct rset {
    struct rset_rank *ranks;
    size_t nranks;
    double starttime;  /* unix time */
    double expiration; /* unix time, 0: none */
};

/* n ranks with empty idsets and no name; NULL: no memory. */
struct rset *rset_create (size_t nranks);
void rset_destroy (struct rset *r);
/* Returns compact JSON that the caller frees; NULL: no memory, or R cannot express the
 * set: no ranks, or a node twice. */
char *rset_encode (const struct rset *r);
/* As rset_encode(), as a JSON value, a new reference: an alloc event's "R". */
json_t *rset_to_json (const struct rset *r);
/* Decodes R; NULL with a reason. Accepts the R of other programs: without fluxq's
 * "scheduling" a rank has one slot, no memory and is shared. */
struct rset *rset_decode (const char *text, size_t len, struct error *err);
struct rset *rset_from_json (const json_t *root, struct error *err);
/* Return copies that the caller owns; NULL: no memory. rset_join(): all ranks of a, then
 * those of b (NULL: none), with the times of a. rset_first(): the first nranks of r. */
struct rset *rset_join (const struct rset *a, const struct rset *b);
struct rset *rset_first (const struct rset *r, size_t nranks);
/* Number of ranks of that component of a heterogeneous job, and the first of them. */
size_t rset_component (const struct rset *r, size_t component, size_t *first);
char *rset_nodelist (const struct rset *r); /* RFC 29, in job order; caller frees */
uint32_t rset_slots (const struct rset *r); /* over all ranks */
uint32_t rset_cores (const struct rset *r); /* includes parts of CPUs, the total rounded
                                             * up */
int64_t
rset_cpu_milli (const struct rset *r); /* in thousandths, if r has parts of CPUs; else
                                        * 0 */
int64_t
rset_rank_cpu_milli (const struct rset_rank *rank); /* its cores, or its parts of CPUs */

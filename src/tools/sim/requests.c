/* requests.c - see requests.h */
#include "tools/sim/requests.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define IDLE_MAX 1024

struct known {
    struct request request; /* must be first: the callers' pointer */
    struct job_size size;
    unsigned refs;
    char *never;
    struct match_request *req;
    UT_hash_handle hh;
};

struct requests {
    struct matcher *m;
    struct known *known;
    size_t idle; /* without references */
};

struct requests *requests_create (struct matcher *m)
{
    struct requests *all = calloc (1, sizeof (*all));
    if (all)
        all->m = m;
    return all;
}

static void forget (struct requests *all, struct known *k)
{
    HASH_DELETE (hh, all->known, k);
    match_request_destroy (k->req);
    free (k->never);
    free (k);
}

void requests_destroy (struct requests *all)
{
    struct known *k, *next;

    if (!all)
        return;
    HASH_ITER (hh, all->known, k, next)
        forget (all, k);
    free (all);
}

/* -- a size as a jobspec's resources -- */

static struct jobspec_resource vertex (const char *type, uint32_t min, uint32_t max)
{
    return (struct jobspec_resource){ .type = (char *)type,
                                      .count = { min, max, '+', 1 },
                                      .exclusive = JOBSPEC_UNSET };
}

/* [node >] slot > core, gpu, memory */
static struct match_request *compile (const struct job_size *size, json_t *constraints,
                                      struct error *err)
{
    struct jobspec_resource inner[3], slot, node;
    size_t n = 0;

    inner[n++] = vertex ("core", size->cores, size->cores);
    if (size->gpus > 0)
        inner[n++] = vertex ("gpu", size->gpus, size->gpus);
    if (size->memory_mib > 0) {
        inner[n] = vertex ("memory", size->memory_mib, size->memory_mib);
        inner[n++].unit = (char *)"MiB";
    }
    slot = vertex ("slot", size->slots_min, size->slots_max);
    slot.label = (char *)"task";
    slot.with = inner;
    slot.nwith = n;
    node = vertex ("node", size->nodes_min, size->nodes_max);
    node.exclusive = size->exclusive ? JOBSPEC_TRUE : JOBSPEC_UNSET;
    node.with = &slot;
    node.nwith = 1;
    const struct jobspec js = { .resources = size->nodes_min > 0 ? &node : &slot,
                                .nresources = 1,
                                .constraints = constraints };
    return match_request_create (&js, err);
}

struct match_request *requests_more (const struct job_size *size, uint32_t n,
                                     const char *but)
{
    autojson json_t *not = json_pack ("{s:[{s:[s]}]}", "not", "hostlist", but ? but : "");
    struct job_size one = *size;
    struct error why = { 0 };

    one.nodes_min = one.nodes_max = n;
    return not &&but ? compile (&one, not, &why) : NULL;
}

/* -- the table -- */

static struct known *make (struct requests *all, const struct job_size *size)
{
    struct known *k = calloc (1, sizeof (*k));
    struct error why = { 0 };

    if (!k)
        return NULL;
    k->size = *size;
    k->req = compile (size, NULL, &why);
    if (k->req && match_satisfiability (all->m, k->req, &why) == 0)
        return k;
    if (why.code != ENOMEM && (k->never = strdup (why.text)))
        return k;
    match_request_destroy (k->req);
    free (k);
    return NULL;
}

struct request *requests_get (struct requests *all, const struct job_size *size)
{
    struct known *k;

    HASH_FIND (hh, all->known, size, sizeof (*size), k);
    if (k) {
        all->idle -= k->refs++ == 0;
        return &k->request;
    }
    if (!(k = make (all, size)))
        return NULL;
    k->refs = 1;
    k->request = (struct request){ k->req, k->never };
    HASH_ADD (hh, all->known, size, sizeof (k->size), k);
    if (k->hh.tbl)
        return &k->request;
    match_request_destroy (k->req);
    free (k->never);
    free (k);
    return NULL;
}

void requests_put (struct requests *all, struct request *rq)
{
    struct known *k = (struct known *)rq;

    if (--k->refs > 0)
        return;
    if (all->idle >= IDLE_MAX)
        forget (all, k);
    else
        all->idle++;
}

/* gather.c - collects the parts of a fence on its first node, see gather.h */
#include "pmix/gather.h"

#define FENCES_MAX 1024

struct fence {
    struct fence *next;
    uint64_t id;
    bool entered; /* the tasks of this node are in; else only parts have come */
    bool *nodes;  /* [nnodes] has tasks in the fence */
    bool *has;    /* [nnodes] its part is here */
    uint32_t first, nnodes, nparts;
    struct strbuf data;
    pmix_modex_cbfunc_t done;
    void *arg;
};

/* The number of fences that a set of tasks was in. */
struct count {
    struct count *next;
    uint64_t hash;
    uint64_t n;
};

struct gathers {
    const struct taskplaces *places;
    uint32_t node;
    struct parcels *parcels;
    struct fence *fences;
    uint32_t n;
    struct count *counts;
};

struct gathers *gathers_create (const struct taskplaces *places, uint32_t node,
                                struct parcels *parcels)
{
    struct gathers *g = calloc (1, sizeof (*g));

    if (g)
        *g = (struct gathers){ .places = places, .node = node, .parcels = parcels };
    return g;
}

static void free_fence (struct gathers *g, struct fence *f)
{
    struct fence **at = &g->fences;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    g->n--;
    strbuf_release (&f->data);
    free (f->nodes);
    free (f->has);
    free (f);
}

void gathers_destroy (struct gathers *g)
{
    while (g && g->fences)
        free_fence (g, g->fences);
    while (g && g->counts) {
        struct count *c = g->counts;
        g->counts = c->next;
        free (c);
    }
    free (g);
}

static uint64_t hash_step (uint64_t hash, uint64_t n)
{
    for (int i = 0; i < 8; i++, n >>= 8)
        hash = (hash ^ (n & 0xff)) * UINT64_C (0x100000001b3);
    return hash;
}

/* The id of the next fence of these tasks. 0: no memory. */
static uint64_t next_id (struct gathers *g, const uint32_t *tasks, size_t n)
{
    uint64_t hash = UINT64_C (0xcbf29ce484222325);
    struct count *c = g->counts;

    for (size_t i = 0; i < n; i++)
        hash = hash_step (hash, tasks[i]);
    while (c && c->hash != hash)
        c = c->next;
    if (!c) {
        if (!(c = calloc (1, sizeof (*c))))
            return 0;
        *c = (struct count){ .next = g->counts, .hash = hash };
        g->counts = c;
    }
    return hash_step (hash, ++c->n) | 1;
}

static struct fence *find (struct gathers *g, uint64_t id)
{
    struct fence *f = g->fences;

    while (f && f->id != id)
        f = f->next;
    if (f || g->n == FENCES_MAX || !(f = calloc (1, sizeof (*f))))
        return f;
    *f = (struct fence){ .next = g->fences,
                         .id = id,
                         .nodes = calloc (g->places->nnodes, sizeof (bool)),
                         .has = calloc (g->places->nnodes, sizeof (bool)) };
    strbuf_init (&f->data, PARCEL_MAX);
    g->fences = f;
    g->n++;
    if (f->nodes && f->has)
        return f;
    free_fence (g, f);
    return NULL;
}

/* Ends the fence for the tasks here. */
static void complete (struct gathers *g, struct fence *f, pmix_status_t status)
{
    size_t len = status == PMIX_SUCCESS ? f->data.len : 0;
    char *data = len > 0 ? malloc (len) : NULL;

    if (data)
        memcpy (data, f->data.buf, len);
    else if (len > 0)
        status = PMIX_ERR_NOMEM;
    if (f->done)
        f->done (status, data, data ? len : 0, f->arg, free, data);
    else
        free (data);
    free_fence (g, f);
}

/* On the first node: sends all parts back when they are here. */
static void check (struct gathers *g, struct fence *f)
{
    if (!f->entered || f->first != g->node || f->nparts < f->nnodes)
        return;
    for (uint32_t node = 0; node < g->places->nnodes; node++)
        if (f->nodes[node] && node != g->node)
            parcels_send (g->parcels, node, PARCEL_WHOLE, f->id, f->data.buf,
                          f->data.len);
    complete (g, f, PMIX_SUCCESS);
}

static int add_part (struct fence *f, uint32_t node, const char *data, size_t len)
{
    if (f->has[node])
        return -EPROTO;
    f->has[node] = true;
    f->nparts++;
    return strbuf_add (&f->data, data, len);
}

static void set_nodes (struct gathers *g, struct fence *f, const uint32_t *tasks,
                       size_t n)
{
    f->first = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t node = g->places->node_of[tasks[i]];
        f->nnodes += !f->nodes[node];
        f->nodes[node] = true;
        f->first = MIN (f->first, node);
    }
}

int gathers_enter (struct gathers *g, const uint32_t *tasks, size_t n, const char *data,
                   size_t len, pmix_modex_cbfunc_t done, void *arg)
{
    uint64_t id = next_id (g, tasks, n);
    struct fence *f = id ? find (g, id) : NULL;

    if (!f)
        return -ENOMEM;
    f->entered = true;
    f->done = done;
    f->arg = arg;
    set_nodes (g, f, tasks, n);
    if (f->first != g->node) {
        parcels_send (g->parcels, f->first, PARCEL_PART, id, data, len);
        return 0;
    }
    int rc = add_part (f, g->node, data, len);
    if (rc < 0)
        free_fence (g, f);
    else
        check (g, f);
    return rc;
}

int gathers_part (struct gathers *g, const struct parcel *parcel)
{
    struct fence *f = find (g, parcel->id);
    int rc = f ? add_part (f, parcel->node, parcel->data, parcel->len) : -ENOMEM;

    if (rc == 0)
        check (g, f);
    return rc;
}

int gathers_whole (struct gathers *g, const struct parcel *parcel)
{
    struct fence *f = g->fences;

    while (f && (f->id != parcel->id || !f->entered || f->first != parcel->node))
        f = f->next;
    if (!f)
        return -EPROTO;
    int rc = strbuf_add (&f->data, parcel->data, parcel->len);
    complete (g, f, rc < 0 ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
    return rc;
}

void gathers_node_ended (struct gathers *g, uint32_t node)
{
    for (struct fence *f = g->fences, *next; f; f = next) {
        next = f->next;
        if (f->entered && f->nodes[node] && !f->has[node]
            && (f->first == g->node || f->first == node))
            complete (g, f, PMIX_ERR_LOST_CONNECTION);
    }
}

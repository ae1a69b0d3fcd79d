/* machine_size.c - the size of a node, and the part that no job gets
 *
 * The leaves of a node are a group of cores, a group of gpus, its memory and a pool for
 * each of its generic resources. Foreign use is withheld: units as drained, the highest
 * free ones first; of memory and the pools an amount. Withheld units are chosen among the
 * free ones, so they are chosen again when a job has ended. If a node shrank below what
 * is booked, the excess counts as foreign use, too: a node of 4 cores whose cores 4 to 7
 * are busy has nothing left.
 *
 * The pool of parts of CPUs is another of these leaves, as large as all cores. Its
 * foreign use is withheld to a thousandth, and of the cores as many as that touches: so
 * whenever the pool has enough for a job's cores, their ids are available, too.
 */
#include <errno.h>
#include <string.h>

#include "match/machine/machine_private.h"

/* -- sizes -- */

/* "rdma_hca" for "rdma/hca": names are parts of paths. */
static const char *base_of (const char *type, char buf[GRES_NAME_MAX + 1])
{
    snprintf (buf, GRES_NAME_MAX + 1, "%s", type);
    for (char *c = buf; (c = strpbrk (c, "/:"));)
        *c = '_';
    return buf;
}

static int leaf_add (struct machine *g, const struct machine_node *n, uint32_t *leaf,
                     const char *type, uint32_t count, int64_t size, struct error *err)
{
    bool memory = leaf == &n->memory, units = leaf == &n->core || leaf == &n->gpu;
    char base[GRES_NAME_MAX + 1];
    struct graph_spec spec = { .type = type,
                               .basename = base_of (type, base),
                               .unit = memory ? "MiB" : NULL,
                               .count = count,
                               .size = size,
                               .rank = n->index,
                               .uniq = -1,
                               .flags = units ? 0 : GRAPH_DIVISIBLE,
                               .leaf = true };
    *leaf = graph_add (g->graph, n->v, &spec, err);
    if (*leaf == GRAPH_NONE && err->code == EEXIST) { /* "a/b" beside "a_b" */
        spec.basename = "gres#";
        spec.id = g->renamed++;
        *leaf = graph_add (g->graph, n->v, &spec, err);
    }
    if (*leaf == GRAPH_NONE)
        return err->code ? -err->code : -ENOMEM;
    machine_changed (g, n->v);
    return 0;
}

/* Drops the leaf, now or when nothing of it is booked. */
static int leaf_drop (struct machine *g, uint32_t *leaf, struct error *err)
{
    uint32_t node = graph_vertex (g->graph, *leaf)->parent;
    int rc = graph_remove (g->graph, *leaf, NULL);

    if (rc == 0)
        *leaf = GRAPH_NONE;
    else if ((rc = graph_set_leaving (g->graph, *leaf, true)) < 0)
        return error_set (err, ENOMEM, "out of memory");
    machine_changed (g, node);
    return 0;
}

static int leaf_resize (struct machine *g, const struct machine_node *n, uint32_t *leaf,
                        const char *type, uint32_t count, int64_t size, struct error *err)
{
    if (*leaf == GRAPH_NONE)
        return count ? leaf_add (g, n, leaf, type, count, size, err) : 0;
    if (count == 0)
        return leaf_drop (g, leaf, err);
    if (graph_is_leaving (g->graph, *leaf)) {
        graph_set_leaving (g->graph, *leaf, false);
        machine_changed (g, *leaf);
    }
    int rc = graph_resize (g->graph, *leaf, count, size, err);
    machine_changed (g, *leaf);
    return rc;
}

/* Removes pools that no longer have a vertex. */
static void pools_drop_gone (struct machine_node *n)
{
    size_t left = 0;

    for (size_t i = 0; i < n->npools; i++) {
        if (n->pools[i].v == GRAPH_NONE)
            free (n->pools[i].name);
        else
            n->pools[left++] = n->pools[i];
    }
    n->npools = left;
}

int node_resize (struct machine *g, struct machine_node *n,
                 const struct machine_amounts *size, struct error *err)
{
    struct error why = { 0 };
    int rc = leaf_resize (g, n, &n->core, "core", size->cores, 1, &why);

    if (rc == 0)
        rc = leaf_resize (g, n, &n->gpu, "gpu", size->gpus, 1, &why);
    if (rc == 0)
        rc = leaf_resize (g, n, &n->memory, "memory", size->memory > 0, size->memory,
                          &why);
    if (rc < 0)
        return error_set (err, -rc, "node %s: %s", n->name, why.text);
    n->size = *size;
    return 0;
}

static void leaf_tidy (struct machine *g, const struct machine_node *n, uint32_t *leaf)
{
    if (*leaf == GRAPH_NONE || !graph_is_leaving (g->graph, *leaf)
        || graph_remove (g->graph, *leaf, NULL) < 0)
        return;
    *leaf = GRAPH_NONE;
    machine_changed (g, n->v);
}

void node_tidy (struct machine *g, struct machine_node *n)
{
    uint32_t *leaves[] = { &n->core, &n->gpu, &n->memory };

    for (size_t i = 0; i < ARRAY_SIZE (leaves); i++)
        leaf_tidy (g, n, leaves[i]);
    for (size_t i = 0; i < n->npools; i++)
        leaf_tidy (g, n, &n->pools[i].v);
    pools_drop_gone (n);
}

/* -- generic resources -- */

static struct machine_pool *pool_find (const struct machine_node *n, const char *name)
{
    for (size_t i = 0; i < n->npools; i++)
        if (!strcmp (n->pools[i].name, name))
            return &n->pools[i];
    return NULL;
}

uint32_t node_pool (const struct machine_node *n, const char *name)
{
    const struct machine_pool *pool = pool_find (n, name);

    return pool ? pool->v : GRAPH_NONE;
}

static int pool_append (struct machine_node *n, const char *name)
{
    struct machine_pool *pools = realloc (n->pools, (n->npools + 1) * sizeof (*pools));

    if (!pools)
        return -ENOMEM;
    n->pools = pools;
    if (!(pools[n->npools].name = strdup (name)))
        return -ENOMEM;
    pools[n->npools++].v = GRAPH_NONE;
    return 0;
}

/* Gives each resource a pool of its size. */
static int pools_resize (struct machine *g, struct machine_node *n,
                         const struct gres_list *gres, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < gres->n && rc == 0; i++)
        if (!pool_find (n, gres->v[i].name))
            rc = pool_append (n, gres->v[i].name);
    for (size_t i = 0; i < n->npools && rc == 0; i++) {
        struct machine_pool *pool = &n->pools[i];
        int64_t size = gres_get (gres, pool->name);
        rc = leaf_resize (g, n, &pool->v, pool->name, size > 0, size, err);
    }
    pools_drop_gone (n);
    return rc;
}

/* Copies the resources of a spec; the pool of CPUs, if there is one, gets the size of the
 * cores. */
static int copy_gres (const struct machine *g, const struct machine_node *n,
                      const struct gres_list *gres, struct gres_list *ret)
{
    int rc = gres_copy (ret, gres);

    if (rc == 0 && (g->divides_cpus || gres_get (gres, GRES_CPU_MILLI) > 0))
        rc = gres_set (ret, GRES_CPU_MILLI, CPU_MILLI * (int64_t)n->size.cores);
    if (rc < 0)
        gres_release (ret);
    return rc;
}

int node_set_gres (struct machine *g, struct machine_node *n,
                   const struct gres_list *gres, struct error *err)
{
    static const struct gres_list none = { 0 };
    struct error why = { 0 };
    struct gres_list copy;

    gres = gres ? gres : &none;
    if (gres->n == 0 && n->npools == 0 && !g->divides_cpus)
        return 0;
    if (copy_gres (g, n, gres, &copy) < 0)
        return error_set (err, ENOMEM, "node %s: out of memory", n->name);
    int rc = pools_resize (g, n, &copy, &why);
    if (rc < 0) {
        gres_release (&copy);
        return error_set (err, -rc, "node %s: %s", n->name,
                          why.code ? why.text : "out of memory");
    }
    gres_release (&n->gres);
    n->gres = copy;
    return 0;
}

/* -- units, 64 at a time -- */

static uint32_t count_bits (uint64_t word)
{
    return (uint32_t)__builtin_popcountll (word);
}

static uint32_t words_of (const struct graph *g, uint32_t v)
{
    return v == GRAPH_NONE ? 0 : (graph_vertex (g, v)->n + 63) / 64;
}

static uint32_t units_used (const struct graph *g, uint32_t v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < words_of (g, v); i++)
        n += count_bits (graph_busy_word (graph_vertex (g, v), i));
    return n;
}

static uint32_t units_free (const struct graph *g, uint32_t v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < words_of (g, v); i++)
        n += count_bits (graph_ever_word (g, v, i) & ~graph_down_word (g, v, i)
                         & ~graph_busy_word (graph_vertex (g, v), i));
    return n;
}

int64_t pool_used (const struct graph *g, uint32_t v)
{
    return v == GRAPH_NONE ? 0 : graph_vertex (g, v)->used;
}

uint32_t leaf_unbooked (const struct graph *g, uint32_t v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < words_of (g, v); i++)
        n += count_bits (graph_ever_word (g, v, i)
                         & ~graph_busy_word (graph_vertex (g, v), i));
    return n;
}

struct machine_amounts node_used (const struct machine *g, const struct machine_node *n)
{
    struct machine_amounts used = { 0 };
    struct node_leaves l;

    for (size_t i = 0; node_leaves_at (n, i, &l); i++) {
        used.cores += units_used (g->graph, l.core);
        used.gpus += units_used (g->graph, l.gpu);
        used.memory += pool_used (g->graph, l.memory);
    }
    return used;
}

int64_t pool_free (const struct graph *g, uint32_t v)
{
    if (v == GRAPH_NONE || !graph_is_up (g, v, 0))
        return 0;
    const struct graph_vertex *x = graph_vertex (g, v);
    return MAX (x->size - x->used - graph_withheld (g, v), 0);
}

struct machine_amounts node_left (const struct machine *g, const struct machine_node *n)
{
    struct machine_amounts left = { 0 };
    struct node_leaves l;

    for (size_t i = 0; node_leaves_at (n, i, &l); i++) {
        left.cores += units_free (g->graph, l.core);
        left.gpus += units_free (g->graph, l.gpu);
        left.memory += pool_free (g->graph, l.memory);
    }
    return left;
}

/* -- withholding -- */

/* Returns the highest bits, at most `n` of them. */
static uint64_t highest (uint64_t word, uint32_t n)
{
    uint64_t taken = 0;

    for (; word && n > 0; n--) {
        uint64_t bit = UINT64_C (1) << (63 - __builtin_clzll (word));
        taken |= bit;
        word ^= bit;
    }
    return taken;
}

static int flag_units (struct machine *g, uint32_t v, uint32_t i, uint64_t change,
                       uint64_t want)
{
    for (; change; change &= change - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll (change);
        int rc =
            graph_set_flag (g->graph, v, 64 * i + bit, GRAPH_DRAINED, want >> bit & 1);
        if (rc < 0)
            return rc;
        if (want >> bit & 1)
            machine_lost (g, v);
        else
            machine_changed (g, v);
    }
    return 0;
}

static int withhold_units (struct machine *g, uint32_t v, uint32_t foreign)
{
    uint32_t words = words_of (g->graph, v);
    uint64_t left = foreign;

    if (words == 0 || graph_is_leaving (g->graph, v))
        return 0;
    for (uint32_t i = 0; i < words; i++)
        left += count_bits (graph_busy_word (graph_vertex (g->graph, v), i)
                            & ~graph_ever_word (g->graph, v, i));
    for (uint32_t i = words; i-- > 0;) {
        uint64_t ever = graph_ever_word (g->graph, v, i);
        uint64_t free = ever & ~graph_busy_word (graph_vertex (g->graph, v), i);
        uint64_t want = highest (free, (uint32_t)MIN (left, 64));
        uint64_t have = graph_down_word (g->graph, v, i) & ever;
        int rc = flag_units (g, v, i, want ^ have, want);
        if (rc < 0)
            return rc;
        left -= count_bits (want);
    }
    return 0;
}

static int withhold_pool (struct machine *g, uint32_t v, int64_t foreign)
{
    if (v == GRAPH_NONE || graph_is_leaving (g->graph, v))
        return 0;
    const struct graph_vertex *x = graph_vertex (g->graph, v);
    int64_t amount = MIN (foreign, MAX (x->size - x->used, 0));
    int64_t was = graph_withheld (g->graph, v);
    if (amount == was)
        return 0;
    int rc = graph_set_withheld (g->graph, v, amount);
    if (amount > was)
        machine_lost (g, v);
    else
        machine_changed (g, v);
    return rc;
}

int leaves_withhold (struct machine *g, const struct node_leaves *l,
                     const struct machine_amounts *foreign)
{
    int rc = withhold_units (g, l->core, foreign->cores);

    if (rc == 0)
        rc = withhold_units (g, l->gpu, foreign->gpus);
    return rc == 0 ? withhold_pool (g, l->memory, foreign->memory) : rc;
}

/* True if units are kept that were to be removed. */
static bool has_surplus (const struct machine *g, uint32_t v, uint32_t size)
{
    return v != GRAPH_NONE && graph_vertex (g->graph, v)->n > size;
}

int node_withhold (struct machine *g, struct machine_node *n)
{
    bool any = n->foreign.cores > 0 || n->foreign.gpus > 0 || n->foreign.memory > 0
               || n->gres_foreign.n > 0 || has_surplus (g, n->core, n->size.cores)
               || has_surplus (g, n->gpu, n->size.gpus);

    if (!any && !n->withheld && !zones_are_there (n))
        return 0;
    n->withheld = true;
    struct node_leaves own = { n->core, n->gpu, n->memory };
    int rc = leaves_withhold (g, &own, &n->foreign);
    for (size_t i = 0; i < n->npools && rc == 0; i++)
        rc = withhold_pool (g, n->pools[i].v,
                            gres_get (&n->gres_foreign, n->pools[i].name));
    if (rc == 0)
        rc = zones_withhold (g, n);
    if (rc == 0)
        n->withheld = any;
    return rc;
}

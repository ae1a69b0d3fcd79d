/* graph_size.c - the number of units of a vertex, and their size
 *
 * A group that shrinks while its last units are busy keeps them as down, and stores the
 * new number in `own.want`.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

/* There are no more handles than units, so this bounds both. */
int units_check (const struct graph *g, uint32_t more, struct error *err)
{
    if (g->p->units + more <= GRAPH_VERTICES_MAX)
        return 0;
    return error_set (err, E2BIG, "more than %u vertices", GRAPH_VERTICES_MAX);
}

void units_count (struct graph *g, uint16_t type, int64_t more)
{
    g->p->types[type].count += (uint64_t)more;
    g->p->units += (uint64_t)more;
    g->layout++;
}

uint64_t graph_unit_count (const struct graph *g)
{
    return g->p->units;
}

uint64_t graph_type_count (const struct graph *g, uint16_t type)
{
    return type < g->p->ntypes ? g->p->types[type].count : 0;
}

size_t graph_memory (const struct graph *g)
{
    const struct graph_private *p = g->p;
    size_t slots =
        p->kids.size + p->nodes.heads.size + p->ranks.heads.size + p->type_names.size;
    size_t links = (size_t)p->nodes.nlinks + p->ranks.nlinks;
    return sizeof (*g) + sizeof (*p) + g->alloc * sizeof (*g->v) + p->heap
           + slots * sizeof (struct table_slot) + links * sizeof (struct roster_link)
           + p->types_alloc * sizeof (*p->types) + shared_memory (p) + own_memory (p)
           + edges_memory (p) + further_memory (p);
}

/* -- the map of busy units -- */

uint64_t *map_create (struct graph *g, uint32_t n)
{
    uint64_t *map = calloc (words_of (n), sizeof (*map));
    if (map)
        g->p->heap += words_of (n) * sizeof (*map);
    return map;
}

void map_release (struct graph_vertex *x)
{
    if (x->n > 64)
        free (x->busy.map);
}

/* For n units, more than now; the caller then sets x->n to n. */
static int map_grow (struct graph *g, uint32_t v, uint32_t n)
{
    struct graph_vertex *x = graph_vertex (g, v);
    size_t had = words_of (x->n), need = words_of (n);
    if (n <= 64 || (x->n > 64 && need == had))
        return 0;
    uint64_t *map = realloc (x->n > 64 ? x->busy.map : NULL, need * sizeof (*map));
    if (!map)
        return -ENOMEM;
    if (x->n <= 64)
        map[0] = x->busy.bits;
    memset (map + had, 0, (need - had) * sizeof (*map));
    g->p->heap += (need - (x->n > 64 ? had : 0)) * sizeof (*map);
    x->busy.map = map;
    return 0;
}

void map_cut (struct graph *g, uint32_t v, uint32_t n)
{
    struct graph_vertex *x = graph_vertex (g, v);
    if (x->n <= 64)
        return;
    uint64_t *map = x->busy.map;
    size_t keep = n > 64 ? words_of (n) : 0;
    g->p->heap -= (words_of (x->n) - keep) * sizeof (*map);
    if (keep) {
        uint64_t *less = realloc (map, keep * sizeof (*map));
        x->busy.map = less ? less : map;
        return;
    }
    x->busy.bits = map[0];
    free (map);
}

/* One more than the number of the last busy unit; 0: none is busy. */
static uint32_t busy_end (const struct graph_vertex *x)
{
    const uint64_t *words = x->n > 64 ? x->busy.map : &x->busy.bits;
    for (size_t i = words_of (x->n); i-- > 0;) {
        if (words[i])
            return (uint32_t)(64 * i) + 64 - (uint32_t)__builtin_clzll (words[i]);
    }
    return 0;
}

/* -- more and fewer units -- */

int group_grow (struct graph *g, uint32_t v, uint32_t n, int64_t uniq)
{
    struct graph_vertex *x = graph_vertex (g, v);
    if (names_reserve_group (g) < 0 || own_grow (g, v, n) < 0)
        return -ENOMEM;
    names_unlist (g, v);
    int rc = map_grow (g, v, n);
    if (rc == 0) {
        units_count (g, x->type, (int64_t)n - x->n);
        x->n = n;
        x->uniq = uniq;
        g->p->next_uniq = MAX (g->p->next_uniq, uniq + n);
    }
    names_list (g, v);
    return rc;
}

void group_cut (struct graph *g, uint32_t v, uint32_t n)
{
    struct graph_vertex *x = graph_vertex (g, v);
    names_unlist (g, v);
    map_cut (g, v, n);
    units_count (g, x->type, (int64_t)n - x->n);
    x->n = n;
    own_cut (g, v, n);
    names_list (g, v);
    if (x->flags & GRAPH_OWN_EDGES)
        edges_cut (g);
}

void graph_trim (struct graph *g, uint32_t v)
{
    struct graph_vertex *x = graph_vertex (g, v);
    const struct own *own = own_find (g, v);
    if (!own || !own->want || x->nreserved > 0)
        return;
    uint32_t n = MAX (own->want, busy_end (x));
    if (n < x->n)
        group_cut (g, v, n);
    if (n == own->want)
        own_want (g, v, 0);
}

static int refuse_size (const struct graph *g, uint32_t v, uint32_t count,
                        struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };
    const struct graph_vertex *x = graph_vertex (g, v);
    const char *bar = x->parent == GRAPH_NONE            ? "it is the root"
                      : x->type == GRAPH_NODE            ? "it is a node"
                      : x->flags & GRAPH_DIVISIBLE       ? "it is divisible"
                      : !graph_is_leaf (g, v)            ? "it has children"
                      : x->flags & GRAPH_FURTHER_PARENTS ? "it has several parents"
                      : title_of (g, v).id < 0           ? "it has a name of its own"
                                                         : NULL;
    if (count <= 1 || !bar)
        return 0;
    return error_set (err, EINVAL, "%s cannot be %u: %s", names_path (g, v, &sb), count,
                      bar);
}

static int resize_up (struct graph *g, uint32_t v, uint32_t count, struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };
    const struct graph_vertex *x = graph_vertex (g, v);
    struct title t = title_of (g, v);
    t.id += x->n;
    t.n = count - x->n;
    if (t.id + t.n - 1 > INT32_MAX)
        return error_set (err, EINVAL, "%s cannot be %u: ids end at %d",
                          names_path (g, v, &sb), count, INT32_MAX);
    if (units_check (g, t.n, err) < 0)
        return -E2BIG;
    uint32_t other =
        x->parent == GRAPH_NONE ? GRAPH_NONE : names_clash (g, x->parent, &t);
    if (other != GRAPH_NONE)
        return error_set (err, EEXIST, "%s has the name of a later unit",
                          names_path (g, other, &sb));
    bool free_after = x->uniq + x->n == g->p->next_uniq;
    if (group_grow (g, v, count, free_after ? x->uniq : g->p->next_uniq) < 0)
        return error_set (err, ENOMEM, "out of memory");
    graph_vertex (g, v)->flags |= GRAPH_OWN_LEAF;
    own_want (g, v, 0);
    return 0;
}

int graph_resize (struct graph *g, uint32_t v, uint32_t count, int64_t size,
                  struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };
    if (!graph_is_live (g, v))
        return error_set (err, EINVAL, "there is no vertex %u", v);
    struct graph_vertex *x = graph_vertex (g, v);
    if (count < 1 || count > GRAPH_UNITS_MAX || size < 1 || size > GRAPH_SIZE_MAX)
        return error_set (err, EINVAL, "%s cannot be %u of size %jd",
                          names_path (g, v, &sb), count, (intmax_t)size);
    if (size != x->size && !(x->flags & GRAPH_DIVISIBLE))
        return error_set (err, EINVAL, "%s cannot be of size %jd: it is not divisible",
                          names_path (g, v, &sb), (intmax_t)size);
    int rc = refuse_size (g, v, count, err);
    if (rc < 0)
        return rc;
    if (count > x->n && (rc = resize_up (g, v, count, err)) < 0)
        return rc;
    if (count < x->n && (rc = own_want (g, v, count)) < 0)
        return error_set (err, ENOMEM, "out of memory");
    if (count == x->n)
        own_want (g, v, 0);
    x->size = size;
    own_withhold_at_most (g, v, size);
    g->layout++;
    graph_trim (g, v);
    return 0;
}

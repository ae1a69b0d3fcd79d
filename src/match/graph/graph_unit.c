/* graph_unit.c - removes one unit from its group
 *
 *     core0 ... core17, without core7:   core0 ... core6   core8 ... core17
 *                                        (the old handle)  (a new one, the next sibling)
 *
 * Steps that can fail are done on the new vertex first, while the group is still whole;
 * no caller sees the names that stand for both in between.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

/* -- data of single units -- */

static int copy_status (struct graph *g, uint32_t v, uint32_t unit, uint32_t to,
                        uint32_t k)
{
    static const uint8_t flags[] = { GRAPH_DOWN, GRAPH_DRAINED };
    const struct own *own = own_find (g, v);
    int rc = 0;

    for (size_t i = 0; own && i < ARRAY_SIZE (flags) && rc == 0; i++) {
        const uint64_t *map = i == 0 ? own->down : own->drained;
        if (map && unit / 64 < own->nwords && (map[unit / 64] >> unit % 64 & 1)) {
            rc = graph_set_flag (g, to, k, flags[i], true);
            own = own_find (g, v);
        }
    }
    return rc;
}

/* Only for units with properties other than the group's. */
static int copy_properties (struct graph *g, uint32_t v, uint32_t unit, uint32_t to,
                            uint32_t k)
{
    const char *key, *value;
    int rc = 0;

    if (!own_set_find (g, v, unit))
        return 0;
    while (rc == 0 && graph_property_at (g, to, k, 0, &key, &value))
        rc = graph_set_property (g, to, k, key, NULL);
    for (size_t i = 0; rc == 0 && graph_property_at (g, v, unit, i, &key, &value); i++)
        rc = graph_set_property (g, to, k, key, value);
    return rc;
}

static int copy_paths (struct graph *g, uint32_t v, uint32_t unit, uint32_t to,
                       uint32_t k)
{
    const struct own *own = own_find (g, v);
    int rc = 0;

    for (size_t i = 0; own && i < own->npaths && rc == 0; i++) {
        const struct own_path *path = &own->paths[i];
        if (path->unit == unit)
            rc =
                graph_set_path_in (g, to, k, text_of (g->p, path->subsystem), path->path);
        own = own_find (g, v);
    }
    return rc;
}

static int copy_own (struct graph *g, uint32_t v, uint32_t from, uint32_t to)
{
    int rc = 0;

    if (!own_find (g, v))
        return 0;
    for (uint32_t k = 0; rc == 0 && k < graph_vertex (g, to)->n; k++) {
        rc = copy_status (g, v, from + k, to, k);
        if (rc == 0)
            rc = copy_properties (g, v, from + k, to, k);
        if (rc == 0)
            rc = copy_paths (g, v, from + k, to, k);
    }
    return rc;
}

/* -- the new vertex -- */

static void link_behind (struct graph *g, uint32_t v, uint32_t u)
{
    struct graph_vertex *x = graph_vertex (g, v), *y = graph_vertex (g, u);
    struct graph_vertex *up = graph_vertex (g, x->parent);

    y->prev = v;
    y->next = x->next;
    if (x->next != GRAPH_NONE)
        graph_vertex (g, x->next)->prev = u;
    else
        up->last = u;
    x->next = u;
    vertex_renumber (g, x->parent);
}

/* Makes units `from` and up of v a vertex of their own; v still has them, too. */
static uint32_t copy_units (struct graph *g, uint32_t v, uint32_t from)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    struct title t = title_of (g, v);
    uint32_t n = x->n - from, u;
    uint64_t *map = NULL;

    t.id += from;
    t.n = n;
    if (vertex_reserve (g) < 0)
        return GRAPH_NONE;
    x = graph_vertex (g, v);
    if (names_reserve (g, x->parent, &t, x->type, x->rank) < 0
        || (n > 64 && !(map = map_create (g, n))))
        return GRAPH_NONE;
    u = vertex_take (g);
    x = graph_vertex (g, v);
    struct graph_vertex *y = graph_vertex (g, u);
    *y = *x;
    y->flags &= (uint16_t)~GRAPH_OWN_UNITS;
    y->n = n;
    y->id += (int32_t)from;
    y->uniq += from;
    y->place = GRAPH_NONE;
    y->busy.bits = 0;
    if (map)
        y->busy.map = map;
    if (y->extra)
        g->p->extras.items[y->extra].refs++;
    link_behind (g, v, u);
    names_add (g, u);
    units_count (g, y->type, n);
    return u;
}

/* -- from outside -- */

static int check (const struct graph *g, uint32_t v, uint32_t unit, struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };

    if (!graph_is_live (g, v) || unit >= graph_vertex (g, v)->n)
        return error_set (err, EINVAL, "there is no unit %u of vertex %u", unit, v);
    const struct graph_vertex *x = graph_vertex (g, v);
    if (x->claims == GRAPH_NONE && x->nclaims == 0)
        return 0;
    return error_set (err, EBUSY, "%s is in use, or one of its group",
                      names_path (g, v, &sb));
}

int graph_remove_unit (struct graph *g, uint32_t v, uint32_t unit, struct error *err)
{
    int rc = check (g, v, unit, err);

    if (rc < 0 || graph_vertex (g, v)->n == 1)
        return rc < 0 ? rc : graph_remove (g, v, err);
    graph_trim (g, v); /* nothing is busy: units that were about to go are gone */
    if (unit >= graph_vertex (g, v)->n)
        return 0;
    if (unit + 1 < graph_vertex (g, v)->n) {
        uint32_t rest = copy_units (g, v, unit + 1);
        if (rest == GRAPH_NONE)
            return error_set (err, ENOMEM, "out of memory");
        if (copy_own (g, v, unit + 1, rest) < 0) {
            vertex_remove (g, rest);
            return error_set (err, ENOMEM, "out of memory");
        }
        if (graph_vertex (g, v)->flags & GRAPH_OWN_EDGES)
            edges_move (g, v, unit + 1, rest);
    }
    if (graph_vertex (g, v)->flags & GRAPH_OWN_EDGES)
        edges_drop (g, v, unit);
    if (unit == 0)
        vertex_remove (g, v);
    else
        group_cut (g, v, unit);
    return 0;
}

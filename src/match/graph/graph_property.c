/* graph_property.c - status and properties, of a vertex or of single units of a group
 *
 * A status that all units share is in graph_vertex.flags; properties that they share are
 * in the extra. Differences are in the vertex's struct own. A unit's own set of
 * properties is complete, not an addition to the shared set.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

/* -- status -- */

/* Existing units of word i. */
static uint64_t units_word (const struct graph_vertex *x, uint32_t i)
{
    uint64_t first = (uint64_t)i * 64;
    if (first >= x->n)
        return 0;
    return x->n - first >= 64 ? UINT64_MAX : (UINT64_C (1) << (x->n - first)) - 1;
}

/* Those of them that graph_resize() only keeps. */
static uint64_t surplus_word (const struct own *own, uint32_t i)
{
    uint64_t first = (uint64_t)i * 64;
    if (!own->want || own->want >= first + 64)
        return 0;
    return own->want <= first ? UINT64_MAX : UINT64_MAX << (own->want - first);
}

uint64_t graph_down_word (const struct graph *g, uint32_t v, uint32_t i)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    if (x->flags & (GRAPH_DOWN | GRAPH_DRAINED))
        return units_word (x, i);
    const struct own *own = own_find (g, v);
    if (!own)
        return 0;
    uint64_t word = surplus_word (own, i);
    if (own->down && i < own->nwords)
        word |= own->down[i];
    if (own->drained && i < own->nwords)
        word |= own->drained[i];
    return word & units_word (x, i);
}

uint64_t graph_ever_word (const struct graph *g, uint32_t v, uint32_t i)
{
    const struct own *own = own_find (g, v);
    uint64_t all = units_word (graph_vertex (g, v), i);
    if (!own)
        return all;
    return own->leaving ? 0 : all & ~surplus_word (own, i);
}

bool graph_is_up (const struct graph *g, uint32_t v, uint32_t unit)
{
    if (unit != GRAPH_NONE)
        return !(graph_down_word (g, v, unit / 64) >> unit % 64 & 1);
    for (uint32_t i = 0; (uint64_t)i * 64 < graph_vertex (g, v)->n; i++) {
        if (graph_down_word (g, v, i))
            return false;
    }
    return true;
}

/* All units alike. */
static void flag_all (struct graph *g, uint32_t v, uint8_t flag, bool on)
{
    struct graph_vertex *x = graph_vertex (g, v);
    struct own *own = own_find (g, v);
    uint64_t **bits = !own ? NULL : flag == GRAPH_DOWN ? &own->down : &own->drained;
    if (bits && *bits) {
        free (*bits);
        *bits = NULL;
        g->layout++;
        own_tidy (g, v);
    }
    if (!!(x->flags & flag) == on)
        return;
    x->flags ^= flag;
    g->layout++;
}

static int flag_unit (struct graph *g, uint32_t v, uint32_t unit, uint8_t flag, bool on)
{
    struct graph_vertex *x = graph_vertex (g, v);
    const struct own *own = own_find (g, v);
    const uint64_t *have = !own ? NULL : flag == GRAPH_DOWN ? own->down : own->drained;
    uint64_t bit = UINT64_C (1) << unit % 64;
    bool all = x->flags & flag;
    if (on == (all || (have && (have[unit / 64] & bit))))
        return 0;
    uint64_t *bits = own_bits (g, v, flag);
    if (!bits)
        return -ENOMEM;
    for (uint32_t i = 0; all && (uint64_t)i * 64 < x->n; i++)
        bits[i] = units_word (x, i);
    if (all)
        x->flags ^= flag;
    bits[unit / 64] ^= bit;
    own_cut (g, v, x->n); /* frees a map that became empty */
    own_tidy (g, v);
    g->layout++;
    return 0;
}

int graph_set_flag (struct graph *g, uint32_t v, uint32_t unit, uint8_t flag, bool on)
{
    if (!graph_is_live (g, v) || (flag != GRAPH_DOWN && flag != GRAPH_DRAINED))
        return -EINVAL;
    uint32_t n = graph_vertex (g, v)->n;
    if (unit != GRAPH_NONE && unit >= n)
        return -EINVAL;
    if (flag == GRAPH_DOWN && !on && graph_is_leaving (g, v))
        return -EINVAL;
    if (unit != GRAPH_NONE && n > 1)
        return flag_unit (g, v, unit, flag, on);
    flag_all (g, v, flag, on);
    return 0;
}

/* -- leaving vertices, and foreign use -- */

int graph_set_leaving (struct graph *g, uint32_t v, bool on)
{
    if (!graph_is_live (g, v))
        return -EINVAL;
    struct own *own = on ? own_get (g, v) : own_find (g, v);
    uint64_t layout = g->layout;
    if (on && !own)
        return -ENOMEM;
    if (!own || own->leaving == on)
        return 0;
    own->leaving = on;
    flag_all (g, v, GRAPH_DOWN, on);
    own_tidy (g, v);
    g->layout = layout + 1;
    return 0;
}

bool graph_is_leaving (const struct graph *g, uint32_t v)
{
    const struct own *own = own_find (g, v);
    return own && own->leaving;
}

int graph_set_withheld (struct graph *g, uint32_t v, int64_t amount)
{
    if (!graph_is_live (g, v) || !(graph_vertex (g, v)->flags & GRAPH_DIVISIBLE)
        || amount < 0 || amount > graph_vertex (g, v)->size)
        return -EINVAL;
    struct own *own = amount > 0 ? own_get (g, v) : own_find (g, v);
    if (amount > 0 && !own)
        return -ENOMEM;
    if (!own || own->withheld == amount)
        return 0;
    own->withheld = amount;
    own_tidy (g, v);
    g->layout++;
    return 0;
}

int64_t graph_withheld (const struct graph *g, uint32_t v)
{
    const struct own *own = own_find (g, v);
    return own ? own->withheld : 0;
}

/* -- properties -- */

static uint32_t set_in_use (const struct graph *g, uint32_t v, uint32_t unit)
{
    const struct own_set *own = unit == GRAPH_NONE ? NULL : own_set_find (g, v, unit);
    if (own)
        return own->properties;
    return extra_of (g->p, graph_vertex (g, v)->extra)->properties;
}

const char *graph_property (const struct graph *g, uint32_t v, uint32_t unit,
                            const char *key)
{
    return set_value (g->p, set_in_use (g, v, unit), key);
}

bool graph_property_at (const struct graph *g, uint32_t v, uint32_t unit, size_t i,
                        const char **ret_key, const char **ret_value)
{
    const struct property_set *s = set_of (g->p, set_in_use (g, v, unit));
    if (!s || i >= s->n)
        return false;
    *ret_key = text_of (g->p, s->pair[2 * i]);
    *ret_value = text_of (g->p, s->pair[2 * i + 1]);
    return true;
}

static int property_unit (struct graph *g, uint32_t v, uint32_t unit, const char *key,
                          const char *value)
{
    uint32_t old = set_in_use (g, v, unit), set;
    int rc = set_change (g->p, old, key, value, &set);
    if (rc < 0)
        return rc;
    if (set == old || (rc = own_set_put (g, v, unit, set)) < 0) {
        set_put (g->p, set);
        return rc;
    }
    own_sets_join (g, v, set_in_use (g, v, GRAPH_NONE));
    g->layout++;
    return 0;
}

/* Changes the sets of the units that have one; the caller frees *ret. */
static int sets_change (struct graph *g, const struct own *own, const char *key,
                        const char *value, uint32_t **ret)
{
    *ret = NULL;
    if (!own || own->nsets == 0)
        return 0;
    uint32_t *sets = malloc (own->nsets * sizeof (*sets));
    int rc = sets ? 0 : -ENOMEM;
    size_t n = 0;
    while (rc == 0 && n < own->nsets) {
        rc = set_change (g->p, own->sets[n].properties, key, value, &sets[n]);
        n += rc == 0;
    }
    if (rc == 0) {
        *ret = sets;
        return 0;
    }
    while (n > 0)
        set_put (g->p, sets[--n]);
    free (sets);
    return rc;
}

static int property_all (struct graph *g, uint32_t v, const char *key, const char *value)
{
    struct graph_vertex *x = graph_vertex (g, v);
    struct own *own = own_find (g, v);
    autofree uint32_t *sets = NULL;
    uint32_t set, extra;
    int rc = set_change (g->p, set_in_use (g, v, GRAPH_NONE), key, value, &set);
    if (rc < 0)
        return rc;
    if ((rc = sets_change (g, own, key, value, &sets)) < 0) {
        set_put (g->p, set);
        return rc;
    }
    struct extra e = extra_copy (g->p, x->extra);
    e.properties = set;
    rc = extra_get (g->p, &e, &extra);
    for (size_t i = 0; sets && i < own->nsets; i++) {
        set_put (g->p, rc < 0 ? sets[i] : own->sets[i].properties);
        if (rc == 0)
            own->sets[i].properties = sets[i];
    }
    if (rc < 0)
        return rc;
    g->layout += extra != x->extra || sets;
    extra_put (g->p, x->extra);
    x->extra = extra;
    own_sets_join (g, v, set_in_use (g, v, GRAPH_NONE));
    return 0;
}

int graph_set_property (struct graph *g, uint32_t v, uint32_t unit, const char *key,
                        const char *value)
{
    size_t len = key ? strlen (key) : 0;
    if (!graph_is_live (g, v) || len < 1 || len > GRAPH_KEY_MAX
        || (value && strlen (value) > GRAPH_VALUE_MAX))
        return -EINVAL;
    uint32_t n = graph_vertex (g, v)->n;
    if (unit != GRAPH_NONE && unit >= n)
        return -EINVAL;
    if (unit != GRAPH_NONE && n > 1)
        return property_unit (g, v, unit, key, value);
    return property_all (g, v, key, value);
}

int graph_set_properties (struct graph *g, uint32_t v, const char *const *properties,
                          struct error *err)
{
    uint32_t set, extra;
    if (!graph_is_live (g, v))
        return error_set (err, EINVAL, "there is no vertex %u", v);
    struct graph_vertex *x = graph_vertex (g, v);
    int rc = set_get (g->p, properties, &set, err);
    if (rc < 0)
        return rc;
    struct extra e = extra_copy (g->p, x->extra);
    e.properties = set;
    if (extra_get (g->p, &e, &extra) < 0)
        return error_set (err, ENOMEM, "out of memory");
    g->layout += extra != x->extra;
    extra_put (g->p, x->extra);
    x->extra = extra;
    own_sets_join (g, v, set);
    return 0;
}

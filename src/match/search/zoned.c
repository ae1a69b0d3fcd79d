/* zoned.c - nodes of which a job gets one zone
 *
 * In a vertex marked GRAPH_ZONED (a node whose kubelet takes a pod only if one NUMA zone
 * has everything that it asks for), the walk looks into one child marked GRAPH_ZONE at a
 * time, k->zone, and skips the others. What is in the node beside its zones goes with
 * each of them. For parts of the node, the first zone with all of them is taken, which is
 * also the kubelet's preference. For slots whose number may be smaller (a request without
 * nodes), the zone with the most is taken.
 *
 * Sums and indexes know nodes, not zones: what they exclude is excluded, the rest is
 * decided here.
 */
#include "match/planner/claims.h"
#include "match/search/walk_private.h"

int64_t walk_free_memory (const struct walker *k, uint32_t u)
{
    int64_t sum = 0;

    GRAPH_CHILDREN (k->g, u, c)
    {
        const struct graph_vertex *x = graph_vertex (k->g, c);
        if (x->first != GRAPH_NONE)
            sum += walk_is_shut (k, c) ? 0 : walk_free_memory (k, c);
        else if (x->type == GRAPH_MEMORY && (x->flags & GRAPH_DIVISIBLE))
            sum += claims_free_amount (k->p, c, k->w);
    }
    return sum;
}

static bool is_zone (const struct walker *k, uint32_t v)
{
    return (graph_vertex (k->g, v)->flags & GRAPH_ZONE) != 0;
}

bool walk_is_zoned (const struct walker *k, uint32_t u)
{
    return (graph_vertex (k->g, u)->flags & GRAPH_ZONED) != 0;
}

bool walk_spans_zones (const struct walker *k, uint32_t u)
{
    unsigned n = 0;

    if (!walk_is_zoned (k, u))
        return false;
    GRAPH_CHILDREN (k->g, u, c)
    {
        n += is_zone (k, c) && graph_vertex (k->g, c)->first != GRAPH_NONE;
    }
    return n > 1;
}

static bool has_memory (const struct walker *k, uint32_t zone)
{
    GRAPH_CHILDREN (k->g, zone, c)
    {
        if (graph_vertex (k->g, c)->type == GRAPH_MEMORY)
            return true;
    }
    return false;
}

/* True if the zone has the least memory booked on each node, too. */
static bool may_serve (const struct walker *k, uint32_t zone)
{
    return is_zone (k, zone)
           && (k->s->node_memory == 0 || !has_memory (k, zone)
               || walk_free_memory (k, zone) >= k->s->node_memory);
}

bool walk_parts_in_zone (struct walker *k, uint32_t u, walk_parts_fn *find, uint16_t head,
                         bool excl, uint32_t *parts)
{
    uint32_t was = k->zone;
    bool found = false;

    GRAPH_CHILDREN (k->g, u, zone)
    {
        if (found || k->failed || !may_serve (k, zone))
            continue;
        k->zone = zone;
        found = find (k, u, head, excl, parts);
    }
    k->zone = was;
    return found;
}

/* Returns what was found for the siblings since then. */
static int64_t gain (const struct walker *k, uint32_t base, uint16_t n,
                     const struct found *was)
{
    int64_t sum = 0;

    for (uint16_t i = 0; i < n; i++)
        sum += k->f[base + i].total - was[i].total;
    return sum;
}

static void forget (struct walker *k, uint32_t base, uint16_t n, const struct found *was)
{
    for (uint16_t i = 0; i < n; i++)
        walk_forget (k, base + i, &was[i]);
}

void walk_below_in_zone (struct walker *k, uint32_t u, walk_below_fn *look, uint16_t head,
                         uint64_t active, uint32_t base, bool excl)
{
    struct found was[SHAPE_SIBLINGS_MAX];
    uint16_t n = walk_siblings (k, head);
    uint32_t zone_was = k->zone, best = GRAPH_NONE, last = GRAPH_NONE;
    uint32_t ways = k->nways;
    int64_t given = k->given, most = 0;

    for (uint16_t i = 0; i < n; i++)
        was[i] = k->f[base + i];
    GRAPH_CHILDREN (k->g, u, zone)
    {
        if (k->failed || !may_serve (k, zone))
            continue;
        forget (k, base, n, was);
        walk_ways_back (k, ways);
        k->given = given;
        k->zone = last = zone;
        look (k, u, head, active, base, excl);
        if (gain (k, base, n, was) > most) {
            most = gain (k, base, n, was);
            best = zone;
        }
    }
    if (best != last && !k->failed) {
        forget (k, base, n, was);
        walk_ways_back (k, ways);
        k->given = given;
        k->zone = best;
        if (best != GRAPH_NONE)
            look (k, u, head, active, base, excl);
    }
    k->zone = zone_was;
}

uint32_t walk_zone_of (const struct walker *k, const struct selection *s, size_t n,
                       size_t i)
{
    unsigned depth = graph_vertex (k->g, s->picks[i].v)->depth;

    while (++i < n && graph_vertex (k->g, s->picks[i].v)->depth > depth)
        for (uint32_t v = s->picks[i].v; graph_vertex (k->g, v)->depth > depth;
             v = graph_vertex (k->g, v)->parent)
            if (is_zone (k, v))
                return v;
    return GRAPH_NONE;
}

bool walk_zone_has_memory (const struct walker *k, uint32_t zone)
{
    return zone != GRAPH_NONE && has_memory (k, zone);
}

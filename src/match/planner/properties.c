/* properties.c - dimensions for the properties that jobs ask for
 *
 *     properties_ask       a request comes: its properties get dimensions
 *     properties_take_up   ... from now on
 *     properties_needed    which of them all vertices allowed by a constraint have
 *     properties_note      a node was measured: which of them it has
 *     properties_spread    the cores of a node count in the dimensions of its properties,
 *                          too
 *
 * The dimensions of properties follow those of the types (planner.ntypes): each counts
 * the cores of the nodes with the property. So indexes and profile know what is free for
 * these as for all, where and when. A whole node counts for at least the cores of the
 * smallest node with the property. The first PROPERTIES_MAX requested properties have a
 * dimension, until no node has the property any more; other constraints are checked node
 * by node.
 */
#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/planner/sums.h"

static bool has (const struct planner *p, uint32_t v, const char *name)
{
    return graph_property (p->g, v, 0, name) != NULL;
}

static bool any_has (const struct planner *p, const char *name)
{
    for (size_t i = 0; i < p->nnodes; i++)
        if (p->nodes[i].v != GRAPH_NONE && has (p, p->nodes[i].v, name))
            return true;
    return false;
}

static bool is_asked (const struct planner *p, const char *name)
{
    for (unsigned i = 0; i < p->nproperties; i++)
        if (!strcmp (p->properties[i].name, name))
            return true;
    for (unsigned i = 0; i < p->nasked; i++)
        if (!strcmp (p->asked[i], name))
            return true;
    return false;
}

/* Dimensions available for more properties: unused ones, and those of properties that no
 * node has any more. */
static unsigned vacant (const struct planner *p)
{
    unsigned n = PROPERTIES_MAX - p->nproperties;

    for (unsigned i = 0; i < p->nproperties; i++)
        n += p->properties[i].nodes == 0;
    return n;
}

static int ask (struct planner *p, const char *name)
{
    char *copy;

    if (is_asked (p, name) || vacant (p) <= p->nasked || !any_has (p, name))
        return 0;
    if (!(copy = strdup (name)))
        return -ENOMEM;
    p->asked[p->nasked++] = copy;
    levels_spoil (p);
    return 0;
}

/* Takes over name. */
static void take_up (struct planner *p, char *name)
{
    unsigned i = 0;

    while (i < p->nproperties && p->properties[i].nodes > 0)
        i++;
    if (i == PROPERTIES_MAX) { /* nodes have one of them again */
        free (name);
        return;
    }
    if (i == p->nproperties)
        p->properties[p->nproperties++].name = NULL;
    free (p->properties[i].name);
    p->properties[i] = (struct property){ .name = name, .nodes = 1 };
}

void properties_take_up (struct planner *p)
{
    for (unsigned i = 0; i < p->nasked; i++)
        take_up (p, p->asked[i]);
    p->nasked = 0;
}

int properties_ask (struct planner *p, const struct constraint *c)
{
    const char *name;
    int rc = 0;

    for (size_t i = 0; rc == 0 && (name = constraint_property (c, i)); i++)
        rc = ask (p, name);
    return rc;
}

/* True if the dimensions of properties are kept: not with cores outside nodes, or with
 * nodes in nodes. */
static bool are_kept (const struct planner *p)
{
    return p->ntypes > CORES && p->dim_of[GRAPH_CORE] == CORES && !p->any_loose
           && !p->nested;
}

uint8_t properties_needed (const struct planner *p, const struct constraint *c)
{
    uint8_t needed = 0;
    const char *name;

    if (!c || p->nproperties == 0 || !are_kept (p))
        return 0;
    for (size_t i = 0; (name = constraint_property (c, i)); i++)
        for (unsigned k = 0; k < p->nproperties; k++)
            if (!strcmp (p->properties[k].name, name))
                needed |= (uint8_t)(1u << k);
    return needed;
}

void properties_note (struct planner *p, struct level_node *node)
{
    uint8_t had = node->properties;

    node->properties = 0;
    for (unsigned i = 0; i < p->nproperties; i++) {
        struct property *x = &p->properties[i];
        bool has_it = has (p, node->v, x->name);
        x->nodes += (size_t)has_it - (had >> i & 1);
        if (!has_it)
            continue;
        int64_t cores = node->down ? node->ever[CORES] : node->up[CORES];
        node->properties |= (uint8_t)(1u << i);
        x->least = MIN (x->least, MAX (cores, 0));
    }
}

void properties_leave (struct planner *p, const struct level_node *node)
{
    for (unsigned i = 0; i < p->nproperties; i++)
        p->properties[i].nodes -= node->properties >> i & 1;
}

void properties_spread (const struct planner *p, uint8_t properties, int64_t cores,
                        int64_t *sums)
{
    for (unsigned i = 0; i < p->nproperties; i++)
        if (properties >> i & 1)
            sums[p->ntypes + i] = MIN (sums[p->ntypes + i] + cores, SUMS_MAX);
}

void properties_raise (const struct planner *p, uint8_t properties, int64_t nodes,
                       int64_t *need)
{
    int64_t cores;

    for (unsigned i = 0; i < p->nproperties; i++) {
        int64_t *x = &need[p->ntypes + i];
        if (!(properties >> i & 1))
            continue;
        if (__builtin_mul_overflow (nodes, p->properties[i].least, &cores)
            || cores > SUMS_MAX)
            cores = SUMS_MAX;
        *x = MAX (*x, cores);
    }
}

void properties_forget (struct planner *p)
{
    for (unsigned i = 0; i < p->nproperties; i++) {
        p->properties[i].nodes = 0;
        p->properties[i].least = INT64_MAX;
    }
}

void properties_destroy (struct planner *p)
{
    for (unsigned i = 0; i < p->nproperties; i++)
        free (p->properties[i].name);
    for (unsigned i = 0; i < p->nasked; i++)
        free (p->asked[i]);
    p->nproperties = p->nasked = 0;
}

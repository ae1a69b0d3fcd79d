/* graph_associate.c - further parents: edges of the main subsystem beside the tree
 *
 *     cluster0 ---- rack0 ---- storage0 ---- ssd[0-7]
 *         \                       :
 *          `------- filesystem0 ..'    storage0 has parent rack0 and further parent
 *                                      filesystem0
 *
 * All such edges are one list, in the order in which they were added. A list for each
 * parent and one for each child run through it. The ends of these lists are in the
 * junction of a vertex; only vertices with such edges have a junction.
 *
 * A walk by all ways, up or down, reaches a vertex once for each way to it, at the depth
 * of that way. So both numbers are bounded here, and cycles are rejected.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

/* -- the lists -- */

static struct junction *junction_find (const struct graph *g, uint32_t v)
{
    struct junction *j;
    HASH_FIND (hh, g->p->junctions, &v, sizeof (v), j);
    return j;
}

static void junction_clear (struct junction *j)
{
    j->first_child = j->last_child = j->first_parent = j->last_parent = GRAPH_NONE;
}

static void junction_drop (struct graph *g, struct junction *j)
{
    HASH_DEL (g->p->junctions, j);
    free (j);
}

/* Drops a junction without edges. */
static void junction_tidy (struct graph *g, uint32_t v)
{
    struct junction *j = junction_find (g, v);
    if (j && j->first_child == GRAPH_NONE && j->first_parent == GRAPH_NONE)
        junction_drop (g, j);
}

static struct junction *junction_get (struct graph *g, uint32_t v)
{
    struct junction *j = junction_find (g, v);
    if (j || !(j = malloc (sizeof (*j))))
        return j;
    j->v = v;
    j->way.parent = GRAPH_NONE;
    junction_clear (j);
    HASH_ADD (hh, g->p->junctions, v, sizeof (j->v), j);
    if (j->hh.tbl)
        return j;
    free (j);
    return NULL;
}

/* Appends edge i to the lists of its parent and its child. */
static void further_link (struct graph *g, struct junction *up, struct junction *down,
                          uint32_t i)
{
    struct further *list = g->p->further, *f = &list[i];
    f->next_child = f->next_parent = GRAPH_NONE;
    if (up->last_child == GRAPH_NONE)
        up->first_child = i;
    else
        list[up->last_child].next_child = i;
    if (down->last_parent == GRAPH_NONE)
        down->first_parent = i;
    else
        list[down->last_parent].next_parent = i;
    up->last_child = down->last_parent = i;
    graph_vertex (g, f->parent)->flags |= GRAPH_FURTHER_CHILDREN | GRAPH_OWN_EDGES;
    graph_vertex (g, f->v)->flags |= GRAPH_FURTHER_PARENTS | GRAPH_OWN_EDGES;
}

/* Rebuilds all lists from the edges; allocates nothing. */
static void further_relink (struct graph *g)
{
    struct graph_private *p = g->p;
    struct junction *j, *tmp;
    HASH_ITER (hh, p->junctions, j, tmp) {
        junction_clear (j);
        if (graph_is_live (g, j->v))
            graph_vertex (g, j->v)->flags &=
                (uint16_t) ~(GRAPH_FURTHER_CHILDREN | GRAPH_FURTHER_PARENTS);
    }
    for (uint32_t i = 0; i < p->nfurther; i++)
        further_link (g, junction_find (g, p->further[i].parent),
                      junction_find (g, p->further[i].v), i);
    HASH_ITER (hh, p->junctions, j, tmp) {
        if (j->first_child == GRAPH_NONE && j->first_parent == GRAPH_NONE)
            junction_drop (g, j);
    }
}

void further_cut (struct graph *g)
{
    struct graph_private *p = g->p;
    size_t kept = 0;
    for (size_t i = 0; i < p->nfurther; i++) {
        const struct further *f = &p->further[i];
        if (graph_is_live (g, f->parent) && graph_is_live (g, f->v))
            p->further[kept++] = *f;
        else
            text_put (p, f->type);
    }
    if (kept == p->nfurther)
        return;
    p->nfurther = kept;
    further_relink (g);
}

void further_release (struct graph_private *p)
{
    struct junction *j, *tmp;
    HASH_ITER (hh, p->junctions, j, tmp) {
        HASH_DEL (p->junctions, j);
        free (j);
    }
    free (p->further);
}

size_t further_memory (const struct graph_private *p)
{
    return p->further_alloc * sizeof (*p->further)
           + HASH_COUNT (p->junctions) * sizeof (struct junction);
}

/* -- asked from outside -- */

size_t graph_further_count (const struct graph *g)
{
    return g->p->nfurther;
}

uint32_t graph_further_child (const struct graph *g, uint32_t parent, uint32_t *at)
{
    const struct further *list = g->p->further;
    if (!(graph_vertex (g, parent)->flags & GRAPH_FURTHER_CHILDREN))
        return GRAPH_NONE;
    *at =
        *at == GRAPH_NONE ? junction_find (g, parent)->first_child : list[*at].next_child;
    return *at == GRAPH_NONE ? GRAPH_NONE : list[*at].v;
}

uint32_t graph_further_parent (const struct graph *g, uint32_t v, uint32_t *at)
{
    const struct further *list = g->p->further;
    if (!(graph_vertex (g, v)->flags & GRAPH_FURTHER_PARENTS))
        return GRAPH_NONE;
    *at = *at == GRAPH_NONE ? junction_find (g, v)->first_parent : list[*at].next_parent;
    return *at == GRAPH_NONE ? GRAPH_NONE : list[*at].parent;
}

struct graph_way *graph_way (struct graph *g, uint32_t v)
{
    return &junction_find (g, v)->way;
}

/* -- ways -- */

struct ways {
    unsigned n;       /* counted up to one more than allowed */
    unsigned longest; /* in edges */
};

/* Counts the ways from the root to v, each followed by `below` edges. */
static void ways_to (const struct graph *g, uint32_t v, unsigned below, struct ways *w)
{
    for (; v != GRAPH_NONE && w->n <= GRAPH_WAYS_MAX; below++) {
        uint32_t at = GRAPH_NONE, up;
        while ((up = graph_further_parent (g, v, &at)) != GRAPH_NONE)
            ways_to (g, up, below + 1, w);
        v = graph_vertex (g, v)->parent;
        w->n += v == GRAPH_NONE;
        w->longest = MAX (w->longest, below);
    }
}

unsigned further_depth (const struct graph *g, uint32_t v)
{
    struct ways w = { 0 };
    if (g->p->nfurther == 0)
        return graph_vertex (g, v)->depth;
    ways_to (g, v, 0, &w);
    return w.longest;
}

bool graph_is_below (const struct graph *g, uint32_t v, uint32_t top)
{
    for (; v != GRAPH_NONE; v = graph_vertex (g, v)->parent) {
        uint32_t at = GRAPH_NONE, up;
        if (v == top)
            return true;
        while ((up = graph_further_parent (g, v, &at)) != GRAPH_NONE) {
            if (graph_is_below (g, up, top))
                return true;
        }
    }
    return false;
}

/* Checks v, which a new edge reaches on a way of that length, and all below it. */
static int check_ways (const struct graph *g, uint32_t v, unsigned length,
                       struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };
    struct ways w = { 0 };
    int rc = 0;
    if (length >= GRAPH_DEPTH_MAX)
        return error_set (err, E2BIG, "%s: more than %d levels", names_path (g, v, &sb),
                          GRAPH_DEPTH_MAX);
    if (graph_vertex (g, v)->flags & GRAPH_FURTHER_PARENTS)
        ways_to (g, v, 0, &w);
    if (w.n > GRAPH_WAYS_MAX)
        return error_set (err, E2BIG, "%s: more than %d ways lead to it",
                          names_path (g, v, &sb), GRAPH_WAYS_MAX);
    GRAPH_CHILDREN (g, v, c)
    {
        if (rc == 0)
            rc = check_ways (g, c, length + 1, err);
    }
    GRAPH_FURTHER (g, v, c)
    {
        if (rc == 0)
            rc = check_ways (g, c, length + 1, err);
    }
    return rc;
}

/* -- a new edge -- */

static bool has_parent (const struct graph *g, uint32_t v, uint32_t parent)
{
    uint32_t at = GRAPH_NONE, up;
    if (graph_vertex (g, v)->parent == parent)
        return true;
    while ((up = graph_further_parent (g, v, &at)) != GRAPH_NONE) {
        if (up == parent)
            return true;
    }
    return false;
}

static int check_ends (const struct graph *g, uint32_t parent, uint32_t v,
                       struct error *err)
{
    autostrbuf struct strbuf sb = { 0 }, sb2 = { 0 };
    if (!graph_is_live (g, parent) || !graph_is_live (g, v))
        return error_set (err, EINVAL, "there is no vertex %u",
                          graph_is_live (g, v) ? parent : v);
    uint32_t group = graph_vertex (g, v)->n > 1 ? v : parent;
    if (graph_vertex (g, group)->n > 1)
        return error_set (err, EINVAL,
                          "%s is one of a group of %u leaves: these have no further "
                          "parents or children",
                          names_path (g, group, &sb), graph_vertex (g, group)->n);
    if (graph_is_below (g, parent, v))
        return error_set (err, EINVAL, "%s cannot be below %s, which is below it",
                          names_path (g, v, &sb), names_path (g, parent, &sb2));
    if (has_parent (g, v, parent))
        return error_set (err, EEXIST, "%s is below %s already", names_path (g, v, &sb),
                          names_path (g, parent, &sb2));
    return 0;
}

static int further_add (struct graph *g, uint32_t parent, uint32_t v, const char *type)
{
    struct graph_private *p = g->p;
    if (array_reserve (&p->further, &p->further_alloc, p->nfurther + 1,
                       sizeof (*p->further))
        < 0)
        return -ENOMEM;
    struct junction *up = junction_get (g, parent), *down = junction_get (g, v);
    uint32_t text = up && down ? text_get (p, type) : GRAPH_NONE;
    if (text == GRAPH_NONE) {
        junction_tidy (g, parent);
        junction_tidy (g, v);
        return -ENOMEM;
    }
    p->further[p->nfurther] = (struct further){ .type = text, .parent = parent, .v = v };
    further_link (g, up, down, (uint32_t)p->nfurther++);
    return 0;
}

static void further_undo (struct graph *g)
{
    text_put (g->p, g->p->further[--g->p->nfurther].type);
    further_relink (g);
}

int graph_associate (struct graph *g, uint32_t parent, uint32_t v, const char *type,
                     struct error *err)
{
    int rc = check_ends (g, parent, v, err);
    if (rc < 0)
        return rc;
    if (type && (type[0] == 0 || strlen (type) > GRAPH_NAME_MAX))
        return error_set (err, EINVAL, "type: '%.80s' is not 1 to %d characters long",
                          type, GRAPH_NAME_MAX);
    if (g->p->nfurther >= GRAPH_VERTICES_MAX)
        return error_set (err, E2BIG, "more than %u further parents", GRAPH_VERTICES_MAX);
    if (further_add (g, parent, v, type) < 0)
        return error_set (err, ENOMEM, "out of memory");
    rc = check_ways (g, v, further_depth (g, parent) + 1, err);
    if (rc < 0) {
        further_undo (g);
        return rc;
    }
    graph_vertex (g, parent)->flags &= (uint16_t)~GRAPH_OWN_LEAF;
    graph_vertex (g, v)->flags &= (uint16_t)~GRAPH_OWN_LEAF;
    g->layout++;
    return 0;
}

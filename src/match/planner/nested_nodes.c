/* nested_nodes.c - nodes in nodes: the data that a walk needs inside an outer node
 *
 * A node in a node counts as a part of the outer one. So that a walk can continue inside
 * as it does above the nodes, each vertex of an outer node that has nodes below it (the
 * outer node included) has a struct upper of its own. These are rare and small. Their
 * keys say that everything is free, which excludes nothing that fits, and no booking
 * changes them.
 */
#include "match/planner/levels.h"
#include "match/planner/nested_nodes.h"
#include "match/planner/sums.h"

static bool has_nodes (const struct planner *p, uint32_t v)
{
    return (graph_vertex (p->g, v)->flags & GRAPH_UPPER) != 0;
}

/* Counts vertices with nodes below them at or below v, and entries of their lists; `up`:
 * the number of those that have v in their indexes. */
static void count_inner (const struct planner *p, uint32_t v, size_t up, size_t *upper,
                         size_t *entries)
{
    bool node = graph_vertex (p->g, v)->type == GRAPH_NODE;

    *entries += 1 + (node ? up : 0);
    *upper += has_nodes (p, v);
    up = !has_nodes (p, v) ? 0 : node ? 1 : up + 1;
    GRAPH_CHILDREN (p->g, v, child)
    {
        count_inner (p, child, up, upper, entries);
    }
}

static void nested_nodes (const struct planner *p, struct upper *a, uint32_t v)
{
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (graph_vertex (p->g, child)->type == GRAPH_NODE)
            a->nodes[a->nnodes++] = child;
        else if (has_nodes (p, child))
            nested_nodes (p, a, child);
    }
}

static int64_t score_of (const struct planner *p, uint32_t v)
{
    int64_t score = match_policy_score (&p->policy, p->g, v, 0);

    return p->policy.high ? -score : score;
}

/* Few entries: by insertion, stable. */
static void inner_sort (const struct planner *p, struct upper *a)
{
    for (size_t i = 1; i < a->nnodes; i++) {
        uint32_t v = a->nodes[i];
        int64_t score = score_of (p, v);
        size_t j = i;
        for (; j > 0 && score_of (p, a->nodes[j - 1]) > score; j--)
            a->nodes[j] = a->nodes[j - 1];
        a->nodes[j] = v;
    }
}

static void make_lists (struct planner *p, size_t *used, struct upper *a)
{
    a->loose = p->inner_lists + *used;
    GRAPH_CHILDREN (p->g, a->v, child)
    {
        if (graph_vertex (p->g, child)->type == GRAPH_NODE)
            a->nown++;
        else if (!has_nodes (p, child))
            a->loose[a->nloose++] = child;
    }
    a->kids = a->loose + a->nloose;
    GRAPH_CHILDREN (p->g, a->v, child)
    {
        const struct graph_vertex *x = graph_vertex (p->g, child);
        if (x->type == GRAPH_NODE || !has_nodes (p, child))
            continue;
        a->kids[a->nkids++] = child;
        p->type_upper[x->type] = true;
    }
    a->nodes = a->kids + a->nkids;
    nested_nodes (p, a, a->v);
    inner_sort (p, a);
    a->places = a->nnodes;
    *used += a->nloose + a->nkids + a->nnodes;
    p->any_loose = p->any_loose || a->nloose > 0;
}

static void set_keys (const struct planner *p, struct upper *a)
{
    for (size_t i = 0; i < a->nnodes; i++) {
        struct index_key key = { .soonest = 0 };
        sums_add (p, a->nodes[i], SUMS_EVER, key.ever);
        key.ever[0] = 1;
        memcpy (key.free, key.ever, sizeof (key.free));
        index_set (a->index, i, &key);
    }
}

static int inner_index (struct planner *p, struct upper *a)
{
    a->index = index_create (p->ndims);
    if (!a->index || index_reserve (a->index, a->nnodes) < 0)
        return -ENOMEM;
    set_keys (p, a);
    return 0;
}

void nested_mend (struct planner *p, const struct level_node *node)
{
    for (size_t i = node->inner; i < p->ninner; i++) {
        if (p->inner[i].v != node->v && !graph_is_below (p->g, p->inner[i].v, node->v))
            return;
        set_keys (p, &p->inner[i]);
    }
}

static int enter_inner (struct planner *p, size_t *used, uint32_t v)
{
    int rc = 0;

    if (!has_nodes (p, v))
        return 0;
    struct upper *a = &p->inner[p->ninner];
    struct level_node *node = levels_node (p, v);
    if (node)
        node->inner = (uint32_t)p->ninner;
    else
        graph_vertex (p->g, v)->place = (uint32_t)p->ninner;
    p->ninner++;
    a->v = v;
    make_lists (p, used, a);
    if (inner_index (p, a) < 0)
        return -ENOMEM;
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (rc == 0)
            rc = enter_inner (p, used, child);
    }
    return rc;
}

void nested_destroy (struct planner *p)
{
    for (size_t i = 0; i < p->ninner; i++)
        index_destroy (p->inner[i].index);
    free (p->inner);
    free (p->inner_lists);
    p->inner = NULL;
    p->inner_lists = NULL;
    p->ninner = 0;
}

int nested_make (struct planner *p)
{
    size_t upper = 0, entries = 0, used = 0;
    int rc = 0;

    for (size_t k = 0; k < p->nnodes; k++)
        count_inner (p, p->nodes[k].v, 0, &upper, &entries);
    p->inner = calloc (upper + 1, sizeof (*p->inner));
    p->inner_lists = malloc ((entries + 1) * sizeof (*p->inner_lists));
    if (!p->inner || !p->inner_lists)
        return -ENOMEM;
    for (size_t k = 0; k < p->nnodes && rc == 0; k++)
        rc = enter_inner (p, &used, p->nodes[k].v);
    return rc;
}

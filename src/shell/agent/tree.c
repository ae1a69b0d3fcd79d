/* tree.c - arithmetic of the tree of agents */
#include "shell/agent/tree.h"

#include "common/macros.h"

void tree_init (struct tree *tree, uint32_t nranks, uint32_t fanout)
{
    *tree = (struct tree){ .nranks = nranks, .fanout = fanout ? fanout : TREE_FANOUT };
}

uint32_t tree_parent (const struct tree *tree, uint32_t rank)
{
    return rank == 0 ? TREE_NONE : (rank - 1) / tree->fanout;
}

/* May exceed the last rank and 32 bits. */
static uint64_t first_below (const struct tree *tree, uint64_t rank)
{
    return rank * tree->fanout + 1;
}

uint32_t tree_first_child (const struct tree *tree, uint32_t rank)
{
    return (uint32_t)MIN (first_below (tree, rank), (uint64_t)tree->nranks);
}

uint32_t tree_nchildren (const struct tree *tree, uint32_t rank)
{
    return MIN (tree->nranks - tree_first_child (tree, rank), tree->fanout);
}

bool tree_holds (const struct tree *tree, uint32_t top, uint32_t rank)
{
    if (rank >= tree->nranks)
        return false;
    while (rank > top) /* a parent's number is smaller */
        rank = tree_parent (tree, rank);
    return rank == top;
}

uint32_t tree_route (const struct tree *tree, uint32_t at, uint32_t rank)
{
    uint32_t via = TREE_NONE;
    if (rank >= tree->nranks)
        return TREE_NONE;
    for (; rank > at; rank = tree_parent (tree, rank))
        via = rank;
    return rank == at ? via : TREE_NONE;
}

uint32_t tree_height (const struct tree *tree, uint32_t top)
{
    uint32_t height = 0;
    for (uint64_t first = first_below (tree, top); first < tree->nranks; height++)
        first = first_below (tree, first);
    return height;
}

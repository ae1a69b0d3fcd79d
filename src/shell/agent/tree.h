/* tree.h - the tree of a job's agents
 *
 * A complete k-ary tree with rank 0 at its top, numbered level by level:
 *
 *                0
 *          /     |     \            fanout 3: the parent of r is (r - 1) / 3
 *         1      2      3
 *       / | \  / | \
 *      4  5  6 7  8  9              tree_route (&tree, 0, 8) is 2
 *
 *     struct tree tree;
 *     tree_init (&tree, l.nnodes, 3);
 *     for (uint32_t i = 0; i < tree_nchildren (&tree, rank); i++)
 *         ... tree_first_child (&tree, rank) + i ...
 *
 * A message of rank 0 reaches all ranks in log N steps, and no agent has more connections
 * than the fan-out and one. With a fan-out of N - 1 or more the tree is a star. Pure
 * arithmetic: no memory, no input or output; each function takes at most as many steps as
 * the tree is deep. Arguments are ranks of the job (< nranks) unless stated otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TREE_FANOUT 16       /* unless the launch file says otherwise */
#define TREE_NONE UINT32_MAX /* no rank */

struct tree {
    uint32_t nranks;
    uint32_t fanout; /* >= 1 */
};

/* fanout 0: TREE_FANOUT. */
void tree_init (struct tree *tree, uint32_t nranks, uint32_t fanout);
/* TREE_NONE: rank 0 has no parent. */
uint32_t tree_parent (const struct tree *tree, uint32_t rank);
/* The children are consecutive. The first child is meaningless if there are none. */
uint32_t tree_first_child (const struct tree *tree, uint32_t rank);
uint32_t tree_nchildren (const struct tree *tree, uint32_t rank);
/* Whether rank is top or below top; false for a number that is no rank of the job. */
bool tree_holds (const struct tree *tree, uint32_t top, uint32_t rank);
/* The child of at that leads to rank; TREE_NONE: rank is not below at. */
uint32_t tree_route (const struct tree *tree, uint32_t at, uint32_t rank);
/* Number of levels below top, 0 if it has no children. */
uint32_t tree_height (const struct tree *tree, uint32_t top);

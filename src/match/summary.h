/* summary.h - the largest free amounts below each inner point of a binary tree over nodes
 *
 *     struct summary_key need = { .cores = 8, .idle_cores = -1 };
 *     for (int i = -1; (i = summary_next (s, i + 1, &need)) >= 0;)
 *         ...                                  // node i has 8 cores free
 *
 * Leaf i holds what node i could give now; each inner point the maximum of its two
 * children, by component. So the root tells at once what no node has, a full machine is
 * refused without looking at its nodes, and the next node that fits is found in O(log n)
 * when one amount decides. A tournament tree as in "first fit" of Johnson, Near-optimal
 * bin packing algorithms (1973).
 */
#ifndef FLUXQ_MATCH_SUMMARY_H
#define FLUXQ_MATCH_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

struct summary;

struct summary_key {
    int64_t cores;      /* -1: takes no jobs */
    int64_t idle_cores; /* as cores when nothing is booked on the node, else -1 */
    int64_t gpus;
    int64_t memory; /* MiB */
};

/* What a node without anything, or no node, has. */
extern const struct summary_key summary_nothing;

struct summary *summary_create (void);
void summary_destroy (struct summary *s);
int summary_reserve (struct summary *s, size_t size); /* leaves 0..size-1; 0 or -ENOMEM */
void summary_set (struct summary *s, size_t leaf, const struct summary_key *key);
const struct summary_key *summary_get (const struct summary *s, size_t leaf);
const struct summary_key *summary_root (const struct summary *s);
/* First leaf >= from where no component is below need's; -1: none. */
int summary_next (const struct summary *s, size_t from, const struct summary_key *need);

#endif

/* levels.h - the indexes of nodes above each vertex, and the keys of nodes */
#pragma once

#include "match/planner/planner_state.h"

/* -- levels_lookup.c: finds nodes and the vertices above them -- */

/* Returns the outermost node at or above v; GRAPH_NONE: v is in no node. */
uint32_t levels_node_of (const struct planner *p, uint32_t v);
/* Returns the entry of a node; NULL: not an outermost node, or the data is outdated. */
struct level_node *levels_node (const struct planner *p, uint32_t v);
/* Returns the first node in the graph; GRAPH_NONE: there are no nodes. */
uint32_t levels_first (const struct planner *p);
const struct upper *levels_upper (const struct planner *p, uint32_t v);
/* Returns the dimension of the type in the indexes; -1: not tracked. */
int levels_dim (const struct planner *p, uint16_t type);
/* Returns the next kid after `kid` (NULL: the first), the freest first; NULL: no more. */
struct upper *levels_next_kid (const struct upper *a, const struct upper *kid);
/* Marks all data about nodes as outdated, to be rebuilt. O(1) */
void levels_spoil (struct planner *p);
/* Marks the key of a node as outdated. Between levels_hold() and levels_settle(). */
void levels_mark (struct planner *p, struct level_node *node);
/* Reports that the node has changed in itself: levels_update() measures it. */
void levels_note (struct planner *p, struct level_node *node);
static inline bool levels_is_upper (const struct graph_vertex *x)
{
    return (x->flags & GRAPH_UPPER) && x->type != GRAPH_NODE;
}

/* -- levels.c: the indexes -- */

/* Brings the indexes up to date after changes of the graph. -ENOMEM. O(1) without
 * changes, O(log nodes) for each changed node, else O(nodes log nodes). */
int levels_update (struct planner *p);
/* Updates the key of a node in all indexes above it, after its claims or contents
 * changed. */
void levels_touch (struct planner *p, uint32_t node);
/* Moves v, a vertex above nodes, among its parent's kids, after what is free below v, or
 * whether v was seen, changed. */
void levels_kid (struct planner *p, struct upper *a);
void levels_hold (struct planner *p);
void levels_settle (struct planner *p);
/* Updates the keys after a claim of a booking with that end was added (more) or removed.
 * For a changed end of an allocation: remove with the old end, add with the new one.
 * Between levels_hold() and levels_settle(). */
void levels_claim (struct planner *p, const struct claim *c, int64_t end, bool more);
/* For v outside nodes: subtracts what is free at and below v, except in nodes, from
 * loose_free, or adds it. Called before and after changes of allocated claims on v. */
void levels_loose (struct planner *p, uint32_t v, int sign);
/* Updates the amounts of a node, and whether it is up. */
void levels_measure (struct planner *p, struct level_node *node);

/* -- rebuild.c: all again, from graph and claims -- */

int levels_rebuild (struct planner *p); /* 0; -ENOMEM: p->stale */
void levels_destroy (struct planner *p);

/* -- rebuild_count.c: what types there are -- */

/* Notes the types in a node that comes, or whose contents changed. false: a rebuild is
 * necessary. */
bool rebuild_knows (struct planner *p, uint32_t v);

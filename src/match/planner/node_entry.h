/* node_entry.h - a node comes or goes: its entry, without a rebuild */
#pragma once

#include "match/planner/planner_state.h"

/* Makes room for n numbers of nodes. 0 or -ENOMEM. */
int node_entry_reserve (struct planner *p, size_t n);
/* Notes the order of the graph after a rebuild: that of the numbers. */
void node_entry_order_all (struct planner *p);
/* Counts units and claims in a node. */
void node_entry_count (const struct planner *p, struct level_node *node);
/* Sets the score of a node that is there, and its places if the score has changed. 0 or
 * -ENOMEM. */
int node_entry_score (struct planner *p, uint32_t number);
/* Makes the entry of v, a node that came into the graph, and reports it as changed. false:
 * everything must be rebuilt. O(log nodes) */
bool node_entry_add (struct planner *p, uint32_t v);
/* Removes the entry of a node that is still in the graph. false: as above. */
bool node_entry_remove (struct planner *p, uint32_t v);

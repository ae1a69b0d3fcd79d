/* properties.h - dimensions for the properties that jobs ask for */
#pragma once

#include "match/planner/planner_state.h"
#include "match/request/constraint.h"

/* Notes the properties of a request's constraint. A property that is new makes the
 * planner stale. -ENOMEM. O(nodes) the first time. */
int properties_ask (struct planner *p, const struct constraint *c);
/* Adds the noted properties, at a rebuild. */
void properties_take_up (struct planner *p);
/* Returns, as bits, the properties whose dimensions bound what the constraint (or NULL)
 * allows. */
uint8_t properties_needed (const struct planner *p, const struct constraint *c);
/* Sets the properties of a node; its `up` must be valid. */
void properties_note (struct planner *p, struct level_node *node);
/* The node goes. */
void properties_leave (struct planner *p, const struct level_node *node);
/* Adds cores of nodes with these properties to the dimensions of the properties. */
void properties_spread (const struct planner *p, uint8_t properties, int64_t cores,
                        int64_t *sums);
/* Raises the need in each of these dimensions to what so many whole nodes have at
 * least. */
void properties_raise (const struct planner *p, uint8_t properties, int64_t nodes,
                       int64_t *need);
/* Forgets which nodes have properties. */
void properties_forget (struct planner *p);
void properties_destroy (struct planner *p);

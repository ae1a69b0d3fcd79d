/* window_nodes.h - finds nodes with a booking in a window, and what a request lacks */
#pragma once

#include "match/planner/planner_state.h"
#include "match/request/shape.h"

/* Sets w->touched and w->taken of a later window; -ENOMEM. The levels must be up to date.
 * Valid until the next call or booking. */
int window_nodes_find (struct planner *p, struct window *w);
struct node_need {   /* of a request; zeros where unknown */
    uint8_t properties; /* that all its nodes have */
    const struct shape *shape;
    int64_t whole; /* nodes that the job shares with no other */
    int64_t nodes; /* different nodes */
    int64_t cores; /* cores of one part of the request in its node */
    bool only_whole;
};
/* True if a and b have something on the same node, as far as is known. The levels must be
 * up to date. */
bool bookings_share_node (struct planner *p, struct booking *a, struct booking *b);
void node_need_of (struct planner *p, const struct shape *s, struct node_need *ret);
/* Returns the number of nodes that the request lacks in the window, as far as is known;
 * 0: none. */
int64_t window_nodes_missing (const struct planner *p, const struct window *w,
                              const struct node_need *need);
/* Rebuilds the reach of a booking after nodes got new places, so that the next match need
 * not. */
void reach_renew (struct planner *p, struct booking *b);
/* Drops the reach of a booking, whose claims have changed. */
void reach_forget (struct planner *p, struct booking *b);
size_t reach_memory (const struct booking *b);
void window_nodes_destroy (struct planner *p);

/* node_load.h - the load of nodes by running jobs, for the order of policy first */
#pragma once

#include "match/planner/planner_state.h"

void node_load_add (struct planner *p, struct booking *b, const struct selection *s);
void node_load_drop (struct planner *p, struct booking *b);
/* Repeats node_load_add() after the nodes were rebuilt. */
void node_load_again (struct planner *p, const struct booking *b);

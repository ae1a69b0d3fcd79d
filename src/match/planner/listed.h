/* listed.h - what selections named on each node, for policy first */
#ifndef FLUXQ_MATCH_PLANNER_LISTED_H
#define FLUXQ_MATCH_PLANNER_LISTED_H

#include "match/planner/planner_state.h"

void listed_add (struct planner *p, struct booking *b, const struct selection *s);
void listed_drop (struct planner *p, struct booking *b);
/* Repeats listed_add() after the nodes were rebuilt. */
void listed_again (struct planner *p, const struct booking *b);

#endif

/* freed.h - the log of what became free since a plan was made */
#ifndef FLUXQ_MATCH_PLANNER_FREED_H
#define FLUXQ_MATCH_PLANNER_FREED_H

#include "match/planner/planner_state.h"

/* Empties the log when a plan is made, and starts logging what becomes free. */
void freed_forget (struct planner *p);
/* Logs a booking that is removed. */
void freed_note (struct planner *p, const struct booking *b);
/* Notes that p->generation grew for what is in the log. */
void freed_generation (struct planner *p);
void freed_destroy (struct planner *p);

#endif

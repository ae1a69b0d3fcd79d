/* removed_log.h - the log of bookings that were removed since a plan was made */
#pragma once

#include "match/planner/planner_state.h"

/* Empties the log when a plan is made, and starts logging what becomes free. */
void removed_log_clear (struct planner *p);
/* Logs a booking that is removed. */
void removed_log_add (struct planner *p, const struct booking *b);
/* Notes that p->generation grew for what is in the log. */
void removed_log_generation (struct planner *p);
void removed_log_destroy (struct planner *p);

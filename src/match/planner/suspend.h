/* suspend.h - suspends reservations, and resumes them */
#pragma once

#include "match/planner/planner_state.h"

/* Suspends a reservation: it counts at no time until it is resumed, and matches meanwhile
 * ignore it. */
void booking_suspend (struct planner *p, struct booking *b);
void booking_resume (struct planner *p, struct booking *b);
/* Takes some more suspended claims out of the lists of their vertices, before a match. */
void booking_unlist_suspended (struct planner *p);
/* Times of a booking that may be suspended. */
static inline int64_t booking_start (const struct booking *b)
{
    return b->suspended ? b->own_start : b->start;
}
static inline int64_t booking_end (const struct booking *b)
{
    return b->suspended ? b->own_end : b->end;
}
/* True if a booking made during the suspension has some of its units, at its time. */
bool booking_is_taken (struct planner *p, struct booking *b);
/* Bookkeeping for a suspended booking that is dropped or resumed. */
void suspend_end (struct planner *p, struct booking *b);

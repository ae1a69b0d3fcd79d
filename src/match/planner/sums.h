/* sums.h - amounts by dimension: of a subtree, of a booking, of a request */
#pragma once

#include "match/planner/planner_state.h"
#include "match/request/shape.h"

#define SUMS_MAX (INT64_C (1) << 59) /* ceiling of the sums, see profile.h */

enum sums_of { SUMS_EVER, SUMS_UP, SUMS_FREE };

/* Adds what v and all below it has, could give when all is up, or has free now. Ignores
 * vertices above v. sums[0] stays. */
void sums_add (const struct planner *p, uint32_t v, enum sums_of what, int64_t *sums);
/* As sums_add(), for a v above nodes or beside them, without what is in nodes. */
void sums_add_loose (const struct planner *p, uint32_t v, enum sums_of what,
                     int64_t *sums);
/* Units (amounts) of one type at or below v, as in sums_add(). */
int64_t sums_of_type (const struct planner *p, uint32_t v, uint16_t type,
                      enum sums_of what);
/* True if v, which has children, and all vertices above it are up. */
bool sums_is_up (const struct planner *p, uint32_t v);
/* True if an exclusive claim on v is allocated. */
bool sums_is_taken (const struct planner *p, uint32_t v);
/* Computes what the booking takes of the profile. */
void sums_of_booking (struct planner *p, const struct booking *b, int64_t *sums);
/* Enter a booking into the profile, correct it after a change, remove it. Without memory
 * they call levels_spoil(). They do nothing while the planner is stale. */
void sums_book (struct planner *p, struct booking *b);
void sums_rebook (struct planner *p, struct booking *b);
void sums_unbook (struct planner *p, struct booking *b);
/* Enters a booking again, with the same sums. */
void sums_enter (struct planner *p, struct booking *b);
/* Changes the total. */
void sums_grow (struct planner *p, const int64_t *more);
/* Computes the least that the shape needs at one time in each dimension of the
 * profile. */
void sums_need (const struct planner *p, const struct shape *s, int64_t *need);

/* bookings.h - adds and removes bookings and their claims */
#pragma once

#include "match/planner/planner_state.h"

/* Adds a booking without checking whether its units are free (the caller has). -ENOMEM:
 * nothing is booked. */
int claims_add (struct planner *p, uint64_t job, const struct selection *s,
                bool reserved);
/* Reserves units that may be allocated: see `over` in struct booking. */
int claims_add_over (struct planner *p, uint64_t job, const struct selection *s);
/* As claims_add(), after a check: -EBUSY, -ENOENT, -EINVAL with the reason. */
int claims_check_add (struct planner *p, uint64_t job, const struct selection *s,
                      bool reserved, struct error *why);
struct booking *booking_find (const struct planner *p, uint64_t job);
void booking_drop (struct planner *p, struct booking *b);
/* Makes room for so many more claims: claims_link() then cannot fail. 0 or -ENOMEM. */
int claims_reserve (struct planner *p, size_t more);
/* Inserts c (with its booking, and units that no job has) behind claim `after` of its
 * job; GRAPH_NONE: at the end. Needs room. */
uint32_t claims_link (struct planner *p, const struct claim *c, uint32_t after);
/* Shrinks c to these of its units, and to this amount; count 0: to none, for
 * bookings_sweep(). */
void claims_shrink (struct planner *p, uint32_t c, uint32_t unit, uint32_t count,
                    int64_t amount);
/* Drops the claims of the booking that have no units. */
void bookings_sweep (struct planner *p, struct booking *b);
void booking_set_end (struct planner *p, struct booking *b, int64_t end);
/* Add a claim to the list of its vertex, or remove it from there; other data of the
 * vertex stay. */
void claims_list (struct planner *p, uint32_t c);
void claims_unlist (struct planner *p, const struct claim *claim);

/* Checks that other bookings have none of its units in the window (in which the booking
 * itself does not count). 0 or an error with the reason. */
int booking_check (const struct planner *p, const struct booking *b,
                   const struct window *w, const char *what, struct error *why);

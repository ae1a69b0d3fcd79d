/* verify.h - what tests ask of a planner's inside (libmatch_test.a) */
#ifndef FLUXQ_MATCH_TEST_VERIFY_H
#define FLUXQ_MATCH_TEST_VERIFY_H

#include "match/planner.h"

/* Recounts all summaries from the claims. 0, or -EUCLEAN with the first difference. */
int planner_verify (const struct planner *p, struct error *err);
/* The bookings as text, by job: equal texts mean equal bookings. */
void planner_dump (const struct planner *p, struct strbuf *sb);
/* A new planner over the same graph, policy and options replaces *p, and gets its bookings.
 * Negative errno: that of the first booking that is refused. */
int planner_remake (struct planner **p, struct error *err);

#endif

/* verify.h - a recount of everything that a planner keeps (libmatch_test.a) */
#pragma once

#include "match/planner/planner.h"

/* Recounts all summaries from the claims. 0, or -EUCLEAN with the first difference. */
int planner_verify (const struct planner *p, struct error *err);

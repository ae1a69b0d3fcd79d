/* find.h - vertices by an expression
 *
 *     struct find *f = find_compile ("status=up and sched-now=free", &err);
 *     rc = find_run (f, planner, &selection);     // the matches, and the ways to them
 *
 *     expression: term (["and"] | "or") ... with ( ), no "not"; "and" binds closer; words in
 *     a row mean and. Terms: status=up|down, sched-now=allocated|free,
 *     sched-future=reserved|free, agfilter=true|false, names=HOSTLIST, property=NAME,
 *     jobid-alloc=ID, jobid-span=ID, jobid-tag=ID, jobid-reserved=ID. Values ignore case.
 */
#pragma once

#include "match/planner/planner.h"

struct find;

struct find *find_compile (const char *text, struct error *err); /* NULL; err names the
                                                                  * wrong word */
void find_destroy (struct find *f);
/* *ret is an empty selection (n == 0) if nothing matches. 0 or -ENOMEM. */
int find_run (const struct find *f, const struct planner *p, struct selection **ret);
/* True if the expression has agfilter=true (writers then show used and total counts).
 * *ret_job: the job of a jobid term, 0 without one. */
bool find_wants_counts (const struct find *f, uint64_t *ret_job);

/* depend.h - jobs with dependencies stay in DEPEND until job/deps.h decides
 */
#pragma once

#include "broker/core/broker.h"

struct antecedents; /* antecedents.h */

/* Whether there is room for n more conditions. */
bool depend_has_room (const struct broker *b, size_t n);
/* Performs JOB_ACT_DEPEND: the job goes on, or begins to wait. */
void depend_begin (struct broker *b, struct entry *e);
/* Tells deps.h that these tasks of an array never start. */
void depend_never_start (struct broker *b, const struct entry *e,
                         const struct idset *tasks);
/* deps_blockers() of job/deps.h. */
size_t depend_blockers (const struct broker *b, uint64_t id, uint64_t *ids, size_t max);
/* The job's dependencies until it begins to wait; then the list is empty. Borrowed. */
const struct dependencies *depend_list (const struct entry *e);
/* The job waits on when its dependencies can never be satisfied. */
bool depend_keeps_invalid (const struct entry *e);
/* The ids of the jobs and arrays that the job's dependencies name; 0 where there is none.
 * Borrowed. */
const uint64_t *depend_needs (const struct entry *e, size_t *ret_n);
/* Gives a new job what was found of its antecedents, or NULL; takes it over. */
void depend_set_found (struct entry *e, struct antecedents *found);

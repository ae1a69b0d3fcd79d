/* job_events.h - for tests of jobs: events, and what a job is after them
 *
 *     struct job *job = job_after (TO_RUN " start finish");
 *     assert_int_equal (apply (job, "release", &actions), 0);
 */
#ifndef FLUXQ_JOB_TEST_JOB_EVENTS_H
#define FLUXQ_JOB_TEST_JOB_EVENTS_H

#include "common/test/unit.h"

#include "job/edges.h"

#define TO_SCHED "submit validate depend priority"
#define TO_RUN TO_SCHED " alloc"

/* The names of all events, and of one that does not exist; NULL-terminated. */
extern const char *const all_events[];

/* A well-formed context for the event; a new reference, or NULL: it has none. */
json_t *context_of (const char *name);
/* The time of the next event: 1000, 1001, ... */
extern double now;
int apply_context (struct job *job, const char *name, json_t *context, unsigned *actions);
/* With the context of context_of(). */
int apply (struct job *job, const char *name, unsigned *actions);
/* Events that must be allowed. */
void apply_all (struct job *job, const char *const *events, size_t n);
/* Applies "submit validate ..." to a new job; all must be allowed. */
struct job *job_after (const char *events);
/* What is still to be done in the state that the job is in: after a replay, the actions
 * that the events seen so far have asked for and no later event has answered.
 * JOB_ACT_START with `started` not seen, and KILL, CLEANUP: the executor may have done
 * it before the restart. A job that runs (started) has none. */
unsigned due_actions (const struct job *job);
/* The whole record as text, to compare two. */
char *job_text (const struct job *j);

#endif

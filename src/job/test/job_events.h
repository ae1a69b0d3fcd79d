/* job_events.h - for tests of jobs: events, and the state of a job after them
 *
 *     struct job *job = job_after (TO_RUN " start finish");
 *     assert_int_equal (apply (job, "release", &actions), 0);
 */
#pragma once

#include "common/test/unit.h"

#include "job/transitions.h"

#define TO_SCHED "submit validate depend priority"
#define TO_RUN TO_SCHED " alloc"

/* The names of all events, and of one that does not exist; NULL-terminated. */
extern const char *const all_events[];

/* A well-formed context for the event: a new reference, or NULL if the event has none. */
json_t *context_of (const char *name);
/* The time of the next event: 1000, 1001, ... */
extern double now;
int apply_context (struct job *job, const char *name, json_t *context, unsigned *actions);
/* Applies an event with the context of context_of(). */
int apply (struct job *job, const char *name, unsigned *actions);
/* Applies events that must be allowed. */
void apply_all (struct job *job, const char *const *events, size_t n);
/* Applies "submit validate ..." to a new job; all must be allowed. */
struct job *job_after (const char *events);
/* The pending actions in the job's state: after a replay, the actions that the events
 * so far have requested and no later event has answered. This is JOB_ACT_START if
 * `started` was not seen, and KILL, CLEANUP: the executor may have done it before the
 * restart. A running job (started) has none. */
unsigned due_actions (const struct job *job);
/* The whole record as text, for comparisons. */
char *job_text (const struct job *j);

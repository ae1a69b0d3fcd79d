/* deps.h - jobs that wait for other jobs: what is left to wait for, and who may go on
 *
 *     struct deps *d = deps_create ();
 *     deps_add (d, 38, uid, "sim");                     // every job that has not ended
 *     deps_wait (d, 38, &jobspec->depend, past, arg);   // 38 waits
 *     deps_started (d, 37, now);                        // what becomes of the others
 *     deps_ended (d, 37, true);
 *     while (deps_next (d, now, 1000, &id, &verdict) == 1)
 *         ...                                           // 38: DEPS_MET or DEPS_NEVER
 *
 * A condition is open until the job that it names has started or ended; then it is met,
 * or never will be. Of a list of which all are needed one that never will be decides, of
 * a list of which one is enough the first that is met does (dependency.h has the kinds).
 * `after` waits for the start as RFC 26 has it: a job that ends without one never
 * started.
 *
 * Being told of a start or an end costs O(1); deps_next() then takes one step for each
 * condition on it. Jobs of one user and name stand in one row in order of their ids, so
 * that only the first of a row may be a singleton that goes on. No clock, no input or
 * output; all times are unix times.
 */
#ifndef FLUXQ_JOB_DEPS_H
#define FLUXQ_JOB_DEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobspec/dependency.h"

struct deps;

enum deps_verdict {
    DEPS_NONE,  /* the job waits for nothing (or is unknown) */
    DEPS_WAITS, /* something is still open */
    DEPS_MET,   /* it may go on */
    DEPS_NEVER, /* what it waits for cannot be any more */
};

/* NULL: no memory. */
struct deps *deps_create (void);
void deps_destroy (struct deps *d);
/* A job that has not ended. -EEXIST, -ENOMEM. O(1) when ids come in order. */
int deps_add (struct deps *d, uint64_t id, uint32_t uid, const char *name);
/* It has started, at t > 0. Later starts of the same job change nothing. */
void deps_started (struct deps *d, uint64_t id, double t);
/* It has ended, ok: completed. It waits for nothing any more. */
void deps_ended (struct deps *d, uint64_t id, bool ok);

/* How a job ended that is not here (any more). */
struct deps_past {
    double t_start; /* 0: it never started */
    bool ok;
};
/* 0 and *ret; -ENOENT: nothing is known of such a job, so that it can never be met. */
typedef int (*deps_past_f) (uint64_t id, struct deps_past *ret, void *arg);
/* The job `id`, which was added, waits for all that the list has; what has happened
 * counts at once. deps_next() tells the verdict, also when nothing was open. -ENOENT (no
 * such job here), -EEXIST (it waits already), -ENOMEM: nothing has changed. O(n). */
int deps_wait (struct deps *d, uint64_t id, const struct dependencies *list,
               deps_past_f past, void *arg);
/* The next job with a verdict: 1. DEPS_MET: it is no longer one that waits; DEPS_NEVER:
 * it stays one until its end. 0: there is none now; -EAGAIN: after max_steps (> 0) steps
 * there may be more. */
int deps_next (struct deps *d, double now, unsigned max_steps, uint64_t *ret_id,
               enum deps_verdict *ret_verdict);
/* Whether deps_next() has something to do now, delays aside. */
bool deps_busy (const struct deps *d);
/* When deps_next() should be called although nothing was told (a delay ends), 0: never. */
double deps_wakeup (const struct deps *d);

enum deps_verdict deps_verdict (const struct deps *d, uint64_t id);
/* One line for people: "waits for job 37 to succeed", "job 37 did not succeed"; "" when
 * the job waits for nothing. O(n). */
void deps_reason (const struct deps *d, uint64_t id, char *buf, size_t size);
/* Ids of the jobs (at most max of them) whose start or end may change something for it;
 * returns how many were put into ids. O(n). */
size_t deps_blockers (const struct deps *d, uint64_t id, uint64_t *ids, size_t max);
/* Conditions kept for all jobs together: the caller bounds them. */
size_t deps_conditions (const struct deps *d);

#endif

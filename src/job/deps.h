/* deps.h - jobs that wait for other jobs: open conditions and verdicts
 *
 *     struct deps *d = deps_create ();
 *     deps_add (d, 38, uid, "sim");                     // every job that has not ended
 *     deps_wait (d, 38, &jobspec->depend, past, arg);   // 38 waits
 *     deps_started (d, 37, now);                        // report starts and ends
 *     deps_ended (d, 37, true);
 *     while (deps_next (d, now, 1000, &id, &verdict) == 1)
 *         ...                                           // 38: DEPS_MET or DEPS_NEVER
 *
 * A condition is open until the job that it names has started or ended; then it is met or
 * can never be met. In a list of which all conditions are needed, one that can never be
 * met decides; in a list of which one is enough, the first that is met decides
 * (dependency.h has the kinds). `after` waits for the start, as in RFC 26: it can never
 * be met when the job ends without a start.
 *
 * A report of a start or an end costs O(1); deps_next() then takes one step for each
 * condition on that job. Jobs of one user and name are listed in the order of their ids;
 * only the first of such a list can be a singleton that goes on. No clock, no input or
 * output; all times are unix times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobspec/attributes/dependency.h"

struct deps;

enum deps_verdict {
    DEPS_NONE,  /* the job waits for nothing (or is unknown) */
    DEPS_WAITS, /* the job still waits for an open condition */
    DEPS_MET,   /* the job can go on */
    DEPS_NEVER, /* its dependencies can never be met */
};

/* NULL: no memory. */
struct deps *deps_create (void);
void deps_destroy (struct deps *d);
/* Add a job that has not ended. -EEXIST, -ENOMEM. O(1) when ids come in order. */
int deps_add (struct deps *d, uint64_t id, uint32_t uid, const char *name);
/* The job has started at t (> 0). Later starts of the same job change nothing. */
void deps_started (struct deps *d, uint64_t id, double t);
/* The job has ended, ok: completed. It waits for nothing any more. */
void deps_ended (struct deps *d, uint64_t id, bool ok);

/* The past of a job that was never added, or has ended. */
struct deps_past {
    double t_start; /* 0: it never started */
    bool ok;
};
/* 0 and *ret; -ENOENT: the job is unknown, so a condition on it can never be met. */
typedef int (*deps_past_f) (uint64_t id, struct deps_past *ret, void *arg);
/* The job `id`, which was added, waits for the conditions of the list; earlier starts and
 * ends count at once. deps_next() returns the verdict, also when no condition was open.
 * -ENOENT (the job was not added), -EEXIST (it waits already), -ENOMEM: nothing has
 * changed. O(n). */
int deps_wait (struct deps *d, uint64_t id, const struct dependencies *list,
               deps_past_f past, void *arg);
/* The next job with a verdict: 1. DEPS_MET: the job no longer waits; DEPS_NEVER: it waits
 * until its end. 0: there is none now; -EAGAIN: stopped after max_steps (> 0) steps, call
 * again. */
int deps_next (struct deps *d, double now, unsigned max_steps, uint64_t *ret_id,
               enum deps_verdict *ret_verdict);
/* Whether deps_next() has something to do now, delays aside. */
bool deps_busy (const struct deps *d);
/* When to call deps_next() even without a report, because a delay ends; 0: never. */
double deps_wakeup (const struct deps *d);

enum deps_verdict deps_verdict (const struct deps *d, uint64_t id);
/* One line for people: "waits for job 37 to succeed", "job 37 did not succeed"; "" when
 * the job waits for nothing. O(n). */
void deps_reason (const struct deps *d, uint64_t id, char *buf, size_t size);
/* Write the ids of at most max jobs whose start or end can change the job's verdict;
 * returns the number of ids written. O(n). */
size_t deps_blockers (const struct deps *d, uint64_t id, uint64_t *ids, size_t max);
/* The number of conditions of all jobs together; the caller limits it. */
size_t deps_conditions (const struct deps *d);

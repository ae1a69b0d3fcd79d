/* sched.h - the queue: who starts next
 *
 *     struct sched *s = sched_create (matcher);
 *     sched_queue_set (s, 0, true);
 *     sched_enqueue (s, &entry);                       // job reached SCHED
 *     while (sched_next (s, now, 100, &d) == 1) ...    // each is already booked
 *     sched_reason (s, id, &reason);
 *
 * Strict order: by priority, larger first (urgency, then age: lower id first). A pass
 * walks the order from the front; what fits starts, what does not is passed over, and
 * later jobs may start (simple backfill). Jobs of one queue whose requests have one shape
 * stand in one group, ordered: a failed try of the group's first job stands for all of
 * them, so a pass tries each group at most once and its cost does not grow with the
 * number of equal jobs. A group that failed is left alone until match_generation() moves;
 * the pass ends when the machine has nothing free. Held jobs (urgency 0) and jobs before
 * their begin time are kept out of the order. No clock, no input or output.
 */
#ifndef FLUXQ_SCHED_SCHED_H
#define FLUXQ_SCHED_SCHED_H

#include "match/match.h"

struct sched;

struct sched_entry {
    uint64_t id;
    int64_t priority; /* larger first; equal: smaller id first */
    bool held;        /* urgency 0 */
    double begin;     /* unix time before which it may not start, 0: none */
    double duration;  /* seconds, 0: unlimited */
    const struct match_request *req; /* owned by the caller until dequeued */
    unsigned queue;                  /* index of its queue, see sched_queue_set() */
};

struct sched_decision {
    uint64_t id;
    struct rset *r; /* caller owns */
};

struct sched *sched_create (struct matcher *m);
void sched_destroy (struct sched *s);
/* A queue exists (index 0..255); stopped queues start nothing. 0, -EINVAL, -ENOMEM. */
int sched_queue_set (struct sched *s, unsigned queue, bool started);
/* Add, or change the order of, a job. 0, -EINVAL (no such queue, no request, it holds
 * resources), -ENOMEM (then it is not in the queue any more). O(log n). */
int sched_enqueue (struct sched *s, const struct sched_entry *e);
int sched_dequeue (struct sched *s, uint64_t id); /* -ENOENT */
/* Next job to start now: 1 and *ret (booked under its id, dequeued), 0: none, -ENOMEM.
 * Calls between changes go on where the last one stopped; max_tries (0: no bound)
 * bounds the match attempts of one call (then -EAGAIN: call again). */
int sched_next (struct sched *s, double now, unsigned max_tries,
                struct sched_decision *ret);
/* When sched_next() should be called again although nothing changed (a begin time), 0:
 * never. */
double sched_wakeup (const struct sched *s);

enum sched_reason_code {
    SCHED_REASON_NONE,
    SCHED_REASON_PRIORITY,  /* behind others, not tried yet */
    SCHED_REASON_RESOURCES, /* tried, does not fit now */
    SCHED_REASON_HELD,
    SCHED_REASON_BEGIN,
    SCHED_REASON_QUEUE_STOPPED,
};
struct sched_reason {
    enum sched_reason_code code;
    const char *name; /* "Resources" "Priority" "JobHeldUser" "BeginTime" ... */
    const char *text; /* one sentence; borrowed until the next call on s */
    size_t ahead; /* jobs of started queues before it in the order; 0 when not in it */
};
/* Why a pending job waits. -ENOENT when it is not in the queue. O(queues · log n). */
int sched_reason (struct sched *s, uint64_t id, struct sched_reason *ret);
/* Its name alone, for listings; NULL when it is not in the queue. O(1) for all but the
 * first of each queue. */
const char *sched_reason_name (const struct sched *s, uint64_t id);
size_t sched_pending (const struct sched *s);
/* Match attempts so far: what a pass costs. */
uint64_t sched_tries (const struct sched *s);

#endif

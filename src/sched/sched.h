/* sched.h - the queue: who starts next, and when the others will
 *
 *     struct sched *s = sched_create (matcher, queue_policy_find ("easy"), 0);
 *     sched_queue_set (s, 0, true);
 *     sched_enqueue (s, &entry);                              // job reached SCHED
 *     while ((rc = sched_next (s, now, 100, &d)) == 1) ...    // each is already booked
 *     // -EAGAIN: there is more to do, call again; 0: nobody else starts now
 *     sched_reason (s, id, now, &reason);
 *
 * Order: by priority, larger first, of equal ones the lower turn (its id, as a rule). The jobs in front that do
 * not fit now get reservations: from the earliest time on at which what they need is free
 * for as long as they asked for, if all that runs ends by its limit; as many as the policy
 * says (policy.h). Who is behind them starts if it fits now and delays none of these. When
 * something becomes free sooner, comes, goes or is cancelled, the plan from there on is
 * looked through: whom that cannot concern keeps his place, the others are planned again
 * (plan.c). What is made piece by piece is what would be made at once.
 *
 * Jobs of one shape stand in one group. Where one does not fit, no other of its group does
 * that would run as long; so a pass tries each group a few times at most, and neither its
 * cost nor that of a change grows with the number of equal jobs: O(depth of the plan +
 * groups). An elastic job starts at the largest size that fits now beside the reservations;
 * with max_wait it first holds out for its largest of all, and nothing is kept for it then.
 * Held jobs (urgency 0) and jobs before their begin time are kept out of the order.
 * No clock, no input or output. Times are unix times in seconds.
 */
#ifndef FLUXQ_SCHED_SCHED_H
#define FLUXQ_SCHED_SCHED_H

#include "match/match.h"
#include "sched/policy.h"

struct sched;

struct sched_entry {
    uint64_t id;
    int64_t priority; /* larger first; equal: smaller turn first, then smaller id */
    uint64_t turn;    /* 0: its id */
    bool held;        /* urgency 0 */
    double begin;     /* unix time before which it may not start, 0: none */
    double duration;  /* seconds, 0: unlimited */
    /* seconds for which an elastic job holds out for its largest size, from when its
     * least one first fitted; 0: it does not */
    double max_wait;
    /* seconds to which its duration may be lowered, if it starts so before a
     * reservation that stands in its way; 0: it may not */
    double time_min;
    const struct match_request *req; /* owned by the caller until dequeued */
    unsigned queue;                  /* index of its queue, see sched_queue_set() */
};

/* Why an elastic job starts at the size that it got. */
enum sched_size_code {
    SCHED_SIZE_FIXED,   /* it has one size only */
    SCHED_SIZE_LARGEST, /* its largest */
    SCHED_SIZE_FITTED,  /* no larger one fitted */
    SCHED_SIZE_WAITED,  /* nor while it held out for its largest */
};
struct sched_size {
    enum sched_size_code code;
    char text[768]; /* a sentence for its user; "" for a fixed size */
};
const char *sched_size_name (enum sched_size_code code); /* "largest"; NULL: fixed */

struct sched_decision {
    uint64_t id;
    struct rset *r;  /* caller owns */
    double duration; /* seconds, 0: unlimited; lowered, or as asked */
    struct sched_size size;
};

/* depth: of the plan, 0: the policy's own; more than QUEUE_DEPTH_MAX is that. */
struct sched *sched_create (struct matcher *m, const struct queue_policy *policy,
                            unsigned depth);
void sched_destroy (struct sched *s);
/* From the next pass on. */
void sched_set_policy (struct sched *s, const struct queue_policy *policy,
                       unsigned depth);
/* A queue exists (index 0..255); stopped queues start nothing. 0, -EINVAL. O(its jobs). */
int sched_queue_set (struct sched *s, unsigned queue, bool started);
/* Add, or change the order of, a job. 0, -EINVAL (no such queue, no request, it holds
 * resources), -ENOMEM (then it is not in the queue any more). O(log n). */
int sched_enqueue (struct sched *s, const struct sched_entry *e);
int sched_dequeue (struct sched *s, uint64_t id); /* -ENOENT */
/* Next job to start now: 1 and *ret (booked under its id, dequeued), 0: none, -ENOMEM.
 * Calls between changes go on where the last one stopped; max_tries (0: no bound) bounds
 * the work of one call: tries, reservations made and given up (then -EAGAIN). After nodes
 * came or went the first calls prepare the matcher, and try nothing. */
int sched_next (struct sched *s, double now, unsigned max_tries,
                struct sched_decision *ret);
/* All reservations are given up, and made again from the next pass on: before something is
 * booked past the plan. O(depth of the plan). */
void sched_unplan (struct sched *s);
/* When sched_next() should be called again although nothing changed (a begin time, the
 * start of a reservation), 0: never. */
double sched_wakeup (const struct sched *s);

enum sched_reason_code {
    SCHED_REASON_NONE,
    SCHED_REASON_PRIORITY,  /* behind others, not tried yet */
    SCHED_REASON_RESOURCES, /* tried, does not fit now */
    SCHED_REASON_HELD,
    SCHED_REASON_BEGIN,
    SCHED_REASON_QUEUE_STOPPED,
};
#define SCHED_BLOCKERS_MAX 4
struct sched_reason {
    enum sched_reason_code code;
    const char *name; /* "Resources" "Priority" "JobHeldUser" "BeginTime" ... */
    const char *text; /* one sentence; borrowed until the next call on s */
    size_t ahead; /* jobs of started queues before it in the order; 0 when not in it */
    /* as planned; 0: it has no reservation, or waits for jobs without limit */
    double start;
    struct match_blocker blockers[SCHED_BLOCKERS_MAX]; /* that it waits for, then */
    size_t nblockers;
};
/* Why a pending job waits. -ENOENT when it is not in the queue. O(log n), and of one with a
 * reservation what is on its nodes. */
int sched_reason (struct sched *s, uint64_t id, struct sched_reason *ret);
/* The jobs on what is reserved for it, as in struct sched_reason: at most max; their number. */
size_t sched_blockers (const struct sched *s, uint64_t id, struct match_blocker *ret,
                       size_t max);
/* How many are ahead of it, and its planned start, as in struct sched_reason, for listings.
 * -ENOENT: it is not in the order. O(log n). */
int sched_position (const struct sched *s, uint64_t id, size_t *ahead, double *start);
/* Its name alone, for listings; NULL when it is not in the queue. O(1). */
const char *sched_reason_name (const struct sched *s, uint64_t id);
/* When it starts: by its reservation (*planned), else not before that time, at which it
 * would fit were it the next to be planned. 0; -ENOENT: not in the queue; -EBUSY: held,
 * stopped, or nobody can tell (nodes are down, or it waits for jobs without limit); -ENOMEM. Costs a match. */
int sched_estimate (struct sched *s, uint64_t id, double now, double *start,
                    bool *planned);
/* The first ones in the order, which wait for a place: at most `room`; their number. O(room log n). */
struct sched_front {
    uint64_t id;
    const struct match_request *req; /* as it is queued */
    double duration;
};
size_t sched_front (const struct sched *s, struct sched_front *list, size_t room);
size_t sched_pending (const struct sched *s);
/* Matches so far: what a pass costs. */
uint64_t sched_tries (const struct sched *s);

#endif

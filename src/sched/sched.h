/* sched.h - the queue: which job starts next, and when the other jobs will start
 *
 *     struct sched *s = sched_create (matcher, queue_policy_find ("easy"), 0);
 *     sched_queue_set (s, 0, true);
 *     sched_enqueue (s, &entry);                              // job reached SCHED
 *     while ((rc = sched_next (s, now, 100, &d)) == 1) ...    // each is already booked
 *     // -EAGAIN: there is more to do, call again; 0: no other job starts now
 *     sched_reason (s, id, &reason);
 *
 * The policy (policy.h) orders the jobs: by priority, larger first, as a rule; between
 * equal ranks by turn, smaller first (the job id, as a rule). The first jobs that do not
 * fit now get reservations, as many as the policy says. A reservation is at the earliest
 * time at which the resources are free for the requested duration, provided that all
 * running jobs end by their limits. A job behind the reservations starts if the policy
 * lets it pass, it fits now and it delays none of them. When resources become free
 * earlier, or jobs and nodes come or go, the plan is checked from that point on: jobs
 * that the change cannot affect keep their place in the plan, the others are planned
 * again (plan.c). A plan made piece by piece equals a plan made at once.
 *
 * Jobs of equal shape form a group. If one job does not fit, no other job of its group
 * with an equal or longer duration fits; so a pass tries each group a few times at most.
 * Neither the cost of a pass nor that of a change grows with the number of equal jobs:
 * O(depth of the plan + groups). An elastic job starts at the largest size that fits now
 * beside the reservations. With max_wait, an elastic job first holds out for its largest
 * size, and nothing is reserved for it meanwhile. Held jobs (urgency 0) and jobs before
 * their begin time are not in the order. No clock, no input or output. Times are unix
 * times in seconds.
 */
#pragma once

#include "match/machine/match.h"
#include "sched/licenses.h"
#include "sched/policy.h"

struct sched;

struct sched_entry {
    uint64_t id;
    int64_t priority; /* for the policy, which ranks jobs; as a rule larger first */
    uint64_t turn;    /* between equal ranks smaller first; 0: use the id */
    bool held;        /* urgency 0 */
    double begin;     /* unix time before which the job does not start, 0: none */
    double duration;  /* seconds, 0: unlimited */
    /* seconds for which an elastic job holds out for its largest size, counted from the
     * time at which its least size first fitted; 0: it does not hold out */
    double max_wait;
    /* seconds to which the duration may be lowered, if the job then starts before a
     * reservation in its way; 0: not at all */
    double time_min;
    const struct match_request *req; /* owned by the caller until the job is dequeued */
    const struct license_need *licenses; /* the same; NULL: the job needs none */
    unsigned queue;                  /* index of the job's queue, see sched_queue_set() */
};

/* Why an elastic job starts at its size. */
enum sched_size_code {
    SCHED_SIZE_FIXED,   /* the job has one size only */
    SCHED_SIZE_LARGEST, /* the job's largest size */
    SCHED_SIZE_FITTED,  /* no larger size fitted */
    SCHED_SIZE_WAITED,  /* nor did a larger size fit while the job held out */
};
struct sched_size {
    enum sched_size_code code;
    char text[768]; /* a sentence for the user; "" for a fixed size */
};
const char *sched_size_name (enum sched_size_code code); /* "largest"; NULL: fixed */

struct sched_decision {
    uint64_t id;
    struct rset *r;  /* owned by the caller */
    double duration; /* seconds, 0: unlimited; as requested, or lowered */
    struct sched_size size;
};

/* depth: of the plan; 0: the policy's own; values above QUEUE_DEPTH_MAX count as that. */
struct sched *sched_create (struct matcher *m, const struct queue_policy *policy,
                            unsigned depth);
void sched_destroy (struct sched *s);
/* Takes effect with the next pass. O(depth of the plan); O(n log n) with n jobs if the
 * order of the new policy is another one. */
void sched_set_policy (struct sched *s, const struct queue_policy *policy,
                       unsigned depth);
/* Adds a queue (index 0..255) or changes its state; a stopped queue starts no jobs. 0,
 * -EINVAL. O(jobs in the queue). */
int sched_queue_set (struct sched *s, unsigned queue, bool started);
/* Adds a job, or changes a job's place in the order. 0, -EINVAL (no such queue, no
 * request, or the job has an allocation), -ENOMEM (the job is not in the queue any more).
 * O(log n). */
int sched_enqueue (struct sched *s, const struct sched_entry *e);
int sched_dequeue (struct sched *s, uint64_t id); /* -ENOENT */
/* Finds the next job to start now. 1: *ret is that job, dequeued and booked under its id;
 * 0: none; -ENOMEM. Calls without a change in between continue where the last one
 * stopped. max_tries (0: no limit) limits the work of one call (tries, reservations made
 * and cancelled); -EAGAIN: the limit is reached. */
int sched_next (struct sched *s, double now, unsigned max_tries,
                struct sched_decision *ret);
/* Cancels all reservations until the next pass makes them again. Call it before a booking
 * that ignores the plan. O(depth of the plan). */
void sched_unplan (struct sched *s);
/* Returns the time at which sched_next() should be called again even if nothing changes
 * (a begin time, the start of a reservation); 0: never. */
double sched_wakeup (const struct sched *s);

enum sched_reason_code {
    SCHED_REASON_NONE,
    SCHED_REASON_PRIORITY,  /* behind other jobs, not tried yet */
    SCHED_REASON_RESOURCES, /* tried, does not fit now */
    SCHED_REASON_LICENSES,  /* tried, lacks licenses */
    SCHED_REASON_HELD,
    SCHED_REASON_BEGIN,
    SCHED_REASON_QUEUE_STOPPED,
};
#define SCHED_BLOCKERS_MAX 4
struct sched_reason {
    enum sched_reason_code code;
    const char *name; /* "Resources" "Priority" "JobHeldUser" "BeginTime" ... */
    const char *text; /* one sentence; borrowed until the next call on s */
    size_t ahead; /* jobs of started queues before the job in the order; 0 if it is not in
                   * the order */
    /* planned start; 0: the job has no reservation, or waits for jobs without a limit */
    double start;
    struct match_blocker blockers[SCHED_BLOCKERS_MAX]; /* with a planned start: jobs that
                                                        * the job waits for */
    size_t nblockers;
};
/* Tells why a pending job waits. -ENOENT: the job is not in the queue. O(log n), plus,
 * for a job with a reservation, the claims on its nodes. */
int sched_reason (struct sched *s, uint64_t id, struct sched_reason *ret);
/* Lists the jobs that hold what is reserved for the job, as in struct sched_reason, at
 * most max. Returns their number. */
size_t sched_blockers (const struct sched *s, uint64_t id, struct match_blocker *ret,
                       size_t max);
/* Returns the number of jobs ahead and the planned start, as in struct sched_reason, for
 * listings. -ENOENT: the job is not in the order. O(log n). */
int sched_position (const struct sched *s, uint64_t id, size_t *ahead, double *start);
/* Returns the name of the reason alone, for listings; NULL: the job is not in the queue.
 * O(1). */
const char *sched_reason_name (const struct sched *s, uint64_t id);
/* Estimates the start of a job: the start of its reservation (*planned), else a lower
 * bound, the time at which the job would fit if it were the next to be planned. 0;
 * -ENOENT: not in the queue; -EBUSY: held, stopped, or unknown (nodes are down, or the
 * job waits for jobs without a limit); -ENOMEM. Costs a match. */
int sched_estimate (struct sched *s, uint64_t id, double now, double *start,
                    bool *planned);
/* Lists the first jobs in the order that wait for resources, at most `room`. Returns
 * their number. The jobs are borrowed until the next call that changes the queue. O(room
 * log n). */
size_t sched_front (const struct sched *s, const struct sched_entry **list, size_t room);
/* Tells whether the policy lets the job start before one job that waits without a known
 * start. */
bool sched_may_pass (const struct sched *s, const struct sched_entry *job);
size_t sched_pending (const struct sched *s);

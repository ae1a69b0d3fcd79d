/* sched_private.h - data shared by the files of the queue
 *
 *     sched.c     jobs in and out, groups of equal jobs
 *     licenses.c  whether licenses of the site are free for a job
 *     plan.c      the first jobs, with their reservations, and which of these are
 *                 doubtful
 *     pass.c      which job starts now, which gets a reservation
 *     reason.c    why a job waits, and until when
 *     size.c      why an elastic job starts at its size
 */
#pragma once

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <limits.h>
#include <uthash.h>
#include <utlist.h>

#include "sched/order.h"
#include "sched/sched.h"

#define QUEUES_MAX 256
#define ALL_QUEUES UINT_MAX
#define REASON_MAX (ERROR_TEXT_MAX + 512)

/* Place of a job: the sets that hold its links. */
enum where {
    NOWHERE,
    HELD,    /* in no set */
    WAITING, /* s->waiting, by begin time */
    STOPPED, /* the jobs of its queue */
    ORDERED, /* s->order, and the jobs of its group unless it is planned */
};

struct pending {
    UT_hash_handle hh; /* beside the id, so that a look-up touches little memory */
    struct sched_entry job;
    struct order_link place; /* in the group's jobs, or s->waiting */
    struct order_link rank;  /* in s->order, or the jobs of its queue */
    enum where where;
    double fitted; /* time since which its least size fits; 0: it does not fit */
    bool holds;    /* held out for its largest size at the last try */
    struct group *group; /* when ORDERED */
    bool planned;        /* the job is in s->plan */
    double start;        /* of its reservation, 0: none */
    char *why;           /* for a planned job without a reservation: the reason, or
                          * NULL */
    bool lacks;          /* the job lacked licenses at its last try */
};

/* Jobs of equal shape. */
struct group {
    uint64_t shape;
    size_t n; /* jobs, including planned ones */
    struct order jobs;
    struct order_link head; /* in s->ready, with the key of the next job to try */
    enum { READY, FAILED } state;
    double bound;              /* jobs with this duration or longer do not fit now */
    unsigned misses;           /* failed tries beside reservations, since the last
                                * reset */
    struct group *prev, *next; /* in s->failed */
    char *why;                 /* of the last failed try, or NULL */
    uint64_t why_starts;       /* s->starts at that time */
    bool lacks;                /* that job lacked licenses */
    UT_hash_handle hh;
};

struct queue {
    bool exists, started;
    struct order jobs; /* STOPPED ones */
};

struct planned {
    struct pending *p; /* NULL: the job has left */
    struct order_key key;
};

struct sched {
    struct matcher *m;
    const struct queue_policy *policy;
    unsigned depth;
    struct pending *by_id;
    struct pending *found; /* the last one that sched_find() found, or NULL */
    struct order order; /* of all jobs that may start */
    struct order waiting;
    struct queue queues[QUEUES_MAX];
    struct group *groups;
    struct order ready;   /* groups, by their next job to try */
    struct group *failed; /* groups without a job that may fit now */
    struct planned *plan; /* the first jobs, in order */
    size_t nplan, plan_alloc;
    size_t checked;   /* so many first entries are valid */
    size_t suspended; /* reservations from this entry on are suspended; >= checked */
    bool doubted;     /* the entries in between are still to suspend */
    bool whole;       /* all entries are valid, and match_plan_made() was called */
    size_t nreserved; /* valid entries with a reservation */
    /* when a job has held out for long enough; INFINITY: none holds out */
    double hold_until;
    double first_start; /* first start of the reservations, INFINITY: none */
    double now;         /* of the last pass */
    double renewed;     /* last time the plan was renewed because a start had come */
    uint64_t generation, layout; /* of the matcher, for which all this is valid */
    uint64_t tries;              /* matches so far, the main cost of a pass: for tests */
    uint64_t starts; /* jobs that started */
    const struct license_pool *pool; /* NULL: no job has needed licenses */
    uint64_t pool_generation;        /* for which all this is valid */
    char text[REASON_MAX];
};

/* A job without a time limit is planned for a year; a job that waits for it has no start
 * to show. */
#define SCHED_YEAR (365 * 86400.0)
#define SCHED_SOMEDAY (180 * 86400.0)

/* -- sched.c -- */

struct pending *sched_find (const struct sched *s, uint64_t id);
/* Removes the job from the queue. */
void sched_forget (struct sched *s, struct pending *p);
/* Moves jobs whose begin time has come into the order. 0 or -ENOMEM. */
int sched_ripen (struct sched *s, double now);
/* Updates the group after its next job to try may have changed. */
void group_refresh (struct sched *s, struct group *g);
/* Marks all groups as ones that may fit again. */
void groups_reset (struct sched *s);
/* Sets the reason why a job of the group does not fit now. */
void group_set_why (struct sched *s, struct group *g, const char *why);

/* -- plan.c -- */

#define PLAN_UNTIMED_MAX 100 /* jobs in the plan without a known start */

/* Marks the plan as doubtful from that key on. */
void plan_doubt (struct sched *s, const struct order_key *from);
void plan_doubt_all (struct sched *s);
/* Removes a leaving job from the plan, and cancels its reservation. */
void plan_leave (struct sched *s, struct pending *p);
/* Suspends some of the doubtful reservations; false: all are suspended. */
bool plan_suspend (struct sched *s);
/* Returns the valid part of the plan, for the policy. */
struct queue_plan plan_view (const struct sched *s);
/* Returns the next job to plan, whether in the plan or not; NULL: the policy plans no
 * more jobs. */
struct pending *plan_next (struct sched *s);
/* Keeps the next entry of the plan, with that start. */
void plan_keep (struct sched *s, struct pending *p, double start);
/* Takes a job out of the plan, to be tried like any other. */
void plan_take_out (struct sched *s, struct pending *p);
/* Adds a job to the plan. start 0: no reservation, for the reason `why`. -ENOMEM. */
int plan_add (struct sched *s, struct pending *p, double start, const char *why);
/* Drops the last doubtful entry of a plan that has enough jobs. false: there is none. */
bool plan_drop_last (struct sched *s);
/* Notes that all entries are valid. */
void plan_made (struct sched *s);

/* -- licenses.c -- */

enum lack {
    LACKS_NOTHING,
    LACKS,          /* too few are free now */
    LACKS_FOR_LONG, /* too few for its duration, as jobs ahead need them */
};
/* Whether the job lacks licenses now, beside the valid part of the plan; why says
 * which. O(plan). */
enum lack licenses_lack (const struct sched *s, const struct pending *p,
                         struct error *why);
/* Jobs that need the same licenses have equal keys; 0: none. */
uint64_t licenses_key (const struct sched_entry *job);

/* -- size.c -- */

/* why: what prevented the largest size; NULL: unknown. */
void size_note (const struct sched *s, const struct pending *p, enum sched_size_code code,
                const char *why, struct sched_size *size);
/* Completes the decision for an elastic job that was placed at the largest size that
 * fits: d->r and d->size. Errors as match_allocate(). */
int size_explain (struct sched *s, struct pending *p, struct sched_decision *d,
                  struct error *why);

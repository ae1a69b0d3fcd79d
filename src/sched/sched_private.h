/* sched_private.h - what the files of the queue share
 *
 *     sched.c     jobs in and out, groups of equal ones
 *     plan.c      the jobs in front that have a place, and what of it may not hold any more
 *     pass.c      who starts now, who gets a reservation
 *     reason.c    why a job waits, and until when
 *     size.c      why an elastic job starts at its size
 */
#ifndef FLUXQ_SCHED_SCHED_PRIVATE_H
#define FLUXQ_SCHED_SCHED_PRIVATE_H

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "sched/order.h"
#include "sched/sched.h"

#define QUEUES_MAX 256
#define REASON_MAX (ERROR_TEXT_MAX + 512)

/* Where a job is: its links are in the sets that this names. */
enum where {
    NOWHERE,
    HELD,    /* in no set */
    WAITING, /* s->waiting, by begin time */
    STOPPED, /* its queue's jobs */
    ORDERED, /* s->order; and in its group's jobs, unless it is planned */
};

struct pending {
    uint64_t id;
    struct order_link place; /* in the group's jobs, or s->waiting */
    struct order_link rank;  /* in s->order, or its queue's jobs */
    enum where where;
    unsigned queue;
    int64_t priority;
    uint64_t turn;
    double begin, duration, max_wait, time_min; /* as asked */
    double fitted; /* since when its least size has fitted; 0: it has not */
    bool holds;    /* out for its largest size, at the last try */
    const struct match_request *req;
    struct group *group; /* when ORDERED */
    bool planned;        /* it is in s->plan */
    double start;        /* of its reservation, 0: it has none */
    char *why;           /* planned, and there is no time for it: why not, or NULL */
    UT_hash_handle hh;
};

/* Jobs of one shape. */
struct group {
    uint64_t shape;
    size_t n; /* jobs, planned ones included */
    struct order jobs;
    struct order_link head; /* in s->ready, with the key of the next to try */
    enum { READY, FAILED } state;
    double bound;              /* who would run as long, or longer, does not fit now */
    unsigned misses;           /* failed tries beside reservations, since it was reset */
    struct group *prev, *next; /* in s->failed */
    char *why;                 /* of the last failed try, or NULL */
    uint64_t why_starts;       /* s->starts at that time */
    UT_hash_handle hh;
};

struct queue {
    bool exists, started;
    struct order jobs; /* STOPPED ones */
};

struct planned {
    struct pending *p; /* NULL: it has gone */
    struct order_key key;
};

struct sched {
    struct matcher *m;
    const struct queue_policy *policy;
    unsigned depth;
    struct pending *by_id;
    struct order order; /* of all that may start */
    struct order waiting;
    struct queue queues[QUEUES_MAX];
    struct group *groups;
    struct order ready;   /* groups, by the next of them to try */
    struct group *failed; /* none of them has a job that would fit now */
    struct planned *plan; /* the jobs in front, in order */
    size_t nplan, plan_alloc;
    size_t checked;   /* the first so many hold */
    size_t suspended; /* and from this one on their reservations are; >= checked */
    bool doubted;     /* those between are still to be suspended */
    bool whole;       /* all hold, and the matcher was told so */
    size_t nreserved; /* of those that hold have a reservation */
    /* when somebody has held out for long enough, INFINITY: nobody does */
    double hold_until;
    double first_start; /* of the reservations, INFINITY: there is none */
    double now;         /* of the last pass */
    double renewed;     /* when the plan was last renewed because a start had come */
    uint64_t generation, layout; /* of the matcher, for which all this holds */
    uint64_t tries;
    uint64_t starts; /* jobs that started */
    char text[REASON_MAX];
};

/* Who has no time limit is planned for a year; what waits for that has no start to tell. */
#define SCHED_YEAR (365 * 86400.0)
#define SCHED_SOMEDAY (180 * 86400.0)

/* -- sched.c -- */

struct pending *sched_find (const struct sched *s, uint64_t id);
/* The job leaves the queue. */
void sched_forget (struct sched *s, struct pending *p);
/* Jobs whose begin time has come join the order. 0 or -ENOMEM. */
int sched_ripen (struct sched *s, double now);
/* Its next job to try may be another one now, or none. */
void group_refresh (struct sched *s, struct group *g);
/* All may fit again. */
void groups_reset (struct sched *s);
/* Why one of the group does not fit now. */
void group_set_why (struct sched *s, struct group *g, const char *why);

/* -- plan.c -- */

#define PLAN_UNTIMED_MAX 100 /* jobs in the plan that nobody can tell a time for */

/* The plan may not hold any more from that key on. */
void plan_doubt (struct sched *s, const struct order_key *from);
/* A planned job goes: its reservation ends now. */
void plan_leave (struct sched *s, struct pending *p);
/* A step to suspend what is doubtful; false: all is. */
bool plan_suspend (struct sched *s);
/* Whose turn it is, in the plan or not; NULL: there are enough. */
struct pending *plan_next (struct sched *s);
/* It is in the plan, and has its place there. */
void plan_keep (struct sched *s, struct pending *p, double start);
/* It is in the plan, and is to be tried as if it were not. */
void plan_take_out (struct sched *s, struct pending *p);
/* A new one. start 0: there is no time for it, and why. -ENOMEM. */
int plan_add (struct sched *s, struct pending *p, double start, const char *why);
/* There are enough: the last doubtful one is not needed. false: there is none. */
bool plan_drop_last (struct sched *s);
/* All hold. */
void plan_made (struct sched *s);

/* -- size.c -- */

/* why: what stood in the way of its largest size; NULL: not known. */
void size_note (const struct sched *s, const struct pending *p, enum sched_size_code code,
                const char *why, struct sched_size *size);
/* For an elastic job that has been placed, at the largest size that fits: d->r and d->size.
 * As match_allocate(). */
int size_explain (struct sched *s, struct pending *p, struct sched_decision *d,
                  struct error *why);

#endif

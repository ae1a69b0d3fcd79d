/* usage.h - who has used how much of late, and the factor of fair share that follows
 *
 *     struct usage *u = usage_create (7 * 86400);                 // half-life, seconds
 *     usage_begin (u, uid, "alice", 8, now, now);                 // 8 cores are hers
 *     usage_end (u, uid, 8, began, now);                          // and are no more
 *     double f = usage_fair_share (u, uid, now);                  // 0..1 for priority.h
 *
 * Usage is core-seconds: cores allocated times the time that they are, whether a program
 * uses them or not. A running job counts as it runs. What was used counts half after a
 * half-life, a quarter after two, and so on; half-life 0: it counts fully for ever.
 *
 *     factor = 2^(-(usage / usage of all) / share)         share = 1 / number of users
 *
 * as in Slurm's classic fair share ("Classic Fairshare Algorithm" of its documentation,
 * after J. Kay and P. Lauder, A fair share scheduler, 1988, and G. Henry, The UNIX system:
 * the fair share scheduler, 1984): 1 for who has used nothing, 1/2 for who has used just
 * their share, near 0 for who has used much more. All users have one share each. The
 * users that count are those who have been named and whose usage has not faded.
 *
 * Decay is lazy: with rate r (cores held) and l = ln 2 / half-life the usage U of time t0
 * has become U e^(-l(t-t0)) + r (1 - e^(-l(t-t0))) / l at t. So the begin of a job, its
 * end and a look are O(1) each, whatever runs. What jobs that still run have used is kept
 * apart from what ended ones have: the latter (usage_past()) is what somebody must keep
 * to know it all again after a restart, the former comes again from the jobs.
 *
 * Factors are looked up by round: all jobs of a user get the same one until usage_round(),
 * so that they do not overtake each other between two computations of priorities.
 * A clock that is set back lets usage stand still until it has caught up. No clock here.
 */
#ifndef FLUXQ_SCHED_USAGE_H
#define FLUXQ_SCHED_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usage;

/* half_life: seconds, >= 0. NULL: no memory. */
struct usage *usage_create (double half_life);
void usage_destroy (struct usage *u);
/* From now on; what was used until now is not counted anew. */
void usage_set_half_life (struct usage *u, double half_life, double now);

/* The user counts from here on. name (copied) may be NULL: then it stays what it was.
 * 0 or -ENOMEM. */
int usage_name (struct usage *u, uint32_t uid, const char *name);
/* The user holds these cores, and has since then. 0 or -ENOMEM. */
int usage_begin (struct usage *u, uint32_t uid, int64_t cores, double since, double now);
/* The user who began so holds them no more. */
void usage_end (struct usage *u, uint32_t uid, int64_t cores, double since, double now);
/* As usage_past() was at a time. 0, -ENOMEM, -EINVAL (not finite, negative). */
int usage_restore (struct usage *u, uint32_t uid, double core_seconds, double at,
                   double now);

/* Core-seconds at a time not before the last that u was told; 0 for unknown users. */
double usage_of (const struct usage *u, uint32_t uid, double now);
double usage_past (const struct usage *u, uint32_t uid, double now); /* of ended jobs */
double usage_all (const struct usage *u, double now);
/* 0..1, as of the first look in this round. */
double usage_fair_share (struct usage *u, uint32_t uid, double now);
/* What a user's part of the machine should be, 0..1. */
double usage_share (const struct usage *u);

/* A new round begins: factors are computed anew. */
void usage_round (struct usage *u);
/* The round ends: drops a user whom nobody named in it, who holds nothing and has used
 * less than a core-second; fn (may be NULL) is told each. O(users). */
void usage_drop_idle (struct usage *u, double now, void (*fn) (uint32_t uid, void *arg),
                      void *arg);

struct usage_user {
    uint32_t uid;
    const char *name; /* "" if never told; valid until the user is dropped or renamed */
    double core_seconds, past, factor;
    int64_t cores; /* held now */
};
size_t usage_count (const struct usage *u);
/* One user; false: is not known. */
bool usage_look (struct usage *u, uint32_t uid, double now, struct usage_user *ret);
/* Uids of all, sorted; the caller frees; NULL: no memory. */
uint32_t *usage_uids (const struct usage *u, size_t *ret_n);

#endif

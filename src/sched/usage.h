/* usage.h - recent usage of each user, and the factor of fair share that follows from it
 *
 *     struct usage *u = usage_create (7 * 86400);                 // half-life, seconds
 *     usage_begin (u, uid, "alice", 8, now, now);                 // she holds 8 cores
 *     usage_end (u, uid, 8, began, now);                          // and releases them
 *     double f = usage_fair_share (u, uid, now);                  // 0..1 for priority.h
 *
 * Usage is core-seconds: allocated cores times the time of the allocation, whether a
 * program uses the cores or not. A running job counts while it runs. Past usage counts
 * half after a half-life, a quarter after two, and so on; with half-life 0 it counts
 * fully forever.
 *
 *     factor = 2^(-(usage / usage of all) / share)         share = 1 / number of users
 *
 * as in Slurm's classic fair share ("Classic Fairshare Algorithm" of its documentation,
 * after J. Kay and P. Lauder, A fair share scheduler, 1988, and G. Henry, The UNIX
 * system: the fair share scheduler, 1984): 1 for a user without usage, 1/2 for a user who
 * has used exactly their share, near 0 for a user who has used much more. All users have
 * one share each. The users who count are those who were named and whose usage has not
 * faded.
 *
 * Decay is lazy: with rate r (cores held) and l = ln 2 / half-life, the usage U of time
 * t0 has become U e^(-l(t-t0)) + r (1 - e^(-l(t-t0))) / l at t. So the begin of a job,
 * its end and a query are O(1) each, whatever runs. The usage of running jobs is separate
 * from that of ended jobs: the caller must store the latter (usage_past()) to restore all
 * usage after a restart; the former is derived again from the jobs.
 *
 * Factors are computed once per round: all jobs of a user get the same factor until
 * usage_round(), so that they do not overtake each other between two computations of
 * priorities. If the clock is set back, usage stands still until the clock has caught up.
 * No clock here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usage;

/* half_life: seconds, >= 0. NULL: no memory. */
struct usage *usage_create (double half_life);
void usage_destroy (struct usage *u);
/* Takes effect from now on; past usage is not recomputed. */
void usage_set_half_life (struct usage *u, double half_life, double now);

/* Makes the user count. name (copied) may be NULL, which keeps the present name. 0 or
 * -ENOMEM. */
int usage_name (struct usage *u, uint32_t uid, const char *name);
/* The user has held these cores since that time. 0 or -ENOMEM. */
int usage_begin (struct usage *u, uint32_t uid, int64_t cores, double since, double now);
/* The user releases cores taken by the matching usage_begin(). */
void usage_end (struct usage *u, uint32_t uid, int64_t cores, double since, double now);
/* Restores usage_past() as it was at a time. 0, -ENOMEM, -EINVAL (not finite,
 * negative). */
int usage_restore (struct usage *u, uint32_t uid, double core_seconds, double at,
                   double now);

/* Core-seconds at a time not before the latest time given to u; 0 for unknown users. */
double usage_of (const struct usage *u, uint32_t uid, double now);
double usage_past (const struct usage *u, uint32_t uid, double now); /* of ended jobs */
double usage_all (const struct usage *u, double now);
/* 0..1, computed by the first call in this round. */
double usage_fair_share (struct usage *u, uint32_t uid, double now);
/* The part of the machine that each user should have, 0..1. */
double usage_share (const struct usage *u);

/* Begins a new round: factors are computed again. */
void usage_round (struct usage *u);
/* Ends the round: drops each user who was not named in it, holds nothing and has used
 * less than a core-second; calls fn (may be NULL) for each. O(users). */
void usage_drop_idle (struct usage *u, double now, void (*fn) (uint32_t uid, void *arg),
                      void *arg);

struct usage_user {
    uint32_t uid;
    const char *name; /* "" if unknown; valid until the user is dropped or renamed */
    double core_seconds, past, factor;
    int64_t cores; /* held now */
};
size_t usage_count (const struct usage *u);
/* Finds one user; false: unknown. */
bool usage_look (struct usage *u, uint32_t uid, double now, struct usage_user *ret);
/* Returns the uids of all users, sorted; the caller frees; NULL: no memory. */
uint32_t *usage_uids (const struct usage *u, size_t *ret_n);

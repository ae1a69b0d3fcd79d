/* startclock.h - measures a start, stage by stage, and finds starts that take too long
 *
 *     startclock_init (&c, nranks, &job->limits, now);
 *     startclock_advance (&c, now);                   // adds the time to the stages
 *     startclock_set (&c, rank, START_PULLING);       // ... and changes a stage
 *     if ((late = startclock_late (&c)) != START_IN_TIME)
 *         ... startclock_is_at_fault (&c, late, rank) ...
 *     startclock_release (&c);
 *
 *   START_UNPLACED ----> START_CREATED <----> START_PULLING      of each rank
 *    limits.place          |      limits.pull
 *    `-- limits.start -----+--> START_UP
 *
 * Each rank has a clock for each stage. A rank without a place is late after
 * limits.place, a rank that pulls its image after limits.pull. A rank that is neither up
 * nor pulling is late when its time without a place and its time created are
 * limits.start together. If all ranks are up but the agents have not found each other,
 * the start is late after limits.start in which no rank pulled. Pure: time is an
 * argument, in seconds of any clock that never goes back.
 */
#pragma once

#include "exec/exec.h"

enum start_stage {
    START_UNPLACED, /* has no place on a node yet */
    START_PULLING,  /* its node pulls the image */
    START_CREATED,  /* has a place, and does not run yet */
    /* its agent runs; the job is ready once all agents have found each other */
    START_UP,
};

enum start_late {
    START_IN_TIME,
    START_LATE_PLACE,
    START_LATE_PULL,
    START_LATE_UP,
    START_LATE_JOIN, /* all are up */
};

struct start_rank {
    enum start_stage stage;
    double spent[START_UP]; /* seconds in each stage */
};

struct startclock {
    struct exec_limits limits;
    struct start_rank *ranks;
    uint32_t nranks;
    double at;
    double unpulled; /* seconds while no rank pulled */
};

/* All ranks begin without a place. 0 or -ENOMEM; a clock that was released or zeroed has
 * no ranks and is never late. */
int startclock_init (struct startclock *c, uint32_t nranks,
                     const struct exec_limits *limits, double now);
void startclock_release (struct startclock *c);
/* Adds the time since the last call to the present stages of the ranks. */
void startclock_advance (struct startclock *c, double now);
/* Discards the time since the last call: the stages of the ranks were not known. */
void startclock_skip (struct startclock *c, double now);
void startclock_set (struct startclock *c, uint32_t rank, enum start_stage stage);
/* Moves the last `seconds` of the rank from the stage created to the stage pulling. */
void startclock_was_pulling (struct startclock *c, uint32_t rank, double seconds);
/* As of the last advance; if several apply, the first in enum start_late. */
enum start_late startclock_late (const struct startclock *c);
/* Whether the rank contributed to the delay; never for START_LATE_JOIN. */
bool startclock_is_at_fault (const struct startclock *c, enum start_late late,
                             uint32_t rank);
/* The exceeded limit, in seconds. */
double startclock_limit (const struct startclock *c, enum start_late late);

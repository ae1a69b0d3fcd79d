/* startclock.h - how long a start has taken, stage by stage, and whether that is too long
 *
 *     startclock_init (&c, nranks, &job->limits, now);
 *     startclock_advance (&c, now);                   // what has passed counts as it stood
 *     startclock_set (&c, rank, START_PULLING);       // ... and from here on like this
 *     if ((late = startclock_late (&c)) != START_IN_TIME)
 *         ... startclock_is_at_fault (&c, late, rank) ...
 *     startclock_release (&c);
 *
 *   START_UNPLACED ----> START_CREATED <----> START_PULLING      of each rank
 *    limits.place          |      limits.pull
 *    `-- limits.start -----+--> START_UP
 *
 * Each rank has a clock a stage. One that is not placed is late after limits.place, one
 * that pulls its image after limits.pull, one that is neither up nor pulling when its time
 * without a place and its time created are limits.start together. When all are up and the
 * agents have not found each other, the start is late after limits.start in which no rank
 * pulled. Pure: time comes in, in seconds of any clock that does not go back.
 */
#ifndef FLUXQ_EXEC_STARTCLOCK_H
#define FLUXQ_EXEC_STARTCLOCK_H

#include "exec/exec.h"

enum start_stage {
    START_UNPLACED, /* it has no place on its node yet */
    START_PULLING,  /* its image is on the way to its node */
    START_CREATED,  /* it has a place, and does not run yet */
    START_UP,       /* its agent runs; it is not ready before all have found each other */
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
    double spent[START_UP]; /* seconds a stage */
};

struct startclock {
    struct exec_limits limits;
    struct start_rank *ranks;
    uint32_t nranks;
    double at;
    double unpulled; /* seconds in which no rank pulled */
};

/* All ranks begin without a place. 0 or -ENOMEM; a released or zeroed one has no ranks and
 * is never late. */
int startclock_init (struct startclock *c, uint32_t nranks,
                     const struct exec_limits *limits, double now);
void startclock_release (struct startclock *c);
/* The time since the last call counts for the stages that the ranks are in. */
void startclock_advance (struct startclock *c, double now);
/* It counts for nothing: nobody could know what the ranks did. */
void startclock_skip (struct startclock *c, double now);
void startclock_set (struct startclock *c, uint32_t rank, enum start_stage stage);
/* It turns out that for its last `seconds` the rank was not created but pulling. */
void startclock_was_pulling (struct startclock *c, uint32_t rank, double seconds);
/* As of the last advance; of several the one that is named first in enum start_late. */
enum start_late startclock_late (const struct startclock *c);
/* Whether that is (also) the rank's doing; never for START_LATE_JOIN. */
bool startclock_is_at_fault (const struct startclock *c, enum start_late late,
                             uint32_t rank);
/* The limit that was passed, in seconds. */
double startclock_limit (const struct startclock *c, enum start_late late);

#endif

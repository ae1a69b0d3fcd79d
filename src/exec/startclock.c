/* startclock.c - see startclock.h */
#include "exec/startclock.h"

int startclock_init (struct startclock *c, uint32_t nranks,
                     const struct exec_limits *limits, double now)
{
    *c = (struct startclock){ .limits = *limits, .at = now };
    if (!(c->ranks = calloc (MAX (nranks, 1u), sizeof (*c->ranks))))
        return -ENOMEM;
    c->nranks = nranks;
    return 0;
}

void startclock_release (struct startclock *c)
{
    free (c->ranks);
    memset (c, 0, sizeof (*c));
}

void startclock_advance (struct startclock *c, double now)
{
    double passed = MAX (now - c->at, 0.0);
    bool pulls = false;

    for (uint32_t r = 0; r < c->nranks; r++) {
        struct start_rank *rank = &c->ranks[r];

        if (rank->stage < START_UP)
            rank->spent[rank->stage] += passed;
        pulls |= rank->stage == START_PULLING;
    }
    if (!pulls)
        c->unpulled += passed;
    c->at = MAX (c->at, now);
}

void startclock_skip (struct startclock *c, double now)
{
    c->at = now;
}

void startclock_set (struct startclock *c, uint32_t rank, enum start_stage stage)
{
    if (rank < c->nranks)
        c->ranks[rank].stage = stage;
}

void startclock_was_pulling (struct startclock *c, uint32_t rank, double seconds)
{
    if (rank >= c->nranks)
        return;
    double *spent = c->ranks[rank].spent;
    double moved = MAX (MIN (seconds, spent[START_CREATED]), 0.0);

    spent[START_CREATED] -= moved;
    spent[START_PULLING] += moved;
    /* Other ranks may have pulled at the same time, and reported it earlier. */
    c->unpulled = MIN (c->unpulled, spent[START_UNPLACED] + spent[START_CREATED]);
}

bool startclock_is_at_fault (const struct startclock *c, enum start_late late,
                             uint32_t rank)
{
    if (rank >= c->nranks)
        return false;
    enum start_stage stage = c->ranks[rank].stage;
    const double *spent = c->ranks[rank].spent;

    switch (late) {
    case START_LATE_PLACE:
        return stage == START_UNPLACED
               && (spent[START_UNPLACED] >= c->limits.place
                   || spent[START_UNPLACED] >= c->limits.start);
    case START_LATE_PULL:
        return stage == START_PULLING && spent[START_PULLING] >= c->limits.pull;
    case START_LATE_UP:
        return stage == START_CREATED
               && spent[START_UNPLACED] + spent[START_CREATED] >= c->limits.start;
    default:
        return false;
    }
}

enum start_late startclock_late (const struct startclock *c)
{
    bool all_up = c->nranks > 0;
    enum start_late late = START_IN_TIME;

    for (uint32_t r = 0; r < c->nranks; r++) {
        all_up &= c->ranks[r].stage == START_UP;
        for (enum start_late l = START_LATE_PLACE; l <= START_LATE_UP; l++)
            if ((late == START_IN_TIME || l < late) && startclock_is_at_fault (c, l, r))
                late = l;
    }
    if (all_up && c->unpulled >= c->limits.start)
        late = START_LATE_JOIN;
    return late;
}

double startclock_limit (const struct startclock *c, enum start_late late)
{
    switch (late) {
    case START_LATE_PLACE:
        return MIN (c->limits.place, c->limits.start);
    case START_LATE_PULL:
        return c->limits.pull;
    default:
        return c->limits.start;
    }
}

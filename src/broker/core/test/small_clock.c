/* small_clock.c - the clock and the timers of small.h: time is what small_advance() says */
#include "broker/core/test/small_inside.h"

#include <string.h>

#include "common/clock.h"

#define STEP 0.001 /* seconds: time passes even for a timer that is due at once */

struct timer_time {
    struct broker_timer *timer;
    double when;
};

/* One at a time: the linker's names have no argument for it. */
static struct {
    _Atomic double now; /* threads of the store look at the time too */
    struct timer_time timers[64];
    size_t ntimers;
} state;

void small_clock_begin (void)
{
    memset (state.timers, 0, sizeof (state.timers));
    state.ntimers = 0;
    state.now = SMALL_START;
}

double small_now (void)
{
    return state.now;
}

/* -- what the linker gives instead of the real thing -- */

double __wrap_clock_wall (void);
double __wrap_clock_mono (void);
void __wrap_broker_timer_init (struct broker *b, struct broker_timer *t,
                               void (*fn) (struct broker *b));
void __wrap_broker_timer_set (struct broker_timer *t, double seconds);
double __wrap_broker_timer_left (const struct broker_timer *t);
void __wrap_broker_timer_stop (struct broker_timer *t);

double __wrap_clock_wall (void)
{
    return state.now;
}

double __wrap_clock_mono (void)
{
    return state.now - SMALL_START + 1;
}

static struct timer_time *find_timer (const struct broker_timer *t)
{
    for (size_t i = 0; i < state.ntimers; i++)
        if (state.timers[i].timer == t)
            return &state.timers[i];
    fail_msg ("a timer is used before broker_timer_init()");
    return NULL;
}

void __wrap_broker_timer_init (struct broker *b, struct broker_timer *t,
                               void (*fn) (struct broker *b))
{
    size_t i = 0;

    while (i < state.ntimers && state.timers[i].timer != t)
        i++; /* a test may call a service's init or load again */
    assert_true (i < ARRAY_SIZE (state.timers));
    *t = (struct broker_timer){ .b = b, .fn = fn };
    state.timers[i] = (struct timer_time){ t, 0 };
    state.ntimers = MAX (state.ntimers, i + 1);
}

void __wrap_broker_timer_set (struct broker_timer *t, double seconds)
{
    t->is_set = true;
    find_timer (t)->when = state.now + seconds + STEP;
}

double __wrap_broker_timer_left (const struct broker_timer *t)
{
    return t->is_set ? find_timer (t)->when - state.now : 0;
}

void __wrap_broker_timer_stop (struct broker_timer *t)
{
    t->is_set = false;
}

/* -- time passes -- */

/* The timer that is due first, until then; NULL: none. */
static struct timer_time *next_timer (double until)
{
    struct timer_time *first = NULL;

    for (size_t i = 0; i < state.ntimers; i++) {
        struct timer_time *t = &state.timers[i];
        if (t->timer->is_set && t->when <= until && (!first || t->when < first->when))
            first = t;
    }
    return first;
}

void small_advance (struct small *s, double seconds)
{
    double until = state.now + seconds;
    struct timer_time *t;
    int fired = 0;

    while ((t = next_timer (until))) {
        assert_true (fired++ < 100000);
        state.now = t->when > state.now ? t->when : state.now;
        t->timer->is_set = false;
        t->timer->fn (s->b);
        small_turn (s);
    }
    state.now = until;
    small_turn (s);
}

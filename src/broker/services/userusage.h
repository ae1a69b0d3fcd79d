/* userusage.h - usage of users, for fair share (userusage.c)
 */
#pragma once

#include "broker/core/broker.h"
#include "sched/usage.h"

/* The time in which usage loses half of its weight, in seconds; 0: never. Call it before the
 * journal is open, and again when it changes. */
void userusage_set_half_life (struct broker *b, double seconds);
struct usage *userusage (const struct broker *b);
/* Drops users without usage or jobs, here and on disk. */
void userusage_drop_idle (struct broker *b);

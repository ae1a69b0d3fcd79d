/* chance.h - random numbers for tests: the same ones in every run, unless FLUXQ_TEST_SEED
 * sets another seed or is "random"; the seed is printed */
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t chance_state = 1;

static inline void chance_begin (const char *test)
{
    const char *given = getenv ("FLUXQ_TEST_SEED");

    chance_state = 20261120;
    if (given && strcmp (given, "random") != 0)
        chance_state = strtoull (given, NULL, 0);
    else if (given && getrandom (&chance_state, sizeof (chance_state), 0) < 0)
        chance_state = 0;
    printf ("%s: FLUXQ_TEST_SEED=%" PRIu64 "\n", test, chance_state);
    fflush (stdout);
}

/* 0 .. n - 1, n > 0 (splitmix64). */
static inline uint64_t chance_below (uint64_t n)
{
    uint64_t x = chance_state += UINT64_C (0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return (x ^ (x >> 31)) % n;
}

/* clock.c - see clock.h */
#include "common/clock.h"

#include <pthread.h>
#include <time.h>

#include "common/parse.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static double offset;

static void read_offset (void)
{
    const char *text = getenv ("FLUXQ_CLOCK_OFFSET");
    int64_t seconds;

    if (text
        && parse_int (text, -CLOCK_OFFSET_MAX, CLOCK_OFFSET_MAX, &seconds, "", NULL) == 0)
        offset = (double)seconds;
}

static double read_clock (clockid_t id)
{
    struct timespec ts;

    clock_gettime (id, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double clock_mono (void)
{
    return read_clock (CLOCK_MONOTONIC);
}

double clock_boot (void)
{
    return read_clock (CLOCK_BOOTTIME);
}

double clock_wall (void)
{
    pthread_once (&once, read_offset);
    return read_clock (CLOCK_REALTIME) + offset;
}

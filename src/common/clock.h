/* clock.h - the one place where time comes from
 *
 * clock_mono(): seconds, for durations; clock_boot(): seconds, also counts while the
 * machine sleeps; clock_wall(): seconds since 1970, for display and events. The
 * environment variable FLUXQ_CLOCK_OFFSET (whole seconds, can be negative, read once;
 * other texts count as 0) shifts the wall clock, for tests. Any thread can call the
 * functions; match, job and sched never do: time is an argument there.
 */
#pragma once

#define CLOCK_OFFSET_MAX 3153600000 /* 100 years */

double clock_mono (void);
double clock_boot (void);
double clock_wall (void);

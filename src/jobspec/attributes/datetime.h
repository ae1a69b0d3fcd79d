/* datetime.h - a point in time as users write it, for --begin and --deadline
 *
 *     double t;
 *     datetime_parse ("tomorrow 8:30", clock_wall (), &t, "--begin", &err);
 *
 * The forms are those of Slurm's sbatch, in the local time zone:
 *
 *     16:00, 4:00:30 PM              the next time that the clock shows it
 *     midnight, noon, elevenses, fika (15:00), teatime (16:00)
 *     2026-11-21, 11/21/26, 11/21, 11.21.26, 112126, 1121, today, tomorrow
 *                                    the midnight that begins the day; without a year
 *                                    the next such day
 *     a day, blanks (or 'T' after a number, '-' after 11/21/26), and a time of day
 *     now, now+90, now+1hour         units: seconds (the default), minutes, hours, days,
 *                                    weeks, also in short: s, m, h, d, w
 *     uts1795000000                  seconds since 1970
 *
 * The present time is an argument; the time zone is that of the process.
 */
#pragma once

#include "common/error.h"

#define DATETIME_MAX 1e10 /* seconds since 1970: the year 2286 */

/* *ret: seconds since 1970, 0 < *ret <= DATETIME_MAX. -EINVAL; `what` begins the
 * error. */
int datetime_parse (const char *text, double now, double *ret, const char *what,
                    struct error *err);

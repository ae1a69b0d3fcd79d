/* plot.h - utilization and length of the queue over time, one below the other */
#pragma once

#include "common/error.h"
#include "tools/sim/series.h"

/* s has ended (series_end()); cores: of the whole machine, > 0. 0 or -errno with the
 * path. */
int plot_write (const struct series *s, double cores, const char *title, const char *path,
                struct error *err);

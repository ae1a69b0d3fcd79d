/* report.h - the figures of a run, for people and for programs */
#pragma once

#include "tools/sim/options.h"
#include "tools/sim/tally.h"

struct report {
    const struct options *opt;
    const struct cluster *cluster;
    struct trace_counts trace;
    struct sim_counts counts;
    const struct tally *tally;
    struct figures figures;
};

void report_print_text (const struct report *r);
/* Prints an object; 0 or -ENOMEM. */
int report_print_json (const struct report *r);

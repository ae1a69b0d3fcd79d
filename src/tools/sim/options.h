/* options.h - the command line of fluxq-sim
 *
 *     struct options o;
 *     status = options_parse (&o, argc, argv);     // TOOL_GO, or exit with it
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "match/policies/policy.h"
#include "sched/policy.h"

struct options {
    const char *cluster, *trace; /* never NULL */
    const struct queue_policy *policy;
    unsigned depth; /* 0: the policy's own */
    struct match_policy match_policy;
    uint64_t seed;
    unsigned elastic; /* percent of the size, 0: none */
    bool linear;
    bool malleable;
    bool skip; /* skip broken lines */
    bool json;
    const char *plot, *gantt, *jobs; /* files, or NULL */
};

/* TOOL_GO, or the exit status after help or a message. */
int options_parse (struct options *o, int argc, char **argv);

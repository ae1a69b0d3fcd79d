/* squeue.h - the options of squeue
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/jobs/job_filter.h"

#define SQUEUE_SORT "P,t,-p" /* the default of -S */

/* The values of options and variables, as texts; squeue.c reads them. */
struct squeue {
    struct job_filter filter;
    struct slurm_format format;
    const char *letters, *names; /* of -o and -O */
    const char *sort, *jobs, *states, *partitions, *users, *hosts;
    const char *operand, *extra;
    bool jobs_given, json, array, header, long_list, start, only_state, other_filter;
    bool noconvert, expand_patterns;
    bool steps;            /* steps instead of jobs ... */
    const char *step_list; /* ... these, "12,13.0"; NULL: all */
    bool nobody;         /* no user of the list exists */
    struct strbuf known; /* the users that exist */
    double iterate;
    uint64_t needs;
};

extern const struct option_desc squeue_options[];

/* Reads the command line and the variables. CMD_OK, or c->status after a message; if
 * c->ended is set, there is nothing more to do. */
int squeue_read_options (struct cmd *c, struct squeue *q);

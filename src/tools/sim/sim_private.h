/* sim_private.h - a run of the simulator: sim.c (events and starts), malleable.c (running
 * jobs that change their size) */
#pragma once

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "sched/sched.h"
#include "tools/sim/events.h"
#include "tools/sim/requests.h"
#include "tools/sim/sim.h"

/* Start of virtual time: the scheduler takes 0 for "no time". */
#define SIM_EPOCH 1e9

struct job { /* pending or running */
    uint64_t id;
    struct trace_job trace;
    struct request *request; /* while pending */
    uint64_t cores;          /* while running */
    double end;              /* ... until then; an event before that time is outdated */
    /* while running, if jobs are malleable */
    struct rset *r;
    struct sim_start told; /* for the observer at the end of the job */
    double left;           /* seconds that the job would still run at its largest size */
    double since;          /* time for which `left` is valid */
    UT_hash_handle hh;
};

struct sim {
    const struct sim_setup *setup;
    struct trace *trace;
    const struct sim_observer *observer;
    struct sim_counts *counts;
    struct error *err;
    struct matcher *matcher;
    struct sched *sched;
    struct requests *requests;
    struct job *jobs;
    struct events ends;
    struct trace_job next; /* of the trace */
    bool has_next;
    double origin; /* time of the first submit in the trace */
    double now;    /* since EPOCH */
    uint64_t cores_used;
};

/* sim.c: the part of its largest size that a job has. */
double sim_part (const struct job_size *size, const struct rset *r, uint32_t slots);

/* malleable.c */
/* A job has started with r, which is copied, and ends at j->end if nothing changes. */
int malleable_start (struct sim *s, struct job *j, const struct sim_start *told,
                     const struct rset *r);
/* Ends the job, and calls the observer. */
void malleable_end (struct sim *s, struct job *j);
/* Runs after the scheduler's decisions. 1: jobs have given nodes back, and the scheduler
 * must run again; 0; -ENOMEM. */
int malleable_round (struct sim *s);

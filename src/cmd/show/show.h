/* show.h - parts of fluxq-show (jobs, events, priorities), and helpers for fluxq-info
 *
 * This folder holds what fluxq-show and fluxq-info print, one file for each kind of
 * thing. The broker's answer comes in, and lines go to stdout.
 */
#pragma once

#include "cmd/client/command.h"

struct show {
    int what; /* index of the subcommand, -1: none yet */
    bool seen_what, events, jobspec, json;
    const char **names;
    size_t n;
};

/* Prints the answer of GET /v1/jobs/ID as lines of "Key: value". */
void show_job (const json_t *job);
/* Prints the job's ended steps, a line each: part of show_job(). */
void show_steps (const json_t *job);
/* Prints the job's events, a line each. */
void show_events (const json_t *events);
/* Prints the terms of priorities: of these jobs, or of all waiting jobs. Returns the exit
 * status. */
int show_priority (struct cmd *c, const struct show *s);
/* Prints users with usage, share and factor: these, or all. Returns the exit status. */
int show_fair_share (struct cmd *c, const struct show *s);
/* Prints the things of a kind ("queue"), those named in s or all, from GET /v1/queues.
 * Returns the exit status. */
int show_named (struct cmd *c, const struct show *s, const char *kind,
                void (*show_one) (const json_t *o));
/* Prints reservations: these, or all. Returns the exit status. */
int show_reservations (struct cmd *c, const struct show *s);
/* Prints what becomes of these options of sbatch, srun and salloc, or of all. Returns the
 * exit status. */
int show_slurm_options (struct cmd *c, const struct show *s);
/* A node's state in one word: idle, mixed, allocated, draining, drained, down; for an
 * idle node in a reservation that has begun: resv, maint. */
const char *node_state (const json_t *node);

/* show.h - parts of fluxq-show: a job for people, its events, priorities; and what
 * fluxq-info shares */
#ifndef FLUXQ_CMD_SHOW_H
#define FLUXQ_CMD_SHOW_H

#include "cmd/command.h"

struct show {
    int what; /* index of the subcommand, -1: none yet */
    bool seen_what, events, jobspec, json;
    const char **names;
    size_t n;
};

/* The answer of GET /v1/jobs/ID as lines of "Key: value". */
void show_job (const json_t *job);
/* Its steps that have ended, a line each: part of show_job(). */
void show_steps (const json_t *job);
/* A job's events, a line each. */
void show_events (const json_t *events);
/* Priorities term by term: of these jobs, or of all that wait. The exit status. */
int show_priority (struct cmd *c, const struct show *s);
/* Users with usage, share and factor: these, or all. The exit status. */
int show_fair_share (struct cmd *c, const struct show *s);
/* Reservations by name, or all. The exit status. */
int show_reservations (struct cmd *c, const struct show *s);
/* A node's state in one word: idle, mixed, allocated, draining, drained, down; idle in a
 * reservation that has begun: resv, maint. */
const char *node_state (const json_t *node);

#endif

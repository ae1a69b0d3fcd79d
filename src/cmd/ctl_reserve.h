/* ctl_reserve.h - fluxq-ctl reserve and unreserve */
#pragma once

#include "cmd/client/command.h"

/* Ids of the options of reserve, in fluxq-ctl's table. */
enum {
    RESERVE_FIRST = 100,
    RESERVE_NAME = RESERVE_FIRST,
    RESERVE_START,
    RESERVE_DURATION,
    RESERVE_NODES,
    RESERVE_USERS,
    RESERVE_MAINTENANCE,
    RESERVE_NOTE,
    RESERVE_IGNORE_RUNNING,
    RESERVE_END,
};

#define RESERVE_OPTIONS                                                                  \
    { "name", 0, "NAME", "reserve: name of the reservation [resv-1, resv-2, ...]",       \
      RESERVE_NAME, false, NULL },                                                       \
    { "start", 0, "TIME", "reserve: start, as in submit --begin: now, 14:00, now+1hour", \
      RESERVE_START, false, NULL },                                                      \
    { "duration", 0, "TIME", "reserve: length, as in submit --time: 90, 2:00:00, 1-12",  \
      RESERVE_DURATION, false, NULL },                                                   \
    { "nodes", 'N', "N|NODES",                                                           \
      "reserve: number of nodes, or their names; resize: number",                        \
      RESERVE_NODES, false, NULL },                                                      \
    { "users", 0, "NAMES", "reserve: users whose jobs may run there", RESERVE_USERS,     \
      false, NULL },                                                                     \
    { "maintenance", 0, NULL, "reserve: no jobs run there", RESERVE_MAINTENANCE,         \
      false, NULL },                                                                     \
    { "note", 0, "TEXT", "reserve: a note that users see", RESERVE_NOTE, false, NULL },  \
    { "ignore-running", 0, NULL,                                                         \
      "reserve: accept nodes with running jobs; they are reserved when the jobs end",    \
      RESERVE_IGNORE_RUNNING, false, NULL }

struct reserve_args {
    const char *text[RESERVE_END - RESERVE_FIRST]; /* by id; for flags any text */
    const char *given; /* name of an option that was given, or NULL */
};

/* Stores the option if it belongs to reserve; false: it does not. */
bool reserve_take (struct reserve_args *a, const struct option_match *m);
/* Returns the exit status. */
int reserve_run (struct cmd *c, const struct reserve_args *a);

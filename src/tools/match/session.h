/* session.h - the data of a session, from the first command to the last
 *
 *     struct session s;
 *     rc = session_open (&s, &options, &err);      // loads the graph
 *     command_run (&s, line, strlen (line));       // "match allocate job.yaml"
 *     session_close (&s, &err);
 *
 * The session's clock stands at 0, as no job really runs. A graph lasts for a hundred
 * years unless its text (R) gives its end; no booking goes past the end.
 */
#pragma once

#include <stdio.h>

#include "match/planner/planner.h"
#include "tools/match/jobs.h"
#include "tools/match/options.h"

#define SESSION_GRAPH_LIFE INT64_C (3153600000) /* seconds */

struct session {
    const struct options *opt;
    struct graph *graph;
    struct planner *planner;
    struct jobs *jobs;
    uint64_t next_job;
    int64_t end;      /* of the graph's life, seconds */
    double load_time; /* seconds */
    FILE *out;        /* results */
    bool interactive; /* input is a terminal */
    bool over;
};

/* 0, or -errno with the file and the place. */
int session_open (struct session *s, const struct options *opt, struct error *err);
/* -errno: the results could not all be written. */
int session_close (struct session *s, struct error *err);
/* Lists a job that was booked from `at` on; takes over *given. elapsed: see job_info. */
void session_list_job (struct session *s, uint64_t id, const char *file, int64_t at,
                       double elapsed, struct selection **given);
/* Prints "ERROR: text" on stderr. */
void session_complain (const char *fmt, ...) PRINTF_LIKE (1, 2);

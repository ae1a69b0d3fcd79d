/* edges.h - the table behind job_apply(): the events allowed in each state
 *
 *     const struct edge *edge = edge_find (job, "alloc");
 *     if (!edge) ...                                  // refused
 *
 * A handler changes the job record. A handler that refuses the event must leave the
 * record unchanged. It gets the edge's next state and actions and may change both.
 */
#pragma once

#include "job/job.h"

struct outcome {
    enum job_state next;
    unsigned actions;
};

struct edge {
    int from; /* enum job_state, or EDGE_UNBORN */
    const char *event;
    int to; /* enum job_state, or EDGE_STAY */
    unsigned actions;
    int (*handle) (struct job *job, const struct event *e, struct outcome *out,
                   struct error *err); /* or NULL */
};

enum { EDGE_UNBORN = -1 /* before submit */, EDGE_STAY = -2 };

extern const struct edge edges[];
extern const size_t edges_count;
const struct edge *edge_find (const struct job *job, const char *event);
/* memo, usage, fluxq-restart, debug.*: allowed in every state after submit, no effect. */
bool edge_is_remark (const char *event);

/* edges_array.c */
int edge_task_start (struct job *job, const struct event *e, struct outcome *out,
                     struct error *err);
int edge_task_end (struct job *job, const struct event *e, struct outcome *out,
                   struct error *err);
int edge_task_cancel (struct job *job, const struct event *e, struct outcome *out,
                      struct error *err);
/* An exception of severity 0: waiting tasks never start, running tasks go on. */
int edge_array_exception (struct job *job, double now, struct outcome *out,
                          struct error *err);

/* edges_resize.c */
int edge_resize (struct job *job, const struct event *e, struct outcome *out,
                 struct error *err);
int edge_resized (struct job *job, const struct event *e, struct outcome *out,
                  struct error *err);

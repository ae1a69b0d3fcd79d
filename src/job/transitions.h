/* transitions.h - the table behind job_apply(): the events allowed in each state
 *
 *     const struct transition *transition = transition_find (job, "alloc");
 *     if (!transition) ...                                  // refused
 *
 * A handler changes the job record. A handler that refuses the event must leave the
 * record unchanged. It gets the transition's next state and actions and may change both.
 */
#pragma once

#include "job/job.h"

struct outcome {
    enum job_state next;
    unsigned actions;
};

struct transition {
    int from; /* enum job_state, or TRANSITION_UNBORN */
    const char *event;
    int to; /* enum job_state, or TRANSITION_STAY */
    unsigned actions;
    int (*handle) (struct job *job, const struct event *e, struct outcome *out,
                   struct error *err); /* or NULL */
};

enum { TRANSITION_UNBORN = -1 /* before submit */, TRANSITION_STAY = -2 };

struct text { /* of the job */
    char **field;
    const char *value; /* NULL: none */
    char *copy;        /* of texts_set() */
};

/* Sets all of the texts; without memory for the copies, none. */
int texts_set (struct text *list, size_t n, struct error *err);

extern const struct transition transitions[];
extern const size_t transitions_count;
const struct transition *transition_find (const struct job *job, const char *event);
/* memo, usage, fluxq-restart, debug.*: allowed in every state after submit; they change
 * neither the state nor what the job does. */
bool transition_is_remark (const char *event);

/* transitions_array.c */
int transition_task_start (struct job *job, const struct event *e, struct outcome *out,
                           struct error *err);
int transition_task_end (struct job *job, const struct event *e, struct outcome *out,
                         struct error *err);
int transition_task_cancel (struct job *job, const struct event *e, struct outcome *out,
                            struct error *err);
/* An exception of severity 0: waiting tasks never start, running tasks go on. */
int transition_array_exception (struct job *job, double now, struct outcome *out,
                                struct error *err);

/* transitions_resize.c */
int transition_resize (struct job *job, const struct event *e, struct outcome *out,
                       struct error *err);
int transition_resized (struct job *job, const struct event *e, struct outcome *out,
                        struct error *err);

/* stepd_private.h - a step on one of its ranks: stepd.c, stepd_start.c (its start),
 * step_pmi.c and step_pmix.c (MPI) */
#pragma once

#include "common/idset.h"
#include "shell/step/cpubind.h"
#include "shell/step/multiprog.h"
#include "shell/step/step_spec.h"
#include "shell/step/stepd.h"

struct step_task {
    uint32_t id;    /* number in the step */
    uint64_t taken; /* bytes of input that the task has taken */
    bool ended;
};

struct steppmi;
struct stepbind;

struct rank_step {
    struct rank_step *next;
    struct stepd *d;
    uint32_t id;
    struct strbuf text; /* request text so far */
    struct step_spec spec;
    const struct step_spec *part; /* of the step, for this node */
    uint32_t *rank_of; /* [ntasks] number in the step of each task's node */
    uint32_t ntasks;
    uint32_t *ranks; /* [nnodes] ranks in the job */
    uint32_t nnodes;
    uint32_t node;         /* number of this node in the step */
    struct idset *cores;   /* cores on this node */
    struct step_task *own; /* [nown] tasks on this node */
    uint32_t nown, started;
    uint64_t taken;             /* bytes of input that every reading task has taken */
    struct multiprog *programs; /* NULL: all tasks of the part run the same program */
    uint32_t part_first;        /* with programs: the part's first task */
    struct stepbind *bind;      /* NULL: no task is bound to cores */
    struct taskset *set;
    int64_t credit;
    int cwd_fd;
    const char *cwd;
    struct steppmi *pmi; /* NULL: no task of this node uses PMI */
    struct steppmix *pmix; /* NULL: no PMIx */
    bool waits;            /* for stepd_pmix_ready(): no task has started */
    struct outbuf held;    /* messages that came meanwhile */
};

struct stepd {
    struct loop *loop;
    const struct launch *launch;
    struct tasks *tasks;
    uint32_t rank;
    stepd_up_fn up;
    void *ctx;
    struct rank_step *steps;
    struct steppmix *helpers; /* also those of steps that are over */
    struct idset *allowed; /* CPUs that this agent may use; NULL: not known */
};

/* Sends a message to rank 0: number as u32, UINT32_MAX: none, then data. */
void stepd_put (const struct rank_step *s, uint8_t type, uint8_t stream, uint32_t number,
                const void *data, size_t len);

/* Frees the step, and kills its tasks that still run. */
void stepd_free (struct rank_step *s);
/* Whether the task reads standard input. */
bool stepd_reads (const struct rank_step *s, const struct step_task *t);
/* Reports the end of a task. */
void stepd_put_exit (struct rank_step *s, uint32_t task, int status, bool oom);
extern const struct task_events stepd_task_events;
/* The request is complete: starts the tasks, or reports why not. The step may be freed. */
void stepd_start (struct rank_step *s);
/* Bytes of output that the step may send now. */
size_t stepd_room (const struct rank_step *s);
/* Sends output of a task; stream 1 or 2. */
void stepd_output (struct rank_step *s, uint32_t task, int stream, const char *data,
                   size_t len);
/* The helper for PMIx is ready, or its start has failed (err): starts the tasks, or
 * reports them as ended. The step may be freed. */
void stepd_pmix_ready (struct rank_step *s, const struct error *err);

/* -- step_pmi.c: MPI -- */

/* Sets up PMI for the tasks of this node. 0 or -ENOMEM. */
int steppmi_create (struct rank_step *s, struct error *err);
void steppmi_destroy (struct steppmi *p);
/* Call before a task starts. *ret_fd gets the descriptor that the task inherits, and *env
 * (of env_make()) gets the task's PMI variables. 0 or negative errno. */
int steppmi_open (struct steppmi *p, uint32_t local, char ***env, int *ret_fd,
                  struct error *err);
/* The task has been started, or could not be: closes the agent's copy of the task's
 * end. */
void steppmi_started (struct steppmi *p, uint32_t local);
/* The task has ended. Ends the step if the task should have finalized first. */
void steppmi_exited (struct steppmi *p, uint32_t local, int status);
/* Handles a piece of what all ranks put. */
void steppmi_message (struct steppmi *p, const struct frame *msg);

/* -- step_bind.c: cores, GPUs -- */

/* Chooses the cores of each task on this node. 0, also when no task is bound; or negative
 * errno. */
int stepbind_create (struct rank_step *s, struct error *err);
void stepbind_destroy (struct stepbind *b);
/* In the child: binds the task with that local number, and reports it with
 * --cpu-bind=verbose. */
void stepbind_apply (const struct rank_step *s, uint32_t local);
/* In the child: reports the task's GPUs with --gpu-bind=verbose, and that the binding names
 * none of those here. */
void stepbind_report_gpus (const struct rank_step *s, uint32_t local);

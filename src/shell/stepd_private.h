/* stepd_private.h - a step as one of its ranks has it: stepd.c, steppmi.c (MPI) */
#ifndef FLUXQ_SHELL_STEPD_PRIVATE_H
#define FLUXQ_SHELL_STEPD_PRIVATE_H

#include "common/idset.h"
#include "shell/cpubind.h"
#include "shell/multiprog.h"
#include "shell/stepd.h"
#include "shell/stepspec.h"

struct step_task {
    uint32_t id;    /* in the step */
    uint64_t taken; /* bytes of input */
    bool ended;
};

struct steppmi;
struct stepbind;

struct rank_step {
    struct rank_step *next;
    struct stepd *d;
    uint32_t id;
    struct strbuf text; /* as long as it comes */
    struct step_spec spec;
    uint32_t *rank_of; /* [ntasks] number of the node of each task */
    uint32_t ntasks;
    uint32_t *ranks; /* [nnodes] of the job */
    uint32_t nnodes;
    uint32_t node;         /* our number */
    struct idset *cores;   /* here */
    struct step_task *own; /* tasks here */
    uint32_t nown, started;
    uint64_t taken;             /* bytes of input that all who read have */
    struct multiprog *programs; /* NULL: all run the same */
    struct stepbind *bind;      /* NULL: no task is bound to cores */
    struct taskset *set;
    int64_t credit;
    int cwd_fd;
    const char *cwd;
    struct steppmi *pmi; /* NULL: none of its tasks speaks it */
};

struct stepd {
    struct loop *loop;
    const struct launch *launch;
    struct tasks *tasks;
    uint32_t rank;
    stepd_up_fn up;
    void *ctx;
    struct rank_step *steps;
    struct idset *allowed; /* CPUs that this agent may use; NULL: not known */
};

/* To rank 0; data behind a number (UINT32_MAX: none). */
void stepd_put (const struct rank_step *s, uint8_t type, uint8_t stream, uint32_t number,
                const void *data, size_t len);

/* -- steppmi.c: MPI -- */

/* PMI for the tasks here. 0 or -ENOMEM. */
int steppmi_create (struct rank_step *s, struct error *err);
void steppmi_destroy (struct steppmi *p);
/* A task is about to start: the descriptor that it inherits, and *env (of env_make()) gets
 * its variables. 0 or negative errno. */
int steppmi_open (struct steppmi *p, uint32_t local, char ***env, int *ret_fd,
                  struct error *err);
/* It has been started, or could not be: its end of the line is closed here. */
void steppmi_started (struct steppmi *p, uint32_t local);
/* It has ended; when it should have said so, the step is to end. */
void steppmi_exited (struct steppmi *p, uint32_t local, int status);
/* A piece of what all ranks put. */
void steppmi_message (struct steppmi *p, const struct frame *msg);

/* -- stepbind.c: cores -- */

/* Which cores each task here gets: 0, also when none is bound; negative errno. */
int stepbind_create (struct rank_step *s, struct error *err);
void stepbind_destroy (struct stepbind *b);
/* In the child: bind the task of that place, and say so where --cpu-bind=verbose asks. */
void stepbind_apply (const struct rank_step *s, uint32_t local);

#endif

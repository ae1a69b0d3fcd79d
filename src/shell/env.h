/* env.h - the environment of a task: what the user submitted, what fluxq tells, what is
 * missing
 *
 *     struct env_context ctx = { .launch = &l, .rank = 0, .task = 0, .cwd = "/home/ann"
 * };
 *     char **envp = env_make (&ctx, &err);
 *     ... env_free (envp);
 *
 * The environment of a step's task is that of fluxq-run instead of the submission's.
 *
 * Order of precedence: the table in env.c (FLUXQ_*, the SLURM_* names that scripts read,
 * FLUX_*) over the submission's environment over defaults for HOME, USER, LOGNAME, SHELL
 * and PATH. In a Flux instance (launch.flux) the agent's own FLUX_* stand in place of ours, and
 * its PATH behind the job's.
 */
#ifndef FLUXQ_SHELL_ENV_H
#define FLUXQ_SHELL_ENV_H

#include <stdint.h>

#include "common/error.h"
#include "common/launch.h"

struct step_spec;

struct env_step {                 /* of a task of a step */
    const struct step_spec *spec; /* its env is what the user submitted */
    uint32_t node;                /* number of the node in the step */
    uint32_t nlocal;              /* tasks here */
    uint32_t ntasks;
    const uint32_t *rank_of; /* [ntasks] node of each task of the step */
    const uint32_t *ranks;   /* [nnodes] rank of each node in the job */
    uint32_t nnodes;
};

struct env_context {
    const struct launch *launch;
    uint32_t rank;
    uint32_t task;     /* global number */
    uint32_t local;    /* number on this rank */
    const char *cwd;   /* where the task starts */
    uint64_t end_time; /* unix seconds when the time limit is reached, 0: no limit */
    /* The agent's own, for what is absent elsewhere; may be NULL. */
    const char *default_path;
    const struct env_step *step; /* NULL: the job's own task */
};

/* NULL-terminated NAME=VALUE strings; NULL and err on failure. env_free() frees them. */
char **env_make (const struct env_context *ctx, struct error *err);
void env_free (char **envp);

#endif

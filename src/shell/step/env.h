/* env.h - builds the environment of a task
 *
 *     struct env_context ctx = { .launch = &l, .rank = 0, .task = 0, .cwd = "/home/a" };
 *     char **envp = env_make (&ctx, &err);
 *     ... free_strings (envp);
 *
 * Order of precedence: the table in env_table.c (FLUXQ_*, the SLURM_* names that scripts read,
 * FLUX_*), then the environment of the submission, then defaults for HOME, USER, LOGNAME,
 * SHELL and PATH. For the task of a step, the environment of fluxq-run replaces that of
 * the submission. In a Flux instance (launch.flux) the agent's own FLUX_* replace ours,
 * and its PATH is appended to the job's.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"

struct step_spec;

struct env_step {                 /* for a task of a step */
    const struct step_spec *spec; /* its env replaces the submission's environment */
    const struct step_spec *part; /* of the step, for this node */
    uint32_t node;                /* number of the node in the step */
    uint32_t ntasks;
    const uint32_t *rank_of; /* [ntasks] number in the step of each task's node */
    const uint32_t *ranks;   /* [nnodes] rank of each node in the job */
    uint32_t nnodes;
};

struct env_context {
    const struct launch *launch;
    uint32_t rank;
    uint32_t task;     /* global number */
    uint32_t local;    /* number within this rank */
    const char *cwd;   /* working directory of the task */
    uint64_t start_time; /* unix seconds of the job's start; 0: not known */
    uint64_t end_time;   /* unix seconds when the time limit is reached, 0: no limit */
    /* PATH of the agent, used if no other is set; may be NULL. */
    const char *default_path;
    const struct env_step *step; /* NULL: a task of the job itself */
};

/* NULL-terminated NAME=VALUE strings, freed by free_strings(); NULL and err on failure. */
char **env_make (const struct env_context *ctx, struct error *err);
/* Sets a variable in such a list, which moves. 0 or -ENOMEM. */
int env_replace (char ***env, const char *assignment);

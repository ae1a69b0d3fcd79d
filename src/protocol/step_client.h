/* step_client.h - fluxq-run: its options, and how it gets a connection
 *
 * There is one client of steps: the agent's program, called as STEP_CLIENT. Inside a job
 * it connects to the agent of its node. A command on the login node executes that program
 * with a connection to rank 0 from the broker (POST /v1/jobs/ID/connect):
 *
 *     setenv (STEP_CLIENT_FD, "5", 1);
 *     execv (agent_program, (char *[]){ STEP_CLIENT, "-n4", "hostname", NULL });
 *
 * With STEP_CLIENT_SESSION the connection is a session (session.h). When the connection
 * breaks, the client runs STEP_CLIENT_PROGRAM with STEP_CLIENT_AGAIN, the number of a
 * socket over which that program passes it a new connection (pass_fd.h), and
 * STEP_CLIENT_BROKER, the broker to ask.
 *
 * FLUXQ_JOB_ID, FLUXQ_JOB_NAME, FLUXQ_JOB_USER and FLUXQ_NODELIST (the names of the job's
 * nodes in the order of ranks) describe the job of the step.
 */
#pragma once

#include "common/option.h"

#define STEP_CLIENT "fluxq-run"
#define SRUN_CLIENT "srun"         /* STEP_CLIENT with srun's options and name */
#define BCAST_CLIENT "fluxq-bcast" /* the client of a step that copies a file */
#define SBCAST_CLIENT "sbcast"     /* BCAST_CLIENT with sbcast's options and name */
#define STEP_CLIENT_FD "FLUXQ_RUN_FD" /* number of the connection's descriptor */
#define STEP_CLIENT_SESSION "FLUXQ_RUN_SESSION" /* the session's token: session_make() */
#define STEP_CLIENT_GRACE "FLUXQ_RUN_GRACE"     /* seconds that it lives without one */
#define STEP_CLIENT_PROGRAM "FLUXQ_RUN_PROGRAM" /* path of fluxq */
#define STEP_CLIENT_BROKER "FLUXQ_RUN_BROKER"   /* the broker's URL */
#define STEP_CLIENT_AGAIN "FLUXQ_RUN_AGAIN"
/* Set for that program when the step is over: it does not report the end of the job
 * then. */
#define STEP_CLIENT_OVER "FLUXQ_RUN_OVER"
/* 1: the connection keeps the job (keepalive.h), and the job ends with the status of the
 * step. */
#define STEP_CLIENT_HOLD "FLUXQ_RUN_HOLD"
/* The job whose allocation fluxq-run uses in a shell of fluxq-alloc on the login node. */
#define STEP_CLIENT_JOB "FLUXQ_ALLOC_JOB"

enum step_option {
    STEP_OPT_FIRST = 1,
    STEP_OPT_NODES = STEP_OPT_FIRST,
    STEP_OPT_NTASKS,
    STEP_OPT_PER_NODE,
    STEP_OPT_CPUS,
    STEP_OPT_GPUS,
    STEP_OPT_GPUS_PER_TASK,
    STEP_OPT_NTASKS_PER_GPU,
    STEP_OPT_NODELIST,
    STEP_OPT_EXCLUDE,
    STEP_OPT_DISTRIBUTION,
    STEP_OPT_TASKMAP,
    STEP_OPT_EXACT,
    STEP_OPT_OVERLAP,
    STEP_OPT_OVERCOMMIT,
    STEP_OPT_IMMEDIATE,
    STEP_OPT_CPU_BIND,
    STEP_OPT_GPU_BIND,
    STEP_OPT_MPI,
    STEP_OPT_MULTI_PROG,
    STEP_OPT_INPUT,
    STEP_OPT_OUTPUT,
    STEP_OPT_ERROR,
    STEP_OPT_OPEN_MODE,
    STEP_OPT_LABEL,
    STEP_OPT_KILL_ON_BAD_EXIT,
    STEP_OPT_WAIT,
    STEP_OPT_CHDIR,
    STEP_OPT_EXPORT,
    STEP_OPT_NAME,
    STEP_OPT_QUIET,
    STEP_OPT_RSH,
    STEP_OPT_PTY,
    /* of srun only */
    STEP_OPT_TIME,
    STEP_OPT_RELATIVE,
    STEP_OPT_JOBID,
    STEP_OPT_GRES,
    STEP_OPT_GPUS_PER_NODE,
    STEP_OPT_TRES_BIND,
    STEP_OPT_BCAST,
    STEP_OPT_EXCLUSIVE,
    STEP_OPT_HET_GROUP,
    STEP_OPT_NODEFILE,
    STEP_OPT_QUIT,
    STEP_OPT_SEND_LIBS,
    /* The value is checked, and says what holds here anyway: one of the words of the
     * argument's description; a number; a size of memory, which all steps share. */
    STEP_OPT_WORDS,
    STEP_OPT_NUMBER,
    STEP_OPT_SIZE,
    STEP_OPT_OF_JOB,  /* describes an allocation, which the job has already */
    STEP_OPT_NOTHING, /* the effect is the usual one here */
    STEP_OPT_REFUSED, /* srun_refuse() says why */
};

/* Options of a step, without --help and similar ones. */
extern const struct option_desc step_options[];

/* Options that srun has besides, inside a job; the names are those of Slurm 25.11. */
extern const struct option_desc srun_options[];
/* Sets the error for an option that is STEP_OPT_REFUSED. Returns -EINVAL. */
int srun_refuse (const struct option_desc *option, struct error *err);

enum bcast_option {
    BCAST_OPT_FORCE = 1,
    BCAST_OPT_PRESERVE,
    /* of sbcast only */
    BCAST_OPT_JOBID,
    BCAST_OPT_NOTHING, /* the effect is the usual one here */
    BCAST_OPT_REFUSED, /* sbcast_refuse() says why */
};

/* Options of a copy, also without --help. */
extern const struct option_desc bcast_options[];

/* The options of Slurm's sbcast, also without --help. */
extern const struct option_desc sbcast_options[];
/* Sets the error for an option that is BCAST_OPT_REFUSED. Returns -EINVAL. */
int sbcast_refuse (const struct option_desc *option, struct error *err);
/* Sets what the variables SBCAST_FORCE and SBCAST_PRESERVE say. -EINVAL: another variable
 * of sbcast is set, which stands for an option that is refused. */
int sbcast_read_environ (bool *force, bool *preserve, struct error *err);

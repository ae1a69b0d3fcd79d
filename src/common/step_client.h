/* step_client.h - fluxq-run: its options, and how it is given a connection
 *
 * There is one client of steps: the agent's program, under the name of STEP_CLIENT. Inside a
 * job it goes to the agent of its node. The commands on the login node become that program
 * with a connection that the broker made to rank 0 (POST /v1/jobs/ID/connect):
 *
 *     setenv (STEP_CLIENT_FD, "5", 1);
 *     execv (agent_program, (char *[]){ STEP_CLIENT, "-n4", "hostname", NULL });
 *
 * With STEP_CLIENT_SESSION the connection is a session (session.h). When it breaks the program runs
 * STEP_CLIENT_PROGRAM with STEP_CLIENT_AGAIN, the number of a socket over which it is to be passed
 * another connection (pass_fd.h); STEP_CLIENT_BROKER says to which broker.
 *
 * FLUXQ_JOB_ID, FLUXQ_JOB_NAME, FLUXQ_JOB_USER and FLUXQ_NODELIST (the names of the job's nodes
 * in the order of ranks) tell it whose step that is.
 */
#ifndef FLUXQ_COMMON_STEP_CLIENT_H
#define FLUXQ_COMMON_STEP_CLIENT_H

#include "common/option.h"

#define STEP_CLIENT "fluxq-run"
#define BCAST_CLIENT "fluxq-bcast" /* the same, for a step that copies a file */
#define STEP_CLIENT_FD "FLUXQ_RUN_FD" /* number of the connection's descriptor */
#define STEP_CLIENT_SESSION "FLUXQ_RUN_SESSION" /* its token, see session_make() */
#define STEP_CLIENT_GRACE "FLUXQ_RUN_GRACE"     /* seconds that it outlives a connection */
#define STEP_CLIENT_PROGRAM "FLUXQ_RUN_PROGRAM" /* path of fluxq */
#define STEP_CLIENT_BROKER "FLUXQ_RUN_BROKER"   /* its URL */
#define STEP_CLIENT_AGAIN "FLUXQ_RUN_AGAIN"
/* Set for that program when the step is over: that its job is, too, is nothing to be told. */
#define STEP_CLIENT_OVER "FLUXQ_RUN_OVER"
/* 1: the connection holds the job (hold.h), which is to end as the step does. */
#define STEP_CLIENT_HOLD "FLUXQ_RUN_HOLD"
/* The job in which fluxq-run on the login node runs its steps, in a shell of fluxq-alloc. */
#define STEP_CLIENT_JOB "FLUXQ_ALLOC_JOB"

enum step_option {
    STEP_OPT_FIRST = 1,
    STEP_OPT_NODES = STEP_OPT_FIRST,
    STEP_OPT_NTASKS,
    STEP_OPT_PER_NODE,
    STEP_OPT_CPUS,
    STEP_OPT_GPUS,
    STEP_OPT_NODELIST,
    STEP_OPT_EXCLUDE,
    STEP_OPT_DISTRIBUTION,
    STEP_OPT_TASKMAP,
    STEP_OPT_EXACT,
    STEP_OPT_OVERLAP,
    STEP_OPT_OVERCOMMIT,
    STEP_OPT_IMMEDIATE,
    STEP_OPT_CPU_BIND,
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
};

/* What a step can be told; without --help and its kin. */
extern const struct option_desc step_options[];

enum bcast_option { BCAST_OPT_FORCE = 1, BCAST_OPT_PRESERVE };

/* Likewise of a copy. */
extern const struct option_desc bcast_options[];

#endif

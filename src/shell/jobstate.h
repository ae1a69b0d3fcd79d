/* jobstate.h - the course of a job as rank 0 sees it: events in, actions out
 *
 *     JOIN --all joined--> RUN --all tasks ended------------------+
 *      |                    |                                     v
 *      |                    +--terminate, time limit--> TERM --> KILL --all done--> OVER
 *      |                    +--a rank is lost--------------------^ |                  ^
 *      |                                                            +--> STAGE --all--+
 *      +--join timeout, start failure, terminate, a rank is lost (nothing runs)------+
 *
 *     struct jobstate js;
 *     jobstate_init (&js, nranks, ntasks, 60, limit, grace, now);
 *     unsigned todo = jobstate_joined (&js, rank, now);
 *     if (todo & JOB_DO_START) ...
 *
 * Some time before the limit a RUN is warned once (--signal). A new limit counts from the
 * same start as the old one; when the warning comes to lie ahead again, it is given again.
 *
 * Pure: no input or output, time comes in as an argument (monotonic seconds). Each event
 * is a function that returns the actions (enum job_action bits) that the caller must
 * carry out now, in the order of their values. Events that come too late change nothing.
 * The first reason for an end stands: what follows from it (tasks that die of the signal)
 * is not another one. STAGE is for a job with files to be brought back.
 */
#ifndef FLUXQ_SHELL_JOBSTATE_H
#define FLUXQ_SHELL_JOBSTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/frame.h"

enum job_phase { JOB_JOIN, JOB_RUN, JOB_TERM, JOB_KILL, JOB_STAGE, JOB_OVER };

enum job_action {
    JOB_DO_START = 1,  /* write FRAME_READY, start the tasks on all ranks */
    JOB_DO_TERM = 2,   /* SIGTERM to all processes of the job */
    JOB_DO_KILL = 4,   /* SIGKILL to all, on all ranks, each says when it is done */
    JOB_DO_FINISH = 8, /* write FRAME_FINISH with js->finish */
    JOB_DO_WARN = 16,  /* the time limit is near: the signal that the user asked for */
    JOB_DO_STAGE = 32, /* bring the files of --stage-out, each says when it is done */
    JOB_DO_REPORT = 64, /* write FRAME_READY; jobstate_confirmed() when the broker has it */
};

enum rank_state { RANK_ABSENT, RANK_JOINED, RANK_DONE, RANK_STAGED, RANK_LOST };

struct jobstate {
    enum job_phase phase;
    uint32_t nranks;
    uint32_t njoined;  /* have joined, ever */
    uint32_t nended;   /* done or lost */
    uint8_t *ranks;    /* enum rank_state */
    uint32_t nrunning; /* tasks that have not ended */
    int status;        /* worst wait status so far */
    double deadline;   /* of the phase, 0: none; see jobstate_time() */
    double join_timeout;
    double time_limit;  /* seconds from the start, 0: none */
    double warn_before; /* so many seconds before it JOB_DO_WARN is due, 0: never */
    double started;     /* when RUN began */
    bool warned;
    double grace;         /* seconds */
    bool decided;         /* finish.reason and text are set */
    bool confirms;        /* all that have joined wait for jobstate_confirmed(), */
    bool reported;        /* and do so now */
    bool keeps_zero;      /* ended for its output alone: tasks that succeed have done so */
    char oom_text[256];   /* "": memory was enough */
    bool stages;          /* there are files to be brought when the tasks have ended */
    uint32_t nstaging;    /* ranks that are at it */
    char stage_text[256]; /* what was not brought, the first of it; or "" */
    struct frame_finish finish;
};

/* How long a node may take to get rid of the job's processes before the job is reported
 * as finished without it. */
#define JOB_KILL_SECONDS 30.0
/* How long files may take that are brought back: as long as output may wait for the broker;
 * AGENT_STAGE_SECONDS when the job did not end by itself. */
#define JOB_STAGE_SECONDS (24 * 3600.0)

/* 0 or -ENOMEM. Times in seconds. */
int jobstate_init (struct jobstate *js, uint32_t nranks, uint32_t ntasks,
                   double join_timeout, double time_limit, double grace, double now);
void jobstate_release (struct jobstate *js);

unsigned jobstate_joined (struct jobstate *js, uint32_t rank, double now);
/* The broker knows that the tasks start (its answer to JOB_DO_REPORT). */
unsigned jobstate_confirmed (struct jobstate *js, double now);
unsigned jobstate_task_exit (struct jobstate *js, uint32_t rank, uint32_t task,
                             const char *node, int status, double now);
/* To be called before the failed task's jobstate_task_exit(), and for tasks of steps: when
 * the job then ends by itself and has failed, its reason is oom. */
void jobstate_oom (struct jobstate *js, const char *text);
/* A malleable job: there may be so many ranks, of which it has nranks. 0 or -ENOMEM; once. */
int jobstate_make_room (struct jobstate *js, uint32_t ranks);
/* A rank behind the job's own has come, or gone again. */
void jobstate_candidate (struct jobstate *js, uint32_t rank, bool here);
/* One of its ranks, which the job can do without, has no process of it left, or is lost. */
unsigned jobstate_left (struct jobstate *js, uint32_t rank, double now);
/* It has so many ranks: those that are new have come (jobstate_candidate()), those that it has
 * no more have left. */
void jobstate_resize (struct jobstate *js, uint32_t nranks);
/* A rank has no process of the job left (its answer to JOB_DO_KILL). */
unsigned jobstate_done (struct jobstate *js, uint32_t rank, double now);
/* It has brought its files (its answer to JOB_DO_STAGE). */
unsigned jobstate_staged (struct jobstate *js, uint32_t rank, double now);
/* One of them could not be brought: a job that has succeeded otherwise has failed then. The
 * first text stands. */
void jobstate_stage_failed (struct jobstate *js, const char *text);
unsigned jobstate_lost (struct jobstate *js, uint32_t rank, const char *text, double now);
/* The tasks cannot start, or start no further: reason startfail. */
unsigned jobstate_fail (struct jobstate *js, const char *text, double now);
/* SIGTERM, and after grace seconds SIGKILL; of a job that brings its files: those that are
 * not there after grace seconds are given up. */
unsigned jobstate_terminate (struct jobstate *js, const char *reason, const char *text,
                             double grace, double now);
/* The same at once; for failures after which going on has no sense. */
unsigned jobstate_kill (struct jobstate *js, const char *reason, const char *text,
                        double now);
/* A new time limit, in seconds from the start, 0: none. -EALREADY: the job ends already. */
int jobstate_limit (struct jobstate *js, double time_limit, double now);
/* Whether the job came to its end by itself, not by somebody's word. */
bool jobstate_ended_by_itself (const struct jobstate *js);
/* How long it has waited for its ranks, in seconds; only in JOB_JOIN. */
double jobstate_joining (const struct jobstate *js, double now);
/* js->deadline has passed. text: what to say if it was the join timeout. */
unsigned jobstate_time (struct jobstate *js, const char *join_text, double now);

/* The worse of two wait statuses: a signal beats any exit code, larger beats smaller. */
int status_worst (int a, int b);
/* "exit status 3", "killed by signal 9 (Killed)". */
void status_text (int status, char *buf, size_t size);
/* "1-02:03:04", "1:00", "0:05": how batch users read a time limit. */
void duration_text (double seconds, char *buf, size_t size);

#endif

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
 * A running job gets one warning some time before its time limit (--signal). A new limit
 * counts from the same start as the old one; if the time of the warning then lies ahead
 * again, the job is warned again.
 *
 * Pure: no input or output; time is an argument (monotonic seconds). Each event is a
 * function that returns the actions (enum job_action bits) that the caller must carry out
 * now, in the order of their values. Events that come too late change nothing. The first
 * reason for the end of a job stands; its consequences, such as tasks that die of the
 * signal, do not replace it. Only a job with files to stage out enters STAGE.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/frame.h"

enum job_phase { JOB_JOIN, JOB_RUN, JOB_TERM, JOB_KILL, JOB_STAGE, JOB_OVER };

enum job_action {
    JOB_DO_START = 1,  /* write FRAME_READY, start the tasks on all ranks */
    JOB_DO_TERM = 2,   /* SIGTERM to all processes of the job */
    JOB_DO_KILL = 4,   /* SIGKILL to all, on all ranks; each answers when none is left */
    JOB_DO_FINISH = 8, /* write FRAME_FINISH with js->finish */
    JOB_DO_WARN = 16,  /* send the user's signal: the time limit is near */
    JOB_DO_STAGE = 32, /* send the files of --stage-out; each rank answers at its end */
    JOB_DO_REPORT = 64, /* write FRAME_READY; call jobstate_confirmed() when the broker
                         * has read it */
};

enum rank_state { RANK_ABSENT, RANK_JOINED, RANK_DONE, RANK_STAGED, RANK_LOST };

struct jobstate {
    enum job_phase phase;
    uint32_t nranks;
    uint32_t njoined;  /* ranks that have ever joined */
    uint32_t nended;   /* ranks that are done or lost */
    uint8_t *ranks;    /* enum rank_state */
    uint32_t nrunning; /* tasks that have not ended */
    int status;        /* worst wait status so far */
    double deadline;   /* end of the phase, 0: none; see jobstate_time() */
    double join_timeout;
    double time_limit;  /* seconds from the start, 0: none */
    double warn_before; /* JOB_DO_WARN is due so long before the limit, 0: never */
    double started;     /* when RUN began */
    bool warned;
    double grace;         /* seconds */
    bool decided;         /* finish.reason and text are set */
    bool confirms;        /* tasks start only after jobstate_confirmed() */
    bool reported;        /* the job waits for jobstate_confirmed() now */
    bool keeps_zero;      /* ended for its output only: may succeed if its tasks do */
    char oom_text[256];   /* text of reason "oom"; "": memory was enough */
    bool stages;          /* there are files to send when the tasks have ended */
    uint32_t nstaging;    /* ranks that are sending files */
    char stage_text[256]; /* the first file that could not be sent, and why; or "" */
    struct frame_finish finish;
};

/* Seconds that a node may take to end the job's processes; after that the job is reported
 * as finished. */
#define JOB_KILL_SECONDS 30.0
/* Seconds for sending the files of --stage-out: as long as output may wait for the
 * broker; AGENT_STAGE_SECONDS when the job did not end by itself. */
#define JOB_STAGE_SECONDS (24 * 3600.0)

/* 0 or -ENOMEM. Times in seconds. */
int jobstate_init (struct jobstate *js, uint32_t nranks, uint32_t ntasks,
                   double join_timeout, double time_limit, double grace, double now);
void jobstate_release (struct jobstate *js);

unsigned jobstate_joined (struct jobstate *js, uint32_t rank, double now);
/* The broker knows that the tasks start (the answer to JOB_DO_REPORT). */
unsigned jobstate_confirmed (struct jobstate *js, double now);
unsigned jobstate_task_exit (struct jobstate *js, uint32_t rank, uint32_t task,
                             const char *node, int status, double now);
/* Call before jobstate_task_exit() of the failed task, and for tasks of steps. If the job
 * then ends by itself and has failed, its reason is "oom". */
void jobstate_oom (struct jobstate *js, const char *text);
/* Makes room for this many ranks, of which a malleable job has nranks. 0 or -ENOMEM; call
 * once. */
int jobstate_make_room (struct jobstate *js, uint32_t ranks);
/* A rank beyond the job's own ranks has joined, or has left again. */
void jobstate_candidate (struct jobstate *js, uint32_t rank, bool here);
/* One of the job's ranks has no process of the job left, or is lost, and the job can do
 * without it. */
unsigned jobstate_left (struct jobstate *js, uint32_t rank, double now);
/* The job now has this many ranks: the new ones have joined (jobstate_candidate()), those
 * removed have left. */
void jobstate_resize (struct jobstate *js, uint32_t nranks);
/* A rank has no process of the job left (its answer to JOB_DO_KILL). */
unsigned jobstate_done (struct jobstate *js, uint32_t rank, double now);
/* A rank has sent its files (its answer to JOB_DO_STAGE). */
unsigned jobstate_staged (struct jobstate *js, uint32_t rank, double now);
/* A file could not be sent. A job that succeeded otherwise then counts as failed. The
 * first text stands. */
void jobstate_stage_failed (struct jobstate *js, const char *text);
unsigned jobstate_lost (struct jobstate *js, uint32_t rank, const char *text, double now);
/* The tasks cannot start, or no further task can: reason "startfail". */
unsigned jobstate_fail (struct jobstate *js, const char *text, double now);
/* Sends SIGTERM and, after grace seconds, SIGKILL. In JOB_STAGE the job gives up the
 * files that are not sent after grace seconds. */
unsigned jobstate_terminate (struct jobstate *js, const char *reason, const char *text,
                             double grace, double now);
/* Kills at once, for failures after which the job cannot go on. */
unsigned jobstate_kill (struct jobstate *js, const char *reason, const char *text,
                        double now);
/* Sets a new time limit, in seconds from the start, 0: none. -EALREADY: the job is
 * ending. */
int jobstate_limit (struct jobstate *js, double time_limit, double now);
/* Whether the job ended by itself, not because someone ended it. */
bool jobstate_ended_by_itself (const struct jobstate *js);
/* Seconds that the job has waited for its ranks; only in JOB_JOIN. */
double jobstate_joining (const struct jobstate *js, double now);
/* Call when js->deadline has passed. text: the reason if the join timeout was reached. */
unsigned jobstate_time (struct jobstate *js, const char *join_text, double now);

/* root.h - rank 0: the course of the job and the requests to it
 *
 *     root.c ---> api.c, root_resize.c, root_stage.c, root_steps.c
 *       |             |
 *       +-------------+--> root_actions.c --> root_join.c, root_usage.c --> root_output.c
 *
 * root.c takes messages and events. jobstate.h decides what follows, root_actions.c
 * carries the decision out, and root_output.c writes to the spool (spool.h) and the
 * user's files (outfile.h). A file calls only files to its right.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "protocol/stepuse.h"
#include "shell/agent/agent.h"
#include "shell/agent/calls.h"
#include "shell/agent/client_listener.h"
#include "shell/agent/jobstate.h"
#include "shell/agent/root_resize.h"
#include "shell/agent/server.h"
#include "shell/io/outfile.h"
#include "shell/io/spool.h"
#include "shell/io/stage.h"
#include "shell/step/cgroup.h"
#include "shell/step/stepd.h"
#include "shell/step/steps.h"
#include "shell/step/task.h"

#define API_NONCES 65536
#define ROOT_KEPT_BYTES ((size_t)1 << 20)
#define ROOT_STREAM_GRACE 5.0    /* seconds for readers before the agent exits */
#define ROOT_STRAGGLER_GRACE 2.0 /* seconds for members that join after an early end */
#define ROOT_RELEASE_MAX (24 * 3600.0)

struct api_nonces;

struct root_member {
    uint32_t consumed; /* bytes of output received, not yet returned to it as credit */
    bool fell_back;    /* its working directory is / */
    uint8_t told;      /* streams of WIRE_USAGE received: bits of 1 << stream */
};

struct root {
    struct agent *agent;
    struct jobstate js;
    struct spool spool;
    struct outfiles *files;
    struct server *server;
    char *listen; /* the address of the listening socket */
    struct tasks *tasks;
    struct stage *stage; /* staging of this rank's files */
    struct steps *steps;
    struct stepd *stepd;   /* this rank's part of the steps */
    struct calls *calls;   /* commands that need the broker */
    struct client_listener *listener; /* listener for this rank's clients */
    struct outbuf to_self; /* messages from steps to this rank itself */
    struct root_member *members;
    struct api_nonces *nonces;
    uint64_t ready_end; /* offset in the spool behind FRAME_READY */
    uint32_t window;
    uint32_t njoined;   /* members that have joined, including after the end */
    bool was_full;      /* output waited for room */
    bool io_failed;     /* the failure was reported */
    bool is_due;        /* root_carry_out() is called at the end of this round ... */
    unsigned due;       /* ... with these actions */
    bool abandoned;     /* the guardian is dead: exit once all processes are killed */
    bool leaving;       /* WIRE_EXIT was sent */
    bool reported;      /* FRAME_FINISH is in the spool's file */
    time_t started_at;  /* wall-clock time */
    double finished_at; /* 0: not finished */
    double finish_by;   /* FRAME_FINISH waits for room until then; 0: it does not */
    double leave_by;    /* latest time to exit when leaving */
    struct outbuf unspooled; /* output frames for which the spool's disk has no room */
    struct loop_timer room;  /* retries unspooled */
    uint64_t nospool;        /* bytes of output lost because the spool had no room */
    struct root_resize resize;
    struct stepuse used[2]; /* own tasks, all processes; begin_ms 0: not started */
    struct strbuf kept;     /* usage frames of steps, at most ROOT_KEPT_BYTES */
    uint32_t nkept;         /* number of frames in kept */
    struct loop_timer timer;
};

/* The files beside root.c, each with its functions. A file calls only those below it. */

/* -- root_steps.c -- */

/* Creates the steps, this rank's part of them and its client listener. 0 or negative errno
 * with the reason. */
int root_create_steps (struct root *root, struct error *err);
/* Delivers the messages from steps to this rank: at the end of a round of the loop, and
 * before the job's size changes. Do not call from steps or stepd. */
void root_deliver_to_self (struct root *root);

/* Handles a message of a client or of a rank's part of a step; as steps_message(). */
bool root_step_message (struct root *root, uint32_t rank, const struct frame *msg);

/* -- root_stage.c -- */

/* 0 or -ENOMEM. */
int root_stage_create (struct root *root);
/* Call when the working directory is known. 0: no file is to be copied; 1: copying has
 * started, and this rank has joined or failed when copying ends; or a negative errno. */
int root_stage_in (struct root *root, struct error *err);
/* Handles FRAME_FILE, WIRE_STAGE_FAIL and WIRE_STAGED. False: the message is invalid. */
bool root_stage_message (struct root *root, uint32_t rank, const struct frame *msg);

/* -- api.c -- */

/* events->request of the server; ctx is a struct root. */
void api_request (void *ctx, struct conn *conn, const struct http_request *req);
void api_nonces_destroy (struct api_nonces *nonces);

/* -- root_actions.c -- */

/* Carries out the actions of jobstate.h, and those that are due. */
void root_carry_out (struct root *root, unsigned todo);
/* With TASKS_STEPS, signals the whole job if no step runs; with TASKS_ONLY_STEPS, only if
 * the job has no batch script. -ENOENT: TASKS_BATCH, and the
 * job has no batch script. */
int root_signal (struct root *root, int sig, enum tasks_whom whom);
/* Sets a new time limit, see jobstate_limit(). */
int root_limit (struct root *root, double time_limit);
void root_terminate (struct root *root, const char *reason, const char *text,
                     double grace);
/* Ends the join phase: the start fails, and the ranks that have not joined are missing.
 * -EALREADY: all ranks have joined. */
int root_stop_joining (struct root *root);
/* The broker knows that the tasks start: start them. Does nothing in any other state. */
void root_confirm (struct root *root);
/* -EINVAL: the offset is beyond the end of the spool. */
int root_release (struct root *root, uint64_t offset);
/* Writes FRAME_FINISH: the last action. */
void root_finish (struct root *root);
/* The tasks have ended and no output waits: carries out the delayed JOB_DO_FINISH. */
void root_finish_now (struct root *root);
/* Arms the timer for the next time at which the agent must act; root_on_timer() acts. */
void root_set_timer (struct root *root);
void root_on_timer (struct loop_timer *timer);

/* -- root_join.c -- */

/* Writes a frame for each missing node into the spool, for programs, and a text with all
 * of them for people. */
void root_say_missing (struct root *root, char *text, size_t size);

/* -- root_usage.c -- */

/* root_begin_use(): all tasks start. root_own_ended(): the job's own tasks have ended.
 * root_append_uses(): the job is over, all usage goes into the spool. */
void root_begin_use (struct root *root);
void root_own_ended (struct root *root);
void root_append_uses (struct root *root);
/* Adds what a rank has used: the job's own tasks (which 0) or all processes (1). False:
 * the rank has reported this before. */
bool root_take_use (struct root *root, uint32_t rank, unsigned which,
                    const struct use *use);
/* Handle WIRE_USAGE and WIRE_OOM. False: the message is invalid. */
bool root_on_usage (struct root *root, uint32_t rank, const struct frame *msg);
bool root_on_oom (struct root *root, uint32_t rank, const struct frame *msg);
void root_note_oom (struct root *root, uint32_t rank, const struct cgroup_memory *m);
/* Appends the running steps with what they have used so far; fresh: asks the ranks first
 * (steps_sample()). */
void root_describe_steps (struct root *root, bool fresh, struct strbuf *sb);
/* A steps_record_fn: a step has ended; ctx is the root. */
void root_append_use (void *ctx, struct stepuse *use);

/* -- root_output.c -- */

/* Creates the spool. 0, -EEXIST (the job was started before) or another negative errno
 * with the reason. */
int root_output_create (struct root *root, struct error *err);
/* Opens the user's files. On failure sets err, and there are none. */
void root_output_open (struct root *root, struct error *err);
void root_output_destroy (struct root *root);
/* The node name of a rank. */
const char *root_node (const struct root *root, uint32_t rank);
/* Write a frame to the spool: any, one with a text, a line for the user. */
void root_append (struct root *root, const struct frame *frame);
void root_append_text (struct root *root, enum frame_type type, uint32_t rank,
                       const char *text);
void root_note (struct root *root, uint32_t rank, const char *text);
/* Writes output of a task to the spool and the user's files. */
void root_append_output (struct root *root, uint32_t rank, uint32_t task, int stream,
                         const char *data, size_t len);
/* Bytes that may be put into the spool now; ctx is the root. */
size_t root_room (void *ctx);
/* Counts bytes of a rank that were put into the spool. */
void root_took (struct root *root, uint32_t rank, uint32_t len);
/* There may be room again: resumes the writers that wait; ctx is the root. */
void root_output_resume (void *ctx);
bool root_output_waits (const struct root *root);
/* Gives up the output that waits. */
void root_output_give_up (struct root *root);
/* Adds the lost output to the text of the job's result. */
void root_output_result (struct root *root);
/* The spool cannot be written: the end of the job is due, once. */
void root_spool_failed (struct root *root, int rc);
/* Decides that the job ends for this reason and tells the user. Returns the actions. */
unsigned root_decide_end (struct root *root, const char *reason, const char *text,
                          double grace);

/* root.h - rank 0: the course of the job (root.c) and what requests may ask of it (api.c)
 *
 * root.c joins the parts: jobstate.h decides, server.h carries, task.h runs this rank's
 * own tasks, spool.h and outfile.h keep the output. Beside it: rootjoin.c (who is missing),
 * rootstage.c (files that are brought to the job and back), rootsteps.c (steps and their
 * clients), rootuse.c (what was used), rootresize.h (nodes that come and go).
 */
#ifndef FLUXQ_SHELL_ROOT_H
#define FLUXQ_SHELL_ROOT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "common/stepuse.h"
#include "shell/agent.h"
#include "shell/cgroup.h"
#include "shell/door.h"
#include "shell/jobstate.h"
#include "shell/outfile.h"
#include "shell/rootresize.h"
#include "shell/server.h"
#include "shell/spool.h"
#include "shell/stage.h"
#include "shell/stepd.h"
#include "shell/steps.h"
#include "shell/task.h"

#define API_NONCES 65536
#define ROOT_KEPT_BYTES ((size_t)1 << 20)

struct api_nonces;

struct root_member {
    uint32_t consumed; /* bytes of output taken, for which it has no new credit yet */
    bool fell_back;    /* its working directory is / */
    uint8_t told;      /* WIRE_USAGE: bits of 1 << stream */
};

struct root {
    struct agent *agent;
    struct jobstate js;
    struct spool spool;
    struct outfiles *files;
    struct server *server;
    char *listen; /* the address that it listens on */
    struct tasks *tasks;
    struct stage *stage; /* its own files */
    struct steps *steps;
    struct stepd *stepd;   /* this rank's part of them */
    struct door *door;     /* and its clients */
    struct outbuf to_self; /* what steps say to this rank */
    struct root_member *members;
    struct api_nonces *nonces;
    uint64_t ready_end; /* of FRAME_READY in the spool */
    uint32_t window;
    uint32_t njoined;   /* members, also those that came after the end */
    bool was_full;      /* output waits for room */
    bool io_failed;     /* said once */
    bool abandoned;     /* the guardian is dead: go as soon as all is killed */
    bool leaving;       /* WIRE_EXIT was sent */
    bool reported;      /* FRAME_FINISH is in the spool's file */
    time_t started_at;  /* by the clock on the wall */
    double finished_at; /* 0: not finished */
    double finish_by;   /* FRAME_FINISH waits for room for the output, so long; 0: no */
    double leave_by;    /* when leaving: latest time */
    struct outbuf unspooled; /* frames of output that the spool's disk has no room for */
    struct loop_timer room;  /* they are tried again */
    uint64_t nospool;        /* bytes of output that never had room there */
    struct root_resize resize;
    struct stepuse used[2]; /* by the job's own tasks, by all; begin_ms 0: none began */
    struct strbuf kept;     /* frames of what steps have used, ROOT_KEPT_BYTES, */
    uint32_t nkept;         /* so many */
    struct loop_timer timer;
};

/* rootstage.c. 0 or -ENOMEM. */
int root_stage_create (struct root *root);
/* The working directory is known: 0: nothing is to be copied; 1: this rank has joined, or
 * failed, when it was; or a negative errno. */
int root_stage_in (struct root *root, struct error *err);
void root_stage_out (struct root *root); /* JOB_DO_STAGE, on all ranks */
/* FRAME_FILE, WIRE_STAGE_FAIL, WIRE_STAGED; false: nonsense. */
bool root_stage_message (struct root *root, uint32_t rank, const struct frame *msg);

/* rootuse.c. All tasks start; the job's own have ended; it is over: all goes into the spool. */
void root_begin_use (struct root *root);
void root_own_ended (struct root *root);
void root_append_uses (struct root *root);
/* A rank's word on what it used, by the job's own tasks (which 0) or by all (1); false: it
 * has said so before. */
bool root_take_use (struct root *root, uint32_t rank, unsigned which,
                    const struct use *use);
/* WIRE_USAGE, WIRE_OOM; false: nonsense. */
bool root_on_usage (struct root *root, uint32_t rank, const struct frame *msg);
bool root_on_oom (struct root *root, uint32_t rank, const struct frame *msg);
void root_note_oom (struct root *root, uint32_t rank, const struct cgroup_memory *m);
/* steps_record_fn: a step has ended; ctx is the root. */
void root_append_use (void *ctx, struct stepuse *use);

/* rootjoin.c. The nodes into the spool, for programs; text: the same for people. */
void root_say_missing (struct root *root, char *text, size_t size);

/* rootsteps.c. 0 or negative errno with the reason. */
int root_create_steps (struct root *root, struct error *err);
/* What steps have said to this rank, at the end of a round. */
void root_deliver_to_self (struct root *root);

/* root.c, for those beside it: a rank's node; to the spool; a line for the user there; what
 * jobstate.h wants done; bytes that may be put into the spool now; that so many of a rank
 * were. */
const char *root_node (const struct root *root, uint32_t rank);
void root_append (struct root *root, const struct frame *frame);
void root_append_text (struct root *root, enum frame_type type, uint32_t rank,
                       const char *text);
void root_note (struct root *root, uint32_t rank, const char *text);
/* Output of a task, to the spool and the user's files. */
void root_append_output (struct root *root, uint32_t rank, uint32_t task, int stream,
                         const char *data, size_t len);
void root_carry_out (struct root *root, unsigned todo);
size_t root_room (struct root *root);
void root_took (struct root *root, uint32_t rank, uint32_t len);

/* api.c: events->request of the server; ctx is a struct root. */
void api_request (void *ctx, struct conn *conn, const struct http_request *req);
void api_nonces_destroy (struct api_nonces *nonces);

/* root.c, for api.c */
/* TASKS_STEPS of a job that runs no step now: all of it. -ENOENT: TASKS_BATCH, and it has no
 * batch script. */
int root_signal (struct root *root, int sig, enum tasks_whom whom);
/* A new time limit, see jobstate_limit(). */
int root_limit (struct root *root, double time_limit);
void root_terminate (struct root *root, const char *reason, const char *text,
                     double grace);
/* Whoever has not joined by now is missing, and the start has failed. -EALREADY: all have. */
int root_stop_joining (struct root *root);
/* The broker knows that the tasks start: now they may. Nothing happens otherwise. */
void root_confirm (struct root *root);
/* -EINVAL past the end of the spool. */
int root_release (struct root *root, uint64_t offset);

#endif

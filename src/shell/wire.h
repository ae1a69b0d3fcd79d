/* wire.h - what the ranks of one job say to each other
 *
 * A member (rank > 0) connects to its parent in the tree of agents (tree.h). Both prove
 * that they have the job's key before anything else is said (challenge and response,
 * HMAC-SHA256, each side's nonce in each proof, the roles in the text so that no proof
 * can be reflected; the parent's role is "root", whichever rank it is):
 *
 *     member                                      its parent
 *     "FQJ1" | u32 rank | nonce M (16)  ----->
 *                                       <-----    nonce Z (16) | proof of the parent (32)
 *     proof of the member (32)          ----->
 *     WIRE_JOIN, frames and messages    <---->    messages
 *
 * Messages have the head of a frame (frame.h), with types from 64 on; what tasks write
 * goes upwards as the FRAME_OUTPUT and FRAME_EXIT (stream 1: the node ran out of memory)
 * that rank 0 puts into the spool, and so do files as FRAME_FILE.
 *
 * Upwards all goes to rank 0, and the head's rank says where it comes from: a rank passes
 * on what comes from the ranks below the child that it comes through, anything else is
 * nonsense. Downwards all comes from rank 0, and the head's rank says whom it is for; what
 * is for WIRE_ALL is passed on to all children before a rank does it itself.
 *
 * Flow: a member may send as many bytes of output and of files as rank 0 has given it
 * credit for. So nobody ever stops reading a connection (heartbeats and exits always get
 * through), and what is under way beyond a full spool is bounded by one window a rank, also
 * where it waits in the agents between.
 */
#ifndef FLUXQ_SHELL_WIRE_H
#define FLUXQ_SHELL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/agent_api.h"
#include "common/frame.h"
#include "common/hold.h"
#include "common/session.h"

#define WIRE_MAGIC "FQJ1"
#define WIRE_NONCE 16
#define WIRE_PROOF 32
#define WIRE_HELLO_SIZE (4 + 4 + WIRE_NONCE)
#define WIRE_CHALLENGE_SIZE (WIRE_NONCE + WIRE_PROOF)

/* Seconds: between heartbeats on each connection, both ways; after so much silence a
 * parent takes a child for lost, and a child its parent: rank 0 later, as it may be
 * waiting for a file server with the user's output. */
#define WIRE_BEAT_EVERY 5.0
#define WIRE_MEMBER_SILENT 20.0
#define WIRE_ROOT_SILENT 60.0
#define WIRE_WINDOW_MAX (512 * 1024)
#define WIRE_WINDOW_MIN (16 * 1024)
#define WIRE_WINDOWS (64u << 20)         /* bytes for all ranks together, at most */
#define WIRE_INPUT_WINDOW (256 * 1024)   /* bytes of input that not all have taken, */
#define WIRE_INPUT_DIGEST 32             /* and the digest behind a file */
#define WIRE_INPUT_SHARES (16u << 20)    /* with a file for each task: bytes of all, */
#define WIRE_INPUT_SHARE_MAX (64u << 10) /* and of one task */
#define WIRE_INPUT_SHARE_MIN (4u << 10)
#define WIRE_ALL UINT32_MAX /* as the rank of a message downwards: everybody */

enum wire_type {
    /* upwards */
    WIRE_JOIN = 64, /* task: enum wire_join; data: node name */
    WIRE_FAIL,      /* this rank cannot start its tasks; data: why */
    WIRE_DONE,      /* after WIRE_END: no process of the job is left here */
    WIRE_TERMINATE, /* this agent was told to end (SIGTERM) */
    WIRE_LOST,      /* rank: whose connection its parent has lost; data: why */
    /* both, and not passed on */
    WIRE_BEAT,
    /* downwards */
    WIRE_START,  /* task: window; data: u64 unix time of the job's end, 0: no limit */
    WIRE_CREDIT, /* task: so many bytes of output more */
    WIRE_SIGNAL, /* task: signal number; stream: enum tasks_whom */
    WIRE_END,    /* kill everything, then WIRE_DONE */
    WIRE_EXIT,   /* all is reported: the agent may go */
    WIRE_LIMIT,  /* data as of WIRE_START: the job ends at another time */
    WIRE_STAGE, /* all tasks have ended: bring your files (FRAME_FILE), then WIRE_STAGED */
    /* upwards */
    WIRE_STAGE_FAIL, /* one of them is not brought; data: which, and why */
    WIRE_STAGED,     /* that was all of them */

    /* Downwards, in a malleable job. What the node of rank `task` is (launch_write_node());
     * then that there are others now: WIRE_RESIZE_SIZE bytes, see struct wire_resize. */
    WIRE_NODE = 84,
    WIRE_RESIZE,

    /* Upwards, before WIRE_DONE: what this rank has used (use_encode()); stream 0: its
     * part of the job's own tasks, 1: all that ran here. */
    WIRE_USAGE = 92,
    /* The kernel has killed a process of this rank for want of memory, and the exit of a
     * task that failed with it comes next: u64 limit, u64 peak, u64 kills, see cgroup.h. */
    WIRE_OOM,

    /* Steps (steps.h). Between rank 0 and a client (fluxq-run), through the agent of its
     * rank; task: the client's number there. Upwards: */
    WIRE_RUN_HOLD = HOLD_TYPE, /* common/hold.h */
    WIRE_RUN_SIZE,             /* u32 rows, u32 columns of the client's terminal */
    WIRE_RUN = 96,             /* a piece of a step_spec's text; stream 1: the last one */
    WIRE_RUN_INPUT,            /* bytes for standard input; none: end of file. With a
                                * file for each task: u32 task, bytes */
    WIRE_RUN_USED,   /* u32 node of the step, u32 bytes of its output that were written */
    WIRE_RUN_SIGNAL, /* u32 signal for all tasks */
    WIRE_RUN_GONE,   /* by the agent: the client has closed its connection */
    /* downwards */
    WIRE_RUN_STARTED, /* a piece of the completed step_spec, without arg and env */
    WIRE_RUN_OUTPUT,  /* stream; u32 task, bytes */
    WIRE_RUN_EXIT,    /* u32 task, u32 wait status */
    WIRE_RUN_NOTE,    /* a line for the user */
    WIRE_RUN_TAKEN,   /* u32 bytes of input that all tasks have taken; for each task: u32
                     * task, u32 bytes */
    WIRE_RUN_END, /* u32 wait status of the worst task, why it ended early or could not
                       * begin ("": all tasks ended) */
    /* both, and not passed on by the door: common/session.h */
    WIRE_RUN_SESSION = SESSION_TYPE,
    WIRE_RUN_LAST = WIRE_RUN_SESSION,

    /* Between rank 0 and the ranks of a step; task: its number. Downwards: */
    WIRE_STEP_START = 112, /* a piece of the step_spec; stream 1: the last one */
    WIRE_STEP_INPUT,       /* as WIRE_RUN_INPUT */
    WIRE_STEP_CREDIT,      /* u32 bytes of output more */
    WIRE_STEP_SIGNAL,      /* u32 */
    WIRE_STEP_KVS,         /* a piece of what all ranks put; stream 1: the last one */
    /* upwards */
    WIRE_STEP_OUTPUT, /* as WIRE_RUN_OUTPUT */
    WIRE_STEP_EXIT,   /* stream 1: out of memory; u32 task, u32 wait status */
    WIRE_STEP_FAIL,   /* it cannot start here (the exits of its tasks follow); why */
    WIRE_STEP_TAKEN,  /* as WIRE_RUN_TAKEN, of its tasks here */
    WIRE_STEP_PUT,   /* a piece of what this rank puts into the KVS; stream 1: the last */
    WIRE_STEP_ABORT, /* a task wants the step ended: u32 wait status, why */
    WIRE_STEP_USAGE, /* before its last task's exit here: what they used (use_encode()) */
    /* downwards */
    WIRE_STEP_SIZE, /* as WIRE_RUN_SIZE, for the task that has a terminal */
    WIRE_STEP_LAST = WIRE_STEP_SIZE,
};

enum wire_join {
    WIRE_JOIN_READY,
    WIRE_JOIN_FELL_BACK, /* ready, but the working directory is replaced by / */
    WIRE_JOIN_FAILS,     /* cannot start; WIRE_FAIL follows */
};

/* Bytes on their way out. */
struct outbuf {
    char *data;
    size_t off;
    size_t len; /* bytes from off on */
    size_t cap;
};

void outbuf_add (struct outbuf *out, const void *data, size_t len);
/* Write what the descriptor takes: 1 nothing is left, 0 more to write later, or -errno.
 */
int outbuf_flush (struct outbuf *out, int fd);
/* The same for a pipe (SIGPIPE is ignored by every agent). */
int outbuf_write (struct outbuf *out, int fd);
void outbuf_release (struct outbuf *out);

/* Append a message or frame (head and data). */
void wire_put (struct outbuf *out, const struct frame *msg);
/* As frame_parse(), for messages too. */
ssize_t wire_parse (const void *buf, size_t avail, struct frame *ret);

enum wire_role { WIRE_ROLE_ROOT, WIRE_ROLE_MEMBER };
/* The proof that role knows the key, for this job, rank and pair of nonces. */
void wire_proof (const uint8_t key[AGENT_KEY_SIZE], enum wire_role role, uint64_t job_id,
                 uint32_t rank, const uint8_t member_nonce[WIRE_NONCE],
                 const uint8_t root_nonce[WIRE_NONCE], uint8_t ret[WIRE_PROOF]);

/* Something longer than a frame: pieces of it with stream 0, the last one with 1. */
void wire_pieces (const struct frame *head, const char *data, size_t len,
                  void (*put) (void *ctx, const struct frame *msg), void *ctx);

void wire_put_u32 (uint8_t *p, uint32_t v);
uint32_t wire_get_u32 (const void *p);
void wire_put_u64 (uint8_t *p, uint64_t v);
uint64_t wire_get_u64 (const void *p);

/* A malleable job becomes another size, or has. */
enum wire_resize_state {
    WIRE_RESIZE_SHRINKS, /* it keeps `to` nodes of `from`; the others go soon */
    WIRE_RESIZE_DONE,
};
struct wire_resize {
    uint32_t generation, state, from, to;
};
#define WIRE_RESIZE_SIZE 16
void wire_put_resize (uint8_t data[WIRE_RESIZE_SIZE], const struct wire_resize *r);
struct wire_resize wire_get_resize (const void *data);

#define WIRE_OOM_SIZE 24
struct cgroup_memory;
void wire_put_oom (uint8_t data[WIRE_OOM_SIZE], const struct cgroup_memory *m);
struct cgroup_memory wire_get_oom (const void *data);

/* Output window of a member: a quarter of the spool's limit (0: none), at most
 * WIRE_WINDOWS, shared by all ranks; never less than WIRE_WINDOW_MIN. */
uint32_t wire_window (uint64_t spool_max, size_t nranks);

/* Bytes of input that a task need not have taken, where each has a file of its own. */
uint32_t wire_input_share (uint32_t ntasks);

#endif

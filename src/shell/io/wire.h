/* wire.h - the messages that the ranks of one job exchange
 *
 * The folder io/ has what the rest of the agent stands on: the event loop, sockets and
 * messages between agents, the spool, and the files of a job. The folder uses no other
 * folder of the agent. Bytes come from descriptors and go to callbacks; messages go to
 * buffers (struct outbuf) and from there to descriptors.
 *
 * A member (rank > 0) connects to its parent in the tree of agents (tree.h). Each side
 * first proves that it has the job's key, by challenge and response with HMAC-SHA256.
 * Each proof covers both nonces and names the role of its sender, so no proof can be
 * reflected. The parent's role is always "root", whatever its rank:
 *
 *     member                                      its parent
 *     "FQJ1" | u32 rank | nonce M (16)  ----->
 *                                       <-----    nonce Z (16) | proof of the parent (32)
 *     proof of the member (32)          ----->
 *     WIRE_JOIN, frames and messages    <---->    messages
 *
 * A message has the head of a frame (frame.h) and a type from 64 on. The output of tasks
 * travels upwards as FRAME_OUTPUT and FRAME_EXIT (stream 1: the node ran out of memory),
 * as rank 0 puts it into the spool; files travel as FRAME_FILE.
 *
 * All messages upwards go to rank 0, and the rank in the head names the sender. A rank
 * passes on what comes from a child or from the ranks below that child; any other sender
 * is an error of the protocol. All messages downwards come from rank 0, and the rank in
 * the head names the receiver. A rank passes a message for WIRE_ALL on to all its
 * children before it acts on the message itself.
 *
 * Flow: a member may send as many bytes of output and of files as rank 0 has given it
 * credit for. Therefore no side ever stops reading a connection, and heartbeats and exits
 * always get through. The bytes under way beyond a full spool are limited to one window
 * for each rank, including those that wait in the agents between.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/agent_api.h"
#include "protocol/frame.h"
#include "protocol/inside.h"
#include "protocol/keepalive.h"
#include "protocol/session.h"

#define WIRE_MAGIC "FQJ1"
#define WIRE_NONCE 16
#define WIRE_PROOF 32
#define WIRE_HELLO_SIZE (4 + 4 + WIRE_NONCE)
#define WIRE_CHALLENGE_SIZE (WIRE_NONCE + WIRE_PROOF)

/* Seconds between heartbeats, which both sides of each connection send. After
 * WIRE_MEMBER_SILENT seconds of silence a parent gives up a child; after WIRE_ROOT_SILENT
 * seconds a child gives up its parent. The second is longer because rank 0 may be waiting
 * for a file server with the user's output. */
#define WIRE_BEAT_EVERY 5.0
#define WIRE_MEMBER_SILENT 20.0
#define WIRE_ROOT_SILENT 60.0
#define WIRE_WINDOW_MAX (512 * 1024)
#define WIRE_WINDOW_MIN (16 * 1024)
#define WIRE_WINDOWS (64u << 20)         /* limit in bytes for all ranks together */
#define WIRE_INPUT_WINDOW (256 * 1024)   /* bytes that some task has not taken */
#define WIRE_INPUT_DIGEST 32             /* bytes of the digest that follows a file */
#define WIRE_INPUT_SHARES (16u << 20)    /* one file for each task: bytes of all tasks */
#define WIRE_INPUT_SHARE_MAX (64u << 10) /* ... and of one task */
#define WIRE_INPUT_SHARE_MIN (4u << 10)
#define WIRE_STEP_OWN UINT32_MAX
#define WIRE_ALL UINT32_MAX /* rank of a message downwards that is for every rank */

enum wire_type {
    /* upwards */
    WIRE_JOIN = 64, /* task: enum wire_join; data: node name */
    WIRE_FAIL,      /* this rank cannot start its tasks; data: why */
    WIRE_DONE,      /* answer to WIRE_END: this rank has no process of the job left */
    WIRE_TERMINATE, /* this agent was told to end (SIGTERM) */
    WIRE_LOST,      /* rank: a child that its parent has lost; data: why */
    /* both ways, and not passed on */
    WIRE_BEAT,
    /* downwards */
    WIRE_START,  /* task: window; data: u64 unix time of the job's end, 0: no limit */
    WIRE_CREDIT, /* task: number of further bytes of output allowed */
    WIRE_SIGNAL, /* task: signal number; stream: enum tasks_whom */
    WIRE_END,    /* kill all processes, then answer WIRE_DONE */
    WIRE_EXIT,   /* everything is reported: the agent may exit */
    WIRE_LIMIT,  /* new end of the job; data as in WIRE_START */
    WIRE_STAGE,  /* all tasks have ended: send the files (FRAME_FILE), then WIRE_STAGED */
    /* upwards */
    WIRE_STAGE_FAIL, /* one file cannot be sent; data: its name and why */
    WIRE_STAGED,     /* all files have been sent */

    /* Downwards, in a malleable job. WIRE_NODE: the description of the node of rank
     * `task` (launch_write_node()). WIRE_RESIZE: the number of nodes changes or has
     * changed, WIRE_RESIZE_SIZE bytes, see struct wire_resize. */
    WIRE_NODE = 84,
    WIRE_RESIZE,

    /* Upwards, before WIRE_DONE: what this rank has used (use_encode()). Stream 0: the
     * job's own tasks on this rank; stream 1: all processes of the job there. */
    WIRE_USAGE = 92,
    /* The kernel has killed a process of this rank for lack of memory, and the next
     * message is the exit of a task that failed with it: u64 limit, u64 peak, u64 kills,
     * see cgroup.h. */
    WIRE_OOM,

    /* Steps (steps.h): messages between rank 0 and a client (fluxq-run), passed through
     * the agent of the client's rank. task: the number of the client at that agent.
     * Upwards: */
    WIRE_RUN_KEEPALIVE = KEEPALIVE_TYPE, /* protocol/keepalive.h */
    WIRE_RUN_SIZE,   /* u32 rows, u32 columns of the client's terminal */
    WIRE_RUN = 96,   /* a piece of a step_spec's text; stream 1: the last one */
    WIRE_RUN_INPUT,  /* bytes for standard input; no bytes: end of file. With
                                * one file for each task: u32 task, bytes */
    WIRE_RUN_USED,   /* u32 node of the step, u32 bytes written of its output */
    WIRE_RUN_SIGNAL, /* u32 signal for all tasks */
    WIRE_RUN_GONE,   /* sent by the agent: the client has closed its connection */
    /* downwards */
    WIRE_RUN_STARTED, /* a piece of the completed step_spec, without arg and env */
    WIRE_RUN_OUTPUT,  /* stream; u32 task, bytes */
    WIRE_RUN_EXIT,    /* u32 task, u32 wait status */
    WIRE_RUN_NOTE,    /* a line for the user */
    WIRE_RUN_TAKEN,   /* u32 bytes of input that all tasks have taken; with one file for
                       * each task: u32 task, u32 bytes */
    WIRE_RUN_END, /* u32 wait status of the worst task, then why the step ended early or
                   * could not start ("": all tasks ended) */
    /* both ways, handled by client_listener.c itself: protocol/session.h */
    WIRE_RUN_SESSION = SESSION_TYPE,
    /* both ways: a command of Slurm's that needs the broker, protocol/inside.h */
    WIRE_RUN_CALL = INSIDE_TYPE,
    WIRE_RUN_LAST = WIRE_RUN_CALL,

    /* Messages between rank 0 and the ranks of a step. task: the number of the step.
     * Downwards: */
    WIRE_STEP_START = 112, /* a piece of the step_spec; stream 1: the last piece */
    WIRE_STEP_INPUT,       /* like WIRE_RUN_INPUT */
    WIRE_STEP_CREDIT,      /* u32 number of further bytes of output allowed */
    WIRE_STEP_SIGNAL,      /* u32 signal number */
    WIRE_STEP_KVS,         /* a piece of what all ranks put; stream 1: the last piece */
    /* upwards */
    WIRE_STEP_OUTPUT, /* like WIRE_RUN_OUTPUT */
    WIRE_STEP_EXIT,   /* stream 1: out of memory; u32 task, u32 wait status */
    WIRE_STEP_FAIL,  /* cannot start here; data: why. Exits of its tasks follow; stream 1:
                       * none of its tasks here starts, and none is reported */
    WIRE_STEP_TAKEN, /* like WIRE_RUN_TAKEN, for the tasks of this rank */
    WIRE_STEP_PUT,   /* a piece of what this rank puts into the KVS; stream 1: the last
                      * piece */
    WIRE_STEP_ABORT, /* a task asks to end the step: u32 wait status, why */
    WIRE_STEP_USAGE, /* before the exit of the last task here: what they used
                      * (use_encode()) */
    /* downwards */
    WIRE_STEP_SIZE, /* like WIRE_RUN_SIZE, for the task that has a terminal */
    /* Downwards, to every rank: tell what the tasks have used so far. stream: the round.
     * Upwards: the answer of a rank, for each step that runs there; task WIRE_STEP_OWN: the
     * job's own tasks. stream: the round; use_encode(). */
    WIRE_STEP_SAMPLE,
    WIRE_STEP_SAMPLED,
    /* both ways: bytes of one node's PMIx helper for that of another. Upwards: u32 number
     * of the receiving node in the step; downwards: u32 number of the sending node, and
     * no bytes if the tasks of that node have ended */
    WIRE_STEP_SEND,
    WIRE_STEP_LAST = WIRE_STEP_SEND,
};

enum wire_join {
    WIRE_JOIN_READY,
    WIRE_JOIN_FELL_BACK, /* ready, but / replaces the working directory */
    WIRE_JOIN_FAILS,     /* cannot start; WIRE_FAIL follows */
};

/* Bytes that wait to be sent. */
struct outbuf {
    char *data;
    size_t off;
    size_t len; /* number of bytes, starting at off */
    size_t cap;
};

void outbuf_add (struct outbuf *out, const void *data, size_t len);
/* Writes what the descriptor accepts. 1: nothing is left; 0: bytes are left for later; or
 * -errno. */
int outbuf_flush (struct outbuf *out, int fd);
/* Like outbuf_flush(), for a pipe (every agent ignores SIGPIPE). */
int outbuf_write (struct outbuf *out, int fd);
void outbuf_release (struct outbuf *out);

/* Appends a message or frame, head and data. */
void wire_put (struct outbuf *out, const struct frame *msg);
/* Like frame_parse(), but also accepts messages. */
ssize_t wire_parse (const void *buf, size_t avail, struct frame *ret);

enum wire_role { WIRE_ROLE_ROOT, WIRE_ROLE_MEMBER };
/* Computes the proof that a side in this role knows the key, for this job, rank and pair
 * of nonces. */
void wire_proof (const uint8_t key[AGENT_KEY_SIZE], enum wire_role role, uint64_t job_id,
                 uint32_t rank, const uint8_t member_nonce[WIRE_NONCE],
                 const uint8_t root_nonce[WIRE_NONCE], uint8_t ret[WIRE_PROOF]);

/* Sends data longer than a frame in pieces: stream 0, and 1 for the last piece. */
void wire_pieces (const struct frame *head, const char *data, size_t len,
                  void (*put) (void *ctx, const struct frame *msg), void *ctx);

void wire_put_u32 (uint8_t *p, uint32_t v);
uint32_t wire_get_u32 (const void *p);
void wire_put_u64 (uint8_t *p, uint64_t v);
uint64_t wire_get_u64 (const void *p);

/* The number of nodes of a malleable job changes or has changed. */
enum wire_resize_state {
    WIRE_RESIZE_SHRINKS, /* the job keeps `to` of its `from` nodes; the others go soon */
    WIRE_RESIZE_DONE,
};
struct wire_resize {
    uint32_t generation, state, from, to;
};
#define WIRE_RESIZE_SIZE 16
void wire_put_resize (uint8_t data[WIRE_RESIZE_SIZE], const struct wire_resize *r);
struct wire_resize wire_get_resize (const void *data);

/* Output window of a member in bytes: its share of WIRE_WINDOWS or of a quarter of the
 * spool's limit (0: no limit), whichever is less, from WIRE_WINDOW_MIN to
 * WIRE_WINDOW_MAX. */
uint32_t wire_window (uint64_t spool_max, size_t nranks);

/* Bytes of input that may be under way to one task when each task has a file of its
 * own. */
uint32_t wire_input_share (uint32_t ntasks);

/* steps.h - rank 0: the steps of a job, from a client's request to their end
 *
 * The folder step/ runs tasks. Rank 0 chooses the nodes, cores and layout of a step
 * (steps.h, layout.h); each rank binds and starts its tasks, with their environment, and
 * watches them until no process is left (stepd.h, task.h). The folder may use pmi/ and
 * io/, and knows the rest of the agent only by callbacks. Requests and signals come in as
 * messages of io/wire.h; output, exits and usage go out through the callbacks.
 *
 *     READING --whole--> WAITING --cores are free--> RUNNING --all tasks ended--> gone
 *                           +--can never fit------------------------------------^
 *
 *     struct steps *steps = steps_create (&loop, &launch, send, record, ctx);
 *     steps_message (steps, rank, &msg);       // WIRE_RUN... and WIRE_STEP... upwards
 *
 * A client (fluxq-run) is a connection to the agent of its rank (client_listener.h) and
 * has one step. A step gets whole nodes of the job; with --exact only the cores that it
 * asks for; with --overlap also cores of other steps. Steps that do not fit now wait and
 * start in the order in which they came.
 *
 * A job that a client keeps (protocol/keepalive.h) ends when that client goes:
 * keepalive.c.
 *
 * Flow: each node of a step may have as many bytes of output under way as it has credit
 * for. The client returns the credit when it has written the bytes. Therefore a client
 * that does not read stops its own tasks only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/launch.h"
#include "common/strbuf.h"
#include "protocol/stepuse.h"
#include "shell/io/loop.h"
#include "shell/io/wire.h"

#define STEPS_MAX 4096 /* steps at one time, in any state */
#define STEP_CREDIT_ALL (UINT32_C (16) << 20)
#define STEP_CREDIT_MAX (UINT32_C (1) << 20)
#define STEP_CREDIT_MIN (UINT32_C (16) << 10)
#define STEP_PUTS_MAX (64u << 20) /* bytes of one KVS exchange, over all nodes */

struct steps;

/* Sends to the agent of a rank, or of all ranks (WIRE_ALL). A message to rank 0 itself is
 * delivered after the caller has returned to the loop. */
typedef void (*steps_send_fn) (void *ctx, uint32_t rank, const struct frame *msg);

/* The record of a step that had started, with its status: the step has ended, or the job
 * has. */
typedef void (*steps_record_fn) (void *ctx, struct stepuse *use);

/* NULL: no memory. launch must outlive the steps. record can be NULL. */
struct steps *steps_create (struct loop *loop, const struct launch *launch,
                            steps_send_fn send, steps_record_fn record, void *ctx);
void steps_destroy (struct steps *steps);
/* Handles a message from a rank. False: the message is invalid, the rank cannot be
 * trusted. */
bool steps_message (struct steps *steps, uint32_t rank, const struct frame *msg);
/* The job ends: waiting steps never start, and clients are told why ("": a normal
 * end). */
void steps_close (struct steps *steps, const char *why);
/* Whether a step runs now. */
bool steps_run (const struct steps *steps);
/* steps_signal() signals a running step. steps_cancel() ends a step: SIGTERM, then
 * SIGKILL after the job's grace. -ENOENT. */
int steps_signal (struct steps *steps, uint32_t id, int sig);
int steps_cancel (struct steps *steps, uint32_t id);
/* The job is over: also records the steps of which a task did not report its end because
 * its rank is lost. Call nothing else for the steps after this. */
void steps_record_rest (struct steps *steps);
/* Asks all ranks what the tasks of running steps have used so far; own_nodes: ranks with
 * tasks of the job's own. The answers come later. */
void steps_sample (struct steps *steps, uint32_t own_nodes);
/* Appends "waiting N", the number of answers that lack, and for each running step behind
 * an empty line "ranks IDSET" and the text of stepuse.h, with end 0. own: of the job's own
 * tasks; NULL: they have ended. */
void steps_describe (const struct steps *steps, const struct stepuse *own,
                     const char *own_ranks, struct strbuf *sb);
/* -- a malleable job, after launch->nnodes has changed -- */
/* The ranks from `from` on are new, and waiting steps may start there. 0 or -ENOMEM. */
int steps_grown (struct steps *steps, uint32_t from);
/* steps_use(): whether a step has tasks on ranks from `from` on. steps_take_back(): ends
 * the steps that do. */
bool steps_use (const struct steps *steps, uint32_t from);
void steps_take_back (struct steps *steps, uint32_t from);
/* A rank that was to leave is lost: its tasks count as killed. */
void steps_lose (struct steps *steps, uint32_t rank);
/* Whether a client on the login node keeps the job, while its script only waits. */
bool steps_held (const struct steps *steps);
/* Bytes of output of one node of a step that may be under way. */
uint32_t steps_credit (uint32_t nnodes);

/* steps.h - rank 0: the steps of a job, from a client's request to their end
 *
 *     READING --whole--> WAITING --cores are free--> RUNNING --all tasks ended--> gone
 *                           +--can never fit------------------------------------^
 *
 *     struct steps *steps = steps_create (&loop, &launch, send, ctx);
 *     steps_message (steps, rank, &msg);       // WIRE_RUN... and WIRE_STEP... upwards
 *
 * A client (fluxq-run) is a connection to the agent of its rank (door.h); it has one step.
 * A step gets whole nodes of the job; with --exact only the cores that it asks for; with
 * --overlap what others have, too. Steps that do not fit now wait, first come, first
 * served. Which tasks run where: layout.h.
 *
 * A job that is held (hold.h) ends when the client that holds it goes: hold.c.
 *
 * Flow: of each node of a step as many bytes of output are under way as it has credit for;
 * the client gives it back when it has written them. So a client that does not read holds
 * its own tasks only.
 */
#ifndef FLUXQ_SHELL_STEPS_H
#define FLUXQ_SHELL_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/launch.h"
#include "common/stepuse.h"
#include "shell/loop.h"
#include "shell/wire.h"

#define STEPS_MAX 4096 /* at once, in any state */
#define STEP_CREDIT_ALL (UINT32_C (16) << 20)
#define STEP_CREDIT_MAX (UINT32_C (1) << 20)
#define STEP_CREDIT_MIN (UINT32_C (16) << 10)
#define STEP_PUTS_MAX (64u << 20) /* bytes of a KVS exchange, in all */

struct steps;

/* To the agent of a rank (also rank 0 itself, then not before the caller has returned to
 * the loop), or to all: WIRE_ALL. */
typedef void (*steps_send_fn) (void *ctx, uint32_t rank, const struct frame *msg);

/* A step that had begun has ended, or the job has: its record, with the status. */
typedef void (*steps_record_fn) (void *ctx, struct stepuse *use);

/* NULL: no memory. launch must outlive it. */
struct steps *steps_create (struct loop *loop, const struct launch *launch,
                            steps_send_fn send, void *ctx);
void steps_destroy (struct steps *steps);
/* A message from a rank; false: it is nonsense, the rank cannot be trusted. */
bool steps_message (struct steps *steps, uint32_t rank, const struct frame *msg);
/* The job ends: what has not begun never does; clients are told why ("": as it should). */
void steps_close (struct steps *steps, const char *why);
/* Whether a step runs now. */
bool steps_run (const struct steps *steps);
/* Signal a step that runs, or end it: SIGTERM, SIGKILL after the job's grace. -ENOENT. */
int steps_signal (struct steps *steps, uint32_t id, int sig);
int steps_cancel (struct steps *steps, uint32_t id);
void steps_set_record (struct steps *steps, steps_record_fn record);
/* The job is over: those of which some task did not say how it ended (its rank is lost) are
 * recorded, too. Nothing else is to be said to the steps after this. */
void steps_record_rest (struct steps *steps);
/* -- a malleable job, whose launch->nnodes has just become another number -- */
/* The ranks from `from` on are new; steps that wait may begin there. 0 or -ENOMEM. */
int steps_grown (struct steps *steps, uint32_t from);
/* Whether a step has tasks on ranks from `from` on; end those that do. */
bool steps_use (const struct steps *steps, uint32_t from);
void steps_take_back (struct steps *steps, uint32_t from);
/* A rank that was to go is lost: its tasks count as killed. */
void steps_lose (struct steps *steps, uint32_t rank);
/* A client on the login node holds the job, and its script only waits. */
bool steps_held (const struct steps *steps);
/* Output of a step's node that may be under way. */
uint32_t steps_credit (uint32_t nnodes);

#endif

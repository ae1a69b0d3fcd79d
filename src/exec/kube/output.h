/* output.h - a job's output on this machine: the spool and the user's files, with neither
 * loss nor doubled lines
 *
 *     struct output *o = output_create (job, &launch);          // loop's thread
 *     output_open (o, &err);                // these: a worker thread, one call at a time
 *     output_write (o, data, len, &err);
 *     output_checkpoint (o, &err);
 *     output_destroy (o);
 *
 * The spool (DIR/spool-ATTEMPT) gets the agent's frames as they are; OUTPUT frames also
 * go to the files that the jobspec names (one for the job, for each node or for each
 * task, as the agent does for local jobs), FILE frames to those of --stage-out. A
 * checkpoint makes all of it durable and then notes in DIR/delivered-ATTEMPT how long the spool and each file are. After a crash
 * output_open() cuts the files back to the last checkpoint and writes what the spool has
 * beyond it once more. Everything in the job's directory and in the user's is done as the
 * user.
 */
#ifndef FLUXQ_EXEC_KUBE_OUTPUT_H
#define FLUXQ_EXEC_KUBE_OUTPUT_H

#include "common/agent_api.h"
#include "common/frame.h"
#include "common/launch.h"
#include "exec/exec.h"
#include "exec/kube/inputfiles.h"

struct output;

/* launch: borrowed until output_destroy(). The job's strings are copied. */
struct output *output_create (const struct exec_job *job, const struct launch *launch);
void output_destroy (struct output *o);

/* Open or pick up everything, also the job's key (made if there is none), and read the
 * files that its tasks are to have unless it runs already. -errno and the reason for the
 * user. */
int output_open (struct output *o, struct error *err);
/* Append whole frames. An error is the spool's: nothing was taken, the call may be
 * repeated. A user's file that cannot be written is given up and noted, see
 * output_note(). */
int output_write (struct output *o, const void *data, size_t len, struct error *err);
int output_checkpoint (struct output *o, struct error *err);

/* What output_open() found, and how far things are; the loop's thread may ask while no
 * worker is at work. */
uint64_t output_offset (const struct output *o);      /* bytes in the spool */
uint64_t output_safe_offset (const struct output *o); /* of them durable */
bool output_was_ready (const struct output *o);       /* the spool has the READY frame */
const struct frame_finish *output_finish (const struct output *o); /* or NULL */
/* Why a file of --stage-out was not brought, the first of them; or NULL. */
const char *output_stage_problem (const struct output *o);
/* Frames of FRAME_USAGE that output_open() found. */
const struct strbuf *output_usage (const struct output *o);
const uint8_t *output_key (const struct output *o);
/* Which files the agent writes itself, because the pods see their directories
 * (mounts.h). As decided when the job was first opened, so after output_open(). */
#define OUTPUT_BY_AGENT 1 /* standard output */
#define ERROR_BY_AGENT 2  /* standard error */
unsigned output_by_agent (const struct output *o);
/* What the tasks shall read; empty once they run. */
const struct inputfiles *output_inputs (const struct output *o);
/* Why opening or writing failed, if the broker's side is short of something: its errno, else
 * 0. */
int output_shortage (const struct output *o);
/* One line once when a file was given up, then NULL until the next. */
const char *output_note (struct output *o);

#endif

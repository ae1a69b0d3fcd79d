/* output.h - a job's output on this machine: the spool and the user's files, without
 * lost or doubled lines
 *
 * The room files has all files of this machine that a job reads or writes. In one
 * direction go standard input, --stage-in and /etc/passwd, by the job's ConfigMap to its
 * pods (inputfiles.h, staging.h, userfiles.h); in the other come the agent's frames, to
 * the spool, to output files and to --stage-out (outputfiles.h, stagefiles.h). A broker
 * without root touches no file of a user (unprivileged.h).
 *
 *     struct output *o = output_create (job, &launch);          // loop's thread
 *     output_open (o, &err);                // these: a worker thread, one call at a time
 *     output_write (o, data, len, &err);
 *     output_checkpoint (o, &err);
 *     output_destroy (o);
 *
 * The spool (DIR/spool-ATTEMPT) gets the agent's frames as they are. OUTPUT frames also
 * go to the files that the jobspec names (one for the job, for each node or for each
 * task, as the agent does for local jobs), FILE frames to those of --stage-out. A
 * checkpoint makes all of it durable and then stores the sizes of the spool and of each
 * file in DIR/delivered-ATTEMPT. After a crash output_open() cuts the files back to the
 * last checkpoint and writes the rest of the spool once more. All access to the job's
 * directory and to the user's directories is made as the user.
 */
#pragma once

#include "exec/exec.h"
#include "exec/kube/files/inputfiles.h"
#include "protocol/agent_api.h"
#include "protocol/frame.h"
#include "protocol/launch.h"
#include "protocol/output_limit.h"

struct outputfiles;
struct stagefiles;

/* Bits of output.by_agent. */
#define OUTPUT_BY_AGENT 1 /* standard output */
#define ERROR_BY_AGENT 2  /* standard error */

/* Only output.c writes it. The loop's thread may read it while no worker is at work. */
struct output {
    /* the state that output_open() found, and the progress */
    uint64_t offset, safe; /* bytes in the spool; the durable part of them */
    bool was_ready;        /* the spool has the READY frame */
    bool finished;         /* ... and the FINISH frame: */
    struct frame_finish finish;
    struct strbuf usage; /* frames of FRAME_USAGE that output_open() found */
    uint8_t key[AGENT_KEY_SIZE];
    struct inputfiles inputs; /* of the tasks; empty once they run */
    /* the files that the agent writes itself, because the pods see their directories
     * (mounts.h); decided when the job is first opened */
    unsigned by_agent;
    /* if a shortage on the broker's side made the last call fail, its errno; or 0 */
    int shortage;
    /* the reason for the first file of --stage-out that did not arrive; or "" */
    char stage_problem[256];
    /* of output.c alone */
    char *dir_path, delivered[32]; /* delivered and the spool are names in dir_path */
    char *spool_name;
    int dir, spool;
    struct exec_user user;
    const struct launch *launch;
    char *output, *error, *input; /* patterns or NULL */
    size_t script_len;
    bool sends_input;
    struct stage_list stage_in;
    uint64_t max;
    struct output_limit gap;
    struct outputfiles *files;
    struct stagefiles *staged;
    bool note_fresh;
    char note[ERROR_TEXT_MAX + 64];
};

/* launch: borrowed until output_destroy(). The job's strings are copied. */
struct output *output_create (const struct exec_job *job, const struct launch *launch);
void output_destroy (struct output *o);

/* Opens or finds again all files and the job's key (made if there is none), and reads the
 * input files of the tasks unless they run already. -errno and the reason for the
 * user. */
int output_open (struct output *o, struct error *err);
/* Appends whole frames. An error concerns the spool: nothing was written, and the caller
 * may repeat the call. A user's file that cannot be written is given up, see
 * output_note(). */
int output_write (struct output *o, const void *data, size_t len, struct error *err);
int output_checkpoint (struct output *o, struct error *err);

/* Returns one line once after a file was given up, then NULL until the next. */
const char *output_note (struct output *o);

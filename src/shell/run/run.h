/* run.h - fluxq-run: the client of steps, through the local agent or the broker
 *
 * The folder run/ has the programs of users that share the agent's executable: fluxq-run
 * and fluxq-bcast. The folder may use io/ and, to check requests, the parsers of step/.
 * A command line comes in and goes to rank 0 as a request (step_spec.h); input of the
 * tasks follows it; output and the exit status of the step come back.
 *
 *     main ("fluxq-run")  -->  run_main (argc, argv)
 *         run_options.c   command line and environment --> struct run_options
 *         srun_parts.c    the parts of a step on several components of a job
 *         run.c           messages with the agent (wire.h), signals, exit status
 *         run_input.c     input of the tasks: standard input, files
 *         run_output.c    destinations of output: labels, files
 *         run_bcast.c     srun --bcast
 *         run_pty.c       the terminal of --pty
 *         run_connect.c   which agent
 *         run_keepalive.c the task of an allocation, fluxq-run --hold
 *
 * Client and agent are one static program, so fluxq-run exists wherever the agent does.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "protocol/pattern.h"
#include "protocol/step_client.h"
#include "shell/io/loop.h"
#include "shell/io/wire.h"
#include "shell/step/step_spec.h"

#define RUN_PROGRAM STEP_CLIENT

/* The name under which the program was called, for messages: RUN_PROGRAM or
 * SRUN_CLIENT. */
extern const char *run_name;

struct run_files {
    const char *output, *error; /* as in struct run_options */
};

struct run_options {
    struct step_spec spec; /* the request for the agent */
    const char *output;    /* file pattern, "none" or a task's number; NULL: our stdout */
    const char *error;     /* in the same form; NULL: like output, or our stderr */
    const char *input;     /* file pattern; NULL: our stdin */
    /* output and error of each further part of the step, owned; NULL: those of the first */
    struct run_files *files;
    bool label, append, quiet;
    int input_fd; /* standard input; owned unless it is 0 */
    bool digest;  /* standard input is a file of `size` bytes; its SHA-256 follows it */
    uint64_t size;
    bool rsh;
    bool arbitrary;          /* of --distribution */
    uint32_t ntasks_per_gpu; /* 0: not given */
    bool bcast;              /* the program is copied to the nodes first ... */
    char *bcast_dest;  /* ... to this path; NULL: a name in the directory of the step */
    char *bcast_file;  /* the program here */
    bool send_libs;    /* refused with bcast; else it has no effect, as in Slurm */
    bool quit;         /* one ctrl-C ends the tasks */
    double time_limit; /* of srun: seconds; 0: none */
    uint32_t gpus_asked;   /* gpus_per_task of the options */
    const char *het_group; /* of srun: components of the job, as an idset; NULL: none */
    const char *export;    /* --export, or NULL */
    char **command;        /* words of the command line; NULL: none */
};

/* 0; 1: --help or --version has been answered; -EINVAL. */
int run_options_parse (struct run_options *o, int argc, char **argv, struct error *err);
/* The number in "4" or "a100:4", the type of which goes into s: a step has GPUs of one
 * type. NULL with the reason. */
const char *run_gpu_count (struct step_spec *s, const char *value, struct error *err);
/* The two halves of run_options_parse(): the options of one command line, which begin as
 * those of `before` as far as srun passes them on (NULL: of none); and the request that
 * they describe. */
int run_options_read (struct run_options *o, const struct run_options *before, int argc,
                      char **argv, struct error *err);
int run_options_finish (struct run_options *o, struct error *err);
/* Without an option for GPUs, the tasks of a part get as many as the component's. */
int run_default_gpus (struct step_spec *part, struct error *err);
/* srun's own options (srun_options.c). */
int srun_take_option (struct run_options *o, const struct option_match *m,
                      struct error *err);
/* srun's command line, with the parts between the words ":" (srun_parts.c). */
int srun_parse (struct run_options *o, int argc, char **argv, struct error *err);
/* Passes the options of a part on to the next one. */
int srun_inherit (struct run_options *o, const struct run_options *before,
                  struct error *err);
/* Reads the variables that stand for srun's options (srun_environ.c); all: the options. */
typedef int (*run_take_option) (struct run_options *o, const struct option_match *m,
                                struct error *err);
int srun_read_environ (struct run_options *o, const struct option_desc *all,
                       run_take_option take, struct error *err);
/* The address of this machine for the tasks of a step, as text: 127.0.0.1 on virtual nodes
 * of one machine. The caller frees it; NULL: no memory. */
char *client_address (void);
void run_options_release (struct run_options *o);

int run_main (int argc, char **argv);
/* Runs the step from request to end. Returns the exit status and releases the options. */
int run_step (struct run_options *o);

/* -- srun --bcast: does nothing without o->bcast -- */

/* Finds the program to copy, and its destination. 0 or negative errno. */
int run_bcast_find (struct run_options *o, struct error *err);
/* Makes the step that copies the program; the caller releases *ret in any case. */
int run_bcast_copy (const struct run_options *o, struct run_options *ret,
                    struct error *err);
/* The step with this number has copied it: o->spec runs the copy, o->bcast is false. */
int run_bcast_copied (struct run_options *o, uint32_t step, struct error *err);

/* -- the connection -- */

/* Returns the connection that was given (step_client.h), or a connection to the agent of
 * this node; then *ret_agent (may be NULL) is the agent's process. The caller closes the
 * descriptor. Negative errno. */
int run_connect (pid_t *ret_agent, struct error *err);
/* The task of a job that a client keeps (keepalive.h): waits until the client ends the
 * job. Returns the exit status. */
int run_keepalive (void);

/* -- files -- */

struct run_vars { /* values for patterns */
    uint64_t job_id, array_job;
    uint32_t array_task;
    const char *job_name, *user;
    uint32_t step, ntasks, nnodes;
    const uint32_t *node_of;  /* [ntasks] number in the step of each task's node */
    const uint32_t *ranks;    /* [nnodes] rank of each node in the job */
    const char *const *hosts; /* [nnodes] name of each node */
};

struct pattern_vars run_pattern_vars (const struct run_vars *vars, uint32_t task);

/* -- input -- */

struct run_input;

struct run_input_events {
    /* Sends the data of a WIRE_RUN_INPUT. */
    void (*put) (void *ctx, const void *data, size_t len);
    /* A file cannot be read; called at most once. */
    void (*failed) (void *ctx, const struct error *err);
};

/* Opens the input file if its name has no patterns. options must outlive it. NULL with
 * the reason. */
struct run_input *run_input_create (struct loop *loop, const struct run_options *o,
                                    const struct run_input_events *events, void *ctx,
                                    struct error *err);
/* The step runs. Copies vars; the data that vars point to must outlive it. */
int run_input_start (struct run_input *in, const struct run_vars *vars,
                     struct error *err);
/* Handles a WIRE_RUN_TAKEN. */
void run_input_taken (struct run_input *in, const struct frame *msg);
/* The task has ended and reads no more. */
void run_input_ended (struct run_input *in, uint32_t task);
void run_input_destroy (struct run_input *in);

/* -- the terminal of --pty -- */

/* Sets both to 0 if there is no terminal. */
void run_terminal_size (uint32_t *ret_rows, uint32_t *ret_cols);
/* Makes standard input raw if it is a terminal, so that every key goes to the task, until
 * run_terminal_give_back(). */
void run_terminal_take (void);
/* Restores the terminal. Returns whether it was raw. */
bool run_terminal_give_back (void);

/* -- output -- */

struct run_output;

/* Opens the output file if all tasks share one; each part of the step (as it was started)
 * can have files of its own. Copies vars; the data that vars point to must outlive it. NULL
 * with the reason. */
struct run_output *run_output_create (const struct run_options *o,
                                      const struct step_spec *step,
                                      const struct run_vars *vars, struct error *err);
/* Writes at once and waits for a slow reader. stream: 1 or 2. -errno with the file. */
int run_output_write (struct run_output *out, uint32_t task, int stream, const char *data,
                      size_t len, struct error *err);
/* The task has ended: with labels, completes and writes its last line if that has no
 * newline. */
int run_output_end (struct run_output *out, uint32_t task, struct error *err);
void run_output_destroy (struct run_output *out);

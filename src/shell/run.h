/* run.h - fluxq-run: the client of steps, at the agent's door or over the broker
 *
 *     main ("fluxq-run")  -->  run_main (argc, argv)
 *         run_options.c   command line and environment --> struct run_options
 *         run.c           the talk with the agent (wire.h), signals, exit status
 *         run_input.c     what tasks read: standard input, files
 *         run_output.c    where output goes: labels, files
 *         run_pty.c       the terminal of --pty
 *         run_connect.c   which agent
 *         run_hold.c      the task of an allocation, fluxq-run --hold
 *
 * One static program with the agent, so that it is there wherever the agent is.
 */
#ifndef FLUXQ_SHELL_RUN_H
#define FLUXQ_SHELL_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/pattern.h"
#include "common/step_client.h"
#include "shell/loop.h"
#include "shell/stepspec.h"
#include "shell/wire.h"

#define RUN_PROGRAM STEP_CLIENT

struct run_options {
    struct step_spec spec; /* what the agent is to know */
    const char *output;    /* file pattern, "none", a task's number, NULL: our stdout */
    const char *error;     /* likewise; NULL: with output, or our stderr */
    const char *input;     /* file pattern; NULL: our stdin */
    bool label, append, quiet;
    int input_fd; /* standard input; owned unless 0 */
    bool digest;  /* it is a file of that size, behind which goes its SHA-256 */
    uint64_t size;
    bool rsh;
    bool arbitrary; /* --distribution */
};

/* 0; 1: --help or --version was answered; -EINVAL. */
int run_options_parse (struct run_options *o, int argc, char **argv, struct error *err);
void run_options_release (struct run_options *o);

int run_main (int argc, char **argv);
/* The step from its request to its end; the exit status. Releases the options. */
int run_step (struct run_options *o);

/* -- the connection -- */

/* That which was given (step_client.h), or to the agent of our node: then *ret_agent
 * (may be NULL) is its process. A descriptor that the caller closes, or negative errno. */
int run_connect (pid_t *ret_agent, struct error *err);
/* The task of a job that a client holds (hold.h): waits for its end. The exit status. */
int run_hold (void);

/* -- files -- */

struct run_vars { /* for patterns */
    uint64_t job_id, array_job;
    uint32_t array_task;
    const char *job_name, *user;
    uint32_t step, ntasks, nnodes;
    const uint32_t *node_of;  /* [ntasks] node of the step */
    const uint32_t *ranks;    /* [nnodes] its number in the job */
    const char *const *hosts; /* [nnodes] its name */
};

struct pattern_vars run_pattern_vars (const struct run_vars *vars, uint32_t task);

/* -- input -- */

struct run_input;

struct run_input_events {
    /* Data of a WIRE_RUN_INPUT. */
    void (*put) (void *ctx, const void *data, size_t len);
    /* A file cannot be read: once. */
    void (*failed) (void *ctx, const struct error *err);
};

/* Opens a file whose name has no patterns. options must outlive it. NULL with the reason. */
struct run_input *run_input_create (struct loop *loop, const struct run_options *o,
                                    const struct run_input_events *events, void *ctx,
                                    struct error *err);
/* The step runs. vars are copied, what they point to must outlive it. */
int run_input_start (struct run_input *in, const struct run_vars *vars,
                     struct error *err);
/* A WIRE_RUN_TAKEN. */
void run_input_taken (struct run_input *in, const struct frame *msg);
/* The task has ended: it reads no more. */
void run_input_ended (struct run_input *in, uint32_t task);
void run_input_destroy (struct run_input *in);

/* -- the terminal of --pty -- */

/* 0 where there is none. */
void run_terminal_size (uint32_t *ret_rows, uint32_t *ret_cols);
/* Standard input becomes raw, if it is a terminal, until it is given back: every key
 * goes to the task. */
void run_terminal_take (void);
/* Whether it was raw. */
bool run_terminal_give_back (void);

/* -- output -- */

struct run_output;

/* Opens what is one file for all tasks; vars are copied, what they point to must outlive
 * it. NULL with the reason. */
struct run_output *run_output_create (const struct run_options *o,
                                      const struct run_vars *vars, struct error *err);
/* stream 1 or 2. Writes at once, and waits for a slow reader. -errno with the file. */
int run_output_write (struct run_output *out, uint32_t task, int stream, const char *data,
                      size_t len, struct error *err);
/* The task has ended: a line without end is written with one, when labels are. */
int run_output_end (struct run_output *out, uint32_t task, struct error *err);
void run_output_destroy (struct run_output *out);

#endif

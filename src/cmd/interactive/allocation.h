/* allocation.h - jobs held by a program on the login node: fluxq-run, fluxq-alloc
 *
 * This folder holds what a command does with a running job: hold it, run steps in it,
 * follow its output. The job's id and the user's terminal come in; bytes go between the
 * terminal and the job's agents.
 *
 *     struct submit_options so;
 *     json_t *job;
 *     int fd;
 *     allocation_options (c, &so)             // those of the environment
 *     allocation_submit (c, &so, "bash", false, &id)   // script: see protocol/keepalive.h
 *     allocation_wait (c, id, ALLOCATION_TELLS, &job)
 *     allocation_connect (c, id, &fd)         // to the agents; fd holds the job
 *
 * All functions return CMD_OK, or the status after a message. allocation_wait() and
 * allocation_connect() cancel the job when they fail, and on ctrl-C, SIGTERM and SIGHUP,
 * which the caller catches with allocation_catch_signals().
 */
#pragma once

#include <stdint.h>

#include "cmd/client/command.h"
#include "jobspec/options/submit_options.h"

/* Options of a submit that make no sense for an allocation; NULL-terminated. */
extern const char *const allocation_without[];

enum allocation_flags {
    /* tell the user why the job waits, if it waits for more than a moment */
    ALLOCATION_TELLS = 1,
    ALLOCATION_IMMEDIATE = 2, /* do not wait for more than a moment */
};

void allocation_catch_signals (void);
/* Restores the signals, for later commands of the console. */
void allocation_release_signals (void);
/* Adds the options of the environment (slurm: those of this command of enum
 * slurm_command; 0: those of fluxq) and those of every allocation: call it last. */
int allocation_options (struct cmd *c, struct submit_options *so, unsigned slurm);
/* name: the job's name, unless an option sets it. stays: no connection keeps the job. */
int allocation_submit (struct cmd *c, const struct submit_options *so, const char *name,
                       bool stays, uint64_t *ret_id);
/* Waits until the job runs; *ret_job (a new reference) is then the broker's answer about
 * it. */
int allocation_wait (struct cmd *c, uint64_t id, int flags, json_t **ret_job);
int allocation_connect (struct cmd *c, uint64_t id, const char *session, int *ret_fd);
/* Silent unless it fails. */
void allocation_cancel (struct cmd *c, uint64_t id);

/* -- any job -- */

/* GET /v1/jobs/ID, a new reference; NULL with the reason. Prints nothing, except that it
 * waits for the broker. */
json_t *job_ask (struct cmd *c, uint64_t id, struct error *err);
/* job_is_over: whether an answer of job_ask() says that the job has ended. job_end_text:
 * writes "TIMEOUT: time limit ..." into text. */
bool job_is_over (const json_t *job);
void job_end_text (const json_t *job, char *text, size_t size);
/* POST /v1/jobs/ID/connect, for the session (protocol/session.h; "": none). Prints nothing.
 * Negative errno. */
int job_connect (struct cmd *c, uint64_t id, const char *session, int *ret_fd,
                 struct error *err);
/* The same for a running job. Tries for 30 s, or for the time of cmd_broker_wait() if
 * that is longer, as the broker or the job may have started a moment ago. -ESRCH: the job
 * has ended, or has stopped running; -EINTR: cmd_interrupted(). err names the job. */
int job_reach (struct cmd *c, uint64_t id, const char *session, int *ret_fd,
               struct error *err);

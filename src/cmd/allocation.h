/* allocation.h - a job that a program on the login node holds: fluxq-run, fluxq-alloc
 *
 *     struct submit_options so;
 *     json_t *job;
 *     int fd;
 *     allocation_options (c, &so)                   // the environment's, behind the command's
 *     allocation_submit (c, &so, "bash", -1, &id)   // its script only waits: common/hold.h
 *     allocation_wait (c, id, ALLOCATION_TELLS, &job)
 *     allocation_connect (c, id, &fd)               // to the agents; who keeps fd holds the job
 *
 * All return CMD_OK, or the status after a message. allocation_wait() and allocation_connect()
 * cancel the job when they fail, and at ctrl-C, SIGTERM and SIGHUP, for which the caller has
 * called allocation_catch_signals().
 */
#ifndef FLUXQ_CMD_ALLOCATION_H
#define FLUXQ_CMD_ALLOCATION_H

#include <stdint.h>

#include "cmd/command.h"
#include "jobspec/submit_options.h"

/* Options of a submission that make no sense for an allocation; NULL-terminated. */
extern const char *const allocation_without[];

enum allocation_flags {
    ALLOCATION_TELLS = 1, /* say what it waits for, when it takes longer than a moment */
    ALLOCATION_IMMEDIATE = 2, /* do not wait longer than that moment */
};

void allocation_catch_signals (void);
/* As it was: in the console other commands follow. */
void allocation_release_signals (void);
/* Those of the environment, and what is so in every allocation: call it last. */
int allocation_options (struct cmd *c, struct submit_options *so);
/* name: the job's where no option says another. urgency -1: none given. */
int allocation_submit (struct cmd *c, const struct submit_options *so, const char *name,
                       int64_t urgency, uint64_t *ret_id);
/* Until it runs; *ret_job (a new reference) is then what the broker knows of it. */
int allocation_wait (struct cmd *c, uint64_t id, int flags, json_t **ret_job);
int allocation_connect (struct cmd *c, uint64_t id, const char *session, int *ret_fd);
/* Without a word unless it fails. */
void allocation_cancel (struct cmd *c, uint64_t id);

/* -- any job -- */

/* GET /v1/jobs/ID, a new reference; NULL with the reason, and nothing is printed but that the
 * broker is waited for. */
json_t *job_ask (struct cmd *c, uint64_t id, struct error *err);
/* Whether an answer of job_ask() says that it has ended; "TIMEOUT: time limit ..." of it
 * into text. */
bool job_is_over (const json_t *job);
void job_end_text (const json_t *job, char *text, size_t size);
/* POST /v1/jobs/ID/connect, for the session (common/session.h; "": none). Negative errno,
 * nothing is printed. */
int job_connect (struct cmd *c, uint64_t id, const char *session, int *ret_fd,
                 struct error *err);
/* The same for a job that runs, tried for 30 s, or as long as cmd_broker_wait() says: the broker,
 * or the job, may have been started a moment ago. -ESRCH: it has ended, or runs no more; -EINTR: cmd_interrupted(). err names the
 * job. */
int job_reach (struct cmd *c, uint64_t id, const char *session, int *ret_fd,
               struct error *err);

#endif

/* stepclient.h - runs the client of steps, the agent's program (protocol/step_client.h)
 *
 *     struct step_call call = { .c = c, .fd = fd, .job = job, .holds = true };
 *     call.argv = (char *[]){ "fluxq-run", "--ntasks=4", "hostname", NULL };
 *     return step_client_run (&call);          // returns in the console only
 */
#pragma once

#include "cmd/client/command.h"
#include "protocol/session.h"

struct step_call {
    struct cmd *c;
    int fd;      /* to the job's agents, opened with this session; "": no session */
    char session[SESSION_TEXT];
    json_t *job; /* an answer of job_ask(); NULL: inside a job, without fd */
    bool holds;  /* the job ends with the step */
    char *const *argv; /* NULL-terminated */
};

/* Seconds that a session with a job's agents outlives its connection: the time that the
 * client waits for the broker, and a little more; 0: no session. */
uint32_t step_session_grace (struct cmd *c);
/* Sets call's session id, or "" for no session. Call before connecting. */
void step_session (struct step_call *call);
/* Whether this process runs in a task of a job. */
bool step_is_inside (void);
/* *ret_id: the job of the fluxq-alloc whose shell runs this process, or 0. CMD_OK, or
 * CMD_FAILED after a message. */
int step_outer_job (struct cmd *c, int64_t *ret_id);
/* Run a step of the job whose task this is, and of the job of fluxq-alloc. Return the
 * exit status, as below. refused: how Slurm's command begins the error if the job cannot
 * be reached; NULL: in fluxq's commands. */
int step_run_inside (struct cmd *c, char *const *argv);
int step_run_in (struct cmd *c, int64_t job, const char *refused, char *const *argv);
/* Returns the exit status of the step, or of a failure after a message. */
int step_client_run (const struct step_call *call);

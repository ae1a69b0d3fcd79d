/* step_pmix.h - PMIx for the tasks of a step on this node, by the helper fluxq-pmix
 *
 *     STARTING --READY--> READY --the step is over--> ENDING --helper exits--> gone
 *        +--FAILED, exit, too late--> the step fails here
 *
 *     rc = steppmix_start (s, &err);             // stepd_pmix_ready() follows
 *     rc = steppmix_environment (s->pmix, local, &env);
 *     steppmix_message (s->pmix, &msg);          // WIRE_STEP_KVS, WIRE_STEP_SEND
 *     steppmix_exited (s->pmix, local, status);
 *     steppmix_release (s->pmix);                // the helper ends by itself
 *
 * The helper is a process of the job (protocol/pmix_helper.h). What it sends is not
 * trusted. Its output goes to the standard error of the node's first task.
 */
#pragma once

#include <limits.h>

#include "common/error.h"
#include "common/strbuf.h"

struct rank_step;
struct stepd;
struct steppmix;
struct frame;

/* The path of the helper: beside this program, or where a package puts it. -ENOENT: it is
 * not installed here. */
int steppmix_program (char ret[PATH_MAX]);
/* Appends the description of the step (struct pmix_setup). Negative errno. */
int steppmix_describe (const struct rank_step *s, struct strbuf *text, struct error *err);
/* Starts the helper and sets s->pmix. Negative errno with the reason. */
int steppmix_start (struct rank_step *s, struct error *err);
/* Adds the task's variables to *env (of env_make()). 0 or -ENOMEM. */
int steppmix_environment (const struct steppmix *p, uint32_t local, char ***env);
void steppmix_message (struct steppmix *p, const struct frame *msg);
/* The task has ended. Ends the step if the task should have finalized first. */
void steppmix_exited (struct steppmix *p, uint32_t local, int status);
/* The client has taken output. */
void steppmix_resume (struct steppmix *p);
/* The step is over: ends the helper. p can be NULL. */
void steppmix_release (struct steppmix *p);
/* Frees the helpers that have not ended. */
void steppmix_destroy_all (struct stepd *d);

/* hold.h - fluxq-alloc and salloc: keep an allocation while a command runs on this machine */
#pragma once

#include "cmd/client/command.h"
#include "common/json.h"
#include "jobspec/options/submit_options.h"

/* Ids of the command's own options. The other table has rows of attributes.h or
 * slurm_options.h. */
enum hold_option { HOLD_QUIET = 1, HOLD_IMMEDIATE };

/* Reads the options, waits for the allocation, runs the command or a shell. Returns the
 * exit status. */
int hold_allocation (struct cmd *c);

/* Sets the variables of the command in this process; job: from GET /v1/jobs/ID. 0, or
 * another number: no memory (hold_environ.c). */
int hold_set_environment (const json_t *job, const struct submit_options *so);

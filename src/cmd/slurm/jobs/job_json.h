/* job_json.h - jobs as JSON, as Slurm's data_parser v0.0.41 shows them
 *
 * squeue --json and scontrol --json show job print it. Members that fluxq has no value for
 * are those of a job without the value, or are left out if clients do not read them.
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/jobs/job_fields.h"

#define JOB_JSON_NEEDS ((UINT64_C (1) << JOB_VALUES) - 1) /* a row needs all values */

/* Whether version (of --json=VERSION, or NULL) has this shape: v0.0.41 and later. */
bool job_json_has_version (const char *version);
/* A job of "jobs". ranks: of GET /v1/jobs/ID, or NULL for a job without an allocation.
 * NULL: no memory. */
json_t *job_json (const struct job_row *row, const json_t *ranks);
/* Prints an answer with this list (taken over), "jobs" or another: 0 or CMD_FAILED. */
int job_json_print (struct cmd *c, const char *name, json_t *list);

/* -- parts, also for sacct --json -- */

/* A number that may be absent or without a limit (n infinite). */
json_t *job_json_number (bool set, double n);
/* How a process ended, from its status (see wait(2)). */
json_t *job_json_exit (bool known, int status);
/* The members "meta", "errors" and "warnings" of an answer. */
json_t *job_json_meta (const struct cmd *c);

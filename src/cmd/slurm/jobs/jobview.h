/* jobview.h - what Slurm says of a job, from an answer of GET /v1/jobs/ID
 *
 *     jobview_add (&sb, job, RECORD_DETAILS);      // the lines of scontrol show job
 *     jobview_add_file (&sb, job, "output");       // /home/ann/slurm-12.out
 */
#pragma once

#include "cmd/slurm/words/record.h"

/* Appends the record of scontrol show job, without the last line's end. */
void jobview_add (struct strbuf *sb, const json_t *job, int flags);
/* Appends the absolute name of the job's output, error or input, as far as its pattern
 * is known; error: that of the output unless the job has one of its own; input:
 * /dev/null. */
void jobview_add_file (struct strbuf *sb, const json_t *job, const char *which);
/* The reason in Slurm's words: "None", "JobHeldUser", "NonZeroExitCode". */
const char *jobview_reason (const json_t *job);
/* The exit code and the signal, of the worst task. */
void jobview_exit (const json_t *job, int *ret_code, int *ret_signal);
/* Whether the job is an array that has no record of its own in Slurm: all its tasks are
 * jobs. */
bool jobview_is_spent (const json_t *job);
/* Appends the tasks of an array that wait, "3-4%2", else those that were cancelled before
 * they ran; of a task its number; nothing for other jobs. */
void jobview_add_tasks (struct strbuf *sb, const json_t *job);
/* A new list with a description of each component of a heterogeneous job, which has its
 * number as "component"; with the job alone if it is none. */
json_t *jobview_components (json_t *job);
/* Append the number of the component, and the job's id; nothing for other jobs. */
void jobview_add_component (struct strbuf *sb, const json_t *job);
void jobview_add_het_job (struct strbuf *sb, const json_t *job);
/* Unix time, 0: unknown. A waiting job's are the planned ones. */
double jobview_start (const json_t *job);
double jobview_end (const json_t *job);
/* The hosts that the job asked for, or excludes; RFC 29, or "". */
const char *jobview_hosts (const json_t *job, bool excluded);
/* Appends the resources that were asked, or granted. */
void jobview_add_tres (struct strbuf *sb, const json_t *job, bool granted);
/* For a job with nodes, appends the generic resources in all, or "(null)". */
void jobview_add_job_gres (struct strbuf *sb, const json_t *job);
/* Appends "  Nodes=node[0-1] CPU_IDs=0 Mem=100 GRES=", a line for each group of equal
 * neighbours. */
void jobview_add_details (struct strbuf *sb, const json_t *job);

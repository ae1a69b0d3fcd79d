/* squeue_steps.h - squeue --steps: the steps that run
 */
#pragma once

#include "cmd/slurm/jobs/squeue.h"

#define SQUEUE_STEPS_FORMAT "%.15i %.8j %.9P %.8u %.9M %N"

/* The fields of -o and -O with --steps. */
extern const struct slurm_field squeue_step_fields[];

/* Prints the steps in q->format: those of q->step_list, "12,13.0", or of all jobs, of the
 * users and partitions that are chosen. */
int squeue_list_steps (struct cmd *c, const struct squeue *q);

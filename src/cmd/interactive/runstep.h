/* runstep.h - fluxq-run and srun: run a parallel step, in a new job or in one that runs */
#pragma once

#include "cmd/client/command.h"

/* Reads the options and runs the step. The command's first table is step_options. Of
 * Slurm's srun the second one has rows of slurm_options.h and srun_options. Returns the
 * exit status. */
int runstep (struct cmd *c);

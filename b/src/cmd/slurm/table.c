/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "cmd/client/command.h"

#include <stddef.h>

extern const struct command slurm_sacct;
extern const struct command slurm_salloc;
extern const struct command slurm_sbatch;
extern const struct command slurm_scancel;
extern const struct command slurm_scontrol;
extern const struct command slurm_sinfo;
extern const struct command slurm_squeue;
extern const struct command slurm_srun;

const struct command *const slurm_commands[] = {
    &slurm_sacct, &slurm_salloc, &slurm_sbatch, &slurm_scancel, &slurm_scontrol,
    &slurm_sinfo, &slurm_squeue, &slurm_srun,   NULL,
};

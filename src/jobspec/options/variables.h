/* variables.h - variables of the environment that no option reads
 *
 *     variables_check (SLURM_SBATCH, environ, warn, c);
 *     // "SBATCH_TIMELIMT: not used: no option of sbatch has this variable"
 *
 * Slurm ignores such variables in silence, so they are no error, but a mistyped one would
 * go unnoticed.
 */
#pragma once

#include "jobspec/options/slurm_options.h"

/* Calls warn with a sentence for each variable SBATCH_... (SALLOC_...) that is none of the
 * command's; srun has none of its own. command 0: for each FLUXQ_... that differs from the
 * variable of an option in one or two characters, outside of jobs; others may be meant for
 * other programs. */
void variables_check (unsigned command, char *const environ_list[],
                      void (*warn) (const char *text, void *arg), void *arg);

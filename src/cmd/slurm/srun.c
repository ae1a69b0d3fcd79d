/* srun.c - srun: runs a parallel step as a job of its own, or in a job, with Slurm's options
 *
 *   inside a job             the agent's program does all, under the name srun
 *   srun --jobid, salloc     the options of the step, and of srun_options
 *   elsewhere                a new job: also the options of jobspec/options/slurm_options.c
 */
#include "cmd/interactive/runstep.h"
#include "jobspec/options/slurm_options.h"
#include "protocol/step_client.h"

/* The options of a new job, then those of srun_options that are left. */
static const struct option_desc *srun_more_options (void)
{
    static struct option_desc all[CMD_OPTIONS_MAX];
    size_t n = 0;

    if (all[0].name)
        return all;
    for (const struct option_desc *d = slurm_options_table (SLURM_SRUN); d->name; d++)
        if (n + 1 < CMD_OPTIONS_MAX)
            all[n++] = *d;
    for (const struct option_desc *d = srun_options; d->name; d++)
        if (n + 1 < CMD_OPTIONS_MAX
            && !option_find (slurm_options_table (SLURM_SRUN), d->name, NULL))
            all[n++] = *d;
    all[n] = (struct option_desc)OPTION_END;
    return all;
}

static const char *const usage[] = { "[OPTION]... COMMAND [ARGUMENT]...", NULL };

const struct command slurm_srun = {
    .name = "srun",
    .summary =
        "Run a parallel command as a step of a job or as a job, and show its output",
    .usage = usage,
    .options = step_options,
    .more_options = srun_more_options,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_FILES,
    .notes =
        "Inside a job the command runs as a step of that job, elsewhere as a job of its "
        "own. Exit\nstatus: that of the worst task, or 128 plus the number of its "
        "signal.\n",
    .run = runstep,
    .slurm = true,
    .refused = "Unable to allocate resources: ",
};

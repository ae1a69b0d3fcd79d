/* salloc.c - salloc: keeps an allocation while a command runs here, with Slurm's options */
#include "cmd/interactive/hold.h"
#include "jobspec/options/slurm_options.h"

static const struct option_desc options[] = {
    { "immediate", 'I', "SECONDS", "fail rather than wait for nodes", HOLD_IMMEDIATE,
      true, NULL },
    OPTION_END,
};

static const struct option_desc *salloc_options (void)
{
    return slurm_options_table (SLURM_SALLOC);
}

static const char *const usage[] = { "[OPTION]... [COMMAND [ARGUMENT]...]", NULL };

const struct command slurm_salloc = {
    .name = "salloc",
    .summary = "Allocate nodes for a shell or a command that runs here",
    .usage = usage,
    .options = options,
    .more_options = salloc_options,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_FILES,
    .notes = "There, srun runs steps in the allocation. The job ends when the shell or "
             "command ends;\nsalloc exits with its status.\n",
    .run = hold_allocation,
    .slurm = true,
    .refused = "Job submit/allocate failed: ",
};

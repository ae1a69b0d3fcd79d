/* run.c - fluxq-run: runs a parallel step, in a new job or in the job it is called in */
#include "cmd/interactive/allocation.h"
#include "cmd/interactive/runstep.h"
#include "protocol/step_client.h"

static const char *const usage[] = { "[OPTION]... COMMAND [ARGUMENT]...", NULL };

const struct command command_run = {
    .name = "run",
    .summary =
        "Run a parallel command as a step of a job or as a job, and show its output",
    .usage = usage,
    .options = step_options,
    .more_options = submit_options_table,
    .without = allocation_without,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_FILES,
    .notes = "Inside a job, and in a shell of fluxq-alloc, the command runs as a step of "
             "that job.\nElsewhere it runs as a job of its own. Exit status: that of the "
             "worst task, or 128 plus\nthe number of its signal.\n",
    .run = runstep,
};

/* alloc.c - fluxq-alloc: keeps an allocation while a command runs on the login node */
#include "cmd/interactive/allocation.h"
#include "cmd/interactive/hold.h"

static const struct option_desc options[] = {
    { "immediate", 'I', NULL, "fail rather than wait for nodes", HOLD_IMMEDIATE, false,
      "This command" },
    { "quiet", 'Q', NULL, "print errors only", HOLD_QUIET, false, "This command" },
    OPTION_END,
};

static const char *const usage[] = { "[OPTION]... [COMMAND [ARGUMENT]...]", NULL };

const struct command command_alloc = {
    .name = "alloc",
    .summary = "Allocate nodes for a shell or a command that runs here",
    .usage = usage,
    .options = options,
    .more_options = submit_options_table,
    .without = allocation_without,
    .option_flags = OPTION_STOP_AT_OPERAND,
    .operands = COMPLETE_FILES,
    .notes = "There, fluxq-run runs steps in the allocation. The job ends when the shell "
             "or command ends;\nfluxq-alloc exits with its status.\n",
    .run = hold_allocation,
};

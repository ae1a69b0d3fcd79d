/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "cmd/client/command.h"

#include <stddef.h>

extern const struct command command_alloc;
extern const struct command command_attach;
extern const struct command command_bcast;
extern const struct command command_cancel;
extern const struct command command_console;
extern const struct command command_ctl;
extern const struct command command_info;
extern const struct command command_logs;
extern const struct command command_queue;
extern const struct command command_run;
extern const struct command command_show;
extern const struct command command_submit;

const struct command *const commands[] = {
    &command_alloc, &command_attach, &command_bcast, &command_cancel, &command_console,
    &command_ctl,   &command_info,   &command_logs,  &command_queue,  &command_run,
    &command_show,  &command_submit, NULL,
};

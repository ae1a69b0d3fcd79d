/* program_path.h - finds another program of fluxq on this machine
 *
 *     char path[PATH_MAX];
 *     if (program_path ("launch", "fluxq-launch", path, &err) < 0) ...
 */
#pragma once

#include <limits.h>

#include "common/error.h"

/* The program in the build tree of the running one (src/ROOM/NAME), else the installed one.
 * -ENOENT, -EACCES: it is missing, or cannot be executed. */
int program_path (const char *room, const char *name, char ret[PATH_MAX],
                  struct error *err);

/* inside.h - Slurm's commands inside a job: their names
 *
 * In a job's pods the agent's program stands for each of these commands, under its name
 * in the folder INSIDE_DIR beside the program, so that the image needs nothing.
 *
 *     for (const char *const *name = inside_clients; *name; name++)
 *         add_link (*name);
 *
 * libc only (the agent links it).
 */
#pragma once

#include <stdbool.h>

#define INSIDE_DIR "slurm"

/* All commands that the agent's program stands for; NULL ends the list. */
extern const char *const inside_clients[];

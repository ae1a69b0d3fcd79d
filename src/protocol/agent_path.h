/* agent_path.h - finds the agent's program, fluxq-shell, on this machine
 *
 *     autofree char *path = agent_path_find (config->shell_path, &err);
 */
#pragma once

#include "common/error.h"

/* The path is configured (can be NULL), that of $FLUXQ_SHELL (in tests and inside a job),
 * beside the directory of this program in a build tree, or the installed one. The caller
 * frees. NULL with the reason: no such file, or it cannot be executed. */
char *agent_path_find (const char *configured, struct error *err);

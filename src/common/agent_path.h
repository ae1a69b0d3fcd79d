/* agent_path.h - where the agent's program, fluxq-shell, is on this machine
 *
 *     autofree char *path = agent_path_find (config->shell_path, &err);
 */
#ifndef FLUXQ_COMMON_AGENT_PATH_H
#define FLUXQ_COMMON_AGENT_PATH_H

#include "common/error.h"

/* Configured (may be NULL), in $FLUXQ_SHELL (tests, and inside a job), beside the directory
 * of this program in a build tree, or as installed. The caller frees. NULL with the reason:
 * it is not there, or cannot be executed. */
char *agent_path_find (const char *configured, struct error *err);

#endif

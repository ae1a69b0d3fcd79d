/* userenv.h - the environment of the user's login shell (--get-user-env)
 *
 *     user_env_add (agent);            // at the start, before anything else runs
 *
 * The shell is run as `su - USER -c` would, and is told to become this program, which prints
 * the environment that it finds: so nothing is needed of the image but a shell, and what
 * profiles write to standard output does no harm. Takes launch.user_env seconds at most.
 * Nobody is served meanwhile.
 */
#ifndef FLUXQ_SHELL_USERENV_H
#define FLUXQ_SHELL_USERENV_H

#include "shell/agent.h"

#define USER_ENV_COMMAND "print-environment"

/* Put it below the launch file's env, where that is wanted and this rank has tasks. When it
 * cannot be had: agent->user_env_problem, and env stays as it is. */
void user_env_add (struct agent *agent);
/* "fluxq-shell print-environment MARK": the environment between two marks; exit status. */
int user_env_print (const char *mark);

#endif

/* userenv.h - the environment of the user's login shell (--get-user-env)
 *
 *     user_env_add (agent);            // at the start, before anything else runs
 *
 * The shell runs as `su - USER -c` would run it, and executes this program, which prints
 * its environment. So the image needs only a shell, and output of profiles to standard
 * output does no harm. Takes at most launch.user_env seconds, during which the agent
 * serves no one.
 */
#pragma once

#include "shell/agent/agent.h"

#define USER_ENV_COMMAND "print-environment"

/* Adds the login environment below the launch file's env, if it is requested and this
 * rank has tasks. On failure sets agent->user_env_problem and leaves env unchanged. */
void user_env_add (struct agent *agent);
/* "fluxq-shell print-environment MARK": prints the environment between two marks. Returns
 * the exit status. */
int user_env_print (const char *mark);

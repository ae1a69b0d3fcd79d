/* child.h - the process of one request
 *
 *     pid_t pid = rest_child_start (&call, token, seconds, &fd);
 *     // read fd to its end: "200\n" and the answer; then waitpid (pid, ...)
 *
 * The child ends with its parent, and after `seconds` by SIGALRM; its answer is missing
 * then. It has no descriptor of the parent but the pipe. The token is in its memory only:
 * the environment that others may see in /proc is that of the parent's start.
 */
#pragma once

#include <sys/types.h>

#include "rest/rest.h"

/* token NULL: the request is of this process's own user. Returns the process and the
 * non-blocking end of the pipe; or a negative errno. */
pid_t rest_child_start (struct rest_call *call, const char *token, double seconds,
                        int *ret_fd);

/* pty.h - a pseudo terminal for a task: fluxq-run --pty
 *
 *     int fds[2];
 *     pty_open (24, 80, fds);          // fds[0]: the agent's side, fds[1]: the task's
 *     pty_take ();                     // in the child, a session leader; 0 to 2: fds[1]
 *     pty_resize (fds[0], 50, 132);    // SIGWINCH for the foreground processes
 *
 * The agent holds fds[1] until the child has it. Otherwise the agent's side would read
 * the end of the terminal. See pty(7).
 */
#pragma once

#include <stdint.h>

#define PTY_END_OF_FILE "\004" /* ctrl-D, as typed */

/* Close-on-exec. 0 rows or columns: not known. 0 or negative errno, with no descriptor
 * open. */
int pty_open (uint32_t rows, uint32_t cols, int ret_fds[2]);
/* Makes descriptor 0 the controlling terminal of our session. 0 or negative errno. */
int pty_take (void);
void pty_resize (int fd, uint32_t rows, uint32_t cols);

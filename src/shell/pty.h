/* pty.h - a pseudo terminal for a task: fluxq-run --pty
 *
 *     int fds[2];
 *     pty_open (24, 80, fds);          // fds[0]: the agent's side, fds[1]: the task's
 *     pty_take ();                     // in the child, its leader, with fds[1] as 0, 1 and 2
 *     pty_resize (fds[0], 50, 132);    // SIGWINCH for what runs in the foreground
 *
 * The agent holds fds[1] until the child has it: without it the other side would read the
 * end of the terminal. See pty(7).
 */
#ifndef FLUXQ_SHELL_PTY_H
#define FLUXQ_SHELL_PTY_H

#include <stdint.h>

#define PTY_END_OF_FILE "\004" /* typed as ctrl-D */

/* Close-on-exec; 0 rows or columns: not known. 0 or negative errno, then nothing is open. */
int pty_open (uint32_t rows, uint32_t cols, int ret_fds[2]);
/* Make descriptor 0 the controlling terminal of our session. 0 or negative errno. */
int pty_take (void);
void pty_resize (int fd, uint32_t rows, uint32_t cols);

#endif

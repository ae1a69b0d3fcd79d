/* pty.c - opens a pseudo terminal and sets its size */
#include "shell/io/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

void pty_resize (int fd, uint32_t rows, uint32_t cols)
{
    struct winsize size = { .ws_row = (unsigned short)rows,
                            .ws_col = (unsigned short)cols };
    ioctl (fd, TIOCSWINSZ, &size);
}

int pty_open (uint32_t rows, uint32_t cols, int ret_fds[2])
{
    char name[64];
    int ours = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ours < 0)
        return -errno;
    int rc = grantpt (ours) < 0 || unlockpt (ours) < 0 ? -errno : 0;
    if (rc == 0)
        rc = -ptsname_r (ours, name, sizeof (name));
    int its = rc == 0 ? open (name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (rc == 0 && its < 0)
        rc = -errno;
    if (rc < 0) {
        close (ours);
        return rc;
    }
    pty_resize (ours, rows, cols);
    ret_fds[0] = ours;
    ret_fds[1] = its;
    return 0;
}

int pty_take (void)
{
    return ioctl (0, TIOCSCTTY, 0) < 0 ? -errno : 0;
}

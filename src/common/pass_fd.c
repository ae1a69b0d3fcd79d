/* pass_fd.c - sends and receives a descriptor over a unix socket */
#include "common/pass_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union control {
    struct cmsghdr align;
    char room[CMSG_SPACE (sizeof (int))];
};

int pass_fd_send (int socket, int fd)
{
    char byte = 0;
    struct iovec iov = { &byte, 1 };
    union control control = { 0 };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.room,
                          .msg_controllen = sizeof (control.room) };
    struct cmsghdr *c = CMSG_FIRSTHDR (&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN (sizeof (int));
    memcpy (CMSG_DATA (c), &fd, sizeof (fd));
    return sendmsg (socket, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int pass_fd_receive (int socket)
{
    char byte;
    struct iovec iov = { &byte, 1 };
    union control control = { 0 };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.room,
                          .msg_controllen = sizeof (control.room) };
    int fd;

    ssize_t n = recvmsg (socket, &msg, MSG_CMSG_CLOEXEC);
    if (n < 0)
        return -errno;
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR (&msg) : NULL;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS
        || c->cmsg_len != CMSG_LEN (sizeof (int)))
        return -EPIPE;
    memcpy (&fd, CMSG_DATA (c), sizeof (fd));
    return fd;
}

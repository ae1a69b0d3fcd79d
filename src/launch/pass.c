/* pass.c - see pass.h */
#include "launch/pass.h"

#include <sys/socket.h>

union control {
    char room[CMSG_SPACE (sizeof (int))];
    struct cmsghdr align;
};

int pass_send (int socket, const void *record, size_t size, int fd)
{
    struct iovec part = { (void *)(uintptr_t)record, size };
    union control c = { .room = { 0 } };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
    ssize_t n;

    if (fd >= 0) {
        m.msg_control = &c;
        m.msg_controllen = sizeof (c.room);
        struct cmsghdr *h = CMSG_FIRSTHDR (&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN (sizeof (int));
        memcpy (CMSG_DATA (h), &fd, sizeof (int));
    }
    do
        n = sendmsg (socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

/* The kernel makes no descriptor for which the buffer has no room. */
static int descriptor_of (struct msghdr *m)
{
    struct cmsghdr *h = CMSG_FIRSTHDR (m);
    int fd = -1;

    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS
        && h->cmsg_len == CMSG_LEN (sizeof (int)))
        memcpy (&fd, CMSG_DATA (h), sizeof (int));
    return fd;
}

int pass_receive (int socket, void *record, size_t size, int *ret_fd)
{
    struct iovec part = { record, size };
    union control c;
    struct msghdr m = { .msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = &c,
                        .msg_controllen = sizeof (c.room) };
    ssize_t n;

    *ret_fd = -1;
    do
        n = recvmsg (socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    *ret_fd = descriptor_of (&m);
    if (n == 0 && size > 0 && *ret_fd < 0)
        return 0;
    if ((size_t)n == size && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return 1;
    if (*ret_fd >= 0)
        close (*ret_fd);
    *ret_fd = -1;
    return -EBADMSG;
}

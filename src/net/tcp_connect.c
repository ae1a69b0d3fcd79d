/* tcp_connect.c - see tcp_connect.h */
#include "net/tcp_connect.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

static int close_on_error (int fd, int rc)
{
    if (rc < 0)
        close (fd);
    return rc < 0 ? rc : fd;
}

static int finish_connect (int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int status = 0;
    socklen_t len = sizeof (status);
    int n;

    do
        n = poll (&p, 1, TCP_CONNECT_MS);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n == 0 ? -ETIMEDOUT : -errno;
    if (getsockopt (fd, SOL_SOCKET, SO_ERROR, &status, &len) < 0)
        return -errno;
    return -status;
}

static int connect_address (const struct addrinfo *ai)
{
    static const int one = 1;
    int fd = socket (ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = 0;

    if (fd < 0)
        return -errno;
    if (connect (fd, ai->ai_addr, ai->ai_addrlen) < 0)
        rc = errno == EINPROGRESS ? finish_connect (fd) : -errno;
    if (rc == 0 && setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof (one)) < 0)
        rc = -errno;
    if (rc == 0) /* ends a stream at last if the broker's machine vanished */
        rc = setsockopt (fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof (one)) < 0 ? -errno
                                                                               : 0;
    return close_on_error (fd, rc);
}

int tcp_connect (const char *host, const char *port, const char *url, struct error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    int fd = -EADDRNOTAVAIL;
    int rc = getaddrinfo (host, port, &hints, &list);

    if (rc != 0)
        return error_set (err, EADDRNOTAVAIL, "no broker at %s: %s", url,
                          gai_strerror (rc));
    for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next)
        fd = connect_address (ai);
    freeaddrinfo (list);
    if (fd < 0)
        return error_errno (err, -fd, "no broker at %s", url);
    return fd;
}

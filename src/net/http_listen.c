/* http_listen.c - listening sockets for http_server.c */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "net/http_private.h"

#define BACKLOG 4096

static int close_on_error (int fd, int rc)
{
    if (rc < 0)
        close (fd);
    return rc < 0 ? rc : fd;
}

/* Clears the path: removes a socket without a listener. Otherwise -EADDRINUSE,
 * -EEXIST. */
static int clear_path (const struct sockaddr_un *addr, struct error *err)
{
    struct stat st;

    if (lstat (addr->sun_path, &st) < 0)
        return errno == ENOENT ? 0 : error_errno (err, errno, "%s", addr->sun_path);
    if (!S_ISSOCK (st.st_mode))
        return error_set (err, EEXIST, "%s exists and is not a socket", addr->sun_path);
    autoclose int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_errno (err, errno, "socket");
    if (connect (fd, (const struct sockaddr *)addr, sizeof (*addr)) == 0
        || errno == EAGAIN)
        return error_set (err, EADDRINUSE, "%s: another broker listens there",
                          addr->sun_path);
    if (errno != ECONNREFUSED)
        return error_errno (err, errno, "%s", addr->sun_path);
    if (unlink (addr->sun_path) < 0 && errno != ENOENT)
        return error_errno (err, errno, "%s: removing the stale socket", addr->sun_path);
    return 0;
}

int http_listen_unix (const char *path, mode_t mode, dev_t *ret_dev, ino_t *ret_ino,
                      struct error *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct stat st;

    if (strlen (path) >= sizeof (addr.sun_path))
        return error_set (err, ENAMETOOLONG, "%s: a socket's path has at most %zu bytes",
                          path, sizeof (addr.sun_path) - 1);
    memcpy (addr.sun_path, path, strlen (path) + 1);
    int rc = clear_path (&addr, err);
    if (rc < 0)
        return rc;
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_errno (err, errno, "socket");
    /* Nobody can connect before listen(), so the mode is set in time. */
    if (bind (fd, (const struct sockaddr *)&addr, sizeof (addr)) < 0
        || chmod (path, mode) < 0 || lstat (path, &st) < 0 || listen (fd, BACKLOG) < 0)
        return close_on_error (fd, error_errno (err, errno, "%s", path));
    *ret_dev = st.st_dev;
    *ret_ino = st.st_ino;
    return fd;
}

static int listen_at (const struct addrinfo *ai)
{
    static const int one = 1;
    int fd = socket (ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof (one)) < 0
        || setsockopt (fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof (one))
               < 0 /* connections inherit it */
        || bind (fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen (fd, BACKLOG) < 0)
        return close_on_error (fd, -errno);
    return fd;
}

static int port_of (int fd, uint16_t *ret_port)
{
    struct sockaddr_storage ss;
    socklen_t len = sizeof (ss);

    if (getsockname (fd, (struct sockaddr *)&ss, &len) < 0)
        return -errno;
    if (ss.ss_family == AF_INET6)
        *ret_port = ntohs (((struct sockaddr_in6 *)&ss)->sin6_port);
    else
        *ret_port = ntohs (((struct sockaddr_in *)&ss)->sin_port);
    return 0;
}

int http_listen_tcp (const char *host, uint16_t port, uint16_t *ret_port,
                     struct error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    struct addrinfo *list = NULL;
    char service[8];
    int fd = -EADDRNOTAVAIL;

    snprintf (service, sizeof (service), "%u", (unsigned)port);
    int rc = getaddrinfo (host, service, &hints, &list);
    if (rc != 0)
        return error_set (err, EADDRNOTAVAIL, "%s: %s", host, gai_strerror (rc));
    for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next)
        fd = listen_at (ai);
    freeaddrinfo (list);
    if (fd < 0)
        return error_errno (err, -fd, "%s port %u", host, (unsigned)port);
    rc = port_of (fd, ret_port);
    if (rc < 0)
        error_errno (err, -rc, "%s port %u", host, (unsigned)port);
    return close_on_error (fd, rc);
}

/* sock.c - sockets for the addresses of a launch file */
#include "shell/io/sock.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "shell/io/shared.h"

#define BACKLOG 4096 /* all ranks of a large job connect at once */
#define HOST_MAX 254

struct host_port {
    char host[HOST_MAX];
    char port[6];
};

bool sock_has_rank (const char *text)
{
    for (const char *p = text; (p = strchr (p, '%')); p += p[1] ? 2 : 1)
        if (p[1] == 'r')
            return true;
    return false;
}

char *sock_of_rank (const char *text, uint32_t rank)
{
    char number[16];
    size_t len = 0, digits;
    snprintf (number, sizeof (number), "%u", rank);
    digits = strlen (number);
    char *ret = malloc (strlen (text) * digits + 1); /* enough for a text of %r only */
    if (!ret)
        return NULL;
    while (*text) {
        if (text[0] == '%' && text[1] == 'r') {
            memcpy (ret + len, number, digits);
            len += digits;
            text += 2;
            continue;
        }
        text += text[0] == '%' && text[1] == '%';
        ret[len++] = *text++;
    }
    ret[len] = '\0';
    return ret;
}

bool sock_is_unix (const char *text)
{
    return strncmp (text, "unix:/", 6) == 0;
}

/* "tcp:HOST:PORT"; HOST may be an IPv6 address in brackets. */
static int parse_tcp (const char *text, struct host_port *ret)
{
    if (strncmp (text, "tcp:", 4) != 0)
        return -EINVAL;
    const char *host = text + 4;
    const char *colon = strrchr (host, ':');
    if (!colon)
        return -EINVAL;
    size_t len = (size_t)(colon - host);
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']')
        host++, len -= 2;
    size_t digits = strspn (colon + 1, "0123456789");
    if (len == 0 || len >= HOST_MAX || digits == 0 || digits > 5 || colon[1 + digits])
        return -EINVAL;
    memcpy (ret->host, host, len);
    ret->host[len] = '\0';
    memcpy (ret->port, colon + 1, digits + 1);
    return 0;
}

int sock_check (const char *text, struct error *err)
{
    struct host_port hp;
    if (sock_is_unix (text) || parse_tcp (text, &hp) == 0)
        return 0;
    return error_set (err, EINVAL, "address %s: neither unix:/PATH nor tcp:HOST:PORT",
                      text);
}

/* Sets the address of a path. If the path is too long, enters its directory by chdir(2)
 * and uses the last part. */
static int unix_address (const char *path, struct sockaddr_un *sa)
{
    *sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen (path) >= sizeof (sa->sun_path)) {
        const char *slash = strrchr (path, '/');
        autofree char *dir = strndup (path, (size_t)(slash - path));
        if (!dir)
            return -ENOMEM;
        if (chdir (dir) < 0)
            return -errno;
        path = slash + 1;
    }
    if (strlen (path) >= sizeof (sa->sun_path))
        return -ENAMETOOLONG;
    memcpy (sa->sun_path, path, strlen (path));
    return 0;
}

static int open_socket (int family)
{
    int fd = socket (family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (family != AF_UNIX) {
        int on = 1;
        setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
        setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof (on));
    }
    return fd;
}

static int bind_unix (const char *path)
{
    struct sockaddr_un sa;
    int rc = unix_address (path, &sa);
    if (rc < 0)
        return rc;
    int fd = open_socket (AF_UNIX);
    if (fd < 0)
        return fd;
    unlink (sa.sun_path);
    mode_t old = umask (0177);
    if (bind (fd, (struct sockaddr *)&sa, sizeof (sa)) < 0) {
        rc = -errno;
        close (fd);
    } else if (shared_bits (path) && chmod (path, 0600 | shared_bits (path)) < 0) {
        rc = -errno;
        close (fd);
    }
    umask (old);
    return rc < 0 ? rc : fd;
}

static int bind_tcp (const struct host_port *hp, struct error *err)
{
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                              .ai_socktype = SOCK_STREAM };
    struct addrinfo *ai;
    int rc = getaddrinfo (hp->host, hp->port, &hints, &ai);
    if (rc != 0)
        return error_set (err, EINVAL, "listen on %s port %s: %s", hp->host, hp->port,
                          gai_strerror (rc));
    int fd = open_socket (ai->ai_family);
    if (fd >= 0 && bind (fd, ai->ai_addr, ai->ai_addrlen) < 0) {
        rc = -errno;
        close (fd);
        fd = rc;
    }
    freeaddrinfo (ai);
    return fd;
}

int sock_listen (const char *text, struct error *err)
{
    struct host_port hp;
    int fd;
    if (err)
        err->code = 0;
    if (sock_is_unix (text))
        fd = bind_unix (text + 5);
    else if (parse_tcp (text, &hp) == 0)
        fd = bind_tcp (&hp, err);
    else
        return sock_check (text, err);
    if (fd >= 0 && listen (fd, BACKLOG) < 0) {
        int rc = -errno;
        close (fd);
        fd = rc;
    }
    if (fd < 0 && !(err && err->code))
        error_errno (err, -fd, "listen on %s", text);
    return fd;
}

void sock_unlink (const char *text)
{
    struct sockaddr_un sa;
    if (sock_is_unix (text) && unix_address (text + 5, &sa) == 0)
        unlink (sa.sun_path);
}

static void resolve_in_child (const char *text, int fd)
{
    struct host_port hp;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *list = NULL;
    struct sock_addresses ret;
    memset (&ret, 0, sizeof (ret));
    ret.eai = parse_tcp (text, &hp) < 0 ? EAI_NONAME
                                        : getaddrinfo (hp.host, hp.port, &hints, &list);
    for (const struct addrinfo *ai = ret.eai ? NULL : list;
         ai && ret.n < SOCK_ADDRESSES_MAX; ai = ai->ai_next) {
        ret.v[ret.n].len = ai->ai_addrlen;
        memcpy (&ret.v[ret.n++].sa, ai->ai_addr, ai->ai_addrlen);
    }
    _Static_assert(sizeof (ret) <= 4096, "one atomic write into a pipe");
    (void)!write (fd, &ret, sizeof (ret));
    _exit (0);
}

int sock_resolve (const char *text, pid_t *ret_pid, struct error *err)
{
    int fds[2];
    if (pipe2 (fds, O_CLOEXEC) < 0)
        return error_errno (err, errno, "pipe");
    *ret_pid = fork ();
    if (*ret_pid == 0)
        resolve_in_child (text, fds[1]);
    int rc = *ret_pid < 0 ? -errno : 0;
    close (fds[1]);
    if (rc < 0) {
        close (fds[0]);
        return error_errno (err, -rc, "cannot fork");
    }
    return fds[0];
}

int sock_connect (const char *text, const struct sock_addresses *addrs, unsigned int turn,
                  struct error *err)
{
    struct sockaddr_un sun;
    const struct sockaddr *sa = (struct sockaddr *)&sun;
    socklen_t len = sizeof (sun);
    if (sock_is_unix (text)) {
        int rc = unix_address (text + 5, &sun);
        if (rc < 0)
            return error_errno (err, -rc, "%s", text);
    } else {
        if (addrs->n == 0)
            return error_set (err, ENOENT, "%s has no address", text);
        sa = (const struct sockaddr *)&addrs->v[turn % addrs->n].sa;
        len = addrs->v[turn % addrs->n].len;
    }
    int fd = open_socket (sa->sa_family);
    if (fd < 0)
        return error_errno (err, -fd, "socket");
    if (connect (fd, sa, len) < 0 && errno != EINPROGRESS) {
        int rc = -errno;
        close (fd);
        return error_errno (err, -rc, "%s", text);
    }
    return fd;
}

int sock_connected (int fd)
{
    int errnum = 0;
    socklen_t len = sizeof (errnum);
    if (getsockopt (fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
        return -errno;
    return -errnum;
}

/* http_connect.c - see http_connect.h */
#include "net/http_connect.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/clock.h"
#include "common/parse.h"
#include "common/strbuf.h"
#include "net/http_client.h"
#include "net/tcp_connect.h"
#include "net/tls_start.h"
#include "net/trust.h"
#include "protocol/run_dir.h"

#define URL_MAX 4096

/* -- URLs -- */

void http_address_release (struct http_address *a)
{
    free (a->url);
    free (a->path);
    free (a->host);
    free (a->port);
    memset (a, 0, sizeof (*a));
    a->given = -1;
}

static int no_url (const char *url, struct error *err)
{
    return error_set (err, EINVAL,
                      "'%s' is not a broker's URL: expected unix:///path/to/fluxqd.sock "
                      "or https://host:port",
                      url);
}

/* "host", "host:port", "[::1]:port", perhaps with a final slash. */
static int parse_host (struct http_address *a, const char *text)
{
    const char *host = text;
    size_t len;

    if (*text == '[') {
        host++;
        len = strcspn (host, "]");
        if (host[len] != ']')
            return -EINVAL;
        text = host + len + 1;
    } else {
        len = strcspn (text, ":/");
        text += len;
    }
    size_t digits = *text == ':' ? strspn (text + 1, "0123456789") : 0;
    const char *rest = *text == ':' ? text + 1 + digits : text;
    if (len == 0 || (*text == ':' && (digits == 0 || digits > 5))
        || strcspn (rest, "/") > 0 || (*rest == '/' && rest[1]))
        return -EINVAL;
    a->host = strndup (host, len);
    if (digits > 0)
        a->port = strndup (text + 1, digits);
    else if (asprintf (&a->port, "%d", HTTP_DEFAULT_PORT) < 0)
        a->port = NULL;
    return a->host && a->port ? 0 : -ENOMEM;
}

int http_address_parse (struct http_address *a, const char *url, struct error *err)
{
    int rc = 0;

    memset (a, 0, sizeof (*a));
    a->given = -1;
    for (const char *p = url; *p; p++) {
        if ((unsigned char)*p < ' ' || p - url > URL_MAX)
            return no_url (url, err);
    }
    const char *path = strncmp (url, "unix://", 7) == 0 ? url + 7 : url;
    if (*path == '/') {
        a->path = strdup (path);
        if (asprintf (&a->url, "unix://%s", path) < 0)
            a->url = NULL;
    } else if (strncmp (url, "fd:", 3) == 0) {
        int64_t fd;
        a->url = strdup (url);
        rc = parse_int (url + 3, 3, INT32_MAX, &fd, "descriptor", NULL);
        a->given = rc == 0 ? (int)fd : -1;
    } else if (strncmp (url, "http://", 7) == 0 || strncmp (url, "https://", 8) == 0) {
        a->url = strdup (url);
        a->tls = url[4] == 's';
        rc = parse_host (a, url + 7 + a->tls);
    } else {
        rc = -EINVAL;
    }
    if (rc == 0 && (!a->url || (!a->path && !a->host && a->given < 0)))
        rc = -ENOMEM;
    if (rc == 0)
        return 0;
    http_address_release (a);
    return rc == -EINVAL ? no_url (url, err) : error_set (err, ENOMEM, "out of memory");
}

/* -- connecting -- */

static int close_on_error (int fd, int rc)
{
    if (rc < 0)
        close (fd);
    return rc < 0 ? rc : fd;
}

/* Returns a socket whose broker the caller trusts, or a negative errno; err has the
 * reason of a refusal (-EPERM). */
static int connect_unix (const char *path, struct error *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    if (strlen (path) >= sizeof (addr.sun_path))
        return -ENAMETOOLONG;
    memcpy (addr.sun_path, path, strlen (path) + 1);
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int rc;
    do
        rc = connect (fd, (struct sockaddr *)&addr, sizeof (addr)) < 0 ? -errno : 0;
    while (rc == -EINTR);
    if (rc == 0)
        rc = trust_check_peer (fd, path, err);
    return close_on_error (fd, rc);
}

static int take_given (struct http_address *a, struct error *err)
{
    int fd = a->given;

    a->given = -1;
    if (fd < 0)
        return error_set (err, ENOTCONN, "the broker has closed the connection");
    return fcntl (fd, F_SETFD, FD_CLOEXEC) < 0 ? error_errno (err, errno, "%s", a->url)
                                               : fd;
}

int http_address_connect (struct http_address *a, struct error *err)
{
    struct error why = { 0 };

    if (!a->path && !a->host)
        return take_given (a, err);
    if (!a->path)
        return a->tls ? tls_start (a->host, a->port, &a->channel, err)
                      : tcp_connect (a->host, a->port, a->url, err);
    int fd = connect_unix (a->path, &why);
    if (fd == -EACCES)
        return error_set (err, EACCES, "no access to the broker's socket %s", a->path);
    if (fd == -EPERM)
        return error_set (err, EPERM, "%s", why.text);
    if (fd == -ENAMETOOLONG)
        return error_set (err, ENAMETOOLONG, "%s: a socket's path has at most %zu bytes",
                          a->path, sizeof (((struct sockaddr_un *)0)->sun_path) - 1);
    if (fd < 0)
        return error_set (err, -fd, "no broker at %s: %s (is fluxqd running?)", a->url,
                          strerror (-fd));
    return fd;
}

bool http_address_may_return (const struct http_address *a, int rc, double seconds)
{
    struct stat st;

    if (rc == -ECONNREFUSED)
        return a->url != NULL;
    if (rc != -ENOENT || !a->path)
        return false;
    autofree char *dir = strdup (a->path);
    if (!dir)
        return false;
    *strrchr (dir, '/') = '\0';
    return stat (dir, &st) == 0 && S_ISDIR (st.st_mode) && !(st.st_mode & S_IWOTH)
           && clock_wall () - (double)st.st_mtim.tv_sec <= seconds;
}

/* -- default sockets -- */

/* Remembers the first default socket at which a broker may be back soon, and its
 * error. */
static void note_away (struct http_address *away, int *ret_rc, const char *dir, int rc,
                       double seconds)
{
    char path[RUN_DIR_MAX + 16];

    snprintf (path, sizeof (path), "%s/" RUN_DIR_SOCKET, dir);
    if (away->url || http_address_parse (away, path, NULL) < 0)
        return;
    if (http_address_may_return (away, rc, seconds))
        *ret_rc = rc;
    else
        http_address_release (away);
}

/* Tries one directory: a socket or negative errno. Appends failures to *tried. */
static int try_default (struct http_address *a, struct strbuf *tried, const char *dir)
{
    char path[RUN_DIR_MAX + 16];
    struct error why = { 0 };

    snprintf (path, sizeof (path), "%s/" RUN_DIR_SOCKET, dir);
    int fd = connect_unix (path, &why);
    if (fd < 0) {
        strbuf_addf (tried, "%s%s (%s)", tried->len ? ", " : "", path,
                     fd == -EPERM ? why.text : strerror (-fd));
        return fd;
    }
    int rc = http_address_parse (a, path, NULL);
    return close_on_error (fd, rc);
}

int http_address_connect_default (struct http_address *a, double seconds,
                                  struct error *err)
{
    struct http_address away = { 0 };
    autostrbuf struct strbuf tried = STRBUF_INIT (8192);
    char dir[RUN_DIR_MAX];
    int fd = -ENOENT, rc = 0;

    for (size_t i = 0; fd < 0 && run_dir_default (i, dir, sizeof (dir)); i++) {
        fd = try_default (a, &tried, dir);
        if (fd < 0)
            note_away (&away, &rc, dir, fd, seconds);
    }
    if (fd < 0) {
        *a = away;
        fd = away.url ? rc : fd;
        error_set (
            err, -fd,
            "no broker is running: tried %s; start one with \"fluxqd --local 4\" or name "
            "one with --broker URL",
            tried.buf);
    } else {
        http_address_release (&away);
    }
    return fd;
}

/* authority.c - see authority.h */
#include "net/authority.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include "common/io.h"
#include "common/parse.h"

#define HOST_MAX 253 /* limit of DNS */

int authority_format (const char *host, uint16_t port, char ret[AUTHORITY_SIZE])
{
    struct in6_addr v6;
    char text[HOST_MAX + 1];
    size_t len = strlen (host);

    ret[0] = '\0';
    if (len == 0 || len > HOST_MAX)
        return -EINVAL;
    for (size_t i = 0; i <= len; i++) {
        char c = host[i];
        if (c && (c <= ' ' || c > '~' || strchr ("/@[]", c)))
            return -EINVAL;
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    if (inet_pton (AF_INET6, text, &v6) == 1)
        inet_ntop (AF_INET6, &v6, text, sizeof (text));
    snprintf (ret, AUTHORITY_SIZE, strchr (text, ':') ? "[%s]:%u" : "%s:%u", text,
              (unsigned)port);
    return 0;
}

int authority_parse (const char *text, uint16_t default_port, char ret[AUTHORITY_SIZE],
                     const char *where, struct error *err)
{
    bool bracket = text[0] == '[';
    const char *host = text + bracket;
    size_t len = strcspn (host, bracket ? "]" : ":");
    const char *rest = host + len + (bracket && host[len] == ']');
    char copy[HOST_MAX + 1];
    int64_t port = default_port;
    int rc = -EINVAL;

    if (len <= HOST_MAX && (!bracket || host[len] == ']')
        && (!*rest
            || (*rest == ':' && parse_int (rest + 1, 1, 65535, &port, "port", NULL) == 0))) {
        memcpy (copy, host, len);
        copy[len] = '\0';
        rc = authority_format (copy, (uint16_t)port, ret);
    }
    return rc < 0 ? error_set (err, EINVAL,
                               "%s: '%s' is not HOST or HOST:PORT (an IPv6 address in "
                               "brackets)",
                               where, text)
                  : 0;
}

bool authority_is_loopback (const char *authority)
{
    char host[HOST_MAX + 1];
    struct in_addr v4;
    size_t len = strcspn (authority, ":");

    if (len > HOST_MAX)
        return false;
    memcpy (host, authority, len);
    host[len] = '\0';
    return !strcmp (host, "localhost") || !strncmp (authority, "[::1]", 5)
           || (inet_pton (AF_INET, host, &v4) == 1 && ntohl (v4.s_addr) >> 24 == 127);
}

void authority_machine (char ret[MACHINE_SIZE])
{
    autoclose int fd = open ("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : io_read_all (fd, ret, MACHINE_SIZE - 1);

    ret[n > 0 ? n : 0] = '\0';
    ret[strcspn (ret, "\n")] = '\0';
}

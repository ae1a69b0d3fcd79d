/* http_names.c - whether a name in a credential is a name of this broker
 *
 * A broker that receives a credential could pass it on to another broker with the same
 * MUNGE key. So a credential names its broker, and the name counts here only if no other
 * broker can have it:
 *
 * - the address and port at which the connection came in; for an address that every
 *   machine has (localhost), the credential must also be from this machine;
 * - the host in `listen`;
 * - the machine's name, if the broker listens on all its addresses (then no other broker
 *   can have the port);
 * - names that the administrator lists.
 *
 * No name is looked up in DNS.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http_private.h"

#define MACHINE_NAME_SIZE 256

struct local {
    char host[INET6_ADDRSTRLEN];
    uint16_t port;
    bool wildcard;
};

/* An IPv4-mapped IPv6 address counts as IPv4. */
static bool read_local (const struct sockaddr_storage *ss, struct local *ret)
{
    struct in_addr v4;

    *ret = (struct local){ 0 };
    if (ss->ss_family != AF_INET && ss->ss_family != AF_INET6)
        return false;
    if (ss->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
        ret->port = ntohs (in6->sin6_port);
        if (!IN6_IS_ADDR_V4MAPPED (&in6->sin6_addr)) {
            ret->wildcard = IN6_IS_ADDR_UNSPECIFIED (&in6->sin6_addr);
            return inet_ntop (AF_INET6, &in6->sin6_addr, ret->host, sizeof (ret->host));
        }
        memcpy (&v4, &in6->sin6_addr.s6_addr[12], sizeof (v4));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
        ret->port = ntohs (in->sin_port);
        v4 = in->sin_addr;
    }
    ret->wildcard = v4.s_addr == htonl (INADDR_ANY);
    return inet_ntop (AF_INET, &v4, ret->host, sizeof (ret->host));
}

/* The local address of a socket. */
static bool local_of_fd (int fd, struct local *ret)
{
    struct sockaddr_storage ss = { 0 };
    socklen_t len = sizeof (ss);

    return getsockname (fd, (struct sockaddr *)&ss, &len) == 0 && read_local (&ss, ret);
}

static bool local_of (const struct http_conn *conn, struct local *ret)
{
    return conn->secure ? read_local (&conn->secure->local, ret)
                        : local_of_fd (conn->fd, ret);
}

static bool is (const char *authority, const char *host, uint16_t port)
{
    char own[AUTHORITY_SIZE];

    return authority_format (host, port, own) == 0 && !strcmp (own, authority);
}

/* Whether this is the machine's name, with its domain or without. */
static bool is_machine (const char *authority, uint16_t port)
{
    char name[MACHINE_NAME_SIZE];

    if (gethostname (name, sizeof (name)) < 0)
        return false;
    name[sizeof (name) - 1] = '\0';
    if (is (authority, name, port))
        return true;
    name[strcspn (name, ".")] = '\0';
    return is (authority, name, port);
}

static bool is_listed (const struct http_server *s, const char *authority, uint16_t port)
{
    char own[AUTHORITY_SIZE];

    for (char *const *name = s->names; name && *name; name++) {
        if (authority_parse (*name, port, own, "name", NULL) == 0
            && !strcmp (own, authority))
            return true;
    }
    return false;
}

/* Whether the connection came in at this loopback address, from this machine. */
static bool is_loopback_here (const struct credential *c, const struct local *here)
{
    char machine[MACHINE_SIZE], own[AUTHORITY_SIZE];

    authority_machine (machine);
    return *machine && !strcmp (c->machine, machine)
           && authority_format (here->host, here->port, own) == 0
           && authority_is_loopback (own)
           && (!strcmp (own, c->authority) || is (c->authority, "localhost", here->port));
}

bool http_name_is_own (const struct http_request *req, const struct credential *c)
{
    const struct http_listener *l = req->listener;
    struct local here, all;

    if (!req->conn || !local_of (req->conn, &here) || !local_of_fd (l->fd, &all))
        return false;
    if (is_listed (req->server, c->authority, l->port))
        return true;
    if (authority_is_loopback (c->authority))
        return is_loopback_here (c, &here);
    return is (c->authority, here.host, here.port)
           || (all.wildcard ? is_machine (c->authority, l->port)
                            : is (c->authority, l->host, l->port));
}

void http_server_set_names (struct http_server *s, char *const *names)
{
    s->names = names;
}

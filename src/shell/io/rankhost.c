/* rankhost.c - converts ranks to host names and host names to ranks */
#include "shell/io/rankhost.h"

#include <limits.h>

#include "shell/io/sock.h"

#define TCP "tcp:"

char *rank_host (const struct launch *launch, uint32_t rank)
{
    const char *all = launch->rendezvous;
    char own[HOST_NAME_MAX + 1];
    if (launch->nnodes == 1 && gethostname (own, sizeof (own)) == 0)
        return strdup (own);
    if (!all || !sock_has_rank (all) || strncmp (all, TCP, strlen (TCP)) != 0)
        return strdup (launch->nodes[rank].name);
    autofree char *address = sock_of_rank (all, rank);
    char *port = address ? strrchr (address, ':') : NULL;
    if (!port)
        return NULL;
    while (port[-1] == '.') /* a trailing dot of the domain name */
        port--;
    *port = '\0';
    return strdup (address + strlen (TCP));
}

static bool is_called (const char *host, const char *name)
{
    size_t len = strlen (name);
    return strncmp (host, name, len) == 0
           && (host[len] == '\0' || (host[len] == '.' && !strchr (name, '.')));
}

ssize_t rank_of_host (const struct launch *launch, const char *name)
{
    for (uint32_t rank = 0; rank < launch->nnodes; rank++) {
        autofree char *host = rank_host (launch, rank);
        if (host && is_called (host, name))
            return (ssize_t)rank;
    }
    return -1;
}

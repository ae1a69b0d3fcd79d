/* client_address.c - the address of the machine on which fluxq-run runs, for the tasks */
#include "shell/run/run.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#define LOOPBACK "127.0.0.1"

/* Writes the address as text. False: no address for other machines. */
static bool is_for_others (const struct ifaddrs *i, sa_family_t family, char *text,
                           socklen_t size)
{
    const void *addr;

    if (!i->ifa_addr || i->ifa_addr->sa_family != family || (i->ifa_flags & IFF_LOOPBACK)
        || !(i->ifa_flags & IFF_UP))
        return false;
    if (family == AF_INET) {
        addr = &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
    } else {
        const struct sockaddr_in6 *a6 = (const void *)i->ifa_addr;
        addr = &a6->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL (&a6->sin6_addr))
            return false;
    }
    return inet_ntop (family, addr, text, size) != NULL;
}

char *client_address (void)
{
    const sa_family_t families[] = { AF_INET, AF_INET6 };
    const char *first = getenv ("FLUXQ_MASTER_ADDR"); /* loopback: virtual nodes */
    char text[INET6_ADDRSTRLEN] = LOOPBACK;
    struct ifaddrs *all = NULL;
    bool found = first && !strcmp (first, LOOPBACK);

    if (!found && getifaddrs (&all) < 0)
        all = NULL;
    for (size_t f = 0; f < ARRAY_SIZE (families) && !found; f++)
        for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
            found = is_for_others (i, families[f], text, sizeof (text));
    if (all)
        freeifaddrs (all);
    return strdup (found ? text : LOOPBACK);
}

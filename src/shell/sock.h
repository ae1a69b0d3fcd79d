/* sock.h - the addresses of a launch file: "unix:/path", "tcp:HOST:PORT"
 *
 *     char *address = sock_of_rank ("unix:/run/job7/sock-%r", 3);   // ".../sock-3"
 *     int fd = sock_listen ("tcp:0.0.0.0:7717", &err);
 *     int fd = sock_connect ("unix:/run/job7/sock", &err);      // fd or -errno, never
 * blocks
 *
 * A unix socket may have a path longer than the 107 bytes that fit an address: the
 * caller's working directory is then changed to the socket's for the call. Names of hosts
 * are resolved by a child process (sock_resolve), because getaddrinfo(3) may block for
 * seconds.
 */
#ifndef FLUXQ_SHELL_SOCK_H
#define FLUXQ_SHELL_SOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "common/error.h"

#define SOCK_ADDRESSES_MAX 8

/* What the resolver's child writes into its pipe. */
struct sock_addresses {
    int eai; /* 0 or a code of getaddrinfo(3) */
    unsigned int n;
    struct {
        socklen_t len;
        struct sockaddr_storage sa;
    } v[SOCK_ADDRESSES_MAX];
};

/* Whether each rank has an address of its own: the text has a %r. */
bool sock_has_rank (const char *text);
/* The address of a rank: %r is its number, %% a %; any other % stays (the zone of an IPv6
 * address). To be freed; NULL: no memory. */
char *sock_of_rank (const char *text, uint32_t rank);
bool sock_is_unix (const char *text);
/* 0 or -EINVAL: neither of the two forms. */
int sock_check (const char *text, struct error *err);
/* Non-blocking, close-on-exec. A unix socket gets mode 0600; a left-over one is replaced.
 */
int sock_listen (const char *text, struct error *err);
void sock_unlink (const char *text);
/* Start to resolve: a descriptor from which a struct sock_addresses can be read when
 * it is known. *ret_pid: the child, to be reaped. */
int sock_resolve (const char *text, pid_t *ret_pid, struct error *err);
/* Non-blocking connect; addrs and turn (which of them) are for tcp only. The descriptor,
 * ready when it is writable; or negative errno. */
int sock_connect (const char *text, const struct sock_addresses *addrs, unsigned int turn,
                  struct error *err);
/* 0 or the negative errno with which a non-blocking connect ended. */
int sock_connected (int fd);

#endif

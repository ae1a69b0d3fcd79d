/* sock.h - the addresses of a launch file: "unix:/path", "tcp:HOST:PORT"
 *
 *     char *address = sock_of_rank ("unix:/run/job7/sock-%r", 3);   // ".../sock-3"
 *     int fd = sock_listen ("tcp:0.0.0.0:7717", &err);
 *     int fd = sock_connect ("unix:/run/job7/sock", &err);  // fd or -errno, never blocks
 *
 * The path of a unix socket may be longer than the 107 bytes that fit into an address:
 * the call then changes the caller's working directory to that of the socket while it
 * runs. A child process resolves host names (sock_resolve), because getaddrinfo(3) may
 * block for seconds.
 */
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "common/error.h"

#define SOCK_ADDRESSES_MAX 8

/* The resolver's child writes this struct into its pipe. */
struct sock_addresses {
    int eai; /* 0 or a code of getaddrinfo(3) */
    unsigned int n;
    struct {
        socklen_t len;
        struct sockaddr_storage sa;
    } v[SOCK_ADDRESSES_MAX];
};

/* Whether each rank has an address of its own: the text contains %r. */
bool sock_has_rank (const char *text);
/* The address of a rank: %r is its number, %% a %; any other % stays (the zone of an IPv6
 * address). The caller frees it; NULL: no memory. */
char *sock_of_rank (const char *text, uint32_t rank);
bool sock_is_unix (const char *text);
/* 0 or -EINVAL: neither a unix nor a tcp address. */
int sock_check (const char *text, struct error *err);
/* Non-blocking, close-on-exec. A unix socket gets mode 0600 and replaces an old
 * socket. */
int sock_listen (const char *text, struct error *err);
void sock_unlink (const char *text);
/* Starts to resolve a name. Returns a descriptor from which the caller reads a struct
 * sock_addresses. *ret_pid: the child, which the caller reaps. */
int sock_resolve (const char *text, pid_t *ret_pid, struct error *err);
/* Starts a non-blocking connect. addrs and turn (the address to try) are for tcp only.
 * Returns a descriptor that becomes writable when the connect has ended; or negative
 * errno. */
int sock_connect (const char *text, const struct sock_addresses *addrs, unsigned int turn,
                  struct error *err);
/* 0 or the negative errno with which the non-blocking connect ended. */
int sock_connected (int fd);

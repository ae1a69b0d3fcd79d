/* authority.h - HOST:PORT, the name of a broker in a URL and in a MUNGE credential
 *
 *     char name[AUTHORITY_SIZE];
 *     authority_format ("Login1.Example", 7718, name);           // "login1.example:7718"
 *     authority_parse ("[0:0::1]", 7718, name, "listen-names", &err);     // "[::1]:7718"
 *
 * Both sides write a name in one shape, so that names are equal when their texts are: lower
 * case, the port always there, an IPv6 address in brackets and in the shape of RFC 5952. No
 * name is looked up. Thread-safe.
 */
#ifndef FLUXQ_NET_AUTHORITY_H
#define FLUXQ_NET_AUTHORITY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define AUTHORITY_SIZE 272 /* a host of 253 bytes in brackets, a port, the end */
#define MACHINE_SIZE 40    /* a UUID as text, the end */

/* host: a name or an address, without brackets. 0, or -EINVAL: empty, too long, or with
 * characters that no host has (the result is "" then). */
int authority_format (const char *host, uint16_t port, char ret[AUTHORITY_SIZE]);
/* HOST, HOST:PORT, [IPV6] or [IPV6]:PORT; the port is default_port where the text has none.
 * 0, or -EINVAL with the reason, which begins with where. */
int authority_parse (const char *text, uint16_t default_port, char ret[AUTHORITY_SIZE],
                     const char *where, struct error *err);
/* Whether each machine calls itself so: localhost, 127.0.0.0/8, ::1. */
bool authority_is_loopback (const char *authority);
/* Which machine this one is, until it is started anew (boot_id of random(4)); "": unknown. */
void authority_machine (char ret[MACHINE_SIZE]);

#endif

/* authority.h - HOST:PORT, the name of a broker in a URL and in a MUNGE credential
 *
 *     char name[AUTHORITY_SIZE];
 *     authority_format ("Login1.Example", 7718, name);           // "login1.example:7718"
 *     authority_parse ("[0:0::1]", 7718, name, "listen-names", &err);     // "[::1]:7718"
 *
 * Both sides write names in one canonical form, so that equal names have equal texts:
 * lower case, always a port, an IPv6 address in brackets and as RFC 5952 writes it. No
 * name is looked up. Thread-safe.
 */
#pragma once

#include "common/error.h"

#define AUTHORITY_SIZE 272 /* a host of 253 bytes, brackets, port and NUL */
#define MACHINE_SIZE 40    /* a UUID as text, and NUL */

/* host: a name or an address, without brackets. 0, or -EINVAL: empty, too long, or with
 * characters that hosts do not have (the result is "" then). */
int authority_format (const char *host, uint16_t port, char ret[AUTHORITY_SIZE]);
/* Parses HOST, HOST:PORT, [IPV6] or [IPV6]:PORT; default_port replaces a missing port. 0,
 * or -EINVAL with a reason that begins with `where`. */
int authority_parse (const char *text, uint16_t default_port, char ret[AUTHORITY_SIZE],
                     const char *where, struct error *err);
/* Whether the name means the local machine on every machine: localhost, 127.0.0.0/8,
 * ::1. */
bool authority_is_loopback (const char *authority);
/* The id of this machine until it reboots (boot_id of random(4)); "": unknown. */
void authority_machine (char ret[MACHINE_SIZE]);

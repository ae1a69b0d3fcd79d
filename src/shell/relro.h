/* relro.h - tables of pointers that nobody changes after the start
 *
 * In a static PIE the start file of musl fills in the addresses, and leaves the pages writable
 * (musl 1.2.3): whoever can write to memory could change where the agent calls next. The start of
 * main() makes them read-only, as a dynamic loader does for other programs.
 */
#ifndef FLUXQ_SHELL_RELRO_H
#define FLUXQ_SHELL_RELRO_H

/* Where the kernel refuses, the pages stay writable: no reason to run nothing. */
void relro_protect (void);

#endif

/* relro.h - makes tables of pointers read-only after the start
 *
 * In a static PIE the start code of musl fills in the addresses and leaves the pages
 * writable (musl 1.2.3): an attacker who can write to memory could change the agent's
 * next call. The start of main() makes the pages read-only, as a dynamic loader does for
 * other programs.
 */
#pragma once

/* If the kernel refuses, the pages stay writable and the program runs on. */
void relro_protect (void);

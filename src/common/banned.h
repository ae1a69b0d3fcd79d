/*
 * banned.h: functions that nobody may call in fluxq.
 *
 * The build includes this header before every source file (-include), so no file can
 * forget it. A call of a banned function does not compile:
 * "sorry_strcpy_is_banned_see_banned_h" is undeclared. The system headers that declare
 * the functions are included first, because a macro with the name of a function would
 * break its declaration. The idea is from git's banned.h.
 *
 *   instead of                        use
 *   strcpy strcat sprintf strncpy     strbuf_*, snprintf (strncpy leaves strings unterminated)
 *   strtok                            strsep, strtok_r, hand-written scans (strtok has one state)
 *   gets                              getline with a bound
 *   atoi atol atoll                   parse_* with a range (they answer 0 for nonsense)
 *   system popen                      posix_spawn with an argument vector (no shell in between)
 *   alloca                            malloc or an array of a fixed size
 *   rand srand random srandom         getrandom
 */
#pragma once

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* <uv.h> and others include <sys/param.h>. Its MIN and MAX clash with those of
 * common/macros.h, whichever header comes first. */
#undef MIN
#undef MAX

#define FLUXQ_BANNED(name) sorry_##name##_is_banned_see_banned_h

#undef strcpy
#define strcpy(...) FLUXQ_BANNED(strcpy)
#undef strcat
#define strcat(...) FLUXQ_BANNED(strcat)
#undef strncpy
#define strncpy(...) FLUXQ_BANNED(strncpy)
#undef strtok
#define strtok(...) FLUXQ_BANNED(strtok)
#undef sprintf
#define sprintf(...) FLUXQ_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) FLUXQ_BANNED(vsprintf)
#undef gets
#define gets(...) FLUXQ_BANNED(gets)
#undef atoi
#define atoi(...) FLUXQ_BANNED(atoi)
#undef atol
#define atol(...) FLUXQ_BANNED(atol)
#undef atoll
#define atoll(...) FLUXQ_BANNED(atoll)
#undef system
#define system(...) FLUXQ_BANNED(system)
#undef popen
#define popen(...) FLUXQ_BANNED(popen)
#undef alloca
#define alloca(...) FLUXQ_BANNED(alloca)
#undef rand
#define rand(...) FLUXQ_BANNED(rand)
#undef srand
#define srand(...) FLUXQ_BANNED(srand)
#undef random
#define random(...) FLUXQ_BANNED(random)
#undef srandom
#define srandom(...) FLUXQ_BANNED(srandom)

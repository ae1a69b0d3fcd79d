/* oom.h - whether the kernel killed processes of this job's memory cgroup
 *
 * Reads the counter of the cgroup that is mounted where containers see their own, version
 * 2 (memory.events) or 1 (memory.oom_control). Where there is none, as for local
 * processes without a cgroup, the answer is always 0.
 */
#ifndef FLUXQ_SHELL_OOM_H
#define FLUXQ_SHELL_OOM_H

#include <stdint.h>

/* Processes killed for lack of memory so far. */
uint64_t oom_kills (void);
/* The same from the text of either file; 0 when it does not say. */
uint64_t oom_parse (const char *text);

#endif

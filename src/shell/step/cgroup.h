/* cgroup.h - figures of the job's control group: usage, memory limit, kills
 *
 *     struct cgroup_memory m;
 *     if (cgroup_memory (CGROUP_ROOT, &m) == 0 && m.kills > before) ... m.limit, m.peak
 *
 * The functions read the group that is mounted where containers see their own, of version
 * 2 or 1. In a pod that is the job's group (cgroup_is_own()). Local processes share at
 * most one group with other processes; of such a group only the killed processes count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/stepuse.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

struct cgroup_memory { /* bytes; 0: not known, or no limit */
    uint64_t limit;
    uint64_t peak;  /* highest use so far */
    uint64_t kills; /* processes killed for lack of memory */
};

/* 0 or -ENOENT: there is no such group. */
int cgroup_memory (const char *root, struct cgroup_memory *ret);
/* Writes "out of memory: it asked for 512 MiB, 511 MiB were in use when the kernel killed
 * a process", as far as the figures are known. asked: MiB on this node, 0: none asked. */
void cgroup_oom_text (const struct cgroup_memory *m, uint64_t asked, char *buf,
                      size_t size);
/* Figures of all processes that ran in the group; figures that it does not have stay
 * unknown. */
struct use cgroup_use (const char *root);
/* Whether the group is the job's alone. */
bool cgroup_is_own (void);
/* Current figures of the mounted group; only kills if the group is not the job's own. */
struct cgroup_memory cgroup_memory_now (void);
/* The data of WIRE_OOM, and back. */
#define CGROUP_MEMORY_SIZE 24
void cgroup_memory_put (uint8_t data[CGROUP_MEMORY_SIZE], const struct cgroup_memory *m);
struct cgroup_memory cgroup_memory_get (const void *data);
/* Processes of the mounted group killed for lack of memory so far. */
uint64_t cgroup_oom_kills (void);

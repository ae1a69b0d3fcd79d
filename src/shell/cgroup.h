/* cgroup.h - what the job's control group says: figures of use, memory's limit, kills
 *
 *     struct cgroup_memory m;
 *     if (cgroup_memory (CGROUP_ROOT, &m) == 0 && m.kills > before) ... m.limit, m.peak
 *
 * Read is the group that is mounted where containers see their own, of version 2 or 1. In a
 * pod that is the job's (cgroup_is_own()). For local processes there is at most one that
 * they share with others: of that, only killed processes are counted.
 */
#ifndef FLUXQ_SHELL_CGROUP_H
#define FLUXQ_SHELL_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/stepuse.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

struct cgroup_memory { /* bytes; 0: it does not say, or there is no limit */
    uint64_t limit;
    uint64_t peak;  /* at most in use so far */
    uint64_t kills; /* processes that were killed for want of memory */
};

/* 0 or -ENOENT: there is no such group. */
int cgroup_memory (const char *root, struct cgroup_memory *ret);
/* "out of memory: it asked for 512 MiB, 511 MiB were in use when the kernel killed a
 * process", as far as that is known. asked: MiB on this node, 0: it did not ask. */
void cgroup_oom_text (const struct cgroup_memory *m, uint64_t asked, char *buf,
                      size_t size);
/* Figures of all that ran in the group; what it does not say stays unknown. */
struct use cgroup_use (const char *root);
/* Whether the group is the job's alone. */
bool cgroup_is_own (void);
/* What the group that is mounted says now; of one that is not the job's own only kills. */
struct cgroup_memory cgroup_memory_now (void);
/* Processes killed for lack of memory so far, in the group that is mounted. */
uint64_t cgroup_oom_kills (void);

#endif

/* rlimits.h - soft resource limits that go along with a job (--propagate)
 *
 *     struct rlimits set = { 0 };
 *     rlimits_select ("NOFILE,CORE", &set, "--propagate", &err);   // which
 *     rlimits_read (&set);                                         // ... as they are here
 *     rlimits_format (&set, i, buf, sizeof (buf));                 // "nofile=1024"
 *     rlimits_add (&there, "nofile=1024", &err);
 *     rlimits_apply (&there);                                      // in the task
 *
 * The names are those of Slurm's --propagate in any case, and of flux-core's option rlimit.
 * A value is a number, or RLIM_INFINITY, as text "unlimited". libc only.
 */
#ifndef FLUXQ_COMMON_RLIMITS_H
#define FLUXQ_COMMON_RLIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "common/error.h"

#define RLIMITS_COUNT 10
#define RLIMITS_TEXT_MAX 40 /* "NAME=NUMBER" */

struct rlimits {
    uint32_t given; /* bits: these count */
    rlim_t soft[RLIMITS_COUNT];
};

/* "nofile" of number i < RLIMITS_COUNT. */
const char *rlimits_name (size_t i);
/* The number of a name, in any case; -1: there is no such limit. */
int rlimits_find (const char *name);
/* "ALL", "NONE", "NOFILE,CORE": which are given; their values are set to 0. -EINVAL names
 * the word, behind where. */
int rlimits_select (const char *list, struct rlimits *ret, const char *where,
                    struct error *err);
/* The values of those given, as this process has them. */
void rlimits_read (struct rlimits *set);
/* "nofile=1024", "core=unlimited" for number i. */
void rlimits_format (const struct rlimits *set, size_t i, char *buf, size_t size);
/* The same back. -EINVAL. */
int rlimits_add (struct rlimits *set, const char *text, struct error *err);
/* Set the soft limits of this process, none above its hard limit. May be called between
 * fork and exec. */
void rlimits_apply (const struct rlimits *set);
/* Those that rlimits_apply() could not give in full: "nofile (1048576, at most 4096), ..."
 * in at most size bytes; "" when there is none. */
void rlimits_describe_cut (const struct rlimits *set, char *buf, size_t size);

#endif

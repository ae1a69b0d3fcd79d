/* rlimits.h - soft resource limits that a job takes along (--propagate)
 *
 *     struct rlimits set = { 0 };
 *     rlimits_select ("NOFILE,CORE", &set, "--propagate", &err);   // select limits
 *     rlimits_read (&set);                                         // ... and their
 *                                                                  values
 *     rlimits_format (&set, i, buf, sizeof (buf));                 // "nofile=1024"
 *     rlimits_add (&there, "nofile=1024", &err);
 *     rlimits_apply (&there);                                      // in the task
 *
 * The names are those of Slurm's --propagate, in upper or lower case, and of flux-core's
 * option rlimit. A value is a number, or RLIM_INFINITY, as text "unlimited". libc only.
 */
#pragma once

#include <sys/resource.h>

#include "common/error.h"

#define RLIMITS_COUNT 10
#define RLIMITS_TEXT_MAX 40 /* "NAME=NUMBER" */

struct rlimits {
    uint32_t given; /* bits: limits that are set */
    rlim_t soft[RLIMITS_COUNT];
};

/* The name of limit i < RLIMITS_COUNT, such as "nofile". */
const char *rlimits_name (size_t i);
/* The number of a name, in upper or lower case; -1: no such limit. */
int rlimits_find (const char *name);
/* Select the limits of "ALL", "NONE" or "NOFILE,CORE"; their values become 0. -EINVAL:
 * the error begins with where and names the word. */
int rlimits_select (const char *list, struct rlimits *ret, const char *where,
                    struct error *err);
/* Read the values of the given limits from this process. */
void rlimits_read (struct rlimits *set);
/* From now on rlimits_read() gives these values, as another process is meant; limits that
 * are not given there are not given. all must stay valid. */
void rlimits_stand_in (const struct rlimits *all);
/* Write limit i as "nofile=1024" or "core=unlimited". */
void rlimits_format (const struct rlimits *set, size_t i, char *buf, size_t size);
/* Add a limit from such a text. -EINVAL. */
int rlimits_add (struct rlimits *set, const char *text, struct error *err);
/* Set the soft limits of this process, none above its hard limit. Safe between fork and
 * exec. */
void rlimits_apply (const struct rlimits *set);
/* Write the limits that rlimits_apply() has to lower: "nofile=1048576 (at most 4096),
 * ..." in at most size bytes; "" if there are none. */
void rlimits_describe_cut (const struct rlimits *set, char *buf, size_t size);

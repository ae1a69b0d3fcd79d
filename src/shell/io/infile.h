/* infile.h - opens the standard input of a task
 *
 *     infile_check (launch, rank, first, ntasks, cwd, &err); // before any task runs
 *     int fd = infile_open (launch, rank, task, cwd, &err);
 *
 * launch.input is a pattern (pattern.h): one file for the job, for each node or for each
 * task. Each task opens its file separately, so all tasks read from the beginning. The
 * file is a regular file or a character device; without a pattern it is /dev/null. The
 * agent runs as the user, so the kernel checks access to the file.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"

/* Returns a descriptor (read only, O_CLOEXEC) for the task (global number) of rank, or a
 * negative errno; err names the file. cwd: descriptor of the directory for relative
 * names. */
int infile_open (const struct launch *l, uint32_t rank, uint32_t task, int cwd,
                 struct error *err);
/* Whether infile_open() would succeed for ntasks tasks of rank, from first on: 0 or a
 * negative errno. */
int infile_check (const struct launch *l, uint32_t rank, uint32_t first, uint32_t ntasks,
                  int cwd, struct error *err);

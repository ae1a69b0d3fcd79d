/* outfile.h - the user's output files, written by rank 0
 *
 *     struct outfiles *files = outfiles_open (&launch, &loop, on_room, ctx, &err);
 *     outfiles_write (files, task, stream, data, len, &err);
 *     if (outfiles_blocked (files)) ...       // a FIFO or terminal takes no more: wait
 * for on_room
 *
 * Names come from launch.output and launch.error by pattern.h: one file for the job, for
 * each node or for each task; standard error goes where standard output goes unless it
 * has a pattern of its own. All are opened before any task starts. Regular files are
 * written at once (O_APPEND), what may block (FIFO, terminal) or has no room from a bounded buffer.
 */
#ifndef FLUXQ_SHELL_OUTFILE_H
#define FLUXQ_SHELL_OUTFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/launch.h"
#include "shell/loop.h"

struct outfiles;

/* NULL and err when one cannot be opened. With no pattern all calls succeed and do
 * nothing. */
struct outfiles *outfiles_open (const struct launch *launch, struct loop *loop,
                                void (*on_room) (void *ctx), void *ctx,
                                struct error *err);
void outfiles_close (struct outfiles *files);
/* 0, or a negative errno the first time that a file cannot be written (err names it);
 * what goes to a file that failed is dropped. */
int outfiles_write (struct outfiles *files, uint32_t task, int stream, const char *data,
                    size_t len, struct error *err);
/* Whether some of it waits for room on a file system (launch.on_full), which is tried again. */
bool outfiles_full (const struct outfiles *files);
/* It waits no longer: it is lost. */
void outfiles_give_up (struct outfiles *files);
/* Bytes that were lost because a file could not be written, and the first reason, or "". */
uint64_t outfiles_lost (const struct outfiles *files, const char **ret_why);
bool outfiles_blocked (const struct outfiles *files);

#endif

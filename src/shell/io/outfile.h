/* outfile.h - the user's output files, written by rank 0
 *
 *     struct outfiles *files = outfiles_open (&launch, &loop, on_room, ctx, &err);
 *     outfiles_write (files, task, stream, data, len, &err);
 *     if (outfiles_blocked (files)) ...  // a FIFO or terminal is full: wait for on_room
 *
 * The names come from launch.output and launch.error (pattern.h): one file for the job,
 * for each node or for each task. Standard error goes to the file of standard output
 * unless it has a pattern of its own. All files are opened before any task starts.
 * Regular files are written at once (O_APPEND). Output for a FIFO, a terminal or a full
 * file system goes through a bounded buffer.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"
#include "shell/io/loop.h"

struct outfiles;

/* NULL and err if a file cannot be opened. Without patterns all calls succeed and do
 * nothing. */
struct outfiles *outfiles_open (const struct launch *launch, struct loop *loop,
                                void (*on_room) (void *ctx), void *ctx,
                                struct error *err);
void outfiles_close (struct outfiles *files);
/* 0, or a negative errno the first time that a file cannot be written (err names the
 * file). Later output to that file is dropped. */
int outfiles_write (struct outfiles *files, uint32_t task, int stream, const char *data,
                    size_t len, struct error *err);
/* Whether output waits for room on a file system (launch.on_full). Writing it is
 * retried. */
bool outfiles_full (const struct outfiles *files);
/* Drops the output that waits for room: it counts as lost. */
void outfiles_give_up (struct outfiles *files);
/* Bytes lost because a file could not be written, and the first reason or "". */
uint64_t outfiles_lost (const struct outfiles *files, const char **ret_why);
bool outfiles_blocked (const struct outfiles *files);

/* pause.h - starts pause while the broker's own machine is short of something
 *
 *     pause_note (b, err.text, ENOSPC);       // from start.c, or as an executor reports
 *     if (pause_reason (b)) ...               // nothing is placed or started
 *
 *          pause_note(), a look that fails, journal_trouble()
 *     RUNS ------------------------------------------------> PAUSED
 *       ^                                                      |  a look (worker) after
 *       '------------ a look finds all as it should be --------'  0.25 s, 0.5 s, ... 5 s
 *
 * A full disk, a used-up quota, an I/O error, a read-only file system, or a lack of file
 * descriptors, memory or processes on the broker's side does not count as a failed start:
 * jobs keep waiting, with the shortage as their reason, and start when it is over. The
 * same errors with a user's own files and limits belong to the job and do not pause
 * anything.
 *
 * In a pause a look tries what a start needs: a file in the state directory with room for
 * a job's first output, descriptors, memory, a thread. Once a second a look also checks
 * that the state directory and the socket still exist, and how much room is left. With
 * less than `disk-reserve` submits are refused; accepted jobs may use that room.
 *
 * Thread: the loop's.
 */
#pragma once

#include <jansson.h>

#include "common/error.h"

struct broker;

/* Notes that an operation failed with errnum, a shortage (see error_shortage()). what:
 * one line for the log, with the reason. */
void pause_note (struct broker *b, const char *what, int errnum);
/* Why starts are paused, a sentence; NULL: they are not. Valid until the loop's next
 * turn. */
const char *pause_reason (const struct broker *b);
/* Why submits are refused, a sentence; NULL: they are not. */
const char *pause_refusal (const struct broker *b);
/* {"since", "starts", "submits", "socket"} for GET /v1/status; NULL: no problem, or no
 * memory. */
json_t *pause_json (const struct broker *b);
/* Finds out whether a shortage may have failed a start that began at `since` (unix time):
 * calls done once, after a look. Not after pause_release(). 0, or -ENOMEM: done is not
 * called. */
int pause_examine (struct broker *b, double since, void (*done) (bool is_ours, void *arg),
                   void *arg);

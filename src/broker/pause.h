/* pause.h - starts wait while the broker's own machine is short of something
 *
 *     pause_note (b, err.text, ENOSPC);       // from start.c, or as an executor reports
 *     if (pause_reason (b)) ...                  // nothing is placed and nothing is started
 *
 *          pause_note(), a look that fails, journal_trouble()
 *     RUNS ------------------------------------------------> PAUSED
 *       ^                                                      |  a look (worker thread) after
 *       '------------ a look finds all as it should be --------'  0.25 s, 0.5 s, ... 5 s
 *
 * A full disk, a used-up quota, an I/O error, a read-only file system, no file descriptors, no
 * memory and no processes on the broker's side are nobody's failed start: who waits goes on
 * waiting, with that as its reason, and is started when it is over. The same errors of a user's
 * own files and limits are his job's, and never come here.
 *
 * A look tries what a start needs: a file in the state directory with room for a job's first
 * output, descriptors, memory, a thread. Once a second it also sees whether the state directory
 * and the socket are still there, and how much room is left: with less than `disk-reserve`
 * submits are refused, while what was accepted may use that room.
 *
 * Thread: the loop's. */
#ifndef FLUXQ_BROKER_PAUSE_H
#define FLUXQ_BROKER_PAUSE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/error.h"

struct broker;

/* After the directories are made. 0 or a negative errno. */
int pause_init (struct broker *b, struct error *err);
/* Looks begin; the socket is there. */
void pause_begin (struct broker *b);
/* No looks any more; what is under way ends with the loop. */
void pause_release (struct broker *b);

/* Something could not be done for this errno, a shortage (error_shortage()). what: one line for
 * the log, with the reason. */
void pause_note (struct broker *b, const char *what, int errnum);
/* Why starts wait, a sentence; NULL: they do not. Valid until the loop's next turn. */
const char *pause_reason (const struct broker *b);
/* Why submits are refused, a sentence; NULL: they are not. */
const char *pause_refusal (const struct broker *b);
/* {"since", "starts", "submits", "socket"} for GET /v1/status; NULL: all is well, or no memory. */
json_t *pause_json (const struct broker *b);
/* Whether a start that began at `since` (unix time) may have failed because of a shortage: done
 * comes once, after a look. Not after pause_release(). 0 or -ENOMEM: done does not come. */
int pause_examine (struct broker *b, double since, void (*done) (bool is_ours, void *arg),
                   void *arg);

#endif

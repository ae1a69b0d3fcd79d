/* userlimits.h - limits on the waiting jobs and kept output of one user
 *
 *     userlimits_check (b, uid, tasks, bytes, &err)     // -EDQUOT: refused, and why
 *
 * Counted are waiting jobs (each task of an array that has not started counts as one),
 * the bytes of their jobspecs (script and environment; once for an array) and the bytes
 * of output that the broker keeps for fluxq-logs. The limits are user-jobs-max,
 * user-bytes-max and user-output-max of fluxq.yaml. Root, the broker's own user and
 * operators have no limits.
 *
 * A worker thread measures kept output after jobs have ended, once a second at most and
 * for at most a twentieth of the time. Thread: the loop's.
 */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "common/error.h"

struct broker;
struct entry;

/* Whether the user may have this many more jobs, with so many bytes of jobspec. 0 or
 * -EDQUOT. */
int userlimits_check (struct broker *b, uid_t uid, uint64_t jobs, uint64_t bytes,
                      struct error *err);
/* Counts a submit that is being written, or (negative) takes it back. */
void userlimits_reserve (struct broker *b, uid_t uid, int64_t jobs, int64_t bytes);

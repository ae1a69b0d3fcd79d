/* userlimits.h - what one user may have waiting and kept
 *
 *     userlimits_check (b, uid, tasks, bytes, &err)     // -EDQUOT: refused, and why
 *
 * Jobs that wait (the tasks of an array that have not started count one each), the bytes of
 * their jobspecs (script and environment; of an array once) and the bytes of output that the
 * broker keeps for fluxq-logs. The limits are user-jobs-max, user-bytes-max and user-output-max
 * of fluxq.yaml. Root, the broker's own user and operators have none.
 *
 * What is kept is measured by a worker thread after jobs have ended, at most once a second and
 * for a twentieth of the time. Thread: the loop's. */
#ifndef FLUXQ_BROKER_USERLIMITS_H
#define FLUXQ_BROKER_USERLIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

struct broker;
struct entry;

int userlimits_init (struct broker *b, struct error *err);
void userlimits_release (struct broker *b);
/* May that user have so many jobs more, of so many bytes of jobspec? 0 or -EDQUOT. */
int userlimits_check (struct broker *b, uid_t uid, uint64_t jobs, uint64_t bytes,
                      struct error *err);
/* While a submit is being written: so many more, or (negative) no more. */
void userlimits_reserve (struct broker *b, uid_t uid, int64_t jobs, int64_t bytes);
/* The job begins to wait, or does so no more. */
void userlimits_waiting (struct broker *b, const struct entry *e, bool waits);
/* A job has ended: what is kept is measured again, soon. */
void userlimits_output_changed (struct broker *b);
/* {"jobs", "jobs_max", "bytes", ...} of that user; a limit that does not hold is null. */
json_t *userlimits_json (struct broker *b, uid_t uid);

#endif

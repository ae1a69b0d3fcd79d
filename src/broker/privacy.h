/* privacy.h - who sees what of whose jobs
 *
 *     if (!privacy_sees (b, http_request_uid (req), e, PRIVATE_JOBS))   // 404
 *
 * `private:` in fluxq.yaml, of the site and of a queue, says what users do not see of the jobs
 * of others: `jobs`, the jobs at all; `arguments`, what they run, where and with which files;
 * `usage`, what their users have used and their fair share. Owners, root, the broker's user and
 * operators see all. This is the one place where that is decided, and all answers about jobs
 * ask here.
 *
 * Thread: the loop's. */
#ifndef FLUXQ_BROKER_PRIVACY_H
#define FLUXQ_BROKER_PRIVACY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/strbuf.h"

struct broker;
struct entry;

enum private_part {
    PRIVATE_JOBS = 1 << 0,
    PRIVATE_ARGUMENTS = 1 << 1,
    PRIVATE_USAGE = 1 << 2,
};

/* A viewer that is no user: what this one does not see is hidden from somebody. */
#define PRIVACY_ANYONE ((uid_t)-1)

/* part: one of them. Who does not see the job sees no part of it. */
bool privacy_sees (const struct broker *b, uid_t viewer, const struct entry *e,
                   enum private_part part);
/* The job of that number, if it is in memory and seen; of one that is not nobody tells. */
bool privacy_sees_id (struct broker *b, uid_t viewer, uint64_t id);
/* Of what a user has used in all queues. */
bool privacy_sees_usage (const struct broker *b, uid_t viewer, uid_t user);
/* In a text for the viewer numbers of jobs that are not seen ("job 7", "jobs 3, 4_1") become
 * "(private)". */
void privacy_scrub (struct broker *b, uid_t viewer, struct strbuf *text);
/* GET /v1/jobs/ID: what is not seen is taken out. */
void privacy_mask_job (struct broker *b, uid_t viewer, const struct entry *e, json_t *job);
/* The member of o of that name, a text or null, is scrubbed. */
void privacy_scrub_member (struct broker *b, uid_t viewer, json_t *o, const char *key);
/* The context of one of the job's events. */
void privacy_mask_event (struct broker *b, uid_t viewer, const struct entry *e,
                         json_t *context);

#endif

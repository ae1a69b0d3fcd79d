/* privacy.h - which parts of jobs a user may see
 *
 *     if (!privacy_sees (b, http_request_uid (req), e, PRIVATE_JOBS))   // 404
 *
 * `private:` in fluxq.yaml, of the site and of a queue, hides parts of other users' jobs:
 * `jobs`, the whole jobs; `arguments`, what they run, where and with which files;
 * `usage`, the users' usage and fair share. Owners, operators of the job's
 * queue and administrators see everything; only administrators see the usage of users. All answers about jobs ask here; nothing is decided elsewhere.
 *
 * Thread: the loop's.
 */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "broker/config/config.h"
#include "common/strbuf.h"

struct broker;
struct entry;

/* A viewer that is no user: sees only what all users may see. */
#define PRIVACY_ANYONE ((uid_t)-1)

/* part: one part. A viewer who does not see the job sees none of its parts. */
bool privacy_sees (const struct broker *b, uid_t viewer, const struct entry *e,
                   enum private_part part);
/* The same for a job of the history, of this owner in this queue. */
bool privacy_sees_ended (const struct broker *b, uid_t viewer, uid_t owner,
                         const char *queue, enum private_part part);
/* Whether the viewer sees the job of this id. A job that is not in memory counts as
 * hidden. */
bool privacy_sees_id (struct broker *b, uid_t viewer, uint64_t id);
/* Whether the viewer sees the user's usage in all queues. */
bool privacy_sees_usage (const struct broker *b, uid_t viewer, uid_t user);
/* Replaces ids of jobs that the viewer does not see ("job 7", "jobs 3, 4_1") by
 * "(private)". */
void privacy_scrub (struct broker *b, uid_t viewer, struct strbuf *text);
/* Removes hidden parts from the answer of GET /v1/jobs/ID. */
void privacy_mask_job (struct broker *b, uid_t viewer, const struct entry *e,
                       json_t *job);
/* Scrubs the member of o with this name, which is a text or null. */
void privacy_scrub_member (struct broker *b, uid_t viewer, json_t *o, const char *key);
/* Removes hidden parts from the context of an event of the job. */
void privacy_mask_event (struct broker *b, uid_t viewer, const struct entry *e,
                         json_t *context);

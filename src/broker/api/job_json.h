/* job_json.h - the description of a job: the answer of GET /v1/jobs/ID
 */
#pragma once

#include "broker/core/broker.h"

/* All columns of the job, its jobspec and sizes, and the members that services add
 * (shows_job), as far as the viewer may see them. rec: its jobspec and events. NULL: no
 * memory. */
json_t *job_json (struct broker *b, uid_t viewer, struct entry *e,
                  const struct journal_record *rec);

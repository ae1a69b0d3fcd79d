/* licenses.h - licenses of the site: `licenses:` of fluxq.yaml, and the jobs that hold them
 *
 *     rc = licenses_check (b, js, &err);                  // at submit
 *     entry.licenses = licenses_need (b, e);              // for the scheduler, or NULL
 *
 * A job holds its licenses as long as it has an allocation, from the event `alloc` to the
 * event `free`. The number in use is the sum over these jobs: nothing else is stored, and
 * a restart adds them up again. sched/licenses.h decides who gets free ones. Thread: the
 * loop's.
 */
#pragma once

#include "jobspec/jobspec.h"
#include "sched/licenses.h"

struct broker;
struct entry;

/* Whether the site has what the job asks for. -EINVAL; -ENOMEM. */
int licenses_check (struct broker *b, const struct jobspec *js, struct error *err);
/* Whether all that the job asks for are free now. -EBUSY with the reason; -ENOMEM. */
int licenses_are_free (struct broker *b, const struct jobspec *js, struct error *err);
/* The job's licenses, owned by the service until the job leaves the table; NULL: none. */
const struct license_need *licenses_need (struct broker *b, struct entry *e);

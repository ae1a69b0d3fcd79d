/* start.h - from an allocation to the executor, and back
 */
#ifndef FLUXQ_BROKER_CORE_START_H
#define FLUXQ_BROKER_CORE_START_H

#include "broker/core/broker.h"

void broker_start (struct broker *b, struct entry *e);
void broker_cleanup (struct broker *b, struct entry *e);
void broker_kill (struct broker *b, struct entry *e);
void exec_host_init (struct broker *b);
void exec_job_free (struct exec_job *x);

/* Makes broker.retry look for entries with start_again at once, as their reason to wait
 * may be over. */
void broker_starts_due (struct broker *b);

#endif

/* submit_fresh.h - a new job keeps its jobspec until a pass is over: it may start at once
 */
#ifndef FLUXQ_BROKER_SERVICES_SUBMIT_FRESH_H
#define FLUXQ_BROKER_SERVICES_SUBMIT_FRESH_H

#include "broker/core/broker.h"

/* The job is in the table with its jobspec; the next end of a pass drops the jobspec,
 * unless the job starts. */
void submit_fresh_keep (struct broker *b, struct entry *e);

#endif

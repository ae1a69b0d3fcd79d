/* plan.h - turns the scheduler's decisions into allocations, in bounded pieces
 */
#ifndef FLUXQ_BROKER_CORE_PLAN_H
#define FLUXQ_BROKER_CORE_PLAN_H

#include "broker/core/broker.h"

void broker_plan_due (struct broker *b);
void broker_plan (struct broker *b);
void broker_enqueue (struct broker *b, struct entry *e);
void broker_dequeue (struct broker *b, struct entry *e);
/* The id by which the scheduler knows the job. */
uint64_t broker_queued_id (const struct entry *e);
void broker_forget_fresh (struct broker *b, struct entry *e);

#endif

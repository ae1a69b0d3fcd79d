/* priority.h - priorities of waiting jobs and usage of users: computed, kept and shown
 */
#ifndef FLUXQ_BROKER_SERVICES_PRIORITY_H
#define FLUXQ_BROKER_SERVICES_PRIORITY_H

#include "broker/core/broker.h"

/* At start-up, before jobs are read: loads the users' usage from the journal. */
int broker_load_usage (struct broker *b, struct error *err);
/* The present priority of a waiting job; ret may be NULL. */
int64_t broker_priority (const struct broker *b, const struct entry *e,
                         struct priority *ret);
/* The points to subtract so that the job goes behind all others of its queue and
 * urgency. */
int64_t broker_setback (const struct broker *b, const struct entry *e);
/* Sets job->priority to the rank by which the queue is ordered. */
void broker_rank (const struct broker *b, struct entry *e);
/* After each event: counts the cores that the job's user holds from now on. held: what
 * the job held before, NULL: nothing; t: the transaction of the event. */
struct held {
    int64_t cores;
    double since; /* unix time */
};
void broker_account (struct broker *b, const struct entry *e, const struct held *held,
                     double now, struct journal_txn *t);
void broker_list_waiting (struct broker *b, struct entry *e, bool is);
/* Starts a round that computes all priorities anew, in slices; later rounds follow at the
 * configured interval. */
void broker_priorities_due (struct broker *b);
void broker_priority_reconfigured (struct broker *b);

#endif

/* adopt.h - jobs made outside fluxq on its nodes: a batch/v1 Job, a group of pods
 */
#ifndef FLUXQ_BROKER_SERVICES_ADOPT_H
#define FLUXQ_BROKER_SERVICES_ADOPT_H

#include "broker/core/broker.h"

void adopt_host_init (struct broker *b);
/* e is in the table from now on: enters it among the adopted jobs, if it is one. */
void adopt_insert (struct broker *b, struct entry *e);
void adopt_remove (struct broker *b, struct entry *e);
/* Tells the executor the state of an adopted job; other jobs: does nothing. */
void adopt_tell (struct broker *b, struct entry *e);
/* After start-up, before the first sweep: adopt_tell() for all. */
void adopt_tell_all (struct broker *b);

#endif

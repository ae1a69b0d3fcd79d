/* recover.h - at start-up: reads jobs from the journal, and continues what was under way
 */
#pragma once

#include "broker/core/broker.h"

int broker_recover (struct broker *b, struct error *err);
/* Books the job's allocation in the matcher for nodes outside reservations. */
int broker_book (struct broker *b, struct entry *e);
void broker_recovered_nodes (
    struct broker *b); /* the node list is complete: books jobs and resumes them */

/* submit_fresh.h - a new job keeps its jobspec until a pass is over: it may start at once
 */
#pragma once

#include "broker/core/broker.h"

/* The job is in the table with its jobspec; the next end of a pass drops the jobspec,
 * unless the job starts. */
void submit_fresh_keep (struct broker *b, struct entry *e);

/* history.h - adds ended jobs to the history (store/history.h)
 */
#pragma once

#include "broker/core/broker.h"
#include "store/history.h"

/* The history; NULL: it cannot be opened, and history_why() says why. */
struct history *history_of (const struct broker *b);
/* Why jobs do not get into the history, in one line; NULL: they do. Valid until the next
 * call. */
const char *history_why (const struct broker *b);
/* Marks the present: jobs that have ended until now are those of the mark. */
uint64_t history_mark (const struct broker *b);
/* Whether jobs of the mark are on their way into the history. Jobs that end later do not
 * count. */
bool history_is_behind (const struct broker *b, uint64_t mark);
/* Finds the jobs among these ended ones that the history does not have on disk, and adds
 * them. n <= HISTORY_LACKS_MAX. -EAGAIN, ...: the history cannot say, and done is not
 * called. */
int history_missing (struct broker *b, const struct journal_ended *jobs, size_t n,
                     history_lacks_f done, void *arg);

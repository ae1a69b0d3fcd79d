/* array.h - job arrays: one record in the queue, and a job for each task that starts
 */
#pragma once

#include "broker/core/broker.h"

/* The largest number of tasks that an array may have (array-max). */
unsigned array_max (const struct broker *b);
/* Makes the array's next task the one to queue. Returns its job id, which the caller
 * gives to the scheduler, or 0: no task may start now. */
uint64_t array_enqueue (struct broker *b, struct entry *e);
void array_dequeue (struct broker *b, struct entry *e);
/* The id by which the scheduler knows the job; of an array that of its next task, or 0. */
uint64_t array_queued_id (const struct entry *e);
/* Whether all tasks of the array have become jobs of their own. */
bool array_is_whole (const struct entry *e);
/* Makes a job of the task that was placed; NULL: no array has queued that id. */
struct entry *array_start (struct broker *b, uint64_t head);
/* Cancels these tasks, all of which wait. */
int array_cancel (struct broker *b, struct entry *e, const struct idset *tasks,
                  uint32_t userid, const char *note);

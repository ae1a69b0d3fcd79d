/* events.h - events by time: a binary heap
 *
 *     struct events q = { 0 };
 *     events_add (&q, 12.5, job_id);
 *     while (events_first (&q, &when) && when <= now)
 *         id = events_take (&q);
 *     events_release (&q);
 *
 * Between equal times the smaller id is first, so that runs are reproducible. O(log n).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct events {
    struct event_item {
        double when;
        uint64_t id;
    } * heap;
    size_t n, alloc;
};

int events_add (struct events *q, double when, uint64_t id); /* 0 or -ENOMEM */
/* Returns the time of the first event; false: there is none. */
bool events_first (const struct events *q, double *when);
/* Removes the first event and returns its id; there must be one. */
uint64_t events_take (struct events *q);
void events_release (struct events *q);

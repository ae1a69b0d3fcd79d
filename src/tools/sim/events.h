/* events.h - what happens when: a binary heap by time
 *
 *     struct events q = { 0 };
 *     events_add (&q, 12.5, job_id);
 *     while (events_first (&q, &when) && when <= now)
 *         id = events_take (&q);
 *     events_release (&q);
 *
 * Of equal times the smaller id is first, so that a run is the same each time. O(log n).
 */
#ifndef FLUXQ_TOOLS_SIM_EVENTS_H
#define FLUXQ_TOOLS_SIM_EVENTS_H

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
/* When the first is; false: there is none. */
bool events_first (const struct events *q, double *when);
/* Its id; there must be one. */
uint64_t events_take (struct events *q);
void events_release (struct events *q);

#endif

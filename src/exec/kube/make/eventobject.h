/* eventobject.h - an Event (events.k8s.io/v1) about an object, for kubectl describe
 *
 *     const struct eventobject e = { .api = "batch/v1", .kind = "Job", ... };
 *     json_t *event = eventobject_make (&e);
 *     eventobject_path (e.namespace_, path, sizeof (path));     // POST it there
 *
 * Pure: time comes in as an argument.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eventobject {
    const char *namespace_, *api, *kind, *name, *uid; /* of the object of the event */
    const char *cluster;                              /* cluster id of the reporter */
    const char *reason; /* one word in CamelCase */
    const char *note;   /* a line for people; a longer one is cut */
    bool warning;
    double now;    /* unix time */
    uint64_t salt; /* distinguishes two events of one moment about one object */
};

/* NULL: no memory, or text that is not UTF-8. */
json_t *eventobject_make (const struct eventobject *e);
void eventobject_path (const char *namespace_, char *path, size_t size);

/* event.h - an entry of a job's event log (RFC 18, RFC 21)
 *
 *     struct event *e = event_create (now, "urgency", json_pack ("{s:i}", "urgency", 0));
 *     char *context = event_encode_context (e);   // {"urgency":0}
 *     event_destroy (e);
 *
 * Timestamps are kept to a microsecond.
 */
#pragma once

#include "common/json.h"

#define EVENT_NAME_MAX 64

struct event {
    double timestamp; /* unix time */
    char name[EVENT_NAME_MAX];
    json_t *context; /* object or NULL; owned */
};

/* timestamp: > 0; name: 1 to 63 characters; context: an object or NULL, an empty one is
 * dropped. Steals the reference to context, also on failure. NULL, and errno: EINVAL a wrong
 * argument, or ENOMEM. */
struct event *event_create (double timestamp, const char *name, json_t *context);
void event_destroy (struct event *e);
/* The context as text, "" when there is none; caller frees. */
char *event_encode_context (const struct event *e);

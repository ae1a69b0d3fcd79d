/* event.c - an event of a job, and its context as text */
#include <math.h>

#include "job/event.h"

#define TIME_MAX 1e12
#define LINE_MAX_BYTES (64 << 20) /* an alloc event holds R */

struct event *event_create (double timestamp, const char *name, json_t *context)
{
    struct event *e = calloc (1, sizeof (*e));
    size_t len = strlen (name);
    if (!e || !(timestamp > 0 && timestamp < TIME_MAX) || len == 0
        || len >= EVENT_NAME_MAX || (context && !json_is_object (context))) {
        int code = e ? EINVAL : ENOMEM;
        json_decref (context);
        free (e);
        errno = code;
        return NULL;
    }
    e->timestamp = round (timestamp * 1e6) / 1e6;
    memcpy (e->name, name, len + 1);
    if (json_object_size (context) > 0)
        e->context = context;
    else
        json_decref (context);
    return e;
}

void event_destroy (struct event *e)
{
    if (e) {
        json_decref (e->context);
        free (e);
    }
}

char *event_encode_context (const struct event *e)
{
    return e->context ? json_dumps (e->context, JSON_COMPACT) : strdup ("");
}

#include <errno.h>
#include <math.h>
#include <string.h>

#include "job/event.h"

#define TIME_MAX 1e12
#define LINE_MAX_BYTES (64 << 20) /* an alloc event holds R */

struct event *event_create (double timestamp, const char *name, json_t *context)
{
    struct event *e = calloc (1, sizeof (*e));
    size_t len = strlen (name);
    if (!e || !(timestamp > 0 && timestamp < TIME_MAX) || len == 0
        || len >= EVENT_NAME_MAX || (context && !json_is_object (context))) {
        json_decref (context);
        free (e);
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

char *event_encode (const struct event *e)
{
    struct strbuf sb;
    /* By integers, as %f would follow the locale. */
    long long micros = llround (e->timestamp * 1e6);
    strbuf_init (&sb, LINE_MAX_BYTES);
    strbuf_addf (&sb, "{\"timestamp\":%lld.%06lld,\"name\":", micros / 1000000,
                 micros % 1000000);
    strbuf_add_json (&sb, e->name, SIZE_MAX);
    if (e->context) {
        strbuf_adds (&sb, ",\"context\":");
        strbuf_add_json_value (&sb, e->context);
    }
    strbuf_addch (&sb, '}');
    return strbuf_detach (&sb);
}

char *event_encode_context (const struct event *e)
{
    return e->context ? json_dumps (e->context, JSON_COMPACT) : strdup ("");
}

struct event *event_decode (const char *line, size_t len, struct error *err)
{
    static const char *const keys[] = { "timestamp", "name", "context", NULL };
    autojson json_t *o = json_parse (line, len, "event", err);
    double timestamp = 0;
    const char *name;
    json_t *context = NULL;
    if (!o || json_only_keys (o, keys, "event", err) < 0
        || json_get_double (o, "timestamp", 0, TIME_MAX, &timestamp, JSON_REQUIRED,
                            "event", err)
               < 0
        || json_get_string (o, "name", &name, JSON_REQUIRED, "event", err) < 0
        || json_get_object (o, "context", &context, JSON_OPTIONAL_KEY, "event", err) < 0)
        return NULL;
    struct event *e = event_create (timestamp, name, json_incref (context));
    if (!e)
        error_set (
            err, EINVAL,
            "event: the timestamp must be positive and the name have 1 to %d characters",
            EVENT_NAME_MAX - 1);
    return e;
}

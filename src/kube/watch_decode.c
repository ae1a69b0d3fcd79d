/* watch_decode.c - the lines of a watch: see watch.h */
#include "kube/watch.h"

#include "common/json.h"
#include "kube/object.h"

static const char *const type_names[] = {
    [KUBE_ADDED] = "ADDED",     [KUBE_MODIFIED] = "MODIFIED",
    [KUBE_DELETED] = "DELETED", [KUBE_BOOKMARK] = "BOOKMARK",
    [KUBE_ERROR] = "ERROR",
};

void kube_decoder_init (struct kube_decoder *d)
{
    strbuf_init (&d->line, KUBE_LINE_MAX);
}

void kube_decoder_release (struct kube_decoder *d)
{
    strbuf_release (&d->line);
}

/* 1: an event, 0: an unknown type, -EBADMSG. */
static int decode (json_t *line, struct kube_event *e, struct error *err)
{
    const char *type = json_string_value (json_object_get (line, "type"));
    size_t t = 0;

    e->object = json_object_get (line, "object");
    if (!type || !json_is_object (e->object))
        return error_set (err, EBADMSG, "a line of the watch is not an event");
    while (t < ARRAY_SIZE (type_names) && strcmp (type, type_names[t]) != 0)
        t++;
    if (t == ARRAY_SIZE (type_names))
        return 0;
    e->type = (enum kube_event_type)t;
    e->version = "";
    e->code = 0;
    if (e->type == KUBE_ERROR) {
        e->code = (int)json_integer_value (json_object_get (e->object, "code"));
        return 1;
    }
    json_t *meta = json_object_get (e->object, "metadata");
    const char *version = json_string_value (json_object_get (meta, "resourceVersion"));
    if (!version || strlen (version) > 128)
        return error_set (err, EBADMSG, "an event of the watch has no resourceVersion");
    if (e->type != KUBE_BOOKMARK && !json_is_string (json_object_get (meta, "name")))
        return error_set (err, EBADMSG, "an event of the watch has no name");
    e->version = version;
    return 1;
}

static int on_line (const char *text, size_t len,
                    int (*fn) (const struct kube_event *e, void *arg), void *arg,
                    struct error *err)
{
    struct error why = { 0 };
    autojson json_t *line = kube_object_parse (text, len, "watch", &why);
    struct kube_event e;

    if (!line)
        return error_set (err, EBADMSG, "%s", why.text);
    int rc = decode (line, &e, err);
    return rc > 0 ? fn (&e, arg) : rc;
}

int kube_decoder_feed (struct kube_decoder *d, const char *data, size_t len,
                       int (*fn) (const struct kube_event *e, void *arg), void *arg,
                       struct error *err)
{
    int rc = 0;

    while (rc == 0 && len > 0) {
        const char *end = memchr (data, '\n', len);
        size_t piece = end ? (size_t)(end - data) : len;

        if (strbuf_add (&d->line, data, piece) < 0)
            return error_set (err, EBADMSG,
                              "a line of the watch is longer than %zu bytes",
                              d->line.max);
        if (!end)
            break;
        data += piece + 1;
        len -= piece + 1;
        if (d->line.len > 0)
            rc = on_line (d->line.buf, d->line.len, fn, arg, err);
        strbuf_reset (&d->line);
    }
    return rc;
}

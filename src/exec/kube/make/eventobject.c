/* eventobject.c - see eventobject.h */
#include "exec/kube/make/eventobject.h"

#include <stdio.h>
#include <string.h>

#include "kube/object.h"

#define NOTE_MAX 1000 /* bytes of a note; the API server takes 1024 */

/* Cuts the text before the first byte of a character. */
static void cut_text (char *buf, size_t size, const char *text)
{
    size_t n = strlen (text);

    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    memcpy (buf, text, n);
    buf[n] = '\0';
}

json_t *eventobject_make (const struct eventobject *e)
{
    char name[300], when[KUBE_TIME_MAX], note[NOTE_MAX];

    kube_time_write (e->now, true, when);
    cut_text (note, sizeof (note), e->note);
    snprintf (name, sizeof (name), "%.230s.%016jx", e->name,
              (uintmax_t)(e->now * 1e6) + (uintmax_t)e->salt);
    return json_pack (
        "{s:s s:s s:{s:s s:s} s:s s:s s:s s:s s:s s:s s:s s:{s:s s:s s:s s:s s:s}}",
        "apiVersion", "events.k8s.io/v1", "kind", "Event", "metadata", "name", name,
        "namespace", e->namespace_, "eventTime", when, "type",
        e->warning ? "Warning" : "Normal", "reason", e->reason, "action", "Queue", "note",
        note, "reportingController", "fluxq.io/broker", "reportingInstance", e->cluster,
        "regarding", "apiVersion", e->api, "kind", e->kind, "namespace", e->namespace_,
        "name", e->name, "uid", e->uid);
}

void eventobject_path (const char *namespace_, char *path, size_t size)
{
    snprintf (path, size, "/apis/events.k8s.io/v1/namespaces/%s/events", namespace_);
}

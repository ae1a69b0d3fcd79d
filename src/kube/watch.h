/* watch.h - a collection, kept up to date: list, then watch (what client-go calls a
 * reflector)
 *
 *     static const struct kube_watch_events ev = { .changed = on_change, ... };
 *     w = kube_watch_start (kube, "/api/v1/pods", "labelSelector=a%3Db", &ev, x, &err);
 *     kube_watch_stop (w);
 *
 * Lists in pages of 500; watches with bookmarks from the list's resourceVersion and goes
 * on from the last one seen whenever the stream ends; lists again after 410 Gone and
 * reports the difference, so that the caller's picture is right without its doing.
 * Objects are handed on one by one and not kept, only their names, uids and versions.
 * Source: kubernetes.io, "Kubernetes API Concepts", efficient detection of changes.
 */
#ifndef FLUXQ_KUBE_WATCH_H
#define FLUXQ_KUBE_WATCH_H

#include "kube/client.h"

#include <stdbool.h>

#include "common/strbuf.h"

struct kube_watch;

struct kube_watch_events {
    /* An object is new (or another one under a known name: deleted comes first) or has
     * changed. */
    void (*changed) (json_t *object, bool is_new, void *arg);
    /* object: its last state, NULL when that is not known (found missing by a new list).
     */
    void (*deleted) (const char *ns, const char *name, json_t *object, void *arg);
    /* The picture is complete: after the first list, and after each further one. */
    void (*listed) (void *arg);
};

/* selector: further query terms or NULL. NULL: no memory. Callbacks never come from
 * within this call. */
struct kube_watch *kube_watch_start (struct kube *k, const char *path,
                                     const char *selector,
                                     const struct kube_watch_events *ev, void *arg,
                                     struct error *err);
void kube_watch_stop (struct kube_watch *w); /* not from within its callbacks */

/* The stream's decoder, by itself: lines of JSON, each an event. */
enum kube_event_type {
    KUBE_ADDED,
    KUBE_MODIFIED,
    KUBE_DELETED,
    KUBE_BOOKMARK,
    KUBE_ERROR
};
struct kube_event {
    enum kube_event_type type;
    json_t *object;      /* borrowed */
    const char *version; /* its resourceVersion, "" for KUBE_ERROR */
    int code;            /* KUBE_ERROR: the Status' code (410 ...) */
};
#define KUBE_LINE_MAX (16 << 20)
struct kube_decoder {
    struct strbuf line;
};
void kube_decoder_init (struct kube_decoder *d);
void kube_decoder_release (struct kube_decoder *d);
/* Calls fn for each whole line; a non-zero result of fn ends it and is returned. -EBADMSG
 * (and err) when a line is no event. Unknown event types are passed over. */
int kube_decoder_feed (struct kube_decoder *d, const char *data, size_t len,
                       int (*fn) (const struct kube_event *e, void *arg), void *arg,
                       struct error *err);

#endif

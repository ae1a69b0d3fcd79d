/* watch.h - keeps a local view of a collection up to date (client-go: a reflector)
 *
 *     static const struct kube_watch_events ev = { .changed = on_change, ... };
 *     w = kube_watch_start (kube, "/api/v1/pods", "labelSelector=a%3Db", &ev, x, &err);
 *     kube_watch_stop (w);
 *
 * Lists the collection in one request and decodes it item by item: an API server needs a
 * third of the time of pages of 500, or of a watch with sendInitialEvents. Then watches
 * with bookmarks from the list's resourceVersion, and resumes at the last one seen
 * whenever the stream ends. After 410 Gone it lists again and reports the difference, so
 * that the caller's view becomes right by itself. Passes objects on one by one and keeps
 * only their names, uids and versions.
 * Source: kubernetes.io, "Kubernetes API Concepts", efficient detection of changes.
 */
#pragma once

#include "kube/client.h"

#include "common/strbuf.h"

struct kube_watch;

struct kube_watch_events {
    /* An object is new or has changed. Another object under a known name: deleted comes
     * first. */
    void (*changed) (json_t *object, bool is_new, void *arg);
    /* object: its last state, NULL: not known (a new list does not have it). */
    void (*deleted) (const char *ns, const char *name, json_t *object, void *arg);
    /* The view is complete: after the first list, and after each later one. */
    void (*listed) (void *arg);
};

/* selector: further query terms or NULL. NULL: no memory. Callbacks never come from
 * within this call. */
struct kube_watch *kube_watch_start (struct kube *k, const char *path,
                                     const char *selector,
                                     const struct kube_watch_events *ev, void *arg,
                                     struct error *err);
void kube_watch_stop (struct kube_watch *w); /* not from within its callbacks */

#define KUBE_LINE_MAX (16 << 20) /* bytes of an item, or an event */

/* The decoder of a list: finds whole items in pieces of any size. */
#define KUBE_AROUND_MAX (64 << 10)
struct kube_list {
    enum { KUBE_LIST_AROUND, KUBE_LIST_BETWEEN, KUBE_LIST_ITEM } where;
    unsigned outer, inner; /* open brackets: of the list, of the item */
    bool in_string, escaped;
    struct strbuf around, item;
};
void kube_list_init (struct kube_list *l);
void kube_list_release (struct kube_list *l);
/* Calls fn for each whole item; a non-zero result of fn ends the call and is returned.
 * -EBADMSG (and err): this is no list of objects with names. */
int kube_list_feed (struct kube_list *l, const char *data, size_t len,
                    int (*fn) (json_t *item, void *arg), void *arg, struct error *err);
/* Called after the last piece. Returns the list's resourceVersion, shorter than size
 * bytes. -EBADMSG: the list was not whole, or no list. */
int kube_list_end (struct kube_list *l, char *ret_version, size_t size,
                   struct error *err);

/* The decoder of the stream: lines of JSON, each an event. */
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
struct kube_decoder {
    struct strbuf line;
};
void kube_decoder_init (struct kube_decoder *d);
void kube_decoder_release (struct kube_decoder *d);
/* Calls fn for each whole line; a non-zero result of fn ends the call and is returned.
 * -EBADMSG (and err): a line is no event. Skips unknown event types. */
int kube_decoder_feed (struct kube_decoder *d, const char *data, size_t len,
                       int (*fn) (const struct kube_event *e, void *arg), void *arg,
                       struct error *err);

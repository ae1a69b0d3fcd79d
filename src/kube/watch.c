/* watch.c - see watch.h
 *
 *   list --whole--> watch --ends--> watch (from the last version)
 *     ^               |
 *     +-- 410 Gone, or 3 bad streams
 */
#include "kube/watch.h"

#include <uthash.h>

#include "common/json.h"
#include "common/log.h"

#define WATCH_SECONDS 290
#define IDLE_SECONDS 130.0 /* bookmarks come about once a minute */
#define BAD_STREAMS_MAX 3
#define VERSION_MAX 129

struct known {
    char *key; /* "NS/NAME" */
    char uid[64];
    char version[VERSION_MAX];
    unsigned round; /* of the last list that had it */
    UT_hash_handle hh;
};

struct kube_watch {
    struct kube *k;
    char *path, *selector;
    const struct kube_watch_events *ev;
    void *arg;
    struct known *known;
    unsigned round;
    char version[VERSION_MAX];
    struct httpc_request *stream; /* of the list, or of the watch */
    struct kube_list list;
    struct kube_decoder decoder;
    uv_timer_t timer;
    bool relist;
    bool progress; /* the stream has brought data */
    bool bad_data; /* ... which cannot be decoded */
    bool warned;
    unsigned bad; /* consecutive failures */
};

static void list_start (struct kube_watch *w);
static void stream_start (struct kube_watch *w);

/* -- the picture -- */

static const char *meta_string (json_t *object, const char *key)
{
    json_t *meta = json_object_get (object, "metadata");
    const char *s = json_string_value (json_object_get (meta, key));

    return s ? s : "";
}

static struct known *find (struct kube_watch *w, json_t *object, char key[512])
{
    struct known *kn;

    snprintf (key, 512, "%s/%s", meta_string (object, "namespace"),
              meta_string (object, "name"));
    HASH_FIND_STR (w->known, key, kn);
    return kn;
}

static void forget (struct kube_watch *w, struct known *kn, json_t *object)
{
    char *slash = strchr (kn->key, '/');

    HASH_DEL (w->known, kn);
    *slash = 0;
    if (w->ev->deleted)
        w->ev->deleted (kn->key, slash + 1, object, w->arg);
    free (kn->key);
    free (kn);
}

static void saw (struct kube_watch *w, json_t *object)
{
    char key[512];
    struct known *kn = find (w, object, key);
    const char *uid = meta_string (object, "uid");
    bool is_new = false;

    if (kn && strncmp (kn->uid, uid, sizeof (kn->uid) - 1) != 0) {
        forget (w, kn, NULL);
        kn = NULL;
    }
    if (!kn) {
        kn = calloc (1, sizeof (*kn));
        if (!kn || !(kn->key = strdup (key))) {
            free (kn);
            log_error ("kube: no memory for %s", key);
            return;
        }
        snprintf (kn->uid, sizeof (kn->uid), "%s", uid);
        HASH_ADD_KEYPTR (hh, w->known, kn->key, strlen (kn->key), kn);
        is_new = true;
    }
    kn->round = w->round;
    if (!is_new && strcmp (kn->version, meta_string (object, "resourceVersion")) == 0)
        return;
    snprintf (kn->version, sizeof (kn->version), "%s",
              meta_string (object, "resourceVersion"));
    w->ev->changed (object, is_new, w->arg);
}

/* The list is complete: objects that were not seen in this round are gone. */
static void complete (struct kube_watch *w)
{
    struct known *kn, *tmp;

    HASH_ITER (hh, w->known, kn, tmp) {
        if (kn->round != w->round)
            forget (w, kn, NULL);
    }
    w->relist = w->warned = false;
    w->bad = 0;
    if (w->ev->listed)
        w->ev->listed (w->arg);
}

/* -- trying again -- */

static void on_timer (uv_timer_t *timer)
{
    struct kube_watch *w = timer->data;

    if (w->relist)
        list_start (w);
    else
        stream_start (w);
}

static void again (struct kube_watch *w, double delay)
{
    uv_timer_start (&w->timer, on_timer, (uint64_t)(delay * 1000), 0);
}

static void warn (struct kube_watch *w, const char *text)
{
    if (!w->warned)
        log_warning ("kube: %s: %s (tried again)", w->path, text);
    w->warned = true;
}

/* -- answers -- */

static bool is_lost (const struct kube_watch *w, const struct httpc_response *resp)
{
    return resp->status == 0 && !w->bad_data;
}

static void warn_refused (struct kube_watch *w, const struct httpc_response *resp)
{
    autojson json_t *body = json_parse (resp->body, resp->len, "answer", NULL);
    const char *reason;
    struct error err = { 0 };

    kube_explain (resp->status, resp->body, body, &reason, &err);
    warn (w, err.text);
}

/* Reports a stream that did not end well. */
static void tell_trouble (struct kube_watch *w, const struct httpc_response *resp)
{
    if (is_lost (w, resp))
        kube_notice (w->k, &resp->err);
    else if (resp->status != 0 && resp->status != 200
             && !(resp->status == 403 && kube_is_fresh (w->k)))
        warn_refused (w, resp);
}

static int on_piece (struct kube_watch *w, int rc, const struct error *err)
{
    kube_notice (w->k, NULL);
    if (rc == -EBADMSG) {
        warn (w, err->text[0] ? err->text : "the watch reports an error");
        w->progress = false;
        w->bad_data = true;
    }
    return rc;
}

static void stream_open (struct kube_watch *w, const char *path,
                         int (*on_data) (const char *data, size_t len, void *arg),
                         void (*on_done) (const struct httpc_response *resp, void *arg))
{
    struct error err = { 0 };

    w->progress = w->bad_data = false;
    w->stream =
        path ? kube_stream (w->k, path, IDLE_SECONDS, on_data, on_done, w, &err) : NULL;
    if (!w->stream)
        again (w, 1.0);
}

/* -- list -- */

static int on_item (json_t *item, void *arg)
{
    saw (arg, item);
    return 0;
}

static int on_list_data (const char *data, size_t len, void *arg)
{
    struct kube_watch *w = arg;
    struct error err = { 0 };
    int rc = kube_list_feed (&w->list, data, len, on_item, w, &err);

    return on_piece (w, rc, &err);
}

static void on_list_done (const struct httpc_response *resp, void *arg)
{
    struct kube_watch *w = arg;
    struct error err = { 0 };

    w->stream = NULL;
    if (resp->status == 200
        && kube_list_end (&w->list, w->version, sizeof (w->version), &err) == 0) {
        complete (w);
        stream_start (w);
        return;
    }
    if (resp->status == 200)
        warn (w, err.text);
    tell_trouble (w, resp);
    again (w, MAX (kube_backoff (++w->bad), resp->retry_after));
}

static void list_start (struct kube_watch *w)
{
    autostrbuf struct strbuf path = STRBUF_INIT (4000);

    kube_list_release (&w->list);
    kube_list_init (&w->list);
    w->round++;
    strbuf_adds (&path, w->path);
    if (w->selector)
        strbuf_addf (&path, "?%s", w->selector);
    stream_open (w, path.err ? NULL : path.buf, on_list_data, on_list_done);
}

/* -- watch -- */

static int on_event (const struct kube_event *e, void *arg)
{
    struct kube_watch *w = arg;
    char key[512];
    struct known *kn;

    w->progress = true;
    if (e->type == KUBE_ERROR) {
        w->relist =
            true; /* mostly 410 Gone; after other errors a list does no harm */
        return e->code == 410 ? -ESTALE : -EBADMSG;
    }
    if (e->type == KUBE_DELETED) {
        kn = find (w, e->object, key);
        if (kn)
            forget (w, kn, e->object);
    } else if (e->type != KUBE_BOOKMARK)
        saw (w, e->object);
    snprintf (w->version, sizeof (w->version), "%s", e->version);
    return 0;
}

static int on_data (const char *data, size_t len, void *arg)
{
    struct kube_watch *w = arg;
    struct error err = { 0 };
    int rc = kube_decoder_feed (&w->decoder, data, len, on_event, w, &err);

    return on_piece (w, rc, &err);
}

static void on_done (const struct httpc_response *resp, void *arg)
{
    struct kube_watch *w = arg;

    w->stream = NULL;
    if (resp->status == 410 || w->relist) {
        w->relist = true;
        again (w, w->progress ? 0.05 : kube_backoff (++w->bad));
        return;
    }
    if (w->progress || (resp->status == 200 && w->bad == 0)) {
        w->bad = 0;
        w->warned = false;
        again (w, 0.1); /* the normal end of a watch */
        return;
    }
    tell_trouble (w, resp);
    /* After a lost connection the version stays valid; an undecodable stream may never
     * become better. */
    if (++w->bad >= BAD_STREAMS_MAX && !is_lost (w, resp))
        w->relist = true;
    again (w, kube_backoff (w->bad));
}

static void stream_start (struct kube_watch *w)
{
    autostrbuf struct strbuf path = STRBUF_INIT (4000);

    kube_decoder_release (&w->decoder);
    strbuf_addf (&path,
                 "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=",
                 w->path, WATCH_SECONDS);
    strbuf_add_urlencoded (&path, w->version);
    if (w->selector)
        strbuf_addf (&path, "&%s", w->selector);
    stream_open (w, path.err ? NULL : path.buf, on_data, on_done);
}

/* -- life -- */

struct kube_watch *kube_watch_start (struct kube *k, const char *path,
                                     const char *selector,
                                     const struct kube_watch_events *ev, void *arg,
                                     struct error *err)
{
    struct kube_watch *w = calloc (1, sizeof (*w));

    if (w) {
        w->path = strdup (path);
        w->selector = selector ? strdup (selector) : NULL;
    }
    if (!w || !w->path || (selector && !w->selector)) {
        if (w)
            free (w->path);
        free (w);
        return error_null (error_set (err, ENOMEM, "out of memory"));
    }
    w->k = k;
    w->ev = ev;
    w->arg = arg;
    w->relist = true;
    kube_list_init (&w->list);
    kube_decoder_init (&w->decoder);
    uv_timer_init (kube_loop (k), &w->timer);
    w->timer.data = w;
    list_start (w);
    return w;
}

static void on_closed (uv_handle_t *handle)
{
    free (handle->data);
}

void kube_watch_stop (struct kube_watch *w)
{
    struct known *kn, *tmp;

    if (!w)
        return;
    httpc_cancel (w->stream);
    HASH_ITER (hh, w->known, kn, tmp) {
        HASH_DEL (w->known, kn);
        free (kn->key);
        free (kn);
    }
    kube_decoder_release (&w->decoder);
    kube_list_release (&w->list);
    free (w->path);
    free (w->selector);
    uv_close ((uv_handle_t *)&w->timer, on_closed);
}

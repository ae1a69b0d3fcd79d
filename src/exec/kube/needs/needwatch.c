/* needwatch.c - finds existing objects of needs, and deletes unwanted ones (see
 * needs.h) */
#include "exec/kube/needs/needs_private.h"

#include "common/log.h"
#include "exec/kube/core/kspace.h"
#include "kube/object.h"

struct seen *needs_seen (const struct exec *x, bool pod, const char *name,
                         char key[SEEN_NAME_MAX])
{
    struct seen *s;

    snprintf (key, SEEN_NAME_MAX, "%s/%s", pod ? "pods" : "provisioningrequests", name);
    HASH_FIND_STR (x->needs->seen, key, s);
    return s;
}

/* The request of a need, made by this broker or an earlier one. */
void needs_apply (struct kneed *n, const struct seen *s)
{
    if (s->pod || n->phase != WAITING)
        return;
    snprintf (n->text, sizeof (n->text), "%s", s->text);
    if (s->phase == NEED_REFUSED) {
        needs_retry_later (n, "", NULL);
        log_warning ("kube: job %ju: nodes of group %s: %s", (uintmax_t)n->job,
                     n->group->name, n->text);
    } else if (s->phase == NEED_PROVISIONED)
        n->failures = 0;
}

/* -- objects that exist -- */

static bool is_wanted (const struct exec *x, const struct seen *s)
{
    const struct kneed *n = needs_find (x, s->job, s->group);

    return n && n->attempt == s->attempt && n->phase != RETRY && n->count > 0
           && s->pod == (n->group->provision == PROVISION_PODS);
}

static void on_removed (const struct kube_result *res, void *arg)
{
    struct need_call *c = arg;
    struct exec *x = c->x;
    struct seen *s = NULL;

    if (c->name)
        HASH_FIND_STR (x->needs->seen, c->name, s);
    if (!need_call_is_fine (res) && res->status != 404) {
        log_warning ("kube: requests for nodes cannot be removed: %s", res->err.text);
        if (s)
            s->stuck = true;
        if (s)
            needs_poke (x, s->job);
    }
    need_call_free (c);
}

/* name: "KIND/NAME" */
static void remove_object (struct exec *x, const char *prefix, const char *name,
                           bool is_seen)
{
    char path[512];

    snprintf (path, sizeof (path), "%s%s/%s", prefix, x->space->name, name);
    need_call_send ((struct need_call){ .x = x, .name = is_seen ? strdup (name) : NULL },
                    "DELETE", path, NULL, on_removed);
}

static void remove_template (struct exec *x, const char *name)
{
    char full[NEED_NAME_MAX + 16];

    snprintf (full, sizeof (full), "podtemplates/%s", name);
    remove_object (x, PATH_CORE, full, false);
}

void needs_drop_strays (struct exec *x)
{
    struct seen *s, *tmp;

    if (!x->needs->told)
        return;
    HASH_ITER (hh, x->needs->seen, s, tmp) {
        bool may_be_adopted = !s->pod && !x->needs->listed; /* see needs_make() */
        if (s->deleted || may_be_adopted || is_wanted (x, s))
            continue;
        s->deleted = true;
        remove_object (x, s->pod ? PATH_CORE : PATH_REQUESTS, s->name, true);
        if (!s->pod)
            remove_template (x, strchr (s->name, '/') + 1);
    }
}

/* NULL: it is none of ours, or there is no memory. */
static struct seen *see (struct exec *x, const json_t *object, bool pod)
{
    const json_t *meta = json_object_get (object, "metadata");
    const char *name = json_string_value (json_object_get (meta, "name"));
    const char *ns = json_string_value (json_object_get (meta, "namespace"));
    struct seen like = { .pod = pod }, *s;
    char key[SEEN_NAME_MAX];

    if (!name || !ns || strcmp (ns, x->space->name) != 0
        || need_owner (meta, x->host.cluster_id, &like.job, like.group, &like.attempt)
               < 0)
        return NULL;
    if ((s = needs_seen (x, pod, name, key)))
        return s;
    if (!(s = malloc (sizeof (*s))))
        return NULL;
    *s = like;
    s->created = kube_time_read (json_text (meta, "creationTimestamp"));
    if (!(s->name = strdup (key))) {
        free (s);
        return NULL;
    }
    HASH_ADD_KEYPTR (hh, x->needs->seen, s->name, strlen (s->name), s);
    return s;
}

static void unsee (struct exec *x, bool pod, const char *ns, const char *name)
{
    char key[SEEN_NAME_MAX];
    struct seen *s = needs_seen (x, pod, name, key);
    uint64_t job;

    if (!s || strcmp (ns, x->space->name) != 0)
        return;
    struct kneed *n = needs_find (x, s->job, s->group);
    if (n && n->attempt == s->attempt && n->phase == WAITING)
        needs_retry_later (n, "somebody has removed", s->deleted ? NULL : s->name);
    job = s->job;
    HASH_DEL (x->needs->seen, s);
    free (s->name);
    free (s);
    needs_poke (x, job);
}

void needs_see_pod (struct exec *x, const json_t *pod)
{
    if (x->needs && see (x, pod, true))
        needs_drop_strays (x);
}

void needs_lose_pod (struct exec *x, const char *ns, const char *name)
{
    if (x->needs)
        unsee (x, true, ns, name);
}

static void on_request_changed (json_t *request, bool is_new, void *arg)
{
    struct exec *x = arg;
    struct seen *s = see (x, request, false);
    struct kneed *n = s ? needs_find (x, s->job, s->group) : NULL;

    (void)is_new;
    if (!s)
        return;
    s->count = need_count (request);
    s->phase = need_conditions (request, s->text);
    if (n && n->attempt == s->attempt)
        needs_apply (n, s);
    needs_drop_strays (x);
}

static void on_request_deleted (const char *ns, const char *name, json_t *request,
                                void *arg)
{
    (void)request;
    unsee (arg, false, ns, name);
}

static void on_requests_listed (void *arg)
{
    struct exec *x = arg;

    x->needs->listed = true;
    needs_look (x);
}

/* -- sweep and watch -- */

static void on_templates (const struct kube_result *res, void *arg)
{
    struct need_call *c = arg;
    struct exec *x = c->x;
    char group[GROUP_NAME_MAX + 1];
    uint64_t job;
    unsigned attempt;
    json_t *item;
    size_t i;

    if (res->status != 200)
        log_warning ("kube: sweep: %s", res->err.text);
    json_array_foreach (json_object_get (res->body, "items"), i, item) {
        const json_t *meta = json_object_get (item, "metadata");
        const char *name = json_string_value (json_object_get (meta, "name"));
        if (!name || need_owner (meta, x->host.cluster_id, &job, group, &attempt) < 0)
            continue;
        const struct kneed *n = needs_find (x, job, group);
        if (n && n->attempt == attempt && n->phase != RETRY)
            continue;
        log_info ("kube: sweep: podtemplates/%s belongs to no job", name);
        remove_template (x, name);
    }
    need_call_free (c);
}

void needs_sweep (struct exec *x)
{
    struct seen *s, *tmp;
    char path[512];

    if (!x->needs || !x->needs->told)
        return;
    HASH_ITER (hh, x->needs->seen, s, tmp) {
        s->deleted &= !s->stuck;
    }
    needs_drop_strays (x);
    if (!x->needs->uses_requests)
        return;
    snprintf (path, sizeof (path), PATH_CORE "%s/podtemplates?" SELECTOR_OURS,
              x->space->name, x->host.cluster_id);
    need_call_send ((struct need_call){ .x = x }, "GET", path, NULL, on_templates);
}

int needs_watch (struct exec *x, struct error *err)
{
    static const struct kube_watch_events events = { .changed = on_request_changed,
                                                     .deleted = on_request_deleted,
                                                     .listed = on_requests_listed };
    char path[512], selector[256];

    snprintf (path, sizeof (path), PATH_REQUESTS "%s/provisioningrequests",
              x->space->name);
    snprintf (selector, sizeof (selector), SELECTOR_OURS, x->host.cluster_id);
    x->needs->watch = kube_watch_start (x->kube, path, selector, &events, x, err);
    return x->needs->watch ? 0 : -ENOMEM;
}

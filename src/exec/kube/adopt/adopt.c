/* adopt.c - watches others' objects, and asks the broker to make jobs of them (see
 * adopt.h) */
#include "exec/kube/adopt/adopt.h"

#include "common/clock.h"
#include "common/log.h"

#define REFUSED_AGAIN 60.0 /* seconds until a refused object is tried again: nodes, users
                            * and queues change */
#define BUSY_AGAIN 2.0
#define GROUP_SHORT 5.0 /* seconds without a new pod until a group counts as short */

/* -- answers to requests -- */

static bool is_refusal (const struct kube_result *res)
{
    return res->status < 200 || res->status > 299;
}

void adopt_call_answered (struct adoptee *a, const struct acall *c,
                          const struct kube_result *res)
{
    switch (c->kind) {
    case ADOPT_CALL_RESET:
        adopt_reset (a, res);
        break;
    case ADOPT_CALL_RELEASE:
        adopt_released (a, res);
        break;
    case ADOPT_CALL_PLACE:
        adopt_placed (a, c->pod, res);
        break;
    case ADOPT_CALL_EVENT: /* it is for people only */
    case ADOPT_CALL_NOTE:
    case ADOPT_CALL_SUSPEND:
    case ADOPT_CALL_DELETE:
    case ADOPT_CALL_DEADLINE:
    case ADOPT_CALL_POD:
        if (is_refusal (res) && res->status != 404)
            log_warning ("kube: %s/%s: %s", a->namespace_, a->name, res->err.text);
        break;
    }
}

/* -- becoming a job -- */

static void refuse (struct adoptee *a, const char *text)
{
    bool news = strcmp (a->text, text) != 0 || strcmp (a->state, "REFUSED") != 0;

    a->refused_gen = a->view.generation;
    a->ask_at = clock_mono () + REFUSED_AGAIN;
    snprintf (a->state, sizeof (a->state), "REFUSED");
    snprintf (a->text, sizeof (a->text), "%s", text);
    a->warn = true;
    if (news)
        log_info ("kube: adopt: %s/%s is refused: %s", a->namespace_, a->name, text);
    adopt_poke (a);
}

/* The priority class of the pods, from the first pod or the template. */
static const char *priority_class_of (const struct adoptee *a)
{
    const json_t *pod =
        a->group ? adoptgroup_pod (a)
                 : json_object_get (json_object_get (a->object, "spec"), "template");

    return json_text (json_object_get (pod, "spec"), "priorityClassName");
}

static void ask (struct adoptee *a)
{
    struct exec *x = a->x;
    const struct adoptspec_how how = { .gpu_resource = x->cfg.gpu_resource,
                                       .fractional_cpu = x->cfg.fractional_cpu };
    const json_t *meta =
        json_object_get (a->group ? adoptgroup_pod (a) : a->object, "metadata");
    const char *owner = adopt_owner (a, meta);
    struct error err = { 0 };
    char name[512];

    if (!*owner) {
        refuse (a, "nobody's: the namespace has no user in kube.adopt.namespaces, and "
                   "there is no " ADOPT_OWNER " that is believed");
        return;
    }
    autojson json_t *js = a->group ? adoptgroup_spec (a, &how, &err)
                                   : adoptspec_of_job (a->object, &how, &err);
    if (!js) {
        refuse (a, err.text);
        return;
    }
    snprintf (name, sizeof (name), "%s %s/%s", a->group ? "Pods" : "Job", a->namespace_,
              a->name);
    const struct exec_foreign f = {
        .key = a->token,
        .name = name,
        .owner = owner,
        .urgency = adoptconfig_urgency (&x->cfg.adopt, priority_class_of (a)),
        .jobspec = js,
    };
    a->asked = true;
    x->host.adopt (x->host.arg, &f);
}

/* Reports how many pods a group lacks if no more pods come; again only after a change. */
static void tell_short (struct adoptee *a, double now)
{
    unsigned there = adoptgroup_count (a);
    char text[sizeof (a->text)];

    if (there == 0 || now < a->grew_at + GROUP_SHORT)
        return;
    snprintf (text, sizeof (text), "%u of its %u pods are there (" ADOPT_GROUP_SIZE "): it "
              "waits for the others",
              there, (unsigned)a->size);
    if (strcmp (a->state, "INCOMPLETE") == 0 && strcmp (a->text, text) != 0)
        a->reported[0] = '\0';
    snprintf (a->state, sizeof (a->state), "INCOMPLETE");
    snprintf (a->text, sizeof (a->text), "%s", text);
    a->warn = true;
}

static void consider_group (struct adoptee *a, double now)
{
    struct error err = { 0 };

    if (adoptgroup_is_whole (a, &err))
        ask (a);
    else if (err.code)
        refuse (a, err.text);
    else
        tell_short (a, now);
}

/* Whether all of its work has succeeded, so that the Job controller will complete it. */
static bool is_about_to_end (const struct adoptee *a)
{
    return !a->group
           && (a->view.ending
               || (a->view.parallelism > 0
                   && adoptview_wanted (&a->view, a->view.parallelism, a->view.succeeded)
                          == 0));
}

/* The Job was created without `suspend: true`, and started before the broker saw it. */
static void tell_if_unqueued (struct adoptee *a)
{
    if (a->id || a->asked || a->group || !a->was_open || !a->view.over
        || adoptview_is_end (a->state))
        return;
    snprintf (a->state, sizeof (a->state), "ENDED");
    snprintf (a->text, sizeof (a->text),
              "it ended before it was queued, so it ran outside of the queue; a Job "
              "created with suspend: true waits for its turn");
    a->warn = true;
}

static void consider (struct adoptee *a, double now)
{
    if (a->id || a->asked || (!a->object && !a->group) || !a->seen || a->view.over
        || a->view.deleting || !a->x->swept || !a->x->adopt->policy_known
        || adoptview_is_end (a->view.status) || is_about_to_end (a))
        return;
    if (now < a->ask_at && a->refused_gen == a->view.generation)
        return;
    if (a->group)
        consider_group (a, now);
    else
        ask (a);
}

void adopt_answered (struct exec *x, const char *key, uint64_t id, bool again,
                     const char *text)
{
    struct adoptee *a = adopt_find (x, key);

    if (!a)
        return;
    a->asked = false;
    if (id) {
        a->id = id;
        a->warn = false;
        json_decref (a->object);
        a->object = NULL;
        adoptgroup_known (a);
        if (strcmp (a->state, "REFUSED") == 0 || strcmp (a->state, "INCOMPLETE") == 0)
            a->state[0] = '\0';
        /* the job may start at once */
        a->reported_at = clock_mono () - ADOPT_REPORT_EVERY + 1;
    } else if (again) {
        a->ask_at = clock_mono () + BUSY_AGAIN;
        a->refused_gen = a->view.generation;
    } else
        refuse (a, text);
    adopt_poke (a);
}

void adopt_state (struct exec *x, const struct exec_foreign_state *s)
{
    struct adoptee *a = adopt_find (x, s->key);

    if (!x->adopt || (!a && s->ended))
        return;
    if (a && a->id != s->id && s->ended && strcmp (a->token, s->key) != 0)
        return; /* an old group of that name */
    if (!a && !(a = adopt_get (x, s->key, s->name))) {
        log_error ("job %ju: out of memory", (uintmax_t)s->id);
        return;
    }
    a->id = s->id;
    snprintf (a->token, sizeof (a->token), "%s", s->key);
    json_decref (a->object);
    a->object = NULL;
    a->active = s->active;
    a->ended = s->ended;
    a->cancelled = s->cancelled;
    snprintf (a->state, sizeof (a->state), s->reason[0] ? "%.32s (%.48s)" : "%.32s",
              s->state, s->reason);
    snprintf (a->text, sizeof (a->text), "%s", s->text);
    adopt_poke (a);
}

/* -- as the watch tells -- */

static void on_changed (json_t *object, bool is_new, void *arg)
{
    struct adoptspace *space = arg;
    const json_t *meta = json_object_get (object, "metadata");
    const json_t *pod = json_object_get (
        json_object_get (json_object_get (object, "spec"), "template"), "spec");
    char key[ADOPT_KEY_MAX], name[512];

    (void)is_new;
    snprintf (key, sizeof (key), "job:%.100s", json_text (meta, "uid"));
    snprintf (name, sizeof (name), "Job %s/%s", json_text (meta, "namespace"),
              json_text (meta, "name"));
    struct adoptee *a = adopt_get (space->x, key, name);
    if (!a) {
        log_error ("kube: %s: out of memory", name);
        return;
    }
    a->seen = true;
    adoptview_read (object, &a->view);
    a->was_open |= !a->view.over;
    json_decref (a->object);
    a->object = a->id ? NULL : json_incref (object);
    json_decref (a->tolerations);
    a->tolerations = json_incref (json_object_get (pod, "tolerations"));
    adopt_poke (a);
}

static void on_deleted (const char *ns, const char *name, json_t *object, void *arg)
{
    struct adoptspace *space = arg;
    struct adoptee *a, *tmp;
    char key[ADOPT_KEY_MAX];

    if (object) {
        snprintf (key, sizeof (key), "job:%.100s",
                  json_text (json_object_get (object, "metadata"), "uid"));
        if ((a = adopt_find (space->x, key))) {
            a->seen = false;
            adopt_poke (a);
        }
        return;
    }
    HASH_ITER (hh, space->x->adopt->all, a, tmp) {
        if (a->seen && strcmp (a->name, name) == 0 && strcmp (a->namespace_, ns) == 0
            && !a->group) {
            a->seen = false;
            adopt_poke (a);
        }
    }
}

static void on_listed (void *arg)
{
    struct adoptspace *space = arg;
    struct adoptee *a, *tmp;

    space->listed = true;
    HASH_ITER (hh, space->x->adopt->all, a, tmp) {
        if (a->space == space)
            adopt_poke (a);
    }
}

/* -- timers -- */

/* Handles the deletion of the Job, also one while no broker watched. */
static void look_if_gone (struct adoptee *a)
{
    struct exec_host *host = &a->x->host;
    char text[512];

    if (a->seen || !a->id || a->ended || a->gone_told || !a->space || !a->space->listed
        || !a->x->swept || !a->x->pods_listed)
        return;
    a->gone_told = true;
    if (a->group)
        snprintf (text, sizeof (text), "its pods, group %.63s/%.253s, were deleted",
                  a->namespace_, a->name);
    else
        snprintf (text, sizeof (text),
                  "its Job %.63s/%.253s was deleted, or lost its label", a->namespace_,
                  a->name);
    host->adopt_gone (host->arg, a->id, text);
}

/* Suspends a Job that runs although its job does not. */
static void keep_suspended (struct adoptee *a)
{
    if (a->x->swept && a->space && !a->active && !a->job && !a->view.suspended
        && !a->group)
        adopt_suspend (a);
}

static void delete_cancelled (struct adoptee *a)
{
    char path[512];

    if (!a->x->cfg.adopt.delete_cancelled || !a->cancelled || !a->ended || !a->seen
        || a->view.deleting || a->view.over || a->job
        || adopt_is_calling (a, ADOPT_CALL_DELETE))
        return;
    if (a->group) {
        adoptgroup_remove (a, true);
        return;
    }
    adopt_path (a, path, sizeof (path));
    adopt_send (a, ADOPT_CALL_DELETE, "DELETE", path,
                json_pack ("{s:s s:s s:s s:{s:s}}", "apiVersion", "v1", "kind",
                           "DeleteOptions", "propagationPolicy", "Background",
                           "preconditions", "uid", adopt_uid (a)),
                NULL);
}

static void step (struct adoptee *a, double now)
{
    if (a->group) {
        adoptgroup_view (a);
        adoptgroup_renew (a);
    }
    look_if_gone (a);
    adopt_heal (a);
    if (a->job) {
        adopt_report (a, now);
        adopt_step (a);
        return;
    }
    consider (a, now);
    tell_if_unqueued (a);
    keep_suspended (a);
    delete_cancelled (a);
    adopt_report (a, now);
    adoptee_try_free (a);
}

void adopt_run_poked (struct exec *x)
{
    struct adoptee *a, *list;
    double now = clock_mono ();

    if (!x->adopt)
        return;
    list = x->adopt->poked;
    x->adopt->poked = NULL;
    while ((a = list)) {
        list = a->next_poked;
        a->poked = false;
        step (a, now);
    }
}

void adopt_tick (struct exec *x, double now)
{
    struct adoptee *a, *tmp;

    if (!x->adopt)
        return;
    adopt_look_at_policy (x->adopt, now);
    HASH_ITER (hh, x->adopt->all, a, tmp) {
        adopt_poke (a);
    }
}

/* -- life -- */

static const struct kube_watch_events events = { .changed = on_changed,
                                                 .deleted = on_deleted,
                                                 .listed = on_listed };

static int start_space (struct adoptspace *s, struct error *err)
{
    char path[256];

    snprintf (path, sizeof (path), PATH_BATCH "%s/jobs", s->name);
    s->watch = kube_watch_start (s->x->kube, path, "labelSelector=fluxq.io%2Fqueue",
                                 &events, s, err);
    return s->watch ? 0 : error_set (err, ENOMEM, "out of memory");
}

int adopt_start (struct exec *x, struct error *err)
{
    json_t *names = x->cfg.adopt.namespaces, *owner;
    const char *name;
    int rc = 0;

    x->adopt = calloc (1, sizeof (*x->adopt));
    if (!x->adopt)
        return error_set (err, ENOMEM, "out of memory");
    x->adopt->x = x;
    x->adopt->spaces = calloc (json_object_size (names) + 1, sizeof (*x->adopt->spaces));
    if (!x->adopt->spaces)
        return error_set (err, ENOMEM, "out of memory");
    json_object_foreach (names, name, owner) {
        struct adoptspace *s = &x->adopt->spaces[x->adopt->nspaces++];

        s->x = x;
        s->name = name;
        if (rc == 0)
            rc = start_space (s, err);
    }
    adopt_look_at_policy (x->adopt, clock_mono ());
    return rc;
}

void adopt_stop (struct exec *x)
{
    struct adopt *d = x->adopt;
    struct adoptee *a, *tmp;
    struct adoptpod *ap, *more;

    if (!d)
        return;
    kube_cancel (d->policy_req);
    for (size_t i = 0; i < d->nspaces; i++)
        kube_watch_stop (d->spaces[i].watch);
    HASH_ITER (hh, d->all, a, tmp) {
        adoptee_free (a);
    }
    DL_FOREACH_SAFE (d->orphans, ap, more)
    {
        ap->p->adopt = NULL;
        free (ap);
    }
    free (d->spaces);
    free (d);
    x->adopt = NULL;
}

/* spacemaker.c - checks a namespace, and makes it, before jobs start there (see
 * spaces.h)
 *
 *   LOOK --there, and for these jobs--+
 *    |                                v
 *    +--not there--> MAKE --> WHOAMI, OBJECTS --> SETTLE --> SPACE_READY
 *
 * Only for a queue with a template or with namespace-create; any other namespace is
 * assumed to exist. Missing objects in a namespace of ours are made before the first job
 * starts there, and again after a refusal there. Existing objects stay as they are. For
 * a moment the API server does not know a role that was just bound, and rejects objects
 * until it has counted a new quota: SETTLE waits for both.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/namespaces/spaces.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/rights.h"
#include "exec/kube/namespaces/spaceobjects.h"
#include "exec/namespaces.h"

#define SETTLE_WAIT 10.0
#define REVIEWS "/apis/authentication.k8s.io/v1/selfsubjectreviews"

struct spacemaker {
    struct kspace *s;
    bool look_only;
    bool literal, create, is_users;
    uid_t uid;
    char *user;
    json_t *set, *objects;
    size_t next; /* index in objects */
    struct kube_request *req;
    struct rights_call *rights;
    bool is_bound, is_counted; /* the role is known, the quota is counted */
    double settle_until;       /* clock_mono(); 0: not in SETTLE yet */
};

static void make (struct spacemaker *m);
static void make_next (struct spacemaker *m);

static struct space_source source_of (const struct spacemaker *m)
{
    const struct exec *x = m->s->x;

    return (struct space_source){ .cluster = x->host.cluster_id,
                                  .name = m->s->name,
                                  .set = m->set,
                                  .restricted = x->cfg.restricted,
                                  .is_users = m->is_users,
                                  .uid = m->uid,
                                  .user = m->user,
                                  .subject = x->whoami };
}

static void maker_free (struct spacemaker *m)
{
    kube_cancel (m->req);
    rights_cancel (m->rights);
    json_decref (m->set);
    json_decref (m->objects);
    free (m->user);
    free (m);
}

void space_cancel (struct kspace *s)
{
    if (s->maker)
        maker_free (s->maker);
    s->maker = NULL;
}

/* -- the end -- */

static void finish (struct spacemaker *m, enum space_state state)
{
    struct kspace *s = m->s;

    s->state = state;
    s->literal = m->literal;
    s->is_users = m->is_users;
    s->uid = m->uid;
    space_cancel (s);
    space_poke_jobs (s);
}

static void fail (struct spacemaker *m, bool retry, const char *what, const char *why)
{
    struct kspace *s = m->s;

    error_set (&s->err, EPERM, "namespace %s%s%s: %s", s->name, what[0] ? ": " : "", what,
               why);
    s->retry = retry;
    log_error ("kube: %s", s->err.text);
    finish (m, m->look_only ? SPACE_THERE : SPACE_UNKNOWN);
}

static void ask (struct spacemaker *m, const char *method, const char *path, json_t *body,
                 kube_done_f *done)
{
    m->req = kube_send (m->s->x->kube, method, path, body, done, m);
    if (!m->req)
        fail (m, true, "", "out of memory");
}

/* -- until it can be used -- */

static void settle (struct spacemaker *m);

/* The time of SETTLE is over: a request that still fails reports the reason. */
static bool is_late (const struct spacemaker *m)
{
    return clock_mono () > m->settle_until;
}

static void on_rights (const char *missing, void *arg)
{
    struct spacemaker *m = arg;

    m->rights = NULL;
    m->is_bound = !missing[0] || is_late (m);
    if (m->is_bound)
        settle (m);
}

static void on_quota (const struct kube_result *res, void *arg)
{
    struct spacemaker *m = arg;
    const json_t *status = json_object_get (res->body, "status");

    m->req = NULL;
    m->is_counted = res->status != 200 || json_object_get (status, "hard") || is_late (m);
    if (m->is_counted)
        settle (m);
}

static void settle (struct spacemaker *m)
{
    char path[256];

    if (json_object_get (m->set, "quota") && !m->is_counted) {
        snprintf (path, sizeof (path), "/api/v1/namespaces/%s/resourcequotas/%s",
                  m->s->name, SPACE_QUOTA);
        ask (m, "GET", path, NULL, on_quota);
    } else if (json_object_get (m->set, "namespace-role") && !m->is_bound) {
        m->rights = rights_ask (m->s->x->kube, m->s->name, RIGHTS_START, on_rights, m);
        if (!m->rights)
            fail (m, true, "", "out of memory");
    } else
        finish (m, SPACE_READY);
}

void space_tick (struct exec *x)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        s->err.code = 0; /* the next job tries again */
        if (s->maker && s->maker->settle_until > 0 && !s->maker->rights && !s->maker->req)
            settle (s->maker);
    }
}

/* -- further objects of the namespace -- */

static void on_object (const struct kube_result *res, void *arg)
{
    struct spacemaker *m = arg;
    const json_t *object =
        json_object_get (json_array_get (m->objects, m->next), "object");

    m->req = NULL;
    if (res->status != 201 && res->status != 409) {
        fail (m, call_may_pass (res),
              json_string_value (json_object_get (object, "kind")), res->err.text);
        return;
    }
    m->next++;
    make_next (m);
}

static void make_next (struct spacemaker *m)
{
    json_t *one = json_array_get (m->objects, m->next);

    if (one)
        ask (m, "POST", json_string_value (json_object_get (one, "path")),
             json_incref (json_object_get (one, "object")), on_object);
    else {
        m->settle_until = clock_mono () + SETTLE_WAIT;
        settle (m);
    }
}

static void on_whoami (const struct kube_result *res, void *arg)
{
    struct spacemaker *m = arg;
    json_t *status = json_object_get (res->body, "status");
    const char *name = json_string_value (
        json_object_get (json_object_get (status, "userInfo"), "username"));

    m->req = NULL;
    if (!name) {
        fail (m, true, "who the broker is", res->err.text);
        return;
    }
    free (m->s->x->whoami);
    m->s->x->whoami = strdup (name);
    make (m);
}

static void make (struct spacemaker *m)
{
    struct exec *x = m->s->x;
    struct space_source src = source_of (m);

    if (json_object_get (m->set, "namespace-role") && !x->whoami) {
        ask (m, "POST", REVIEWS,
             json_pack ("{s:s s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
                        "SelfSubjectReview"),
             on_whoami);
        return;
    }
    m->objects = space_objects (&src);
    if (m->objects)
        make_next (m);
    else
        fail (m, true, "", "out of memory");
}

/* -- the namespace -- */

static void look (struct spacemaker *m);

static void on_made (const struct kube_result *res, void *arg)
{
    struct spacemaker *m = arg;

    m->req = NULL;
    if (res->status == 201) {
        log_info ("kube: made namespace %s", m->s->name);
        make (m);
    } else if (res->status == 409)
        look (m); /* another one was faster */
    else
        fail (m, call_may_pass (res), "", res->err.text);
}

static void make_namespace (struct spacemaker *m)
{
    struct space_source src = source_of (m);

    if (m->create)
        ask (m, "POST", "/api/v1/namespaces", space_namespace (&src), on_made);
    else
        fail (m, true, "",
              "it does not exist, and its queue does not say namespace-create: true");
}

static void on_there (struct spacemaker *m, const json_t *namespace_)
{
    struct space_source src = source_of (m);
    const char *why = space_refusal (&src, namespace_, m->literal);

    if (m->look_only)
        finish (m, SPACE_THERE);
    else if (why)
        fail (m,
              json_object_get (json_object_get (namespace_, "metadata"),
                               "deletionTimestamp")
                  != NULL,
              "", why);
    else if (m->create && space_is_ours (src.cluster, namespace_))
        make (m);
    else
        finish (m, SPACE_READY);
}

static void on_look (const struct kube_result *res, void *arg)
{
    struct spacemaker *m = arg;

    m->req = NULL;
    if (res->status == 200)
        on_there (m, res->body);
    else if (res->status == 404 && m->look_only)
        finish (m, SPACE_MISSING);
    else if (res->status == 404)
        make_namespace (m);
    else
        fail (m, true, "", res->err.text);
}

static void look (struct spacemaker *m)
{
    char path[256];

    snprintf (path, sizeof (path), "/api/v1/namespaces/%s", m->s->name);
    ask (m, "GET", path, NULL, on_look);
}

/* -- asked for by jobs -- */

static bool creates (const struct kjob *k)
{
    return json_is_true (json_object_get (k->settings, "namespace-create"));
}

static bool is_template (const struct kjob *k)
{
    return k->job->namespace_ && namespace_is_template (k->job->namespace_);
}

static bool is_users (const struct kjob *k)
{
    return k->job->namespace_ && namespace_is_users (k->job->namespace_);
}

/* Whether the broker manages this namespace; otherwise the administrator does. */
static bool is_managed (const struct kjob *k)
{
    return is_template (k) || creates (k);
}

static void start (struct kjob *k, bool look_only)
{
    struct spacemaker *m = calloc (1, sizeof (*m));

    if (!m) {
        job_start_short (k, ENOMEM, "out of memory");
        return;
    }
    *m = (struct spacemaker){ .s = k->space,
                              .look_only = look_only,
                              .literal = !is_template (k),
                              .create = creates (k),
                              .is_users = is_users (k),
                              .uid = k->job->user.uid,
                              .user =
                                  k->job->user.name ? strdup (k->job->user.name) : NULL,
                              .set = json_incref (k->settings) };
    k->space->maker = m;
    look (m);
}

/* The last result holds only for similar jobs: two templates may give one name. */
static bool is_judged_for (const struct kjob *k)
{
    const struct kspace *s = k->space;

    return s->literal != is_template (k) && s->is_users == is_users (k)
           && (!s->is_users || s->uid == k->job->user.uid);
}

bool space_ensure (struct kjob *k)
{
    struct kspace *s = k->space;

    if (!is_managed (k))
        return true;
    if (s->state == SPACE_READY && is_judged_for (k))
        return true;
    if (s->maker)
        return false;
    if (s->err.code && is_judged_for (k))
        job_start_failed (k, s->retry, "%s", s->err.text);
    else
        start (k, false);
    return false;
}

bool space_look (struct kjob *k)
{
    struct kspace *s = k->space;

    if (!is_managed (k) || (s->state != SPACE_UNKNOWN && !s->maker))
        return true;
    if (!s->maker)
        start (k, true);
    return false;
}

void space_doubt (struct kspace *s, const struct kube_result *res)
{
    if (s->state == SPACE_UNKNOWN || s->maker
        || (res->status != 403
            && !(res->status == 404 && strstr (res->err.text, "namespaces \""))))
        return;
    s->state = SPACE_UNKNOWN;
    if (s->agent_state == AGENTMAP_THERE)
        s->agent_state = AGENTMAP_UNKNOWN;
}

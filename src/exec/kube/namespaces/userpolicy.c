/* userpolicy.c - a NetworkPolicy for each user keeps the pods of users apart (see
 * spaces.h)
 *
 * A policy cannot say "from pods with the same label", so there is one for each user and
 * namespace. It is made before the first pod of that user is placed there, and made
 * again with a later job, at most once a minute, in case somebody has deleted it.
 * Policies stay, since one that selects no pod does nothing.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/namespaces/spaces.h"

#include <stdlib.h>

#include "common/clock.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

#define SURE_FOR 60.0  /* seconds that a policy counts as existing without a request */
#define AGAIN_AFTER 1.0 /* seconds that a refusal stays the answer */
#define PATH_POLICIES "/apis/networking.k8s.io/v1/namespaces/%s/networkpolicies"

struct kpolicy {
    uid_t uid; /* hash key */
    struct kspace *s;
    struct kube_request *req; /* under way */
    double there_at, refused_at; /* clock_mono(), 0: not */
    struct error err;
    bool retry;
    UT_hash_handle hh;
};

static void on_made (const struct kube_result *res, void *arg)
{
    struct kpolicy *p = arg;

    p->req = NULL;
    p->there_at = p->refused_at = 0;
    if (res->status == 201 || res->status == 200 || res->status == 409)
        p->there_at = clock_mono ();
    else {
        p->refused_at = clock_mono ();
        p->retry = call_may_pass (res);
        p->err = res->err;
        space_doubt (p->s, res);
    }
    space_poke_jobs (p->s);
}

static struct kpolicy *policy_of (struct kjob *k)
{
    struct kspace *s = k->space;
    uid_t uid = k->job->user.uid;
    struct kpolicy *p;

    HASH_FIND (hh, s->policies, &uid, sizeof (uid), p);
    if (p || !(p = calloc (1, sizeof (*p))))
        return p;
    p->uid = uid;
    p->s = s;
    HASH_ADD (hh, s->policies, uid, sizeof (p->uid), p);
    return p;
}

static void make (struct kjob *k, struct kpolicy *p)
{
    struct object_source src = calls_source (k);
    char path[512];

    snprintf (path, sizeof (path), PATH_POLICIES, k->space->name);
    json_t *policy = object_user_policy (&src);
    if (policy)
        p->req = kube_send_as (k->x->kube, KUBE_BRIEF, "POST", path, policy, on_made, p);
    if (!p->req)
        job_start_failed (k, true, "out of memory");
}

bool userpolicy_ensure (struct kjob *k)
{
    double now = clock_mono ();
    struct kpolicy *p;

    if (!k->x->cfg.user_policies)
        return true;
    if (!(p = policy_of (k))) {
        job_start_failed (k, true, "out of memory");
        return false;
    }
    if (p->req)
        return false;
    if (p->there_at > 0 && now < p->there_at + SURE_FOR)
        return true;
    if (p->refused_at > 0 && now < p->refused_at + AGAIN_AFTER)
        job_start_failed (k, p->retry, "the NetworkPolicy of its user: %s", p->err.text);
    else
        make (k, p);
    return false;
}

void userpolicies_drop (struct kspace *s)
{
    struct kpolicy *p, *tmp;

    HASH_ITER (hh, s->policies, p, tmp) {
        kube_cancel (p->req);
        HASH_DEL (s->policies, p);
        free (p);
    }
}

/* adoptowner.c - finds the owner of a job: the namespace's user, or the user in the
 * annotation (see adopt.h)
 *
 * Anybody who may create a Job may write an annotation. The broker believes it while the
 * binding of the policy kube.adopt.owner-policy exists and denies, and only on objects
 * created since: only users whom the policy allows can have written it then.
 */
#include "exec/kube/adopt/adopt.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "kube/object.h"

#define POLICY_EVERY 30.0
#define AGAIN 2.0
#define IN_FORCE 10.0 /* seconds until all API servers know a new policy, with a margin */
#define BINDINGS "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"

static void on_policy (const struct kube_result *res, void *arg)
{
    struct adopt *d = arg;
    const json_t *spec = json_object_get (res->body, "spec"), *action;
    bool denies = false;
    size_t i;

    d->policy_req = NULL;
    d->policy_at = clock_mono () + POLICY_EVERY;
    if (res->status != 200 && res->status != 404 && res->status != 403) {
        d->policy_at = clock_mono () + AGAIN;
        return;
    }
    json_array_foreach (json_object_get (spec, "validationActions"), i, action) {
        denies |=
            json_is_string (action) && strcmp (json_string_value (action), "Deny") == 0;
    }
    d->policy_holds =
        res->status == 200 && denies
        && strcmp (json_text (spec, "policyName"), d->x->cfg.adopt.owner_policy) == 0;
    snprintf (d->policy_since, sizeof (d->policy_since), "%s",
              json_text (json_object_get (res->body, "metadata"), "creationTimestamp"));
    if (!d->policy_holds && (!d->policy_known || !d->policy_told))
        log_warning ("kube: adopt: the annotation " ADOPT_OWNER " is not believed: "
                     "the binding of the policy %s %s",
                     d->x->cfg.adopt.owner_policy,
                     res->status == 200   ? "denies nothing"
                     : res->status == 403 ? "cannot be read"
                                          : "is not there");
    d->policy_told = !d->policy_holds;
    d->policy_known = true;
}

void adopt_look_at_policy (struct adopt *d, double now)
{
    char path[512];

    if (!d->x->cfg.adopt.owner_policy) {
        d->policy_known = true;
        return;
    }
    if (d->policy_req || now < d->policy_at)
        return;
    snprintf (path, sizeof (path), BINDINGS "/%s", d->x->cfg.adopt.owner_policy);
    d->policy_req = kube_send (d->x->kube, "GET", path, NULL, on_policy, d);
}

const char *adopt_owner (const struct adoptee *a, const json_t *meta)
{
    const struct adopt *d = a->x->adopt;
    const char *named = json_text (json_object_get (meta, "annotations"), ADOPT_OWNER);

    if (*named && d->policy_holds
        && kube_time_read (json_text (meta, "creationTimestamp"))
               >= kube_time_read (d->policy_since) + IN_FORCE)
        return named;
    return adoptconfig_owner (&a->x->cfg.adopt, a->namespace_);
}

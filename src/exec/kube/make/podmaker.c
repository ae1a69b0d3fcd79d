/* podmaker.c - chooses the maker of a Job's pods from the configuration, the needs of the
 * job and the rights of the broker (see podmaker.h)
 *
 * The answer to the first Job shows whether the API server knows spec.managedBy.
 */
#include "exec/kube/make/podmaker.h"

#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/miniclusters.h"
#include "exec/kube/make/podrights.h"
#include "exec/kube/make/podspec.h"

/* -- needs of the job -- */

/* Whether kube-scheduler may have to bind claims before the pod can be bound. */
static bool has_claims (const json_t *mounts)
{
    const json_t *mount;
    size_t i;

    json_array_foreach (mounts, i, mount) {
        const json_t *volume = json_object_get (mount, "volume");

        if (json_object_get (volume, "persistentVolumeClaim")
            || json_object_get (volume, "ephemeral"))
            return true;
    }
    return false;
}

/* NULL: not known yet, or the job cannot start. */
static const struct podmaker *choose_minicluster (struct kjob *k)
{
    struct error why = { 0 };

    if (minicluster_check (k->settings, k->job->js, k->job->mounts, &why) < 0)
        job_start_failed (k, false, "%s", why.text);
    else if (k->x->miniclusters == MINICLUSTERS_MISSING) {
        miniclusters_refuse (k->x, &why);
        job_start_failed (k, false, "%s", why.text);
    } else if (k->x->miniclusters == MINICLUSTERS_THERE)
        return &pods_minicluster;
    return NULL;
}

const struct podmaker *podmaker_choose (struct kjob *k)
{
    struct exec *x = k->x;
    enum pods_wanted wanted = pods_wanted (&x->cfg);

    if (minicluster_wanted (k->settings))
        return choose_minicluster (k);
    if (wanted == WANT_CONTROLLER || has_claims (k->job->mounts)
        || podspec_is_placed_by_other (k->settings)
        || (wanted == WANT_AUTO && x->pods_dropped))
        return &pods_controller;
    if (!podrights_look (k->space))
        return NULL;
    if (!k->space->rights.missing[0])
        return &pods_broker;
    if (wanted == WANT_AUTO)
        return &pods_controller;
    job_start_failed (k, true, "kube.pods is 'broker', but its right to %s is missing",
                      k->space->rights.missing);
    return NULL;
}

/* -- the result on the server -- */

/* The operator's Job has the name of its MiniCluster. */
static bool is_of_minicluster (const json_t *object)
{
    const json_t *owner = object_owner_of (object);

    return strcmp (json_text (owner ? owner : object, "kind"),
                   object_owner_minicluster.kind)
           == 0;
}

const struct podmaker *podmaker_of (const json_t *job)
{
    if (is_of_minicluster (job))
        return &pods_minicluster;
    const char *by = json_text (json_object_get (job, "spec"), "managedBy");

    return strcmp (by, pods_broker.managed_by) == 0 ? &pods_broker : &pods_controller;
}

bool podmaker_accept (struct kjob *k, const struct podmaker *asked,
                      const struct podmaker *got)
{
    struct exec *x = k->x;

    if (asked != &pods_broker || got == asked)
        return true;
    if (pods_wanted (&x->cfg) == WANT_BROKER) {
        job_start_failed (k, false,
                          "kube.pods is 'broker', but this API server drops "
                          "spec.managedBy of Jobs (Kubernetes 1.32 and later keep it)");
        return false;
    }
    if (!x->pods_dropped)
        log_info ("kube: the Job controller makes the pods: this API server drops "
                  "spec.managedBy of Jobs");
    x->pods_dropped = true;
    return true;
}

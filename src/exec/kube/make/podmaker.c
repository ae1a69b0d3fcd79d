/* podmaker.c - chooses the maker of a Job's pods from the configuration, the needs of the
 * job and the rights of the broker (see podmaker.h)
 *
 * Asks the API server for the rights in a namespace once, and again while one is
 * missing, 10 s later at the earliest. The answer to the first Job shows whether the API
 * server knows spec.managedBy.
 */
#include "exec/kube/make/podmaker.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/miniclusters.h"
#include "exec/kube/make/podspec.h"
#include "exec/kube/make/rights.h"

#define LOOK_AGAIN 10.0

enum wanted { WANT_AUTO, WANT_CONTROLLER, WANT_BROKER };

static enum wanted wanted_by (const struct kube_config *cfg)
{
    if (!cfg->pods || strcmp (cfg->pods, "auto") == 0)
        return WANT_AUTO;
    return strcmp (cfg->pods, "broker") == 0 ? WANT_BROKER : WANT_CONTROLLER;
}

/* -- rights of the broker -- */

static void on_rights (const char *missing, void *arg)
{
    struct kspace *s = arg;
    struct exec *x = s->x;
    struct pods_rights *r = &s->rights;
    bool news = !r->told || strcmp (r->missing, missing) != 0;

    r->call = NULL;
    r->known = r->told = true;
    r->look_at = clock_mono () + LOOK_AGAIN;
    snprintf (r->missing, sizeof (r->missing), "%s", missing);
    if (news && missing[0] && wanted_by (&x->cfg) == WANT_AUTO)
        log_warning ("kube: the Job controller makes the pods in namespace %s, as the "
                     "broker may not: %s is missing (see kube.pods)",
                     s->name, missing);
    else if (news && missing[0])
        log_error ("kube: pods: broker: no job can start in namespace %s: %s is missing",
                   s->name, missing);
    else if (news)
        log_info ("kube: the broker makes the pods in namespace %s", s->name);
    spaces_poke (s);
}

static bool look (struct kspace *s)
{
    struct pods_rights *r = &s->rights;

    if (r->call)
        return false;
    if (r->known && (!r->missing[0] || clock_mono () < r->look_at))
        return true;
    r->known = false;
    r->call = rights_ask (s->x->kube, s->name, RIGHTS_PODS, on_rights, s);
    return false;
}

void podmaker_look (struct exec *x)
{
    if (wanted_by (&x->cfg) != WANT_CONTROLLER)
        look (x->space);
}

bool podmaker_may (const struct kspace *s)
{
    return s->rights.known && !s->rights.missing[0];
}

void podmaker_doubt (struct kspace *s)
{
    s->rights.known = false;
}

void podmaker_cancel (struct exec *x)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        rights_cancel (s->rights.call);
        s->rights.call = NULL;
    }
}

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
    else if (miniclusters_state (k->x) == MINICLUSTERS_MISSING) {
        miniclusters_refuse (k->x, &why);
        job_start_failed (k, false, "%s", why.text);
    } else if (miniclusters_state (k->x) == MINICLUSTERS_THERE)
        return &pods_minicluster;
    return NULL;
}

const struct podmaker *podmaker_choose (struct kjob *k)
{
    struct exec *x = k->x;
    enum wanted wanted = wanted_by (&x->cfg);

    if (minicluster_wanted (k->settings))
        return choose_minicluster (k);
    if (wanted == WANT_CONTROLLER || has_claims (k->job->mounts)
        || podspec_is_placed_by_other (k->settings)
        || (wanted == WANT_AUTO && x->pods_dropped))
        return &pods_controller;
    if (!look (k->space))
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
    const char *kind = json_string_value (json_object_get (owner, "kind"));

    if (!kind)
        kind = json_string_value (json_object_get (object, "kind"));
    return kind && strcmp (kind, object_owner_minicluster.kind) == 0;
}

const struct podmaker *podmaker_of (const json_t *job)
{
    if (is_of_minicluster (job))
        return &pods_minicluster;
    const char *by =
        json_string_value (json_object_get (json_object_get (job, "spec"), "managedBy"));

    return by && strcmp (by, pods_broker.managed_by) == 0 ? &pods_broker
                                                          : &pods_controller;
}

bool podmaker_accept (struct kjob *k, const struct podmaker *asked,
                      const struct podmaker *got)
{
    struct exec *x = k->x;

    if (asked != &pods_broker || got == asked)
        return true;
    if (wanted_by (&x->cfg) == WANT_BROKER) {
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

/* miniclusters.c - see miniclusters.h */
#include "exec/kube/make/miniclusters.h"
#include "exec/kube/make/objects.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kspace.h"

/* The resources of a group and version; every account may read them. */
#define PATH "/apis/flux-framework.org/v1alpha2"
#define LOOK_AGAIN 30.0

static bool has_resource (const json_t *body)
{
    const json_t *one;
    size_t i;

    json_array_foreach (json_object_get (body, "resources"), i, one) {
        if (strcmp (json_text (one, "name"), object_owner_minicluster.plural) == 0)
            return true;
    }
    return false;
}

static void settle (struct exec *x, enum miniclusters_state state)
{
    struct kspace *s, *tmp;

    if (state == x->miniclusters)
        return;
    if (state == MINICLUSTERS_THERE)
        log_info ("kube: the cluster has MiniClusters");
    x->miniclusters = state;
    HASH_ITER (hh, x->spaces, s, tmp) {
        space_poke_jobs (s);
    }
    if (state == MINICLUSTERS_THERE && x->swept)
        x->sweep_next = clock_mono (); /* there may be old objects */
}

static void on_answer (const struct kube_result *res, void *arg)
{
    struct exec *x = arg;

    x->miniclusters_call = NULL;
    x->miniclusters_next = clock_mono () + LOOK_AGAIN;
    if (res->status == 200)
        settle (x, has_resource (res->body) ? MINICLUSTERS_THERE : MINICLUSTERS_MISSING);
    else if (res->status == 404)
        settle (x, MINICLUSTERS_MISSING);
    else
        log_warning ("kube: whether the cluster has MiniClusters: %s", res->err.text);
}

void miniclusters_look (struct exec *x)
{
    if (!x->miniclusters_call)
        x->miniclusters_call = kube_send (x->kube, "GET", PATH, NULL, on_answer, x);
}

int miniclusters_refuse (struct exec *x, struct error *err)
{
    miniclusters_look (x);
    return error_set (
        err, ENOSYS,
        "executor minicluster: this cluster does not have the Flux operator; its "
        "administrator can install it: kubectl apply -f "
        "https://raw.githubusercontent.com/flux-framework/flux-operator/main/examples/"
        "dist/flux-operator.yaml");
}

void miniclusters_tick (struct exec *x, double now)
{
    if (x->miniclusters != MINICLUSTERS_THERE && now >= x->miniclusters_next)
        miniclusters_look (x);
}

void miniclusters_cancel (struct exec *x)
{
    kube_cancel (x->miniclusters_call);
    x->miniclusters_call = NULL;
}

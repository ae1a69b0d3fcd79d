/* minicluster_check.c - refuses settings that the Flux operator does not know (see
 * minicluster.h)
 *
 * The operator would silently ignore these settings, and a pod with less than its queue
 * says is worse than no pod.
 */
#include "exec/kube/make/minicluster.h"

#include <errno.h>
#include <string.h>

#include "exec/mounts.h"
#include "exec/podset.h"
#include "jobspec/attributes/podwish.h"

#define SAY "a MiniCluster's pods cannot have "

bool minicluster_wanted (const json_t *settings)
{
    return strcmp (json_text (settings, "executor"), PODWISH_MINICLUSTER) == 0;
}

/* Settings of a queue's pods, or of the job, that have no field. */
static const struct {
    const char *key, *what;
} lacking[] = {
    { "scheduler", "another scheduler than fluxq" },
    { "priority-class", "a priority class" },
    { "host-network", "the network of the nodes" },
};

static int check_settings (const json_t *set, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (lacking); i++)
        if (json_object_get (set, lacking[i].key)
            && !json_is_false (json_object_get (set, lacking[i].key)))
            return error_set (err, EINVAL,
                              "executor minicluster: " SAY "%s (%s); leave one of the "
                              "two out",
                              lacking[i].what, lacking[i].key);
    if (json_object_get (set, PODSET_ADMIN))
        return error_set (err, EINVAL,
                          "executor minicluster: " SAY "a prolog or epilog, as its queue "
                          "does; take another queue, or --executor=job");
    if (json_array_size (json_object_get (set, "image-pull-secrets")) > 1)
        return error_set (err, EINVAL,
                          "executor minicluster: " SAY "more than one secret to pull "
                          "images with (image-pull-secrets)");
    return 0;
}

static int check_tolerations (const json_t *set, struct error *err)
{
    const json_t *t;
    size_t i;

    json_array_foreach (json_object_get (set, "tolerations"), i, t) {
        if (json_object_get (t, "tolerationSeconds"))
            return error_set (err, EINVAL,
                              "executor minicluster: " SAY "a toleration with "
                              "tolerationSeconds (tolerations, entry %zu)",
                              i + 1);
    }
    return 0;
}

static int check_template (const json_t *set, struct error *err)
{
    const json_t *spec = json_object_get (json_object_get (set, "pod-template"), "spec");

    return json_object_get (spec, "dnsConfig")
               ? error_set (err, EINVAL,
                            "--pod-template: spec.dnsConfig: " SAY
                            "one; leave it out, or "
                            "say --executor=job")
               : 0;
}

/* Whether path collides with the operator's own volumes. */
static bool is_taken (const char *path)
{
    static const char *const places[] = { "/home/flux-operator", "/mnt/flux",
                                          "/flux_operator", "/opt/software" };

    for (size_t i = 0; path && i < ARRAY_SIZE (places); i++)
        if (mounts_is_below (path, places[i]))
            return true;
    return false;
}

static int check_mounts (const json_t *mounts, struct error *err)
{
    const json_t *mount;
    size_t i;
    autojson json_t *maps = json_object ();

    json_array_foreach (mounts, i, mount) {
        const char *name, *why,
            *path = json_string_value (json_object_get (mount, "path"));
        autojson json_t *volume = minicluster_volume (mount, &name, &why);

        if (is_taken (path))
            return error_set (err, EINVAL,
                              "executor minicluster: " SAY "a volume at %.256s: this "
                              "path belongs to the Flux "
                              "operator",
                              path);
        if (!volume)
            return error_set (err, EINVAL,
                              "executor minicluster: " SAY "the volume at %.256s: %s",
                              path ? path : "?", why);
        if (name && json_object_get (maps, name))
            return error_set (err, EINVAL,
                              "executor minicluster: " SAY "the ConfigMap %.64s at two "
                              "places",
                              name);
        if (name)
            json_object_set_new (maps, name, json_true ());
    }
    return 0;
}

/* Staging would need an empty directory of its own, at a path of its own. */
static int check_staging (const struct jobspec *js, const json_t *mounts,
                          struct error *err)
{
    const char *cwd = js->cwd ? js->cwd : "/";

    if (js->stage_in.n + js->stage_out.n == 0 || mounts_see (mounts, "/", cwd, true))
        return 0;
    return error_set (err, EINVAL,
                      "--stage-%s: " SAY "a directory made for it; submit from one that "
                      "the queue mounts, or say --executor=job",
                      js->stage_in.n ? "in" : "out");
}

static int check_size (const struct jobspec *js, struct error *err)
{
    return js->malleable
               ? error_set (err, EINVAL,
                            "--malleable: a MiniCluster keeps its size while it runs; "
                            "leave it out, or say --executor=job")
               : 0;
}

static int check_components (const struct jobspec *js, struct error *err)
{
    return js->ncomponents > 0
               ? error_set (err, EINVAL,
                            "a heterogeneous job: the pods of a MiniCluster are all "
                            "alike; say --executor=job")
               : 0;
}

int minicluster_check (const json_t *set, const struct jobspec *js, const json_t *mounts,
                       struct error *err)
{
    if (check_settings (set, err) < 0 || check_tolerations (set, err) < 0
        || check_template (set, err) < 0 || check_mounts (mounts, err) < 0
        || check_staging (js, mounts, err) < 0 || check_size (js, err) < 0
        || check_components (js, err) < 0)
        return -EINVAL;
    return 0;
}

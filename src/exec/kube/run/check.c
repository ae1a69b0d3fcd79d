/* check.c - refuses at submit what this executor cannot run (see run.h) */
#include "exec/kube/run/run.h"

#include <errno.h>
#include <string.h>

#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/miniclusters.h"
#include "exec/kube/make/podspec.h"
#include "exec/mounts.h"
#include "exec/podset.h"

#define SCRIPT_MAX ((size_t)700 << 10) /* beside the launch file in one ConfigMap */
#define IMAGE_MAX 512

static int check_image (const char *image, struct error *err)
{
    size_t len = strlen (image);

    if (len == 0 || len > IMAGE_MAX)
        return error_set (err, EINVAL, "image: the name must have 1 to %d characters",
                          IMAGE_MAX);
    for (const char *p = image; *p; p++)
        if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
            return error_set (err, EINVAL, "image: '%s' is not the name of an image",
                              image);
    return 0;
}

static int check_minicluster (struct exec *x, const json_t *all, const struct jobspec *js,
                              const json_t *mounts, struct error *err)
{
    autojson json_t *both = podset_mounts (all, js->pods, mounts);

    if (x->miniclusters == MINICLUSTERS_MISSING)
        return miniclusters_refuse (x, err);
    return minicluster_check (all, js, both, err);
}

static int check_pods (struct exec *x, const struct jobspec *js, const char *queue,
                       const json_t *mounts, struct error *err)
{
    const json_t *set = json_object_get (x->sets, queue);

    if (podset_admit (set, queue, js->pods, mounts, err) < 0)
        return -EINVAL;
    autojson json_t *all = podset_merge (set, js->pods);
    if (!all)
        return error_set (err, ENOMEM, "out of memory");
    if (minicluster_wanted (all) && check_minicluster (x, all, js, mounts, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i <= js->ncomponents; i++)
        if (podspec_check (all, jobspec_component (js, i), err) < 0)
            return -EINVAL;
    return 0;
}

/* The broker may learn only after the end of the job that a file which it writes is
 * full. */
static int check_on_full (const struct jobspec *js, const json_t *mounts,
                          struct error *err)
{
    const char *cwd = js->cwd ? js->cwd : "/";

    if (js->on_full != JOBSPEC_FULL_END
        || (js->output && mounts_see (mounts, cwd, js->output, true)))
        return 0;
    return error_set (err, EINVAL,
                      "--output-on-full=end: the pods do not see %s, which the broker "
                      "writes; say wait or drop",
                      js->output ? js->output : "the output file");
}

int run_check (struct exec *x, const struct jobspec *js, const char *queue,
                            const json_t *mounts, uid_t uid, struct error *err)
{
    if (uid == 0 && !x->cfg.allow_root)
        return error_set (err, EPERM,
                          "root may not run jobs on this cluster; submit as another user "
                          "(or set kube.allow-root)");
    if (!js->image && !x->cfg.image)
        return error_set (err, EINVAL,
                          "no container image: use --image (kube.image has no default)");
    if (js->script_len > SCRIPT_MAX)
        return error_set (
            err, EFBIG, "the script has %zu bytes; on Kubernetes it may have %zu at most",
            js->script_len, SCRIPT_MAX);
    if (js->image && check_image (js->image, err) < 0)
        return -EINVAL;
    if (check_on_full (js, mounts, err) < 0)
        return -EINVAL;
    return check_pods (x, js, queue, mounts, err);
}

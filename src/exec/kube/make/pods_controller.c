/* pods_controller.c - the Job controller makes the pods, the broker binds them (see
 * podmaker.h)
 *
 * One template serves all ranks, so each pod requests the smallest of the ranks'
 * amounts. The Job controller ends the other pods when one fails (podFailurePolicy,
 * backoffLimit 0), and keeps the Job's status.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/make/podmaker.h"

#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/podspec.h"

/* Binds a pod, or tells another scheduler to bind it there. */
static bool send_binding (struct kjob *k, uint32_t rank, const char *pod)
{
    bool other = podspec_is_placed_by_other (k->settings);
    const char *node = job_node_name (k, rank);
    char path[512];

    snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s%s", k->space->name, pod,
              other ? "" : "/binding");
    return call_send (k, CALL_PLACE, rank, other ? "PATCH" : "POST", path,
                      other ? podspec_place (node)
                            : object_binding (k->space->name, pod, node));
}

/* Index 0 first, since the others look for it as soon as they run. */
void podmaker_bind (struct kjob *k)
{
    for (uint32_t r = 0; r < k->nplaces; r++) {
        struct kpod *p = k->pods[r];

        if (p && p->node && r == 0)
            k->place0_done = true;
        if (!p || p->node || k->place_asked[r] || (r > 0 && !k->place0_done))
            continue;
        k->place_asked[r] = 1;
        if (!send_binding (k, r, p->name))
            job_start_short (k, ENOMEM, "out of memory");
    }
}

void podmaker_bound (struct kjob *k, uint32_t rank, const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200 || res->status == 409) {
        if (rank == 0)
            k->place0_done = true;
    } else if (res->status == 404)
        k->place_asked[rank] = 0; /* the watch reports what happened to the pod */
    else {
        job_blame (k, rank, false);
        job_start_failed (k, call_may_pass (res), "rank %u cannot be bound to %s: %s",
                          rank, job_node_name (k, rank), res->err.text);
    }
}

const struct podmaker pods_controller = {
    .name = "controller",
    .owner = &object_owner_job,
    .names_ranks = true,
    .others_make = true,
    .silence = "the Job controller said nothing",
    .ends_others = true,
    .object = object_job,
    .place = podmaker_bind,
    .placed = podmaker_bound,
    .missing = calls_diagnose, /* events have the reason */
};

/* pods_controller.c - the Job controller makes the pods, the broker binds them (see
 * podmaker.h)
 *
 * One template serves all ranks, so each asks for the smallest of their amounts. The Job
 * controller ends the others when one fails (podFailurePolicy, backoffLimit 0), and keeps the
 * Job's status.
 */
#include "exec/kube/podmaker.h"

static struct pod_request request (const struct rset *r, uint32_t rank)
{
    (void)rank;
    return object_request (r);
}

/* Index 0 first: the others look for it as soon as they run. */
static void place (struct kjob *k)
{
    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        struct kpod *p = k->pods[r];
        char path[512];

        if (p && p->node && r == 0)
            k->place0_done = true;
        if (!p || p->node || k->place_asked[r] || (r > 0 && !k->place0_done))
            continue;
        snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s/binding", k->x->namespace_,
                  p->name);
        k->place_asked[r] = 1;
        if (!call_send (k, CALL_PLACE, r, "POST", path,
                        object_binding (k->x->namespace_, p->name, job_node_name (k, r))))
            job_start_failed (k, true, "out of memory");
    }
}

static void placed (struct kjob *k, uint32_t rank, const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200 || res->status == 409) {
        if (rank == 0)
            k->place0_done = true;
    } else if (res->status == 404)
        k->place_asked[rank] = 0; /* the watch tells what became of the pod */
    else {
        job_blame (k, rank, false);
        job_start_failed (k, create_may_pass (res), "rank %u cannot be bound to %s: %s",
                          rank, job_node_name (k, rank), res->err.text);
    }
}

const struct podmaker pods_controller = {
    .name = "controller",
    .ends_others = true,
    .request = request,
    .place = place,
    .placed = placed,
    .missing = create_diagnose, /* events tell */
};

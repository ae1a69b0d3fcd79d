/* pods_minicluster.c - the Flux operator makes a Job of the job's MiniCluster, the Job
 * controller makes its pods, and the broker binds them (see podmaker.h)
 *
 * The shell script of the operator that is a pod's container ends well whatever has become of
 * the job: what counts is what the agent says. A container that has ended before the agents
 * joined has failed, whatever its status.
 *
 * The operator does not set a pod's grace, and its script does not obey a SIGTERM: pods that are
 * still there when the job is over are deleted with a short one. The MiniCluster goes first, or
 * the operator would make its Job anew.
 */
#include "exec/kube/podmaker.h"

#include "exec/kube/minicluster.h"

#define GRACE 5 /* seconds, of pods that are deleted */

static struct pod_request request (const struct rset *r, uint32_t rank)
{
    (void)rank;
    return object_request (r);
}

/* A pod in place of one that failed stays without a node, and goes with the rest. */
static void place (struct kjob *k)
{
    const struct kpod *p;

    DL_FOREACH (k->all_pods, p) {
        int rank = p->view.index;

        if (!p->view.terminal || rank < 0 || (size_t)rank >= k->launch.nnodes)
            continue;
        job_start_failed (k, true,
                          "rank %d on %s: its container ended with status %d before the "
                          "job began: Flux did not start, see the image (%s)",
                          rank, job_node_name (k, (uint32_t)rank), p->view.exit_code,
                          k->job->js->image ? k->job->js->image : k->x->cfg.image);
        return;
    }
    podmaker_bind (k);
}

static void remove_pods (struct kjob *k)
{
    char path[1024];

    remove_one (k, KUBE_MINICLUSTERS, k->name);
    remove_one (k, KUBE_JOBS, k->name);
    create_pods_path (k, path, sizeof (path));
    call_send (k, CALL_DELETE_PODS, 0, "DELETE", path,
               json_pack ("{s:s s:s s:i}", "apiVersion", "v1", "kind", "DeleteOptions",
                          "gracePeriodSeconds", GRACE));
}

const struct podmaker pods_minicluster = {
    .name = "minicluster",
    .owner = &object_owner_minicluster,
    .others_make = true,
    .silence = "neither the Flux operator nor the Job controller said anything; is the "
               "operator running?",
    .object = minicluster_object,
    .request = request,
    .place = place,
    .placed = podmaker_bound,
    .missing = create_diagnose,
    .remove = remove_pods,
};

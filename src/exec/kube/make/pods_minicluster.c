/* pods_minicluster.c - the Flux operator makes a Job of the job's MiniCluster, the Job
 * controller makes its pods, and the broker binds them (see podmaker.h)
 *
 * The container of a pod runs a shell script of the operator, which exits with 0
 * whatever happens to the job: only the agent's report counts. A container that ends
 * before the agents have joined has failed, whatever its status.
 *
 * The operator does not set a pod's grace, and its script ignores SIGTERM: pods that
 * remain when the job is over are deleted with a short grace. The MiniCluster is deleted
 * first, or the operator would make its Job again.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/make/podmaker.h"

#include <ctype.h>
#include <string.h>

#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/minicluster.h"

#define GRACE 5 /* seconds, for deleted pods */

/* Returns the last line that is not empty, as far as it fits. */
static void last_line (const char *text, size_t len, char *buf, size_t size)
{
    size_t begin, n = 0;

    while (len > 0 && isspace ((unsigned char)text[len - 1]))
        len--;
    for (begin = len; begin > 0 && text[begin - 1] != '\n';)
        begin--;
    for (; begin < len && n + 1 < size; begin++)
        buf[n++] = (char)(isprint ((unsigned char)text[begin]) ? text[begin] : ' ');
    buf[n] = '\0';
}

void pods_minicluster_log (struct kjob *k, const struct kcall *c,
                           const struct kube_result *res)
{
    const struct kpod *p = k->pods[c->rank];
    char line[200] = "";

    if (res->status == 200 && res->text)
        last_line (res->text, res->len, line, sizeof (line));
    job_start_failed (k, true,
                      "rank %u on %s: its container ended with status %d before the job "
                      "began: Flux did not start%s%s",
                      c->rank, job_node_name (k, c->rank), p ? p->view.exit_code : -1,
                      line[0] ? "; it said last: " : "", line);
}

/* Only the program that starts Flux there knows why it failed. */
static void ask_why (struct kjob *k, const struct kpod *p)
{
    char path[512];

    k->diagnosed = true;
    snprintf (path, sizeof (path),
              PATH_CORE "%s/pods/%s/log?container=%s&tailLines=3&limitBytes=4096",
              k->space->name, p->name, k->name);
    if (!call_send (k, CALL_LOG, (uint32_t)job_rank_of (k, p), "GET", path, NULL))
        job_start_short (k, ENOMEM, "out of memory");
}

/* A pod that replaces a failed one gets no node, and is removed with the rest. */
static void place (struct kjob *k)
{
    const struct kpod *p;

    DL_FOREACH (k->all_pods, p) {
        int rank = job_rank_of (k, p);

        if (!p->view.terminal || rank < 0 || (size_t)rank >= k->launch.nnodes)
            continue;
        if (!k->diagnosed)
            ask_why (k, p);
        return;
    }
    podmaker_bind (k);
}

static void remove_pods (struct kjob *k)
{
    char path[1024];

    call_delete (k, KUBE_MINICLUSTERS, k->name);
    call_delete (k, KUBE_JOBS, k->name);
    calls_pods_path (k, path, sizeof (path));
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
    .place = place,
    .placed = podmaker_bound,
    .missing = calls_diagnose,
    .remove = remove_pods,
};

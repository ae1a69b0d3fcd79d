/* lost_nodes.c - finds out why a rank of a running job is lost, and with which node or pod
 * (see run.h)
 *
 * The agents know first that one of them does not answer, or that somebody else told
 * them to end. The watches of pods and nodes tell why, perhaps later. A loss is no
 * failure of the program: the job is requeued, or ends as NODE_FAIL.
 */
#include "exec/kube/make/podmaker.h"
#include "exec/kube/run/run.h"

#include <signal.h>
#include <string.h>

#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"

#define LOST_WAIT 5.0        /* time for the watch to report a deleted pod */
#define ENDED_WAIT 1.0       /* after the end of its pod: time for its last bytes */
#define OTHER_LOST_WAIT 30.0 /* for another rank: the agents find out by themselves */
#define LOOK_WAIT 10.0       /* time for the answer why they were told to end */

/* Whether the agent has ended; the pod itself may still run an epilog. */
static bool has_ended (const struct kpod *p)
{
    return p->view.terminal || p->view.exit_code >= 0;
}

static bool rank_is_lost (const struct kjob *k, uint32_t rank)
{
    const struct kpod *p = k->pods[rank];

    return !p || !p->node || has_ended (p) || job_node_down (k, p);
}

/* The agent ended with the rest, so its last report of memory is not known: the text
 * names the pod's limit. */
static void oom_text (const struct kjob *k, uint32_t rank, char *buf, size_t size)
{
    struct rset ranks = podrequest_ranks (k->job->r, job_part_of (k, rank));
    struct pod_request ask = k->maker && k->maker->asks_for_rank
                                 ? podrequest_of_rank (k->job->r, rank)
                                 : podrequest_least (&ranks);
    int64_t mib = ask.memory_mib;

    if (mib > 0)
        snprintf (
            buf, size,
            "node %.100s: out of memory: it asked for %jd MiB, and all of that was in "
            "use when the kernel killed the processes of rank %u",
            job_node_name (k, rank), (intmax_t)mib, (unsigned)rank);
    else
        snprintf (
            buf, size,
            "node %.128s: out of memory: the kernel killed the processes of rank %u, "
            "which had asked for none",
            job_node_name (k, rank), (unsigned)rank);
}

static void set_evicted (struct kjob *k)
{
    job_set_finish (k, SIGKILL, "lost", "node %.128s: the pod of rank %d was evicted: %s",
                    job_node_name (k, (uint32_t)k->evicted_rank), k->evicted_rank,
                    k->evicted_text);
}

/* Reports the reason from what is known of the pod, with the node's name. */
static void set_lost (struct kjob *k, uint32_t rank)
{
    const struct kpod *p = k->pods[rank];
    const char *node = job_node_name (k, rank);
    char text[sizeof (k->fin.text)];

    oom_text (k, rank, text, sizeof (text));
    if (p && p->view.oom)
        job_set_finish (k, SIGKILL, "oom", "%s", text);
    else if (k->evicted_rank >= 0)
        set_evicted (k);
    else if (job_node_down (k, p) && p->node->gone)
        job_set_finish (k, SIGKILL, "lost",
                        "node %s: it was deleted from the cluster (rank %u)", node, rank);
    else if (job_node_down (k, p))
        job_set_finish (k, SIGKILL, "lost", "node %s: not ready for %.0f s (rank %u)",
                        node, k->x->cfg.grace, rank);
    else if (!p || !p->node) /* or another pod replaces it, without a node */
        job_set_finish (k, SIGKILL, "lost", "node %s: the pod of rank %u is gone", node,
                        rank);
    else
        job_set_finish (k, SIGKILL, "lost", "node %s: the pod of rank %u ended%s%s", node,
                        rank, p->view.text[0] ? ": " : "", p->view.text);
}

/* The cluster has given up a node, and nothing there obeys any more. Agents that are
 * still reached end their tasks, so that none of them runs beside the next attempt. */
static bool look_for_down_nodes (struct kjob *k)
{
    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        if (!job_node_down (k, k->pods[r]))
            continue;
        set_lost (k, r);
        if (k->link)
            agentlink_terminate (k->link, "lost", 0);
        return true;
    }
    return false;
}

static void look_for_pods_that_went (struct kjob *k, double now)
{
    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        double wait = OTHER_LOST_WAIT;

        if (!rank_is_lost (k, r))
            continue;
        if (r == 0)
            wait = k->pods[0] && has_ended (k->pods[0]) ? ENDED_WAIT : LOST_WAIT;
        if (k->lost_at == 0)
            k->lost_at = now;
        if (now - k->lost_at >= wait)
            set_lost (k, r);
        return;
    }
    k->lost_at = 0;
}

void losses_look (struct kjob *k, double now)
{
    if (kube_away (k->x->kube)) /* the known state of pods and nodes is old */
        k->lost_at = 0;
    else if (!look_for_down_nodes (k))
        look_for_pods_that_went (k, now);
}

void losses_amend (struct kjob *k)
{
    bool killed =
        strcmp (k->fin.reason, "lost") == 0
        || (strcmp (k->fin.reason, "signaled") == 0 && k->fin.status == SIGKILL);

    for (uint32_t r = 0; killed && r < k->launch.nnodes; r++) {
        if (!k->pods[r] || !k->pods[r]->view.oom || !strcmp (k->fin.reason, "oom"))
            continue;
        snprintf (k->fin.reason, sizeof (k->fin.reason), "oom");
        oom_text (k, r, k->fin.text, sizeof (k->fin.text));
        k->fin.status = SIGKILL;
    }
}

/* A rank is lost. The agents know this sooner than the watch; its pod may show the
 * reason. */
static bool loss_is_shown (struct kjob *k, double now)
{
    if (strcmp (k->fin.reason, "lost") != 0)
        return true;
    if (k->fin_at == 0)
        k->fin_at = now;
    for (uint32_t r = 0; r < k->launch.nnodes; r++)
        if (rank_is_lost (k, r) || k->pods[r]->view.deleting)
            return true;
    return now >= k->fin_at + LOST_WAIT;
}

/* Returns a rank whose pod is gone, or else is being deleted; -1: none, or the Job
 * controller deletes it because another pod has failed. */
static int deleted_rank (const struct kjob *k)
{
    bool ends_others = !k->maker || k->maker->ends_others;
    int gone = -1, deleting = -1;

    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        const struct kpod *p = k->pods[r];

        if (ends_others && p && p->view.terminal && !p->view.deleting)
            return -1;
        if (!p && gone < 0)
            gone = (int)r;
        if (p && p->view.deleting && deleting < 0)
            deleting = (int)r;
    }
    return gone >= 0 ? gone : deleting;
}

/* Stores the eviction now, since the pod may be gone later. */
static void see_eviction (struct kjob *k, const struct kpod *p)
{
    int rank = p ? job_rank_of (k, p) : -1;

    if (rank < 0 || !p->view.evicted[0] || (size_t)rank >= k->launch.nnodes)
        return;
    k->evicted_rank = rank;
    snprintf (k->evicted_text, sizeof (k->evicted_text), "%s", p->view.evicted);
}

void losses_see (struct kjob *k, const struct kpod *pod)
{
    if (k->phase != K_RUN || !k->ready_told || !k->x->pods_listed)
        return;
    if (k->evicted_rank < 0)
        see_eviction (k, pod);
    if (k->deleted_rank < 0)
        k->deleted_rank = deleted_rank (k);
}

/* Whether the end can come from an eviction, which sends the pods a SIGTERM through their
 * kubelets. */
static bool may_be_evicted (const struct kjob *k)
{
    static const char *const reasons[] = { "cancelled", "lost", "signaled" };

    for (size_t i = 0; i < ARRAY_SIZE (reasons); i++)
        if (strcmp (k->fin.reason, reasons[i]) == 0)
            return k->evicted_rank >= 0;
    return false;
}

static const char *owner_kind (const struct kjob *k)
{
    return k->maker ? k->maker->owner->kind : object_owner_job.kind;
}

/* The agents were told to end, but not by us: somebody evicted a pod, or deleted the Job
 * or a pod. False: not known yet. */
static bool explain_end (struct kjob *k, double now)
{
    bool told = strcmp (k->fin.reason, "cancelled") == 0;
    const char *changed = k->parts[k->changed_part].name;

    if (k->kill)
        return true;
    if (may_be_evicted (k)) {
        set_evicted (k);
        return true;
    }
    if (k->deleted_rank < 0)
        k->deleted_rank = deleted_rank (k);
    if (!told && (strcmp (k->fin.reason, "lost") != 0 || k->deleted_rank < 0))
        return true;
    if (k->looked_at == 0) {
        k->looked_at = now;
        create_look (k);
    }
    if (!k->looked && now < k->looked_at + LOOK_WAIT)
        return false;
    if (!k->job_deleted && k->deleted_rank < 0 && now < k->looked_at + LOST_WAIT)
        return false; /* the agents may be faster than the watch */
    if (k->job_deleted)
        job_set_finish (k, SIGTERM, "cancelled", "its %s %s was deleted from the cluster",
                        owner_kind (k), changed);
    else if (k->edited_text[0])
        job_set_finish (k, SIGKILL, "lost", "its %s %s %s, not by fluxq", owner_kind (k),
                        changed, k->edited_text);
    else if (k->deleted_rank >= 0)
        job_set_finish (k, SIGKILL, "lost", "node %s: the pod of rank %d was deleted",
                        job_node_name (k, (uint32_t)k->deleted_rank), k->deleted_rank);
    return true;
}

bool losses_explain (struct kjob *k, double now)
{
    return loss_is_shown (k, now) && explain_end (k, now);
}

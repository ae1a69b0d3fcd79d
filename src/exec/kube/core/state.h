/* state.h - struct exec, from which the rooms of the executor find all records
 *
 * The room core is below all others. Settings come in from fluxq.yaml (config.h), and
 * fields of nodes and pods from the API server (podview.h, podsize.h, gres.h). Nodes,
 * pods, jobs and namespaces have one record each (knode.h, kpod.h, kjob.h, kspace.h),
 * which several rooms read: therefore the records are here. A room changes its own
 * fields, which the comments name, reads all others, and tells a job of news by
 * job_poke(). A higher room includes a lower one and calls it; a lower room calls
 * a higher one by struct exec_hooks alone.
 *
 *     struct kjob *k = job_find (x, 12);
 *     job_start_failed (k, true, "node %s: ...", job_node_name (k, 0));
 *
 * All runs in the loop's thread. A callback (an answer, a change of a pod, bytes, the end
 * of a worker, the clock) stores the news and calls job_poke(); the function of the phase
 * runs on a later turn of the loop. So no report ever comes from within a verb.
 */
#pragma once

#include <utlist.h>
#include <uthash.h>

#include "common/sha256.h"
#include "exec/exec.h"
#include "exec/kube/core/config.h"
#include "exec/kube/core/names.h"
#include "kube/watch.h"

#define MIB ((int64_t)1 << 20)

struct adopt;
struct exec_hooks;
struct kcall;
struct kjob;
struct knode;
struct kpod;
struct kspace;

enum miniclusters_state {
    MINICLUSTERS_UNKNOWN, /* no answer yet */
    MINICLUSTERS_THERE,
    MINICLUSTERS_MISSING,
};

struct exec {
    struct exec_host host;
    const struct exec_hooks *hooks;
    struct kube_config cfg;
    json_t *sets;   /* pod settings of the queues, by name; see exec/podset.h */
    json_t *queues; /* the same if queues select nodes, else NULL */
    struct kspace *spaces;
    struct kspace *space; /* for queues without one: kube.namespace */
    char *whoami;         /* the broker's name in the cluster; NULL: not asked yet */
    bool pods_dropped;    /* the API server drops spec.managedBy */
    struct httpc *http;
    struct kube *kube;
    struct kube_watch *node_watch, *pod_watch;
    bool nodes_listed, pods_listed, complete_told;
    /* zones.c; clock_mono() */
    struct kube_watch *zone_watch;      /* NULL: there is nothing to watch */
    struct kube_request *zones_request; /* asks whether there is */
    double zones_ask_at;
    bool zones_ready; /* the first list is there, or there will be none */
    bool zones_missing_told;
    bool swept; /* from now on pods with our labels but without a job count as foreign */
    struct knode *nodes, *changed_nodes;
    struct kpod *pods, *orphans;
    struct kjob *jobs, *poked;
    uv_timer_t soon, tick;
    /* miniclusters.c; clock_mono() */
    enum miniclusters_state miniclusters;
    struct kube_request *miniclusters_call;
    double miniclusters_next;
    /* pulls.c; clock_mono() */
    struct pulls_call *pulls_call;  /* under way */
    double pulls_known, pulls_next; /* of the last answer; no request before */
    bool pulls_refused;
    /* jobevents.c */
    unsigned events_waiting; /* requests under way */
    bool events_refused;
    unsigned open_handles;
    unsigned working; /* worker threads' tasks under way */
    bool closing;
    unsigned agent_removals; /* requests of the kind kspace.agent_removal */
    /* agentmap.c */
    char agent_name[OBJECT_NAME_MAX];
    char agent_digest[SHA256_HEX_SIZE];
    struct strbuf agent;
    /* sweep.c */
    struct sweep *sweep;
    uint64_t *live; /* live jobs in the broker's last list; sorted */
    size_t nlive;
    double sweep_next;      /* clock_mono() */
    struct kgroups *groups; /* groups.h; or NULL: none are configured */
    struct kneeds *needs;   /* needs.h; or NULL likewise */
    struct adopt *adopt;    /* adopt.h; NULL: nothing is adopted */
    struct review *reviews; /* review.c: DL of those under way */
};

/* The functions of higher rooms that lower rooms call; kube.c has the table. */
struct exec_hooks {
    /* The loop has turned since exec_soon(): handles poked jobs and changed nodes. */
    void (*turn) (struct exec *x);
    /* While closing: a worker has ended. */
    void (*worker_ended) (struct exec *x);
    /* A request of the job was answered. */
    void (*answered) (struct kjob *k, const struct kcall *c,
                      const struct kube_result *res);
    /* job_start_failed() of a job that runs: about its new ranks. */
    void (*resize_failed) (struct kjob *k, const char *text);
    /* A pod of the job has changed, or has gone (NULL). old_address: before that. */
    void (*job_pod) (struct kjob *k, const struct kpod *p, const char *old_address);
    /* A pod of the cluster has changed, but its usage is not counted again yet. */
    void (*pod_seen) (struct exec *x, struct kpod *p, const json_t *pod);
    /* A pod of the cluster has gone. p: the record, freed after that; NULL: none. */
    void (*pod_gone) (struct exec *x, const char *ns, const char *name, struct kpod *p);
    /* Whether the usage of the pod is part of the allocation of an adopted job. */
    bool (*pod_is_covered) (const struct kpod *p);
};

/* Calls hooks->turn() on the loop's next turn. */
void exec_soon (struct exec *x);

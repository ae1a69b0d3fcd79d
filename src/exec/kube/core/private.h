/* private.h - what the files of the Kubernetes executor share
 *
 *     kube.c       the verbs of exec_kube; config.c reads its settings
 *     inventory.c  the nodes of the cluster   pods.c  its pods; what foreign pods use
 *     nodeinfo.c   reads a node object
 *     zones.c      NUMA zones of nodes: zoneobject.c reads what agents report of them,
 *                  zonerule.c says which part of it counts
 *     job.c        a job's life: one function a phase, called after each change
 *     create.c     sends the job's objects                objects.c builds them
 *     endpoints.c  the addresses of its ranks' names      endpointslice.c builds them
 *     podmaker.c   chooses the maker of its pods: pods_broker.c (podobject.c,
 *                  jobstatus.c), pods_controller.c or pods_minicluster.c (minicluster.c,
 *                  minicluster_check.c, fluxrun.c); rights.c: what the broker may do;
 *                  miniclusters.c: whether the cluster has MiniClusters
 *     starting.c   until all ranks are ready: stages, clocks, nodes at fault
 *     pulls.c      pods that pull an image, and warnings about late pods
 *     losses.c     a rank of a running job is lost: finds the reason
 *     agentio.c    the line to rank 0, output to disk    output.c writes, in a worker
 *     resize.c     changes the size of a running job
 *     remove.c     removes the job's objects
 *     groups.c     nodes that can be made (groupconfig.h)
 *     needs.c      asks for nodes that pending jobs lack (needobject.h)
 *     spaces.c     the namespaces of jobs; spacemaker.c makes them
 *     sweep.c      removes objects that belong to no job
 *     lease.c      one broker at a time for a cluster id
 *     userpolicy.c a NetworkPolicy for each user
 *     jobevents.c  reports a job's story as Events; eventobject.c builds them
 *     adopt.c      runs objects that others made, see adopt.h
 *     agentmap.c   the ConfigMap that carries the agent, unless an image does
 *
 * A job's phases (function step_PHASE in job.c):
 *
 *   OPEN -> CREATE -> BIND --READY--> RUN --FINISH or lost--> DRAIN -> ENDED
 *    | |       |        |                                       ^        |
 *    +-|-------+--------+------- start failed ------------------|--------+-cleanup()->
 *      +---- found again after a restart, FINISH is in the spool         REMOVE
 *
 * A callback (an answer, a change of a pod, bytes, the end of a worker, the clock) stores
 * the news and calls job_poke(); the function of the phase runs on a later turn of the
 * loop. So no report ever comes from within a verb.
 */
#ifndef FLUXQ_EXEC_KUBE_CORE_PRIVATE_H
#define FLUXQ_EXEC_KUBE_CORE_PRIVATE_H

#include "kube/watch.h"

#include <stdbool.h>
#include <utlist.h>
#include <uthash.h>

#include "common/sha256.h"
#include "exec/agentlink.h"
#include "exec/agentresize.h"
#include "exec/exec.h"
#include "exec/kube/cluster/admit.h"
#include "exec/kube/core/config.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/core/podsize.h"
#include "exec/kube/core/podview.h"
#include "exec/kube/files/output.h"
#include "exec/kube/make/objects.h"
#include "exec/startclock.h"
#include "protocol/launch.h"

#define MIB ((int64_t)1 << 20)

struct adopt;
struct adoptpod;
struct kjob;
struct kpolicy;
struct kslice;
struct podmaker;
struct rights_call;
struct spacemaker;

struct knode {
    char *name;
    bool offered;                 /* in the cluster, and its taints admit our pods */
    bool told;                    /* the broker knows it */
    struct machine_place *places; /* machine_places_copy(), or NULL */
    char **properties; /* "key=value" of its labels, "queue:NAME"; NULL-terminated */
    size_t nlabels;
    /* fields of its node object, while queues select nodes; or NULL */
    json_t *about;
    struct podsize size;  /* allocatable, exactly */
    uint32_t cores, gpus; /* ... rounded to whole ones, as offered */
    int64_t memory_mib;
    enum machine_node_state state;
    char reason[ADMIT_REASON];
    bool gone;         /* deleted from the cluster */
    bool notice;       /* its removal is announced (kube.notice-taints) */
    double down_since; /* clock_mono(), 0: ready; a node that is gone counts as down */
    struct podsize foreign;
    /* see gres.h; foreign_gres: used by foreign pods; told_gres: the foreign_gres
     * reported last */
    struct gres_list gres, foreign_gres, told_gres;
    uint32_t told_cores, told_gpus;
    int64_t told_memory_mib;
    unsigned npods;
    struct kpod *pods;    /* bound to it, linked by node_next */
    struct kzones *zones; /* NULL: no agent reports zones */
    uint64_t told_fingerprint;
    int group;      /* number + 1 of the node group that it counts in; 0: none */
    bool was_ready; /* at some time since the node exists */
    bool queued;    /* in x->changed_nodes */
    struct knode *next_changed;
    UT_hash_handle hh;
};

#define KWARNING_MAX 400
struct kwarning { /* the latest warning event; pulls.c */
    char *text;   /* "FailedMount: ...", or NULL */
    char when[24];
};

struct kpod {
    char *key; /* "NS/NAME" */
    const char *name;
    struct knode *node; /* or NULL: not bound */
    struct podsize size;
    struct gres_list gres;
    bool counted;                  /* in node->foreign */
    struct gres_list counted_gres; /* the part of it in node->foreign_gres */
    bool marked; /* has our labels, which anybody may write: linked by next */
    bool ours;   /* ... and is in a namespace where our jobs may be */
    uint64_t job_id;
    unsigned attempt;
    char submitted[OBJECT_SUBMITTED_MAX]; /* LABEL_SUBMITTED */
    struct podview view;
    struct kjob *job;                   /* live, or NULL */
    bool deleted, force_deleted;        /* deletion of this pod was requested */
    bool epilog_told;                   /* its failure was reported */
    bool pulls, pulled;                 /* the pod's image, as events say (pulls.c) */
    double creating_since;              /* clock_mono(): its container; 0: not */
    bool pull_counted;                  /* this time counts as time of a pull */
    struct kwarning warning;
    struct kpod *prev, *next;           /* in x->orphans or job->all_pods, if marked */
    struct kpod *node_prev, *node_next; /* in node->pods */
    /* zones.c */
    struct adoptpod *adopt;   /* adopt.h, or NULL */
    bool guaranteed, devices; /* the pod has exclusive cores and memory, or devices */
    bool runs, zone_seen;
    uint64_t run_at;
    UT_hash_handle hh;
};

enum job_phase_kube { K_OPEN, K_CREATE, K_BIND, K_RUN, K_DRAIN, K_ENDED, K_REMOVE };

enum call_kind {
    CALL_MAKE_JOB,
    CALL_GET_JOB,
    CALL_MAKE_CONFIGMAP,
    CALL_MAKE_SECRET,
    CALL_MAKE_SERVICE,
    CALL_MAKE_ENDPOINTS,
    CALL_CHECK_REST, /* rank: the CALL_MAKE_ kind that found an object of that name */
    CALL_PLACE,
    CALL_STATUS,
    CALL_EVENTS,
    CALL_DELETE,
    CALL_DELETE_POD,
    CALL_DELETE_PODS,
    CALL_LIST_PODS,
    CALL_LOOK,
    CALL_LOG,
    CALL_RESIZE_JOB,
    CALL_RESIZE_POD,
};

enum { STATUS_RUNNING, STATUS_ENDED }; /* for CALL_STATUS, in kcall.rank */

struct kcall { /* a request for a job, under way */
    struct kjob *k;
    enum call_kind kind;
    uint32_t rank;
    struct kube_request *req;
    struct kcall *prev, *next;
};

struct kwork { /* work in a worker thread: one at a time for each job */
    uv_work_t req;
    bool busy, open, opening, checkpoint;
    int rc;
    struct error err;
};

struct kresize { /* resize.c */
    enum { KRESIZE_NONE, KRESIZE_TOLD, KRESIZE_PLACE, KRESIZE_REMOVE } step;
    uint32_t generation, told_generation; /* the change begun; the change reported */
    bool patched;                         /* the patch of the Job was sent */
    double place_by;                      /* clock_mono(): all new pods must run */
    struct agentresize agent;
};

struct kjob {
    uint64_t id; /* hash key */
    struct exec *x;
    struct exec_job *job;
    struct kspace *space;
    enum job_phase_kube phase;
    char name[OBJECT_NAME_MAX];
    bool poked;
    struct kjob *next_poked;
    struct launch launch;
    char *script;     /* replaces the job's own, see minicluster_launch(); or NULL */
    json_t *settings; /* of the job's pods, see exec/podset.h */
    bool recovering;
    /* objects */
    char uid[64];                          /* of the owner, "" until it is there */
    unsigned objects_asked, objects_there; /* bits of 1 << enum call_kind */
    const struct podmaker *maker;          /* makes the Job's pods; NULL: not known yet */
    char made_at[32];                      /* the Job's creationTimestamp */
    bool status_written;                   /* we have written that the Job runs */
    bool place0_done;
    uint8_t *place_asked;  /* by rank; used by maker */
    struct kslice *slices; /* endpoints.c */
    uint32_t nslices;
    struct kcall *calls;
    struct kresize resize;
    /* pods */
    uint32_t room;      /* the largest number of ranks that the job can have */
    uint32_t nplaces;   /* ranks that get pods; launch.nnodes: ranks that must have one */
    struct kpod **pods; /* by rank */
    struct kpod *all_pods;
    unsigned npods, pods_seen;
    /* output */
    struct output *out;
    struct kwork work;
    struct strbuf pending, writing;
    bool dirty; /* written since the last checkpoint */
    bool link_stopped;
    double last_checkpoint, write_again;
    uint64_t released;
    /* the line to rank 0 */
    struct agentlink *link;
    char link_trouble[256];
    char lost_text[ERROR_TEXT_MAX + 64]; /* about the last file given up, or "" */
    bool ready_seen, ready_told;
    /* the end */
    bool have_fin;
    struct frame_finish fin;
    bool start_lost, start_retry; /* report start_failed, fin.text has the reason */
    struct hostlist *blamed;      /* nodes at fault, or NULL */
    struct hostlist *suspects;    /* the nodes among these that may be broken, or NULL */
    int start_errno;              /* the broker's own shortage, or 0 */
    bool start_drained;           /* ... and these nodes were drained for it */
    struct startclock clock;      /* until all ranks are ready */
    double missing_asked;         /* rank 0 was asked for missing ranks; 0: not */
    bool told;                    /* start_failed or finished was reported */
    bool looked, job_deleted;     /* answer to create_look() */
    char edited_text[80];         /* "": not edited, as far as create_look() knows */
    int deleted_rank;             /* the rank whose pod was deleted, -1: none known */
    int evicted_rank;             /* the rank whose pod was evicted, -1: none known; and
                                   * the reason: */
    char evicted_text[sizeof (((struct podview *)0)->evicted)];
    double looked_at; /* time of create_look(); 0: not called */
    bool kill, kill_sent;
    char kill_reason[16];
    double kill_grace;
    /* times of clock_mono(), 0: not */
    double fin_at, lost_at, kill_by, get_again;
    int pull_noted; /* 1: a pull was noted, 2: a failing pull */
    struct kwarning warning;        /* of the Job or MiniCluster */
    char late_noted[KWARNING_MAX];  /* why it starts late, as the user was told */
    double waiting_since;           /* clock_mono(): waits for its pods; 0: not */
    bool diagnosed;
    /* removal */
    bool released_told;
    bool pods_removed, delete_sent, list_sent, list_done, delete_refused;
    bool found_some; /* the last deletion found objects */
    bool left_to_gc; /* the pods: we lack the right to delete them ourselves */
    bool job_hangs;  /* the Job is deleted, but a finalizer keeps it */
    double remove_again, removing_since, tell_hang_again; /* clock_mono(), 0: not */
    UT_hash_handle hh;
};

enum agentmap_state {
    AGENTMAP_UNKNOWN,
    AGENTMAP_ASKED,
    AGENTMAP_THERE,
    AGENTMAP_LEAVING,
};

struct pods_rights {          /* podmaker.c */
    struct rights_call *call; /* under way */
    bool known, told;
    double look_at; /* clock_mono(): no request before, while rights are missing */
    char missing[256]; /* "": nothing */
};

enum space_state {
    SPACE_UNKNOWN,
    SPACE_THERE,   /* the namespace exists; its other objects were not checked */
    SPACE_READY,   /* jobs may be made there */
    SPACE_MISSING, /* neither the namespace nor anything in it exists */
};

struct kspace { /* a namespace that has jobs, or had some since the start; spaces.c */
    char *name;
    struct exec *x;
    unsigned njobs;
    /* spacemaker.c */
    enum space_state state;
    struct spacemaker *maker; /* at work, or NULL */
    /* READY, or err, holds for these jobs: of a queue that names the namespace, */
    bool literal;
    bool is_users;    /* ... or of one that has a template for users, */
    uid_t uid;        /* ... and of this user */
    struct error err; /* why the namespace could not be made ready */
    bool retry;       /* ... and whether another try may succeed */
    /* agentmap.c */
    enum agentmap_state agent_state;
    struct kube_request *agent_req;
    double agent_idle_since;
    struct error agent_err;         /* why the ConfigMap could not be made */
    struct kube_watch *agent_watch; /* watches the ConfigMap; NULL: none */
    bool agent_seen;                /* by the watch */
    bool agent_lost;                /* somebody deleted it while there are jobs */
    double agent_again;             /* clock_mono(): earliest time to make it anew */
    struct kube_request *farewell;
    struct kpolicy *policies; /* one for each user; userpolicy.c */
    struct pods_rights rights;
    UT_hash_handle hh;
};

struct exec {
    struct exec_host host;
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
    int miniclusters; /* enum miniclusters_state */
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
    unsigned farewells; /* requests at the end that remove ConfigMaps of the agent */
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
};

/* -- cluster/inventory.c -- */
int inventory_start (struct exec *x, struct error *err);
void inventory_stop (struct exec *x);
void inventory_flush (struct exec *x);          /* report changes to the broker */
void inventory_queues_changed (struct exec *x); /* x->queues has changed: find the queues
                                                 * of each node anew */
/* See exec.h. */
int inventory_amounts (const struct exec *x, const char *node, struct exec_amounts *all,
                       struct exec_amounts *foreign);

struct knode *inventory_node (struct exec *x, const char *name); /* NULL: no memory */
void inventory_node_changed (struct exec *x, struct knode *n);   /* report it, soon */

/* -- cluster/pods.c -- */
int pods_start (struct exec *x, struct error *err);
void pods_stop (struct exec *x);
void pods_adopt (struct kjob *k); /* pods that exist already become the job's */
void pods_abandon (struct kjob *k);
/* Counts the pod anew after its owner has changed. */
void pods_count_again (struct exec *x, struct kpod *p);
/* After the sweep: counts pods that belong to no job as foreign. */
void pods_strangers (struct exec *x);

/* -- topology/zones.c -- */
void zones_start (struct exec *x);
void zones_stop (struct exec *x);
void zones_tick (struct exec *x, double now);
void zones_pod_changed (struct exec *x, struct kpod *p, const json_t *pod);
/* Returns the number of zones, and the zones, of a node whose kubelet wants all of a pod
 * in one zone; else 0. */
size_t zones_of (const struct knode *n, const struct machine_zone **ret);
uint64_t zones_digest (const struct knode *n); /* of the zones */
/* Reports what is left in the zones, if it has changed since the last report, or
 * always. */
void zones_tell (struct exec *x, struct knode *n, bool always);
void zones_free (struct knode *n);

/* -- cluster/nodeinfo.c: reads a v1 Node. 0 or -ENOMEM. -- */
int node_read (struct exec *x, struct knode *n, const json_t *node);
void node_release (struct knode *n); /* frees what the node holds */

/* -- run/job.c -- */
struct kjob *kjob_create (struct exec *x, struct exec_job *job, bool recovering);
void job_free (struct kjob *k);
struct kjob *job_find (struct exec *x, uint64_t id);
void job_poke (struct kjob *k);
void job_run_poked (struct exec *x);
/* The start has failed: reports it with this text (printf). */
void job_start_failed (struct kjob *k, bool retry, const char *fmt, ...)
    PRINTF_LIKE (3, 4);
/* The start has failed for a shortage (error_shortage()) on the broker's own side. */
void job_start_short (struct kjob *k, int errnum, const char *text);
/* Called before the two above: the node of this rank is at fault; suspect: it may be
 * broken. */
void job_blame (struct kjob *k, uint32_t rank, bool suspect);
void job_set_finish (struct kjob *k, int status, const char *reason, const char *fmt, ...)
    PRINTF_LIKE (4, 5);
bool job_node_down (const struct kjob *k, const struct kpod *pod);
const char *job_node_name (const struct kjob *k, uint32_t rank);

/* -- ../kube.c -- */
/* Run job_run_poked() and inventory_flush() on the loop's next turn. */
void exec_soon (struct exec *x);
void exec_try_free (struct exec *x);

/* -- run/losses.c: while the job runs (K_RUN) -- */
/* A pod of the job has changed, or has gone (NULL). Remembers the first pod that is
 * evicted or deleted, because the Job controller then deletes the others. */
void losses_see (struct kjob *k, const struct kpod *pod);
/* Sets the job's finish if a node or pod of the job is lost. */
void losses_look (struct kjob *k, double now);
/* Adds the reason to the finish of a job that was lost or ended from outside. true: the
 * finish is final; false: the cluster has not told the reason yet, call again. */
bool losses_explain (struct kjob *k, double now);
/* Changes the finish to "oom" if the kubelet says so: an agent cannot tell why its task
 * was killed. */
void losses_amend (struct kjob *k);

/* -- run/create.c -- */
#define PATH_BATCH "/apis/batch/v1/namespaces/"
#define PATH_CORE "/api/v1/namespaces/"
#define PATH_DISCOVERY "/apis/discovery.k8s.io/v1/namespaces/"
bool call_send (struct kjob *k, enum call_kind kind, uint32_t rank, const char *method,
                const char *path, json_t *body);
void calls_cancel (struct kjob *k);
/* Drops the requests of the start that the API server has not seen. */
void calls_drop_unsent (struct kjob *k);
struct object_source create_source (const struct kjob *k);
/* The path of the collection of the job's pods. */
void create_pods_path (const struct kjob *k, char *path, size_t size);
/* Whether the API server may accept the refused request later. */
bool create_may_pass (const struct kube_result *res);
/* Sends the Job once the maker of its pods is known; until then does nothing. */
void create_job (struct kjob *k);
void create_get_job (struct kjob *k);
/* Asks whether the Job still exists, unedited. Sets looked, job_deleted, edited_text. */
void create_look (struct kjob *k);
void create_rest (struct kjob *k); /* ConfigMap, Secret, Service */
bool create_rest_done (const struct kjob *k);
/* Asks why the Job controller made no pods within limit (a text), then calls
 * job_start_failed(). */
void create_diagnose (struct kjob *k, const char *limit);

/* -- make/endpoints.c -- */
int endpoints_prepare (struct kjob *k); /* 0 or -ENOMEM */
/* Called when all pods have an address, and when an address has changed. Only before
 * READY. */
void endpoints_write (struct kjob *k);
void endpoints_answer (struct kjob *k, const struct kcall *c,
                       const struct kube_result *res);
/* The ranks have changed: writes all slices anew. */
void endpoints_renew (struct kjob *k);
/* A pod of the job has changed. */
void endpoints_see (struct kjob *k, const struct kpod *p, const char *old_address);

/* -- run/starting.c -- */
void start_tick (struct kjob *k); /* advances the clocks and finds the stages anew */
void start_look_at_pods (struct kjob *k);
/* Calls job_start_failed() if the pod shows that it will not start. */
void start_look_at_pod (struct kjob *k, uint32_t rank, const struct kpod *p);
void start_judge (struct kjob *k); /* job_start_failed() if the start takes too long */

/* -- namespaces/userpolicy.c -- */
/* true: the NetworkPolicy of the job's user exists, or none is wanted. false: the job is
 * poked once it exists, or job_start_failed() was called. */
bool userpolicy_ensure (struct kjob *k);
void userpolicies_drop (struct kspace *s);

/* -- run/jobevents.c -- */
void jobevents_started (struct kjob *k); /* all ranks are ready */
void jobevents_ended (struct kjob *k);   /* k->fin, or k->start_lost, has the outcome */

/* -- run/pulls.c -- */
void pulls_look (struct exec *x); /* soon; pokes the jobs once the answer is there */
void pulls_cancel (struct exec *x);

/* -- run/agentio.c -- */
void run_open_output (struct kjob *k);
void run_open_link (struct kjob *k);
/* Starts a worker if there is something to write. */
void run_output (struct kjob *k, bool final);
bool run_output_done (const struct kjob *k);

/* -- run/resize.c -- */
/* The number of ranks that the job cannot be without now. */
uint32_t resize_least (const struct exec_job *job);
void resize_step (struct kjob *k); /* in K_RUN */
void resize_frame (struct kjob *k, const struct frame *f);
/* The new pods do not come. */
void resize_failed (struct kjob *k, const char *text);
void resize_job_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res);
void resize_pod_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res);

/* -- run/remove.c -- */
void remove_step (struct kjob *k);
void remove_answer (struct kjob *k, const struct kcall *c, const struct kube_result *res);
/* Deletes one object of the job; sets k->delete_refused without memory. */
void remove_one (struct kjob *k, uint32_t kind, const char *name);
/* Kinds of objects with our label, and how they are deleted. MiniClusters come first,
 * since the operator makes their Jobs; Jobs are next, since their controller makes pods.
 * Objects of the kinds before KUBE_ENDPOINTS have the name of their job. */
enum {
    KUBE_MINICLUSTERS,
    KUBE_JOBS,
    KUBE_CONFIGMAPS,
    KUBE_SECRETS,
    KUBE_SERVICES,
    KUBE_ENDPOINTS,
    KUBE_PODS,
    KUBE_KINDS
};
struct kube_kind {
    const char *prefix, *kind, *query;
};
extern const struct kube_kind kube_kinds[KUBE_KINDS];

/* -- ../sweep.c -- */
/* The broker's live jobs (sorted ids). The first call starts a sweep. */
void sweep_told (struct exec *x, const uint64_t *live, size_t nlive);
void sweep_tick (struct exec *x, double now);
void sweep_cancel (struct exec *x);

/* -- namespaces/agentmap.c -- */
int agentmap_load (struct exec *x, struct error *err);
/* true: the ConfigMap exists. false: the jobs are poked once it does, or once agent_err
 * is set. */
bool agentmap_ensure (struct kspace *s,
                      bool always); /* always: also if an image has the agent */
void agentmap_there (struct kspace *s); /* it was seen, and is watched from now on */
void agentmap_unwatch (struct kspace *s);
void agentmap_tick (struct exec *x, double now);
char *agentmap_path (const struct kspace *s);

/* -- namespaces/spaces.c -- */
/* The result lives as long as x. NULL: no memory. */
struct kspace *spaces_get (struct exec *x, const char *name);
/* The namespace of the job, as of its allocation; NULL and an error. */
struct kspace *spaces_of_job (struct exec *x, const struct exec_job *job,
                              struct error *err);
/* Whether a job of ours can be in that namespace, with the present queues. len: of the
 * name. */
bool spaces_may_have (const struct exec *x, const char *name, size_t len);
/* Some queue has a template: its namespaces are found by their labels. */
bool spaces_are_listed (const struct exec *x);
void spaces_poke (struct kspace *s); /* pokes its jobs */
void spaces_free (struct exec *x);   /* cancels all requests under way */

/* -- namespaces/spacemaker.c -- */
/* true: the Job can be made in its namespace. false: the job is poked when that may be
 * so, or job_start_failed() was called. */
bool space_ensure (struct kjob *k);
/* true: it is known whether the namespace exists (k->space->state), or nobody can tell.
 * false: the job is poked then. */
bool space_look (struct kjob *k);
/* A request in the namespace was refused: the namespace may have gone. */
void space_doubt (struct kspace *s, const struct kube_result *res);
void space_tick (struct exec *x);
void space_cancel (struct kspace *s);

#endif

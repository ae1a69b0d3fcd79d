/* private.h - what the files of the Kubernetes executor share
 *
 *     kube.c       the verbs of exec_kube; config.c reads its settings
 *     inventory.c  nodes of the cluster      pods.c  its pods: whose, what others use
 *     nodeinfo.c   what a node object says
 *     zones.c      NUMA zones of nodes: zoneobject.c reads what agents say of them,
 *                  zonerule.c says what of it counts
 *     job.c        a job's life: one function a phase, called when something has changed
 *     create.c     the job's objects                     objects.c builds them
 *     endpoints.c  the addresses of its ranks' names      endpointslice.c builds them
 *     podmaker.c   who makes its pods: pods_broker.c (podobject.c, jobstatus.c),
 *                  pods_controller.c or pods_minicluster.c (minicluster.c,
 *                  minicluster_check.c, fluxrun.c); rights.c: what the broker may do;
 *                  miniclusters.c: whether the cluster has such
 *     starting.c   until all ranks are ready: stages, clocks, who is at fault
 *     pulls.c      whose image is being pulled, and what warnings say of late pods
 *     losses.c     a rank of a running job is lost: why
 *     run.c        the line to rank 0, output to disk    output.c writes, in a worker
 *     resize.c     a running job becomes another size
 *     remove.c     what is taken away again
 *     groups.c     nodes that could be made (groupconfig.h)
 *     needs.c      nodes that waiting jobs lack are asked for (needobject.h)
 *     spaces.c     the namespaces that jobs are in; spacemaker.c makes them
 *     sweep.c      what belongs to no job goes
 *     lease.c      one broker at a time for a cluster id
 *     userpolicy.c a NetworkPolicy for each user
 *     jobevents.c  its story as Events, of which eventobject.c makes one
 *     adopt.c      what others made and this broker runs, see adopt.h
 *     agentmap.c   the ConfigMap that carries the agent, where no image does
 *
 * A job's phases (function step_PHASE in job.c):
 *
 *   OPEN -> CREATE -> BIND --READY--> RUN --FINISH or lost--> DRAIN -> ENDED
 *    | |       |        |                                       ^        |
 *    +-|-------+--------+------- start failed ------------------|--------+-cleanup()->
 *      +---- found again after a restart, FINISH is in the spool         REMOVE
 *
 * Whoever learns something (an answer, a pod's change, bytes, a worker's end, the clock)
 * writes it down and calls job_poke(); the phase's function runs on a later turn of the
 * loop. So no report ever comes from within a verb.
 */
#ifndef FLUXQ_EXEC_KUBE_PRIVATE_H
#define FLUXQ_EXEC_KUBE_PRIVATE_H

#include "kube/watch.h"

#include <stdbool.h>
#include <utlist.h>
#include <uthash.h>

#include "common/launch.h"
#include "common/sha256.h"
#include "exec/agentlink.h"
#include "exec/agentresize.h"
#include "exec/exec.h"
#include "exec/kube/admit.h"
#include "exec/kube/config.h"
#include "exec/kube/gres.h"
#include "exec/kube/objects.h"
#include "exec/kube/output.h"
#include "exec/kube/podsize.h"
#include "exec/kube/podview.h"
#include "exec/startclock.h"

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
    bool offered;                 /* the cluster has it and its taints let us in */
    bool told;                    /* the broker knows it */
    struct machine_place *places; /* machine_places_copy(), or NULL */
    char **properties; /* "key=value" of its labels, "queue:NAME"; NULL-terminated */
    size_t nlabels;
    json_t *about;        /* what it was read from, while queues select nodes; or NULL */
    struct podsize size;  /* allocatable, exactly */
    uint32_t cores, gpus; /* ... in whole ones, as it is offered */
    int64_t memory_mib;
    enum machine_node_state state;
    char reason[ADMIT_REASON];
    bool gone;         /* deleted from the cluster */
    bool notice;       /* somebody has announced that it will go (kube.notice-taints) */
    double down_since; /* clock_mono(), 0: ready; a node that is gone counts as down */
    struct podsize foreign;
    struct gres_list gres, foreign_gres, told_gres; /* see gres.h; foreign, as told */
    uint32_t told_cores, told_gpus;
    int64_t told_memory_mib;
    unsigned npods;
    struct kpod *pods;    /* that are bound to it, by node_next */
    struct kzones *zones; /* NULL: nobody has told */
    uint64_t told_fingerprint;
    int group;      /* it counts as one of that group (its number + 1); 0: of none */
    bool was_ready; /* at some time since it is there */
    bool queued;    /* in x->changed_nodes */
    struct knode *next_changed;
    UT_hash_handle hh;
};

#define KWARNING_MAX 400
struct kwarning { /* the latest event of a kind that warns; pulls.c */
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
    struct gres_list counted_gres; /* of its, in node->foreign_gres */
    bool marked; /* has our labels, which anybody may write: it is in a list below */
    bool ours;   /* ... and is where jobs of ours may be */
    uint64_t job_id;
    unsigned attempt;
    char submitted[OBJECT_SUBMITTED_MAX]; /* LABEL_SUBMITTED */
    struct podview view;
    struct kjob *job;                   /* live, or NULL */
    bool deleted, force_deleted;        /* asked for, one by one */
    bool epilog_told;                   /* that it failed */
    bool pulls, pulled;                 /* its image, as events tell (pulls.c) */
    double creating_since;              /* clock_mono(), its container; 0: it is not */
    bool pull_counted;                  /* that time counts as time of a pull */
    struct kwarning warning;
    struct kpod *prev, *next;           /* in x->orphans or job->all_pods, if marked */
    struct kpod *node_prev, *node_next; /* in node->pods */
    /* zones.c */
    struct adoptpod *adopt;   /* adopt.h, or NULL */
    bool guaranteed, devices; /* it has cores and memory, or devices, for itself alone */
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
    CALL_CHECK_REST, /* rank: the CALL_MAKE_ kind that found one of the name */
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

enum { STATUS_RUNNING, STATUS_ENDED }; /* CALL_STATUS: kcall.rank */

struct kcall { /* a request of a job under way */
    struct kjob *k;
    enum call_kind kind;
    uint32_t rank;
    struct kube_request *req;
    struct kcall *prev, *next;
};

struct kwork { /* of a worker thread: one at a time for a job */
    uv_work_t req;
    bool busy, open, opening, checkpoint;
    int rc;
    struct error err;
};

struct kresize { /* resize.c */
    enum { KRESIZE_NONE, KRESIZE_TOLD, KRESIZE_PLACE, KRESIZE_REMOVE } step;
    uint32_t generation, told_generation; /* that was begun; of which the broker knows */
    bool patched;                         /* the Job, or that was asked for */
    double place_by;                      /* clock_mono(): all new pods are to run */
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
    char *script;     /* in place of its own, see minicluster_launch(); or NULL */
    json_t *settings; /* of its pods, see exec/podset.h */
    bool recovering;
    /* objects */
    char uid[64];                          /* of the owner, "" until it is there */
    unsigned objects_asked, objects_there; /* bits of 1 << enum call_kind */
    const struct podmaker *maker;          /* that of the Job; NULL: not known yet */
    char made_at[32];                      /* the Job's creationTimestamp */
    bool status_written;                   /* that it runs, by us */
    bool place0_done;
    uint8_t *place_asked;  /* by rank; of maker */
    struct kslice *slices; /* endpoints.c */
    uint32_t nslices;
    struct kcall *calls;
    struct kresize resize;
    /* pods */
    uint32_t room;      /* ranks that there may ever be */
    uint32_t nplaces;   /* ranks that are to have pods; launch.nnodes: those that must */
    struct kpod **pods; /* by rank */
    struct kpod *all_pods;
    unsigned npods, pods_seen;
    /* output */
    struct output *out;
    struct kwork work;
    struct strbuf pending, writing;
    bool dirty; /* written, but no checkpoint yet */
    bool link_stopped;
    double last_checkpoint, write_again;
    uint64_t released;
    /* the line */
    struct agentlink *link;
    char link_trouble[256];
    char lost_text[ERROR_TEXT_MAX + 64]; /* of the last file that was given up, or "" */
    bool ready_seen, ready_told;
    /* the end */
    bool have_fin;
    struct frame_finish fin;
    bool start_lost, start_retry; /* start_failed is to be told, fin.text says why */
    struct hostlist *blamed;      /* nodes at fault, or NULL */
    struct hostlist *suspects;    /* those of them that may be broken, or NULL */
    int start_errno;              /* the broker is short of something, or 0 */
    bool start_drained;           /* ... which have been drained for it */
    struct startclock clock;      /* until all ranks are ready */
    double missing_asked;         /* of rank 0, who has not joined; 0: not */
    bool told;                    /* start_failed or finished */
    bool looked, job_deleted;     /* answer of create_look() */
    char edited_text[80];         /* "": not, as far as create_look() knows */
    int deleted_rank;             /* -1: none that we know of */
    int evicted_rank;             /* the same; and why: */
    char evicted_text[sizeof (((struct podview *)0)->evicted)];
    double looked_at; /* create_look() was called; 0: not */
    bool kill, kill_sent;
    char kill_reason[16];
    double kill_grace;
    /* clock_mono() of things, 0: not */
    double fin_at, lost_at, kill_by, get_again;
    int pull_noted; /* 1: that it goes on, 2: that it does not work */
    struct kwarning warning;        /* of the Job or MiniCluster */
    char late_noted[KWARNING_MAX];  /* why it has not started yet, as the user was told */
    double waiting_since;           /* clock_mono(): for its pods; 0: not */
    bool diagnosed;
    /* removal */
    bool released_told;
    bool pods_removed, delete_sent, list_sent, list_done, delete_refused;
    bool found_some; /* of the objects that were deleted last */
    bool left_to_gc; /* its pods: the right to delete them at once was refused */
    bool job_hangs;  /* a finalizer keeps the Job, which is deleted */
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
    double look_at; /* clock_mono(): not to be asked before, while something is missing */
    char missing[256]; /* "": nothing */
};

enum space_state {
    SPACE_UNKNOWN,
    SPACE_THERE,   /* the namespace is there; what comes with it was not looked at */
    SPACE_READY,   /* jobs may be made there */
    SPACE_MISSING, /* it is not there, nor anything in it */
};

struct kspace { /* a namespace that jobs are in, or were since the start; spaces.c */
    char *name;
    struct exec *x;
    unsigned njobs;
    /* spacemaker.c */
    enum space_state state;
    struct spacemaker *maker; /* at work, or NULL */
    bool literal,
        is_users;     /* READY, or err, is for such jobs: of a queue that names it, */
    uid_t uid;        /* or has a template of users; and of this one */
    struct error err; /* why it could not be made ready */
    bool retry;       /* ... and whether that may pass */
    /* agentmap.c */
    enum agentmap_state agent_state;
    struct kube_request *agent_req;
    double agent_idle_since;
    struct error agent_err;         /* why it could not be made */
    struct kube_watch *agent_watch; /* of it; NULL: none */
    bool agent_seen;                /* by the watch */
    bool agent_lost;                /* somebody deleted it while jobs are there */
    double agent_again;             /* clock_mono(): not to be made anew before */
    struct kube_request *farewell;
    struct kpolicy *policies; /* of users; userpolicy.c */
    struct pods_rights rights;
    UT_hash_handle hh;
};

struct exec {
    struct exec_host host;
    struct kube_config cfg;
    json_t *sets;   /* of the queues' pods, by name; see exec/podset.h */
    json_t *queues; /* the same if they say which nodes they have, else NULL */
    struct kspace *spaces;
    struct kspace *space; /* of queues that name none: kube.namespace */
    char *whoami;         /* the broker's name in the cluster; NULL: not asked yet */
    bool pods_dropped;    /* the API server does not keep spec.managedBy */
    struct httpc *http;
    struct kube *kube;
    struct kube_watch *node_watch, *pod_watch;
    bool nodes_listed, pods_listed, complete_told;
    /* zones.c; clock_mono() */
    struct kube_watch *zone_watch;      /* NULL: there is nothing to watch */
    struct kube_request *zones_request; /* whether there is */
    double zones_ask_at;
    bool zones_ready; /* the first list is there, or none is to come */
    bool zones_missing_told;
    bool swept; /* from now on pods of ours without a job are strangers' */
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
    double pulls_known, pulls_next; /* as of when; not to be asked before */
    bool pulls_refused;
    /* jobevents.c */
    unsigned events_waiting; /* for an answer */
    bool events_refused;
    unsigned open_handles;
    unsigned working; /* worker threads' tasks under way */
    bool closing;
    unsigned farewells; /* ConfigMaps of the agent that are being removed at the end */
    /* agentmap.c */
    char agent_name[OBJECT_NAME_MAX];
    char agent_digest[SHA256_HEX_SIZE];
    struct strbuf agent;
    /* sweep.c */
    struct sweep *sweep;
    uint64_t *live; /* jobs, as the broker said last; sorted */
    size_t nlive;
    double sweep_next;      /* clock_mono() */
    struct kgroups *groups; /* groups.h; or NULL: none are configured */
    struct kneeds *needs;   /* needs.h; likewise */
    struct adopt *adopt;    /* adopt.h; NULL: nothing is adopted */
};

/* inventory.c */
int inventory_start (struct exec *x, struct error *err);
void inventory_stop (struct exec *x);
void inventory_flush (struct exec *x);          /* tell the broker what has changed */
void inventory_queues_changed (struct exec *x); /* x->queues: whose are the nodes now? */
/* See exec.h. */
int inventory_amounts (const struct exec *x, const char *node, struct exec_amounts *all,
                       struct exec_amounts *foreign);

struct knode *inventory_node (struct exec *x, const char *name); /* NULL: no memory */
void inventory_node_changed (struct exec *x, struct knode *n);   /* tell it, soon */

/* pods.c */
int pods_start (struct exec *x, struct error *err);
void pods_stop (struct exec *x);
void pods_adopt (struct kjob *k); /* those that are there already become the job's */
void pods_abandon (struct kjob *k);
/* Whose it is has changed. */
void pods_count_again (struct exec *x, struct kpod *p);
/* After the sweep: count those that no job wants. */
void pods_strangers (struct exec *x);

/* zones.c */
void zones_start (struct exec *x);
void zones_stop (struct exec *x);
void zones_tick (struct exec *x, double now);
void zones_pod_changed (struct exec *x, struct kpod *p, const json_t *pod);
/* Of a node whose kubelet wants all of a pod in one zone; else 0. */
size_t zones_of (const struct knode *n, const struct machine_zone **ret);
uint64_t zones_digest (const struct knode *n); /* of these */
/* What is left in them, if it is not what was told last. */
void zones_tell (struct exec *x, struct knode *n, bool always);
void zones_free (struct knode *n);

/* nodeinfo.c: of a v1 Node. 0 or -ENOMEM. */
int node_read (struct exec *x, struct knode *n, const json_t *node);
void node_release (struct knode *n); /* what it holds */

/* job.c */
struct kjob *kjob_create (struct exec *x, struct exec_job *job, bool recovering);
void job_free (struct kjob *k);
struct kjob *job_find (struct exec *x, uint64_t id);
void job_poke (struct kjob *k);
void job_run_poked (struct exec *x);
/* The start is lost: tell it, with this text (printf). */
void job_start_failed (struct kjob *k, bool retry, const char *fmt, ...)
    PRINTF_LIKE (3, 4);
/* The same for a shortage (error_shortage()) on the broker's own side. */
void job_start_short (struct kjob *k, int errnum, const char *text);
/* Before that: the node of this rank is at fault; suspect: it may be broken. */
void job_blame (struct kjob *k, uint32_t rank, bool suspect);
void job_set_finish (struct kjob *k, int status, const char *reason, const char *fmt, ...)
    PRINTF_LIKE (4, 5);
bool job_node_down (const struct kjob *k, const struct kpod *pod);
const char *job_node_name (const struct kjob *k, uint32_t rank);

/* kube.c */
/* Run job_run_poked() and inventory_flush() on the loop's next turn. */
void exec_soon (struct exec *x);
void exec_try_free (struct exec *x);

/* losses.c: while it runs (K_RUN) */
/* A pod of its has changed, or has gone (NULL): the first that is evicted or deleted is the
 * one to name, as the Job controller then deletes the others. */
void losses_see (struct kjob *k, const struct kpod *pod);
/* Sets its finish if a node or pod of its is lost. */
void losses_look (struct kjob *k, double now);
/* Its finish is what it is to stay, if it is a loss with its reason; false: the cluster has
 * not told yet, ask again. */
bool losses_explain (struct kjob *k, double now);
/* An agent cannot tell why its task was killed; the kubelet can. */
void losses_amend (struct kjob *k);

/* create.c */
#define PATH_BATCH "/apis/batch/v1/namespaces/"
#define PATH_CORE "/api/v1/namespaces/"
#define PATH_DISCOVERY "/apis/discovery.k8s.io/v1/namespaces/"
bool call_send (struct kjob *k, enum call_kind kind, uint32_t rank, const char *method,
                const char *path, json_t *body);
void calls_cancel (struct kjob *k);
/* Of its start: those that the API server has not seen. */
void calls_drop_unsent (struct kjob *k);
struct object_source create_source (const struct kjob *k);
/* Of the collection of its pods. */
void create_pods_path (const struct kjob *k, char *path, size_t size);
/* A refusal that time may heal. */
bool create_may_pass (const struct kube_result *res);
/* Once it is known who makes its pods; else nothing happens yet. */
void create_job (struct kjob *k);
void create_get_job (struct kjob *k);
/* Is the Job still wanted there, and as it was? Sets looked, job_deleted, edited_text. */
void create_look (struct kjob *k);
void create_rest (struct kjob *k); /* ConfigMap, Secret, Service */
bool create_rest_done (const struct kjob *k);
/* What does the Job controller say, who made no pods in that time (a text)? Then
 * job_start_failed(). */
void create_diagnose (struct kjob *k, const char *limit);

/* endpoints.c */
int endpoints_prepare (struct kjob *k); /* 0 or -ENOMEM */
/* Once all pods have an address, and when one of these has changed. Only before READY. */
void endpoints_write (struct kjob *k);
void endpoints_answer (struct kjob *k, const struct kcall *c,
                       const struct kube_result *res);
/* Its ranks have changed: all is to be written anew. */
void endpoints_renew (struct kjob *k);
/* A pod of its has changed. */
void endpoints_see (struct kjob *k, const struct kpod *p, const char *old_address);

/* starting.c */
void start_tick (struct kjob *k); /* the clocks go on, the stages are taken anew */
void start_look_at_pods (struct kjob *k);
/* job_start_failed() if it shows that it will not come up. */
void start_look_at_pod (struct kjob *k, uint32_t rank, const struct kpod *p);
void start_judge (struct kjob *k); /* job_start_failed() if it takes too long */

/* userpolicy.c */
/* true: its user's NetworkPolicy is there, or none is wanted. Else it is poked when that is so, or
 * job_start_failed() was called. */
bool userpolicy_ensure (struct kjob *k);
void userpolicies_drop (struct kspace *s);

/* jobevents.c */
void jobevents_started (struct kjob *k); /* all of its ranks are ready */
void jobevents_ended (struct kjob *k);   /* k->fin tells how, or k->start_lost */

/* pulls.c */
void pulls_look (struct exec *x); /* soon; jobs are poked when the answer is there */
void pulls_cancel (struct exec *x);

/* run.c */
void run_open_output (struct kjob *k);
void run_open_link (struct kjob *k);
/* Start a worker if there is something to do. */
void run_output (struct kjob *k, bool final);
bool run_output_done (const struct kjob *k);

/* resize.c */
/* Ranks that the job cannot be without now. */
uint32_t resize_least (const struct exec_job *job);
void resize_step (struct kjob *k); /* in K_RUN */
void resize_frame (struct kjob *k, const struct frame *f);
/* New pods do not come. */
void resize_failed (struct kjob *k, const char *text);
void resize_job_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res);
void resize_pod_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res);

/* remove.c */
void remove_step (struct kjob *k);
void remove_answer (struct kjob *k, const struct kcall *c, const struct kube_result *res);
/* One of its objects; k->delete_refused without memory. */
void remove_one (struct kjob *k, uint32_t kind, const char *name);
/* Kinds that carry our label, and how they are deleted. MiniClusters first: the operator makes
 * their Jobs; then these: their controller makes pods. All before KUBE_ENDPOINTS are made under
 * a job's own name. */
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

/* sweep.c */
/* These jobs (sorted ids) are live, the broker says; the first time it sweeps. */
void sweep_told (struct exec *x, const uint64_t *live, size_t nlive);
void sweep_tick (struct exec *x, double now);
void sweep_cancel (struct exec *x);

/* agentmap.c */
int agentmap_load (struct exec *x, struct error *err);
/* true: it is there; else jobs are poked when it is, or when agent_err is set. */
bool agentmap_ensure (struct kspace *s,
                      bool always); /* always: also where an image has it */
void agentmap_there (struct kspace *s); /* it was seen, and is watched from now on */
void agentmap_unwatch (struct kspace *s);
void agentmap_tick (struct exec *x, double now);
char *agentmap_path (const struct kspace *s);

/* spaces.c */
/* It lives as long as x. NULL: no memory. */
struct kspace *spaces_get (struct exec *x, const char *name);
/* Of the job, as it was when it was placed; NULL and why. */
struct kspace *spaces_of_job (struct exec *x, const struct exec_job *job,
                              struct error *err);
/* Whether a job of ours may be in that namespace, as the queues are now. len: of the name. */
bool spaces_may_have (const struct exec *x, const char *name, size_t len);
/* Some queue has a template: its namespaces are known by their labels. */
bool spaces_are_listed (const struct exec *x);
void spaces_poke (struct kspace *s); /* its jobs */
void spaces_free (struct exec *x);   /* cancels all that is under way */

/* spacemaker.c */
/* true: its Job can be made there. Else it is poked when that may be so, or job_start_failed()
 * was called. */
bool space_ensure (struct kjob *k);
/* true: it is known whether the namespace is there (k->space->state), or nobody can tell. Else
 * it is poked. */
bool space_look (struct kjob *k);
/* Something was refused there: it may have gone. */
void space_doubt (struct kspace *s, const struct kube_result *res);
void space_tick (struct exec *x);
void space_cancel (struct kspace *s);

#endif

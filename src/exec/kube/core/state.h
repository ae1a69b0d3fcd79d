/* state.h - the records that the rooms of the Kubernetes executor share
 *
 * The room core is below all others. Settings come in from fluxq.yaml (config.h), and
 * fields of nodes and pods from the API server (podview.h, podsize.h, gres.h). Nodes,
 * pods, jobs and namespaces have one record each, found from struct exec. A room changes
 * its own fields, which the comments below name, reads all others, and tells a job of
 * news by job_poke(). A higher room includes a lower one and calls it; a lower room calls
 * a higher one by struct exec_hooks alone.
 *
 *     struct kjob *k = job_find (x, 12);
 *     job_start_failed (k, true, "node %s: ...", job_node_name (k, 0));
 *
 * All runs in the loop's thread. A callback (an answer, a change of a pod, bytes, the end
 * of a worker, the clock) stores the news and calls job_poke(); the function of the phase
 * runs on a later turn of the loop. So no report ever comes from within a verb.
 */
#ifndef FLUXQ_EXEC_KUBE_CORE_STATE_H
#define FLUXQ_EXEC_KUBE_CORE_STATE_H

#include "kube/watch.h"

#include <stdbool.h>
#include <utlist.h>
#include <uthash.h>

#include "common/sha256.h"
#include "exec/agentlink.h"
#include "exec/agentresize.h"
#include "exec/exec.h"
#include "exec/kube/core/config.h"
#include "exec/kube/core/names.h"
#include "exec/kube/core/podsize.h"
#include "exec/kube/core/podview.h"
#include "exec/startclock.h"
#include "protocol/launch.h"

#define MIB ((int64_t)1 << 20)

struct adopt;
struct adoptpod;
struct exec_hooks;
struct kjob;
struct kpolicy;
struct kslice;
struct output;
struct podmaker;
struct rights_call;
struct spacemaker;

#define KNODE_REASON 128
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
    char reason[KNODE_REASON];
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

struct pods_rights {          /* podrights.c */
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
    struct kube_request *agent_removal; /* when the broker ends */
    struct kpolicy *policies; /* one for each user; userpolicy.c */
    struct pods_rights rights;
    UT_hash_handle hh;
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
    /* A pod of the cluster has changed, but its usage is not counted anew yet. */
    void (*pod_seen) (struct exec *x, struct kpod *p, const json_t *pod);
    /* A pod of the cluster has gone. p: the record, freed after that; NULL: none. */
    void (*pod_gone) (struct exec *x, const char *ns, const char *name, struct kpod *p);
    /* Whether the usage of the pod is part of the allocation of an adopted job. */
    bool (*pod_is_covered) (const struct kpod *p);
};

/* Calls hooks->turn() on the loop's next turn. */
void exec_soon (struct exec *x);

/* The node of that name, made if it is new; NULL: no memory. */
struct knode *knode_get (struct exec *x, const char *name);
/* Reports the node to the broker, soon. */
void knode_changed (struct exec *x, struct knode *n);

void space_poke_jobs (struct kspace *s);

struct kjob *job_find (struct exec *x, uint64_t id);
/* Runs the function of the job's phase on the loop's next turn. */
void job_poke (struct kjob *k);
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

#endif

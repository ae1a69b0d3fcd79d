/* kjob.h - a job; make/ changes what is made for it, run/ the rest
 */
#pragma once

#include <uthash.h>

#include "exec/agentlink.h"
#include "exec/agentresize.h"
#include "exec/exec.h"
#include "exec/kube/core/kpod.h"
#include "exec/startclock.h"
#include "kube/watch.h"
#include "protocol/launch.h"

struct exec;
struct kslice;
struct kspace;
struct output;
struct podmaker;

enum job_phase_kube { K_OPEN, K_CREATE, K_BIND, K_RUN, K_DRAIN, K_ENDED, K_REMOVE };

enum call_kind {
    CALL_MAKE_JOB,
    CALL_MAKE_PART, /* rank, also of CALL_GET_JOB and CALL_LOOK: the component */
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

enum { STATUS_RUNNING, STATUS_ENDED }; /* for CALL_STATUS, in kcall.rank */

/* A Job of the job, or its MiniCluster. Each component of a heterogeneous job has one, any
 * other job has one. The first owns the job's other objects. */
struct kpart {
    char name[OBJECT_NAME_MAX];
    char uid[64];        /* "" until it is there */
    char made_at[32];    /* its creationTimestamp */
    bool asked;          /* a further one was requested */
    bool status_written; /* we have written that it runs */
    uint32_t first;      /* its first rank */
    unsigned pods_seen;
};

struct kjob {
    uint64_t id; /* hash key */
    struct exec *x;
    struct exec_job *job;
    struct kspace *space;
    enum job_phase_kube phase;
    char name[OBJECT_NAME_MAX]; /* of its objects, and of the first Job */
    bool poked;
    struct kjob *next_poked;
    struct launch launch;
    char *script;     /* replaces the job's own, see minicluster_launch(); or NULL */
    json_t *settings; /* of the job's pods, see exec/podset.h */
    bool recovering;
    /* objects */
    struct kpart *parts; /* by component, at least one */
    uint32_t nparts;
    unsigned objects_asked, objects_there; /* bits of 1 << enum call_kind */
    const struct podmaker *maker;          /* makes the Jobs' pods; NULL: not known yet */
    bool short_names;                      /* of the ranks (make/rankname.h) */
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
    uint32_t changed_part;        /* the one that is deleted or edited */
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
/* Whether all its Jobs are there. */
bool job_is_made (const struct kjob *k);
/* The component of a rank, and the number of a component's ranks. */
uint32_t job_part_of (const struct kjob *k, uint32_t rank);
uint32_t job_part_ranks (const struct kjob *k, uint32_t part);
/* The rank whose pod this is; -1: none, or it is not known. */
int job_rank_of (const struct kjob *k, const struct kpod *p);
bool job_node_down (const struct kjob *k, const struct kpod *pod);
const char *job_node_name (const struct kjob *k, uint32_t rank);

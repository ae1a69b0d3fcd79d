/* adopt.h - objects that others made and want to be queued: the side of exec_ops.adopted
 *
 * Jobs and pods with the label fluxq.io/queue come in from the namespaces in kube.adopt
 * (pods by the watch of cluster/pods.c), as jobspecs they go to the broker, and its
 * start(), terminate() and cleanup() come back. Patches of the objects go out.
 *
 *     adopt.c      watches the namespaces; tells the broker of new objects
 *     adoptee.c    the records of the objects, and the requests for them
 *     adoptowner.c finds the owner of the job
 *     adoptpods.c  finds the object of each pod; gives each pod a node
 *     adoptgroup.c plain pods, and groups of them
 *     adoptrun.c   from start() to cleaned(): a function a phase
 *     adoptrelease.c  one of these phases: unsuspends a Job with our template
 *     adoptreport.c   writes annotations and events to the object
 *     adoptspec.c  makes the jobspec      adoptview.c  reads the object's status
 *
 * A Job with the label fluxq.io/queue runs only while its job does: the executor
 * suspends every other such Job that is not suspended. The phases of an object here,
 * beside those of its job in the broker:
 *
 *   WAITS --start()--> RELEASE --unsuspended--> START --ready--> RUN --over, lost--> ENDED
 *     ^                   |                       |                                    |
 *     |                   +---- start failed -----+---------------------> ENDED -------+
 *     +---- cleaned ---- REMOVE (suspended, or deleted, until no pod runs) <--cleanup()-+
 *
 * The object holds all that is known of it. After a restart the broker names the job of
 * the object (foreign_state()), and recover() continues at START or RUN.
 */
#pragma once

#include "exec/kube/adopt/adoptspec.h"
#include "exec/kube/adopt/adoptview.h"
#include "exec/kube/core/kpod.h"
#include "exec/kube/core/state.h"

/* seconds between two reports of a pending job's reason */
#define ADOPT_REPORT_EVERY 10.0
#define ADOPT_KEY_MAX 192
#define ADOPT_TOKEN_MAX 240

enum adopt_phase { A_WAITS, A_RELEASE, A_START, A_RUN, A_ENDED, A_REMOVE };

enum adopt_call {
    ADOPT_CALL_SUSPEND,
    ADOPT_CALL_RESET,
    ADOPT_CALL_RELEASE,
    ADOPT_CALL_DELETE,
    ADOPT_CALL_PLACE,
    ADOPT_CALL_NOTE,
    ADOPT_CALL_EVENT,
    ADOPT_CALL_DEADLINE,
    ADOPT_CALL_POD, /* deletes a pod */
};

struct acall { /* a request under way */
    struct adoptee *a;
    enum adopt_call kind;
    struct kube_request *req;
    char pod[254]; /* name of the pod, for ADOPT_CALL_PLACE */
    struct acall *prev, *next;
};

struct adoptpod { /* a pod that may belong to an adoptee */
    struct kpod *p;
    char key[ADOPT_KEY_MAX], uid[40];
    json_t *object;    /* while its group has no job yet; or NULL */
    struct adoptee *a; /* or NULL: not known (yet) */
    bool gated, binds;
    char node[254];               /* the node that it was given; or "" */
    bool asked;                   /* its place was requested */
    bool old;                     /* had ended before this attempt began */
    bool removed;                 /* its deletion was requested */
    struct adoptpod *prev, *next; /* in a->pods or adopt->orphans */
};

struct adoptspace { /* a namespace of kube.adopt */
    struct exec *x;
    const char *name; /* borrowed from the configuration */
    struct kube_watch *watch;
    bool listed;
};

struct adoptee {
    char key[ADOPT_KEY_MAX]; /* "job:UID", "group:NAMESPACE/NAME" */
    /* the broker's key: key, for a group with the uid of a pod */
    char token[ADOPT_TOKEN_MAX];
    bool group;                 /* a group of pods, not a Job */
    uint32_t size;              /* of the group */
    double grew_at;             /* clock_mono(): when its last pod came */
    struct exec *x;
    struct adoptspace *space; /* NULL: its namespace is not in kube.adopt any more */
    char *namespace_, *name;
    bool poked;
    struct adoptee *next_poked;
    /* the state in the API server */
    bool seen, gone_told;
    bool was_open; /* when this broker first saw the Job, it was not over */
    struct adoptview view;
    json_t *object; /* while it has no job yet; or NULL */
    json_t *tolerations;
    /* the state in the broker */
    uint64_t id; /* 0: no job yet */
    bool asked, active, ended, cancelled;
    double ask_at;       /* clock_mono(): when to ask again after a refusal */
    int64_t refused_gen; /* generation that was refused; -1: none was */
    char state[ADOPT_STATUS_MAX], text[512];
    /* last report, see adoptreport.c */
    char reported[ADOPT_STATUS_MAX];
    double reported_at;
    bool warn;
    /* the run */
    struct exec_job *job; /* from start() to cleaned() */
    enum adopt_phase phase;
    bool recovering, kill, told, released_told, ready_told;
    char kill_reason[16];
    bool deadline_sent;
    char tried[ADOPT_VERSION_MAX];  /* version that we tried to release */
    char healed[ADOPT_VERSION_MAX]; /* ... that we gave a startTime */
    double since;                  /* clock_mono(): when the phase began */
    double ticked, spent_place, spent_pull, spent_up; /* seconds of A_START */
    double lost_at, limit_at, hang_told;
    int exit_code; /* of the first pod that failed; 0: none did */
    char pod_text[256];
    struct adoptpod *pods;
    unsigned npods;
    struct acall *calls;
    UT_hash_handle hh;
};

struct adopt {
    struct exec *x;
    struct adoptspace *spaces;
    size_t nspaces;
    struct adoptee *all, *poked;
    struct adoptpod *orphans;
    /* the policy that protects fluxq.io/owner */
    struct kube_request *policy_req;
    bool policy_known, policy_holds, policy_told;
    char policy_since[32]; /* start of its enforcement, as the API server writes times */
    double policy_at;
};

/* adopt.c. Without kube.adopt nothing is watched. */
int adopt_start (struct exec *x, struct error *err);
void adopt_stop (struct exec *x);
void adopt_tick (struct exec *x, double now);
void adopt_run_poked (struct exec *x);
/* The request is answered; afterwards the adoptee is poked. */
void adopt_call_answered (struct adoptee *a, const struct acall *c,
                          const struct kube_result *res);
void adopt_answered (struct exec *x, const char *key, uint64_t id, bool again,
                     const char *text);
void adopt_state (struct exec *x, const struct exec_foreign_state *s);

/* adoptee.c */
/* Calls the function of its phase on the loop's next turn. */
void adopt_poke (struct adoptee *a);
/* Finds an adoptee by its key, or token. */
struct adoptee *adopt_find (const struct exec *x, const char *key);
/* Returns the adoptee of the key, new or known; name: "Job NAMESPACE/NAME". NULL: no
 * memory. */
struct adoptee *adopt_get (struct exec *x, const char *key, const char *name);
void adoptee_free (struct adoptee *a);
/* Frees the adoptee if nobody needs it any more. */
void adoptee_try_free (struct adoptee *a);
/* Takes the body. false: no memory. */
bool adopt_send (struct adoptee *a, enum adopt_call kind, const char *method,
                 const char *path, json_t *body, const char *pod);
/* Sends a merge patch for this object only, not for a later one of the same name. Takes
 * the patch. */
bool adopt_patch (struct adoptee *a, enum adopt_call kind, json_t *patch);
/* The path of the object; of a group: of one of its pods. */
void adopt_path (const struct adoptee *a, char *path, size_t size);
const char *adopt_uid (const struct adoptee *a);
/* Sends the request unless it is under way. */
void adopt_suspend (struct adoptee *a);
bool adopt_is_calling (const struct adoptee *a, enum adopt_call kind);

/* adoptowner.c */
/* Asks from time to time whether the policy that protects fluxq.io/owner is in force. */
void adopt_look_at_policy (struct adopt *d, double now);
/* Returns the owner; meta: of the object. The annotation counts if the policy was in
 * force when it was written; otherwise the namespace's owner. "": nobody. Borrowed. */
const char *adopt_owner (const struct adoptee *a, const json_t *meta);

/* adoptpods.c */
void adopt_see_pod (struct exec *x, struct kpod *p, const json_t *pod);
void adopt_lose_pod (struct exec *x, struct kpod *p);
void adopt_take_pods (struct adoptee *a); /* pods that came before the object */
void adopt_drop_pods (struct adoptee *a);
/* An attempt begins: ended pods become old. */
void adopt_begin_pods (struct adoptee *a);
/* The usage of the pod is part of its job's allocation. */
bool adopt_covers (const struct kpod *p);
void adopt_recount (struct adoptee *a);
/* Gives nodes to pods that have none. 0 or -ENOMEM. */
int adopt_place (struct adoptee *a);
bool adopt_has_live_pods (const struct adoptee *a);
/* not yet counted by the Job controller */
bool adopt_has_uncounted_pods (const struct adoptee *a);
struct adopt_count {
    unsigned up;       /* running */
    unsigned unplaced; /* without a node */
    unsigned pulling;  /* on a node, waiting for their image */
    unsigned created;  /* ... or not up for another reason */
    unsigned succeeded;
    unsigned ran; /* and have failed: the Job controller decides what follows */
    const struct kpod *behind; /* a pod that is not up, or NULL */
    const struct kpod *broken; /* a pod that shows why it cannot come up; or NULL */
    const struct kpod *evicted;
    const struct kpod *on_lost_node;
};
void adopt_count_pods (const struct adoptee *a, struct adopt_count *ret);

/* adoptgroup.c */
/* The key of a pod with our label; false: the pod has none. */
bool adoptgroup_key (const json_t *meta, char key[ADOPT_KEY_MAX]);
void adoptgroup_see (struct adoptpod *ap, const json_t *pod);
/* Fills a->view and a->seen from the group's pods. */
void adoptgroup_view (struct adoptee *a);
/* true: all pods are there. false with an error: the group can never be whole; false
 * without: not yet. */
bool adoptgroup_is_whole (struct adoptee *a, struct error *err);
unsigned adoptgroup_count (const struct adoptee *a); /* its pods that await the job */
json_t *adoptgroup_spec (struct adoptee *a, const struct adoptspec_how *how,
                         struct error *err);
/* one of the group's pods, or NULL */
const json_t *adoptgroup_pod (const struct adoptee *a);
void adoptgroup_known (struct adoptee *a);               /* the group has a job now */
void adoptgroup_renew (struct adoptee *a);
/* Deletes the pods of the group: those that were released, or all. */
void adoptgroup_remove (struct adoptee *a, bool gated_too);
/* The pod that carries the news of the group, or NULL. */
const struct adoptpod *adoptgroup_speaker (const struct adoptee *a);

/* adoptrun.c: see exec.h */
void adopt_run_start (struct exec *x, struct exec_job *job, bool recovering);
/* Its pods have a grace period of their own. */
void adopt_run_terminate (struct exec_job *job, const char *reason);
void adopt_run_cleanup (struct exec *x, struct exec_job *job);
void adopt_step (struct adoptee *a); /* may free it */
void adopt_enter (struct adoptee *a, enum adopt_phase phase);
/* where: the pod to blame, or NULL. Its node is never suspect, because the owner controls
 * all of the pod. */
void adopt_start_failed (struct adoptee *a, bool retry, const struct kpod *where,
                         const char *fmt, ...) PRINTF_LIKE (4, 5);
/* The start has failed because the broker has no memory. */
void adopt_start_short (struct adoptee *a);
/* Reports the end as the object shows it. */
void adopt_finish_as_seen (struct adoptee *a);
void adopt_placed (struct adoptee *a, const char *pod, const struct kube_result *res);

/* adoptrelease.c */
void adopt_step_release (struct adoptee *a);
/* Gives a startTime to a Job that is about to end without one, since it could not end. */
void adopt_heal (struct adoptee *a);
/* Handle the answers to the two requests of that phase. */
void adopt_reset (struct adoptee *a, const struct kube_result *res);
void adopt_released (struct adoptee *a, const struct kube_result *res);

/* adoptreport.c */
/* Reports what has changed since the last report, if it is time. */
void adopt_report (struct adoptee *a, double now);

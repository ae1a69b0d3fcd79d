/* adopt.h - what others made and want to be queued: the executor's side of exec_ops.adopted
 *
 *     adopt.c      watches of the namespaces in kube.adopt; what is new is told to the broker
 *     adoptowner.c whose job it is to be
 *     adoptpods.c  whose a pod is; which node each one gets
 *     adoptgroup.c plain pods, and groups of them
 *     adoptrun.c   from start() to cleaned(): a function a phase
 *     adoptrelease.c  one of these phases: a suspended Job is let go with our template
 *     adoptsay.c   what is written on the object: annotations and events
 *     adoptspec.c  what it asks for       adoptview.c  what it says of itself
 *     adoptconfig.c  kube.adopt
 *
 * A Job with the label fluxq.io/queue never runs but when its job does: whoever finds one that
 * is not suspended suspends it. Its life here, beside that of its job in the broker:
 *
 *   WAITS --start()--> RELEASE --unsuspended--> START --ready--> RUN --over, lost--> ENDED
 *     ^                   |                       |                                    |
 *     |                   +---- start failed -----+---------------------> ENDED -------+
 *     +---- cleaned ---- REMOVE (suspended, or deleted, until no pod runs) <--cleanup()-+
 *
 * All that is known of it comes from the object; after a restart the broker says which job it
 * is (foreign_state()), and recover() goes on at START or RUN.
 */
#ifndef FLUXQ_EXEC_KUBE_ADOPT_H
#define FLUXQ_EXEC_KUBE_ADOPT_H

#include "exec/kube/adoptspec.h"
#include "exec/kube/adoptview.h"
#include "exec/kube/private.h"

#define ADOPT_SAY_EVERY 10.0 /* seconds between two reasons of one that waits */
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
    ADOPT_CALL_POD, /* deleted */
};

struct acall { /* a request under way */
    struct adoptee *a;
    enum adopt_call kind;
    struct kube_request *req;
    char pod[254]; /* its name, of ADOPT_CALL_PLACE */
    struct acall *prev, *next;
};

struct adoptpod { /* of a pod that may be one of its */
    struct kpod *p;
    char key[ADOPT_KEY_MAX], uid[40];
    json_t *object;    /* of a group's that is no job yet; or NULL */
    struct adoptee *a; /* or NULL: that is not known (yet) */
    bool gated, binds;
    char node[254];               /* that it must have: it was given it; or "" */
    bool asked;                   /* for its place */
    bool old;                     /* it had ended before this try began */
    bool removed;                 /* asked to go */
    struct adoptpod *prev, *next; /* in a->pods or adopt->orphans */
};

struct adoptspace { /* a namespace of kube.adopt */
    struct exec *x;
    const char *name; /* of the configuration */
    struct kube_watch *watch;
    bool listed;
};

struct adoptee {
    char key[ADOPT_KEY_MAX]; /* "job:UID", "group:NAMESPACE/NAME" */
    /* for the broker: the key, of a group with a pod's uid */
    char token[ADOPT_TOKEN_MAX];
    bool group;                 /* of pods, not a Job */
    uint32_t size;              /* of the group */
    double grew_at;             /* clock_mono(): its last pod came */
    struct exec *x;
    struct adoptspace *space; /* NULL: none of kube.adopt any more */
    char *namespace_, *name;
    bool poked;
    struct adoptee *next_poked;
    /* as the API server has it */
    bool seen, gone_told;
    bool was_open; /* the Job was not over when this broker saw it first */
    struct adoptview view;
    json_t *object; /* while it is no job yet; or NULL */
    json_t *tolerations;
    /* as the broker has it */
    uint64_t id; /* 0: no job yet */
    bool asked, active, ended, cancelled;
    double ask_at;       /* clock_mono(): again, of what was refused */
    int64_t refused_gen; /* generation that was refused; -1: none was */
    char state[ADOPT_STATUS_MAX], text[512];
    /* what was said, see adoptsay.c */
    char said[ADOPT_STATUS_MAX];
    double said_at;
    bool id_said, warn;
    /* its run */
    struct exec_job *job; /* from start() to cleaned() */
    enum adopt_phase phase;
    bool recovering, kill, told, released_told, ready_told;
    char kill_reason[16];
    bool deadline_sent, fin_lost;
    char tried[ADOPT_VERSION_MAX];  /* version that was to be released */
    char healed[ADOPT_VERSION_MAX]; /* ... that was given a startTime */
    double since;                  /* clock_mono(): of the phase */
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
    /* the policy that keeps fluxq.io/owner */
    struct kube_request *policy_req;
    bool policy_known, policy_holds, policy_told;
    char policy_since[32]; /* it is in force since, as the API server writes times */
    double policy_at;
};

/* adopt.c. Without kube.adopt there is nothing to watch. */
int adopt_start (struct exec *x, struct error *err);
void adopt_stop (struct exec *x);
void adopt_tick (struct exec *x, double now);
void adopt_run_poked (struct exec *x);
void adopt_poke (struct adoptee *a);
void adopt_answered (struct exec *x, const char *key, uint64_t id, bool again,
                     const char *text);
void adopt_state (struct exec *x, const struct exec_foreign_state *s);
/* By its key, or token. */
struct adoptee *adopt_find (const struct exec *x, const char *key);
/* It is there from now on; name: "Job NAMESPACE/NAME". NULL: no memory. */
struct adoptee *adopt_get (struct exec *x, const char *key, const char *name);
/* false: no memory. Takes the body. */
bool adopt_send (struct adoptee *a, enum adopt_call kind, const char *method,
                 const char *path, json_t *body, const char *pod);
/* A merge patch of that very object, not of another that has its name by now. Takes it. */
bool adopt_patch (struct adoptee *a, enum adopt_call kind, json_t *patch);
const char *adopt_uid (const struct adoptee *a);
/* Unless it is under way. */
void adopt_suspend (struct adoptee *a);
bool adopt_is_calling (const struct adoptee *a, enum adopt_call kind);

/* adoptowner.c */
/* Is the policy in force that keeps fluxq.io/owner? Asked every now and then. */
void adopt_look_at_policy (struct adopt *d, double now);
/* meta: of the object. The annotation, if somebody could be kept from writing it when it was
 * written; else the namespace's. "": nobody's. Borrowed. */
const char *adopt_owner (const struct adoptee *a, const json_t *meta);

/* adoptpods.c */
void adopt_see_pod (struct exec *x, struct kpod *p, const json_t *pod);
void adopt_lose_pod (struct exec *x, struct kpod *p);
void adopt_take_pods (struct adoptee *a); /* those that came before it */
void adopt_drop_pods (struct adoptee *a);
void adopt_begin_pods (
    struct adoptee *a); /* a try begins: those that have ended are old */
/* What it uses is what its job was given. */
bool adopt_covers (const struct kpod *p);
void adopt_recount (struct adoptee *a);
/* Nodes for pods that have none. -ENOMEM, or 0. */
int adopt_place (struct adoptee *a);
bool adopt_has_live_pods (const struct adoptee *a);
bool adopt_has_uncounted_pods (const struct adoptee *a); /* by the Job controller */
struct adopt_count {
    unsigned up;       /* run */
    unsigned unplaced; /* have no node */
    unsigned pulling;  /* are on their node, and their image does not come */
    unsigned created;  /* ... and some other way of not being up */
    unsigned succeeded;
    unsigned ran; /* and have failed: what comes of that the Job controller decides */
    const struct kpod *behind; /* one that is not up, or NULL */
    const struct kpod *broken; /* one that shows why it will not be; or NULL */
    const struct kpod *evicted;
    const struct kpod *on_lost_node;
};
void adopt_count_pods (const struct adoptee *a, struct adopt_count *ret);

/* adoptgroup.c */
/* Of a pod with our label; false: it has none. */
bool adoptgroup_key (const json_t *meta, char key[ADOPT_KEY_MAX]);
void adoptgroup_see (struct adoptpod *ap, const json_t *pod);
/* a->view and a->seen from its pods. */
void adoptgroup_view (struct adoptee *a);
/* All are there; false, with an error: they never will be like this, or without: not yet. */
bool adoptgroup_is_whole (struct adoptee *a, struct error *err);
unsigned adoptgroup_count (const struct adoptee *a); /* its pods that wait to be a job */
json_t *adoptgroup_spec (struct adoptee *a, const struct adoptspec_how *how,
                         struct error *err);
const json_t *adoptgroup_pod (const struct adoptee *a); /* one of its pods, or NULL */
void adoptgroup_known (struct adoptee *a);               /* it is a job now */
void adoptgroup_renew (struct adoptee *a);
/* Delete its pods: those that were let go, or all. */
void adoptgroup_remove (struct adoptee *a, bool gated_too);
/* The pod on which the group's news stand, or NULL. */
const struct adoptpod *adoptgroup_speaker (const struct adoptee *a);

/* adoptrun.c: see exec.h */
void adopt_run_start (struct exec *x, struct exec_job *job, bool recovering);
void adopt_run_terminate (struct exec *x, struct exec_job *job, const char *reason,
                          double grace);
void adopt_run_cleanup (struct exec *x, struct exec_job *job);
void adopt_step (struct adoptee *a); /* may free it */
void adopt_enter (struct adoptee *a, enum adopt_phase phase);
/* where: the pod to blame, or NULL. Its node is never suspect: all of the pod is its owner's. */
void adopt_start_failed (struct adoptee *a, bool retry, const struct kpod *where,
                         const char *fmt, ...) PRINTF_LIKE (4, 5);
/* The broker itself has no memory. */
void adopt_start_short (struct adoptee *a);
/* Its object says how it ended. */
void adopt_finish_as_seen (struct adoptee *a);
void adopt_placed (struct adoptee *a, const char *pod, const struct kube_result *res);

/* adoptrelease.c */
void adopt_step_release (struct adoptee *a);
/* A Job that has no startTime and is about to end cannot end: it is given one. */
void adopt_heal (struct adoptee *a);
/* Answers to the two requests of that phase. */
void adopt_reset (struct adoptee *a, const struct kube_result *res);
void adopt_released (struct adoptee *a, const struct kube_result *res);

/* adoptsay.c */
/* What has changed since it was said last, if it is time. */
void adopt_say (struct adoptee *a, double now);

#endif

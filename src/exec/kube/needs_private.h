/* needs_private.h - what the files of the needs share
 *
 *     needs.c      what is wanted, and how it stands
 *     needmake.c   it is asked for
 *     needseen.c   what is there of it, and what nobody wants (any more)
 */
#ifndef FLUXQ_EXEC_KUBE_NEEDS_PRIVATE_H
#define FLUXQ_EXEC_KUBE_NEEDS_PRIVATE_H

#include "exec/kube/needs.h"

#define PATH_REQUESTS "/apis/autoscaling.x-k8s.io/v1/namespaces/"
#define SELECTOR                                                                         \
    "labelSelector=app.kubernetes.io%%2Fmanaged-by%%3Dfluxq"                             \
    "%%2Cfluxq.io%%2Fcluster%%3D%s"

#define SEEN_NAME_MAX (NEED_NAME_MAX + 64)

enum need_step { NEW, MAKING, WAITING, AGAIN };

struct kneed {
    struct exec *x;
    const struct groupconfig *group;
    uint64_t job;
    uint32_t nodes; /* as the broker said last, less those that come anyway */
    uint32_t cores, gpus;
    int64_t memory_mib;
    uint32_t by_min;  /* that come anyway */
    uint32_t count;   /* that are asked for */
    unsigned attempt; /* of asking; part of names */
    enum need_step phase;
    bool wanted, started;
    bool dropped; /* nobody wants it: freed when the last call is answered */
    unsigned calls;
    unsigned failures;
    double again; /* clock_mono(); AGAIN */
    double asked; /* clock_wall(), 0: nobody is */
    char text[EXEC_NEED_TEXT];
    struct kneed *prev, *next;
};

/* An object of ours that is there: a ProvisioningRequest, or a pod that finds no node. */
struct seen {
    char *name; /* "pods/NAME", "provisioningrequests/NAME" */
    bool pod;
    uint64_t job;
    char group[GROUP_NAME_MAX + 1];
    unsigned attempt;
    bool deleted; /* asked for */
    bool stuck;   /* refused: the next sweep tries again */
    double created;
    /* of a request: */
    uint32_t count;
    enum need_phase said;
    char text[EXEC_NEED_TEXT];
    UT_hash_handle hh;
};

struct need_call {
    struct exec *x;
    struct kneed *need; /* or NULL: it is only watched for errors */
    char *name;         /* of the object, which is a seen one; or NULL */
    uint32_t i;         /* of a pod */
    struct kube_request *req;
    struct need_call *prev, *next;
};

struct kneeds {
    struct kneed *list;
    struct seen *seen; /* by name */
    struct need_call *calls;
    struct kube_watch *watch;
    bool uses_requests, listed, told;
};

/* needs.c */
void needs_look (struct exec *x); /* at all of them: what is to be done now? */
/* NULL: there is no such, or it was dropped. */
struct kneed *needs_find (const struct exec *x, uint64_t job, const char *group);
struct need_source needs_source (const struct kneed *n);
void needs_free_if_done (struct kneed *n);
void needs_poke (struct exec *x, uint64_t job);
/* Again, after a back-off. why: for its text, which begins with `what`, and the log; NULL: that has been
 * told. */
void needs_retry_later (struct kneed *n, const char *what, const char *why);

/* needmake.c */
void needs_make (struct kneed *n); /* NEW: it is asked for */
/* body: taken over. 0 or -ENOMEM. done: frees the call. */
int need_call_send (struct need_call like, const char *method, const char *path,
                    json_t *body, kube_done_f *done);
void need_call_free (struct need_call *c);
bool need_call_is_fine (const struct kube_result *res);

/* needseen.c */
/* key: gets the name under which it is kept. */
struct seen *needs_seen (const struct exec *x, bool pod, const char *name,
                         char key[SEEN_NAME_MAX]);
/* What its request says. */
void needs_heed (struct kneed *n, const struct seen *s);
/* What no need wants is removed. */
void needs_drop_strays (struct exec *x);
int needs_watch (struct exec *x, struct error *err);

#endif

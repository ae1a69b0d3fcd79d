/* needs_private.h - what the files of the needs share
 *
 *     needs.c      the needs and their state
 *     needmake.c   makes the objects
 *     needwatch.c   finds existing objects, and deletes those that no need wants
 */
#pragma once

#include "exec/kube/needs/needs.h"

#define PATH_REQUESTS "/apis/autoscaling.x-k8s.io/v1/namespaces/"

#define SEEN_NAME_MAX (NEED_NAME_MAX + 64)

enum need_step { NEW, MAKING, WAITING, RETRY };

struct kneed {
    struct exec *x;
    const struct groupconfig *group;
    uint64_t job;
    uint32_t nodes; /* from the broker's last list, less by_min */
    uint32_t cores, gpus;
    int64_t memory_mib;
    uint32_t by_min;  /* nodes that come anyway */
    uint32_t count;   /* nodes requested */
    unsigned attempt; /* number of the request; part of names */
    enum need_step phase;
    bool wanted, started;
    bool dropped; /* no longer wanted: freed after the last answer */
    unsigned calls;
    unsigned failures;
    double retry_at; /* clock_mono(); RETRY */
    double asked; /* clock_wall() of the request, 0: none */
    char text[EXEC_NEED_TEXT];
    struct kneed *prev, *next;
};

/* An existing object of ours: a ProvisioningRequest, or a pod that finds no node. */
struct seen {
    char *name; /* "pods/NAME", "provisioningrequests/NAME" */
    bool pod;
    uint64_t job;
    char group[GROUP_NAME_MAX + 1];
    unsigned attempt;
    bool deleted; /* deletion requested */
    bool stuck;   /* deletion refused: the next sweep tries again */
    double created;
    /* for a request: */
    uint32_t count;
    enum need_phase phase;
    char text[EXEC_NEED_TEXT];
    UT_hash_handle hh;
};

struct need_call {
    struct exec *x;
    struct kneed *need; /* NULL: the answer matters only for errors */
    char *name;         /* name of the seen object; or NULL */
    uint32_t i;         /* index of a pod */
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
void needs_look (struct exec *x); /* advances all needs */
/* NULL: there is none, or it was dropped. */
struct kneed *needs_find (const struct exec *x, uint64_t job, const char *group);
struct need_source needs_source (const struct kneed *n);
void needs_free_if_done (struct kneed *n);
void needs_poke (struct exec *x, uint64_t job);
/* Tries again after a back-off. why: the reason, for the need's text, which begins with
 * `what`, and for the log; NULL: already reported. */
void needs_retry_later (struct kneed *n, const char *what, const char *why);

/* needmake.c */
void needs_make (struct kneed *n); /* NEW: makes its objects */
/* Sends a request. body: taken over. 0 or -ENOMEM. done: frees the call. */
int need_call_send (struct need_call like, const char *method, const char *path,
                    json_t *body, kube_done_f *done);
void need_call_free (struct need_call *c);
bool need_call_is_fine (const struct kube_result *res);

/* needwatch.c */
/* key: gets the name under which the object is kept. */
struct seen *needs_seen (const struct exec *x, bool pod, const char *name,
                         char key[SEEN_NAME_MAX]);
/* Applies the state of the need's request. */
void needs_apply (struct kneed *n, const struct seen *s);
/* Deletes objects that no need wants. */
void needs_drop_strays (struct exec *x);
int needs_watch (struct exec *x, struct error *err);

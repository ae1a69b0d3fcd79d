/* kspace.h - a namespace; namespaces/ changes it, make/ its rights
 */
#pragma once

#include <uthash.h>

#include "common/error.h"
#include "kube/watch.h"

struct exec;
struct kpolicy;
struct rights_call;
struct spacemaker;

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
    double agent_again;             /* clock_mono(): earliest time to make it again */
    struct kube_request *agent_removal; /* when the broker ends */
    struct kpolicy *policies; /* one for each user; userpolicy.c */
    struct pods_rights rights;
    UT_hash_handle hh;
};

void space_poke_jobs (struct kspace *s);

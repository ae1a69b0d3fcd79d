/* knode.h - a node of the cluster; cluster/ changes it, topology/ its zones
 */
#pragma once

#include <uthash.h>

#include "common/json.h"
#include "exec/exec.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/core/podsize.h"

struct exec;
struct kpod;
struct kzones;

#define KNODE_REASON 128
struct knode {
    char *name;
    bool offered;                 /* in the cluster, and its taints admit our pods */
    bool told;                    /* the broker knows it */
    struct machine_place *places; /* machine_places_copy(), or NULL */
    char **properties; /* "key=value" of its labels, "queue:NAME"; NULL-terminated */
    size_t nlabels;
    char *gpu_type; /* of a label (kube.gpu-type-labels), see gputype.h; or NULL */
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

/* The node of that name, made if it is new; NULL: no memory. */
struct knode *knode_get (struct exec *x, const char *name);
/* Reports the node to the broker, soon. */
void knode_changed (struct exec *x, struct knode *n);

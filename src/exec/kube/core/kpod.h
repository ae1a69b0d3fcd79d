/* kpod.h - a pod of the cluster; cluster/ changes it, and run/ what a job does with it
 */
#pragma once

#include <stdbool.h>
#include <uthash.h>

#include "exec/kube/core/gres.h"
#include "exec/kube/core/names.h"
#include "exec/kube/core/podsize.h"
#include "exec/kube/core/podview.h"

struct adoptpod;
struct kjob;
struct knode;

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

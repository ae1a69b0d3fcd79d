/* zonerule.h - what is left in a node's zones, from the reports of the node's agent
 *
 *     zonerule_object (&s, &object);                     // whenever the object has changed
 *     zonerule_look (&s, pods, n);                       // or the node's pods: pods[].seen
 *     n = zonerule_left (&s, pods, n, left);             // what jobs may count on
 *
 * An agent reports every few seconds to a minute. A report counts if the pods that the
 * agent knew (their fingerprint) are the present pods, all or those that run. Then these
 * pods are "seen", and the report is the base. Until then the last such report stays the
 * base, and the share of each later pod is subtracted from every zone, since nobody can
 * tell which zone the kubelet has chosen. This file subtracts foreign pods, the machine
 * those of our jobs (machine_node_report()). Without a fingerprint, a pod counts as seen
 * when the object has changed after the pod was seen to run. The first object counts as
 * it is for foreign pods. Source: the over-reserving cache of
 * kubernetes-sigs/scheduler-plugins. Pure: no input or output, no clock.
 */
#pragma once

#include "exec/kube/core/podsize.h"
#include "exec/kube/topology/zoneobject.h"

struct zonepod { /* a pod bound to the node, which holds its share */
    uint64_t print;
    uint64_t job; /* our job, or 0 */
    struct podsize size;
    bool running;
    bool exclusive;  /* has exclusive cores, memory or devices */
    uint64_t run_at; /* zonerule.version when the pod was first seen to run */
    bool seen;       /* stays true */
};

struct zonerule { /* all 0 at first */
    struct zoneobject latest, base;
    bool has_base;
    bool exact;       /* the base covers all pods but those of jobs that are not seen */
    uint64_t version; /* number of objects so far */
};

void zonerule_object (struct zonerule *s, const struct zoneobject *object);
/* Updates pods[].seen. 0, or -ENOMEM: nothing has changed. */
int zonerule_look (struct zonerule *s, struct zonepod *pods, size_t n);
/* Returns the number of zones in `left`. */
size_t zonerule_left (const struct zonerule *s, const struct zonepod *pods, size_t n,
                      struct machine_zone left[MACHINE_ZONES_MAX]);

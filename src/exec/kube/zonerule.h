/* zonerule.h - what a node's agent has told of its zones, and of which pods it knew then
 *
 *     zonerule_object (&s, &object);                     // whenever the object has changed
 *     zonerule_look (&s, pods, n);                       // or the node's pods: pods[].seen
 *     n = zonerule_left (&s, pods, n, left);             // what jobs may count on
 *
 * An agent reports every few seconds to a minute. What it says is left in a zone counts when
 * the pods that it knew (their fingerprint) are those that are there, all or those that
 * run: then these are "seen", and the report is the base from which one counts. Until then
 * the last such report stays the base, and who has come since is taken off every zone, as
 * nobody can tell which the kubelet has chosen: others' pods here, those of our jobs
 * by the machine (machine_node_report()). Of an agent that gives no fingerprint a pod
 * counts as seen when the object has changed after the pod was seen to run. The first
 * object is taken as it is for pods of others. Source: the over-reserving cache of
 * kubernetes-sigs/scheduler-plugins. Pure: no input or output, no clock.
 */
#ifndef FLUXQ_EXEC_KUBE_ZONERULE_H
#define FLUXQ_EXEC_KUBE_ZONERULE_H

#include "exec/kube/podsize.h"
#include "exec/kube/zoneobject.h"

struct zonepod { /* bound to the node, and holds its share */
    uint64_t print;
    uint64_t job; /* of ours, or 0 */
    struct podsize size;
    bool running;
    bool exclusive;  /* it has cores, memory or devices for itself alone */
    uint64_t run_at; /* zonerule.version when it was first seen to run */
    bool seen;       /* stays so */
};

struct zonerule { /* all 0 at first */
    struct zoneobject latest, base;
    bool has_base;
    bool exact;       /* the base is all there is, but for jobs that are not seen */
    uint64_t version; /* objects so far */
};

void zonerule_object (struct zonerule *s, const struct zoneobject *object);
/* 0, or -ENOMEM: as before. */
int zonerule_look (struct zonerule *s, struct zonepod *pods, size_t n);
/* Zones in `left`. */
size_t zonerule_left (const struct zonerule *s, const struct zonepod *pods, size_t n,
                      struct machine_zone left[MACHINE_ZONES_MAX]);

#endif

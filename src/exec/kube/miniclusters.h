/* miniclusters.h - whether the cluster has MiniClusters: the Flux operator's custom resource
 *
 *     miniclusters_look (x);                     // at the start
 *     if (miniclusters_state (x) == MINICLUSTERS_MISSING) miniclusters_refuse (x, &err);
 *
 * The API server is asked at the start, and again each time that somebody was refused, and every
 * half a minute while it is missing: who installs it need not restart the broker. Jobs are poked
 * when that becomes known.
 */
#ifndef FLUXQ_EXEC_KUBE_MINICLUSTERS_H
#define FLUXQ_EXEC_KUBE_MINICLUSTERS_H

#include "exec/kube/private.h"

enum miniclusters_state {
    MINICLUSTERS_UNKNOWN, /* nobody has answered yet */
    MINICLUSTERS_THERE,
    MINICLUSTERS_MISSING,
};

void miniclusters_look (struct exec *x); /* one question at a time */
enum miniclusters_state miniclusters_state (const struct exec *x);
/* -ENOSYS and how it is installed; the next may find it. */
int miniclusters_refuse (struct exec *x, struct error *err);
void miniclusters_tick (struct exec *x, double now);
void miniclusters_cancel (struct exec *x);

#endif

/* miniclusters.h - whether the cluster has MiniClusters: the Flux operator's custom
 * resource
 *
 *     miniclusters_look (x);                     // at the start
 *     if (x->miniclusters == MINICLUSTERS_MISSING) miniclusters_refuse (x, &err);
 *
 * Asks the API server at the start, after each refusal, and every half a minute while
 * the resource is missing: its installation needs no restart of the broker. Jobs are
 * poked when the answer is there.
 */
#pragma once

#include "exec/kube/core/state.h"

void miniclusters_look (struct exec *x); /* one request at a time */
/* -ENOSYS with advice for the installation; a later call may find the resource. */
int miniclusters_refuse (struct exec *x, struct error *err);
void miniclusters_tick (struct exec *x, double now);
void miniclusters_cancel (struct exec *x);

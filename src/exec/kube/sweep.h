/* sweep.h - removes objects with our mark that belong to no job */
#ifndef FLUXQ_EXEC_KUBE_SWEEP_H
#define FLUXQ_EXEC_KUBE_SWEEP_H

#include "exec/kube/core/state.h"

/* The broker's live jobs (sorted ids). The first call starts a sweep. */
void sweep_told (struct exec *x, const uint64_t *live, size_t nlive);
void sweep_tick (struct exec *x, double now);
void sweep_cancel (struct exec *x);

#endif

/* sweep.h - removes objects with our mark that belong to no job */
#pragma once

#include "exec/kube/core/state.h"

/* The broker's live jobs (sorted ids). The first call starts a sweep. */
void sweep_told (struct exec *x, const uint64_t *live, size_t nlive);
void sweep_tick (struct exec *x, double now);
void sweep_cancel (struct exec *x);

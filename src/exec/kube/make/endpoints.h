/* endpoints.h - gives the names of a job's ranks their addresses */
#pragma once

#include "exec/kube/core/state.h"

int endpoints_prepare (struct kjob *k); /* 0 or -ENOMEM */
/* Called when all pods have an address, and when an address has changed. Only before
 * READY. */
void endpoints_write (struct kjob *k);
void endpoints_answer (struct kjob *k, const struct kcall *c,
                       const struct kube_result *res);
/* The ranks have changed: writes all slices again. */
void endpoints_renew (struct kjob *k);
/* A pod of the job has changed. */
void endpoints_see (struct kjob *k, const struct kpod *p, const char *old_address);

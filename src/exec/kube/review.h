/* review.h - asks the API server for the service accounts of tokens, see exec.h */
#pragma once

#include "exec/kube/core/state.h"

int review_token (struct exec *x, const char *token, const char *audience,
                  exec_review_f *done, void *arg, struct error *err);
/* Ends reviews that are late, and all while the server is away. now: clock_mono() */
void review_tick (struct exec *x, double now);
/* Ends all, without a callback. */
void review_cancel (struct exec *x);

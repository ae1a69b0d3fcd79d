/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "sched/policy.h"

#include <stddef.h>

extern const struct queue_policy queue_policy_conservative;
extern const struct queue_policy queue_policy_easy;
extern const struct queue_policy queue_policy_fcfs;
extern const struct queue_policy queue_policy_hybrid;

const struct queue_policy *const queue_policies[] = {
    &queue_policy_conservative,
    &queue_policy_easy,
    &queue_policy_fcfs,
    &queue_policy_hybrid,
    NULL,
};

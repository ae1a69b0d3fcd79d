/* fcfs.c - first come, first served */
#include "sched/policy.h"

const struct queue_policy queue_policy_fcfs = {
    .name = "fcfs",
    .summary = "strictly in order: nobody starts before the first",
    .backfill = false,
    .depth = 1,
};

/* policy.c - policies by name */
#include <string.h>

#include "sched/policy.h"

const struct queue_policy *queue_policy_find (const char *name)
{
    for (size_t i = 0; queue_policies[i]; i++)
        if (!strcmp (queue_policies[i]->name, name))
            return queue_policies[i];
    return NULL;
}

/* taskplaces.h - fluxq-pmix: the node of each task of a step
 *
 *     struct taskplaces *places = taskplaces_parse ("0,1;2,3", 2, 4, &err);
 *     places->node_of[2];              // 1
 *     taskplaces_destroy (places);
 */
#pragma once

#include "common/error.h"

struct taskplaces {
    uint32_t nnodes, ntasks;
    uint32_t *node_of;  /* [ntasks] */
    uint32_t *local_of; /* [ntasks] number of the task on its node */
    uint32_t *count;    /* [nnodes] tasks of each node */
};

/* text: the tasks of each node, nodes separated by ';'. -EINVAL: a task is missing, or
 * comes twice. NULL: with the reason. */
struct taskplaces *taskplaces_parse (const char *text, uint32_t nnodes, uint32_t ntasks,
                                     struct error *err);
void taskplaces_destroy (struct taskplaces *places);

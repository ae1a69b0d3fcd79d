/* shape.h - the numbers of nodes, slots and GPUs that a submission asks for, fixed
 * or elastic; submit_options.h has the table of rules
 *
 *     struct submit_shape s;
 *     if (submit_shape_make (&so, &s, &err) < 0) ...;
 *     s.nodes.count.min, s.slots.count.max, ...
 *     submit_shape_release (&s);
 */
#pragma once

#include "jobspec/options/submit_options.h"

struct submit_shape {
    struct submit_size nodes; /* min 0: no node vertex */
    struct submit_size slots; /* on a node, or in all */
    /* with so many nodes in each; min 0: no places */
    struct submit_size places;
    int64_t total;  /* tasks in all; 0: one a slot */
    int64_t ntasks; /* tasks; 0: depends on the granted size */
    int64_t per_slot; /* tasks in each slot; 0: one */
    int64_t gpus_slot;
    int64_t gpus_node;
    const char *gpu_type;       /* borrowed, or NULL: any */
    int64_t cores;              /* in each slot; with parts of CPUs 1 */
    int64_t mem_slot, mem_node; /* MiB, 0: none */
    bool exclusive;
};

/* 0; -EINVAL: the counts conflict, with the reason; -ENOMEM. Release s only after 0. */
int submit_shape_make (const struct submit_options *so, struct submit_shape *s,
                       struct error *err);
/* The part of submit_shape_make() that says where the nodes are (shape_places.c). */
int submit_shape_places (const struct submit_options *so, struct submit_shape *s,
                         struct error *err);
/* Whether an entry of --gres asks for GPUs: they are in the shape. */
bool submit_gres_is_gpu (const struct gres *g);
void submit_shape_release (struct submit_shape *s);

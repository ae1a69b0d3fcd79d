/* submit_shape.h - how many nodes, slots and GPUs a submission asks for, and of which of
 * them there may be several numbers; the table of it is in submit_options.h
 *
 *     struct submit_shape s;
 *     if (submit_shape_make (&so, &s, &err) < 0) ...;
 *     s.nodes.count.min, s.slots.count.max, ...
 *     submit_shape_release (&s);
 */
#ifndef FLUXQ_JOBSPEC_SUBMIT_SHAPE_H
#define FLUXQ_JOBSPEC_SUBMIT_SHAPE_H

#include "jobspec/submit_options.h"

struct submit_shape {
    struct submit_size nodes; /* min 0: no node vertex */
    struct submit_size slots; /* on a node, or in all */
    /* in each of which are so many nodes; min 0: none are asked for */
    struct submit_size places;
    int64_t total;  /* tasks in all; 0: one a slot */
    int64_t ntasks; /* tasks; 0: depends on what is granted */
    int64_t gpus_slot;
    int64_t gpus_node;
    bool exclusive;
};

/* 0; -EINVAL: the counts do not go together, with words; -ENOMEM. s is to be released only
 * after 0. */
int submit_shape_make (const struct submit_options *so, struct submit_shape *s,
                       struct error *err);
void submit_shape_release (struct submit_shape *s);

#endif

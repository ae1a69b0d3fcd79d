/* rootresize.h - rank 0: nodes of a malleable job come and go (rootresize.c), and the program
 * that the job names to be told of it (rootresize_hook.c)
 *
 *     root_resize_node (root, 4, &node, &err);             // what is to come
 *     root_resize (root, generation, 5, 60.0, &err);       // now it is to come
 *     ... FRAME_RESIZED in the spool: it is so, or cannot be
 */
#ifndef FLUXQ_SHELL_ROOTRESIZE_H
#define FLUXQ_SHELL_ROOTRESIZE_H

#include "common/error.h"
#include "common/launch.h"
#include "shell/loop.h"
#include "shell/wire.h"

struct root;
struct resize_hook;

enum resize_phase { RESIZE_NONE, RESIZE_JOIN, RESIZE_GRACE, RESIZE_STOP, RESIZE_LEAVE };

struct root_resize {
    enum resize_phase phase;
    uint32_t generation;   /* of the last change that was begun */
    uint32_t from, target; /* nodes */
    bool done;             /* what became of the last one, */
    char why[256];         /* ... if not: why not */
    struct loop_timer timer;
    struct resize_hook *hook; /* runs; or NULL */
};

/* When the job's parts are there: room for all ranks that it may have. 0 or -ENOMEM. */
int root_resize_create (struct root *root);
void root_resize_destroy (struct root *root);

/* What the node of a rank is that is to come; node is taken over where it is. 0; -EINVAL;
 * -EBUSY: it comes already, or is there, and is another. */
int root_resize_node (struct root *root, uint32_t rank, struct launch_node *node,
                      struct error *err);
/* The job is to have so many nodes: new ones join within `seconds`, others go so long after the
 * job was told. 0, also for a generation that came before; -EINVAL; -EBUSY: another change is
 * under way, or the tasks do not run. */
int root_resize (struct root *root, uint32_t generation, uint32_t nodes, double seconds,
                 struct error *err);

/* -- from root.c -- */

/* Whether the rank may join now. */
bool root_resize_expects (const struct root *root, uint32_t rank);
/* A rank that is not one of the job's has joined, or cannot run tasks. */
void root_resize_joined (struct root *root, uint32_t rank);
void root_resize_failed (struct root *root, uint32_t rank, const char *text);
/* A rank's WIRE_DONE; it is gone. false: that is not about a change of size. */
bool root_resize_done (struct root *root, uint32_t rank);
/* A rank's agent was told to end; false: that is the end of the job. */
bool root_resize_terminated (struct root *root, uint32_t rank);
bool root_resize_lost (struct root *root, uint32_t rank, const char *why);
/* After each round of the loop. */
void root_resize_round (struct root *root);

/* -- rootresize_hook.c -- */

/* Run the program that FLUXQ_RESIZE_HOOK of the job's environment names. */
void root_resize_hook (struct root *root, const struct wire_resize *change);
void root_resize_end_hook (struct root *root);

#endif

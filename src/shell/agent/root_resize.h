/* root_resize.h - rank 0: nodes of a malleable job are added and removed (root_resize.c),
 * and a program of the job is told (root_resize_hook.c)
 *
 *     root_resize_node (root, 4, &node, &err);        // describes a node to be added
 *     root_resize (root, generation, 5, 60.0, &err);  // starts the change
 *     ... FRAME_RESIZED in the spool: the change is done or has failed
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"
#include "shell/io/loop.h"
#include "shell/io/wire.h"

struct root;
struct resize_hook;

enum resize_phase { RESIZE_NONE, RESIZE_JOIN, RESIZE_GRACE, RESIZE_STOP, RESIZE_LEAVE };

struct root_resize {
    enum resize_phase phase;
    uint32_t generation;   /* of the last change that was started */
    uint32_t from, target; /* numbers of nodes before and after it */
    bool done;             /* the last change succeeded */
    char why[256];         /* if not done: why */
    struct loop_timer timer;
    struct resize_hook *hook; /* while the hook runs, or NULL */
};

/* Call when the parts of the job exist: makes room for all ranks that the job may have. 0
 * or -ENOMEM. */
int root_resize_create (struct root *root);
void root_resize_destroy (struct root *root);

/* Sets the node of a rank to be added; keeps the contents of node if it stores
 * them. 0; -EINVAL; -EBUSY: that rank is joining or present with another node. */
int root_resize_node (struct root *root, uint32_t rank, struct launch_node *node,
                      struct error *err);
/* Changes the number of nodes. New nodes join within `seconds`; removed nodes leave
 * `seconds` after the job was told. 0, also for an earlier generation; -EINVAL; -EBUSY:
 * another change is under way, or the tasks do not run. */
int root_resize (struct root *root, uint32_t generation, uint32_t nodes, double seconds,
                 struct error *err);

/* -- from root.c -- */

/* Whether the rank may join now. */
bool root_resize_expects (const struct root *root, uint32_t rank);
/* A rank that is not one of the job's ranks yet has joined, or cannot run tasks. */
void root_resize_joined (struct root *root, uint32_t rank);
void root_resize_failed (struct root *root, uint32_t rank, const char *text);
/* A rank has sent WIRE_DONE: it has left. False: no change of size concerns this rank. */
bool root_resize_done (struct root *root, uint32_t rank);
/* The agent of a rank was told to end, or is lost. False: the whole job ends. */
bool root_resize_terminated (struct root *root, uint32_t rank);
bool root_resize_lost (struct root *root, uint32_t rank, const char *why);
/* Call after each round of the loop. */
void root_resize_round (struct root *root);

/* -- root_resize_hook.c -- */

/* Runs the program named by FLUXQ_RESIZE_HOOK in the job's environment. */
void root_resize_hook (struct root *root, const struct wire_resize *change);
void root_resize_end_hook (struct root *root);

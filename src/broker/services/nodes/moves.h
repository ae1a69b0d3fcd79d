/* moves.h - node changes that wait while the matchers prepare their indexes
 *
 *     if (moves_node (m, &spec, MACHINE_NODE_UP, NULL) < 0)
 *         ...                       // no memory: apply the change at once
 *     while (moves_next (m, &verbs, b))
 *         ;                         // later: applies the first change, then the next ...
 *
 * match_prepare() builds the indexes of a large machine in slices, and starts over when a
 * node comes or goes meanwhile: under a steady stream of changes the indexes would never
 * be ready. The changes wait here, in order, and are applied together. Only the latest
 * change of each node is kept, so the number of nodes bounds the memory. Everything is
 * copied. No clock, no thread.
 */
#pragma once

#include "match/machine/machine.h"

struct moves;

struct moves_verbs { /* as in struct exec_host */
    void (*node) (void *arg, const struct machine_node_spec *spec,
                  enum machine_node_state state, const char *reason);
    void (*node_foreign) (void *arg, const char *name, uint32_t cores, uint32_t gpus,
                          int64_t memory_mib, const struct gres_list *gres);
    void (*node_zones) (void *arg, const char *name, const struct machine_report *report);
    void (*node_gone) (void *arg, const char *name);
};

struct moves *moves_create (void); /* NULL: no memory */
void moves_destroy (struct moves *m);
/* The node comes, or has this size and state now. 0, or -ENOMEM: nothing has changed. */
int moves_node (struct moves *m, const struct machine_node_spec *spec,
                enum machine_node_state state, const char *reason);
/* Programs outside fluxq use this much of the node. Returns as moves_node(). */
int moves_foreign (struct moves *m, const char *name, uint32_t cores, uint32_t gpus,
                   int64_t memory_mib, const struct gres_list *gres);
/* The zones of the node have this much left. Returns as moves_node(). */
int moves_zones (struct moves *m, const char *name, const struct machine_report *report);
/* The node goes: its waiting changes are dropped. Returns as moves_node(). */
int moves_gone (struct moves *m, const char *name);
bool moves_any (const struct moves *m);
/* Applies the first change and drops it; false: there was none. The verbs may add
 * others. */
bool moves_next (struct moves *m, const struct moves_verbs *verbs, void *arg);

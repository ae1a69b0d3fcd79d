/* moves.h - nodes that come, change and go while the matchers look at all of them
 *
 *     if (moves_node (m, &spec, MACHINE_NODE_UP, NULL) < 0)
 *         ...                       // no memory: let it come at once
 *     while (moves_next (m, &verbs, b))
 *         ;                         // later: the first one comes, and the next ...
 *
 * The indexes of a large machine are made piece by piece (match_prepare()), and from the start
 * when another node comes or goes meanwhile: if many do, one after the other, they would never
 * be ready. So these wait here, in order, and come all together. Of one node only what was
 * told last is kept: as much as there are nodes. Everything is copied. No clock, no thread.
 */
#ifndef FLUXQ_BROKER_MOVES_H
#define FLUXQ_BROKER_MOVES_H

#include "match/machine.h"

struct moves;

struct moves_verbs { /* as those of struct exec_host */
    void (*node) (void *arg, const struct machine_node_spec *spec,
                  enum machine_node_state state, const char *reason);
    void (*node_foreign) (void *arg, const char *name, uint32_t cores, uint32_t gpus,
                          int64_t memory_mib, const struct gres_list *gres);
    void (*node_zones) (void *arg, const char *name, const struct machine_report *report);
    void (*node_gone) (void *arg, const char *name);
};

struct moves *moves_create (void); /* NULL: no memory */
void moves_destroy (struct moves *m);
/* It comes, or is of that size and state now. 0 or -ENOMEM: nothing has changed. */
int moves_node (struct moves *m, const struct machine_node_spec *spec,
                enum machine_node_state state, const char *reason);
/* Others use that much of it. Likewise. */
int moves_foreign (struct moves *m, const char *name, uint32_t cores, uint32_t gpus,
                   int64_t memory_mib, const struct gres_list *gres);
/* So much is left in its zones. Likewise. */
int moves_zones (struct moves *m, const char *name, const struct machine_report *report);
/* It goes: what waited of it does not matter any more. Likewise. */
int moves_gone (struct moves *m, const char *name);
bool moves_any (const struct moves *m);
/* The first one is told, and forgotten; false: there was none. The verbs may add others. */
bool moves_next (struct moves *m, const struct moves_verbs *verbs, void *arg);

#endif

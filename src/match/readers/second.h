/* second.h - where readers keep the edges to vertices that hang elsewhere in the tree
 *
 *     char buf[SECOND_SIZE];
 *     while (graph_edge_at (g, second_subsystem (g, buf), i++, &edge)) ...
 *
 * A vertex of the graph has one parent; that of a text may have several (a storage unit
 * that belongs to a rack, and to the machine's file system as well). It hangs at the first
 * of them, and the edges from the others make a subsystem of their own beside the main one:
 * "containment.second". Tree and second edges together have no cycle.
 */
#ifndef FLUXQ_MATCH_READERS_SECOND_H
#define FLUXQ_MATCH_READERS_SECOND_H

#include "match/graph.h"

#define SECOND_SIZE 80

/* Returns buf. */
static inline const char *second_subsystem (const struct graph *g,
                                            char buf[static SECOND_SIZE])
{
    snprintf (buf, SECOND_SIZE, "%s.second", graph_subsystem (g));
    return buf;
}

#endif

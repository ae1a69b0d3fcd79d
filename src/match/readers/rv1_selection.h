/* rv1_selection.h - the resources of an R (RFC 20), in terms of a graph
 *
 * Ranks and ids decide: R says "rank 3 has core 0-7", so the reader looks up the vertex
 * with rank 3, and the cores with these ids at any depth below it. If the nodelist names
 * hosts, the vertex must have that name. Listed units are exclusive; a node with all its
 * units listed is claimed as a whole.
 */
#pragma once

#include "match/graph/selection.h"

/* See match_reader.read_selection. with_graph: a graph under "scheduling" takes
 * precedence; if it has other vertices than g, ranks and ids decide. */
int rv1_selection_read (const struct graph *g, const char *text, size_t len,
                        bool with_graph, struct selection **ret, struct error *err);

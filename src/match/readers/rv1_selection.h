/* rv1_selection.h - what an R (RFC 20) gives, in terms of a graph
 *
 * By rank and id: R says "rank 3 has core 0-7", so the vertex with rank 3 is looked up,
 * and below it, however deep, the cores with these ids. Where the nodelist names hosts, the
 * vertex must be called so. What R lists is exclusive; a node all of which is listed is
 * claimed as a whole.
 */
#ifndef FLUXQ_MATCH_READERS_RV1_SELECTION_H
#define FLUXQ_MATCH_READERS_RV1_SELECTION_H

#include "match/selection.h"

/* See match_reader.read_selection. with_graph: a graph under "scheduling" is asked first;
 * when it is of other vertices than those here, ranks and ids decide. */
int rv1_selection_read (const struct graph *g, const char *text, size_t len,
                        bool with_graph, struct selection **ret, struct error *err);

#endif

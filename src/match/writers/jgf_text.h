/* jgf_text.h - a selection as a graph in JGF (RFC 40): {"graph": ..., "writer": ...}
 *
 * Vertices are children before parents, each with its path; edges are in the order of
 * their lower ends. Default values are left out: a basename equal to the type, a name of
 * basename and id, size 1, not exclusive, no unit, properties or additional data. The
 * text is written directly: no memory beside the result's, O(size of the result).
 */
#pragma once

#include "match/writers/writer.h"

/* brief: leaves out what is below a vertex that is claimed as a whole, and "writer" tells
 * readers to add it. Without an end of line. Appends nothing for an empty selection. 0,
 * -ENOMEM, -E2BIG. */
int jgf_text_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, bool brief);

/* jgf_text.h - a selection as a graph in JGF (RFC 40): {"graph": ..., "writer": ...}
 *
 * Vertices stand children before parents, each with its path, edges in the order of their
 * lower ends. What has its usual value is left out: a base name that is the type, a name
 * that is base name and id, size 1, not exclusive, no unit, properties or words.
 * Written as text at once: no memory beside the result's, O(size of the result).
 */
#ifndef FLUXQ_MATCH_WRITERS_JGF_TEXT_H
#define FLUXQ_MATCH_WRITERS_JGF_TEXT_H

#include "match/writer.h"

/* Brief: what lies below a vertex that is taken as a whole is left out, and "writer" then
 * tells readers to add it. Without an end of line. Nothing for an empty selection. 0,
 * -ENOMEM, -E2BIG. */
int jgf_text_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, bool brief);

#endif

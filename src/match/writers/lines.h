/* lines.h - a selection as indented lines, one per vertex: "      ------node3[1:x]"
 *
 * Three dashes per level, the name, the amount, and whether the vertex is exclusive.
 * Shared by both plain formats.
 */
#pragma once

#include "match/writers/writer.h"

/* Children before parents; the word `exclusive` or `shared` follows the amount. 0,
 * -ENOMEM, -E2BIG. */
int lines_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
               const char *exclusive, const char *shared);

/* lines.h - a selection as indented lines, one a vertex: "      ------node3[1:x]"
 *
 * Three dashes a level, the name, the amount and whether it is exclusive. What both plain
 * formats share.
 */
#ifndef FLUXQ_MATCH_WRITERS_LINES_H
#define FLUXQ_MATCH_WRITERS_LINES_H

#include "match/writer.h"

/* Children before parents; the words are put after the amount. 0, -ENOMEM, -E2BIG. */
int lines_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
               const char *exclusive, const char *shared);

#endif

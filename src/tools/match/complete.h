/* complete.h - what the tab key offers
 *
 *     struct strbuf list;
 *     complete_list (s, "match ", 6, "allo", &list);     // "allocate\n...": a line each
 *
 * Commands, operations and terms come from the tables, paths from the graph, job ids from
 * the session; file names are readline's own matter.
 */
#ifndef FLUXQ_TOOLS_MATCH_COMPLETE_H
#define FLUXQ_TOOLS_MATCH_COMPLETE_H

#include "tools/match/commands.h"

#define COMPLETE_MAX 10000 /* words that are offered */

/* All that begin with word, each ended by a newline. */
void complete_list (struct session *s, const char *line, size_t len, const char *word,
                    struct strbuf *list);
/* Make the tab key work; s must live on. */
void complete_setup (struct session *s);

#endif

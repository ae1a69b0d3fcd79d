/* complete.h - the words that the tab key offers
 *
 *     struct strbuf list;
 *     complete_list (s, "match ", 6, "allo", &list);     // "allocate\n...": a line each
 *
 * Commands, operations and terms come from the tables, paths from the graph, job ids from
 * the session; readline completes file names.
 */
#pragma once

#include "tools/match/commands.h"

#define COMPLETE_MAX 10000 /* words offered */

/* Lists all words that begin with word, each with a newline. */
void complete_list (struct session *s, const char *line, size_t len, const char *word,
                    struct strbuf *list);
/* Enables the tab key; s must stay valid. */
void complete_setup (struct session *s);

/* jgf.h - shared by the formats jgf and jgf_shorthand; each function as in reader.h
 *
 * jgf.c loads the vertices of a document into a graph, jgf_selection.c finds them there.
 */
#pragma once

#include "match/readers/reader.h"

int jgf_read (struct graph *g, const char *text, size_t len,
              const struct match_reader_options *opt, struct error *err);
/* Vertices whose paths g has already stay unchanged; they determine where the new
 * vertices belong. */
int jgf_attach (struct graph *g, const char *text, size_t len,
                const struct match_reader_options *opt, struct error *err);
/* Ignores vertices of subsystems other than g's, and those of ranks in "free_ranks".
 * shorthand: all that is below an exclusive vertex belongs to it, whether listed or
 * not. */
int jgf_read_selection (const struct graph *g, const char *text, size_t len,
                        bool shorthand, struct selection **ret, struct error *err);

/* jgf.h - what the formats jgf and jgf_shorthand share; each as in reader.h
 *
 * jgf.c has a document's vertices into a graph, jgf_selection.c finds them again there.
 */
#ifndef FLUXQ_MATCH_READERS_JGF_H
#define FLUXQ_MATCH_READERS_JGF_H

#include "match/reader.h"

int jgf_read (struct graph *g, const char *text, size_t len,
              const struct match_reader_options *opt, struct error *err);
/* Vertices that g has already, by their paths, are left as they are: they say where the
 * others belong. */
int jgf_attach (struct graph *g, const char *text, size_t len,
                const struct match_reader_options *opt, struct error *err);
/* Vertices of other subsystems than g's are passed over, as are those of ranks in
 * "free_ranks". shorthand: what lies below an exclusive vertex belongs to it, whether
 * the text has it or not. */
int jgf_read_selection (const struct graph *g, const char *text, size_t len,
                        bool shorthand, struct selection **ret, struct error *err);

#endif

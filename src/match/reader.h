/* reader.h - a graph, or what a job was given, from text in somebody's format
 *
 *     const struct match_reader *r = match_reader_find ("jgf");
 *     rc = r->read (g, text, len, &opt, &err);               // into an empty graph
 *     rc = r->read_selection (g, text, len, &selection, &err);
 *
 * One file each in readers/, which ends in `const struct match_reader match_reader_NAME`.
 * Texts are hostile: every size, count and depth is bounded (graph.h), cycles, doubled and
 * missing vertices are refused with place and reason, in memory of the order of the text's
 * size. The caller reads the file; readers do no input or output. On error the graph may be
 * half made: the caller drops it (read), or it is as before (attach).
 */
#ifndef FLUXQ_MATCH_READER_H
#define FLUXQ_MATCH_READER_H

#include "match/selection.h"

#define MATCH_READER_TEXT_MAX (1u << 30)

struct match_reader_options {
    const char *subsystem;    /* whose edges make the main tree; NULL: containment */
    const char *const *types; /* NULL-terminated: load only these (hwloc); NULL: all */
};

struct match_reader {
    const char *name;    /* as in `-f NAME` */
    const char *summary; /* one line */
    int (*read) (struct graph *g, const char *text, size_t len,
                 const struct match_reader_options *opt, struct error *err);
    /* More vertices into a graph that has a root; NULL: this format cannot. */
    int (*attach) (struct graph *g, const char *text, size_t len,
                   const struct match_reader_options *opt, struct error *err);
    /* What a job was given, in terms of g: -ENOENT names what is not there. NULL: cannot.
     * Exclusive vertices are claimed; start and end stay 0. */
    int (*read_selection) (const struct graph *g, const char *text, size_t len,
                           struct selection **ret, struct error *err);
};

extern const struct match_reader *const match_readers[]; /* NULL-terminated, by name */
const struct match_reader *match_reader_find (const char *name);

#endif

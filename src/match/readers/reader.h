/* reader.h - a graph, or a job's resources, from text in another program's format
 *
 * This folder holds the readers. A text comes in; a graph is filled, or a selection made.
 * Readers know the graph, but no bookings and no jobs.
 *
 *     const struct match_reader *r = match_reader_find ("jgf");
 *     rc = r->read (g, text, len, &opt, &err);               // into an empty graph
 *     rc = r->read_selection (g, text, len, &selection, &err);
 *
 * Each reader has a file in readers/ that ends with `const struct match_reader
 * match_reader_NAME`. Texts are not trusted: every size, count and depth is bounded
 * (graph.h); cycles and doubled or missing vertices are rejected with place and reason;
 * memory is of the order of the text's size. The caller reads the file; readers do no
 * input or output. After an error the graph may be incomplete, and the caller drops it
 * (read), or is unchanged (attach).
 */
#pragma once

#include "match/graph/selection.h"

#define MATCH_READER_TEXT_MAX (1u << 30)

struct match_reader_options {
    const char *subsystem;    /* the edges of this subsystem make the main tree; NULL:
                               * containment */
    const char *const *types; /* NULL-terminated: load only these (hwloc); NULL: all */
};

struct match_reader {
    const char *name;    /* as in `-f NAME` */
    const char *summary; /* one line */
    int (*read) (struct graph *g, const char *text, size_t len,
                 const struct match_reader_options *opt, struct error *err);
    /* Adds vertices to a graph that has a root; NULL: not supported by the format. */
    int (*attach) (struct graph *g, const char *text, size_t len,
                   const struct match_reader_options *opt, struct error *err);
    /* Reads the resources of a job, in terms of g: -ENOENT names what is missing in g.
     * NULL: not supported. Exclusive vertices are claimed; start and end stay 0. */
    int (*read_selection) (const struct graph *g, const char *text, size_t len,
                           struct selection **ret, struct error *err);
};

extern const struct match_reader *const match_readers[]; /* NULL-terminated, by name */
const struct match_reader *match_reader_find (const char *name);

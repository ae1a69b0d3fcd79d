/* writer.h - a selection, or a whole graph, as text in another program's format
 *
 * This folder holds the writers. A selection or a graph comes in, and a text goes out.
 * Writers change nothing.
 *
 *     const struct match_writer *w = match_writer_find ("rv1_nosched");
 *     rc = w->write (g, selection, &opt, &sb);
 *
 * Each writer has a file in writers/ that ends with `const struct match_writer
 * match_writer_NAME`.
 */
#pragma once

#include "common/strbuf.h"
#include "match/graph/selection.h"
#include "match/request/shape.h"

struct match_writer_options {
    const struct shape *shape; /* for labels; or NULL */
    int64_t start, end;        /* seconds */
    /* Additional data of a vertex, for JGF's "ephemeral"; or NULL. Returns a new object
     * or NULL: none. */
    json_t *(*about) (const struct pick *p, uint32_t unit, void *arg);
    /* Used and total amounts of each type below a vertex, for JGF's "agfilter": an object
     * of strings ("used:0, total:18"); otherwise as about. */
    json_t *(*counts) (const struct pick *p, uint32_t unit, void *arg);
    void *arg;
};

struct match_writer {
    const char *name;    /* as in `-F NAME` */
    const char *summary; /* one line */
    /* Appends complete lines. 0, -ENOMEM, -EINVAL: the format cannot express this
     * selection. */
    int (*write) (const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, struct strbuf *sb);
};

extern const struct match_writer *const match_writers[]; /* NULL-terminated, by name */
const struct match_writer *match_writer_find (const char *name);

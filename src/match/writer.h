/* writer.h - a selection, or a whole graph, as text in somebody's format
 *
 *     const struct match_writer *w = match_writer_find ("rv1_nosched");
 *     rc = w->write (g, selection, &opt, &sb);
 *
 * One file each in writers/, which ends in `const struct match_writer match_writer_NAME`.
 */
#ifndef FLUXQ_MATCH_WRITER_H
#define FLUXQ_MATCH_WRITER_H

#include "common/strbuf.h"
#include "match/selection.h"
#include "match/shape.h"

struct match_writer_options {
    const struct shape *shape; /* for labels; or NULL */
    int64_t start, end;        /* seconds */
    /* Further words on a vertex, for JGF's "ephemeral"; or NULL. Returns a new object or
     * NULL for none. */
    json_t *(*about) (const struct pick *p, uint32_t unit, void *arg);
    /* Of each type what is used below a vertex and what there is, for JGF's "agfilter":
     * an object of strings ("used:0, total:18"); as about. */
    json_t *(*counts) (const struct pick *p, uint32_t unit, void *arg);
    void *arg;
};

struct match_writer {
    const char *name;    /* as in `-F NAME` */
    const char *summary; /* one line */
    /* Appends lines, each with its end. 0, -ENOMEM, -EINVAL: this selection cannot be told
     * in this format. */
    int (*write) (const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, struct strbuf *sb);
};

extern const struct match_writer *const match_writers[]; /* NULL-terminated, by name */
const struct match_writer *match_writer_find (const char *name);

#endif

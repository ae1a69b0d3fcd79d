/* jgf.c - format "jgf": the graph of the chosen vertices (RFC 40) on one line */
#include "match/writers/jgf_text.h"

static int jgf_write (const struct graph *g, const struct selection *s,
                      const struct match_writer_options *opt, struct strbuf *sb)
{
    int rc = jgf_text_add (sb, g, s, opt, false);

    return rc < 0 || s->n == 0 ? rc : strbuf_addch (sb, '\n');
}

const struct match_writer match_writer_jgf = {
    .name = "jgf",
    .summary = "the graph of the selection, JSON Graph Format (RFC 40)",
    .write = jgf_write,
};

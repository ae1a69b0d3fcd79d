/* rv1.c - format "rv1": R version 1 (RFC 20) with the graph under "scheduling" */
#include "match/writers/rv1_text.h"

static int rv1_write (const struct graph *g, const struct selection *s,
                      const struct match_writer_options *opt, struct strbuf *sb)
{
    return rv1_text_add (sb, g, s, opt, RV1_JGF);
}

const struct match_writer match_writer_rv1 = {
    .name = "rv1",
    .summary = "R version 1 (RFC 20) with the graph",
    .write = rv1_write,
};

/* rv1_shorthand.c - format "rv1_shorthand": R version 1, the graph in shorthand */
#include "match/writers/rv1_text.h"

static int rv1_shorthand_write (const struct graph *g, const struct selection *s,
                                const struct match_writer_options *opt, struct strbuf *sb)
{
    return rv1_text_add (sb, g, s, opt, RV1_JGF_BRIEF);
}

const struct match_writer match_writer_rv1_shorthand = {
    .name = "rv1_shorthand",
    .summary = "R version 1 (RFC 20) with the graph in shorthand",
    .write = rv1_shorthand_write,
};

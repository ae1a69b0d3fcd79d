/* rv1_nosched.c - format "rv1_nosched": R version 1 (RFC 20) without "scheduling" */
#include "match/writers/rv1_text.h"

static int rv1_nosched_write (const struct graph *g, const struct selection *s,
                              const struct match_writer_options *opt, struct strbuf *sb)
{
    return rv1_text_add (sb, g, s, opt, RV1_NONE);
}

const struct match_writer match_writer_rv1_nosched = {
    .name = "rv1_nosched",
    .summary = "R version 1 (RFC 20) without the graph",
    .write = rv1_nosched_write,
};

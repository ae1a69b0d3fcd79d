/* simple.c - format "simple": indented lines, children before parents, "x" or "s" */
#include "match/writers/lines.h"

static int simple_write (const struct graph *g, const struct selection *s,
                         const struct match_writer_options *opt, struct strbuf *sb)
{
    (void)opt;
    return lines_add (sb, g, s, "x", "s");
}

const struct match_writer match_writer_simple = {
    .name = "simple",
    .summary = "indented lines, children before parents, x: exclusive, s: shared",
    .write = simple_write,
};

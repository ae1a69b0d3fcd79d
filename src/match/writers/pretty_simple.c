/* pretty_simple.c - format "pretty_simple": the lines of "simple" with whole words, in
 * reverse order, so that the root is on top
 */
#include <string.h>

#include "match/writers/lines.h"

static int pretty_write (const struct graph *g, const struct selection *s,
                         const struct match_writer_options *opt, struct strbuf *sb)
{
    autostrbuf struct strbuf lines = STRBUF_INIT (sb->max);

    (void)opt;
    int rc = lines_add (&lines, g, s, "exclusive", "shared");
    for (size_t end = lines.len; rc == 0 && end > 0;) {
        const char *nl = memrchr (lines.buf, '\n', end - 1);
        size_t start = nl ? (size_t)(nl - lines.buf) + 1 : 0;
        rc = strbuf_add (sb, lines.buf + start, end - start);
        end = start;
    }
    return rc;
}

const struct match_writer match_writer_pretty_simple = {
    .name = "pretty_simple",
    .summary = "indented lines in whole words, the root on top",
    .write = pretty_write,
};

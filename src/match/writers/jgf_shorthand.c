/* jgf_shorthand.c - format "jgf_shorthand": as "jgf", without what is below a vertex that
 * is taken as a whole
 */
#include "match/writers/jgf_text.h"

static int jgf_shorthand_write (const struct graph *g, const struct selection *s,
                                const struct match_writer_options *opt, struct strbuf *sb)
{
    int rc = jgf_text_add (sb, g, s, opt, true);

    return rc < 0 || s->n == 0 ? rc : strbuf_addch (sb, '\n');
}

const struct match_writer match_writer_jgf_shorthand = {
    .name = "jgf_shorthand",
    .summary = "as jgf, without the vertices below an exclusive vertex",
    .write = jgf_shorthand_write,
};

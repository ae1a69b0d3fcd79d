/* jgf_shorthand.c - format "jgf_shorthand": JGF that omits what is below an exclusive
 * vertex, as all of that belongs to the vertex. A graph to read omits nothing.
 */
#include "match/readers/jgf.h"

static int read_shorthand (const struct graph *g, const char *text, size_t len,
                           struct selection **ret, struct error *err)
{
    return jgf_read_selection (g, text, len, true, ret, err);
}

const struct match_reader match_reader_jgf_shorthand = {
    .name = "jgf_shorthand",
    .summary = "JSON Graph Format without the vertices below exclusive vertices",
    .read = jgf_read,
    .attach = jgf_attach,
    .read_selection = read_shorthand,
};

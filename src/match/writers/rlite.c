/* rlite.c - format "rlite": R_lite alone, the ids by rank */
#include <errno.h>

#include "match/writers/rlite_text.h"

static int rlite_write (const struct graph *g, const struct selection *s,
                        const struct match_writer_options *opt, struct strbuf *sb)
{
    struct rlite *r;

    (void)opt;
    int rc = rlite_collect (g, s, &r);
    if (rc < 0)
        return rc;
    if (rlite_is_empty (r)) {
        rc = -EINVAL;
    } else {
        rlite_add_array (r, sb);
        rc = strbuf_addch (sb, '\n');
    }
    rlite_destroy (r);
    return rc;
}

const struct match_writer match_writer_rlite = {
    .name = "rlite",
    .summary = "ids of cores and gpus by rank, R_lite of RFC 20",
    .write = rlite_write,
};

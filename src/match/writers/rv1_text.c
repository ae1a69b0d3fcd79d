/* rv1_text.c - see rv1_text.h */
#include "match/writers/rv1_text.h"

#include "match/writers/jgf_text.h"
#include "match/writers/rlite_text.h"

int rv1_text_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
                  const struct match_writer_options *opt, enum rv1_scheduling with)
{
    struct rlite *r;
    size_t before = sb->len;
    int rc = rlite_collect (g, s, &r);

    if (rc < 0)
        return rc;
    if (!rlite_is_empty (r)) {
        strbuf_adds (sb, "{\"version\": 1, \"execution\": ");
        rc = rlite_add_execution (r, opt, sb);
        if (rc == 0 && with != RV1_NONE) {
            strbuf_adds (sb, ", \"scheduling\": ");
            rc = jgf_text_add (sb, g, s, opt, with == RV1_JGF_BRIEF);
        }
        if (rc == 0)
            rc = strbuf_adds (sb, "}\n");
    }
    rlite_destroy (r);
    if (rc < 0 && sb->len > before) { /* no half an R */
        sb->len = before;
        sb->buf[before] = '\0';
    }
    return rc;
}

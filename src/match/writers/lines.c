/* lines.c - see lines.h */
#include "match/writers/lines.h"

#include <inttypes.h>

#include "match/writers/order.h"

static void add_pick (struct strbuf *sb, const struct graph *g,
                      const struct order_step *at, const char *word)
{
    const struct pick *p = at->pick;
    char name[ORDER_NAME_SIZE];

    for (uint32_t k = 0; k < p->count && !sb->err; k++) {
        strbuf_adds (sb, "      ");
        for (unsigned i = 0; i <= at->depth; i++)
            strbuf_adds (sb, "---");
        strbuf_adds (sb, graph_name (g, p->v, p->unit + k, name, sizeof (name)));
        strbuf_addf (sb, "[%" PRId64 ":%s]\n", p->amount, word);
    }
}

int lines_add (struct strbuf *sb, const struct graph *g, const struct selection *s,
               const char *exclusive, const char *shared)
{
    struct order o;
    struct order_step at;

    order_begin (&o, s);
    while (!sb->err && order_next (&o, &at)) {
        if (at.leave)
            add_pick (sb, g, &at, at.pick->exclusive ? exclusive : shared);
    }
    return sb->err;
}

/* order.c - see order.h: the stack of open picks is the way from the root */
#include "match/writers/order.h"

#include <assert.h>

void order_begin (struct order *o, const struct selection *s)
{
    *o = (struct order){ .s = s };
}

static void enter (struct order *o, struct order_step *ret)
{
    const struct pick *p = &o->s->picks[o->next];

    assert (o->depth < ARRAY_SIZE (o->open));
    *ret = (struct order_step){ p, o->depth, false, o->cover > 0 };
    o->open[o->depth++] = (uint32_t)o->next++;
    if (o->cover == 0 && p->claimed && p->exclusive)
        o->cover = o->depth;
}

static void leave (struct order *o, struct order_step *ret)
{
    if (o->cover == o->depth)
        o->cover = 0;
    o->depth--;
    *ret = (struct order_step){ &o->s->picks[o->open[o->depth]], o->depth, true,
                                o->cover > 0 };
}

bool order_next (struct order *o, struct order_step *ret)
{
    bool more = o->next < o->s->n;

    if (o->depth > 0 && (!more || o->s->picks[o->next].parent != o->open[o->depth - 1])) {
        leave (o, ret);
        return true;
    }
    if (more)
        enter (o, ret);
    return more;
}

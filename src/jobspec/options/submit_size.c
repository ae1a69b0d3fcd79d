/* submit_size.c - see submit_size.h */
#include "jobspec/options/submit_size.h"

bool size_is_elastic (const struct submit_size *z)
{
    return z->count.min != z->count.max;
}

bool size_is_open (const struct submit_size *z)
{
    return size_is_elastic (z) && z->count.max == JOBSPEC_COUNT_MAX && !z->list;
}

bool size_is_plain (const struct submit_size *z)
{
    return !z->list && z->count.op == '+' && z->count.operand == 1;
}

void size_set_fixed (struct submit_size *z, int64_t n)
{
    z->count = (struct jobspec_count){ n, n, '+', 1 };
}

void size_set_range (struct submit_size *z, int64_t min, int64_t max)
{
    z->count = (struct jobspec_count){ min, max, '+', 1 };
}

struct size_text size_text (const struct submit_size *z)
{
    struct size_text t;
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);

    jobspec_count_add (&sb, &z->count, z->list);
    snprintf (t.s, sizeof (t.s), "%s", sb.err ? "..." : sb.buf);
    return t;
}

int size_copy (const struct submit_size *from, struct submit_size *to, struct error *err)
{
    to->count = from->count;
    if (from->list && !(to->list = idset_copy (from->list)))
        return error_no_memory (err, NULL);
    return 0;
}

static bool divide_list (const struct submit_size *from, int64_t by,
                         struct submit_size *to)
{
    if (!(to->list = idset_create ()))
        return false;
    IDSET_FOREACH (from->list, n)
    {
        if (n % by != 0 || idset_add (to->list, (uint32_t)(n / by)) < 0) {
            idset_destroy (to->list);
            to->list = NULL;
            return false;
        }
    }
    to->count.min = from->count.min / by;
    to->count.max = from->count.max / by;
    return true;
}

bool size_divide (const struct submit_size *from, int64_t by, struct submit_size *to)
{
    const struct jobspec_count *c = &from->count;

    *to = *from;
    to->list = NULL;
    if (from->list)
        return divide_list (from, by, to);
    if (c->min % by != 0 || (c->max % by != 0 && !size_is_open (from)))
        return false;
    if (size_is_elastic (from) && by > 1
        && (c->op == '^' || (c->op == '+' && c->operand > 1 && c->operand % by != 0)))
        return false;
    if (c->op == '+' && c->operand > 1 && size_is_elastic (from))
        to->count.operand /= by;
    to->count.min /= by;
    if (!size_is_open (from))
        to->count.max /= by;
    return true;
}

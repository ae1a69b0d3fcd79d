/* claims.c - what is free: of one vertex, in a window of time
 *
 *     now      allocated claims always count, reserved ones if they overlap the window;
 *              of amounts, an allocated one counts until its end, or forever if that has
 *              passed
 *     later    both count if they overlap it: what should have ended has ended by then
 *     empty, ever    none counts
 *
 * Allocated units are bits in the vertex itself; the list of claims is searched only for
 * reservations, and for later windows.
 */
#include "match/planner/claims.h"
#include "match/planner/levels.h"

#define EVENTS 128 /* of 64 claims: more need allocated memory */

bool claims_counts (const struct planner *p, const struct claim *c,
                    const struct window *w)
{
    if (w->ever)
        return false;
    if (w->now && !c->reserved)
        return true;
    return c->start < w->end && w->at < c->end
           && !(p->suspended && claims_booking (p, c)->suspended);
}

/* Bits `first` to `end` of word i. */
static inline uint64_t bits_between (uint64_t first, uint64_t end, uint32_t i)
{
    uint64_t from = (uint64_t)i * 64;

    first = first > from ? first - from : 0;
    end = end > from ? MIN (end - from, 64) : 0;
    if (first >= end)
        return 0;
    return ~UINT64_C (0) >> (64 - (end - first)) << first;
}

uint64_t claims_run_word (uint32_t unit, uint32_t count, uint32_t i)
{
    return bits_between (unit, (uint64_t)unit + count, i);
}

uint64_t claims_free_word (const struct planner *p, uint32_t v, uint32_t i,
                           const struct window *w)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    uint64_t free = claims_run_word (0, x->n, i);

    if (w->ever)
        return graph_ever_word (p->g, v, i);
    free &= ~graph_down_word (p->g, v, i);
    if (x->nclaims == 0)
        return free;
    if (w->now) {
        free &= ~graph_busy_word (x, i);
        if (x->nreserved == 0)
            return free;
    }
    CLAIMS (p, v, c)
    {
        const struct claim *claim = &p->claims[c];
        uint64_t run =
            bits_between (claim->unit, (uint64_t)claim->unit + claim->count, i);
        if ((free & run) && claims_counts (p, claim, w))
            free &= ~run;
        if (!free)
            break;
    }
    return free;
}

/* -- amounts -- */

struct event { /* a change of the sum */
    int64_t time, amount;
};

/* At equal times, ends come before begins. */
static int by_time (const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->amount > y->amount) - (x->amount < y->amount);
}

static int64_t highest (struct event *e, size_t n)
{
    int64_t sum = 0, most = 0;

    qsort (e, n, sizeof (*e), by_time);
    for (size_t i = 0; i < n; i++) {
        sum += e[i].amount;
        most = MAX (most, sum);
    }
    return most;
}

int64_t claims_most_used (const struct planner *p, uint32_t v, const struct window *w)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int64_t sum = 0, most;
    struct event fixed[EVENTS], *e = fixed;
    size_t n = 0;

    if (w->ever)
        return 0;
    if (2 * (size_t)x->nclaims > EVENTS)
        e = malloc (2 * (size_t)x->nclaims * sizeof (*e));
    CLAIMS (p, v, c)
    {
        const struct claim *claim = &p->claims[c];
        bool here = w->now && !claim->reserved; /* late if its end has passed */
        if (!here && !claims_counts (p, claim, w))
            continue;
        int64_t amount = claim->amount * (int64_t)claim->count;
        sum += amount;
        if (e) {
            bool late = here && claim->end <= w->at;
            e[n++] = (struct event){ here ? w->at : MAX (claim->start, w->at), amount };
            e[n++] = (struct event){ late ? INT64_MAX : claim->end, -amount };
        }
    }
    most = e ? highest (e, n) : sum; /* no memory: as if all were at one time */
    if (e != fixed)
        free (e);
    return most;
}

int64_t claims_free_amount (const struct planner *p, uint32_t v, const struct window *w)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if (w->ever)
        return graph_is_leaving (p->g, v) ? 0 : x->size;
    if (!graph_is_up (p->g, v, 0))
        return 0;
    int64_t left = x->size - graph_withheld (p->g, v);
    if (x->nclaims == 0)
        return left;
    if (w->now && x->nreserved == 0)
        return MAX (left - x->used, 0);
    return MAX (left - claims_most_used (p, v, w), 0);
}

int64_t claims_free_count (const struct planner *p, uint32_t v, const struct window *w)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int64_t n = 0;

    if (x->flags & GRAPH_DIVISIBLE)
        return claims_free_amount (p, v, w) > 0;
    for (uint32_t i = 0; i < (x->n + 63) / 64; i++)
        n += __builtin_popcountll (claims_free_word (p, v, i, w));
    return n;
}

/* -- claims above and below a vertex -- */

bool claims_taken (const struct planner *p, uint32_t v, const struct window *w)
{
    CLAIMS (p, v, c)
    {
        if (p->claims[c].exclusive && claims_counts (p, &p->claims[c], w))
            return true;
    }
    return false;
}

uint32_t claims_below (const struct planner *p, uint32_t v, const struct window *w,
                       uint32_t but)
{
    const struct level_node *node = levels_node (p, v);

    if (node && node->nclaims == 0)
        return GRAPH_NONE;
    CLAIMS (p, v, c)
    {
        if (p->claims[c].booking != but && claims_counts (p, &p->claims[c], w))
            return c;
    }
    GRAPH_CHILDREN (p->g, v, child)
    {
        uint32_t c = claims_below (p, child, w, but);
        if (c != GRAPH_NONE)
            return c;
    }
    return GRAPH_NONE;
}

static bool tree_untouched (const struct planner *p, uint32_t v, const struct window *w)
{
    const struct level_node *node = levels_node (p, v);

    if (node && node->nclaims == 0)
        return true;
    if (node && w->now && node->nclaims > node->nreserved)
        return false;
    return claims_below (p, v, w, GRAPH_NONE) == GRAPH_NONE;
}

bool claims_covered (const struct planner *p, uint32_t v, const struct window *w)
{
    for (v = graph_vertex (p->g, v)->parent; v != GRAPH_NONE;
         v = graph_vertex (p->g, v)->parent)
        if (claims_taken (p, v, w))
            return true;
    return false;
}

/* Also for the further children at v and below it. */
static bool further_untouched (const struct planner *p, uint32_t v,
                               const struct window *w)
{
    GRAPH_FURTHER (p->g, v, c)
    {
        if (claims_covered (p, c, w) || !tree_untouched (p, c, w)
            || !further_untouched (p, c, w))
            return false;
    }
    GRAPH_CHILDREN (p->g, v, c)
    {
        if (!further_untouched (p, c, w))
            return false;
    }
    return true;
}

bool claims_untouched (const struct planner *p, uint32_t v, const struct window *w)
{
    if (w->ever)
        return true;
    return tree_untouched (p, v, w)
           && (graph_further_count (p->g) == 0 || further_untouched (p, v, w));
}

uint32_t claims_in_way (const struct planner *p, const struct claim *c,
                        const struct window *w)
{
    const struct graph_vertex *x = graph_vertex (p->g, c->v);

    for (uint32_t up = x->parent; up != GRAPH_NONE;
         up = graph_vertex (p->g, up)->parent) {
        CLAIMS (p, up, i)
        {
            const struct claim *o = &p->claims[i];
            if (o->exclusive && o->booking != c->booking && claims_counts (p, o, w))
                return i;
        }
    }
    if (x->first != GRAPH_NONE && c->exclusive)
        return claims_below (p, c->v, w, c->booking);
    if (x->flags & GRAPH_DIVISIBLE)
        return GRAPH_NONE;
    CLAIMS (p, c->v, i)
    {
        const struct claim *o = &p->claims[i];
        if (o->booking != c->booking && o->unit < c->unit + c->count
            && c->unit < o->unit + o->count && claims_counts (p, o, w))
            return i;
    }
    return GRAPH_NONE;
}

bool claims_covered_by (const struct planner *p, uint32_t v, uint32_t booking)
{
    for (uint32_t up = graph_vertex (p->g, v)->parent; up != GRAPH_NONE;
         up = graph_vertex (p->g, up)->parent) {
        CLAIMS (p, up, c)
        {
            if (p->claims[c].booking == booking && p->claims[c].exclusive)
                return true;
        }
    }
    return false;
}

/* release.c - ends of bookings, at which something becomes free
 *
 *     release_next    the next end at which something useful for a request becomes free
 *
 * A request that fits at a later time, and at no earlier one, uses something that ends
 * then. So the search skips ends that give back nothing free, or not enough, during the
 * whole window that begins with them; and, after a time at which some nodes were missing,
 * all ends until as many nodes have been given back. Each booking remembers the requests
 * that its end does not help. O(log bookings) for the first end, O(1) for each end known
 * to be useless, O(claims of the booking) for others.
 */

#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/search/release.h"

/* A time at which bookings end, and the window that begins then. */
struct end {
    struct planner *p;
    const struct node_need *need;
    const struct window *w;
};

int64_t release_free_cores (const struct planner *p, uint32_t v, const struct window *w)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int64_t sum = 0;

    if (x->first == GRAPH_NONE)
        return x->type == GRAPH_CORE ? claims_free_count (p, v, w) : 0;
    if (x->nclaims > 0 && claims_taken (p, v, w))
        return 0;
    GRAPH_CHILDREN (p->g, v, c)
    {
        sum += release_free_cores (p, c, w);
    }
    return sum;
}

/* Returns the start of the first booking in the window that has v, or (below) something
 * in it; INT64_MAX: none. Any start up to `soon` is as good as the first. */
static int64_t first_start (const struct end *r, uint32_t v, bool below, int64_t soon)
{
    int64_t first = INT64_MAX;

    CLAIMS (r->p, v, c)
    {
        const struct claim *claim = &r->p->claims[c];
        if ((below || claim->exclusive) && claims_counts (r->p, claim, r->w))
            first = MIN (first, claim->start);
        if (first <= soon)
            return first;
    }
    if (!below)
        return first;
    GRAPH_CHILDREN (r->p->g, v, child)
    {
        int64_t start = first_start (r, child, below, soon);
        first = MIN (first, start);
        if (first <= soon)
            return first;
    }
    return first;
}

/* Returns the largest length of windows for which the claim gives back something free,
 * and enough in its node; INT64_MAX: through this window. A result up to `use` is not
 * exact. */
static int64_t use_of (const struct end *r, const struct claim *c, int64_t use)
{
    uint32_t node = levels_node_of (r->p, c->v);

    if (node == GRAPH_NONE)
        return INT64_MAX; /* outside nodes there is no closer check */
    if (r->need->properties & ~levels_node (r->p, node)->properties)
        return 0;
    int64_t first = first_start (r, node, r->need->only_whole, r->w->at + use);
    if (first != INT64_MAX)
        return MAX (first - r->w->at, 0);
    if (r->need->only_whole && graph_further_count (r->p->g) == 0)
        return INT64_MAX;
    if (r->need->only_whole
            ? claims_untouched (r->p, node, r->w)
            : (c->v == node || graph_vertex (r->p->g, c->v)->first != GRAPH_NONE
               || claims_free_count (r->p, c->v, r->w) > 0)
                  && (r->need->cores == 0
                      || release_free_cores (r->p, node, r->w) >= r->need->cores))
        return INT64_MAX;
    return r->w->end - r->w->at - 1;
}

/* -- what was of no use is not looked at again: until something else becomes free, what is
 * booked on it only becomes more -- */

static struct useless as_useless (const struct end *r)
{
    return (struct useless){ .cores = r->need->only_whole ? -1 : r->need->cores,
                             .properties = r->need->properties,
                             .length = r->w->end - r->w->at };
}

/* True if no use to a implies no use to b. */
static bool covers (const struct useless *a, const struct useless *b)
{
    return (a->cores < 0) == (b->cores < 0) && a->cores <= b->cores
           && a->length <= b->length && !(a->properties & ~b->properties);
}

static bool is_known_useless (const struct end *r, const struct booking *b)
{
    const struct useless now = as_useless (r);
    const struct reach *reach = b->reach;

    if (!reach || reach->shown != r->p->shown || reach->placed != r->p->placed)
        return false;
    for (unsigned i = 0; i < reach->nuseless && i < USELESS_MAX; i++)
        if (covers (&reach->useless[i], &now))
            return true;
    return false;
}

static void note_useless (const struct end *r, const struct booking *b, int64_t use)
{
    struct useless now = as_useless (r);
    struct reach *reach = b->reach;
    unsigned i = 0;

    now.length = use + 1;

    if (!reach || reach->placed != r->p->placed)
        return;
    if (reach->shown != r->p->shown)
        reach->nuseless = 0;
    reach->shown = r->p->shown;
    while (i < reach->nuseless && i < USELESS_MAX && !covers (&now, &reach->useless[i]))
        i++;
    if (i == reach->nuseless || i == USELESS_MAX)
        i = reach->nuseless++ % USELESS_MAX;
    reach->useless[i] = now;
}

static bool is_of_use (const struct end *r, const struct booking *b)
{
    int64_t use = 0;

    if (is_known_useless (r, b))
        return false;
    CLAIMS_OF_JOB (r->p, b, c)
    {
        use = MAX (use, use_of (r, &r->p->claims[c], use));
        if (use == INT64_MAX)
            return true;
    }
    note_useless (r, b, use);
    return false;
}

/* -- one end after the other -- */

struct round {
    struct release_search *k;
    int64_t from, until, found;
};

/* Subtracts the nodes of b from the missing ones, by its claims: it has at least one per
 * node, except above nodes. True if nodes are still missing. */
static bool is_missed (struct release_search *k, const struct booking *b)
{
    if (k->missing <= 0 || b->end <= k->counted)
        return k->missing > 0;
    k->missing = k->p->any_upper ? 0 : k->missing - b->nclaims;
    return k->missing > 0;
}

static bool visit (struct ordered_link *l, void *arg)
{
    struct round *s = arg;
    const struct booking *b =
        (const struct booking *)((const char *)l - offsetof (struct booking, by_end));
    bool missed = s->k->missing > 0;

    if (b->end > s->until)
        return true;
    if (is_missed (s->k, b) || b->end < s->from)
        return false;
    /* Other bookings that end at this time were skipped. */
    if (!missed) {
        struct window w = { .at = b->end,
                            .end = planner_window_end (s->k->p, b->end, s->k->duration) };
        struct end r = { .p = s->k->p, .need = s->k->need, .w = &w };
        if (!is_of_use (&r, b))
            return false;
    }
    s->found = b->end;
    return true;
}

int64_t release_next (struct release_search *k, int64_t from, int64_t until)
{
    struct round s = { .k = k, .from = from, .until = until, .found = -1 };

    if (k->missing > 0)
        from = MIN (from, k->counted + 1);
    ordered_from (&k->p->ends, planner_order (from), visit, &s);
    k->counted = MAX (k->counted, s.found >= 0 ? s.found : until);
    return s.found;
}

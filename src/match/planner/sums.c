/* sums.c - amounts by dimension of the index
 *
 * The sums of a subtree are the amounts that the subtree has, that are up, and that are
 * free. The sums of a booking are the amounts that the booking takes over time. The
 * profile is what is up in total, less the sums of the bookings. The profile must never
 * exclude a time at which a request fits, so
 *
 *   - for what is down, it counts neither the amount nor the bookings there;
 *   - a node counts as taken (dimension 0) by one of its bookings at a time, or by none;
 *   - a reservation over other bookings does not count where these have something;
 *   - the amounts of a request are those that are certainly booked, each once.
 */
#include "match/index/profile.h"
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/node_load.h"
#include "match/planner/properties.h"
#include "match/planner/sums.h"

/* -- of a subtree -- */

static int64_t add (int64_t a, int64_t b) /* both <= SUMS_MAX */
{
    return MIN (a + b, SUMS_MAX);
}

static int64_t times (int64_t a, int64_t b)
{
    int64_t r;

    return __builtin_mul_overflow (a, b, &r) || r > SUMS_MAX ? SUMS_MAX : r;
}

/* Units `first` .. + count of v that are up, or free. */
static int64_t units_of (const struct planner *p, uint32_t v, uint32_t first,
                         uint32_t count, enum sums_of what)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int64_t n = 0;

    for (uint32_t i = first / 64; i <= (first + count - 1) / 64; i++) {
        uint64_t word = claims_run_word (first, count, i);
        word &= what == SUMS_EVER ? graph_ever_word (p->g, v, i)
                                  : ~graph_down_word (p->g, v, i);
        if (what == SUMS_FREE)
            word &= ~graph_busy_word (x, i);
        n += __builtin_popcountll (word);
    }
    return n;
}

static int64_t own_amount (const struct planner *p, uint32_t v, enum sums_of what)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if (!(x->flags & GRAPH_DIVISIBLE))
        return times (units_of (p, v, 0, x->n, what), x->size);
    if (what == SUMS_EVER)
        return graph_is_leaving (p->g, v) ? 0 : x->size;
    if (!graph_is_up (p->g, v, 0))
        return 0;
    int64_t left = x->size - graph_withheld (p->g, v);
    return what == SUMS_FREE ? MAX (left - x->used, 0) : left;
}

bool sums_is_taken (const struct planner *p, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if (x->nclaims == x->nreserved)
        return false;
    CLAIMS (p, v, c)
    {
        if (p->claims[c].exclusive && !p->claims[c].reserved)
            return true;
    }
    return false;
}

bool sums_is_up (const struct planner *p, uint32_t v)
{
    for (; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent)
        if (graph_vertex (p->g, v)->flags & (GRAPH_DOWN | GRAPH_DRAINED))
            return false;
    return true;
}

/* True if nothing below v counts. */
static bool is_closed (const struct planner *p, uint32_t v, enum sums_of what)
{
    if (what == SUMS_EVER)
        return graph_is_leaving (p->g, v);
    if (graph_vertex (p->g, v)->flags & (GRAPH_DOWN | GRAPH_DRAINED))
        return true;
    return what == SUMS_FREE && sums_is_taken (p, v);
}

static void add_own (const struct planner *p, uint32_t v, enum sums_of what,
                     int64_t *sums)
{
    int dim = p->dim_of[graph_vertex (p->g, v)->type];

    if (dim > 0)
        sums[dim] = add (sums[dim], own_amount (p, v, what));
}

void sums_add (const struct planner *p, uint32_t v, enum sums_of what, int64_t *sums)
{
    add_own (p, v, what, sums);
    if (graph_vertex (p->g, v)->first == GRAPH_NONE || is_closed (p, v, what))
        return;
    GRAPH_CHILDREN (p->g, v, child)
    {
        sums_add (p, child, what, sums);
    }
}

void sums_add_loose (const struct planner *p, uint32_t v, enum sums_of what,
                     int64_t *sums)
{
    const struct upper *a = levels_upper (p, v);

    if (graph_vertex (p->g, v)->type == GRAPH_NODE)
        return;
    if (!a) {
        sums_add (p, v, what, sums);
        return;
    }
    add_own (p, v, what, sums);
    if (is_closed (p, v, what))
        return;
    for (size_t i = 0; i < a->nloose; i++)
        sums_add (p, a->loose[i], what, sums);
    for (size_t i = 0; i < a->nkids; i++)
        sums_add_loose (p, a->kids[i], what, sums);
}

int64_t sums_of_type (const struct planner *p, uint32_t v, uint16_t type,
                      enum sums_of what)
{
    int64_t sum = 0;

    if (graph_vertex (p->g, v)->type == type)
        sum = own_amount (p, v, what);
    if (graph_vertex (p->g, v)->first == GRAPH_NONE || is_closed (p, v, what))
        return sum;
    GRAPH_CHILDREN (p->g, v, child)
    {
        sum = add (sum, sums_of_type (p, child, type, what));
    }
    return sum;
}

/* -- of a booking -- */

/* Counts the node as taken by b, unless other bookings have a part of it at the time. */
static void count_node (struct planner *p, const struct booking *b, uint32_t v,
                        bool whole, int64_t *sums)
{
    struct level_node *node = levels_node (p, v);
    struct window w = { .at = b->start, .end = b->end };

    if (!node || node->stamp == p->stamp)
        return;
    node->stamp = p->stamp;
    if (!node->down && (whole || claims_below (p, v, &w, b->number) == GRAPH_NONE))
        sums[0]++;
}

static void count_nodes (struct planner *p, const struct booking *b,
                         const struct claim *c, int64_t *sums)
{
    uint32_t node = levels_node_of (p, c->v);
    const struct upper *a;

    if (node != GRAPH_NONE) {
        count_node (p, b, node, c->exclusive && node == c->v && !b->over, sums);
        return;
    }
    if (!c->exclusive || !(a = levels_upper (p, c->v)))
        return;
    for (size_t i = 0; i < a->places; i++)
        if (a->nodes[i] != NOWHERE)
            count_node (p, b, a->nodes[i], true, sums);
}

/* Adds the cores of v (in a node), or those of the nodes below v, to the dimensions of
 * properties. */
static void add_properties (const struct planner *p, uint32_t v, int64_t cores,
                            int64_t *sums)
{
    uint32_t node;
    const struct upper *a;

    if (p->nproperties == 0)
        return;
    if ((node = levels_node_of (p, v)) != GRAPH_NONE) {
        const struct level_node *x = levels_node (p, node);
        if (x)
            properties_spread (p, x->properties, cores, sums);
    } else if ((a = levels_upper (p, v))) {
        for (size_t i = 0; i < a->places; i++) {
            const struct level_node *x =
                a->nodes[i] == NOWHERE ? NULL : levels_node (p, a->nodes[i]);
            if (x)
                properties_spread (p, x->properties, x->up[CORES], sums);
        }
    }
}

/* True if other bookings have some of it at that time, which counts for them, and so not
 * here. */
static bool is_shared (const struct planner *p, const struct booking *b,
                       const struct claim *c)
{
    struct window w = { .at = b->start, .end = b->end };

    return b->over && claims_below (p, c->v, &w, b->number) != GRAPH_NONE;
}

static void add_claim (const struct planner *p, const struct claim *c, int64_t *sums)
{
    const struct graph_vertex *x = graph_vertex (p->g, c->v);
    const struct level_node *node = levels_node (p, c->v);
    int dim = p->dim_of[x->type];
    int64_t cores = sums[CORES];

    if ((x->parent != GRAPH_NONE && !sums_is_up (p, x->parent))
        || is_shared (p, claims_booking (p, c), c))
        return;
    if (x->first != GRAPH_NONE && c->exclusive) {
        if (!node) {
            sums_add (p, c->v, SUMS_UP, sums);
            add_properties (p, c->v, sums[CORES] - cores, sums);
            return;
        }
        for (unsigned d = 1; d < p->ndims; d++)
            sums[d] = add (sums[d], node->up[d]);
        return;
    }
    if (dim <= 0)
        return;
    if (!(x->flags & GRAPH_DIVISIBLE))
        sums[dim] = add (sums[dim],
                         times (units_of (p, c->v, c->unit, c->count, SUMS_UP), x->size));
    else if (graph_is_up (p->g, c->v, 0))
        sums[dim] = add (sums[dim], c->amount);
    if (dim == CORES)
        add_properties (p, c->v, sums[CORES] - cores, sums);
}

void sums_of_booking (struct planner *p, const struct booking *b, int64_t *sums)
{
    memset (sums, 0, INDEX_DIMS * sizeof (*sums));
    p->stamp++;
    CLAIMS_OF_JOB (p, b, c)
    {
        add_claim (p, &p->claims[c], sums);
        count_nodes (p, b, &p->claims[c], sums);
    }
}

/* -- the profile -- */

static void enter (struct planner *p, int64_t start, int64_t end, const int64_t *sums,
                   int sign)
{
    static const int64_t none[INDEX_DIMS];

    if (memcmp (sums, none, sizeof (none)) != 0
        && profile_add (p->profile, start, end, sums, sign) < 0)
        levels_spoil (p);
}

/* True if its sums are in the present profile, or would be if it were not suspended. */
static bool is_booked (const struct planner *p, const struct booking *b)
{
    return !p->stale && b->made == p->made;
}

void sums_enter (struct planner *p, struct booking *b)
{
    if (is_booked (p, b))
        enter (p, b->start, b->end, b->sums, -1);
    else
        sums_book (p, b);
}

void sums_book (struct planner *p, struct booking *b)
{
    if (b->suspended)
        p->sums_changed = true; /* checked when it is resumed */
    if (p->stale || b->suspended)
        return;
    if (b->made != p->made)
        node_load_again (p, b);
    b->made = p->made;
    sums_of_booking (p, b, b->sums);
    sums_enter (p, b);
}

void sums_unbook (struct planner *p, struct booking *b)
{
    if (is_booked (p, b))
        enter (p, b->start, b->end, b->sums, 1);
}

void sums_rebook (struct planner *p, struct booking *b)
{
    int64_t sums[INDEX_DIMS], more[INDEX_DIMS];

    if (b->suspended)
        p->sums_changed = true;
    if (!is_booked (p, b) || b->suspended)
        return;
    sums_of_booking (p, b, sums);
    for (unsigned d = 0; d < INDEX_DIMS; d++)
        more[d] = sums[d] - b->sums[d];
    memcpy (b->sums, sums, sizeof (sums));
    enter (p, b->start, b->end, more, -1);
}

void sums_grow (struct planner *p, const int64_t *more)
{
    for (unsigned d = 0; d < INDEX_DIMS; d++)
        p->total[d] += more[d];
    enter (p, 0, INT64_MAX, more, 1);
}

/* -- of a request -- */

struct needs {
    const struct planner *p;
    const struct shape *s;
    int64_t *need;
};

/* n: the least number of times it is needed; node: it is requested in a node. */
static void need_of (const struct needs *w, uint16_t r, int64_t n, bool node)
{
    const struct shape_vertex *v = &w->s->v[r];
    int type = v->kind == SHAPE_RESOURCE ? graph_type_find (w->p->g, v->type) : -1;
    bool taken = v->taken || (type == GRAPH_NODE && w->p->policy.node_exclusive);
    int64_t here = times (n, shape_count_least (v));

    if (v->kind == SHAPE_OR_SLOT)
        return; /* any of its siblings may serve instead */
    if (type == GRAPH_NODE) {
        if (taken && !node && !w->p->nested)
            w->need[0] = add (w->need[0], here);
        node = true;
    } else if (type >= 0 && taken && !w->p->overbooked[type]
               && levels_dim (w->p, (uint16_t)type) > 0) {
        int64_t *need = &w->need[levels_dim (w->p, (uint16_t)type)];
        *need = add (*need, here);
    }
    if (type >= 0 && w->p->big[type])
        here = n; /* one may serve several */
    for (uint16_t c = v->first; c != SHAPE_NONE; c = w->s->v[c].next)
        need_of (w, c, here, node);
}

void sums_need (const struct planner *p, const struct shape *s, int64_t *need)
{
    struct needs w = { p, s, need };

    memset (need, 0, INDEX_DIMS * sizeof (*need));
    for (uint16_t r = s->top; r != SHAPE_NONE; r = s->v[r].next)
        need_of (&w, r, 1, false);
    uint8_t properties = properties_needed (p, s->constraint);
    properties_spread (p, properties, need[CORES], need);
    properties_raise (p, properties, need[0], need);
}

/* selection.c - the units that a match chose, in the order of the graph
 *
 * selection_complete() reads picks in depth-first order as a stream: it knows the way
 * from the root to the last pick, inserts what is missing on the way to the next one, and
 * merges a pick with the last one of the same vertex. Picks in another order are sorted
 * first, by the orders of the vertices on their ways, packed into one number.
 */

#include "match/graph/selection.h"

struct selection *selection_create (void)
{
    return calloc (1, sizeof (struct selection));
}

void selection_destroy (struct selection *s)
{
    if (!s)
        return;
    free (s->picks);
    free (s->ways);
    free (s);
}

struct pick *selection_add (struct selection *s, const struct graph *g, uint32_t v,
                            uint32_t unit, uint32_t count, uint32_t parent)
{
    if (array_reserve (&s->picks, &s->alloc, s->n + 1, sizeof (*s->picks)) < 0)
        return NULL;
    struct pick *p = &s->picks[s->n++];
    *p = (struct pick){ .v = v,
                        .parent = parent,
                        .unit = unit,
                        .count = count,
                        .amount = graph_vertex (g, v)->size };
    return p;
}

int selection_add_way (struct selection *s, uint32_t v, uint32_t via)
{
    if (array_reserve (&s->ways, &s->ways_alloc, s->nways + 1, sizeof (*s->ways)) < 0)
        return -ENOMEM;
    s->ways[s->nways++] = (struct selection_way){ v, via };
    return 0;
}

/* -- two picks of the same units -- */

static int64_t sum (int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Merges b into a. Parts of a pool add up; a vertex that is only on the way has no
 * amount. */
static void unite (struct pick *a, const struct pick *b, bool divisible)
{
    if (a->claimed && b->claimed)
        a->amount = divisible ? sum (a->amount, b->amount) : MAX (a->amount, b->amount);
    else if (a->claimed == b->claimed)
        a->amount = MAX (a->amount, b->amount);
    else if (b->claimed)
        a->amount = b->amount;
    if (b->label && (!a->label || b->label < a->label))
        a->label = b->label;
    a->slots += b->slots;
    a->exclusive = a->exclusive || b->exclusive;
    a->claimed = a->claimed || b->claimed;
}

static bool alike (const struct pick *a, const struct pick *b)
{
    return a->amount == b->amount && a->slots == b->slots && a->label == b->label
           && a->exclusive == b->exclusive && a->claimed == b->claimed;
}

/* -- which way leads to a vertex: that of the tree, but for detours -- */

struct detour {
    uint32_t v, via; /* a vertex, and the further parent that it is below here */
    uint32_t edge;   /* position among the further children of via */
    size_t way;      /* number of the way in the selection */
};

struct course {
    const struct graph *g;
    struct detour *detours; /* ascending by v */
    size_t n;
};

static const struct detour *detour_of (const struct course *c, uint32_t v)
{
    size_t low = 0, high = c->n;
    if (!(graph_vertex (c->g, v)->flags & GRAPH_FURTHER_PARENTS))
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->detours[middle].v < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->detours[low].v == v ? &c->detours[low] : NULL;
}

static uint32_t detour_parent (const struct course *c, uint32_t v)
{
    const struct detour *d = detour_of (c, v);
    return d ? d->via : graph_vertex (c->g, v)->parent;
}

static unsigned detour_depth (const struct course *c, uint32_t v)
{
    unsigned depth = 0;
    while ((v = detour_parent (c, v)) != GRAPH_NONE)
        depth++;
    return depth;
}

/* Own children come before further ones. */
static bool detour_before (const struct course *c, uint32_t a, uint32_t b)
{
    const struct detour *x = detour_of (c, a), *y = detour_of (c, b);
    if (x && y)
        return x->edge < y->edge;
    if (x || y)
        return !x;
    return graph_vertex (c->g, a)->order < graph_vertex (c->g, b)->order;
}

/* As stands_before(); straight: there are no detours. Most selections are straight, and
 * have code compiled for that. */

#define ALWAYS_INLINE static inline __attribute__ ((always_inline))

ALWAYS_INLINE uint32_t parent_of (const struct course *c, uint32_t v, bool straight)
{
    return straight ? graph_vertex (c->g, v)->parent : detour_parent (c, v);
}

ALWAYS_INLINE unsigned depth_of (const struct course *c, uint32_t v, bool straight)
{
    return straight ? graph_vertex (c->g, v)->depth : detour_depth (c, v);
}

/* Compares two children of one vertex. */
ALWAYS_INLINE bool stands_before (const struct course *c, uint32_t a, uint32_t b,
                                  bool straight)
{
    return straight ? graph_vertex (c->g, a)->order < graph_vertex (c->g, b)->order
                    : detour_before (c, a, b);
}

static bool is_further (const struct graph *g, uint32_t v, uint32_t parent,
                        uint32_t *ret_edge)
{
    uint32_t up;
    *ret_edge = GRAPH_NONE;
    while ((up = graph_further_parent (g, v, ret_edge)) != GRAPH_NONE) {
        if (up == parent)
            return true;
    }
    return false;
}

static int compare_detours (const void *a, const void *b)
{
    const struct detour *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return x->way < y->way ? -1 : 1;
}

/* Makes the detours of the selection. 0 or -ENOMEM; the caller frees them. */
static int course_make (struct course *c, const struct selection *s)
{
    size_t n = 0, kept = 0;
    if (s->nways == 0)
        return 0;
    c->detours = malloc (s->nways * sizeof (*c->detours));
    if (!c->detours)
        return -ENOMEM;
    for (size_t i = 0; i < s->nways; i++) {
        struct detour d = { s->ways[i].v, s->ways[i].via, 0, i };
        if (is_further (c->g, d.v, d.via, &d.edge))
            c->detours[n++] = d;
    }
    qsort (c->detours, n, sizeof (*c->detours), compare_detours);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || c->detours[kept - 1].v != c->detours[i].v)
            c->detours[kept++] = c->detours[i];
    }
    c->n = kept;
    return 0;
}

/* -- the stream -- */

struct stream {
    struct course c; /* borrows the detours */
    struct selection out;
    uint32_t way[GRAPH_DEPTH_MAX]; /* the last pick at each depth, by number in out */
    unsigned depth;                /* of the last pick + 1: number of entries in `way` */
};

/* depth: of the vertex of the pick, here and below. */
static struct pick *stream_append (struct stream *st, const struct pick *from,
                                   unsigned depth)
{
    if (array_reserve (&st->out.picks, &st->out.alloc, st->out.n + 1,
                       sizeof (*st->out.picks))
        < 0)
        return NULL;
    struct pick *p = &st->out.picks[st->out.n];
    *p = *from;
    p->parent = depth == 0 ? GRAPH_NONE : st->way[depth - 1];
    st->way[depth] = (uint32_t)st->out.n++;
    st->depth = depth + 1;
    return p;
}

/* Compares vertex v with the last pick. 1: v comes after it, and is inserted with its way
 * below depth *ret; 0: v is on the way already; -1: v, or its units, come before. */
ALWAYS_INLINE int stream_place (const struct stream *st, uint32_t v, unsigned depth,
                                bool straight, unsigned *ret)
{
    const struct course *c = &st->c;
    uint32_t below = GRAPH_NONE;
    while (depth >= st->depth) {
        below = v;
        v = parent_of (c, v, straight);
        if (depth-- == 0) {
            *ret = 0;
            return 1; /* the first one */
        }
    }
    while (st->out.picks[st->way[depth]].v != v) {
        below = v;
        v = parent_of (c, v, straight);
        depth--; /* they meet at the root */
    }
    *ret = depth + 1;
    if (below == GRAPH_NONE)
        return 0;
    if (depth + 1 == st->depth)
        return 1;
    uint32_t beside = st->out.picks[st->way[depth + 1]].v;
    return stands_before (c, beside, below, straight) ? 1 : -1;
}

/* Inserts the vertices from depth on that lead to v, which is at depth last. */
ALWAYS_INLINE int stream_way (struct stream *st, uint32_t v, unsigned last,
                              unsigned depth, bool straight)
{
    uint32_t way[GRAPH_DEPTH_MAX];
    for (unsigned d = last; d-- > depth;)
        way[d] = v = parent_of (&st->c, v, straight);
    for (unsigned d = depth; d < last; d++) {
        struct pick p = { .v = way[d],
                          .count = 1,
                          .amount = graph_vertex (st->c.g, way[d])->size };
        if (!stream_append (st, &p, d))
            return -ENOMEM;
    }
    return 0;
}

/* Joins the last pick with the one before it, if they are now alike. */
static void stream_join (struct stream *st)
{
    struct selection *out = &st->out;
    const struct pick *last = &out->picks[out->n - 1];
    struct pick *before = out->n > 1 ? &out->picks[out->n - 2] : NULL;
    if (!before || before->v != last->v || before->unit + before->count != last->unit
        || !alike (before, last))
        return;
    before->count += last->count;
    st->way[st->depth - 1] = (uint32_t)--out->n - 1;
}

/* Handles a pick of a vertex on the way: equal units, or later ones. */
static int stream_again (struct stream *st, const struct pick *p, unsigned depth)
{
    const struct graph_vertex *x = graph_vertex (st->c.g, p->v);
    struct pick *last = &st->out.picks[st->way[depth]];
    if (p->unit >= last->unit + last->count) {
        if (p->unit == last->unit + last->count && alike (last, p)) {
            last->count += p->count;
            return 1;
        }
        return stream_append (st, p, depth) ? 1 : -ENOMEM;
    }
    if (p->unit != last->unit || p->count != last->count)
        return 0;
    unite (last, p, x->flags & GRAPH_DIVISIBLE);
    if (x->n > 1)
        stream_join (st);
    return 1;
}

ALWAYS_INLINE int put (struct stream *st, const struct pick *p, bool straight)
{
    unsigned depth = depth_of (&st->c, p->v, straight), from;
    int place = stream_place (st, p->v, depth, straight, &from);
    if (place < 0)
        return 0;
    if (place == 0)
        return stream_again (st, p, depth);
    if (stream_way (st, p->v, depth, from, straight) < 0)
        return -ENOMEM;
    return stream_append (st, p, depth) ? 1 : -ENOMEM;
}

/* 1: taken; 0: the pick is out of order; -ENOMEM. */
static int stream_put (struct stream *st, const struct pick *p)
{
    return st->c.n == 0 ? put (st, p, true) : put (st, p, false);
}

/* -- picks in any order -- */

struct seat {
    uint64_t key; /* orders of the vertices on the way to it, the outermost first */
    uint32_t pick, unit;
};

struct sorting {
    struct course c;
    const struct pick *picks;
    unsigned bits[GRAPH_DEPTH_MAX]; /* bits of the key for each depth; 0: not needed */
    bool exact;                     /* the key decides alone */
};

static unsigned bits_of (uint32_t n)
{
    return n ? 32u - (unsigned)__builtin_clz (n) : 0;
}

/* Distributes the bits of the key over the depths, as long as there are any. */
static void sorting_plan (struct sorting *so, size_t n)
{
    const struct graph *g = so->c.g;
    uint32_t most[GRAPH_DEPTH_MAX] = { 0 };
    for (size_t i = 0; i < n; i++) {
        uint32_t v = so->picks[i].v;
        const struct graph_vertex *x = graph_vertex (g, v);
        for (; x->parent != GRAPH_NONE; x = graph_vertex (g, x->parent))
            most[x->depth] = MAX (most[x->depth], x->order + 1);
    }
    unsigned left = 64;
    so->exact = so->c.n == 0; /* detours have no orders between those of children */
    for (unsigned d = 0; d < GRAPH_DEPTH_MAX; d++) {
        so->bits[d] = so->exact ? bits_of (most[d]) : 0;
        if (so->bits[d] > left)
            so->exact = false;
        if (!so->exact)
            so->bits[d] = 0;
        left -= so->bits[d];
    }
}

static uint64_t key_of (const struct sorting *so, uint32_t v)
{
    uint64_t key = 0;
    unsigned shift[GRAPH_DEPTH_MAX], left = 64;
    const struct graph_vertex *x = graph_vertex (so->c.g, v);
    for (unsigned d = 0; d <= x->depth; d++)
        shift[d] = left -= so->bits[d];
    for (; x->parent != GRAPH_NONE; x = graph_vertex (so->c.g, x->parent)) {
        if (so->bits[x->depth])
            key |= (uint64_t)(x->order + 1) << shift[x->depth];
    }
    return key;
}

/* Compares the positions of two vertices in the graph: < 0, 0 (equal), > 0. */
static int way_compare (const struct course *c, uint32_t a, uint32_t b)
{
    bool straight = c->n == 0;
    unsigned da = depth_of (c, a, straight), db = depth_of (c, b, straight);
    int inner = da < db ? -1 : da > db; /* if one is above the other */
    for (; da > db; da--)
        a = parent_of (c, a, straight);
    for (; db > da; db--)
        b = parent_of (c, b, straight);
    if (a == b)
        return inner;
    while (parent_of (c, a, straight) != parent_of (c, b, straight)) {
        a = parent_of (c, a, straight);
        b = parent_of (c, b, straight);
    }
    return stands_before (c, a, b, straight) ? -1 : 1;
}

/* b comes before a. */
static bool behind (const struct sorting *so, const struct seat *a, const struct seat *b)
{
    if (a->key != b->key)
        return a->key > b->key;
    if (!so->exact) {
        int order = way_compare (&so->c, so->picks[a->pick].v, so->picks[b->pick].v);
        if (order != 0)
            return order > 0;
    }
    return a->unit > b->unit;
}

/* Merge sort: merges two sorted halves into `to`. */
static void merge (const struct sorting *so, const struct seat *from, struct seat *to,
                   size_t middle, size_t n)
{
    size_t i = 0, j = middle, k = 0;
    while (i < middle && j < n)
        to[k++] = behind (so, &from[i], &from[j]) ? from[j++] : from[i++];
    while (i < middle)
        to[k++] = from[i++];
    while (j < n)
        to[k++] = from[j++];
}

/* Both arrays have equal contents at first; `a` is sorted at the end. */
static void merge_sort (const struct sorting *so, struct seat *a, struct seat *spare,
                        size_t n)
{
    size_t sorted = 1;
    while (sorted < n && !behind (so, &a[sorted - 1], &a[sorted]))
        sorted++;
    if (sorted >= n)
        return;
    size_t middle = n / 2;
    merge_sort (so, spare, a, middle);
    merge_sort (so, spare + middle, a + middle, n - middle);
    merge (so, spare, a, middle, n);
}

/* Returns the picks in the order of the graph; NULL: no memory. The caller frees them. */
static struct pick *sorted_picks (const struct course *c, const struct pick *picks,
                                  size_t n)
{
    struct sorting so = { .c = *c, .picks = picks };
    autofree struct seat *seats = malloc (2 * n * sizeof (*seats));
    struct pick *sorted = malloc (n * sizeof (*sorted));
    if (!seats || !sorted) {
        free (sorted);
        return NULL;
    }
    sorting_plan (&so, n);
    for (size_t i = 0; i < n; i++)
        seats[i] = (struct seat){ key_of (&so, picks[i].v), (uint32_t)i, picks[i].unit };
    memcpy (seats + n, seats, n * sizeof (*seats));
    merge_sort (&so, seats, seats + n, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = picks[seats[i].pick];
    return sorted;
}

/* -- picks of one group that overlap -- */

static void pick_advance (struct pick *p, uint32_t units)
{
    p->unit += units;
    p->count -= units;
}

/* Merges two ascending lists of runs that do not overlap. */
static size_t runs_merge (const struct pick *a, size_t na, const struct pick *b,
                          size_t nb, struct pick *out)
{
    size_t n = 0, i = 0, j = 0;
    struct pick x = a[0], y = b[0];
    while (i < na && j < nb) {
        const struct pick *first = x.unit <= y.unit ? &x : &y;
        const struct pick *other = first == &x ? &y : &x;
        uint32_t alone = MIN (first->count, other->unit - first->unit);
        uint32_t both = MIN (x.count, y.count);
        out[n] = *first;
        if (alone > 0) {
            out[n].count = alone;
            pick_advance (first == &x ? &x : &y, alone);
        } else {
            unite (&out[n], other, false);
            out[n].count = both;
            pick_advance (&x, both);
            pick_advance (&y, both);
        }
        n++;
        if (x.count == 0 && ++i < na)
            x = a[i];
        if (y.count == 0 && ++j < nb)
            y = b[j];
    }
    for (; i < na; x = ++i < na ? a[i] : x)
        out[n++] = x;
    for (; j < nb; y = ++j < nb ? b[j] : y)
        out[n++] = y;
    return n;
}

/* Computes the units that n picks of one group cover, as runs that do not overlap: fewer
 * than 2 n, into out; spare has as much room. */
static size_t runs_make (const struct pick *p, size_t n, struct pick *out,
                         struct pick *spare)
{
    if (n == 1) {
        out[0] = p[0];
        return 1;
    }
    size_t half = n / 2;
    size_t a = runs_make (p, half, spare, out);
    size_t b = runs_make (p + half, n - half, spare + 2 * half, out + 2 * half);
    return runs_merge (spare, a, spare + 2 * half, b, out);
}

static int stream_runs (struct stream *st, const struct pick *p, size_t n)
{
    autofree struct pick *room = malloc (4 * n * sizeof (*room));
    if (!room)
        return -ENOMEM;
    size_t runs = runs_make (p, n, room, room + 2 * n);
    for (size_t i = 0; i < runs; i++) {
        if (stream_put (st, &room[i]) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int stream_sorted (struct stream *st, const struct pick *p, size_t n)
{
    for (size_t i = 0, next; i < n; i = next) {
        bool overlap = false, same = true;
        for (next = i + 1; next < n && p[next].v == p[i].v; next++) {
            overlap = overlap || p[next].unit < p[next - 1].unit + p[next - 1].count;
            same = same && p[next].unit == p[i].unit && p[next].count == p[i].count;
        }
        bool tangled = overlap && !same;
        for (size_t k = i; k < next && !tangled; k++) {
            if (stream_put (st, &p[k]) < 0)
                return -ENOMEM;
        }
        if (tangled && stream_runs (st, p + i, next - i) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Completes the picks into out; -ENOMEM: out may have some of them. */
static int complete (const struct selection *s, const struct course *c,
                     struct selection *out)
{
    struct stream st = { .c = *c };
    /* ways may be missing */
    int rc = array_reserve (&st.out.picks, &st.out.alloc, s->n + s->n / 8 + 8,
                            sizeof (*s->picks));
    bool in_order = true;
    for (size_t i = 0; i < s->n && rc >= 0 && in_order; i++) {
        rc = stream_put (&st, &s->picks[i]);
        in_order = rc != 0;
    }
    if (!in_order) {
        autofree struct pick *sorted = sorted_picks (c, s->picks, s->n);
        st.depth = 0;
        st.out.n = 0;
        rc = sorted ? stream_sorted (&st, sorted, s->n) : -ENOMEM;
    }
    *out = st.out;
    return rc;
}

int selection_complete_to (struct selection *s, const struct graph *g,
                           struct selection *out)
{
    struct course c = { .g = g };
    struct selection made = { 0 };
    int rc = course_make (&c, s);
    if (rc == 0 && s->n > 0)
        rc = complete (s, &c, &made);
    free (c.detours);
    if (rc < 0) {
        free (made.picks);
        return rc;
    }
    out->picks = made.picks;
    out->n = made.n;
    out->alloc = made.alloc;
    out->ways = s->ways;
    out->nways = s->nways;
    out->ways_alloc = s->ways_alloc;
    s->ways = NULL;
    s->n = s->nways = s->ways_alloc = 0;
    return 0;
}

int selection_complete (struct selection *s, const struct graph *g)
{
    struct selection out = *s;
    int rc = s->n > 0 ? selection_complete_to (s, g, &out) : 0;
    if (s->picks == out.picks)
        return rc;
    free (s->picks);
    *s = out;
    return rc;
}

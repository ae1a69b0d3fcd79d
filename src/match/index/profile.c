/* profile.c - see profile.h. An AVL tree by time; point 0 is the empty tree. */
#include "match/index/profile.h"

#include "common/macros.h"

#define NOTHING (INT64_C (1) << 62) /* more than any sum */

struct amount {
    int64_t change;      /* at the point */
    int64_t total;       /* of the changes in the subtree */
    int64_t least, most; /* of the sums in it, relative to the sum before it */
};

struct point {
    int64_t time;
    uint32_t left, right;
    uint32_t height; /* a single point: 1 */
    struct amount dim[];
};

struct profile {
    unsigned dims;
    uint32_t root;
    uint32_t vacant; /* a list linked by `left`; all points from `fresh` on are vacant,
                      * too */
    uint32_t fresh;
    size_t n, room; /* points; room for them, besides point 0 */
    size_t stride;
    char *pool;
};

static struct point *point (const struct profile *f, uint32_t i)
{
    return (void *)(f->pool + i * f->stride);
}

/* -- memory -- */

struct profile *profile_create (unsigned dims)
{
    struct profile *f = NULL;

    if (dims >= 1 && dims <= INDEX_DIMS)
        f = calloc (1, sizeof (*f));
    if (!f)
        return NULL;
    f->dims = dims;
    f->stride = sizeof (struct point) + dims * sizeof (struct amount);
    f->fresh = 1;
    f->pool = calloc (1, f->stride);
    if (!f->pool) {
        free (f);
        return NULL;
    }
    for (unsigned d = 0; d < dims; d++)
        point (f, 0)->dim[d] = (struct amount){ .least = NOTHING, .most = -NOTHING };
    return f;
}

void profile_destroy (struct profile *f)
{
    if (!f)
        return;
    free (f->pool);
    free (f);
}

int profile_reserve (struct profile *f, size_t points)
{
    size_t room = MAX (points, f->room + f->room / 2);
    char *pool;

    if (points <= f->room)
        return 0;
    if (points >= UINT32_MAX / 2)
        return -ENOMEM;
    pool = realloc (f->pool, (room + 1) * f->stride);
    if (!pool)
        return -ENOMEM;
    f->pool = pool;
    f->room = room;
    return 0;
}

size_t profile_points (const struct profile *f)
{
    return f->n;
}

size_t profile_memory (const struct profile *f)
{
    return sizeof (*f) + (f->room + 1) * f->stride;
}

static uint32_t take (struct profile *f, int64_t time)
{
    uint32_t i = f->vacant;

    if (i)
        f->vacant = point (f, i)->left;
    else
        i = f->fresh++;
    f->n++;
    *point (f, i) = (struct point){ .time = time };
    return i;
}

static void give_back (struct profile *f, uint32_t i)
{
    point (f, i)->left = f->vacant;
    f->vacant = i;
    f->n--;
}

/* -- balance -- */

/* Updates the subtree's data in the point, from its children. */
static void refresh (struct profile *f, struct point *p)
{
    const struct point *left = point (f, p->left), *right = point (f, p->right);

    p->height = 1 + MAX (left->height, right->height);
    for (unsigned d = 0; d < f->dims; d++) {
        const struct amount *l = &left->dim[d], *r = &right->dim[d];
        struct amount *a = &p->dim[d];
        int64_t here = l->total + a->change;
        int64_t least = MIN (here, here + r->least), most = MAX (here, here + r->most);
        a->total = here + r->total;
        a->least = MIN (least, l->least);
        a->most = MAX (most, l->most);
    }
}

static uint32_t rotate_right (struct profile *f, uint32_t i)
{
    struct point *p = point (f, i);
    uint32_t up = p->left;
    struct point *q = point (f, up);

    p->left = q->right;
    q->right = i;
    refresh (f, p);
    refresh (f, q);
    return up;
}

static uint32_t rotate_left (struct profile *f, uint32_t i)
{
    struct point *p = point (f, i);
    uint32_t up = p->right;
    struct point *q = point (f, up);

    p->right = q->left;
    q->left = i;
    refresh (f, p);
    refresh (f, q);
    return up;
}

/* Rebalances after a child of i changed; returns the root of the subtree. */
static uint32_t balance (struct profile *f, uint32_t i)
{
    struct point *p = point (f, i);
    const struct point *l = point (f, p->left), *r = point (f, p->right);

    if (l->height > r->height + 1) {
        if (point (f, l->left)->height < point (f, l->right)->height)
            p->left = rotate_left (f, p->left);
        return rotate_right (f, i);
    }
    if (r->height > l->height + 1) {
        if (point (f, r->right)->height < point (f, r->left)->height)
            p->right = rotate_right (f, p->right);
        return rotate_left (f, i);
    }
    refresh (f, p);
    return i;
}

static uint32_t detach_first (struct profile *f, uint32_t i, uint32_t *ret_first)
{
    struct point *p = point (f, i);

    if (!p->left) {
        *ret_first = i;
        return p->right;
    }
    p->left = detach_first (f, p->left, ret_first);
    return balance (f, i);
}

/* Removes the root of a subtree; returns the new root. */
static uint32_t drop (struct profile *f, uint32_t i)
{
    uint32_t left = point (f, i)->left, right = point (f, i)->right, first;

    give_back (f, i);
    if (!left || !right)
        return left ? left : right;
    right = detach_first (f, right, &first);
    point (f, first)->left = left;
    point (f, first)->right = right;
    return balance (f, first);
}

/* -- adding -- */

/* Changes the sums by sign * amount at the time, in addition to an existing change
 * there. */
static uint32_t change (struct profile *f, uint32_t i, int64_t time,
                        const int64_t *amount, int sign)
{
    struct point *p = point (f, i);
    bool changes = false;

    if (i && time < p->time) {
        p->left = change (f, p->left, time, amount, sign);
        return balance (f, i);
    }
    if (i && time > p->time) {
        p->right = change (f, p->right, time, amount, sign);
        return balance (f, i);
    }
    if (!i) {
        i = take (f, time);
        p = point (f, i);
        for (unsigned d = 0; d < f->dims; d++)
            p->dim[d].change = 0;
    }
    for (unsigned d = 0; d < f->dims; d++) {
        p->dim[d].change += sign * amount[d];
        changes |= p->dim[d].change != 0;
    }
    if (!changes)
        return drop (f, i);
    refresh (f, p);
    return i;
}

int profile_add (struct profile *f, int64_t start, int64_t end, const int64_t *amount,
                 int sign)
{
    bool nothing = true;

    for (unsigned d = 0; d < f->dims; d++)
        nothing = nothing && amount[d] == 0;
    if (nothing || start >= end)
        return 0;
    if (profile_reserve (f, f->n + 2) < 0)
        return -ENOMEM;
    f->root = change (f, f->root, start, amount, sign);
    if (end != INT64_MAX)
        f->root = change (f, f->root, end, amount, -sign);
    return 0;
}

/* -- asking -- */

int64_t profile_next_point (const struct profile *f, int64_t t)
{
    int64_t next = INT64_MAX;

    for (uint32_t i = f->root; i;) {
        const struct point *p = point (f, i);
        if (p->time > t)
            next = p->time;
        i = p->time > t ? p->left : p->right;
    }
    return next;
}

void profile_at (const struct profile *f, int64_t t, int64_t *ret)
{
    for (unsigned d = 0; d < f->dims; d++)
        ret[d] = 0;
    for (uint32_t i = f->root; i;) {
        const struct point *p = point (f, i), *left = point (f, p->left);
        bool past = p->time <= t;
        for (unsigned d = 0; past && d < f->dims; d++)
            ret[d] += left->dim[d].total + p->dim[d].change;
        i = past ? p->right : p->left;
    }
}

/* A pass in the order of time. */
struct search {
    const struct profile *f;
    unsigned n; /* dimensions with a need */
    unsigned dim[INDEX_DIMS];
    int64_t need[INDEX_DIMS];
    int64_t sum[INDEX_DIMS]; /* before the next point or subtree */
    int64_t from, duration;
    bool holds; /* the sums suffice from `start` to here; else not here */
    bool found; /* and do so for long enough */
    int64_t start, end, until;
};

static void begin (struct search *s, int64_t start)
{
    s->holds = true;
    s->start = start;
    s->end = start > INT64_MAX - s->duration ? INT64_MAX : start + s->duration;
}

static bool suffices (const struct search *s)
{
    for (unsigned k = 0; k < s->n; k++)
        if (s->sum[k] < s->need[k])
            return false;
    return true;
}

/* True if the subtree can change whether the sums suffice. */
static bool matters (const struct search *s, const struct point *p)
{
    for (unsigned k = 0; k < s->n; k++) {
        const struct amount *a = &p->dim[s->dim[k]];
        if (s->sum[k] + (s->holds ? a->least : a->most) < s->need[k])
            return s->holds;
    }
    return !s->holds;
}

static void pass_all (struct search *s, const struct point *p)
{
    for (unsigned k = 0; k < s->n; k++)
        s->sum[k] += p->dim[s->dim[k]].total;
}

static void pass (struct search *s, const struct point *p)
{
    for (unsigned k = 0; k < s->n; k++)
        s->sum[k] += p->dim[s->dim[k]].change;
}

/* Visits a subtree; true: the sums sufficed for long enough, and the period has ended. */
static bool go_over (struct search *s, uint32_t i)
{
    while (i) {
        const struct point *p = point (s->f, i);
        if (!matters (s, p)) {
            pass_all (s, p);
            return false;
        }
        i = p->right;
        if (p->time <= s->from) {
            pass_all (s, point (s->f, p->left));
            pass (s, p);
            continue;
        }
        if (go_over (s, p->left))
            return true;
        s->found = s->holds && p->time >= s->end;
        pass (s, p);
        if (suffices (s) == s->holds)
            continue;
        if (s->found) {
            s->until = p->time - s->duration;
            return true;
        }
        if (s->holds)
            s->holds = false;
        else
            begin (s, p->time);
    }
    return false;
}

int64_t profile_first (const struct profile *f, int64_t from, int64_t duration,
                       const int64_t *need, int64_t *ret_until)
{
    struct search s = { .f = f, .from = from, .duration = duration, .until = INT64_MAX };
    int64_t sums[INDEX_DIMS];

    profile_at (f, from, sums);
    for (unsigned d = 0; d < f->dims; d++) {
        if (need[d] <= 0)
            continue;
        s.dim[s.n] = d;
        s.need[s.n] = need[d];
        s.sum[s.n++] = sums[d];
    }
    if (suffices (&s))
        begin (&s, from);
    for (unsigned k = 0; k < s.n; k++)
        s.sum[k] = 0;
    go_over (&s, f->root);
    if (ret_until)
        *ret_until = s.until;
    return s.holds ? s.start : -1;
}

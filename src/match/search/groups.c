/* groups.c - the nodes, or slots, of a job in few places of one level, or in all of them
 *
 *     walk_groups    replaces walk_gather() from the root for a request with a placement
 *      list_groups   the places of the level, with the most that each could have (by
 *                    index)
 *      few           pack, or a limit: the places with the most, as few as are enough
 *      evenly        spread: one in each place, a second in each, and so on
 *
 * The walk looks into a place only if the sums of its index say that the place may
 * matter; the first place with room for the whole request ends the search. A limit of
 * places is strict: the request fails, with the number that would fit. Without a limit
 * the placement is a preference: if the places have too little, or nodes without such a
 * place are needed, the request is served without placement. As all nodes count alike, k
 * places have at most what the k fullest lists have; so the result is optimal.
 *
 * With segments, a place counts with the nodes of its whole segments, and the request
 * asks for whole segments. That is strict, too.
 */
#include <stdlib.h>
#include <string.h>

#include "match/planner/levels.h"
#include "match/search/walk_private.h"

struct group {
    uint32_t v;
    uint32_t base;  /* what was found in it; WALK_NONE: not visited yet */
    int64_t key;    /* of the policy, greatest first */
    int64_t bound;  /* the most that it can have */
    int64_t total;  /* what was found */
    int64_t given;  /* number of these that are taken */
    uint32_t order; /* in the graph */
};

struct groups {
    struct walker *k;
    uint16_t r; /* the outermost vertex of the request: a node or a slot */
    int32_t type;
    struct group *list;
    size_t n, alloc;
    size_t nodes; /* in all of them */
    int64_t least, goal;
};

/* The part of n that a place can give in whole segments. */
static int64_t in_segments (const struct shape_groups *wish, int64_t n)
{
    int64_t all = wish->segment > 0 ? n - n % wish->segment : n;

    return wish->apart ? MIN (all, wish->segment) : all;
}

static bool is_strict (const struct shape_groups *wish)
{
    return wish->most > 0 || wish->segment > 0;
}

/* -- the places -- */

/* The most of r in the nodes below a. */
static int64_t bound_of (const struct groups *x, const struct upper *a)
{
    const struct walker *k = x->k;
    int64_t most = k->type[x->r] == GRAPH_NODE ? (int64_t)a->nnodes : x->goal;

    for (unsigned d = 0; d < k->p->ndims; d++) {
        int64_t one = k->bound[x->r].dim[d];
        if (one > 0)
            most = MIN (most, walk_sum (k, a->index, d) / one);
    }
    return in_segments (&k->s->groups, MIN (most, x->goal));
}

static bool add_group (struct groups *x, const struct upper *a)
{
    const struct match_policy *policy = x->k->policy;
    int64_t score = match_policy_score (policy, x->k->g, a->v, 0);

    if (array_reserve (&x->list, &x->alloc, x->n + 1, sizeof (*x->list)) < 0) {
        x->k->failed = true;
        return false;
    }
    x->list[x->n] = (struct group){ .v = a->v,
                                    .base = WALK_NONE,
                                    .key = policy->high ? score : -score,
                                    .bound = bound_of (x, a),
                                    .order = (uint32_t)x->n };
    x->n++;
    x->nodes += a->nnodes;
    return true;
}

static void list_groups (struct groups *x, const struct upper *a)
{
    for (size_t i = 0; i < a->nkids && !x->k->failed; i++) {
        const struct upper *b = levels_upper (x->k->p, a->kids[i]);
        if (walk_closed (x->k, a->kids[i]))
            continue;
        if (graph_vertex (x->k->g, a->kids[i])->type == x->type)
            add_group (x, b);
        else
            list_groups (x, b);
    }
}

/* Places that may have room for everything in the policy's order, then the others, the
 * most room first. */
static int by_room (const void *p, const void *q)
{
    const struct group *a = p, *b = q;

    if (a->bound != b->bound)
        return a->bound > b->bound ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static int by_total (const void *p, const void *q)
{
    const struct group *a = p, *b = q;

    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return by_room (p, q);
}

static int by_policy (const void *p, const void *q)
{
    const struct group *a = p, *b = q;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Gathers candidates in the place, `most` of them or a few more. */
static void look_into (struct groups *x, struct group *g, uint16_t head, int64_t most,
                       bool excl)
{
    struct walker *k = x->k;

    if ((g->base = walk_push (k, head)) == WALK_NONE)
        return;
    k->quota = most;
    walk_gather (k, g->v, head, 1, 1, g->base, excl);
    k->quota = 0;
    g->total =
        k->failed ? 0 : in_segments (&k->s->groups, MIN (k->f[g->base].total, most));
}

/* -- few places -- */

/* Inserts the last of the first n into the others, which are sorted by what they have. */
static void sort_in (struct group *list, size_t n)
{
    const struct group last = list[n - 1];

    for (n--; n > 0 && by_total (&last, &list[n - 1]) < 0; n--)
        list[n] = list[n - 1];
    list[n] = last;
}

/* Returns the least number, up to `most`, of the first n places (sorted by what they
 * have) that reach the goal together; *sum is what they have. */
static size_t fewest (struct groups *x, size_t n, size_t most, int64_t *sum)
{
    size_t chosen = 0;

    for (*sum = 0; chosen < MIN (n, most) && *sum < x->goal; chosen++) {
        if (x->list[chosen].total == 0)
            break;
        *sum += x->list[chosen].total;
    }
    return chosen;
}

/* The most that the places with the most room could have together. */
static int64_t hope (const struct groups *x, size_t most)
{
    int64_t sum = 0;

    for (size_t i = 0; i < MIN (x->n, most) && sum < x->goal; i++)
        sum += x->list[i].bound;
    return sum;
}

/* Moves the places to take to the front of the list; *sum: what they have. */
static size_t few (struct groups *x, uint16_t head, size_t most, bool excl, int64_t *sum)
{
    size_t chosen = 0;

    qsort (x->list, x->n, sizeof (*x->list), by_room);
    if ((*sum = hope (x, most)) < x->least && !x->k->w->ever)
        return 0; /* for "never" the exact number is needed */
    *sum = 0;
    for (size_t i = 0; i < x->n && !x->k->failed; i++) {
        bool full = chosen > 0 && (*sum >= x->goal || chosen == most);
        if ((chosen == 1 && *sum >= x->goal)
            || (full && x->list[i].bound <= x->list[chosen - 1].total))
            break; /* no other set has fewer places, or more room */
        if (x->list[i].bound > 0)
            look_into (x, &x->list[i], head, x->goal, excl);
        sort_in (x->list, i + 1);
        chosen = fewest (x, i + 1, most, sum);
    }
    return chosen;
}

static int64_t share_few (struct groups *x, size_t chosen, int64_t amount)
{
    for (size_t i = 0; i < chosen; i++) {
        x->list[i].given = MIN (amount, x->list[i].total);
        amount -= x->list[i].given;
    }
    return amount;
}

/* -- evenly -- */

/* Gathers up to `each` in every place; returns the total. */
static int64_t look_into_all (struct groups *x, uint16_t head, int64_t each, bool excl)
{
    int64_t sum = 0;

    for (size_t i = 0; i < x->n && !x->k->failed; i++) {
        struct group *g = &x->list[i];
        g->total = 0;
        g->base = WALK_NONE;
        if (g->bound > 0 && !(each == 1 && sum >= x->goal))
            look_into (x, g, head, each, excl);
        sum += g->total;
    }
    return sum;
}

/* Takes one of each place, then a second of each that has one. */
static void share_evenly (struct groups *x, int64_t amount)
{
    int64_t before;

    do {
        before = amount;
        for (size_t i = 0; i < x->n && amount > 0; i++) {
            if (x->list[i].given == x->list[i].total)
                continue;
            x->list[i].given++;
            amount--;
        }
    } while (amount > 0 && amount < before);
}

static int64_t evenly (struct groups *x, uint16_t head, bool excl)
{
    uint32_t nf = x->k->nf;
    int64_t each = (x->goal - 1) / (int64_t)x->n + 1, sum;

    qsort (x->list, x->n, sizeof (*x->list), by_policy);
    while ((sum = look_into_all (x, head, each, excl)) < x->goal && each < x->goal
           && !x->k->failed) {
        each = each > x->goal / 2 ? x->goal : 2 * each;
        walk_pop (x->k, nf);
    }
    return sum;
}

/* -- the answer -- */

/* Makes the list of candidates from what is taken of each place. */
static void join (struct groups *x, uint32_t base)
{
    struct walker *k = x->k;
    struct found all = { .head = WALK_NONE, .tail = WALK_NONE, .sorted = true };
    int64_t score = 0;

    for (size_t i = 0; i < x->n && !k->failed; i++) {
        struct group *g = &x->list[i];
        uint32_t head;
        if (g->given == 0)
            continue;
        if (!walk_sort (k, g->base) || !walk_cut (k, g->base, g->given, &head, &score))
            return;
        if (all.head == WALK_NONE)
            all.head = head;
        else
            k->c[all.tail].next = head;
        for (uint32_t c = head; c != WALK_NONE; c = k->c[c].next) {
            all.tail = c;
            all.n++;
        }
        all.total += g->given;
    }
    k->f[base] = all;
}

/* True if too few fit and the limit is strict. */
static bool is_refused (const struct groups *x, int64_t found)
{
    if (!is_strict (&x->k->s->groups) || found >= x->least)
        return false;
    x->k->group_miss = found;
    return true;
}

/* True if the preference cannot count: the places have too little, and there are nodes
 * elsewhere. */
static bool needs_others (const struct groups *x, int64_t found, const struct upper *root)
{
    return !is_strict (&x->k->s->groups)
           && (found < x->least || (found < x->goal && x->nodes < root->nnodes));
}

void walk_groups (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                  uint32_t base, bool excl)
{
    const struct upper *root = levels_upper (k->p, k->g->root);
    const struct shape_groups *wish = &k->s->groups;
    struct groups x = { .k = k, .r = head, .type = graph_type_find (k->g, wish->level) };
    size_t most = wish->most > 0 ? (size_t)wish->most : SIZE_MAX, chosen = 0;
    int64_t found = 0;

    x.least = shape_count_least (walk_req (k, head));
    x.goal = k->modest ? x.least : walk_goal (k, head);
    if (root && x.type >= 0)
        list_groups (&x, root);
    if (x.n > 0 && wish->spread)
        found = evenly (&x, head, excl);
    else if (x.n > 0)
        chosen = few (&x, head, most, excl, &found);
    if (k->failed || is_refused (&x, found)) {
        free (x.list);
        return;
    }
    if (!root || needs_others (&x, found, root)) {
        walk_gather (k, u, head, active, active, base, excl);
    } else {
        int64_t amount = shape_count_fit (walk_req (k, head), MIN (found, x.goal));
        if (wish->spread)
            share_evenly (&x, amount);
        else
            share_few (&x, chosen, amount);
        join (&x, base);
    }
    free (x.list);
}

/* choose.c - lists of candidates: the best first, cut into shares
 *
 * A run of units of one group is one candidate, whose units have ascending scores. A list
 * without interleaved runs is sorted as it is. A list with interleaved runs (cores 0-17
 * on both of two sockets) is first split into units. Sorting is stable: equals stay in
 * the order of the graph.
 */
#include <stdlib.h>
#include <string.h>

#include "match/search/walk_private.h"

uint16_t walk_siblings (const struct walker *k, uint16_t head)
{
    uint16_t n = 0;
    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next)
        n++;
    return n;
}

uint32_t walk_push (struct walker *k, uint16_t head)
{
    uint32_t base = k->nf, n = walk_siblings (k, head);

    if (base + n > k->af /* here, too: walks spend much of their time in these two */
        && array_reserve (&k->f, &k->af, base + n, sizeof (*k->f)) < 0) {
        k->failed = true;
        return WALK_NONE;
    }
    for (uint32_t i = base; i < base + n; i++)
        k->f[i] = (struct found){ .head = WALK_NONE, .tail = WALK_NONE, .sorted = true };
    k->nf = base + n;
    return base;
}

void walk_forget (struct walker *k, uint32_t found, const struct found *was)
{
    k->f[found] = *was;
    if (was->tail != WALK_NONE)
        k->c[was->tail].next = WALK_NONE;
}

void walk_pop (struct walker *k, uint32_t base)
{
    k->nf = base;
}

static uint32_t new_candidate (struct walker *k, const struct candidate *c)
{
    if (k->nc == k->ac && array_reserve (&k->c, &k->ac, k->nc + 1, sizeof (*k->c)) < 0) {
        k->failed = true;
        return WALK_NONE;
    }
    k->c[k->nc] = *c;
    return k->nc++;
}

static int64_t last_score (const struct candidate *c)
{
    return c->score + (int64_t)c->count - 1;
}

/* True if all of candidate i comes before all of j under the policy; between equal scores
 * the one found first, which is the order of the graph except for nodes. */
static bool in_order (const struct walker *k, uint32_t i, uint32_t j)
{
    const struct candidate *a = &k->c[i], *b = &k->c[j];
    int64_t x = k->policy->high ? a->score : b->score;
    int64_t y = k->policy->high ? last_score (b) : last_score (a);

    return x > y || (x == y && (a->tie < b->tie || (a->tie == b->tie && i < j)));
}

/* For two single units, or two runs that do not interleave. */
static bool goes_first (const struct walker *k, const struct candidate *a,
                        const struct candidate *b)
{
    int64_t x = k->policy->high ? last_score (a) : b->score;
    int64_t y = k->policy->high ? last_score (b) : a->score;
    return x > y || (x == y && a->tie <= b->tie);
}

bool walk_add (struct walker *k, uint32_t found, const struct candidate *c)
{
    struct found *f = &k->f[found];
    uint32_t i = new_candidate (k, c);

    if (i == WALK_NONE)
        return false;
    k->c[i].next = WALK_NONE;
    k->c[i].tie = k->node;
    if (f->head == WALK_NONE) {
        f->head = i;
        /* The units of a run ascend: alone in its list it is sorted for low policies
         * only, but a cut takes from the right end of it. */
    } else {
        f->sorted = f->sorted && in_order (k, f->tail, i);
        k->c[f->tail].next = i;
    }
    f->tail = i;
    f->n++;
    f->total += c->amount * (int64_t)c->count;
    return true;
}

static bool order_room (struct walker *k, uint32_t n)
{
    if (array_reserve (&k->order, &k->aorder, 2 * (size_t)n, sizeof (*k->order)) == 0)
        return true;
    k->failed = true;
    return false;
}

/* Sorts k->order[0..n) by score (merge sort), with the upper half of k->order as
 * buffer. */
static void sort_order (struct walker *k, uint32_t n)
{
    uint32_t *a = k->order, *b = k->order + n;

    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t lo = 0; lo < n; lo += 2 * width) {
            uint32_t mid = lo + width < n ? lo + width : n;
            uint32_t hi = lo + 2 * width < n ? lo + 2 * width : n;
            uint32_t i = lo, j = mid;
            for (uint32_t o = lo; o < hi; o++) {
                bool left = j >= hi;
                if (i < mid && j < hi)
                    left = goes_first (k, &k->c[a[i]], &k->c[a[j]]);
                b[o] = left ? a[i++] : a[j++];
            }
        }
        uint32_t *t = a;
        a = b;
        b = t;
    }
    if (a != k->order)
        memcpy (k->order, a, n * sizeof (*a));
}

/* True if no two neighbours in k->order interleave. */
static bool order_is_final (const struct walker *k, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (!in_order (k, k->order[i - 1], k->order[i]))
            return false;
    return true;
}

static void relink (struct walker *k, struct found *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        k->c[k->order[i]].next = i + 1 < f->n ? k->order[i + 1] : WALK_NONE;
    f->head = k->order[0];
    f->tail = k->order[f->n - 1];
    f->sorted = true;
}

static bool list_order (struct walker *k, const struct found *f)
{
    uint32_t n = 0;

    if (!order_room (k, f->n))
        return false;
    for (uint32_t i = f->head; i != WALK_NONE; i = k->c[i].next)
        k->order[n++] = i;
    return true;
}

/* Makes each unit a candidate of its own. */
static bool take_apart (struct walker *k, struct found *f)
{
    uint32_t n = 0;

    for (uint32_t i = f->head, next; i != WALK_NONE; i = next) {
        next = k->c[i].next;
        uint32_t before = i;
        while (k->c[before].count > 1) {
            struct candidate rest = k->c[before];
            rest.unit++;
            rest.score++;
            rest.count--;
            uint32_t r = new_candidate (k, &rest);
            if (r == WALK_NONE)
                return false;
            k->c[before].count = 1;
            k->c[before].next = r;
            before = r;
            n++;
        }
        k->c[before].next = next;
        n++;
    }
    f->n = n;
    return true;
}

bool walk_sort (struct walker *k, uint32_t found)
{
    struct found *f = &k->f[found];

    if (f->sorted)
        return true;
    if (!list_order (k, f))
        return false;
    sort_order (k, f->n);
    if (!order_is_final (k, f->n)) { /* start over with single units */
        if (!take_apart (k, f) || !list_order (k, f))
            return false;
        sort_order (k, f->n);
    }
    relink (k, f);
    return true;
}

/* -- by turns -- */

struct turn {
    uint32_t turn, c; /* turn; candidate, in the order of finding */
};

static int by_turn (const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->c < y->c ? -1 : 1;
}

bool walk_by_turns (struct walker *k, uint32_t found, const struct found *was)
{
    struct found *f = &k->f[found];
    uint32_t n = 0, i = was->tail == WALK_NONE ? f->head : k->c[was->tail].next;
    autofree struct turn *turns = malloc ((f->n + 1) * sizeof (*turns));

    if (!turns) {
        k->failed = true;
        return false;
    }
    for (uint32_t tie = UINT32_MAX, turn = 0; i != WALK_NONE; i = k->c[i].next) {
        turn = k->c[i].tie == tie ? turn + 1 : 0;
        tie = k->c[i].tie;
        turns[n++] = (struct turn){ turn, i };
    }
    qsort (turns, n, sizeof (*turns), by_turn);
    for (i = 0; i < n; i++)
        k->c[turns[i].c].next = i + 1 < n ? turns[i + 1].c : WALK_NONE;
    if (n > 0) {
        if (was->tail == WALK_NONE)
            f->head = turns[0].c;
        else
            k->c[was->tail].next = turns[0].c;
        f->tail = turns[n - 1].c;
    }
    f->sorted = true;
    return true;
}

/* Units of c needed for `amount`; 0 < result <= c->count. */
static uint32_t units_for (const struct candidate *c, int64_t amount)
{
    int64_t n = (amount + c->amount - 1) / c->amount;
    return n < (int64_t)c->count ? (uint32_t)n : c->count;
}

/* Splits the first n units off the run, in the policy's order, as a candidate; the rest
 * stays in place. */
static uint32_t split (struct walker *k, uint32_t i, uint32_t n)
{
    struct candidate part = k->c[i];
    uint32_t skip = k->policy->high ? part.count - n : 0;

    part.unit += skip;
    part.score += skip;
    part.count = n;
    uint32_t r = new_candidate (k, &part);
    if (r == WALK_NONE)
        return WALK_NONE;
    k->c[i].count -= n;
    if (!k->policy->high) {
        k->c[i].unit += n;
        k->c[i].score += n;
    }
    return r;
}

static bool divisible (const struct walker *k, const struct candidate *c)
{
    return walk_req (k, c->req)->kind == SHAPE_RESOURCE
           && (graph_vertex (k->g, c->v)->flags & GRAPH_DIVISIBLE) != 0;
}

/* Takes `amount` of a divisible vertex; the rest stays in the list. */
static uint32_t split_amount (struct walker *k, uint32_t i, int64_t amount)
{
    struct candidate part = k->c[i];

    part.amount = amount;
    k->c[i].amount -= amount;
    return new_candidate (k, &part);
}

static int64_t sum_of_scores (const struct candidate *c)
{
    int64_t n = c->count;
    return c->score * n + n * (n - 1) / 2;
}

bool walk_cut (struct walker *k, uint32_t found, int64_t amount, uint32_t *ret_head,
               int64_t *score)
{
    struct found *f = &k->f[found];
    uint32_t head = WALK_NONE, tail = WALK_NONE;

    while (amount > 0 && f->head != WALK_NONE) {
        uint32_t i = f->head;
        if (divisible (k, &k->c[i]) && k->c[i].amount > amount)
            i = split_amount (k, i, amount);
        else {
            uint32_t n = units_for (&k->c[i], amount);
            if (n < k->c[i].count)
                i = split (k, i, n);
            else {
                f->head = k->c[i].next;
                f->n--;
            }
        }
        if (i == WALK_NONE)
            return false;
        f = &k->f[found];
        if (f->head == WALK_NONE)
            f->tail = WALK_NONE;
        struct candidate *c = &k->c[i];
        amount -= c->amount * (int64_t)c->count;
        f->total -= c->amount * (int64_t)c->count;
        *score += sum_of_scores (c);
        c->next = WALK_NONE;
        if (head == WALK_NONE)
            head = i;
        else
            k->c[tail].next = i;
        tail = i;
    }
    *ret_head = head;
    return true;
}

/* Slots do not share units: the share of a slot is whole units until it is full. */
int64_t walk_shares (struct walker *k, uint32_t found, int64_t amount, int64_t most)
{
    int64_t shares = 0, have = 0;

    for (uint32_t i = k->f[found].head; i != WALK_NONE && shares < most;
         i = k->c[i].next) {
        const struct candidate *c = &k->c[i];
        if (divisible (k, c)) {
            shares += (have + c->amount) / amount;
            have = (have + c->amount) % amount;
            continue;
        }
        int64_t left = c->count;
        while (left > 0 && shares < most) {
            int64_t n = (amount - have + c->amount - 1) / c->amount;
            if (n > left) {
                have += left * c->amount;
                break;
            }
            left -= n;
            have = 0;
            shares++;
            if (amount <= c->amount) { /* a unit has one share or more: all at once */
                shares += left;
                break;
            }
        }
    }
    return shares < most ? shares : most;
}

bool walk_make_slot (struct walker *k, uint16_t slot, const uint32_t *found,
                     const int64_t *amount, struct candidate *c)
{
    uint32_t i = 0;

    c->parts = WALK_NONE;
    c->score = 1;
    for (uint16_t r = walk_req (k, slot)->first; r != SHAPE_NONE;
         r = walk_req (k, r)->next, i++) {
        uint32_t list;
        if (!walk_cut (k, found[i], amount[i], &list, &c->score))
            return false;
        walk_join (k, &c->parts, list);
    }
    return true;
}

static void note_miss (struct walker *k, uint16_t req, uint32_t where, int64_t asked,
                       int64_t found)
{
    *k->miss =
        (struct walk_miss){ .wanted = req, .at = where, .asked = asked, .found = found };
}

/* The count of the last or_slot is that of all of them together. */
static const struct shape_vertex *last_or_slot (const struct walker *k, uint16_t r)
{
    const struct shape_vertex *last = walk_req (k, r);

    for (; r != SHAPE_NONE; r = walk_req (k, r)->next)
        if (walk_req (k, r)->kind == SHAPE_OR_SLOT)
            last = walk_req (k, r);
    return last;
}

void walk_join (struct walker *k, uint32_t *list, uint32_t more)
{
    uint32_t last = *list;

    if (last == WALK_NONE) {
        *list = more;
        return;
    }
    while (k->c[last].next != WALK_NONE)
        last = k->c[last].next;
    k->c[last].next = more;
}

bool walk_choose (struct walker *k, uint16_t head, uint64_t active, uint32_t base,
                  uint32_t where, uint32_t *parts)
{
    bool or_slots = false;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next, base++) {
        const struct shape_vertex *req = walk_req (k, r);
        bool skip = !(active & 1);
        int64_t score = 0;
        uint32_t list;

        active >>= 1;
        if (skip)
            continue;
        if (req->kind == SHAPE_OR_SLOT) {
            if (or_slots)
                continue; /* counted with the first or_slot */
            or_slots = true;
            req = last_or_slot (k, r);
        }
        int64_t amount = shape_count_fit (req, k->f[base].total);
        if (amount > 0 && k->modest)
            amount = shape_count_least (req);

        if (amount <= 0) {
            note_miss (k, r, where, shape_count_least (req), k->f[base].total);
            if (k->group_miss >= 0 && r == k->s->top)
                k->miss->found = k->group_miss; /* in as few places as allowed */
            return false;
        }
        if (!walk_sort (k, base) || !walk_cut (k, base, amount, &list, &score))
            return false;
        walk_join (k, parts, list);
    }
    return true;
}

uint32_t walk_count_slots (const struct walker *k, uint32_t parts)
{
    uint32_t n = 0;

    for (uint32_t i = parts; i != WALK_NONE; i = k->c[i].next)
        n += walk_is_outermost_slot (k, k->c[i].req)
                 ? 1
                 : walk_count_slots (k, k->c[i].parts);
    return n;
}

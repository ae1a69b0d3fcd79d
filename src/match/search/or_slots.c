/* or_slots.c - siblings of which any mix serves
 *
 * The parts of all kinds of slots are gathered once, by type. The mix with the most slots
 * wins, and between equal mixes the one with earlier kinds first: each next slot is of
 * the first kind that leaves as many further slots possible as any other kind. The number
 * of slots in the remaining parts is found by trying each number of each kind. If the
 * parts are more than numbers of units, the kinds are made in order instead.
 */
#include <string.h>

#include "match/search/walk_private.h"

#define KINDS_MAX 8
#define TYPES_MAX 16
#define TRIES_MAX 1000000 /* of counting; after that the kinds are made in order */

struct mix {
    struct walker *k;
    unsigned nkinds, ntypes;
    uint16_t kind[KINDS_MAX];            /* the or_slots */
    int32_t type[TYPES_MAX];             /* of the parts */
    uint32_t list[TYPES_MAX];            /* candidates found for the type */
    uint16_t part[KINDS_MAX][TYPES_MAX]; /* the kind's part of that type; SHAPE_NONE */
    int64_t need[KINDS_MAX][TYPES_MAX];
    unsigned tries;
};

bool walk_or_slots_here (const struct walker *k, uint32_t u, uint16_t head)
{
    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next)
        if (walk_req (k, r)->kind == SHAPE_OR_SLOT && walk_slot_here (k, u, r))
            return true;
    return false;
}

static int type_number (struct mix *m, int32_t type)
{
    for (unsigned t = 0; t < m->ntypes; t++)
        if (m->type[t] == type)
            return (int)t;
    if (m->ntypes == TYPES_MAX)
        return -1;
    m->type[m->ntypes] = type;
    m->list[m->ntypes] = WALK_NONE;
    return (int)m->ntypes++;
}

/* True if part c is requested by number and type alone. */
static bool is_plain (const struct walker *k, uint16_t c)
{
    const struct shape_vertex *r = walk_req (k, c);

    return k->type[c] >= 0 && r->first == SHAPE_NONE && !r->required
           && !k->p->type_inner[k->type[c]];
}

/* Lists kinds and their parts. false: too many, or parts that are not plain. */
static bool list_kinds (struct mix *m, uint16_t head)
{
    struct walker *k = m->k;

    memset (m->part, 0xff, sizeof (m->part));
    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next) {
        if (walk_req (k, r)->kind != SHAPE_OR_SLOT)
            continue;
        if (m->nkinds == KINDS_MAX)
            return false;
        for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE;
             c = walk_req (k, c)->next) {
            int t = is_plain (k, c) ? type_number (m, k->type[c]) : -1;
            if (t < 0)
                return false;
            m->part[m->nkinds][t] = c;
            m->need[m->nkinds][t] = shape_count_least (walk_req (k, c));
        }
        m->kind[m->nkinds++] = r;
    }
    return true;
}

/* Returns the part of that type with the largest count, which represents all of them. */
static uint16_t largest_part (const struct mix *m, unsigned t)
{
    uint16_t best = SHAPE_NONE;
    int64_t most = 0;

    for (unsigned i = 0; i < m->nkinds; i++)
        if (m->part[i][t] != SHAPE_NONE && m->need[i][t] > most) {
            best = m->part[i][t];
            most = m->need[i][t];
        }
    return best;
}

/* Returns the bit of part r among its siblings; *head is the first of them. */
static uint64_t bit_of (const struct walker *k, uint16_t r, uint16_t *head, uint32_t *at)
{
    *at = 0;
    *head = walk_req (k, walk_req (k, r)->parent)->first;
    for (uint16_t c = *head; c != r; c = walk_req (k, c)->next)
        ++*at;
    return UINT64_C (1) << *at;
}

static bool gather_parts (struct mix *m, uint32_t u, int64_t slots)
{
    struct walker *k = m->k;
    int64_t shares = k->shares;

    for (unsigned t = 0; t < m->ntypes; t++) {
        uint16_t head, r = largest_part (m, t);
        uint32_t at, base;
        if (r == SHAPE_NONE)
            continue;
        uint64_t bit = bit_of (k, r, &head, &at);
        if ((base = walk_push (k, head)) == WALK_NONE)
            return false;
        k->shares = slots;
        k->collect (k, u, head, bit, base, true);
        k->shares = shares;
        if (k->failed || !walk_sort (k, base + at))
            return false;
        m->list[t] = base + at;
    }
    return true;
}

static int64_t left_of (const struct mix *m, unsigned t)
{
    return m->list[t] == WALK_NONE ? 0 : m->k->f[m->list[t]].total;
}

/* Returns the number of slots of kind i alone that have[] suffices for. */
static int64_t alone (const struct mix *m, unsigned i, const int64_t *have)
{
    int64_t n = INT64_MAX;

    for (unsigned t = 0; t < m->ntypes; t++)
        if (m->need[i][t] > 0 && have[t] / m->need[i][t] < n)
            n = have[t] / m->need[i][t];
    return n == INT64_MAX ? 0 : n;
}

/* Returns the most slots of kinds from..., made of have[]. */
static int64_t most_of (struct mix *m, unsigned from, const int64_t *have)
{
    int64_t best = 0, n = alone (m, from, have);

    if (from + 1 == m->nkinds || ++m->tries > TRIES_MAX)
        return n;
    for (int64_t i = n; i >= 0; i--) {
        int64_t rest[TYPES_MAX];
        for (unsigned t = 0; t < m->ntypes; t++)
            rest[t] = have[t] - i * m->need[from][t];
        int64_t all = i + most_of (m, from + 1, rest);
        best = all > best ? all : best;
    }
    return best;
}

/* Returns the kind of the next slot, -1: none is possible. */
static int next_kind (struct mix *m)
{
    int64_t have[TYPES_MAX], rest[TYPES_MAX];

    for (unsigned t = 0; t < m->ntypes; t++)
        have[t] = left_of (m, t);
    m->tries = 0;
    int64_t all = most_of (m, 0, have);
    for (unsigned i = 0; i < m->nkinds && all > 0; i++) {
        if (alone (m, i, have) == 0)
            continue;
        for (unsigned t = 0; t < m->ntypes; t++)
            rest[t] = have[t] - m->need[i][t];
        if (most_of (m, 0, rest) + 1 >= all)
            return (int)i;
    }
    return -1;
}

static bool make_one (struct mix *m, unsigned i, struct candidate *c)
{
    uint32_t lists[TYPES_MAX];
    int64_t amount[TYPES_MAX];
    unsigned n = 0;

    for (uint16_t r = walk_req (m->k, m->kind[i])->first; r != SHAPE_NONE;
         r = walk_req (m->k, r)->next, n++) {
        int t = type_number (m, m->k->type[r]);
        lists[n] = m->list[t];
        amount[n] = m->need[i][t];
    }
    c->req = m->kind[i];
    return walk_make_slot (m->k, m->kind[i], lists, amount, c);
}

static int64_t most_slots (const struct walker *k, uint16_t head)
{
    int64_t most = 0;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next) {
        int64_t n = walk_req (k, r)->kind == SHAPE_OR_SLOT ? walk_goal (k, r) : 0;
        most = n > most ? n : most;
    }
    return most;
}

/* Makes one slot of the first possible kind, again and again. */
static void make_in_order (struct walker *k, uint32_t u, uint16_t head, uint32_t found)
{
    struct candidate c = { .v = u, .count = 1, .amount = 1 };
    int64_t most = most_slots (k, head);
    uint32_t held = k->nheld;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next)
        while (walk_req (k, r)->kind == SHAPE_OR_SLOT && most > 0
               && walk_make_tangled (k, u, r, &c) && walk_add (k, found, &c))
            most--;
    k->nheld = held;
}

void walk_or_slots (struct walker *k, uint32_t u, uint16_t head, uint32_t found)
{
    struct candidate c = { .v = u, .count = 1, .amount = 1 };
    struct mix m = { .k = k };
    uint32_t base = k->nf;
    int64_t most = most_slots (k, head);
    int i;

    if (!list_kinds (&m, head)) {
        make_in_order (k, u, head, found);
        return;
    }
    if (gather_parts (&m, u, most))
        while (most-- > 0 && !k->failed && (i = next_kind (&m)) >= 0)
            if (!make_one (&m, (unsigned)i, &c) || !walk_add (k, found, &c))
                break;
    walk_pop (k, base);
}

/* bookings.c - adds and removes bookings and their claims
 *
 * Claims are in one array and are named by numbers; free ones are a list. A claim is in
 * the list of its vertex and in that of its job. What it takes is also counted in the
 * vertex, in the node's key and in the profile. This file keeps all of these consistent,
 * so that dropping a booking restores the former state. Memory is reserved first; the
 * rest cannot fail.
 */
#include <inttypes.h>
#include <utlist.h>

#include "match/index/profile.h"
#include "match/planner/bookings.h"
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/node_load.h"
#include "match/planner/sums.h"
#include "match/planner/suspend.h"
#include "match/planner/window_nodes.h"

#define CLAIMS_MAX (UINT32_MAX - 1)
#define BOOKINGS_MAX (UINT32_MAX - 1)

/* -- numbers -- */

int claims_reserve (struct planner *p, size_t more)
{
    size_t need = p->claims_live + more;

    return need > CLAIMS_MAX
               ? -ENOMEM
               : array_reserve (&p->claims, &p->claims_alloc, need, sizeof (*p->claims));
}

static uint32_t number_take (struct planner *p)
{
    uint32_t c = p->claims_free;

    if (c != GRAPH_NONE)
        p->claims_free = p->claims[c].next;
    else
        c = p->nclaims++;
    p->claims_live++;
    return c;
}

static void number_give (struct planner *p, uint32_t c)
{
    p->claims[c].next = p->claims_free;
    p->claims_free = c;
    p->claims_live--;
}

/* -- amounts of a claim -- */

static void busy_set (struct graph_vertex *x, uint32_t unit, uint32_t count, bool on)
{
    uint64_t *words = x->n <= 64 ? &x->busy.bits : x->busy.map;

    for (uint32_t i = unit / 64; i <= (unit + count - 1) / 64; i++) {
        uint64_t run = claims_run_word (unit, count, i);
        words[i] = on ? words[i] | run : words[i] & ~run;
    }
}

static void occupy (struct planner *p, const struct claim *c, bool on)
{
    struct graph_vertex *x = graph_vertex (p->g, c->v);

    if (!(x->flags & GRAPH_DIVISIBLE))
        busy_set (x, c->unit, c->count, on);
    else
        x->used += on ? c->amount : -c->amount;
}

/* Bracket a change of an allocated claim on v. */
static bool loose_begin (struct planner *p, const struct claim *c)
{
    bool loose = !p->stale && !c->reserved && levels_node_of (p, c->v) == GRAPH_NONE;

    if (loose)
        levels_loose (p, c->v, -1);
    return loose;
}

static void loose_end (struct planner *p, const struct claim *c, bool loose)
{
    if (loose)
        levels_loose (p, c->v, 1);
}

/* -- lists -- */

void claims_list (struct planner *p, uint32_t c)
{
    struct claim *claim = &p->claims[c];
    struct graph_vertex *x = graph_vertex (p->g, claim->v);

    claim->prev = GRAPH_NONE;
    claim->next = x->claims;
    if (x->claims != GRAPH_NONE)
        p->claims[x->claims].prev = c;
    x->claims = c;
}

static void link_vertex (struct planner *p, uint32_t c)
{
    struct graph_vertex *x = graph_vertex (p->g, p->claims[c].v);

    claims_list (p, c);
    x->nclaims++;
    x->nreserved += p->claims[c].reserved;
}

void claims_unlist (struct planner *p, const struct claim *claim)
{
    struct graph_vertex *x = graph_vertex (p->g, claim->v);

    if (claim->prev == GRAPH_NONE)
        x->claims = claim->next;
    else
        p->claims[claim->prev].next = claim->next;
    if (claim->next != GRAPH_NONE)
        p->claims[claim->next].prev = claim->prev;
}

static void unlink_vertex (struct planner *p, const struct claim *claim)
{
    struct graph_vertex *x = graph_vertex (p->g, claim->v);

    if (!claims_booking (p, claim)->unlisted)
        claims_unlist (p, claim);
    x->nclaims--;
    x->nreserved -= claim->reserved;
}

static void link_job (struct planner *p, uint32_t c, uint32_t after)
{
    struct booking *b = claims_booking (p, &p->claims[c]);

    if (after == GRAPH_NONE)
        after = b->last;
    p->claims[c].next_of_job =
        after == GRAPH_NONE ? b->first : p->claims[after].next_of_job;
    if (after == GRAPH_NONE)
        b->first = c;
    else
        p->claims[after].next_of_job = c;
    if (b->last == after)
        b->last = c;
    b->nclaims++;
}

uint32_t claims_link (struct planner *p, const struct claim *claim, uint32_t after)
{
    uint32_t c = number_take (p);
    bool loose = loose_begin (p, claim);

    p->claims[c] = *claim;
    p->claims[c].start = p->bookings[claim->booking]->start;
    p->claims[c].end = p->bookings[claim->booking]->end;
    if (graph_vertex (p->g, claim->v)->flags & GRAPH_UPPER)
        p->any_upper = true;
    reach_forget (p, p->bookings[claim->booking]);
    link_vertex (p, c);
    link_job (p, c, after);
    if (!claim->reserved)
        occupy (p, claim, true);
    loose_end (p, claim, loose);
    levels_claim (p, claim, claims_booking (p, claim)->end, true);
    return c;
}

/* Removes the claim from its vertex; its number and its place with the job stay. */
static void leave_vertex (struct planner *p, uint32_t c)
{
    const struct claim claim = p->claims[c];
    bool loose = loose_begin (p, &claim);

    unlink_vertex (p, &claim);
    if (!claim.reserved)
        occupy (p, &claim, false);
    loose_end (p, &claim, loose);
    levels_claim (p, &claim, claims_booking (p, &claim)->end, false);
    p->claims[c].count = 0;
    graph_trim (p->g, claim.v);
}

void claims_shrink (struct planner *p, uint32_t c, uint32_t unit, uint32_t count,
                    int64_t amount)
{
    struct claim *claim = &p->claims[c];
    bool loose;

    reach_forget (p, p->bookings[claim->booking]);
    if (count == 0 || amount == 0) {
        leave_vertex (p, c);
        return;
    }
    loose = loose_begin (p, claim);
    if (!claim->reserved)
        occupy (p, claim, false);
    claim->unit = unit;
    claim->count = count;
    claim->amount = amount;
    if (!claim->reserved)
        occupy (p, claim, true);
    loose_end (p, claim, loose);
    if (levels_node_of (p, claim->v) != GRAPH_NONE)
        levels_touch (p, levels_node_of (p, claim->v));
}

void bookings_sweep (struct planner *p, struct booking *b)
{
    uint32_t next, c = b->first;

    b->first = b->last = GRAPH_NONE;
    b->nclaims = 0;
    for (; c != GRAPH_NONE; c = next) {
        next = p->claims[c].next_of_job;
        if (p->claims[c].count == 0)
            number_give (p, c);
        else
            link_job (p, c, GRAPH_NONE);
    }
}

/* -- bookings -- */

static uint64_t id_of (const struct booking *b)
{
    return b->job;
}

struct booking *booking_find (const struct planner *p, uint64_t job)
{
    struct booking *b = NULL;

    HASH_FIND (hh, p->by_job, &job, sizeof (job), b);
    return b;
}

/* Returns a vacant booking, which stays vacant until it is entered; NULL: no memory. */
static struct booking *booking_vacant (struct planner *p)
{
    struct booking *b;

    if (p->bookings_free != GRAPH_NONE)
        return p->bookings[p->bookings_free];
    if (p->nbookings >= BOOKINGS_MAX
        || array_reserve (&p->bookings, &p->bookings_alloc, p->nbookings + 1,
                          sizeof (struct booking *))
               < 0
        || !(b = calloc (1, sizeof (*b))))
        return NULL;
    b->number = p->nbookings++;
    b->first = GRAPH_NONE; /* of a vacant one: the next vacant one */
    p->bookings[b->number] = b;
    p->bookings_free = b->number;
    return b;
}

static struct booking *booking_enter (struct planner *p, uint64_t job,
                                      const struct selection *s, bool reserved)
{
    struct booking *b = booking_vacant (p);
    uint32_t next;

    if (!b || (!p->stale && profile_reserve (p->profile, 2 * p->ids.n + 8) < 0))
        return NULL;
    next = b->first;
    *b = (struct booking){ .job = job,
                           .start = s->start,
                           .end = s->end,
                           .reserved = reserved,
                           .first = GRAPH_NONE,
                           .last = GRAPH_NONE,
                           .number = b->number };
    HASH_ADD (hh, p->by_job, job, sizeof (b->job), b);
    if (!b->hh.tbl) {
        b->first = next;
        return NULL;
    }
    p->bookings_free = next;
    ordered_insert (&p->ids, &b->by_id, id_of (b));
    ordered_insert (&p->ends, &b->by_end, planner_order (b->end));
    if (reserved)
        DL_APPEND (p->reserved, b);
    p->runs += !reserved;
    return b;
}

void booking_drop (struct planner *p, struct booking *b)
{
    uint32_t next, c;

    levels_hold (p);
    sums_unbook (p, b);
    for (c = b->first; c != GRAPH_NONE; c = next) {
        next = p->claims[c].next_of_job;
        leave_vertex (p, c);
        number_give (p, c);
    }
    node_load_drop (p, b);
    reach_forget (p, b);
    if (b->suspended)
        suspend_end (p, b);
    if (b->fresh)
        DL_DELETE2 (p->fresh, b, fresh_prev, fresh_next);
    b->fresh = false;
    if (b->reserved && !b->unlisted)
        DL_DELETE (p->reserved, b);
    HASH_DELETE (hh, p->by_job, b);
    ordered_remove (&p->ids, &b->by_id);
    ordered_remove (&p->ends, &b->by_end);
    b->first = p->bookings_free;
    p->bookings_free = b->number;
    p->changes++;
    levels_settle (p);
}

void booking_set_end (struct planner *p, struct booking *b, int64_t end)
{
    int64_t was = b->end;

    levels_hold (p);
    sums_unbook (p, b);
    ordered_remove (&p->ends, &b->by_end);
    b->end = end;
    p->runs += !b->reserved;
    ordered_insert (&p->ends, &b->by_end, planner_order (end));
    CLAIMS_OF_JOB (p, b, c)
    {
        p->claims[c].end = end;
        levels_claim (p, &p->claims[c], was, false);
        levels_claim (p, &p->claims[c], end, true);
    }
    sums_book (p, b);
    p->changes++;
    levels_settle (p);
}

/* -- checks of a booking -- */

static int refuse_claim (const struct planner *p, const struct claim *c, uint32_t by,
                         const char *what, struct error *why)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (GRAPH_DEPTH_MAX * 512);

    graph_path (p->g, c->v, c->unit, &sb);
    if (by == GRAPH_NONE)
        return error_set (why, EBUSY, "%s has less left than the job has of it", sb.buf);
    return error_set (why, EBUSY, "%s is %s job %" PRIu64, sb.buf, what,
                      claims_booking (p, &p->claims[by])->job);
}

int booking_check (const struct planner *p, const struct booking *b,
                   const struct window *w, const char *what, struct error *why)
{
    CLAIMS_OF_JOB (p, b, i)
    {
        const struct claim *c = &p->claims[i];
        const struct graph_vertex *x = graph_vertex (p->g, c->v);
        uint32_t by = claims_in_way (p, c, w);
        if (by != GRAPH_NONE)
            return refuse_claim (p, c, by, what, why);
        if (!(x->flags & GRAPH_DIVISIBLE))
            continue;
        int64_t used = w->now ? x->used : claims_most_used (p, c->v, w);
        if (c->amount > x->size - used)
            return refuse_claim (p, c, GRAPH_NONE, what, why);
    }
    return 0;
}

/* -- adding -- */

static int refuse_taken (const struct planner *p, const struct pick *pick, uint32_t by,
                         struct error *why)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (GRAPH_DEPTH_MAX * 512);
    const struct claim *c = &p->claims[by];
    uint32_t v = pick->v, unit = pick->unit;

    if (c->v == v)
        unit = MAX (unit, c->unit);
    else if (graph_vertex (p->g, c->v)->depth > graph_vertex (p->g, v)->depth) {
        v = c->v;
        unit = c->unit;
    }
    graph_path (p->g, v, unit, &sb);
    return error_set (why, EBUSY, "%s is %s job %" PRIu64, sb.buf,
                      c->reserved ? "reserved for" : "taken by",
                      claims_booking (p, c)->job);
}

static int refuse_pick (const struct planner *p, const struct pick *pick, int errnum,
                        const char *what, struct error *why)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (GRAPH_DEPTH_MAX * 512);

    graph_path (p->g, pick->v, pick->unit, &sb);
    return error_set (why, errnum, "%s %s", sb.buf, what);
}

static int check_units (const struct planner *p, const struct pick *pick,
                        struct error *why)
{
    const struct graph_vertex *x;

    if (pick->v >= p->g->nv || graph_vertex (p->g, pick->v)->n == 0)
        return error_set (why, ENOENT,
                          "the selection names vertex %" PRIu32 ", which is gone",
                          pick->v);
    x = graph_vertex (p->g, pick->v);
    if (pick->unit < x->n && pick->count > 0 && pick->count <= x->n - pick->unit)
        return 0;
    return error_set (why, ENOENT,
                      "the selection names units %" PRIu32 " to %" PRIu32
                      " of the %" PRIu32 " units of a %s",
                      pick->unit, pick->unit + pick->count - 1, x->n,
                      graph_type_name (p->g, x->type));
}

static int check_amount (const struct planner *p, const struct pick *pick,
                         const struct window *w, struct error *why)
{
    const struct graph_vertex *x = graph_vertex (p->g, pick->v);
    int64_t left = x->size - claims_most_used (p, pick->v, w);

    if (pick->amount < 1)
        return refuse_pick (p, pick, EINVAL, "has an amount of 0 or less", why);
    if (pick->amount > x->size)
        return refuse_pick (p, pick, ENOENT, "is smaller than the requested amount", why);
    if (pick->amount > left)
        return refuse_pick (p, pick, EBUSY, "has less free than the requested amount",
                            why);
    return 0;
}

static bool has_below (const struct planner *p, uint32_t v, uint32_t booking)
{
    const struct level_node *node = levels_node (p, v);

    if (node && node->nclaims == 0)
        return false;
    CLAIMS (p, v, c)
    {
        if (p->claims[c].booking == booking)
            return true;
    }
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (has_below (p, child, booking))
            return true;
    }
    return false;
}

/* True if the claim's own booking has these units, or something below them. */
static bool is_again (const struct planner *p, const struct claim *c)
{
    const struct graph_vertex *x = graph_vertex (p->g, c->v);

    if (x->first != GRAPH_NONE && c->exclusive)
        return has_below (p, c->v, c->booking);
    CLAIMS (p, c->v, i)
    {
        const struct claim *o = &p->claims[i];
        if (o->booking == c->booking && o->unit < c->unit + c->count
            && c->unit < o->unit + o->count)
            return true;
    }
    return false;
}

static int check_claim (const struct planner *p, const struct pick *pick,
                        const struct claim *c, const struct window *w, struct error *why)
{
    uint32_t by = claims_in_way (p, c, w);

    if (by != GRAPH_NONE)
        return refuse_taken (p, pick, by, why);
    if (is_again (p, c))
        return refuse_pick (p, pick, EINVAL, "is in the selection twice", why);
    if (graph_vertex (p->g, c->v)->flags & GRAPH_DIVISIBLE)
        return check_amount (p, pick, w, why);
    return 0;
}

static int add_picks (struct planner *p, struct booking *b, const struct selection *s,
                      bool check, struct error *why)
{
    struct window w = { .at = s->start, .end = s->end, .now = !b->reserved };
    int rc;

    for (size_t i = 0; i < s->n; i++) {
        const struct pick *pick = &s->picks[i];
        if (!check && !pick->claimed)
            continue;
        struct claim c = { .v = pick->v,
                           .booking = b->number,
                           .unit = pick->unit,
                           .count = pick->count,
                           .reserved = b->reserved,
                           .exclusive = pick->exclusive,
                           .amount = pick->amount };
        if (check && (rc = check_units (p, pick, why)) < 0)
            return rc;
        if (!pick->claimed || (check && claims_covered_by (p, pick->v, b->number)))
            continue;
        if (check && (rc = check_claim (p, pick, &c, &w, why)) < 0)
            return rc;
        claims_link (p, &c, GRAPH_NONE);
    }
    return 0;
}

enum { CHECK = 1, OVER = 2 };

static int add (struct planner *p, uint64_t job, const struct selection *s, bool reserved,
                unsigned how, struct error *why)
{
    struct booking *b = NULL;
    size_t n = 0;
    int rc = -ENOMEM;

    for (size_t i = 0; i < s->n; i++)
        n += s->picks[i].claimed;
    levels_hold (p);
    if (claims_reserve (p, n) == 0)
        b = booking_enter (p, job, s, reserved);
    if (b) {
        b->over = how & OVER;
        rc = add_picks (p, b, s, how & CHECK, why);
    }
    if (rc == 0) {
        sums_book (p, b);
        node_load_add (p, b, s);
        b->fresh = p->nsuspended > 0;
        if (b->fresh)
            DL_APPEND2 (p->fresh, b, fresh_prev, fresh_next);
    } else if (b)
        booking_drop (p, b);
    p->changes++;
    levels_settle (p);
    return rc;
}

int claims_add (struct planner *p, uint64_t job, const struct selection *s, bool reserved)
{
    return add (p, job, s, reserved, 0, NULL);
}

int claims_add_over (struct planner *p, uint64_t job, const struct selection *s)
{
    return add (p, job, s, true, OVER, NULL);
}

int claims_check_add (struct planner *p, uint64_t job, const struct selection *s,
                      bool reserved, struct error *why)
{
    int rc = add (p, job, s, reserved, CHECK, why);

    return rc == -ENOMEM ? error_set (why, ENOMEM, "no memory") : rc;
}

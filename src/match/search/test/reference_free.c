/* reference_free.c - of the reference: free resources in a window, and lists of
 * candidates */
#include <stdlib.h>
#include <string.h>

#include "match/search/test/reference_private.h"

/* -- free resources -- */

static bool counts (const struct ref_run *r, const struct ref_booking *b)
{
    if (r->w->ever || b->job == 0)
        return false;
    if (r->w->now && !b->reserved)
        return true;
    return b->start < r->w->end && r->w->at < b->end;
}

bool ref_claimed (const struct ref_run *r, int v, bool below)
{
    const struct ref *ref = r->ref;

    for (int j = 0; j < REF_JOBS; j++) {
        const struct ref_booking *b = &ref->jobs[j];
        for (int i = 0; i < b->nclaims && counts (r, b); i++)
            if (b->claims[i].v == v || (below && ref_inside (ref, b->claims[i].v, v)))
                return true;
    }
    for (int i = 0; i < r->held.nclaims; i++)
        if (r->held.claims[i].v == v
            || (below && ref_inside (ref, r->held.claims[i].v, v)))
            return true;
    return false;
}

/* For a start now, allocated units count from now on: until their end, or forever
 * after a late end. */
static bool has_then (const struct ref_run *r, const struct ref_booking *b, int64_t t)
{
    if (r->w->now && !b->reserved)
        return t < b->end || b->end <= r->w->at;
    return b->start <= t && t < b->end;
}

/* Used of a divisible v at time t. */
static int64_t used_at (const struct ref_run *r, int v, int64_t t)
{
    int64_t used = 0;

    for (int j = 0; j < REF_JOBS; j++) {
        const struct ref_booking *b = &r->ref->jobs[j];
        bool then = has_then (r, b, t);
        for (int i = 0; i < b->nclaims && counts (r, b) && then; i++)
            if (b->claims[i].v == v)
                used += b->claims[i].amount;
    }
    return used;
}

int64_t ref_free_amount (const struct ref_run *r, int v)
{
    int64_t most = used_at (r, v, r->w->at), held = 0;

    for (int j = 0; j < REF_JOBS; j++) {
        int64_t t = r->ref->jobs[j].start;
        if (t > r->w->at && t < r->w->end && used_at (r, v, t) > most)
            most = used_at (r, v, t);
    }
    for (int i = 0; i < r->held.nclaims; i++)
        if (r->held.claims[i].v == v)
            held += r->held.claims[i].amount;
    return r->ref->v[v].size - most - held - (r->w->ever ? 0 : r->ref->v[v].withheld);
}

/* The divisible memory in v, without regard to siblings. */
static int64_t free_memory (const struct ref_run *r, int v)
{
    struct ref_run alone = { .ref = r->ref, .q = r->q, .w = r->w };
    int64_t sum = 0;

    REF_CHILDREN (r->ref, v, c)
    {
        if (!r->ref->v[c].leaf && !ref_closed (&alone, c))
            sum += free_memory (r, c);
        else if (r->ref->v[c].divisible && ref_is (r->ref, c, "memory")
                 && !ref_closed (&alone, c))
            sum += ref_free_amount (&alone, c);
    }
    return sum;
}

bool ref_closed (const struct ref_run *r, int v)
{
    struct ref_run alone = { .ref = r->ref, .q = r->q, .w = r->w };
    const struct ref_vertex *x = &r->ref->v[v];

    if (x->node && r->q->node_memory > 0 && free_memory (r, v) < r->q->node_memory)
        return true;
    if (r->w->ever ? x->leaving : !x->up)
        return true;
    if (x->node && r->q->fast && !x->fast)
        return true;
    if (x->node && r->ref->policy.node_exclusive && ref_claimed (&alone, v, true))
        return true;
    return x->leaf && x->divisible ? ref_free_amount (r, v) <= 0
                                   : ref_claimed (r, v, false);
}

int64_t ref_free_cores (const struct ref_run *r, int v)
{
    struct ref_run alone = { .ref = r->ref, .q = r->q, .w = r->w };
    bool above = ref_is_above (r->ref, v);
    int64_t n = 0;

    REF_CHILDREN (r->ref, v, c)
    {
        const struct ref_vertex *x = &r->ref->v[c];
        if (above && !x->node && !ref_is_above (r->ref, c))
            continue;
        bool taken = (r->w->ever ? x->leaving : !x->up) || ref_claimed (&alone, c, false);
        if (!taken && x->leaf && ref_is (r->ref, c, "core"))
            n += x->size;
        else if (!taken)
            n += ref_free_cores (r, c);
    }
    return n;
}

/* c, in v, is part of the permanent machine. */
static bool ever_is (const struct ref *ref, int c, int v)
{
    for (int up = c;; up = ref->v[up].parent) {
        if (ref->v[up].leaving)
            return false;
        if (up == v)
            return true;
    }
}

bool ref_by_freshness (const struct ref_run *r)
{
    return r->ref->policy.first && r->w->now;
}

/* For a node, its cores without those in answers; otherwise the nodes below, without
 * those that were taken as a whole. */
int64_t ref_freshness (const struct ref_run *r, int v)
{
    const struct ref *ref = r->ref;
    bool node = ref->v[v].node;
    int64_t n = 0;

    if (!ref->v[v].seen)
        return INT64_MAX;
    for (int c = v; c < ref->nv; c++) {
        const struct ref_vertex *x = &ref->v[c];
        if (!ref_inside (ref, c, v))
            continue;
        if (node ? ref_is (ref, c, "core") && ever_is (ref, c, v) : x->node)
            n += node ? x->size : 1;
        for (int j = 0; j < REF_JOBS; j++)
            for (int i = 0; i < ref->jobs[j].nnamed; i++) {
                const struct ref_named *l = &ref->jobs[j].named[i];
                if (x->node && l->node == x->v)
                    n -= node ? l->cores : l->whole;
            }
    }
    return node ? (ref->v[v].leaving ? n - 1 : n) : n < 0 ? 0 : n;
}

/* -- lists -- */

void ref_join (struct ref_cand *c, const struct ref_cand *part)
{
    size_t n = (size_t)c->nclaims + (size_t)part->nclaims;

    c->claims = ref_grow (c->claims, (n + 1) * sizeof (*c->claims));
    if (part->nclaims > 0)
        memcpy (c->claims + c->nclaims, part->claims,
                (size_t)part->nclaims * sizeof (*c->claims));
    c->nclaims = (int)n;
}

void ref_join_one (struct ref_cand *c, int v, int64_t amount)
{
    struct ref_claim claim = { v, amount };

    ref_join (c, &(struct ref_cand){ .claims = &claim, .nclaims = 1 });
}

void ref_list_add (struct ref_list *l, struct ref_cand c)
{
    l->c = ref_grow (l->c, (size_t)(l->n + 1) * sizeof (c));
    l->c[l->n++] = c;
}

void ref_list_free (struct ref_list *l)
{
    for (int i = 0; i < l->n; i++)
        free (l->c[i].claims);
    free (l->c);
    *l = (struct ref_list){ 0 };
}

int64_t ref_total (const struct ref_list *l)
{
    int64_t sum = 0;

    for (int i = 0; i < l->n; i++)
        sum += l->c[i].amount;
    return sum;
}

/* Of equal scores, the vertex in the first node of the graph. */
static bool goes_first (const struct ref_run *r, const struct ref_cand *a,
                        const struct ref_cand *b)
{
    if (a->score == b->score)
        return a->tie < b->tie;
    return r->ref->policy.high ? a->score > b->score : a->score < b->score;
}

/* A stable insertion sort. */
void ref_list_sort (const struct ref_run *r, struct ref_list *l)
{
    for (int i = 1; i < l->n; i++) {
        struct ref_cand c = l->c[i];
        int j = i;
        for (; j > 0 && goes_first (r, &c, &l->c[j - 1]); j--)
            l->c[j] = l->c[j - 1];
        l->c[j] = c;
    }
}

void ref_cut (const struct ref_run *r, struct ref_list *l, int64_t amount,
              struct ref_cand *c)
{
    for (int i = 0; i < l->n && amount > 0; i++) {
        struct ref_cand *from = &l->c[i];
        int64_t part = from->amount;
        if (part == 0)
            continue;
        if (r->ref->v[from->v].divisible && part > amount)
            part = amount;
        struct ref_cand piece = *from;
        struct ref_claim claim;
        if (r->ref->v[from->v].divisible && from->nclaims > 0) {
            claim = (struct ref_claim){ from->v, part };
            piece.claims = &claim;
        }
        ref_join (c, &piece);
        c->score += from->score;
        from->amount -= part;
        amount -= part;
    }
}

int64_t ref_shares_of (const struct ref_run *r, const struct ref_list *l, int64_t amount)
{
    int64_t n = 0, have = 0;

    for (int i = 0; i < l->n; i++) {
        have += l->c[i].amount;
        if (have < amount)
            continue;
        n += r->ref->v[l->c[i].v].divisible ? have / amount : 1;
        have = r->ref->v[l->c[i].v].divisible ? have % amount : 0;
    }
    return n;
}

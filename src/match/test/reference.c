/* reference.c - see reference.h */
#include "match/test/reference.h"

#include <stdlib.h>
#include <string.h>

struct cand {
    int req; /* that it serves */
    int v;   /* a slot: where */
    int64_t score, amount;
    int *claims; /* vertices to be claimed */
    int nclaims;
    bool taken;
};

struct list {
    struct cand *c;
    int n;
    int64_t total;
};

struct run {
    struct ref *ref;
    const struct ref_request *q;
    int64_t at, end;
    bool now, ever, span;
    int64_t node_score;
    int64_t shares;
};

#define NODE_WEIGHT (INT64_C (1) << 21)

static void *grow (void *p, size_t n)
{
    p = realloc (p, n);
    if (!p)
        abort ();
    return p;
}

static bool is (const struct ref *ref, int v, const char *type)
{
    return !strcmp (ref->v[v].type, type);
}

static int child (const struct ref *ref, int v, int after)
{
    for (int c = after + 1; c < ref->nv; c++)
        if (ref->v[c].parent == v)
            return c;
    return -1;
}

bool ref_is_leaf (const struct ref *ref, int v)
{
    return child (ref, v, v) < 0;
}

static bool inside (const struct ref *ref, int v, int above)
{
    for (; v >= 0; v = ref->v[v].parent)
        if (v == above)
            return true;
    return false;
}

static bool has_nodes_below (const struct ref *ref, int v)
{
    for (int c = v + 1; c < ref->nv; c++)
        if (is (ref, c, "node") && inside (ref, c, v))
            return true;
    return false;
}

/* -- what is free -- */

static bool overlaps (const struct run *r, const struct ref_booking *b)
{
    if (r->ever || !b->used)
        return false;
    if (r->now && !b->reserved)
        return true;
    return b->start < r->end && b->end > r->at;
}

/* A claim on v itself. */
static bool claimed (const struct run *r, int v)
{
    for (size_t j = 0; j < r->ref->njobs; j++) {
        const struct ref_booking *b = &r->ref->jobs[j];
        for (size_t i = 0; i < b->nclaims && overlaps (r, b); i++)
            if (b->claims[i].v == v)
                return true;
    }
    return false;
}

/* Or on anything below it. */
static bool touched (const struct run *r, int v)
{
    for (size_t j = 0; j < r->ref->njobs; j++) {
        const struct ref_booking *b = &r->ref->jobs[j];
        for (size_t i = 0; i < b->nclaims && overlaps (r, b); i++)
            if (inside (r->ref, b->claims[i].v, v))
                return true;
    }
    return false;
}

static bool closed (const struct run *r, int v)
{
    return (!r->ever && !r->ref->v[v].up) || claimed (r, v);
}

/* Free cores below v, as what the order of `first` looks at; up_only: of nodes that are up. */
static int64_t free_cores (const struct run *r, int v)
{
    int64_t n = 0;

    if (!ref_is_leaf (r->ref, v) && (!r->ref->v[v].up || claimed (r, v)))
        return 0;
    for (int c = child (r->ref, v, v); c >= 0; c = child (r->ref, v, c)) {
        if (!ref_is_leaf (r->ref, c))
            n += free_cores (r, c);
        else if (is (r->ref, c, "core") && !closed (r, c))
            n++;
    }
    return n;
}

/* The same for now and whatever is reserved: the measure of nodes and racks. */
static int64_t free_now (const struct run *r, int v)
{
    struct ref_booking *b = r->ref->jobs;
    struct run all = *r;
    bool hidden[REF_JOBS];
    int64_t n;

    all.now = true;
    all.ever = false;
    for (size_t j = 0; j < r->ref->njobs; j++) {
        hidden[j] = b[j].used && b[j].reserved;
        if (hidden[j])
            b[j].used = false;
    }
    n = free_cores (&all, v);
    for (size_t j = 0; j < r->ref->njobs; j++)
        if (hidden[j])
            b[j].used = true;
    return n;
}

/* -- lists -- */

static void list_add (struct list *l, struct cand c)
{
    l->c = grow (l->c, (size_t)(l->n + 1) * sizeof (c));
    l->c[l->n++] = c;
    l->total += c.amount;
}

static void list_free (struct list *l)
{
    for (int i = 0; i < l->n; i++)
        free (l->c[i].claims);
    free (l->c);
    memset (l, 0, sizeof (*l));
}

static bool before (const struct run *r, const struct cand *a, const struct cand *b)
{
    return r->ref->policy == REF_LOW ? a->score < b->score : a->score > b->score;
}

/* Insertion sort: stable. */
static void list_sort (const struct run *r, struct list *l)
{
    for (int i = 1; i < l->n; i++) {
        struct cand c = l->c[i];
        int j = i;
        for (; j > 0 && before (r, &c, &l->c[j - 1]); j--)
            l->c[j] = l->c[j - 1];
        l->c[j] = c;
    }
}

static void join (struct cand *c, const struct cand *part)
{
    c->claims = grow (c->claims, (size_t)(c->nclaims + part->nclaims + 1) * sizeof (int));
    if (part->nclaims > 0)
        memcpy (c->claims + c->nclaims, part->claims,
                (size_t)part->nclaims * sizeof (int));
    c->nclaims += part->nclaims;
}

static int first_req (const struct run *r, int parent, int after)
{
    for (int i = after + 1; i < r->q->n; i++)
        if (r->q->r[i].parent == parent)
            return i;
    return -1;
}

static int64_t fit (const struct ref_req *q, int64_t limit)
{
    int64_t n = limit < q->max ? limit : q->max;
    return n < q->min ? 0 : n;
}

/* Whole candidates to shares of `amount`. */
static int64_t shares_of (const struct list *l, int64_t amount)
{
    int64_t n = 0, have = 0;

    for (int i = 0; i < l->n; i++) {
        have += l->c[i].amount;
        if (have >= amount) {
            n++;
            have = 0;
        }
    }
    return n;
}

static bool enough (const struct run *r, int parent, const struct list *lists)
{
    for (int q = first_req (r, parent, -1); q >= 0; q = first_req (r, parent, q))
        if (shares_of (&lists[q], fit (&r->q->r[q], INT64_MAX)) < r->shares)
            return false;
    return true;
}

/* -- the match -- */

static void gather (struct run *r, int v, int parent, struct list *lists, bool excl);

static bool slot_has_nodes (const struct run *r, int slot)
{
    for (int q = first_req (r, slot, -1); q >= 0; q = first_req (r, slot, q))
        if (!strcmp (r->q->r[q].type, "node") || slot_has_nodes (r, q))
            return true;
    return false;
}

static bool slot_here (const struct run *r, int v, int slot)
{
    if (r->span
        && (has_nodes_below (r->ref, v) ? slot_has_nodes (r, slot)
                                        : is (r->ref, v, "node")))
        return true;
    for (int q = first_req (r, slot, -1); q >= 0; q = first_req (r, slot, q)) {
        bool found = false;
        for (int c = child (r->ref, v, v); c >= 0; c = child (r->ref, v, c))
            found = found || is (r->ref, c, r->q->r[q].type);
        if (!found)
            return false;
    }
    return true;
}

static void collect (struct run *r, int v, int parent, struct list *lists, bool excl);

static void make_slots (struct run *r, int v, int slot, struct list *out)
{
    const struct ref_req *s = &r->q->r[slot];
    struct list parts[REF_REQS] = { 0 };
    int next[REF_REQS] = { 0 };
    int64_t n = s->max, shares = r->shares;

    r->shares = s->max;
    collect (r, v, slot, parts, true);
    r->shares = shares;
    for (int q = first_req (r, slot, -1); q >= 0; q = first_req (r, slot, q)) {
        list_sort (r, &parts[q]);
        int64_t can = shares_of (&parts[q], r->q->r[q].min);
        n = can < n ? can : n;
    }
    for (int64_t i = 0; i < n; i++) {
        struct cand c = { .req = slot, .v = v, .amount = 1, .score = 1, .taken = true };
        for (int q = first_req (r, slot, -1); q >= 0; q = first_req (r, slot, q)) {
            int64_t have = 0;
            while (have < r->q->r[q].min) {
                struct cand *p = &parts[q].c[next[q]++];
                have += p->amount;
                c.score += p->score;
                join (&c, p);
            }
        }
        list_add (out, c);
    }
    for (int q = 0; q < r->q->n; q++)
        list_free (&parts[q]);
}

/* For every request below `parent` the best; joined into c. */
static bool choose (struct run *r, int parent, struct list *lists, bool sort,
                    struct cand *c)
{
    for (int q = first_req (r, parent, -1); q >= 0; q = first_req (r, parent, q)) {
        int64_t amount = fit (&r->q->r[q], lists[q].total);
        if (amount == 0)
            return false;
        if (sort || strcmp (r->q->r[q].type, "node") != 0)
            list_sort (r, &lists[q]);
        for (int i = 0; amount > 0; i++) {
            amount -= lists[q].c[i].amount;
            join (c, &lists[q].c[i]);
        }
    }
    return true;
}

static void take (struct run *r, int v, int q, struct list *out, bool excl)
{
    const struct ref_req *req = &r->q->r[q];
    struct cand c = { .req = q, .v = v, .amount = r->ref->v[v].size };
    struct list lists[REF_REQS] = { 0 };
    int64_t shares = r->shares;
    bool leaf = ref_is_leaf (r->ref, v), fits = true;

    c.taken = excl || req->exclusive;
    if (leaf && first_req (r, q, -1) >= 0)
        return;
    if (leaf ? closed (r, v) : c.taken && touched (r, v))
        return;
    if (first_req (r, q, -1) >= 0) {
        r->shares = 1;
        collect (r, v, q, lists, c.taken);
        r->shares = shares;
        fits = choose (r, q, lists, r->ref->policy != REF_FIRST, &c);
    }
    for (int i = 0; i < r->q->n; i++)
        list_free (&lists[i]);
    if (!fits) {
        free (c.claims);
        return;
    }
    if (c.taken) { /* covers what was chosen in it */
        c.claims = grow (c.claims, sizeof (int));
        c.claims[0] = v;
        c.nclaims = 1;
    }
    c.score = r->node_score + r->ref->v[v].id + 2;
    list_add (out, c);
}

static int req_of_type (const struct run *r, int v, int parent)
{
    for (int q = first_req (r, parent, -1); q >= 0; q = first_req (r, parent, q))
        if (is (r->ref, v, r->q->r[q].type))
            return q;
    return -1;
}

static void gather (struct run *r, int v, int parent, struct list *lists, bool excl)
{
    int64_t node_score = r->node_score;
    int q = req_of_type (r, v, parent);

    if (!ref_is_leaf (r->ref, v) && closed (r, v))
        return;
    if (is (r->ref, v, "node") && r->ref->policy == REF_FIRST)
        r->node_score = (r->ref->v[v].id + 2) * NODE_WEIGHT;
    if (q >= 0)
        take (r, v, q, &lists[q], excl);
    else if (!ref_is_leaf (r->ref, v))
        collect (r, v, parent, lists, excl);
    r->node_score = node_score;
}

/* Children in the order in which `first` looks at them. */
static int ordered_children (struct run *r, int v, int *kids)
{
    int64_t key[REF_MAX];
    int n = 0;
    bool above = has_nodes_below (r->ref, v);

    for (int c = child (r->ref, v, v); c >= 0; c = child (r->ref, v, c)) {
        int64_t k = ref_is_leaf (r->ref, c) ? -1
                    : above                 ? free_now (r, c)
                                            : free_cores (r, c);
        int j = n++;
        for (; j > 0 && key[j - 1] <= k; j--) {
            key[j] = key[j - 1];
            kids[j] = kids[j - 1];
        }
        key[j] = k;
        kids[j] = c;
    }
    return n;
}

static void collect (struct run *r, int v, int parent, struct list *lists, bool excl)
{
    int kids[REF_MAX], n = 0;
    bool slots_made = false;

    for (int q = first_req (r, parent, -1); q >= 0; q = first_req (r, parent, q)) {
        if (strcmp (r->q->r[q].type, "slot") == 0 && slot_here (r, v, q)) {
            make_slots (r, v, q, &lists[q]);
            slots_made = true;
        }
    }
    if (slots_made) /* requests of the test have no siblings beside a slot */
        return;
    if (r->ref->policy != REF_FIRST) {
        for (int c = child (r->ref, v, v); c >= 0; c = child (r->ref, v, c))
            gather (r, c, parent, lists, excl);
        return;
    }
    n = ordered_children (r, v, kids);
    for (int i = 0; i < n && !enough (r, parent, lists); i++)
        gather (r, kids[i], parent, lists, excl);
}

static int compare_int (const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int match_once (struct run *r, int **ret)
{
    struct list lists[REF_REQS] = { 0 };
    struct cand c = { 0 };
    bool fits;

    r->node_score = 0;
    r->shares = 1;
    gather (r, 0, -1, lists, false);
    fits = choose (r, -1, lists, r->ref->policy != REF_FIRST, &c);
    for (int i = 0; i < r->q->n; i++)
        list_free (&lists[i]);
    if (!fits) {
        free (c.claims);
        return -1;
    }
    if (c.nclaims > 0)
        qsort (c.claims, (size_t)c.nclaims, sizeof (int), compare_int);
    *ret = c.claims;
    return c.nclaims;
}

int ref_match (struct ref *ref, const struct ref_request *req, int64_t at, int64_t end,
               bool now, bool ever, int **ret)
{
    struct run r = {
        .ref = ref, .q = req, .at = at, .end = end, .now = now, .ever = ever
    };
    int n = match_once (&r, ret);

    if (n >= 0)
        return n;
    r.span = true;
    return match_once (&r, ret);
}

int64_t ref_earliest (struct ref *ref, const struct ref_request *req, int64_t now,
                      int64_t duration, int **ret, int *ret_n)
{
    int64_t t = now;

    *ret_n = ref_match (ref, req, now, now + duration, true, false, ret);
    while (*ret_n < 0) {
        int64_t next = INT64_MAX;
        for (size_t j = 0; j < ref->njobs; j++)
            if (ref->jobs[j].used && ref->jobs[j].end > t && ref->jobs[j].end < next)
                next = ref->jobs[j].end;
        if (next == INT64_MAX)
            return -1;
        t = next;
        *ret_n = ref_match (ref, req, t, t + duration, false, false, ret);
    }
    return t;
}

void ref_book (struct ref *ref, uint64_t job, int64_t start, int64_t end, bool reserved,
               const int *claimed_vertices, int n)
{
    struct ref_booking *b = NULL;

    for (size_t j = 0; j < ref->njobs && !b; j++)
        if (!ref->jobs[j].used)
            b = &ref->jobs[j];
    if (!b)
        b = &ref->jobs[ref->njobs++];
    *b = (struct ref_booking){
        .job = job, .start = start, .end = end, .reserved = reserved, .used = true
    };
    b->claims = calloc ((size_t)n + 1, sizeof (*b->claims));
    if (!b->claims)
        abort ();
    b->nclaims = (size_t)n;
    for (int i = 0; i < n; i++)
        b->claims[i] = (struct ref_claim){ claimed_vertices[i],
                                           !ref_is_leaf (ref, claimed_vertices[i]) };
}

bool ref_cancel (struct ref *ref, uint64_t job)
{
    for (size_t j = 0; j < ref->njobs; j++) {
        struct ref_booking *b = &ref->jobs[j];
        if (!b->used || b->job != job)
            continue;
        free (b->claims);
        *b = (struct ref_booking){ 0 };
        return true;
    }
    return false;
}

/* reference_match.c - of the reference: one match.
 *
 * For each vertex of the request all candidates below a vertex of the machine are
 * gathered and sorted, and the best of them are taken; then the same for its children,
 * and for the next sibling.
 */
#include <stdlib.h>
#include <string.h>

#include "match/search/test/reference_private.h"

#define NODE_WEIGHT (INT64_C (1) << 21) /* of a node's id relative to its parts */

/* -- requests -- */

static int first_part (const struct ref_run *r, int parent, int after)
{
    for (int i = after + 1; i < r->q->n; i++)
        if (r->q->r[i].parent == parent)
            return i;
    return -1;
}

#define PARTS(r, parent, q)                                                              \
    for (int q = first_part ((r), (parent), -1); q >= 0;                                 \
         q = first_part ((r), (parent), q))

static bool is_slot (const struct ref_run *r, int q)
{
    return !strcmp (r->q->r[q].type, "slot");
}

/* The largest allowed size <= limit, or 0. */
static int64_t fit (const struct ref_req *q, int64_t limit)
{
    int64_t best = 0;

    for (int i = 0; i < q->nsizes; i++)
        if (q->sizes[i] <= limit)
            best = q->sizes[i];
    return best;
}

static int64_t most (const struct ref_req *q)
{
    return q->sizes[q->nsizes - 1];
}

static bool has_nodes (const struct ref_run *r, int q)
{
    if (!strcmp (r->q->r[q].type, "node"))
        return true;
    PARTS (r, q, part)
    {
        if (has_nodes (r, part))
            return true;
    }
    return false;
}

/* v is for a sibling of q and not for q. */
static bool is_siblings (const struct ref_run *r, int v, int q)
{
    PARTS (r, r->q->r[q].parent, other)
    {
        if (other != q && ref_is (r->ref, v, r->q->r[other].type))
            return true;
    }
    return false;
}

static bool has_children (const struct ref *ref, const char *type)
{
    for (int v = 0; v < ref->nv; v++)
        if (!ref->v[v].leaf && ref_is (ref, v, type))
            return true;
    return false;
}

/* q, or a part of the slot q, may be, contain or be in a vertex of the type. */
static bool may_meet (const struct ref_run *r, int q, const char *type)
{
    if (!is_slot (r, q))
        return !strcmp (r->q->r[q].type, type) || has_children (r->ref, type)
               || has_children (r->ref, r->q->r[q].type);
    PARTS (r, q, part)
    {
        if (may_meet (r, part, type))
            return true;
    }
    return false;
}

static bool meet (const struct ref_run *r, int a, int b)
{
    if (!is_slot (r, b))
        return is_slot (r, a) && may_meet (r, a, r->q->r[b].type);
    PARTS (r, b, part)
    {
        if (is_slot (r, part) ? meet (r, a, part) : may_meet (r, a, r->q->r[part].type))
            return true;
    }
    return false;
}

/* Parts of a slot that may compete for the same vertices. */
static bool are_tangled (const struct ref_run *r, int slot)
{
    PARTS (r, slot, a)
    {
        PARTS (r, slot, b)
        {
            if (a < b && meet (r, a, b))
                return true;
        }
    }
    return false;
}

static bool enough (const struct ref_run *r, int q, const struct ref_list *l)
{
    return ref_shares_of (r, l, most (&r->q->r[q])) >= r->shares;
}

/* -- gathering -- */

static void gather (struct ref_run *r, int v, int q, struct ref_list *l, bool excl);

static bool has_all_parts (const struct ref_run *r, int v, int slot)
{
    PARTS (r, slot, part)
    {
        bool found = false;
        if (is_slot (r, part)) {
            found = has_all_parts (r, v, part);
        } else {
            REF_CHILDREN (r->ref, v, c)
            {
                found = found || ref_is (r->ref, c, r->q->r[part].type);
            }
        }
        if (!found)
            return false;
    }
    return true;
}

static bool below_has_all_parts (const struct ref_run *r, int v, int slot)
{
    for (int c = v + 1; c < r->ref->nv; c++)
        if (!r->ref->v[c].leaf && ref_inside (r->ref, c, v) && has_all_parts (r, c, slot))
            return true;
    return false;
}

static bool slot_here (const struct ref_run *r, int v, int slot)
{
    if (has_all_parts (r, v, slot))
        return true;
    if (ref_is_above (r->ref, v))
        return r->span && has_nodes (r, slot);
    return r->ref->v[v].node && (r->span || !below_has_all_parts (r, v, slot));
}

static void collect (struct ref_run *r, int v, int q, struct ref_list *l, bool excl);
static void look_below (struct ref_run *r, int v, int q, struct ref_list *l, bool excl);

/* Serves the parts one after the other, each with the minimum that it needs from the
 * rest. */
static void make_tangled (struct ref_run *r, int v, int slot, int64_t n,
                          struct ref_list *out)
{
    int held = r->held.nclaims;
    int64_t shares = r->shares;
    bool made = true, modest = r->modest;

    r->shares = 1;
    r->modest = true;
    for (; n > 0 && made; n--) {
        struct ref_cand c = { .v = v, .amount = 1, .score = 1, .tie = r->node };
        PARTS (r, slot, q)
        {
            struct ref_list l = { 0 };
            struct ref_cand part = { 0 };
            collect (r, v, q, &l, true);
            ref_list_sort (r, &l);
            if (!(made = ref_shares_of (r, &l, r->q->r[q].sizes[0]) > 0)) {
                ref_list_free (&l);
                break;
            }
            ref_cut (r, &l, r->q->r[q].sizes[0], &part);
            c.score += part.score;
            ref_join (&c, &part);
            ref_join (&r->held, &part);
            free (part.claims);
            ref_list_free (&l);
        }
        if (made)
            ref_list_add (out, c);
        else
            free (c.claims);
    }
    r->shares = shares;
    r->modest = modest;
    r->held.nclaims = held;
}

/* Makes as many slots as possible and useful, then each as large as possible. */
static void make_slots (struct ref_run *r, int v, int slot, struct ref_list *out)
{
    const struct ref_req *s = &r->q->r[slot];
    struct ref_list parts[REF_REQS] = { 0 };
    int64_t n = most (s) * r->shares, shares = r->shares, amount[REF_REQS] = { 0 };

    if (are_tangled (r, slot)) {
        make_tangled (r, v, slot, n, out);
        return;
    }
    r->shares = n;
    PARTS (r, slot, q)
    {
        collect (r, v, q, &parts[q], true);
        ref_list_sort (r, &parts[q]);
    }
    r->shares = shares;
    PARTS (r, slot, q)
    {
        int64_t can = ref_shares_of (r, &parts[q], r->q->r[q].sizes[0]);
        n = can < n ? can : n;
    }
    PARTS (r, slot, q)
    {
        for (int i = 0; i < r->q->r[q].nsizes; i++)
            if (ref_shares_of (r, &parts[q], r->q->r[q].sizes[i]) >= n
                && (i == 0 || !r->modest))
                amount[q] = r->q->r[q].sizes[i];
    }
    for (; n > 0; n--) {
        struct ref_cand c = { .v = v, .amount = 1, .score = 1, .tie = r->node };
        PARTS (r, slot, q)
        {
            ref_cut (r, &parts[q], amount[q], &c);
        }
        ref_list_add (out, c);
    }
    for (int q = 0; q < r->q->n; q++)
        ref_list_free (&parts[q]);
}

typedef void finder (struct ref_run *, int, int, struct ref_list *, bool);

/* For every request below `parent`, one after the other, adds the best candidates in v
 * to c. A candidate that is chosen for one request is not available for the next. */
static bool choose_each (struct ref_run *r, int v, int parent, finder *in, bool excl,
                         struct ref_cand *c)
{
    int held = r->held.nclaims;
    bool fits = true;

    PARTS (r, parent, q)
    {
        struct ref_list l = { 0 };
        struct ref_cand chosen = { 0 };
        in (r, v, q, &l, excl);
        int64_t amount = fit (&r->q->r[q], ref_total (&l));
        if (amount > 0 && r->modest)
            amount = r->q->r[q].sizes[0];
        ref_list_sort (r, &l);
        ref_cut (r, &l, amount, &chosen);
        ref_join (c, &chosen);
        ref_join (&r->held, &chosen);
        free (chosen.claims);
        ref_list_free (&l);
        if (!(fits = amount > 0))
            break;
    }
    r->held.nclaims = held;
    return fits;
}

/* Elastic counts that leave nothing for later requests are tried again with their
 * minimum. */
static bool choose (struct ref_run *r, int v, int parent, finder *in, bool excl,
                    struct ref_cand *c)
{
    bool modest = r->modest;

    if (choose_each (r, v, parent, in, excl, c))
        return true;
    c->nclaims = 0;
    r->modest = true;
    bool fits = choose_each (r, v, parent, in, excl, c);
    r->modest = modest;
    return fits;
}

static void take (struct ref_run *r, int v, int q, struct ref_list *out, bool excl)
{
    const struct ref_req *req = &r->q->r[q];
    const struct ref_vertex *x = &r->ref->v[v];
    struct ref_cand c = { .v = v, .amount = x->size, .tie = r->node };

    excl = excl || req->exclusive || req->taken;
    if (req->fast && !x->fast)
        return;
    if (x->leaf && first_part (r, q, -1) >= 0)
        return;
    if (x->leaf && x->divisible)
        c.amount = ref_free_amount (r, v);
    if (!x->leaf && excl && ref_claimed (r, v, true))
        return;
    if (first_part (r, q, -1) >= 0) {
        int64_t shares = r->shares;
        r->shares = 1;
        bool fits = choose (r, v, q, collect, excl, &c);
        r->shares = shares;
        if (!fits) {
            free (c.claims);
            return;
        }
    }
    if (excl || (x->node && r->ref->policy.node_exclusive)) { /* covers its content */
        c.nclaims = 0;
        ref_join_one (&c, v, c.amount);
    }
    c.score = x->id + 2 + (x->node ? 0 : r->node_score);
    ref_list_add (out, c);
}

static void gather (struct ref_run *r, int v, int q, struct ref_list *l, bool excl)
{
    const struct ref_vertex *x = &r->ref->v[v];
    int64_t node_score = r->node_score;
    int node = r->node;

    if (ref_closed (r, v))
        return;
    for (int c = r->node = 0; c < v && x->node; c++)
        r->node += r->ref->v[c].node;
    if (!x->node)
        r->node = node;
    if (x->node && r->ref->policy.node_centric)
        r->node_score = (x->id + 2) * NODE_WEIGHT;
    if (ref_is (r->ref, v, r->q->r[q].type))
        take (r, v, q, l, excl);
    else if (!x->leaf && !is_siblings (r, v, q))
        look_below (r, v, q, l, excl);
    r->node_score = node_score;
    r->node = node;
}

struct kid {
    int v;
    int64_t key, then;
};

/* Room for all candidates; the caller frees it. */
static struct kid *list_kids (const struct ref_run *r)
{
    return ref_grow (NULL, (size_t)r->ref->nv * sizeof (struct kid));
}

/* By key in descending order, then by the second key; of equals the first. */
static void insert_kid (struct kid *kids, int *n, int v, int64_t key, int64_t then)
{
    int j = (*n)++;

    for (; j > 0
           && (kids[j - 1].key < key
               || (kids[j - 1].key == key && kids[j - 1].then < then));
         j--)
        kids[j] = kids[j - 1];
    kids[j] = (struct kid){ v, key, then };
}

/* If v has requested parts as children, these are used, not deeper ones. */
static bool only_here (const struct ref_run *r, int v, int q)
{
    if (v != r->asked)
        return false;
    REF_CHILDREN (r->ref, v, c)
    {
        if (ref_is (r->ref, c, r->q->r[q].type))
            return true;
    }
    return false;
}

/* In a node. Units of one group are treated together. */
static void collect_in (struct ref_run *r, int v, int q, struct ref_list *l, bool excl)
{
    bool first = r->ref->policy.first, here = only_here (r, v, q);
    struct kid *kids = list_kids (r);
    int n = 0;

    REF_CHILDREN (r->ref, v, c)
    {
        bool leaf = r->ref->v[c].leaf;
        int64_t key = !first ? 0 : leaf ? -1 : ref_free_cores (r, c);
        if (!here || ref_is (r->ref, c, r->q->r[q].type))
            insert_kid (kids, &n, c, key, first ? c : 0); /* last first */
    }
    for (int i = 0; i < n; i++) {
        bool group = i > 0 && r->ref->v[kids[i].v].v == r->ref->v[kids[i - 1].v].v;
        if (first && !group && enough (r, q, l))
            break;
        gather (r, kids[i].v, q, l, excl);
    }
    free (kids);
}

/* Slots above nodes are made of the vertices beside the nodes. */
static bool is_of_loose (const struct ref_run *r, int q)
{
    bool loose = is_slot (r, q) && first_part (r, q, -1) >= 0;

    PARTS (r, q, part)
    {
        bool found = false;
        for (int v = 0; v < r->ref->nv && !is_slot (r, part); v++) {
            bool in_node = false;
            for (int up = v; up >= 0; up = r->ref->v[up].parent)
                in_node = in_node || r->ref->v[up].node;
            found = found || (ref_is (r->ref, v, r->q->r[part].type) && !in_node);
        }
        loose = loose && (is_slot (r, part) ? is_of_loose (r, part) : found);
    }
    return loose;
}

/* True if q, or a part of the slot q, is above nodes (a rack). */
static bool is_of_above (const struct ref_run *r, int q)
{
    for (int v = 1; v < r->ref->nv; v++)
        if (ref_is (r->ref, v, r->q->r[q].type) && ref_is_above (r->ref, v)
            && !r->ref->v[v].node)
            return true;
    PARTS (r, q, part)
    {
        if (is_slot (r, q) && is_of_above (r, part))
            return true;
    }
    return false;
}

/* By id, in the policy's direction. */
static int64_t by_id (const struct ref_run *r, int v)
{
    int64_t id = r->ref->v[v].id;

    return r->ref->policy.high ? id : -id;
}

/* Nodes below v, at any depth unless `own`, without nodes behind a closed vertex or a
 * sibling's. In the order of the graph, or, if only the first candidates are used, by
 * their use or by id. */
static int list_nodes (const struct ref_run *r, int v, int q, bool own, struct kid *kids)
{
    bool fresh = ref_by_freshness (r) && r->ref->policy.measured;
    int n = 0;

    for (int c = v + 1; c < r->ref->nv; c++) {
        bool open = true;
        if (!r->ref->v[c].node || !ref_inside (r->ref, c, v)
            || (own && r->ref->v[c].parent != v))
            continue;
        for (int up = r->ref->v[c].parent; up != v; up = r->ref->v[up].parent)
            open = open && !ref_closed (r, up) && !is_siblings (r, up, q);
        if (open)
            insert_kid (kids, &n, c, fresh ? ref_freshness (r, c) : 0,
                        r->ref->policy.node_centric ? by_id (r, c) : 0);
    }
    return n;
}

/* Vertices below v that are neither nodes nor above nodes; own: only children of v. */
static void collect_loose (struct ref_run *r, int v, int q, bool own, struct ref_list *l,
                           bool excl)
{
    bool here = only_here (r, v, q);

    REF_CHILDREN (r->ref, v, c)
    {
        if (!r->ref->v[c].node && !ref_is_above (r->ref, c)
            && (!here || ref_is (r->ref, c, r->q->r[q].type)))
            gather (r, c, q, l, excl);
    }
    REF_CHILDREN (r->ref, v, c)
    {
        if (!own && !r->ref->v[c].node && ref_is_above (r->ref, c) && !ref_closed (r, c)
            && !is_siblings (r, c, q))
            collect_loose (r, c, q, own, l, excl);
    }
}

/* Above nodes: the vertices beside them, then rack by rack, or all nodes. */
static void collect_above (struct ref_run *r, int v, int q, struct ref_list *l, bool excl)
{
    bool first = r->ref->policy.first;
    bool racks = ref_by_freshness (r) || is_of_above (r, q) || is_of_loose (r, q)
                 || (is_slot (r, q) && has_nodes (r, q));
    struct kid *kids = list_kids (r);
    int n = 0;

    bool here = only_here (r, v, q);
    const char *type = r->q->r[q].type;

    collect_loose (r, v, q, racks || here, l, excl);
    REF_CHILDREN (r->ref, v, c)
    {
        if (racks && !r->ref->v[c].node && ref_is_above (r->ref, c)
            && (!here || ref_is (r->ref, c, type)))
            insert_kid (kids, &n, c,
                        ref_by_freshness (r) ? ref_freshness (r, c) : by_id (r, c),
                        first ? c : 0);
    }
    for (int i = 0; i < n && !(first && enough (r, q, l)); i++)
        gather (r, kids[i].v, q, l, excl);
    n = here && strcmp (type, "node") != 0 ? 0
                                           : list_nodes (r, v, q, racks || here, kids);
    bool stop = first || (r->ref->policy.node_centric && l->n == 0);
    for (int i = 0; i < n && !(stop && enough (r, q, l)); i++)
        gather (r, kids[i].v, q, l, excl);
    free (kids);
}

static void look_below (struct ref_run *r, int v, int q, struct ref_list *l, bool excl)
{
    if (is_slot (r, q) && slot_here (r, v, q))
        make_slots (r, v, q, l);
    else if (ref_is_above (r->ref, v))
        collect_above (r, v, q, l, excl);
    else
        collect_in (r, v, q, l, excl);
}

/* q is requested in v. */
static void collect (struct ref_run *r, int v, int q, struct ref_list *l, bool excl)
{
    int asked = r->asked;

    r->asked = v;
    look_below (r, v, q, l, excl);
    r->asked = asked;
}

/* -- top level -- */

static int by_vertex (const void *a, const void *b)
{
    const struct ref_claim *x = a, *y = b;

    return x->v < y->v ? -1 : x->v > y->v;
}

/* Unites the claims of one vertex. */
static int unite (struct ref_claim *c, int n)
{
    int out = 0;

    qsort (c, (size_t)n, sizeof (*c), by_vertex);
    for (int i = 0; i < n; i++)
        if (out > 0 && c[out - 1].v == c[i].v)
            c[out - 1].amount += c[i].amount;
        else
            c[out++] = c[i];
    return out;
}

/* The memory in the claims inside node v; -1: no claim is inside, or a claim covers
 * all. */
static int64_t memory_of (const struct ref *ref, const struct ref_cand *c, int v)
{
    int64_t sum = 0;
    bool inner = false;

    for (int i = 0; i < c->nclaims; i++) {
        int at = c->claims[i].v;
        if (ref_inside (ref, v, at))
            return -1;
        inner = inner || ref_inside (ref, at, v);
        for (int m = 0; m < ref->nv && ref_inside (ref, at, v); m++)
            if (ref_is (ref, m, "memory") && ref_inside (ref, m, at))
                sum += m == at ? c->claims[i].amount : ref->v[m].size;
    }
    return inner ? sum : -1;
}

static int64_t own_claim (const struct ref_cand *c, int v)
{
    int64_t sum = 0;

    for (int i = 0; i < c->nclaims; i++)
        if (c->claims[i].v == v)
            sum += c->claims[i].amount;
    return sum;
}

static void add_memory (const struct ref_run *r, struct ref_cand *c, int v, int64_t *need)
{
    REF_CHILDREN (r->ref, v, m)
    {
        int64_t more, had = own_claim (c, m);
        if (!r->ref->v[m].leaf && !ref_closed (r, m) && had == 0)
            add_memory (r, c, m, need);
        if (!r->ref->v[m].divisible || !ref_is (r->ref, m, "memory") || !r->ref->v[m].up)
            continue;
        more = ref_free_amount (r, m) - had;
        more = more < *need ? more : *need;
        if (more > 0)
            ref_join_one (c, m, more);
        *need -= more > 0 ? more : 0;
    }
}

/* Nodes are booked as a whole: a claim in a node becomes a claim of the node. */
static void claim_nodes (const struct ref *ref, struct ref_cand *c)
{
    for (int i = 0; i < c->nclaims; i++)
        for (int up = c->claims[i].v; up >= 0; up = ref->v[up].parent)
            if (ref->v[up].node)
                c->claims[i] = (struct ref_claim){ up, ref->v[up].size };
    for (int i = 0; i < c->nclaims; i++)
        for (int j = i + 1; j < c->nclaims; j++)
            if (c->claims[i].v == c->claims[j].v && ref->v[c->claims[i].v].node)
                c->claims[j--] = c->claims[--c->nclaims];
}

static int match_once (struct ref_run *r, struct ref_claim **ret)
{
    struct ref_cand c = { 0 };
    bool fits;

    r->node_score = 0;
    r->node = 0;
    r->asked = -1;
    r->shares = 1;
    fits = choose (r, 0, -1, gather, false, &c);
    if (!fits) {
        free (c.claims);
        return -1;
    }
    if (r->ref->policy.node_exclusive)
        claim_nodes (r->ref, &c);
    for (int v = 0; v < r->ref->nv && r->q->node_memory > 0; v++) {
        int64_t had = r->ref->v[v].node ? memory_of (r->ref, &c, v) : -1;
        int64_t need = r->q->node_memory - had;
        if (had >= 0 && need > 0)
            add_memory (r, &c, v, &need);
    }
    *ret = c.claims;
    return c.nclaims > 0 ? unite (c.claims, c.nclaims) : 0;
}

int ref_match (struct ref *ref, const struct ref_request *req, const struct ref_window *w,
               struct ref_claim **ret)
{
    struct ref_run r = { .ref = ref, .q = req, .w = w };
    int n;

    *ret = NULL;
    n = match_once (&r, ret);
    if (n < 0) {
        r.span = true;
        n = match_once (&r, ret);
    }
    free (r.held.claims);
    return n;
}

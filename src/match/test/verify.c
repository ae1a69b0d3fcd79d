/* verify.c - a slow recount of everything that the planner keeps, from the claims alone
 *
 * In dimension 0 (whole nodes) the profile may show fewer free nodes than there are;
 * everything else must be equal.
 */
#include "match/test/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "match/index/profile.h"
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/sums.h"

struct check {
    const struct planner *p;
    struct error *err;
    uint32_t claims; /* seen at vertices */
};

static int differs (const struct check *k, uint32_t v, const char *what, int64_t is,
                    int64_t should)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, GRAPH_DEPTH_MAX * 512);
    if (v != GRAPH_NONE)
        graph_path (k->p->g, v, 0, &sb);
    return error_set (k->err, EUCLEAN, "%s: %s is %" PRId64 ", counted %" PRId64, sb.buf,
                      what, is, should);
}

#define EXPECT(k, v, what, is, should)                                                   \
    do {                                                                                 \
        if ((int64_t)(is) != (int64_t)(should))                                          \
            return differs (k, v, what, (int64_t)(is), (int64_t)(should));               \
    } while (0)

/* -- claims of a vertex -- */

static bool overlap (const struct check *k, const struct claim *a, const struct claim *b)
{
    const struct booking *x = claims_booking (k->p, a), *y = claims_booking (k->p, b);

    if (x->over || y->over)
        return false;
    return a->unit < b->unit + b->count && b->unit < a->unit + a->count
           && x->start < y->end && y->start < x->end;
}

static int check_list (struct check *k, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (k->p->g, v);
    uint32_t n = 0, reserved = 0, prev = GRAPH_NONE;

    CLAIMS (k->p, v, i)
    {
        const struct claim *c = &k->p->claims[i];
        EXPECT (k, v, "the claim before", c->prev, prev);
        EXPECT (k, v, "a claim's vertex", c->v, v);
        EXPECT (k, v, "a claim's kind", c->reserved, claims_booking (k->p, c)->reserved);
        EXPECT (k, v, "a claim of units", c->count > 0 && c->unit + c->count <= x->n, 1);
        for (uint32_t j = c->next; j != GRAPH_NONE && !(x->flags & GRAPH_DIVISIBLE);
             j = k->p->claims[j].next)
            EXPECT (k, v, "booked twice", overlap (k, c, &k->p->claims[j]), 0);
        n++;
        reserved += c->reserved;
        prev = i;
    }
    EXPECT (k, v, "nclaims", x->nclaims, n);
    EXPECT (k, v, "nreserved", x->nreserved, reserved);
    k->claims += n;
    return 0;
}

/* -- busy units -- */

static bool is_busy (const struct check *k, uint32_t v, uint32_t unit)
{
    CLAIMS (k->p, v, i)
    {
        const struct claim *c = &k->p->claims[i];
        if (!c->reserved && unit >= c->unit && unit < c->unit + c->count)
            return true;
    }
    return false;
}

static int check_busy (const struct check *k, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (k->p->g, v);
    const uint64_t *words = x->n <= 64 ? &x->busy.bits : x->busy.map;
    int64_t used = 0;

    CLAIMS (k->p, v, i)
    {
        const struct claim *c = &k->p->claims[i];
        if (!c->reserved && (x->flags & GRAPH_DIVISIBLE))
            used += c->amount;
    }
    EXPECT (k, v, "used", x->used, used);
    for (uint32_t unit = 0; unit < (x->n + 63) / 64 * 64; unit++) {
        bool busy = !(x->flags & GRAPH_DIVISIBLE) && is_busy (k, v, unit);
        EXPECT (k, v, "a busy bit", words[unit / 64] >> unit % 64 & 1, busy);
    }
    return 0;
}

static int check_vertex (struct check *k, uint32_t v, bool covered)
{
    int rc = check_list (k, v);

    if (rc == 0)
        rc = check_busy (k, v);
    if (covered
        && graph_vertex (k->p->g, v)->nclaims > graph_vertex (k->p->g, v)->nreserved)
        return differs (k, v, "allocated below what is taken", 1, 0);
    covered = covered || sums_is_taken (k->p, v);
    GRAPH_CHILDREN (k->p->g, v, child)
    {
        if (rc == 0)
            rc = check_vertex (k, child, covered);
    }
    return rc;
}

/* -- bookings -- */

static int check_bookings (const struct check *k)
{
    const struct planner *p = k->p;
    uint32_t n = 0, claims = 0;
    struct ordered_link *l;

    for (struct booking *b = p->by_job; b; b = b->hh.next) {
        uint32_t of_job = 0, last = GRAPH_NONE;
        CLAIMS_OF_JOB (p, b, c)
        {
            EXPECT (k, p->claims[c].v, "a claim's booking", p->claims[c].booking,
                    b->number);
            of_job++;
            last = c;
        }
        EXPECT (k, GRAPH_NONE, "a job's last claim", b->last, last);
        EXPECT (k, GRAPH_NONE, "a job's claims", b->nclaims, of_job);
        EXPECT (k, GRAPH_NONE, "a job's id", b->by_id.key, b->job);
        EXPECT (k, GRAPH_NONE, "a job's end", b->by_end.key, planner_order (b->end));
        claims += of_job;
        n++;
    }
    EXPECT (k, GRAPH_NONE, "jobs by id", p->ids.n, n);
    EXPECT (k, GRAPH_NONE, "jobs by end", p->ends.n, n);
    EXPECT (k, GRAPH_NONE, "claims", p->claims_live, claims);
    EXPECT (k, GRAPH_NONE, "claims of vertices", k->claims, claims);
    for (l = ordered_first (&p->ids); l; l = ordered_above (&p->ids, l->key))
        n--;
    EXPECT (k, GRAPH_NONE, "ids in order", n, 0);
    return 0;
}

/* -- keys -- */

struct counted {
    int64_t free[INDEX_DIMS], ever[INDEX_DIMS], soonest;
    uint32_t claims, allocated;
};

/* Recounts unit by unit. open: nothing above v is down; free: nor taken. */
static void count (const struct planner *p, uint32_t v, bool open, bool free,
                   struct counted *ret)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    int dim = p->dim_of[x->type];

    CLAIMS (p, v, i)
    {
        const struct claim *c = &p->claims[i];
        ret->claims++;
        ret->allocated += !c->reserved;
        if (!c->reserved)
            ret->soonest = MIN (ret->soonest, claims_booking (p, c)->end);
    }
    for (uint32_t unit = 0; unit < x->n && dim > 0; unit++) {
        bool up = open && graph_is_up (p->g, v, unit);
        bool busy = x->n <= 64 ? x->busy.bits >> unit & 1
                               : x->busy.map[unit / 64] >> unit % 64 & 1;
        if (graph_ever_word (p->g, v, unit / 64) >> unit % 64 & 1)
            ret->ever[dim] += x->size;
        if (up && free && !busy)
            ret->free[dim] += MAX (x->size - graph_withheld (p->g, v) - x->used,
                                   0); /* the vertex may have shrunk */
    }
    if (x->first == GRAPH_NONE)
        return;
    int64_t ever[INDEX_DIMS];
    memcpy (ever, ret->ever, sizeof (ever));
    open = open && graph_is_up (p->g, v, 0);
    free = free && !sums_is_taken (p, v);
    GRAPH_CHILDREN (p->g, v, child)
    {
        count (p, child, open, free, ret);
    }
    if (graph_is_leaving (p->g, v))
        memcpy (ret->ever, ever, sizeof (ever)); /* with its whole content */
}

static int check_key (const struct check *k, const struct upper *a, size_t place)
{
    const struct planner *p = k->p;
    struct counted want = { .soonest = INT64_MAX };
    struct index_key key;
    uint32_t v = a->nodes[place];
    const struct level_node *node = levels_node (p, v);
    bool free = true, up = graph_is_up (p->g, v, 0);

    for (uint32_t u = graph_vertex (p->g, v)->parent; u != GRAPH_NONE;
         u = graph_vertex (p->g, u)->parent) {
        up = up && graph_is_up (p->g, u, 0);
        free = free && !sums_is_taken (p, u);
        CLAIMS (p, u, c)
        {
            if (p->claims[c].exclusive && !p->claims[c].reserved)
                want.soonest = MIN (want.soonest, claims_booking (p, &p->claims[c])->end);
        }
    }
    count (p, v, true, free, &want);
    want.free[0] = free && want.allocated == 0;
    want.ever[0] = 1;
    for (unsigned i = 0; i < p->nproperties; i++) {
        if (!graph_property (p->g, v, 0, p->properties[i].name))
            continue;
        want.free[p->ntypes + i] = want.free[CORES];
        want.ever[p->ntypes + i] = want.ever[CORES];
    }
    index_get (a->index, place, &key);
    for (unsigned d = 0; d < p->ndims; d++) {
        EXPECT (k, v, "free", key.free[d], up ? want.free[d] : -1);
        EXPECT (k, v, "ever", key.ever[d],
                graph_is_leaving (p->g, v) ? -1 : want.ever[d]);
    }
    EXPECT (k, v, "soonest", key.soonest, want.soonest);
    EXPECT (k, v, "claims in the node", node->nclaims, want.claims);
    EXPECT (k, v, "reserved in the node", node->nreserved, want.claims - want.allocated);
    EXPECT (k, v, "its place",
            p->place[graph_vertex (p->g, v)->place * p->levels
                     + graph_vertex (p->g, a->v)->depth],
            place);
    return 0;
}

/* Compares the sums of the index with those of its places. */
static int check_most (const struct check *k, const struct upper *a)
{
    struct index_key most = { 0 }, sum = { 0 }, key;

    for (size_t i = 0; i < a->places; i++) {
        index_get (a->index, i, &key);
        for (unsigned d = 0; d < k->p->ndims; d++) {
            most.free[d] = MAX (most.free[d], key.free[d]);
            most.ever[d] = MAX (most.ever[d], key.ever[d]);
            sum.free[d] += MAX (key.free[d], 0);
            sum.ever[d] += MAX (key.ever[d], 0);
        }
    }
    for (unsigned d = 0; d < k->p->ndims; d++) {
        EXPECT (k, a->v, "most free", index_most_free (a->index, d), most.free[d]);
        EXPECT (k, a->v, "most ever", index_most_ever (a->index, d), most.ever[d]);
        EXPECT (k, a->v, "sum free", index_sum_free (a->index, d), sum.free[d]);
        EXPECT (k, a->v, "sum ever", index_sum_ever (a->index, d), sum.ever[d]);
    }
    return 0;
}

/* The nodes of the index are in the order of the policy, and all that are below it. */
static int check_places (const struct check *k, const struct upper *a)
{
    const struct planner *p = k->p;
    const struct level_node *last = NULL;
    size_t n = 0;

    EXPECT (k, a->v, "room for its places", a->places <= a->room, 1);
    for (size_t i = 0; i < a->places; i++) {
        struct index_key key;
        if (a->nodes[i] == NOWHERE) {
            index_get (a->index, i, &key);
            EXPECT (k, a->v, "a vacant place", key.ever[0], -1);
            continue;
        }
        const struct level_node *node = levels_node (p, a->nodes[i]);
        EXPECT (k, a->v, "a node in its index",
                node && graph_is_below (p->g, node->v, a->v), 1);
        if (last && last->score != node->score)
            EXPECT (k, node->v, "scores in order", last->score < node->score,
                    !p->policy.high);
        else if (last)
            EXPECT (k, node->v, "equals in the graph's order",
                    p->order[last - p->nodes] < p->order[node - p->nodes], 1);
        last = node;
        n++;
    }
    EXPECT (k, a->v, "its nodes", a->nnodes, n);
    EXPECT (k, a->v, "the last place",
            a->places == 0 || a->nodes[a->places - 1] != NOWHERE, 1);
    return 0;
}

/* What ascends along the graph does so, from 0 on. */
static int check_order (const struct check *k, uint32_t v, int64_t *last)
{
    const struct planner *p = k->p;
    int rc = 0;

    if (graph_vertex (p->g, v)->type == GRAPH_NODE) {
        int64_t order = p->order[graph_vertex (p->g, v)->place];
        EXPECT (k, v, "its place in the graph", *last < 0 ? order == 0 : order > *last,
                1);
        *last = order;
        return 0;
    }
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (rc == 0)
            rc = check_order (k, child, last);
    }
    return rc;
}

static int check_levels (const struct check *k)
{
    const struct planner *p = k->p;
    int64_t loose[INDEX_DIMS] = { 0 }, last = -1;
    int rc;

    if ((rc = check_order (k, p->g->root, &last)) < 0)
        return rc;
    for (size_t i = 0; i < p->nupper && rc == 0; i++) {
        rc = check_places (k, &p->upper[i]);
        for (size_t n = 0; n < p->upper[i].places && rc == 0; n++)
            if (p->upper[i].nodes[n] != NOWHERE)
                rc = check_key (k, &p->upper[i], n);
        if (rc == 0)
            rc = check_most (k, &p->upper[i]);
    }
    if (rc < 0)
        return rc;
    sums_add_loose (p, p->g->root, SUMS_FREE, loose);
    for (unsigned d = 0; d < p->ndims; d++)
        EXPECT (k, p->g->root, "loose and free", p->loose_free[d], loose[d]);
    for (unsigned d = 0; d < p->ntypes; d++)
        EXPECT (k, p->g->root, "planner_free", planner_free (p, p->dims[d]),
                d == 0 ? index_sum_free (p->upper[0].index, 0)
                       : sums_of_type (p, p->g->root, p->dims[d], SUMS_FREE));
    return 0;
}

/* -- the profile -- */

static int64_t whole_at (const struct planner *p, int64_t t)
{
    struct window w = { .at = t, .end = t + 1 };
    int64_t n = 0;

    for (size_t i = 0; i < p->nnodes; i++) {
        if (p->nodes[i].v == GRAPH_NONE)
            continue;
        bool whole = sums_is_up (p, p->nodes[i].v)
                     && claims_below (p, p->nodes[i].v, &w, GRAPH_NONE) == GRAPH_NONE;
        for (uint32_t u = p->nodes[i].parent; u != GRAPH_NONE;
             u = graph_vertex (p->g, u)->parent)
            whole = whole && !claims_taken (p, u, &w);
        n += whole;
    }
    return n;
}

static void add_node (const struct planner *p, uint32_t v, int64_t *sums)
{
    int64_t cores = sums[CORES];

    sums_add (p, v, SUMS_UP, sums);
    for (unsigned i = 0; i < p->nproperties; i++)
        if (graph_property (p->g, v, 0, p->properties[i].name))
            sums[p->ntypes + i] += sums[CORES] - cores;
}

static int check_time (const struct check *k, int64_t t)
{
    const struct planner *p = k->p;
    int64_t sums[INDEX_DIMS] = { 0 }, is[INDEX_DIMS] = { 0 };

    for (size_t i = 0; i < p->nnodes; i++)
        if (p->nodes[i].v != GRAPH_NONE && sums_is_up (p, p->nodes[i].v))
            add_node (p, p->nodes[i].v, sums);
    sums_add_loose (p, p->g->root, SUMS_UP, sums);
    for (struct booking *b = p->by_job; b; b = b->hh.next) {
        int64_t takes[INDEX_DIMS] = { 0 };
        if (b->start > t || b->end <= t)
            continue;
        if (b->over) /* with the values of that time */
            memcpy (takes, b->sums, sizeof (takes));
        else
            sums_of_booking ((struct planner *)p, b, takes);
        for (unsigned d = 0; d < p->ndims; d++)
            sums[d] -= takes[d];
    }
    profile_at (p->profile, t, is);
    for (unsigned d = 1; d < p->ndims; d++)
        EXPECT (k, GRAPH_NONE, "the profile", is[d], sums[d]);
    int64_t whole = whole_at (p, t);
    return is[0] < whole ? differs (k, GRAPH_NONE, "the profile's nodes", is[0], whole)
                         : 0;
}

static int check_profile (const struct check *k)
{
    int rc = check_time (k, 0);

    for (struct booking *b = k->p->by_job; b && rc == 0; b = b->hh.next) {
        rc = check_time (k, b->start);
        if (rc == 0 && b->end != PLANNER_FOREVER)
            rc = check_time (k, b->end);
    }
    if (rc == 0 && !k->p->by_job)
        EXPECT (k, GRAPH_NONE, "points without bookings",
                profile_points (k->p->profile) <= 1, 1);
    return rc;
}

int planner_verify (const struct planner *p, struct error *err)
{
    struct check k = { .p = p, .err = err };
    int rc = p->g->root == GRAPH_NONE ? 0 : check_vertex (&k, p->g->root, false);

    if (rc == 0)
        rc = check_bookings (&k);
    if (rc < 0 || p->stale || p->told != p->g->layout || p->nchanged > 0
        || p->nupper == 0)
        return rc;
    rc = check_levels (&k);
    return rc == 0 ? check_profile (&k) : rc;
}

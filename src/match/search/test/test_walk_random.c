/* Random machines, requests and streams of operations: the planner compared with a slow,
 * obvious matcher (reference.h). Fails if a verdict, start or choice differs from the
 * rules of doc/matcher.md, for the policies that go by ids, if another policy gives another
 * verdict, if a unit is allocated twice, if a summary differs from a recount, or if a
 * cancel leaves something behind.
 *
 * The test tries FLUXQ_TEST_GRAPHS graphs (5,000 by default). Graph number i has the seed
 * FLUXQ_TEST_SEED + i, which a failure prints. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match/index/profile.h"
#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/request/constraint.h"
#include "match/search/search.h"
#include "match/search/test/random_world.h"
#include "match/test/chance.h"
#include "match/test/inspect.h"
#include "match/test/verify.h"

#define STEPS 12
#define GRAPHS 5000
#define CLAIMS_MAX 1024 /* claims of one job */

/* -- the state, compared -- */

static void tell_claims (const struct world *w, const char *who,
                         const struct ref_claim *c, int n)
{
    tell ("  %s:", who);
    for (int i = 0; i < n; i++) {
        const struct ref_vertex *x = &w->ref->v[c[i].v];
        tell (" %s%" PRId64 "(%d)", x->type, x->id, c[i].v);
        if (c[i].amount != x->size)
            tell ("*%" PRId64, c[i].amount);
    }
    tell ("%s\n", n < 0 ? " no" : "");
}

static int by_vertex (const void *a, const void *b)
{
    const struct ref_claim *x = a, *y = b;

    return x->v < y->v ? -1 : x->v > y->v;
}

/* Claimed units of a selection, ascending. */
static int claims_of (const struct world *w, const struct selection *s,
                      struct ref_claim *ret)
{
    int n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        for (uint32_t u = 0; u < p->count && p->claimed; u++) {
            int v = ref_find (w->ref, p->v, p->unit + u);
            if (v < 0 || n == CLAIMS_MAX)
                wrong ("a pick of vertex %" PRIu32 " unit %" PRIu32 " has no place", p->v,
                       p->unit + u);
            ret[n++] = (struct ref_claim){ v, p->amount };
        }
    }
    qsort (ret, (size_t)n, sizeof (*ret), by_vertex);
    return n;
}

static bool same (const struct ref_claim *a, int na, const struct ref_claim *b, int nb)
{
    if (na != nb)
        return false;
    for (int i = 0; i < na; i++)
        if (a[i].v != b[i].v || a[i].amount != b[i].amount)
            return false;
    return true;
}

/* Policy first keeps track of vertices in answers. */
static void note_named (struct world *w, struct ref_booking *b, const struct selection *s)
{
    free (b->named);
    b->named = NULL;
    b->nnamed = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        uint16_t type = graph_vertex (w->g, p->v)->type;
        uint32_t node = graph_node_of (w->g, p->v);
        if (p->exclusive && node != GRAPH_NONE
            && (type == GRAPH_CORE || type == GRAPH_NODE))
            ref_name (b, node, type == GRAPH_CORE ? p->count : 0, type == GRAPH_NODE);
    }
}

/* Policy first keeps track of vertices with parts in an answer. */
static void note_seen (struct world *w, const struct selection *s)
{
    for (size_t i = 1; i < s->n; i++) {
        int v = ref_find (w->ref, s->picks[i].v, s->picks[i].unit);
        if (!w->ref->v[v].leaf)
            w->ref->v[v].seen = true;
    }
}

/* The use of v at time t by bookings that exist, or may still exist, together with
 * booking b. */
static int64_t used_at (const struct ref *ref, const struct ref_booking *b, int v,
                        int64_t t)
{
    int64_t sum = 0, amount;

    for (int j = 0; j < REF_JOBS; j++) {
        const struct ref_booking *a = &ref->jobs[j];
        bool then = (a->start <= t && t < a->end) || (!a->reserved && !b->reserved);
        if (a->job != 0 && then && ref_has (ref, a, v, &amount))
            sum += amount;
    }
    return sum;
}

/* No other job has the booked units at the same time, nor more of a divisible
 * vertex than its size. */
static void check_booking (const struct world *w, uint64_t job)
{
    const struct ref *ref = w->ref;
    const struct ref_booking *b = ref_booking (w->ref, job);
    int64_t amount;

    for (int v = 0; v < ref->nv; v++) {
        if (!ref_has (ref, b, v, &amount))
            continue;
        for (int j = 0; j < REF_JOBS; j++) {
            int64_t t = MAX (ref->jobs[j].start, b->start);
            if (ref->jobs[j].job != 0 && t < b->end
                && used_at (ref, b, v, t) > ref->v[v].size)
                wrong ("(%d) is booked for %" PRId64 " at %" PRId64, v,
                       used_at (ref, b, v, t), t);
        }
    }
}

static void verify (const struct world *w)
{
    struct error err = { 0 };

    if (planner_verify (w->p, &err) < 0)
        wrong ("planner_verify: %s", err.text);
}

/* The first request with a property rebuilds everything: this is done here in advance. */
static void ask_for_property (struct world *w)
{
    json_t *fast = json_pack ("{s:[s]}", "properties", REF_PROPERTY);
    struct error err;
    struct constraint *c = constraint_compile (fast, &err);

    if (!c || properties_ask (w->p, c) < 0 || levels_update (w->p) < 0)
        wrong ("no memory");
    constraint_destroy (c);
    json_decref (fast);
}

/* The planner's data, as text. */
static char *state_of (struct world *w)
{
    struct planner *p = w->p;
    struct strbuf sb;

    ask_for_property (w);
    strbuf_init (&sb, 1 << 20);
    for (size_t i = 0; i < p->nupper; i++) {
        for (size_t n = 0, place = 0; place < p->upper[i].places; place++) {
            struct index_key key;
            if (p->upper[i].nodes[place] == NOWHERE)
                continue;
            index_get (p->upper[i].index, place, &key);
            strbuf_addf (&sb, "%zu.%zu: soonest %" PRId64, i, n++, key.soonest);
            if (!p->policy.first) /* which keeps track of its answers */
                strbuf_addf (&sb, " measure %" PRId64, key.measure);
            for (unsigned d = 0; d < p->ntypes; d++)
                strbuf_addf (&sb, " %" PRId64 "/%" PRId64, key.free[d], key.ever[d]);
        }
        for (unsigned d = 0; d < p->ntypes; d++)
            strbuf_addf (&sb, " %" PRId64 "+%" PRId64 " ",
                         index_most_free (p->upper[i].index, d),
                         index_sum_free (p->upper[i].index, d));
        strbuf_addch (&sb, '\n');
    }
    for (uint32_t v = 0; v < w->g->nv; v++) {
        const struct graph_vertex *x = graph_vertex (w->g, v);
        if (x->n > 0)
            strbuf_addf (&sb,
                         "%" PRIu32 ": %" PRIx64 " %" PRId64 " %" PRIu32 " %" PRIu32
                         " %" PRIu32 "\n",
                         v, x->busy.bits, x->used, x->n, x->nclaims, x->nreserved);
    }
    for (int64_t t = 0; t < INT64_MAX && !p->stale;
         t = profile_next_point (p->profile, t)) {
        int64_t sums[INDEX_DIMS] = { 0 };
        profile_at (p->profile, t, sums);
        strbuf_addf (&sb, "at %" PRId64, t);
        for (unsigned d = 0; d < p->ntypes; d++)
            strbuf_addf (&sb, " %" PRId64, sums[d]);
        strbuf_addf (&sb, " loose %" PRId64 "\n", p->loose_free[1]);
    }
    planner_dump (p, &sb);
    char *text = strbuf_detach (&sb);
    if (!text)
        wrong ("no memory");
    return text;
}

static void expect_state (struct world *w, char *was, const char *what)
{
    char *is = state_of (w);

    if (strcmp (was, is) != 0) {
        tell ("before:\n%s\nafter:\n%s\n", was, is);
        wrong ("%s leaves something behind", what);
    }
    free (was);
    free (is);
}

/* -- steps -- */

static const char *const op_names[] = {
    [SEARCH_ALLOCATE] = "allocate",
    [SEARCH_ALLOCATE_WITH_SATISFIABILITY] = "allocate_with_satisfiability",
    [SEARCH_ALLOCATE_ORELSE_RESERVE] = "allocate_orelse_reserve",
    [SEARCH_SATISFIABILITY] = "satisfiability",
    [SEARCH_WITHOUT_ALLOCATING] = "without_allocating",
    [SEARCH_WITHOUT_ALLOCATING_FUTURE] = "without_allocating_future",
};

struct wanted { /* the verdict of the reference */
    int rc;
    int64_t start;
    struct ref_claim *claims;
    int n;
    bool or_never; /* fits at a time, but not on an empty machine: both are right */
};

/* True if the request fits with nothing booked and all nodes up. */
static bool ref_possible (const struct world *w, const struct ref_request *q)
{
    struct ref *empty = malloc (sizeof (*empty));
    struct ref_window window = { .at = 0, .end = 1, .ever = true };
    struct ref_claim *claims;

    *empty = *w->ref;
    memset (empty->jobs, 0, sizeof (empty->jobs));
    bool possible = ref_match (empty, q, &window, &claims) >= 0;
    free (claims);
    free (empty);
    return possible;
}

static struct wanted want (struct world *w, enum search_op op,
                           const struct ref_request *q, int64_t duration)
{
    struct ref_window window = { .at = w->now, .end = w->now + duration, .now = true };
    struct wanted k = { .start = w->now };
    bool later =
        op == SEARCH_ALLOCATE_ORELSE_RESERVE || op == SEARCH_WITHOUT_ALLOCATING_FUTURE;

    if (op == SEARCH_SATISFIABILITY) {
        k.rc = ref_possible (w, q) ? 0 : -ENODEV;
        return k;
    }
    k.n = later ? ref_earliest (w->ref, q, w->now, duration, &k.claims, &k.start)
                : ref_match (w->ref, q, &window, &k.claims);
    k.or_never = later && k.n >= 0 && k.start > w->now && !ref_possible (w, q);
    if (k.n >= 0)
        return k;
    k.rc = -EBUSY;
    if ((later || op == SEARCH_ALLOCATE_WITH_SATISFIABILITY) && !ref_possible (w, q))
        k.rc = -ENODEV;
    return k;
}

/* As in selection.h: parents before children, ways from the root; a claimed vertex
 * covers the vertices below it. */
static void check_picks (const struct world *w, const struct selection *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        if (p->parent == GRAPH_NONE && p->v == w->g->root && i == 0)
            continue;
        const struct pick *up = p->parent < i ? &s->picks[p->parent] : NULL;
        if (!up || up->v != graph_vertex (w->g, p->v)->parent)
            wrong ("pick %zu is not below its parent", i);
        if ((up->claimed || (up->exclusive && !up->claimed))
            && (p->claimed || !p->exclusive))
            wrong ("pick %zu (%s%d, exclusive %d claimed %d) is below one that covers it",
                   i, graph_type_name (w->g, graph_vertex (w->g, p->v)->type),
                   graph_vertex (w->g, p->v)->id, p->exclusive, p->claimed);
        if (!up->exclusive && p->exclusive != p->claimed)
            wrong ("pick %zu is exclusive, but not claimed", i);
    }
}

static void compare (struct world *w, const struct wanted *k, int rc,
                     const struct selection *s)
{
    struct ref_claim is[CLAIMS_MAX];
    int n = s ? claims_of (w, s, is) : -1;

    if (s) {
        note_seen (w, s);
        check_picks (w, s);
    }
    tell (" -> %d at %" PRId64 "\n", rc, s ? s->start : -1);
    if (s)
        tell_claims (w, "walk", is, n);
    if ((rc == k->rc && (!s || (s->start == k->start && same (is, n, k->claims, k->n))))
        || (rc == -ENODEV && k->or_never))
        return;
    tell ("  reference: %d at %" PRId64 "\n", k->rc, k->start);
    tell_claims (w, "reference", k->claims, k->rc < 0 ? -1 : k->n);
    if (rc != k->rc)
        wrong ("verdict %d instead of %d", rc, k->rc);
    if (s->start != k->start)
        wrong ("starts at %" PRId64 " instead of %" PRId64, s->start, k->start);
    wrong ("another choice");
}

/* A slot beside something else: whether it fits may depend on the slot's vertices. */
static bool is_tangled (const struct ref_request *q)
{
    for (int a = 0; a < q->n; a++)
        for (int b = 0; b < q->n; b++)
            if (a != b && q->r[a].parent == q->r[b].parent
                && strcmp (q->r[a].type, "slot") == 0)
                return true;
    return false;
}

/* If all units are alike, every policy gives the same verdict. */
static void try_policies (struct world *w, const struct asked *a, int64_t duration)
{
    struct ref_window window = { .at = w->now, .end = w->now + duration, .now = true };
    struct match_policy policy = w->p->policy;
    struct ref_claim *claims;
    struct error why;

    int n = ref_match (w->ref, &a->q, &window, &claims);
    free (claims);
    for (const struct match_policy *const *m = match_policies; *m; m++) {
        if ((*m)->node_exclusive || (*m)->first)
            continue;
        w->p->policy = **m;
        w->p->stale = true;
        int rc = search_match (w->p, SEARCH_WITHOUT_ALLOCATING, 0, a->shape, w->now,
                               duration, NULL, &why);
        if (rc != (n >= 0 ? 0 : -EBUSY))
            wrong ("policy %s: verdict %d", (*m)->name, rc);
        if (one_in (8))
            verify (w);
    }
    w->p->policy = policy;
    w->p->stale = true;
}

/* The job's allocation according to the planner. */
static void check_job (const struct world *w, uint64_t job)
{
    autoselection struct selection *s = planner_selection (w->p, job);
    const struct ref_booking *b = ref_booking (w->ref, job);
    struct ref_claim is[CLAIMS_MAX];
    struct planner_job j;

    if (!s || !planner_find (w->p, job, &j))
        wrong ("job %" PRIu64 " has no allocation", job);
    check_picks (w, s);
    if (!same (is, claims_of (w, s, is), b->claims, b->nclaims) || j.start != b->start
        || j.end != b->end || j.reserved != b->reserved)
        wrong ("job %" PRIu64 " has another allocation", job);
}

static void step_match (struct world *w)
{
    enum search_op op = (enum search_op)below (ARRAY_SIZE (op_names));
    int64_t duration = between (1, 20);
    uint64_t job = w->next_job++;
    struct error why = { 0 };
    struct selection *s = NULL;
    struct asked a;
    char *before = NULL;

    if (one_in (2))
        op = one_in (2) ? SEARCH_ALLOCATE : SEARCH_ALLOCATE_ORELSE_RESERVE;
    bool books = op <= SEARCH_ALLOCATE_ORELSE_RESERVE;
    tell ("%" PRId64 ": job %" PRIu64 " %s for %" PRId64 ": ", w->now, job, op_names[op],
          duration);
    request_make (w, &a);
    struct wanted k = want (w, op, &a.q, duration);
    if (w->all_one && !w->ref->policy.node_exclusive && !is_tangled (&a.q) && one_in (16))
        try_policies (w, &a, duration);
    if (levels_update (w->p) < 0)
        wrong ("no memory");
    if (one_in (books ? 6 : 3))
        before = state_of (w);
    int rc = search_match (w->p, op, job, a.shape, w->now, duration, &s, &why);
    compare (w, &k, rc, s);
    if (rc < 0 && (!why.code || !why.text[0] || why.code != -rc))
        wrong ("no reason is given");
    if (before && rc == 0 && books) { /* back and again */
        if (planner_cancel (w->p, job) < 0)
            wrong ("cannot be cancelled");
        verify (w);
        expect_state (w, before, "cancel");
        before = NULL;
        selection_destroy (s);
        free (k.claims);
        k = want (w, op, &a.q, duration);
        tell ("     again");
        rc = search_match (w->p, op, job, a.shape, w->now, duration, &s, &why);
        compare (w, &k, rc, s);
        verify (w);
    }
    if (before)
        expect_state (w, before, "a look");
    if (rc == 0 && books && w->njobs < WORLD_JOBS) {
        struct ref_booking *b =
            ref_book (w->ref, job, s->start, s->end, s->start > w->now, k.claims, k.n);
        if (!b->reserved)
            note_named (w, b, s);
        w->jobs[w->njobs++] = job;
        k.claims = NULL;
        check_booking (w, job);
        check_job (w, job);
    } else if (rc == 0 && books) {
        planner_cancel (w->p, job);
    }
    free (k.claims);
    selection_destroy (s);
    shape_destroy (a.shape);
}

static void forget (struct world *w, size_t i)
{
    w->jobs[i] = w->jobs[--w->njobs];
}

static void step_cancel (struct world *w)
{
    size_t i = below (w->njobs);
    uint64_t job = w->jobs[i];

    tell ("%" PRId64 ": cancel %" PRIu64 "\n", w->now, job);
    if (planner_cancel (w->p, job) < 0)
        wrong ("the booking does not exist");
    ref_cancel (w->ref, job);
    forget (w, i);
    ref_load (w->ref, w->g); /* leaving units are gone */
}

/* A part of a job's allocation: one of its claims, or a vertex inside a claim. */
static void step_cancel_part (struct world *w)
{
    size_t i = below (w->njobs);
    struct ref_booking *b = ref_booking (w->ref, w->jobs[i]);
    autoselection struct selection *s = selection_create ();
    struct ref_claim left[CLAIMS_MAX];
    bool empty;

    if (b->nclaims == 0)
        return;
    int v = b->claims[below ((size_t)b->nclaims)].v;
    const struct ref_vertex *x = &w->ref->v[v];
    if (!x->leaf || x->divisible)
        return; /* test_planner tests these */
    struct pick *p = selection_add (s, w->g, x->v, x->unit, 1, GRAPH_NONE);
    p->claimed = p->exclusive = true;
    tell ("%" PRId64 ": job %" PRIu64 " gives (%d) back\n", w->now, b->job, v);
    if (planner_cancel_part (w->p, b->job, s, &empty) < 0)
        wrong ("the release is refused");
    int n = 0;
    for (int j = 0; j < b->nclaims; j++)
        if (b->claims[j].v != v)
            left[n++] = b->claims[j];
    if (empty != (n == 0))
        wrong ("%d claims are left, but empty is %d", n, empty);
    memcpy (b->claims, left, (size_t)n * sizeof (*left));
    b->nclaims = n;
    if (empty) {
        ref_cancel (w->ref, w->jobs[i]);
        forget (w, i);
    }
    ref_load (w->ref, w->g);
}

/* Advances the time: reservations with a start in the past are cancelled. */
static void step_time (struct world *w)
{
    w->now += between (1, 8);
    tell ("%" PRId64 ": time\n", w->now);
    for (size_t i = 0; i < w->njobs; i++) {
        struct ref_booking *b = ref_booking (w->ref, w->jobs[i]);
        if (!b->reserved || b->start > w->now)
            continue;
        tell ("  cancel %" PRIu64 "\n", b->job);
        planner_cancel (w->p, b->job);
        ref_cancel (w->ref, b->job);
        forget (w, i--);
    }
    ref_load (w->ref, w->g);
}

static void step_extend (struct world *w)
{
    uint64_t job = w->jobs[below (w->njobs)];
    struct ref_booking *b = ref_booking (w->ref, job);
    int64_t end = b->start + between (1, 30);
    bool fits = true;
    struct error why;

    for (int v = 0; v < w->ref->nv; v++)
        for (int j = 0; j < REF_JOBS; j++) { /* other jobs at any time between */
            const struct ref_booking *o = &w->ref->jobs[j];
            int64_t t = MAX (o->start, b->end), sum = 0, amount;
            if (o->job == 0 || t >= end || !ref_has (w->ref, b, v, &amount))
                continue; /* (for b alone: v may have shrunk) */
            for (int i = 0; i < REF_JOBS; i++) {
                const struct ref_booking *a = &w->ref->jobs[i];
                if (a->job != 0 && (a == b || (a->start <= t && t < a->end))
                    && ref_has (w->ref, a, v, &amount))
                    sum += amount;
            }
            fits = fits && sum <= w->ref->v[v].size;
        }
    int rc = planner_extend (w->p, job, end, &why);
    tell ("%" PRId64 ": job %" PRIu64 " until %" PRId64 " -> %d\n", w->now, job, end, rc);
    if (rc != (fits ? 0 : -EBUSY))
        wrong ("extend answers %d", rc);
    if (rc == 0)
        b->end = end;
}

static uint32_t any_vertex (const struct world *w)
{
    return w->ref->v[below ((size_t)w->ref->nv)].v;
}

/* A vertex, or unit of a group, goes down or is drained, or comes back. */
static void step_status (struct world *w)
{
    uint8_t flag = one_in (2) ? GRAPH_DOWN : GRAPH_DRAINED;
    uint32_t v = any_vertex (w);
    const struct graph_vertex *x = graph_vertex (w->g, v);
    uint32_t unit = one_in (3) ? GRAPH_NONE : (uint32_t)below (x->n);
    bool on = one_in (3);

    tell ("%" PRId64 ": vertex %" PRIu32 " unit %" PRId32 " %s %s\n", w->now, v,
          (int32_t)unit, flag == GRAPH_DOWN ? "down" : "drained", on ? "on" : "off");
    int rc = graph_set_flag (w->g, v, unit, flag, on);
    bool leaves = flag == GRAPH_DOWN && !on && graph_is_leaving (w->g, v);
    if (rc != (leaves ? -EINVAL : 0))
        wrong ("status answers %d", rc);
    planner_changed (w->p, one_in (4) ? GRAPH_NONE : v);
    ref_load (w->ref, w->g);
}

static void step_resize (struct world *w)
{
    uint32_t v = any_vertex (w);
    const struct graph_vertex *x = graph_vertex (w->g, v);
    struct error err = { 0 };

    if (x->first != GRAPH_NONE || x->type == GRAPH_NODE || x->id < 0)
        return;
    uint32_t n = x->flags & GRAPH_DIVISIBLE ? 1 : (uint32_t)between (1, 5);
    int64_t size = x->flags & GRAPH_DIVISIBLE ? between (1, 8) : x->size;
    int64_t old = x->size;
    int rc = graph_resize (w->g, v, n, size, &err);
    tell ("%" PRId64 ": vertex %" PRIu32 " has %" PRIu32 " of %" PRId64 " -> %d\n",
          w->now, v, n, size, rc);
    if (rc < 0 && rc != -EEXIST && rc != -EINVAL)
        wrong ("resize: %s", err.text);
    w->shrunk = w->shrunk || graph_vertex (w->g, v)->n > n || size < old;
    planner_changed (w->p, v);
    ref_load (w->ref, w->g);
}

/* Foreign use takes or gives back a part of a divisible vertex. */
static void step_withhold (struct world *w)
{
    uint32_t v = any_vertex (w);
    const struct graph_vertex *x = graph_vertex (w->g, v);

    if (!(x->flags & GRAPH_DIVISIBLE))
        return;
    int64_t amount = between (0, x->size);
    tell ("%" PRId64 ": of vertex %" PRIu32 " %" PRId64 " are withheld\n", w->now, v,
          amount);
    if (graph_set_withheld (w->g, v, amount) < 0)
        wrong ("withholding is refused");
    planner_changed (w->p, v);
    ref_load (w->ref, w->g);
}

/* A node, rack or other vertex is to leave, or stays after all. */
static void step_leave (struct world *w)
{
    uint32_t v = any_vertex (w);
    bool on = one_in (2);

    if (v == w->g->root || !one_in (3))
        return;
    tell ("%" PRId64 ": vertex %" PRIu32 " %s\n", w->now, v, on ? "leaves" : "stays");
    if (graph_set_leaving (w->g, v, on) < 0)
        wrong ("leaving is refused");
    planner_changed (w->p, v);
    ref_load (w->ref, w->g);
}

/* A unit, or a whole vertex, becomes fast or stops being fast. */
static void step_property (struct world *w)
{
    uint32_t v = any_vertex (w);
    uint32_t unit = one_in (2) ? GRAPH_NONE : (uint32_t)below (graph_vertex (w->g, v)->n);
    const char *value = one_in (2) ? "" : NULL;

    tell ("%" PRId64 ": vertex %" PRIu32 " unit %" PRId32 " is %sfast\n", w->now, v,
          (int32_t)unit, value ? "" : "not ");
    if (graph_set_property (w->g, v, unit, REF_PROPERTY, value) < 0)
        wrong ("the property is refused");
    planner_changed (w->p, v);
    ref_load (w->ref, w->g);
}

/* A new planner takes over the bookings. */
static void step_remake (struct world *w)
{
    struct error err = { 0 };

    if (w->shrunk)
        return; /* the units would no longer exist */
    tell ("%" PRId64 ": all bookings end and are restored\n", w->now);
    if (planner_remake (&w->p, &err) < 0)
        wrong ("a booking is not restored: %s", err.text);
    for (size_t i = 0; i < w->njobs; i++) { /* from here on with their units */
        autoselection struct selection *s = planner_selection (w->p, w->jobs[i]);
        struct ref_booking *b = ref_booking (w->ref, w->jobs[i]);
        if (!b->reserved)
            note_named (w, b, s);
    }
}

static void step (struct world *w)
{
    size_t what = below (20);

    if (what < 11)
        step_match (w);
    else if (what == 11)
        step_status (w);
    else if (what == 12)
        step_resize (w);
    else if (what == 13 && one_in (3))
        step_remake (w);
    else if (what == 13 && one_in (2))
        step_withhold (w);
    else if (what == 13 && one_in (2))
        step_leave (w);
    else if (what == 13)
        step_property (w);
    else if (what < 16)
        step_time (w);
    else if (w->njobs > 0 && what == 16)
        step_extend (w);
    else if (w->njobs > 0 && what == 17)
        step_cancel_part (w);
    else if (w->njobs > 0)
        step_cancel (w);
    verify (w);
}

/* Without bookings all keys equal those of a planner that never had any. */
static void check_empty (struct world *w)
{
    struct planner_options opt = { 0 };
    struct planner *used = w->p;

    while (w->njobs > 0)
        step_cancel (w);
    if (levels_update (w->p) < 0)
        wrong ("no memory");
    verify (w);
    char *after = state_of (w);
    w->p = planner_create (w->g, &used->policy, &opt);
    if (levels_update (w->p) < 0)
        wrong ("no memory");
    tell ("compared with a planner without bookings\n");
    expect_state (w, after, "cancel of everything");
    planner_destroy (w->p);
    w->p = used;
}

static void try_graph (uint64_t seed)
{
    struct world w;

    world_make (&w, seed);
    for (int i = 0; i < STEPS; i++)
        step (&w);
    check_empty (&w);
    world_release (&w);
}

static void test_random (void **state)
{
    const char *text = getenv ("FLUXQ_TEST_GRAPHS");
    uint64_t n = text ? strtoull (text, NULL, 0) : GRAPHS;

    (void)state;
    chance_begin ("test_walk_random");
    uint64_t first = chance_state;
    for (uint64_t i = 0; i < n; i++)
        try_graph (first + i);
    printf ("%" PRIu64 " graphs\n", n);
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_random) };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

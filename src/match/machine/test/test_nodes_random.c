/* Random nodes that come, go, move, and change while jobs run, under each policy. What would be
 * wrong: indexes that are changed node by node differ from rebuilt indexes. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/machine/machine_private.h"
#include "match/machine/match_private.h"
#include "match/planner/planner_state.h"
#include "match/test/build.h"
#include "match/test/verify.h"

#define NAMES 40 /* of nodes */
#define RACKS 4
#define JOBS 30
#define STEPS 400
#define ROUNDS 6 /* with each policy */

static uint64_t state_of_chance;

static uint64_t below (uint64_t n)
{
    return build_random (&state_of_chance) % n;
}

static bool one_in (uint64_t n)
{
    return below (n) == 0;
}

struct world {
    struct machine *g;
    struct matcher *m;
    struct match_request *req[9];
    size_t nreq;
};

static void world_make (struct world *w, const struct match_policy *policy)
{
    static const char *const trees[] = {
        "slot=1>core=1",          "slot=3>(core=2,gpu=1)", "node=2>slot=1>core=3",
        "node=1-5>slot=1>core=1", "node=3!>slot=1>core=1", "slot=4-9>core=2",
    };
    struct error err;

    w->g = machine_create ("cluster");
    w->m = matcher_create (w->g, policy);
    w->nreq = 0;
    for (size_t i = 0; i < ARRAY_SIZE (trees); i++)
        w->req[w->nreq++] = build_request (trees[i], 0, NULL, &err);
    w->req[w->nreq++] =
        build_request ("node=2>slot=1>core=1", 0, "{\"properties\": [\"fast\"]}", &err);
    w->req[w->nreq++] =
        build_request ("node=1>slot=1>(core=1,rdma/hca=1)", 0, NULL, &err);
    w->req[w->nreq++] = build_request ("slot=2>core=1", 64, NULL, &err);
    for (size_t i = 0; i < w->nreq; i++)
        assert_non_null (w->req[i]);
}

static void world_end (struct world *w)
{
    for (size_t i = 0; i < w->nreq; i++)
        match_request_destroy (w->req[i]);
    matcher_destroy (w->m);
    machine_destroy (w->g);
}

/* -- steps -- */

static void node_is (struct world *w)
{
    static const char *const sets[][3] = {
        { NULL }, { "fast", NULL }, { "fast", "age=7", NULL }, { "age=3", NULL }
    };
    char name[16], rack[16];
    const struct machine_place place[] = { { "rack", rack }, { NULL, NULL } };
    struct machine_zone zones[] = { { .id = 0, .cores = 4 }, { .id = 1, .cores = 4 } };
    struct gres_list hca = { 0 };
    struct machine_node_spec spec = { .name = name,
                                      .places = one_in (4) ? NULL : place,
                                      .cores = one_in (3) ? 4 + (uint32_t)below (3) : 8,
                                      .gpus = (uint32_t)below (3),
                                      .memory_mib = one_in (3) ? 0 : 512,
                                      .properties = sets[below (ARRAY_SIZE (sets))] };

    snprintf (name, sizeof (name), "n%d", (int)below (NAMES));
    snprintf (rack, sizeof (rack), "r%d", (int)below (RACKS));
    if (one_in (4))
        gres_set (&hca, "rdma/hca", 1 + (int64_t)below (2));
    spec.gres = &hca;
    if (one_in (5) && spec.cores == 8) {
        spec.zones = zones;
        spec.nzones = 2;
    }
    if (machine_node_add (w->g, &spec, NULL) == -EEXIST)
        machine_node_update (w->g, &spec, NULL);
    gres_release (&hca);
}

static int random_node (const struct world *w)
{
    return (int)below (w->g->size + 1);
}

static void book (struct world *w)
{
    uint64_t job = 1 + below (JOBS);
    const struct match_request *req = w->req[below (w->nreq)];
    struct rset *r = NULL;
    double start;

    match_cancel (w->m, job);
    if (one_in (3))
        match_reserve (w->m, job, req, 100, 50, &start, NULL);
    else
        match_allocate (w->m, job, req, 100, one_in (3) ? 0 : 1 + (double)below (99), &r,
                        NULL);
    rset_destroy (r);
}

static void step (struct world *w)
{
    switch (below (9)) {
    case 0:
    case 1:
        node_is (w);
        break;
    case 2:
        machine_node_remove (w->g, random_node (w));
        break;
    case 3:
        machine_node_set_state (w->g, random_node (w), (enum machine_node_state)below (3),
                                "as told");
        break;
    case 4:
        machine_node_set_foreign (w->g, random_node (w), (uint32_t)below (5), 0, 0, NULL);
        break;
    case 5:
        match_cancel (w->m, 1 + below (JOBS));
        break;
    default:
        book (w);
    }
}

/* -- answers -- */

/* How many nodes with a property fit is counted in one of two ways, after the smallest node
 * that ever had the property: so the reason is not compared. */
static void answer (struct strbuf *sb, int rc, struct rset *r, const struct error *err)
{
    autofree char *text = r ? rset_encode (r) : NULL;
    bool told = rc < 0 && !strstr (err->text, "constraints allow");

    strbuf_addf (sb, "%d %s\n", rc, text ? text : told ? err->text : "");
    rset_destroy (r);
}

static char *answers (struct world *w)
{
    struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    for (size_t i = 0; i < w->nreq; i++) {
        struct rset *r = NULL;
        struct error err = { 0 };
        double start = 0;
        int rc = match_without_allocating (w->m, w->req[i], 100, 50, &r, &err);
        answer (&sb, rc, r, &err);
        r = NULL;
        rc = match_earliest (w->m, w->req[i], 100, 50, &start, &r, &err);
        strbuf_addf (&sb, "at %g: ", start);
        answer (&sb, rc, r, &err);
        rc = match_satisfiability (w->m, w->req[i], &err);
        answer (&sb, rc, NULL, &err);
    }
    return sb.buf;
}

/* Policy first notes which nodes it has ever answered with: asked until that ends. */
static char *settled_answers (struct world *w)
{
    char *now = answers (w), *next;

    for (;;) {
        next = answers (w);
        if (!strcmp (now, next))
            break;
        free (now);
        now = next;
    }
    free (next);
    return now;
}

static void verify (struct world *w)
{
    struct error err;

    if (planner_verify (w->m->p, &err) < 0)
        fail_msg ("%s", err.text);
}

/* Shows the first line that differs. */
static void expect_equal (const struct world *w, const char *a, const char *b)
{
    size_t from = 0;

    if (!strcmp (a, b))
        return;
    for (size_t i = 0; a[i] == b[i]; i++)
        from = a[i] == '\n' ? i + 1 : from;
    fail_msg ("%s: %.*s\nanew: %.*s", w->m->p->policy.name, (int)strcspn (a + from, "\n"),
              a + from, (int)strcspn (b + from, "\n"), b + from);
}

static void expect_as_anew (struct world *w)
{
    autofree char *changed = settled_answers (w), *rebuilt = NULL;

    verify (w);
    planner_changed (w->m->p, GRAPH_NONE);
    rebuilt = answers (w);
    verify (w);
    expect_equal (w, changed, rebuilt);
}

static void test_policy (const struct match_policy *policy)
{
    uint64_t rebuilds = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct world w;
        world_make (&w, policy);
        for (int i = 0; i < NAMES; i++)
            node_is (&w);
        for (int i = 0; i < STEPS; i++) {
            uint64_t made = w.m->p->made;
            step (&w);
            if (one_in (2))
                match_nothing_free (w.m);
            rebuilds += w.m->p->made - made;
            if (one_in (20))
                expect_as_anew (&w);
        }
        expect_as_anew (&w);
        world_end (&w);
    }
    /* Else too little of it is tested. Under policy first, nodes with jobs cost one. */
    assert_true (policy->first || rebuilds < ROUNDS * STEPS / 20);
}

static void test_policies (void **state)
{
    static const char *const orders[] = {
        "policy=low order=age", "policy=high order=age",
        "policy=low node_centric=true stop_on_1_matches=true"
    };

    (void)state;
    state_of_chance = build_seed ("nodes");
    for (size_t i = 0; match_policies[i]; i++)
        test_policy (match_policies[i]);
    for (size_t i = 0; i < ARRAY_SIZE (orders); i++) {
        struct match_policy policy;
        assert_int_equal (match_policy_parse (orders[i], &policy, NULL), 0);
        test_policy (&policy);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_policies),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* Heterogeneous jobs: all components at once, each on nodes of its own. Fails if a
 * component gets another component's node, too little, or a node that its constraints
 * exclude; if a job that has a place waits, is refused or is planned too late (compared with
 * a search over all assignments); or if a job that waits has booked something. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/test/build.h"
#include "match/test/chance.h"

#define COMPONENTS 4
#define NODES_MAX 7
#define CORES 8
#define WORLDS 400
#define ROUNDS 25

struct asked {
    const char *tree[COMPONENTS];
    const char *constraints[COMPONENTS];
};

static struct match_request *request (const struct asked *a, struct error *err)
{
    struct jobspec_resource top[COMPONENTS];
    struct jobspec js[COMPONENTS] = { 0 }, *further[COMPONENTS];
    json_t *c[COMPONENTS] = { NULL };
    size_t n = 0;

    for (; n < COMPONENTS && a->tree[n]; n++) {
        const char *p = a->tree[n];

        build_vertex (&p, &top[n]);
        c[n] = a->constraints[n] ? json_loads (a->constraints[n], 0, NULL) : NULL;
        js[n].resources = &top[n];
        js[n].nresources = 1;
        js[n].constraints = c[n];
        if (n > 0)
            further[n - 1] = &js[n];
    }
    js[0].components = further;
    js[0].ncomponents = n - 1;
    struct match_request *req = match_request_create (&js[0], err);
    for (size_t i = 0; i < n; i++) {
        build_release (&top[i]);
        json_decref (c[i]);
    }
    return req;
}

struct rig {
    struct machine *g;
    struct matcher *m;
};

/* Nodes n0, n1, ... with these numbers of cores; those with an odd number have the property
 * "odd", and the last one "last". */
static struct rig rig_create (const int *cores, int n)
{
    struct rig rig = { .g = machine_create ("cluster") };

    rig.m = matcher_create (rig.g, match_policy_find ("lonode"));
    for (int i = 0; i < n; i++) {
        char name[16];
        const char *properties[3] = { NULL };
        size_t have = 0;

        if (i % 2)
            properties[have++] = "odd";
        if (i == n - 1)
            properties[have++] = "last";
        snprintf (name, sizeof (name), "n%d", i);
        struct machine_node_spec spec = { .name = name,
                                          .cores = (uint32_t)cores[i],
                                          .memory_mib = 1000,
                                          .properties = properties };
        assert_int_equal (machine_node_add (rig.g, &spec, NULL), i);
    }
    return rig;
}

static void rig_destroy (struct rig *rig)
{
    matcher_destroy (rig->m);
    machine_destroy (rig->g);
}

/* "0:n0:0-3*2 1:n1:0*1": component, node, cores and slots of each rank, or the reason. */
static char *ask (struct rig *rig, uint64_t job, const struct asked *a)
{
    struct error err = { 0 };
    struct match_request *req = request (a, &err);
    struct rset *r;
    struct strbuf sb;

    if (!req)
        return strdup (err.text);
    strbuf_init (&sb, 65536);
    if (match_allocate (rig->m, job, req, 100, 60, &r, &err) < 0) {
        strbuf_adds (&sb, err.text);
    } else {
        for (size_t i = 0; i < r->nranks; i++) {
            strbuf_addf (&sb, "%s%u:%s:", i ? " " : "", r->ranks[i].component,
                         r->ranks[i].node);
            strbuf_add_idset (&sb, r->ranks[i].cores);
            strbuf_addf (&sb, "*%u", r->ranks[i].slots);
        }
        rset_destroy (r);
    }
    match_request_destroy (req);
    return strbuf_detach (&sb);
}

static void expect (struct rig *rig, uint64_t job, const struct asked *a,
                    const char *answer)
{
    autofree char *text = ask (rig, job, a);

    assert_string_equal (text, answer);
}

static void test_nodes_of_their_own (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 8, 8, 8 }, 4);
    struct asked a = { .tree = { "node=1>slot=1>core=2", "node=2>slot=2>core=1" } };

    expect (&rig, 1, &a, "0:n0:0-1*1 1:n1:0-1*2 1:n2:0-1*2");
    /* The next job shares the nodes with that one. */
    expect (&rig, 2, &a, "0:n0:2-3*1 1:n1:2-3*2 1:n2:2-3*2");
    rig_destroy (&rig);
}

static void test_slots_without_nodes (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 8, 8 }, 3);

    expect (&rig, 1, &(struct asked){ .tree = { "slot=3>core=3", "slot=1>core=1" } },
            "0:n0:0-5*2 0:n1:0-2*1 1:n2:0*1");
    rig_destroy (&rig);
}

static void test_whole_nodes (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 8, 8 }, 3);
    struct asked a = { .tree = { "node=1!>slot=1>core=1", "slot=1>node=1" } };

    expect (&rig, 1, &a, "0:n0:0-7*1 1:n1:0-7*1");
    expect (
        &rig, 2, &a,
        "needs 1 exclusive node with 1 slot of 1 core, and 1 slot of 1 node with 1 core: "
        "0 of 1 slot fit now (3 nodes are up)");
    assert_false (match_has (rig.m, 2));
    rig_destroy (&rig);
}

/* The first component could have any node, the second one only the first node. */
static void test_scarce_first (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 2, 2, 2 }, 4);

    expect (&rig, 1,
            &(struct asked){ .tree = { "node=2>slot=1>core=2", "node=1>slot=1>core=1",
                                       "node=1>slot=1>core=4" } },
            "0:n1:0-1*1 0:n2:0-1*1 1:n3:0*1 2:n0:0-3*1");
    rig_destroy (&rig);
}

static void test_constraints_of_each (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 8, 8, 8 }, 4);
    const char *odd = "{\"properties\": [\"odd\"]}",
               *last = "{\"properties\": [\"last\"]}";

    expect (&rig, 1,
            &(struct asked){ .tree = { "node=1>slot=1>core=1", "slot=2>core=4" },
                             .constraints = { odd, last } },
            "0:n1:0*1 1:n3:0-7*2");
    expect (&rig, 2,
            &(struct asked){ .tree = { "node=1>slot=1>core=9", "node=1>slot=1>core=1" },
                             .constraints = { odd, NULL } },
            "needs 9 cores on a node, the largest has 8");
    expect (
        &rig, 3,
        &(struct asked){ .tree = { "node=2>slot=1>core=1", "node=1>slot=1>core=1" },
                         .constraints = { odd, last } },
        "needs 2 nodes with 1 slot of 1 core each, and 1 node with 1 slot of 1 core: 1 "
        "of 2 nodes fits the machine");
    rig_destroy (&rig);
}

static void test_never (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 8 }, 2);
    struct error err = { 0 };
    struct match_request *req = request (
        &(struct asked){ .tree = { "node=2>slot=1>core=1", "node=1>slot=1>core=1" } },
        &err);

    assert_non_null (req);
    assert_int_equal (match_satisfiability (rig.m, req, &err), -ENOENT);
    assert_string_equal (err.text, "needs 2 nodes with 1 slot of 1 core each, and 1 node "
                                   "with 1 slot of 1 core: 0 of 1 node fit the machine");
    match_request_destroy (req);
    rig_destroy (&rig);
}

static void test_booked_again_from_r (void **state)
{
    (void)state;
    struct rig rig = rig_create ((int[]){ 8, 8, 8 }, 3);
    struct error err = { 0 };
    struct match_request *req = request (
        &(struct asked){ .tree = { "node=1>slot=1>core=6", "node=2>slot=1>core=8" } },
        &err);
    struct rset *r;

    assert_int_equal (match_allocate (rig.m, 1, req, 100, 60, &r, &err), 0);
    autofree char *text = rset_encode (r);
    struct rset *again = rset_decode (text, strlen (text), &err);
    assert_non_null (again);
    for (size_t i = 0; i < r->nranks; i++)
        assert_int_equal (again->ranks[i].component, r->ranks[i].component);
    assert_int_equal (match_cancel (rig.m, 1), 0);
    assert_int_equal (match_update (rig.m, 1, again, &err), 0);
    expect (
        &rig, 2,
        &(struct asked){ .tree = { "node=1>slot=1>core=3", "node=1>slot=1>core=1" } },
        "needs 3 cores in all, 2 are free now (of 24)");
    assert_false (match_has (rig.m, 2));
    rset_destroy (again);
    rset_destroy (r);
    match_request_destroy (req);
    rig_destroy (&rig);
}

/* -- random worlds -- */

struct world {
    struct rig rig;
    int n, cores[NODES_MAX];
    int used[NODES_MAX]
            [2]; /* by two ordinary jobs for each node, with ends 200 and 300 */
};

struct wish {
    int n, nodes[COMPONENTS], cores[COMPONENTS];
};

/* Whether components i, ... have nodes among those that are not taken. */
static bool fits (const struct wish *w, int i, int left, const int *free, int n,
                  unsigned taken)
{
    if (i == w->n)
        return true;
    if (left == 0)
        return fits (w, i + 1, i + 1 < w->n ? w->nodes[i + 1] : 0, free, n, taken);
    for (int k = 0; k < n; k++)
        if (!(taken >> k & 1) && free[k] >= w->cores[i]
            && fits (w, i, left - 1, free, n, taken | 1U << k))
            return true;
    return false;
}

/* Jobs that end after `time` are there. */
static bool fits_at (const struct world *w, const struct wish *wish, double time)
{
    int free[NODES_MAX];

    for (int k = 0; k < w->n; k++)
        free[k] = w->cores[k] - (time < 200 ? w->used[k][0] : 0)
                  - (time < 300 ? w->used[k][1] : 0);
    return fits (wish, 0, wish->nodes[0], free, w->n, 0);
}

static void book (struct world *w, int k, int which)
{
    char tree[64], constraint[64];
    struct error err = { 0 };
    struct rset *r;
    int left = w->cores[k] - w->used[k][0];

    w->used[k][which] = (int)chance_below ((uint64_t)left + 1);
    if (w->used[k][which] == 0)
        return;
    snprintf (tree, sizeof (tree), "node=1>slot=1>core=%d", w->used[k][which]);
    snprintf (constraint, sizeof (constraint), "{\"hostlist\": [\"n%d\"]}", k);
    struct match_request *req = build_request (tree, 0, constraint, &err);
    assert_int_equal (match_allocate (w->rig.m, (uint64_t)(100 + 2 * k + which), req, 100,
                                      which ? 200 : 100, &r, &err),
                      0);
    rset_destroy (r);
    match_request_destroy (req);
}

static void world_create (struct world *w)
{
    *w = (struct world){ .n = 2 + (int)chance_below (NODES_MAX - 1) };
    for (int k = 0; k < w->n; k++)
        w->cores[k] = 1 + (int)chance_below (CORES);
    w->rig = rig_create (w->cores, w->n);
    for (int k = 0; k < w->n; k++) {
        book (w, k, 0);
        book (w, k, 1);
    }
}

static struct wish wish_for (char trees[COMPONENTS][64], struct asked *a)
{
    struct wish wish = { .n = 2 + (int)chance_below (COMPONENTS - 1) };

    *a = (struct asked){ 0 };
    for (int i = 0; i < wish.n; i++) {
        wish.nodes[i] = 1 + (int)chance_below (2);
        wish.cores[i] = 1 + (int)chance_below (CORES);
        snprintf (trees[i], 64, "node=%d>slot=1>core=%d", wish.nodes[i], wish.cores[i]);
        a->tree[i] = trees[i];
    }
    return wish;
}

static void check_answer (const struct world *w, const struct wish *wish,
                          const struct rset *r)
{
    unsigned taken = 0;
    size_t first;

    for (int i = 0; i < wish->n; i++)
        assert_int_equal (rset_component (r, (size_t)i, &first), wish->nodes[i]);
    for (size_t i = 0; i < r->nranks; i++) {
        int k = r->ranks[i].node_index;

        assert_false (taken >> k & 1);
        taken |= 1U << k;
        assert_int_equal (idset_count (r->ranks[i].cores),
                          wish->cores[r->ranks[i].component]);
        assert_in_range (k, 0, w->n - 1);
    }
}

static void try_one (struct world *w)
{
    static const double times[] = { 100, 200, 300 };
    char trees[COMPONENTS][64];
    struct asked a;
    struct wish wish = wish_for (trees, &a);
    struct error err = { 0 };
    struct match_request *req = request (&a, &err);
    struct rset *r = NULL;
    double start = 0, expected = 0;

    assert_non_null (req);
    for (size_t i = 0; i < ARRAY_SIZE (times) && expected == 0; i++)
        if (fits_at (w, &wish, times[i]))
            expected = times[i];
    int rc = match_allocate (w->rig.m, 1, req, 100, 1000, &r, &err);
    assert_int_equal (rc, expected == 100 ? 0 : expected > 0 ? -EBUSY : -ENOENT);
    assert_int_equal (match_has (w->rig.m, 1), rc == 0);
    if (rc == 0) {
        check_answer (w, &wish, r);
        rset_destroy (r);
    } else if (expected > 0) {
        assert_int_equal (match_reserve (w->rig.m, 1, req, 100, 1000, &start, &err), 0);
        assert_true (start >= expected && start < expected + 0.001);
    }
    if (expected > 0)
        assert_int_equal (match_cancel (w->rig.m, 1), 0);
    match_request_destroy (req);
}

static void test_random (void **state)
{
    (void)state;
    chance_begin ("test_components");
    for (int i = 0; i < WORLDS; i++) {
        struct world w;

        world_create (&w);
        for (int k = 0; k < ROUNDS; k++)
            try_one (&w);
        rig_destroy (&w.rig);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_nodes_of_their_own),
        cmocka_unit_test (test_slots_without_nodes),
        cmocka_unit_test (test_whole_nodes),
        cmocka_unit_test (test_scarce_first),
        cmocka_unit_test (test_constraints_of_each),
        cmocka_unit_test (test_never),
        cmocka_unit_test (test_booked_again_from_r),
        cmocka_unit_test (test_random),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

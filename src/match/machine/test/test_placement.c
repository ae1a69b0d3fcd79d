/* Jobs in a bounded number of racks, packed, spread, or in segments, compared with brute
 * force over every set of racks. Fails if a job has more racks than it allows or a segment
 * in two racks, if it is refused or
 * waits although some racks have room, or room for more of it, if it is packed into
 * more racks than necessary or not spread evenly, if a preference makes a job wait, or
 * if an estimate is not the first time at which the job fits. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/machine/machine_private.h"
#include "match/test/build.h"
#include "match/test/places.h"

#define NODES 10
#define RACKS 5 /* and number 0 for nodes without a rack */
#define CORES 6
#define JOBS 12
#define WORLDS 1500
#define ROUNDS 12

enum wish { NOTHING, MOST, PACK, SPREAD, SEGMENTS, APART, WISHES };

struct asked {
    bool nodes; /* nodes, not slots */
    bool exclusive;
    int64_t min, max, cores;
    enum wish wish;
    int64_t most; /* racks; of SEGMENTS and APART: nodes of a segment */
};

struct world {
    uint64_t random;
    struct machine *g;
    struct matcher *m;
    int rack[NODES];
    int64_t cores[NODES];
    bool up[NODES];
    int64_t used[JOBS][NODES];
    bool whole[JOBS];
    double end[JOBS]; /* 0: no job */
    double now;
};

static int64_t below (struct world *w, int64_t n)
{
    return (int64_t)(build_random (&w->random) % (uint64_t)n);
}

static const struct machine_place *place_of (int rack, struct machine_place room[3])
{
    static const char *const zones[] = { NULL, "a", "a", "b", "b", NULL };
    static const char *const racks[] = { NULL, "r1", "r2", "r1", "r2", "r1" };
    int n = 0;

    if (zones[rack])
        room[n++] = (struct machine_place){ "zone", zones[rack] };
    if (racks[rack])
        room[n++] = (struct machine_place){ "rack", racks[rack] };
    room[n] = (struct machine_place){ NULL, NULL };
    return room;
}

static void make (struct world *w)
{
    static const char *const policies[] = { "lonode", "hinode", "low",     "high",
                                            "first",  "spread", "bestfit", "locality" };
    bool loose = below (w, 3) == 0;

    w->now = 1000;
    w->g = machine_create ("cluster");
    w->m = matcher_create (
        w->g, match_policy_find (policies[below (w, ARRAY_SIZE (policies))]));
    for (int i = 0; i < NODES; i++) {
        struct machine_place room[3];
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        w->rack[i] = (int)(loose ? below (w, RACKS + 1) : 1 + below (w, RACKS));
        w->cores[i] = 1 + below (w, CORES);
        w->up[i] = below (w, 8) > 0;
        struct machine_node_spec spec = { .name = name,
                                          .places = place_of (w->rack[i], room),
                                          .cores = (uint32_t)w->cores[i] };
        assert_int_equal (machine_node_add (w->g, &spec, NULL), i);
        machine_node_set_state (w->g, i, w->up[i] ? MACHINE_NODE_UP : MACHINE_NODE_DOWN,
                                NULL);
    }
}

static void end_world (struct world *w)
{
    matcher_destroy (w->m);
    machine_destroy (w->g);
}

/* -- the reference -- */

/* The number of nodes or slots that fit on the node at that time; ever: on the
 * empty node, if it were up. */
static int64_t fit_on (const struct world *w, const struct asked *q, int i, double at,
                       bool ever)
{
    int64_t free = w->cores[i], jobs = 0;

    if (!ever && !w->up[i])
        return 0;
    for (int j = 0; j < JOBS && !ever; j++) {
        if (w->end[j] <= at || w->used[j][i] == 0)
            continue;
        jobs++;
        free = w->whole[j] ? 0 : free - w->used[j][i];
    }
    if (q->exclusive && jobs > 0)
        return 0;
    return q->nodes ? free >= q->cores : free / q->cores;
}

/* The number that fits in each rack, and in no rack. */
static void fit_in (const struct world *w, const struct asked *q, double at, bool ever,
                    int64_t fit[RACKS + 1])
{
    for (int r = 0; r <= RACKS; r++)
        fit[r] = 0;
    for (int i = 0; i < NODES; i++)
        fit[w->rack[i]] += fit_on (w, q, i, at, ever);
}

/* ... in whole segments, where the request has them. */
static void cut_segments (const struct asked *q, int64_t fit[RACKS + 1])
{
    if (q->wish < SEGMENTS)
        return;
    fit[0] = 0;
    for (int r = 1; r <= RACKS; r++)
        fit[r] = q->wish == SEGMENTS ? fit[r] / q->most * q->most
                 : fit[r] >= q->most ? q->most
                                     : 0;
}

static int64_t sum_of (const int64_t fit[RACKS + 1], unsigned set)
{
    int64_t sum = 0;

    for (int r = 1; r <= RACKS; r++)
        sum += set >> r & 1 ? fit[r] : 0;
    return sum;
}

/* The maximum in so many racks together. */
static int64_t best (const int64_t fit[RACKS + 1], int64_t racks)
{
    int64_t most = 0;

    for (unsigned set = 0; set < 2U << RACKS; set += 2)
        if (__builtin_popcount (set) <= racks)
            most = MAX (most, sum_of (fit, set));
    return most;
}

/* The granted number; 0: the job does not fit. */
static int64_t expected (const struct world *w, const struct asked *q, double at,
                         bool ever)
{
    int64_t fit[RACKS + 1], most;

    fit_in (w, q, at, ever, fit);
    cut_segments (q, fit);
    most = q->wish == MOST ? best (fit, q->most) : fit[0] + best (fit, RACKS);
    return most < q->min ? 0 : MIN (most, q->max);
}

/* The first time at which the job fits; -1: never. */
static double expected_start (const struct world *w, const struct asked *q)
{
    double first = -1;

    if (expected (w, q, w->now, false) > 0)
        return w->now;
    for (int j = 0; j < JOBS; j++)
        if (w->end[j] > w->now && (first < 0 || w->end[j] < first)
            && expected (w, q, w->end[j], false) > 0)
            first = w->end[j];
    return first;
}

/* -- the allocation -- */

/* Nodes, or slots, in each rack, and in no rack. */
static int64_t given_in (const struct world *w, const struct asked *q,
                         const struct rset *r, int64_t given[RACKS + 1])
{
    int64_t all = 0;

    for (int i = 0; i <= RACKS; i++)
        given[i] = 0;
    for (size_t i = 0; i < r->nranks; i++) {
        int64_t n = q->nodes ? 1 : r->ranks[i].slots;
        given[w->rack[r->ranks[i].node_index]] += n;
        all += n;
    }
    return all;
}

static int64_t racks_of (const int64_t given[RACKS + 1])
{
    int64_t n = 0;

    for (int r = 1; r <= RACKS; r++)
        n += given[r] > 0;
    return n;
}

static void check_packed (const int64_t fit[RACKS + 1], const int64_t given[RACKS + 1],
                          int64_t n)
{
    assert_int_equal (given[0], 0);
    if (racks_of (given) > 1)
        assert_true (best (fit, racks_of (given) - 1) < n);
}

/* A rack with two fewer than another has its maximum. */
static void check_spread (const int64_t fit[RACKS + 1], const int64_t given[RACKS + 1])
{
    assert_int_equal (given[0], 0);
    for (int r = 1; r <= RACKS; r++)
        for (int s = 1; s <= RACKS; s++)
            if (given[r] + 1 < given[s])
                assert_int_equal (given[r], fit[r]);
}

static void check_given (const struct world *w, const struct asked *q,
                         const struct rset *r, double at)
{
    int64_t fit[RACKS + 1], given[RACKS + 1], n = given_in (w, q, r, given);
    bool enough;

    fit_in (w, q, at, false, fit);
    cut_segments (q, fit);
    enough = fit[0] == 0 ? best (fit, RACKS) >= q->min : best (fit, RACKS) >= q->max;
    if (q->wish == MOST) {
        assert_int_equal (given[0], 0);
        assert_true (racks_of (given) <= q->most);
    }
    for (int s = 1; s <= RACKS && q->wish >= SEGMENTS; s++)
        assert_true (given[s] % q->most == 0 && given[s] <= fit[s]);
    if (q->wish >= SEGMENTS)
        check_packed (fit, given, n);
    if (q->wish == PACK && enough)
        check_packed (fit, given, n);
    if (q->wish == SPREAD && enough)
        check_spread (fit, given);
}

/* -- rounds -- */

static struct asked any_request (struct world *w)
{
    struct asked q = { .nodes = below (w, 2) == 0,
                       .min = 1 + below (w, 6),
                       .cores = 1 + below (w, 4),
                       .wish = (enum wish)below (w, WISHES),
                       .most = 1 + below (w, 3) };

    q.exclusive = q.nodes && below (w, 4) == 0;
    q.max = below (w, 4) == 0 ? q.min + below (w, 8) : q.min;
    if (q.wish >= SEGMENTS) {
        q.nodes = true;
        q.min = (1 + below (w, 3)) * q.most;
        q.max = q.min + below (w, 2) * q.most;
    }
    return q;
}

static struct match_request *compile (struct world *w, const struct asked *q)
{
    struct placement p = { .kind = q->wish == SPREAD ? PLACEMENT_SPREAD : PLACEMENT_PACK,
                           .level = "rack" };
    struct error err = { 0 };
    char text[128], count[40];
    bool segments = q->wish >= SEGMENTS;

    snprintf (count, sizeof (count), q->min < q->max ? "%d-%d+%d" : "%d", (int)q->min,
              (int)q->max, segments ? (int)q->most : 1);
    snprintf (text, sizeof (text),
              q->nodes ? "node=%s%s>slot=1>core=%d" : "slot=%s%s>core=%d", count,
              q->exclusive ? "!" : "", (int)q->cores);
    struct match_request *req = build_request (text, 0, NULL, &err);
    if (!req)
        fail_msg ("%s: %s", text, err.text);
    if (segments
        && match_request_segment (req, "rack", q->most, q->wish == APART, &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    if (q->wish != NOTHING && !segments
        && match_request_place (req, &p, q->wish == MOST ? q->most : 0, &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    return match_request_share (w->m, req);
}

static void check_estimate (struct world *w, const struct asked *q,
                            const struct match_request *req)
{
    double start = -1, wanted = expected_start (w, q);
    struct rset *r = NULL;
    int rc = match_earliest (w->m, req, w->now, 50, &start, &r, NULL);

    if (expected (w, q, 0, true) == 0)
        assert_int_equal (rc, -ENOENT);
    else if (wanted < 0)
        assert_int_equal (rc, -EBUSY);
    else
        assert_int_equal (rc, 0);
    if (rc == 0) {
        assert_true (start == wanted);
        check_given (w, q, r, start);
    }
    rset_destroy (r);
}

static void start_job (struct world *w, const struct asked *q,
                       const struct match_request *req)
{
    int j = (int)below (w, JOBS);
    double length = 10 + (double)below (w, 200);
    struct rset *r = NULL;
    struct error why = { 0 };
    int64_t given[RACKS + 1], n = expected (w, q, w->now, false);

    if (w->end[j] > 0)
        return;
    int rc = match_allocate (w->m, (uint64_t)j + 1, req, w->now, length, &r, &why);
    assert_int_equal (rc, n > 0 ? 0 : expected (w, q, 0, true) > 0 ? -EBUSY : -ENOENT);
    if (rc < 0) {
        assert_true (why.text[0]);
        return;
    }
    assert_int_equal (given_in (w, q, r, given), n);
    check_given (w, q, r, w->now);
    for (size_t i = 0; i < r->nranks; i++)
        w->used[j][r->ranks[i].node_index] = (int64_t)idset_count (r->ranks[i].cores);
    w->whole[j] = q->exclusive;
    w->end[j] = w->now + length;
    rset_destroy (r);
}

static void end_jobs (struct world *w)
{
    w->now += (double)below (w, 60);
    for (int j = 0; j < JOBS; j++) {
        if (w->end[j] == 0 || w->end[j] > w->now)
            continue;
        assert_int_equal (match_cancel (w->m, (uint64_t)j + 1), 0);
        w->end[j] = 0;
        memset (w->used[j], 0, sizeof (w->used[j]));
    }
}

static void test_random (void **state)
{
    uint64_t seed = build_seed ("test_placement");

    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        struct world w = { .random = seed + (uint64_t)i };
        make (&w);
        for (int round = 0; round < ROUNDS; round++) {
            struct asked q = any_request (&w);
            struct match_request *req = compile (&w, &q);
            check_estimate (&w, &q, req);
            start_job (&w, &q, req);
            match_request_destroy (req);
            end_jobs (&w);
        }
        end_world (&w);
    }
}

/* -- by hand -- */

/* Racks r0, r1, r2 of four nodes of 4 cores. */
static void make_racks (struct world *w)
{
    w->g = machine_create ("cluster");
    w->m = matcher_create (w->g, match_policy_find ("lonode"));
    for (int i = 0; i < 12; i++) {
        char name[16], rack[16];
        snprintf (name, sizeof (name), "n%d", i);
        snprintf (rack, sizeof (rack), "r%d", i / 4);
        struct machine_node_spec spec = { .name = name,
                                          .places = IN_RACK (rack),
                                          .cores = 4 };
        assert_int_equal (machine_node_add (w->g, &spec, NULL), i);
    }
}

static void expect (struct world *w, uint64_t job, const char *tree,
                    enum placement_kind kind, int64_t most, const char *answer)
{
    struct placement p = { .kind = kind, .level = "rack" };
    struct match_request *req = build_request (tree, 0, NULL, NULL);
    struct rset *r = NULL;
    struct error why = { 0 };

    assert_non_null (req);
    assert_int_equal (match_request_place (req, &p, most, NULL), 0);
    int rc = match_allocate (w->m, job, req, 100, 60, &r, &why);
    char *nodes = rc == 0 ? rset_nodelist (r) : strdup (why.text);
    assert_string_equal (nodes, answer);
    free (nodes);
    rset_destroy (r);
    match_request_destroy (req);
}

static void test_by_hand (void **state)
{
    struct world w = { 0 };

    (void)state;
    make_racks (&w);
    expect (&w, 1, "node=3!>slot=1>core=1", PLACEMENT_PACK, 0, "n[0-2]");
    expect (&w, 2, "node=2>slot=1>core=4", PLACEMENT_PACK, 0, "n[4-5]");
    expect (&w, 3, "node=3>slot=1>core=4", PLACEMENT_SPREAD, 0, "n[3,6,8]");
    expect (
        &w, 4, "node=4>slot=1>core=4", PLACEMENT_PACK, 1,
        "needs 4 nodes with 1 slot of 4 cores each in at most 1 rack: 3 of 4 nodes fit "
        "now (12 nodes are up)");
    expect (
        &w, 4, "node=5>slot=1>core=1", PLACEMENT_PACK, 1,
        "needs 5 nodes with 1 slot of 1 core each in at most 1 rack: 4 of 5 nodes fit "
        "the machine");
    expect (&w, 4, "node=4>slot=1>core=4", PLACEMENT_PACK, 2, "n[7,9-11]");
    end_world (&w);
}

/* 0 or the error of a request with segments of n. */
static int segments (const char *tree, int64_t n, struct error *err)
{
    struct match_request *req = build_request (tree, 0, NULL, NULL);
    int rc;

    assert_non_null (req);
    rc = match_request_segment (req, "rack", n, false, err);
    match_request_destroy (req);
    return rc;
}

static void test_segments (void **state)
{
    struct world w = { 0 };
    struct match_request *req;
    struct error why = { 0 };

    (void)state;
    assert_int_equal (segments ("node=4>slot=1>core=1", 2, NULL), 0);
    assert_int_equal (segments ("node=2-8*2>slot=1>core=1", 2, NULL), 0);
    assert_int_equal (segments ("node=2-6+4>slot=1>core=1", 2, NULL), 0);
    assert_int_equal (segments ("node=3>slot=1>core=1", 2, &why), -EINVAL);
    assert_string_equal (why.text, "resources[0].count: some number of nodes is no "
                                   "multiple of the segment's 2");
    assert_int_equal (segments ("node=2-4>slot=1>core=1", 2, NULL), -EINVAL);
    assert_int_equal (segments ("node=2-5+3>slot=1>core=1", 2, NULL), -EINVAL);
    assert_int_equal (segments ("slot=4>core=1", 2, NULL), -ENOTSUP);
    assert_int_equal (segments ("rack=1>node=2>slot=1>core=1", 2, NULL), -ENOTSUP);

    make_racks (&w);
    req = build_request ("node=9>slot=1>core=1", 0, NULL, NULL);
    assert_int_equal (match_request_segment (req, "rack", 3, false, NULL), 0);
    assert_int_equal (match_satisfiability (w.m, req, NULL), 0);
    match_request_destroy (req);
    req = build_request ("node=12>slot=1>core=1", 0, NULL, NULL);
    assert_int_equal (match_request_segment (req, "rack", 3, false, NULL), 0);
    assert_int_equal (match_satisfiability (w.m, req, &why), -ENOENT);
    assert_string_equal (why.text,
                         "needs 12 nodes with 1 slot of 1 core each in segments of 3, "
                         "each in one rack: 9 of 12 nodes fit the machine");
    match_request_destroy (req);
    end_world (&w);
}

static void test_refused (void **state)
{
    struct placement p = { .kind = PLACEMENT_PACK, .level = "rack" };
    struct match_request *req =
        build_request ("rack=1>node=2>slot=1>core=1", 0, NULL, NULL);
    struct error err = { 0 };

    (void)state;
    assert_int_equal (match_request_place (req, &p, 0, &err), -ENOTSUP);
    assert_string_equal (err.text,
                         "resources[0]: it asks for places (rack) itself; leave "
                         "out the placement and the number of switches");
    match_request_destroy (req);
}

/* A machine without such a level: a preference does not matter, a bound never holds. */
static void test_no_level (void **state)
{
    struct world w = { 0 };
    struct machine_node_spec spec = { .name = "n0", .cores = 4 };

    (void)state;
    w.g = machine_create ("cluster");
    w.m = matcher_create (w.g, match_policy_find ("lonode"));
    expect (&w, 1, "node=1>slot=1>core=1", PLACEMENT_PACK, 0, "the machine has no nodes");
    assert_int_equal (machine_node_add (w.g, &spec, NULL), 0);
    expect (&w, 1, "node=1>slot=1>core=1", PLACEMENT_PACK, 0, "n0");
    expect (&w, 2, "slot=2>core=1", PLACEMENT_SPREAD, 0, "n0");
    expect (&w, 3, "slot=1>core=1", PLACEMENT_PACK, 1,
            "needs 1 slot of 1 core in at most 1 rack: 0 of 1 slot fit the machine");
    end_world (&w);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_by_hand), cmocka_unit_test (test_segments),
        cmocka_unit_test (test_refused), cmocka_unit_test (test_no_level),
        cmocka_unit_test (test_random),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

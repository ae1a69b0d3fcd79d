/* The planner: bookings over time. Fails if a unit is allocated twice, if a window
 * misses a reservation, if a refused update books a part, or if a cancel leaves
 * something behind. */
#include "match/test/machine_test.h"

#include <errno.h>

#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/search/search.h"

#define NODE0 "/cluster0/rack0/node0"
#define NODE1 "/cluster0/rack0/node1"

/* -- windows -- */

static void test_windows_of_units (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/core0");
    struct window now = { .at = 10, .end = 20, .now = true };
    struct window later = { .at = 100, .end = 200 };
    struct window ever = { .ever = true };

    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 1, 0, 0, 50), 0);
    assert_int_equal (machine_book (p, 2, true, NODE0 "/core1", 2, 0, 15, 150), 0);
    assert_int_equal (claims_free_word (p, v, 0, &now), 8);
    assert_int_equal (claims_free_count (p, v, &now), 1);
    assert_int_equal (claims_free_word (p, v, 0, &later), 9);
    now = (struct window){ .at = 60, .end = 70, .now = true };
    assert_int_equal (claims_free_word (p, v, 0, &now), 8); /* job 1 is late */
    now = (struct window){ .at = 10, .end = 15, .now = true };
    assert_int_equal (claims_free_word (p, v, 0, &now), 14);
    later = (struct window){ .at = 150, .end = INT64_MAX };
    assert_int_equal (claims_free_word (p, v, 0, &later), 15);
    later = (struct window){ .at = 49, .end = 50 };
    assert_int_equal (claims_free_word (p, v, 0, &later), 8);
    assert_int_equal (claims_free_word (p, v, 0, &ever), 15);
    graph_set_flag (p->g, v, 3, GRAPH_DOWN, true);
    planner_changed (p, v);
    assert_int_equal (claims_free_word (p, v, 0, &later), 0);
    assert_int_equal (claims_free_word (p, v, 0, &ever), 15);
    machine_done (p);
}

static void test_units_past_64 (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
    uint32_t v = machine_add (g, node, "core", 0, 200, 1, 0);
    struct planner *p = machine_planner (g, "low");
    struct window now = { .at = 0, .end = 10, .now = true };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, "/cluster0/node0/core60", 70, 0, 0, 9),
                      0);
    machine_verify (p);
    assert_int_equal (claims_free_word (p, v, 0, &now), (UINT64_C (1) << 60) - 1);
    assert_int_equal (claims_free_word (p, v, 1, &now), 0);
    assert_int_equal (claims_free_word (p, v, 2, &now), ~UINT64_C (0) << 2);
    assert_int_equal (claims_free_word (p, v, 3, &now), 255);
    assert_int_equal (claims_free_count (p, v, &now), 130);
    assert_int_equal (planner_free (p, GRAPH_CORE), 130);
    machine_done (p);
}

/* The maximum use at any one time of the window, not the sum over it. */
static void test_amounts_over_time (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/memory0");
    struct window w = { .at = 0, .end = 100, .now = true };

    assert_int_equal (machine_book (p, 1, false, NODE0 "/memory0", 1, 5, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, NODE0 "/memory0", 1, 4, 10, 20), 0);
    assert_int_equal (machine_book (p, 3, true, NODE0 "/memory0", 1, 6, 20, 30), 0);
    assert_int_equal (machine_book (p, 4, true, NODE0 "/memory0", 1, 3, 15, 25), 0);
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 9);
    w = (struct window){ .at = 0, .end = 100 };
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 9);
    w = (struct window){ .at = 5, .end = 15 };
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 5);
    w = (struct window){ .at = 25, .end = INT64_MAX };
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 6);
    assert_int_equal (machine_book (p, 5, false, NODE0 "/memory0", 1, 8, 0, 40), -EBUSY);
    w = (struct window){ .at = 12, .end = 100, .now = true }; /* job 1 is late */
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 5 - 9);
    assert_int_equal (machine_book (p, 5, false, NODE0 "/memory0", 1, 2, 0, 40), 0);
    assert_int_equal (machine_book (p, 6, true, NODE0 "/memory0", 1, 17, 90, 95),
                      -ENOENT);
    assert_int_equal (machine_book (p, 6, true, NODE0 "/memory0", 1, 16, 90, 95), 0);
    machine_done (p);
}

/* More claims on one vertex than are sorted on the stack. */
static void test_amounts_of_many (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t v = machine_add (g, root, "licence", 0, 1, 1000, GRAPH_DIVISIBLE);
    struct planner *p = machine_planner (g, "low");
    struct window w = { .at = 0, .end = INT64_MAX };

    for (uint64_t i = 1; i <= 300; i++)
        assert_int_equal (machine_book (p, i, true, "/cluster0/licence0", 1, 100,
                                        (int64_t)i * 10, (int64_t)i * 10 + 95),
                          0);
    assert_int_equal (claims_free_amount (p, v, &w), 0);
    assert_int_equal (machine_book (p, 301, true, "/cluster0/licence0", 1, 1, 1000, 1001),
                      -EBUSY);
    machine_done (p);
}

static void test_exclusive_node_covers (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    uint32_t n0 = machine_find (p->g, NODE0), n1 = machine_find (p->g, NODE1);
    struct window now = { .at = 0, .end = 10, .now = true },
                  later = { .at = 10, .end = 20 };

    assert_int_equal (machine_book (p, 1, false, NODE0, 1, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, false, NODE1 "/core0", 1, 0, 0, 10), 0);
    assert_true (claims_taken (p, n0, &now));
    assert_false (claims_taken (p, n0, &later));
    assert_false (claims_taken (p, n1, &now));
    assert_false (claims_untouched (p, n0, &now));
    assert_false (claims_untouched (p, n1, &now));
    assert_true (claims_untouched (p, n1, &later));
    assert_int_equal (machine_book (p, 3, false, NODE0 "/core1", 1, 0, 0, 10), -EBUSY);
    assert_int_equal (machine_book (p, 3, false, NODE0 "/memory0", 1, 1, 0, 10), -EBUSY);
    assert_int_equal (machine_book (p, 3, false, NODE1, 1, 0, 0, 10), -EBUSY);
    assert_int_equal (machine_book (p, 3, true, NODE1, 1, 0, 10, 20), 0);
    assert_int_equal (machine_book (p, 4, false, NODE1 "/core1", 1, 0, 0, 11), -EBUSY);
    assert_int_equal (machine_book (p, 4, false, NODE1 "/core1", 1, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 5, true, "/cluster0/rack0", 1, 0, 20, 30), 0);
    assert_int_equal (machine_book (p, 6, true, NODE1 "/core1", 1, 0, 25, 30), -EBUSY);
    machine_done (p);
}

/* -- update -- */

static void test_update_refuses_whole (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    autoselection struct selection *s = selection_create ();
    struct error err = { 0 };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 7, false, NODE1 "/core2", 1, 0, 0, 10), 0);
    machine_pick (s, p->g, NODE0, 1, 0);
    machine_pick (s, p->g, NODE1 "/core1", 3, 0);
    machine_pick (s, p->g, NODE1 "/memory0", 1, 3);
    s->end = 10;
    uint64_t generation = planner_generation (p);
    assert_int_equal (planner_update (p, 8, s, false, &err), -EBUSY);
    assert_string_equal (err.text, NODE1 "/core2 is taken by job 7");
    assert_int_equal (planner_count (p), 1);
    assert_int_equal (planner_free (p, GRAPH_CORE), 7);
    assert_int_equal (planner_free (p, GRAPH_NODE), 1);
    assert_int_equal (planner_generation (p), generation);
    machine_verify (p);
    assert_int_equal (planner_update (p, 7, s, false, &err), -EEXIST);
    s->picks[1].count = 5;
    assert_int_equal (planner_update (p, 8, s, false, &err), -ENOENT);
    s->picks[1].v = 9999;
    assert_int_equal (planner_update (p, 8, s, false, &err), -ENOENT);
    s->end = 0;
    assert_int_equal (planner_update (p, 8, s, false, &err), -EINVAL);
    s->start = -1;
    assert_int_equal (planner_update (p, 8, s, false, &err), -EINVAL);
    machine_done (p);
}

static void test_update_named_twice (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    autoselection struct selection *s = selection_create ();
    struct error err = { 0 };
    struct planner_job job;

    s->end = 10;
    machine_pick (s, p->g, NODE0 "/core0", 2, 0);
    machine_pick (s, p->g, NODE0 "/core1", 2, 0);
    assert_int_equal (planner_update (p, 1, s, false, &err), -EINVAL);
    machine_verify (p);
    s->n = 1;
    machine_pick (s, p->g, NODE0, 1, 0); /* behind the units that it covers */
    assert_int_equal (planner_update (p, 1, s, false, &err), -EINVAL);
    s->n = 0;
    machine_pick (s, p->g, NODE0 "/memory0", 1, 2);
    machine_pick (s, p->g, NODE0 "/memory0", 1, 2);
    assert_int_equal (planner_update (p, 1, s, false, &err), -EINVAL);
    s->n = 0;
    machine_pick (s, p->g, NODE0, 1, 0); /* as readers give it: parts are claimed, too */
    machine_pick (s, p->g, NODE0 "/core0", 4, 0);
    machine_pick (s, p->g, NODE0 "/memory0", 1, 16);
    assert_int_equal (planner_update (p, 1, s, true, &err), 0);
    assert_true (planner_find (p, 1, &job));
    assert_int_equal (job.nclaims, 1);
    assert_true (job.reserved);
    machine_done (p);
}

/* Running jobs keep running on drained nodes, and are found there again. */
static void test_update_where_it_is_down (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    uint32_t n0 = machine_find (p->g, NODE0);

    graph_set_flag (p->g, n0, 0, GRAPH_DRAINED, true);
    planner_changed (p, n0);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 2, 0, 0, 10), 0);
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    machine_verify (p);
    assert_int_equal (planner_cancel (p, 1), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    graph_set_flag (p->g, n0, 0, GRAPH_DRAINED, false);
    planner_changed (p, n0);
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 8);
    machine_done (p);
}

/* Outside the range of times. */
static void test_time_has_ends (void **state)
{
    (void)state;
    struct planner_options opt = { .begin = 100, .end = 200 };
    struct planner *p =
        planner_create (machine_of (1, 1), match_policy_find ("low"), &opt);
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 3}]}");
    autoselection struct selection *s = NULL;
    struct error err = { 0 };

    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 2, 0, 99, 150), -EINVAL);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 2, 0, 150, 201),
                      -EINVAL);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 2, 0, 100, 200), 0);
    assert_int_equal (planner_extend (p, 1, 201, &err), -EINVAL);
    assert_int_equal (planner_extend (p, 1, 160, &err), 0);
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 2, core, 120, 81, &s, &err),
                      -EINVAL);
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 2, core, 99, 1, &s, &err),
                      -EINVAL);
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 2, core, 120, 0, &s, &err),
                      -EINVAL);
    assert_int_equal (
        search_match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 2, core, 120, 41, &s, &err),
        -EBUSY); /* from 160 on the job is too long */
    assert_null (s);
    assert_int_equal (search_match (p, SEARCH_ALLOCATE_ORELSE_RESERVE, 2, core, 50,
                                    PLANNER_FOREVER, &s, &err),
                      0);
    assert_int_equal (s->start, 160);
    assert_int_equal (s->end, 200);
    assert_int_equal (
        search_match (p, SEARCH_ALLOCATE, 3, core, 200, PLANNER_FOREVER, NULL, &err),
        -EINVAL);
    shape_destroy (core);
    machine_done (p);
}

/* -- giving back -- */

static int64_t claims_of (const struct planner *p, uint64_t job)
{
    struct planner_job j;

    return planner_find (p, job, &j) ? (int64_t)j.nclaims : -1;
}

static int give_back (struct planner *p, uint64_t job, const char *path, uint32_t count,
                      int64_t amount, bool *empty)
{
    autoselection struct selection *s = machine_select (p->g, path, count, amount, 0, 0);

    return planner_cancel_part (p, job, s, empty);
}

static void test_part_of_a_run (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/core0");
    struct window now = { .at = 0, .end = 1, .now = true };
    bool empty;

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (give_back (p, 1, NODE0 "/core0", 1, 0, &empty), -ENOENT);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 4, 0, 0, 10), 0);
    uint64_t generation = planner_generation (p);
    assert_int_equal (give_back (p, 1, NODE0 "/core1", 2, 0, &empty), 0);
    assert_true (planner_generation (p) > generation);
    assert_false (empty);
    machine_verify (p);
    assert_int_equal (claims_free_word (p, v, 0, &now), 6);
    assert_int_equal (claims_of (p, 1), 2);
    assert_int_equal (give_back (p, 1, NODE0 "/core0", 2, 0, &empty), 0);
    assert_int_equal (claims_free_word (p, v, 0, &now), 7);
    assert_int_equal (give_back (p, 1, NODE0 "/gpu0", 2, 0, &empty), 0);
    assert_false (empty);
    assert_int_equal (give_back (p, 1, NODE0, 1, 0, &empty), 0); /* all of the node */
    assert_true (empty);
    assert_int_equal (claims_of (p, 1), -1);
    assert_int_equal (planner_free (p, GRAPH_NODE), 1);
    machine_done (p);
}

static void test_part_of_an_amount (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/memory0");
    struct window now = { .at = 0, .end = 1, .now = true };
    bool empty;

    assert_int_equal (machine_book (p, 1, false, NODE0 "/memory0", 1, 10, 0, 10), 0);
    assert_int_equal (give_back (p, 1, NODE0 "/memory0", 1, 4, &empty), 0);
    assert_false (empty);
    assert_int_equal (claims_free_amount (p, v, &now), 10);
    assert_int_equal (give_back (p, 1, NODE0 "/memory0", 1, 7, &empty), 0);
    assert_true (empty);
    assert_int_equal (claims_free_amount (p, v, &now), 16);
    machine_done (p);
}

/* One core of a job that has a rack: the job keeps the rest. */
static void test_part_of_a_rack (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (2, 2), "low");
    bool empty;

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, "/cluster0/rack0", 1, 0, 0, 10), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 8);
    machine_verify (p);
    assert_int_equal (give_back (p, 1, NODE1 "/core1", 1, 0, &empty), 0);
    assert_false (empty);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 9);
    assert_int_equal (planner_free (p, GRAPH_NODE), 2);
    assert_true (planner_has (p, 1, machine_find (p->g, NODE0 "/gpu1"), 1, false));
    assert_true (planner_has (p, 1, machine_find (p->g, NODE1 "/core0"), 3, false));
    assert_false (planner_has (p, 1, machine_find (p->g, NODE1 "/core0"), 1, false));
    assert_false (planner_has (p, 1, machine_find (p->g, NODE1), 0, false));
    assert_true (planner_has (p, 1, machine_find (p->g, NODE1), 0, true));
    assert_int_equal (machine_book (p, 2, false, NODE1 "/core1", 1, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 3, false, NODE1 "/gpu1", 1, 0, 0, 10), -EBUSY);
    assert_int_equal (give_back (p, 1, "/cluster0/rack0", 1, 0, &empty), 0);
    assert_true (empty);
    assert_int_equal (planner_cancel (p, 2), 0);
    assert_int_equal (planner_cancel (p, 2), -ENOENT);
    assert_int_equal (planner_free (p, GRAPH_CORE), 16);
    assert_int_equal (planner_free (p, GRAPH_NODE), 4);
    machine_done (p);
}

/* -- extend, begin -- */

static void test_extend (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 2), "low");
    struct error err = { 0 };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 2, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, NODE0 "/core2", 2, 0, 10, 20), 0);
    assert_int_equal (machine_book (p, 3, true, NODE0 "/core1", 1, 0, 30, 40), 0);
    assert_int_equal (planner_extend (p, 4, 10, &err), -ENOENT);
    assert_int_equal (planner_extend (p, 1, 30, &err), 0);
    machine_verify (p);
    assert_int_equal (planner_extend (p, 1, 31, &err), -EBUSY);
    assert_string_equal (err.text, NODE0 "/core0 is reserved for job 3");
    assert_int_equal (planner_extend (p, 1, PLANNER_FOREVER, &err), -EBUSY);
    assert_int_equal (planner_extend (p, 1, 0, &err), -EINVAL);
    assert_int_equal (planner_cancel (p, 3), 0);
    assert_int_equal (planner_extend (p, 1, PLANNER_FOREVER, &err), 0);
    machine_verify (p);
    assert_int_equal (machine_book (p, 5, true, NODE0 "/core1", 1, 0, 1000, 1001),
                      -EBUSY);
    uint64_t generation = planner_generation (p);
    assert_int_equal (planner_extend (p, 1, 5, &err), 0);
    assert_true (planner_generation (p) > generation);
    assert_int_equal (machine_book (p, 5, true, NODE0 "/core1", 1, 0, 5, 6), 0);
    assert_int_equal (machine_book (p, 6, true, NODE0, 1, 0, 50, 60), 0);
    assert_int_equal (planner_extend (p, 2, 51, &err), -EBUSY);
    assert_int_equal (planner_extend (p, 6, 70, &err), 0);
    assert_int_equal (machine_book (p, 7, false, NODE1 "/memory0", 1, 10, 0, 10), 0);
    assert_int_equal (machine_book (p, 8, true, NODE1 "/memory0", 1, 7, 10, 20), 0);
    assert_int_equal (planner_extend (p, 7, 11, &err), -EBUSY);
    machine_done (p);
}

/* -- use by jobs -- */

static void test_jobs_in_order (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 4), "low");
    static const uint64_t ids[] = { 7, 3, UINT64_MAX, 12 };
    uint64_t at = 0, last = 0;
    struct planner_job job;
    size_t n = 0;

    for (size_t i = 0; i < 4; i++) {
        autofree char *path = NULL;
        assert_true (asprintf (&path, "/cluster0/rack0/node%zu", i) > 0);
        assert_int_equal (machine_book (p, ids[i], i == 2, path, 1, 0, (int64_t)i, 90),
                          0);
    }
    for (; planner_next (p, at, &job); at = job.job, n++) {
        assert_true (job.job > last);
        assert_int_equal (job.reserved, job.job == UINT64_MAX);
        last = job.job;
    }
    assert_int_equal (n, 4);
    assert_int_equal (planner_count (p), 4);
    assert_false (planner_find (p, 4, &job));
    assert_true (planner_find (p, 12, &job));
    assert_int_equal (job.start, 3);
    assert_int_equal (job.end, 90);
    assert_int_equal (job.nclaims, 1);
    machine_done (p);
}

static void test_selection_of_a_job (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (2, 2), "low");
    autoselection struct selection *s = selection_create (), *t = NULL;
    struct error err = { 0 };

    machine_pick (s, p->g, "/cluster0/rack1/node2", 1, 0);
    machine_pick (s, p->g, NODE0 "/memory0", 1, 7);
    machine_pick (s, p->g, NODE0 "/core1", 2, 0);
    assert_int_equal (selection_complete (s, p->g), 0);
    s->start = 5;
    s->end = 9;
    assert_int_equal (planner_update (p, 1, s, false, &err), 0);
    t = planner_selection (p, 1);
    assert_int_equal (t->n, s->n);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal (t->picks[i].v, s->picks[i].v);
        assert_int_equal (t->picks[i].parent, s->picks[i].parent);
        assert_int_equal (t->picks[i].unit, s->picks[i].unit);
        assert_int_equal (t->picks[i].count, s->picks[i].count);
        assert_int_equal (t->picks[i].amount, s->picks[i].amount);
        assert_int_equal (t->picks[i].claimed, s->picks[i].claimed);
        assert_int_equal (t->picks[i].exclusive, s->picks[i].exclusive);
    }
    assert_int_equal (t->start, 5);
    assert_int_equal (t->end, 9);
    assert_null (planner_selection (p, 2));
    machine_done (p);
}

static void test_used (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (2, 2), "low");
    uint32_t root = p->g->root, rack1 = machine_find (p->g, "/cluster0/rack1");
    uint32_t node2 = machine_find (p->g, "/cluster0/rack1/node2");

    assert_int_equal (machine_book (p, 1, false, NODE0, 1, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, NODE1 "/core1", 2, 0, 5, 20), 0);
    assert_int_equal (machine_book (p, 3, true, "/cluster0/rack1", 1, 0, 20, 30), 0);
    assert_int_equal (machine_book (p, 4, false, NODE1 "/memory0", 1, 7, 0, 10), 0);
    assert_int_equal (planner_used (p, root, GRAPH_CORE, 0), 4);
    assert_int_equal (planner_used (p, root, GRAPH_CORE, 5), 6);
    assert_int_equal (planner_used (p, root, GRAPH_MEMORY, 5), 23);
    assert_int_equal (planner_used (p, root, GRAPH_NODE, 5), 1);
    assert_int_equal (planner_used (p, rack1, GRAPH_CORE, 5), 0);
    assert_int_equal (planner_used (p, rack1, GRAPH_CORE, 25), 8);
    assert_int_equal (planner_used (p, node2, GRAPH_CORE, 25), 4);
    assert_int_equal (planner_used (p, node2, GRAPH_CORE, 30), 0);
    assert_int_equal (planner_used (p, root, GRAPH_CORE, 30), 4); /* job 1 is late */
    machine_done (p);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_windows_of_units),
        cmocka_unit_test (test_units_past_64),
        cmocka_unit_test (test_amounts_over_time),
        cmocka_unit_test (test_amounts_of_many),
        cmocka_unit_test (test_exclusive_node_covers),
        cmocka_unit_test (test_update_refuses_whole),
        cmocka_unit_test (test_update_named_twice),
        cmocka_unit_test (test_update_where_it_is_down),
        cmocka_unit_test (test_time_has_ends),
        cmocka_unit_test (test_part_of_a_run),
        cmocka_unit_test (test_part_of_an_amount),
        cmocka_unit_test (test_part_of_a_rack),
        cmocka_unit_test (test_extend),
        cmocka_unit_test (test_jobs_in_order),
        cmocka_unit_test (test_selection_of_a_job),
        cmocka_unit_test (test_used),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

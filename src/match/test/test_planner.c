/* The planner: who has what until when. What would be wrong: a unit given twice, a window
 * that does not see a reservation, an update that books a part of what it refuses, a cancel
 * that leaves something behind, a time that fits and is not found. */
#include "match/test/machine_test.h"

#include <errno.h>

#include "match/planner_private.h"

static const struct planner_options always = { 0 };

static struct planner *planner_for (struct graph *g, const char *policy)
{
    struct planner *p = planner_create (g, match_policy_find (policy), &always);

    assert_non_null (p);
    return p;
}

static void done (struct planner *p)
{
    struct graph *g = planner_graph (p);

    machine_verify (p);
    planner_destroy (p);
    for (uint32_t v = 0; v < g->nv; v++) {
        if (g->v[v].n == 0)
            continue; /* vacant */
        assert_int_equal (g->v[v].nclaims, 0);
        assert_int_equal (g->v[v].claims, GRAPH_NONE);
        assert_int_equal (g->v[v].used, 0);
        if (g->v[v].n <= 64)
            assert_int_equal (g->v[v].busy.bits, 0);
    }
    graph_destroy (g);
}

#define NODE0 "/cluster0/rack0/node0"
#define NODE1 "/cluster0/rack0/node1"

/* -- windows -- */

static void test_windows_of_units (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/core0");
    struct window now = { .at = 10, .end = 20, .now = true };
    struct window later = { .at = 100, .end = 200 };
    struct window ever = { .ever = true }, empty = { .at = INT64_MAX, .empty = true };

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
    assert_int_equal (claims_free_word (p, v, 0, &empty), 7);
    done (p);
}

static void test_units_past_64 (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
    uint32_t v = machine_add (g, node, "core", 0, 200, 1, 0);
    struct planner *p = planner_for (g, "low");
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
    done (p);
}

/* The most that is taken at any one time of the window, not the sum over it. */
static void test_amounts_over_time (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/memory0");
    struct window w = { .at = 0, .end = 100, .now = true };

    assert_int_equal (machine_book (p, 1, false, NODE0 "/memory0", 1, 5, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, NODE0 "/memory0", 1, 4, 10, 20), 0);
    assert_int_equal (machine_book (p, 3, true, NODE0 "/memory0", 1, 6, 20, 30), 0);
    assert_int_equal (machine_book (p, 4, true, NODE0 "/memory0", 1, 3, 15, 25), 0);
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 5 - 9);
    w = (struct window){ .at = 0, .end = 100 };
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 9);
    w = (struct window){ .at = 5, .end = 15 };
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 5);
    w = (struct window){ .at = 25, .end = INT64_MAX };
    assert_int_equal (claims_free_amount (p, v, &w), 16 - 6);
    assert_int_equal (machine_book (p, 5, false, NODE0 "/memory0", 1, 3, 0, 40), -EBUSY);
    assert_int_equal (machine_book (p, 5, false, NODE0 "/memory0", 1, 2, 0, 40), 0);
    assert_int_equal (machine_book (p, 6, true, NODE0 "/memory0", 1, 17, 90, 95),
                      -ENOENT);
    assert_int_equal (machine_book (p, 6, true, NODE0 "/memory0", 1, 16, 90, 95), 0);
    done (p);
}

/* More claims on one vertex than are sorted on the stack. */
static void test_amounts_of_many (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t v = machine_add (g, root, "licence", 0, 1, 1000, GRAPH_DIVISIBLE);
    struct planner *p = planner_for (g, "low");
    struct window w = { .at = 0, .end = INT64_MAX };

    for (uint64_t i = 1; i <= 300; i++)
        assert_int_equal (machine_book (p, i, true, "/cluster0/licence0", 1, 100,
                                        (int64_t)i * 10, (int64_t)i * 10 + 95),
                          0);
    assert_int_equal (claims_free_amount (p, v, &w), 0);
    assert_int_equal (machine_book (p, 301, true, "/cluster0/licence0", 1, 1, 1000, 1001),
                      -EBUSY);
    done (p);
}

static void test_exclusive_node_covers (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
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
    done (p);
}

/* -- update -- */

static void test_update_refuses_whole (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
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
    done (p);
}

static void test_update_named_twice (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    autoselection struct selection *s = selection_create ();
    struct error err = { 0 };
    struct planner_job job;

    s->end = 10;
    machine_pick (s, p->g, NODE0 "/core0", 2, 0);
    machine_pick (s, p->g, NODE0 "/core1", 2, 0);
    assert_int_equal (planner_update (p, 1, s, false, &err), -EINVAL);
    machine_verify (p);
    s->n = 1;
    machine_pick (s, p->g, NODE0, 1, 0); /* behind what it covers */
    assert_int_equal (planner_update (p, 1, s, false, &err), -EINVAL);
    s->n = 0;
    machine_pick (s, p->g, NODE0 "/memory0", 1, 2);
    machine_pick (s, p->g, NODE0 "/memory0", 1, 2);
    assert_int_equal (planner_update (p, 1, s, false, &err), -EINVAL);
    s->n = 0;
    machine_pick (s, p->g, NODE0, 1, 0); /* as readers tell it: parts are claimed, too */
    machine_pick (s, p->g, NODE0 "/core0", 4, 0);
    machine_pick (s, p->g, NODE0 "/memory0", 1, 16);
    assert_int_equal (planner_update (p, 1, s, true, &err), 0);
    assert_true (planner_find (p, 1, &job));
    assert_int_equal (job.nclaims, 1);
    assert_true (job.reserved);
    done (p);
}

/* What runs keeps running on what is drained, and is found again there. */
static void test_update_where_it_is_down (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
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
    done (p);
}

/* Outside of what there is of time. */
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
    assert_int_equal (planner_match (p, PLANNER_ALLOCATE, 2, core, 120, 81, &s, &err),
                      -EINVAL);
    assert_int_equal (planner_match (p, PLANNER_ALLOCATE, 2, core, 99, 1, &s, &err),
                      -EINVAL);
    assert_int_equal (planner_match (p, PLANNER_ALLOCATE, 2, core, 120, 0, &s, &err),
                      -EINVAL);
    assert_int_equal (
        planner_match (p, PLANNER_ALLOCATE_ORELSE_RESERVE, 2, core, 120, 41, &s, &err),
        -EBUSY); /* from 160 on it is too long */
    assert_null (s);
    assert_int_equal (planner_match (p, PLANNER_ALLOCATE_ORELSE_RESERVE, 2, core, 50,
                                     PLANNER_FOREVER, &s, &err),
                      0);
    assert_int_equal (s->start, 160);
    assert_int_equal (s->end, 200);
    assert_int_equal (
        planner_match (p, PLANNER_ALLOCATE, 3, core, 200, PLANNER_FOREVER, NULL, &err),
        -EINVAL);
    shape_destroy (core);
    done (p);
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
    struct planner *p = planner_for (machine_of (1, 1), "low");
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
    assert_int_equal (give_back (p, 1, NODE0, 1, 0, &empty), 0); /* all that is in it */
    assert_true (empty);
    assert_int_equal (claims_of (p, 1), -1);
    assert_int_equal (planner_free (p, GRAPH_NODE), 1);
    done (p);
}

static void test_part_of_an_amount (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 1), "low");
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
    done (p);
}

/* One core of a job that has a rack: the rest stays its own. */
static void test_part_of_a_rack (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (2, 2), "low");
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
    done (p);
}

/* -- extend, begin -- */

static void test_extend (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
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
    done (p);
}

static void test_begin (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 1), "low");
    uint32_t v = machine_find (p->g, NODE0 "/core0");

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 2, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, NODE0 "/core1", 2, 0, 10, 20), 0);
    assert_false (planner_is_allocated (p, v, 2));
    assert_true (planner_is_reserved (p, v, 2));
    assert_int_equal (planner_begin (p, 3), -ENOENT);
    assert_int_equal (planner_begin (p, 1), -EINVAL);
    assert_int_equal (planner_begin (p, 2), -EBUSY); /* job 1 is late */
    machine_verify (p);
    assert_int_equal (planner_cancel (p, 1), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    assert_int_equal (planner_begin (p, 2), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 2);
    assert_true (planner_is_allocated (p, v, 2));
    assert_false (planner_is_reserved (p, v, 2));
    done (p);
}

/* -- who has what -- */

static void test_jobs_in_order (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 4), "low");
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
    done (p);
}

static void test_selection_of_a_job (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (2, 2), "low");
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
    done (p);
}

static void test_used (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (2, 2), "low");
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
    done (p);
}

/* -- levels -- */

static void test_order_of_nodes (void **state)
{
    (void)state;
    for (int high = 0; high < 2; high++) {
        struct planner *p = planner_for (machine_of (3, 3), high ? "high" : "low");
        assert_int_equal (levels_update (p), 0);
        const struct above *root = levels_above (p, p->g->root);
        const struct above *rack =
            levels_above (p, machine_find (p->g, "/cluster0/rack1"));
        assert_int_equal (root->nnodes, 9);
        assert_int_equal (root->nkids, 3);
        assert_int_equal (root->nloose, 0);
        assert_int_equal (root->nown, 0);
        assert_int_equal (rack->nnodes, 3);
        assert_int_equal (rack->nown, 3);
        assert_int_equal (rack->nkids, 0);
        assert_false (p->any_loose);
        assert_true (p->type_above[graph_type_find (p->g, "rack")]);
        assert_false (p->type_above[GRAPH_CLUSTER]);
        for (size_t i = 0; i < 9; i++)
            assert_int_equal (graph_vertex (p->g, root->nodes[i])->id, high ? 8 - i : i);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal (graph_vertex (p->g, rack->nodes[i])->id,
                              high ? 5 - i : 3 + i);
        assert_null (levels_above (p, machine_find (p->g, NODE0)));
        assert_int_equal (levels_dim (p, GRAPH_NODE), 0);
        assert_int_equal (levels_dim (p, GRAPH_CORE), 1);
        assert_int_equal (levels_dim (p, (uint16_t)graph_type_find (p->g, "rack")), -1);
        done (p);
    }
}

/* Ids that come again: the order of the graph decides, whichever way the policy goes. */
static void test_equal_scores (void **state)
{
    (void)state;
    for (int high = 0; high < 2; high++) {
        struct graph *g = graph_create ();
        uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0), nodes[9];
        for (int r = 0; r < 3; r++) {
            uint32_t rack = machine_add (g, root, "rack", r, 1, 1, 0);
            for (int n = 0; n < 3; n++)
                nodes[r * 3 + n] = machine_add (g, rack, "node", n, 1, 1, 0);
        }
        struct planner *p = planner_for (g, high ? "high" : "low");
        assert_int_equal (levels_update (p), 0);
        const struct above *a = levels_above (p, root);
        for (size_t i = 0; i < 9; i++)
            assert_int_equal (a->nodes[i], nodes[i % 3 * 3 + (high ? 2 - i / 3 : i / 3)]);
        done (p);
    }
}

/* Things beside nodes, nodes in nodes, and a group above which nothing is. */
static void test_odd_graphs (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t rack = machine_add (g, root, "rack", 0, 1, 1, 0);
    uint32_t pdu = machine_add (g, rack, "pdu", 0, 1, 1, 0);
    uint32_t node = machine_add (g, rack, "node", 0, 1, 1, 0);
    uint32_t inner = machine_add (g, node, "node", 1, 1, 1, 0);
    machine_add (g, inner, "core", 0, 8, 1, 0);
    machine_add (g, pdu, "power", 0, 1, 500, GRAPH_DIVISIBLE);
    uint32_t cores = machine_add (g, root, "core", 0, 3, 1, 0);
    uint32_t box = machine_add (g, root, "rack", 1, 1, 1, 0);
    machine_add (g, box, "core", 0, 2, 1, 0);
    struct planner *p = planner_for (g, "low");
    struct window now = { .at = 0, .end = 10, .now = true };

    assert_int_equal (levels_update (p), 0);
    const struct above *a = levels_above (p, root);
    assert_true (p->any_loose);
    assert_int_equal (a->nnodes, 1);
    assert_int_equal (a->nodes[0], node);
    assert_int_equal (a->nown, 0);
    assert_int_equal (a->nkids, 1);
    assert_int_equal (a->nloose, 2);
    assert_int_equal (a->loose[0], cores);
    assert_int_equal (a->loose[1], box);
    assert_int_equal (levels_above (p, node)->nnodes, 1);
    assert_int_equal (levels_above (p, node)->nodes[0], inner);
    assert_null (levels_above (p, inner));
    assert_int_equal (planner_free (p, GRAPH_CORE), 13);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "power")), 500);
    assert_int_equal (machine_book (p, 1, false, "/cluster0/core1", 1, 0, 0, 9), 0);
    assert_int_equal (
        machine_book (p, 2, false, "/cluster0/rack0/node0/node1/core5", 2, 0, 0, 9), 0);
    assert_int_equal (
        machine_book (p, 3, false, "/cluster0/rack0/pdu0/power0", 1, 100, 0, 9), 0);
    assert_int_equal (machine_book (p, 4, false, "/cluster0/rack1", 1, 0, 0, 9), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 8);
    assert_int_equal (planner_free (p, GRAPH_NODE), 0);
    assert_false (claims_untouched (p, node, &now));
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "power")), 400);
    assert_int_equal (planner_cancel (p, 4), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 10);
    graph_set_flag (g, rack, 0, GRAPH_DOWN, true);
    planner_changed (p, rack);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "power")), 0);
    done (p);
}

/* A node in a node in a node: walks go on in there, and what is in it is the outermost's. */
static void test_nodes_in_nodes (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t outer = machine_add (g, root, "node", 0, 1, 1, 0);
    uint32_t board = machine_add (g, outer, "board", 0, 1, 1, 0), middle[2], inner[2];
    struct shape *s = machine_shape ("{type: slot, count: 1, label: a, with: "
                                     "[{type: core, count: 2}]}");
    for (int i = 0; i < 2; i++) {
        middle[i] = machine_add (g, board, "node", 2 - i, 1, 1, 0);
        inner[i] = machine_add (g, middle[i], "node", 7 + i, 1, 1, 0);
        machine_add (g, inner[i], "core", 0, 2, 1, 0);
    }
    machine_add (g, outer, "gpu", 0, 2, 1, 0);
    struct planner *p = planner_for (g, "low");
    struct planner_job job;

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (levels_above (p, root)->nnodes, 1);
    assert_int_equal (levels_above (p, outer)->nkids, 1);
    assert_int_equal (levels_above (p, outer)->kids[0], board);
    assert_int_equal (levels_above (p, outer)->nloose, 1);
    assert_int_equal (levels_above (p, outer)->nown, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (levels_above (p, outer)->nodes[i], middle[1 - i]);
        assert_int_equal (levels_above (p, board)->nodes[i], middle[1 - i]);
        assert_int_equal (levels_above (p, middle[i])->nodes[0], inner[i]);
        assert_null (levels_above (p, inner[i]));
    }
    for (uint64_t i = 1; i <= 2; i++) {
        assert_int_equal (planner_free (p, GRAPH_CORE), 6 - 2 * (int64_t)i);
        assert_int_equal (planner_match (p, PLANNER_ALLOCATE, i, s, 0, 9, NULL, NULL), 0);
        machine_verify (p);
    }
    assert_int_equal (planner_match (p, PLANNER_ALLOCATE, 4, s, 0, 9, NULL, NULL),
                      -EBUSY);
    assert_int_equal (
        planner_match (p, PLANNER_ALLOCATE_ORELSE_RESERVE, 4, s, 0, 9, NULL, NULL), 0);
    assert_true (planner_find (p, 4, &job));
    assert_int_equal (job.start, 9);
    shape_destroy (s);
    done (p);
}

/* No nodes, nothing above them, nothing at all. */
static void test_no_nodes (void **state)
{
    (void)state;
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 1}]}");
    struct error err = { 0 };

    for (int kind = 0; kind < 3; kind++) {
        struct graph *g = graph_create ();
        struct planner *p = planner_for (g, "low");
        assert_int_equal (planner_match (p, PLANNER_ALLOCATE, 1, core, 0, 5, NULL, &err),
                          -EBUSY);
        assert_int_equal (
            planner_match (p, PLANNER_ALLOCATE_ORELSE_RESERVE, 1, core, 0, 5, NULL, &err),
            -ENODEV);
        assert_int_equal (planner_free (p, GRAPH_CORE), 0);
        if (kind > 0) {
            uint32_t root =
                machine_add (g, GRAPH_NONE, kind > 1 ? "node" : "cluster", 0, 1, 1, 0);
            machine_add (g, root, "core", 0, 2, 1, 0);
            planner_changed (p, GRAPH_NONE);
            assert_int_equal (
                planner_match (p, PLANNER_ALLOCATE, 1, core, 0, 5, NULL, &err), 0);
            assert_int_equal (planner_free (p, GRAPH_CORE), 1);
            assert_int_equal (
                planner_match (p, PLANNER_ALLOCATE, 2, core, 0, 5, NULL, &err), 0);
            assert_int_equal (planner_match (p, PLANNER_ALLOCATE_ORELSE_RESERVE, 3, core,
                                             0, 5, NULL, &err),
                              0);
        }
        done (p);
    }
    shape_destroy (core);
}

/* A node that is drained is looked at alone: its neighbours' entries stay where they are. */
static void test_drain_is_local (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (2, 4), "low");
    uint32_t n1 = machine_find (p->g, NODE1), core = machine_find (p->g, NODE1 "/core0");
    struct index_key key;

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, NODE1 "/core0", 2, 0, 0, 10), 0);
    const struct level_node *nodes = p->nodes;
    const struct index *index = p->above[0].index;
    graph_set_flag (p->g, n1, 0, GRAPH_DRAINED, true);
    planner_changed (p, n1);
    assert_int_equal (levels_update (p), 0);
    assert_ptr_equal (p->nodes, nodes);
    assert_ptr_equal (p->above[0].index, index);
    machine_verify (p);
    index_get (index, 1, &key);
    assert_int_equal (key.free[0], -1);
    assert_int_equal (key.ever[1], 4);
    assert_int_equal (planner_free (p, GRAPH_CORE), 28);
    graph_set_flag (p->g, n1, 0, GRAPH_DRAINED, false);
    planner_changed (p, n1);
    graph_set_flag (p->g, core, 3, GRAPH_DOWN, true);
    planner_changed (p, core);
    assert_int_equal (levels_update (p), 0);
    assert_ptr_equal (p->nodes, nodes);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 29);
    index_get (index, 1, &key);
    assert_int_equal (key.free[1], 1);
    /* Two at once, or one that was not told: no shortcut. */
    graph_set_flag (p->g, machine_find (p->g, NODE0), 0, GRAPH_DOWN, true);
    graph_set_flag (p->g, core, 3, GRAPH_DOWN, false);
    planner_changed (p, core);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 26);
    done (p);
}

static void test_graph_grows_and_shrinks (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    uint32_t rack = machine_find (p->g, "/cluster0/rack0");
    uint32_t core = machine_find (p->g, NODE0 "/core0");
    struct error err = { 0 };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 4, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, false, NODE1 "/core0", 1, 0, 0, 10), 0);
    uint32_t node = machine_add (p->g, rack, "node", 9, 1, 1, 0);
    machine_add (p->g, node, "core", 0, 6, 1, 0);
    planner_changed (p, node);
    assert_int_equal (planner_cancel (p, 2), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 10);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 10);
    assert_int_equal (graph_remove (p->g, node, &err), 0);
    planner_changed (p, rack);
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (planner_free (p, GRAPH_CORE), 4);
    assert_int_equal (graph_remove (p->g, machine_find (p->g, NODE0), &err), -EBUSY);
    /* Fewer cores than are busy: gone when they are given back. */
    assert_int_equal (graph_resize (p->g, core, 1, 1, &err), 0);
    planner_changed (p, core);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (graph_vertex (p->g, core)->n, 4);
    assert_int_equal (planner_cancel (p, 1), 0);
    assert_int_equal (graph_vertex (p->g, core)->n, 1);
    assert_int_equal (levels_update (p), 0);
    machine_verify (p);
    assert_int_equal (planner_free (p, GRAPH_CORE), 5);
    done (p);
}

/* A unit from the middle of a run, whose group is to be smaller: the rest stays. */
static void test_part_of_what_is_to_shrink (void **state)
{
    (void)state;
    for (int from_end = 0; from_end < 2; from_end++) {
        struct graph *g = graph_create ();
        uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
        uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
        uint32_t core = machine_add (g, node, "core", 0, 200, 1, 0);
        struct planner *p = planner_for (g, "low");
        struct error err = { 0 };
        bool empty;
        assert_int_equal (
            machine_book (p, 1, false, "/cluster0/node0/core0", 200, 0, 0, 9), 0);
        assert_int_equal (graph_resize (g, core, 2, 1, &err), 0);
        planner_changed (p, core);
        autoselection struct selection *s = machine_select (
            g, from_end ? "/cluster0/node0/core150" : "/cluster0/node0/core1",
            from_end ? 50 : 100, 0, 0, 0);
        assert_int_equal (planner_cancel_part (p, 1, s, &empty), 0);
        assert_false (empty);
        assert_int_equal (graph_vertex (g, core)->n, from_end ? 150 : 200);
        assert_int_equal (planner_has (p, 1, core, 149, false), true);
        assert_int_equal (planner_has (p, 1, core, 1, false), from_end);
        assert_int_equal (levels_update (p), 0);
        machine_verify (p);
        assert_int_equal (planner_cancel (p, 1), 0);
        assert_int_equal (graph_vertex (g, core)->n, 2);
        done (p);
    }
}

/* Dimensions: the known ones, those asked for, then what is most frequent in nodes. */
static void test_dimensions (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
    uint32_t socket = machine_add (g, node, "socket", 0, 1, 1, 0);
    static const char *const types[] = { "core", "few", "some", "many", "more", "most" };
    for (size_t i = 0; i < ARRAY_SIZE (types); i++)
        machine_add (g, socket, types[i], 0, (uint32_t)i * 3 + 1, 1, 0);
    struct planner *p = planner_for (g, "low");

    assert_int_equal (planner_track (p, "socket"), 0);
    assert_int_equal (planner_track (p, "few"), 0);
    assert_int_equal (planner_track (p, "nowhere"), 0);
    assert_int_equal (levels_update (p), 0);
    assert_int_equal (p->ntypes, TYPE_DIMS);
    static const char *const want[] = { "node",   "core", "gpu",  "memory",
                                        "socket", "few",  "most", "more" };
    for (unsigned d = 0; d < TYPE_DIMS; d++)
        assert_string_equal (graph_type_name (g, p->dims[d]), want[d]);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "socket")), 1);
    assert_int_equal (planner_free (p, (uint16_t)graph_type_find (g, "many")), 10);
    done (p);
}

/* More than numbers can hold: not summed, and nothing overflows. */
static void test_huge_sizes (void **state)
{
    (void)state;
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
    uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
    machine_add (g, node, "memory", 0, GRAPH_UNITS_MAX, GRAPH_SIZE_MAX, 0);
    machine_add (g, node, "core", 0, 2, 1, 0);
    struct planner *p = planner_for (g, "low");
    struct shape *s = machine_shape ("{type: slot, count: 2, label: a, with: "
                                     "[{type: core, count: 1}]}");
    struct error err = { 0 };

    assert_int_equal (levels_update (p), 0);
    assert_int_equal (levels_dim (p, GRAPH_MEMORY), -1);
    assert_int_equal (
        machine_book (p, 1, false, "/cluster0/node0/memory5", 1 << 19, 0, 0, 10), 0);
    assert_int_equal (machine_book (p, 2, true, "/cluster0/node0", 1, 0, 10, 20), 0);
    assert_int_equal (
        planner_match (p, PLANNER_ALLOCATE_ORELSE_RESERVE, 3, s, 0, 11, NULL, &err), 0);
    machine_verify (p);
    shape_destroy (s);
    done (p);
}

/* -- matching over time -- */

static int match (struct planner *p, enum planner_op op, uint64_t job,
                  const struct shape *s, int64_t now, int64_t duration, int64_t *start)
{
    struct selection *sel = NULL;
    struct error err = { 0 };
    int rc = planner_match (p, op, job, s, now, duration, &sel, &err);

    if (start)
        *start = sel ? sel->start : -1;
    assert_true (rc == 0 || err.text[0]);
    selection_destroy (sel);
    return rc;
}

#define ORELSE PLANNER_ALLOCATE_ORELSE_RESERVE

static void test_earliest_time (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    struct shape *core3 = machine_shape ("{type: slot, count: 1, label: a, with: "
                                         "[{type: core, count: 3}]}");
    struct shape *node2 = machine_shape ("{type: slot, count: 2, label: a, with: "
                                         "[{type: node, count: 1}]}");
    struct shape *core5 = machine_shape ("{type: slot, count: 1, label: a, with: "
                                         "[{type: core, count: 5}]}");
    struct planner_job job;
    int64_t at;

    assert_int_equal (match (p, ORELSE, 1, core3, 0, 100, &at), 0);
    assert_int_equal (at, 0);
    assert_int_equal (match (p, ORELSE, 2, core3, 0, 50, &at), 0);
    assert_int_equal (at, 0);
    assert_int_equal (match (p, PLANNER_ALLOCATE, 3, core3, 0, 50, &at), -EBUSY);
    assert_int_equal (match (p, PLANNER_ALLOCATE, 1, core3, 0, 50, &at), -EEXIST);
    assert_int_equal (match (p, ORELSE, 3, node2, 0, 10, &at), 0);
    assert_int_equal (at, 100);
    assert_int_equal (match (p, ORELSE, 4, core3, 0, 50, &at), 0);
    assert_int_equal (at, 50); /* in front of job 3 */
    assert_int_equal (match (p, ORELSE, 5, core3, 0, 51, &at), 0);
    assert_int_equal (at, 110); /* behind it */
    assert_true (planner_find (p, 5, &job));
    assert_true (job.reserved);
    assert_int_equal (job.end, 161);
    machine_verify (p);
    assert_int_equal (match (p, ORELSE, 6, core5, 0, 5, &at), -ENODEV);
    assert_int_equal (match (p, PLANNER_ALLOCATE, 6, core5, 0, 5, &at), -EBUSY);
    assert_int_equal (
        match (p, PLANNER_ALLOCATE_WITH_SATISFIABILITY, 6, core5, 0, 5, &at), -ENODEV);
    assert_int_equal (
        match (p, PLANNER_ALLOCATE_WITH_SATISFIABILITY, 6, node2, 0, 5, &at), -EBUSY);
    assert_int_equal (match (p, PLANNER_SATISFIABILITY, 1, node2, 0, 5, &at), 0);
    assert_int_equal (at, -1);
    assert_int_equal (match (p, PLANNER_SATISFIABILITY, 1, core5, 0, 5, &at), -ENODEV);
    assert_int_equal (planner_count (p), 5);
    assert_int_equal (match (p, PLANNER_WITHOUT_ALLOCATING_FUTURE, 1, node2, 0, 5, &at),
                      0);
    assert_int_equal (at, 161);
    assert_int_equal (match (p, PLANNER_WITHOUT_ALLOCATING, 1, node2, 0, 5, &at), -EBUSY);
    assert_int_equal (planner_count (p), 5);
    shape_destroy (core3);
    shape_destroy (core5);
    shape_destroy (node2);
    done (p);
}

/* One ends as another begins: the sums stay the same, and yet something fits then. */
static void test_time_that_no_sum_tells (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    uint32_t gpu = machine_find (p->g, NODE1 "/gpu0");
    struct shape *s =
        machine_shape ("{type: node, count: 1, with: [{type: slot, count: 1, "
                       "label: a, with: [{type: core, count: 4}, {type: "
                       "gpu, count: 2}]}]}");
    struct error err = { 0 };
    int64_t at;

    assert_int_equal (graph_remove (p->g, gpu, &err), 0);
    planner_changed (p, GRAPH_NONE);
    assert_int_equal (machine_book (p, 1, false, NODE0 "/core0", 4, 0, 0, 70), 0);
    assert_int_equal (machine_book (p, 2, true, NODE1 "/core0", 4, 0, 70, 200), 0);
    assert_int_equal (match (p, ORELSE, 3, s, 0, 10, &at), 0);
    assert_int_equal (at, 70);
    shape_destroy (s);
    done (p);
}

/* A job that should have ended: the plan takes it that it ends at once. */
static void test_late_job (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 1), "low");
    struct shape *node = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: node, count: 1}]}");
    int64_t at;

    assert_int_equal (match (p, ORELSE, 1, node, 0, 10, &at), 0);
    assert_int_equal (match (p, ORELSE, 2, node, 20, 10, &at), 0);
    assert_int_equal (at, 21);
    assert_int_equal (match (p, ORELSE, 3, node, 20, 10, &at), 0);
    assert_int_equal (at, 31);
    assert_int_equal (planner_begin (p, 2), -EBUSY);
    assert_int_equal (planner_cancel (p, 1), 0);
    assert_int_equal (planner_begin (p, 2), 0);
    machine_verify (p);
    shape_destroy (node);
    done (p);
}

/* For ever is never over. */
static void test_forever (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    struct shape *node = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: node, count: 1}]}");
    int64_t at;

    assert_int_equal (match (p, ORELSE, 1, node, 0, PLANNER_FOREVER, &at), 0);
    assert_int_equal (match (p, ORELSE, 2, node, 0, 1000, &at), 0);
    assert_int_equal (match (p, ORELSE, 3, node, 0, PLANNER_FOREVER, &at), 0);
    assert_int_equal (at, 1000);
    assert_int_equal (match (p, ORELSE, 4, node, 0, 1, &at), -EBUSY);
    assert_int_equal (match (p, PLANNER_ALLOCATE_WITH_SATISFIABILITY, 4, node, 0, 5, &at),
                      -EBUSY);
    machine_verify (p);
    shape_destroy (node);
    done (p);
}

/* Down: passed over now and later, but not by what could be; at once known as never. */
static void test_down_nodes (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    uint32_t n0 = machine_find (p->g, NODE0);
    struct shape *node2 = machine_shape ("{type: slot, count: 2, label: a, with: "
                                         "[{type: node, count: 1}]}");
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 3}]}");
    int64_t at;

    graph_set_flag (p->g, n0, 0, GRAPH_DOWN, true);
    planner_changed (p, n0);
    assert_int_equal (match (p, ORELSE, 1, core, 0, 10, &at), 0);
    assert_true (planner_has (p, 1, machine_find (p->g, NODE1), 0, true));
    assert_int_equal (match (p, ORELSE, 2, core, 0, 10, &at), 0);
    assert_int_equal (at, 10);
    assert_int_equal (match (p, ORELSE, 3, node2, 0, 10, &at), -EBUSY);
    assert_int_equal (match (p, PLANNER_SATISFIABILITY, 3, node2, 0, 10, &at), 0);
    assert_int_equal (
        match (p, PLANNER_ALLOCATE_WITH_SATISFIABILITY, 3, node2, 0, 10, &at), -ENODEV);
    assert_int_equal (
        match (p, PLANNER_ALLOCATE_WITH_SATISFIABILITY, 3, core, 0, 10, &at), -EBUSY);
    graph_set_flag (p->g, n0, 0, GRAPH_DOWN, false);
    planner_changed (p, n0);
    assert_int_equal (match (p, ORELSE, 3, node2, 0, 10, &at), 0);
    assert_int_equal (at, 20);
    machine_verify (p);
    shape_destroy (node2);
    shape_destroy (core);
    done (p);
}

/* Jobs that share nodes: a node that one of them leaves is not whole yet, and the plan
 * must not overlook the time when it is. */
static void test_shared_nodes_and_whole_ones (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 2), "low");
    struct shape *core = machine_shape ("{type: slot, count: 1, label: a, with: "
                                        "[{type: core, count: 1}]}");
    struct shape *node2 = machine_shape ("{type: slot, count: 2, label: a, with: "
                                         "[{type: node, count: 1}]}");
    int64_t at;

    for (uint64_t i = 1; i <= 8; i++)
        assert_int_equal (match (p, ORELSE, i, core, 0, 10 * (int64_t)i, &at), 0);
    machine_verify (p);
    assert_int_equal (match (p, ORELSE, 9, node2, 0, 10, &at), 0);
    assert_int_equal (at, 80);
    for (uint64_t i = 1; i <= 7; i++) {
        assert_int_equal (planner_cancel (p, i), 0);
        machine_verify (p);
    }
    assert_int_equal (match (p, ORELSE, 10, node2, 0, 80, &at), 0);
    assert_int_equal (at, 90);
    shape_destroy (core);
    shape_destroy (node2);
    done (p);
}

/* xor_slots: the variants in turn at each time. */
static void test_variants (void **state)
{
    (void)state;
    struct planner *p = planner_for (machine_of (1, 1), "low");
    struct shape *s = machine_shape (
        "{type: node, count: 1, with: [{type: xor_slot, count: 1, label: a, "
        "with: [{type: core, count: 4}]}, {type: xor_slot, count: 1, label: "
        "b, with: [{type: gpu, count: 2}]}]}");
    int64_t at;

    assert_non_null (s->other);
    assert_int_equal (match (p, ORELSE, 1, s, 0, 10, &at), 0);
    assert_int_equal (match (p, ORELSE, 2, s, 0, 20, &at), 0);
    assert_int_equal (at, 0);
    assert_true (planner_has (p, 2, machine_find (p->g, NODE0 "/gpu0"), 1, false)
                 != planner_has (p, 1, machine_find (p->g, NODE0 "/gpu0"), 1, false));
    assert_int_equal (match (p, ORELSE, 3, s, 0, 5, &at), 0);
    assert_int_equal (at, 10);
    machine_verify (p);
    shape_destroy (s);
    done (p);
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
        cmocka_unit_test (test_begin),
        cmocka_unit_test (test_jobs_in_order),
        cmocka_unit_test (test_selection_of_a_job),
        cmocka_unit_test (test_used),
        cmocka_unit_test (test_order_of_nodes),
        cmocka_unit_test (test_equal_scores),
        cmocka_unit_test (test_odd_graphs),
        cmocka_unit_test (test_nodes_in_nodes),
        cmocka_unit_test (test_no_nodes),
        cmocka_unit_test (test_drain_is_local),
        cmocka_unit_test (test_graph_grows_and_shrinks),
        cmocka_unit_test (test_part_of_what_is_to_shrink),
        cmocka_unit_test (test_dimensions),
        cmocka_unit_test (test_huge_sizes),
        cmocka_unit_test (test_earliest_time),
        cmocka_unit_test (test_time_that_no_sum_tells),
        cmocka_unit_test (test_late_job),
        cmocka_unit_test (test_forever),
        cmocka_unit_test (test_down_nodes),
        cmocka_unit_test (test_shared_nodes_and_whole_ones),
        cmocka_unit_test (test_variants),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* A realm by example: jobs inside a reservation, and the effect of windows on the queue
 * beside it. Fails if a job starts before the window or would end after it, or if a job
 * gets a node that another job still uses. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/test/build.h"
#include "match/test/places.h"
#include "sched/realm.h"

struct fixture {
    struct machine *g;
    struct matcher *m;
    struct sched *s;
    struct hostlist *nodes;
    struct realm *x; /* n2 and n1, from 1000 to 2000 */
    struct match_request *one, *node, *two, *three;
};

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));
    struct error err;

    f->g = machine_create ("cluster");
    f->m = matcher_create (f->g, match_policy_find ("lonode"));
    f->s = sched_create (f->m, queue_policy_find ("easy"), 0);
    sched_queue_set (f->s, 0, true);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        struct machine_node_spec spec = { .name = name,
                                          .places = IN_RACK ("r"),
                                          .cores = 4 };
        machine_node_add (f->g, &spec, NULL);
    }
    f->nodes = hostlist_decode ("n[2,1]", HOSTLIST_MAX, NULL);
    f->x = realm_create (f->nodes, 1000, 2000, match_policy_find ("lonode"),
                         queue_policy_find ("easy"), 0);
    realm_queue_set (f->x, 0, true);
    f->one = build_request ("slot=1>core=1", 0, NULL, &err);
    f->node = build_request ("node=1!>slot=1>core=1", 0, NULL, &err);
    f->two = build_request ("node=2!>slot=1>core=1", 0, NULL, &err);
    f->three = build_request ("node=3>slot=1>core=1", 0, NULL, &err);
    *state = f;
    return 0;
}

static int teardown (void **state)
{
    struct fixture *f = *state;

    match_request_destroy (f->one);
    match_request_destroy (f->node);
    match_request_destroy (f->two);
    match_request_destroy (f->three);
    realm_destroy (f->x);
    hostlist_destroy (f->nodes);
    sched_destroy (f->s);
    matcher_destroy (f->m);
    machine_destroy (f->g);
    free (f);
    return 0;
}

static void add (struct sched *s, uint64_t id, double duration,
                 const struct match_request *req)
{
    struct sched_entry e = { .id = id, .priority = 16, .duration = duration, .req = req };
    assert_int_equal (sched_enqueue (s, &e), 0);
}

/* "1:n0 3:n2": ids that start now, with the first node of each. */
static void expect_starts (struct sched *s, double now, const char *what)
{
    struct strbuf sb;
    struct sched_decision d;
    int rc;

    strbuf_init (&sb, 4096);
    while ((rc = sched_next (s, now, 0, &d)) == 1) {
        strbuf_addf (&sb, "%s%llu:%s", sb.len ? " " : "", (unsigned long long)d.id,
                     d.r->ranks[0].node);
        rset_destroy (d.r);
    }
    assert_int_equal (rc, 0);
    assert_string_equal (sb.buf, what);
    strbuf_release (&sb);
}

static double planned (struct sched *s, uint64_t id)
{
    struct sched_reason reason;

    assert_int_equal (sched_reason (s, id, &reason), 0);
    return reason.start;
}

static void test_its_time (void **state)
{
    struct fixture *f = *state;
    struct sched *s = realm_sched (f->x);

    add (s, 1, 600, f->two);
    add (s, 2, 400, f->two);
    add (s, 3, 300, f->node);
    assert_int_equal (realm_open (f->x, f->g), 0);
    expect_starts (s, 100, "");
    assert_true (planned (s, 1) == 1000);
    realm_begin (f->x, f->g);
    expect_starts (s, 1000, "1:n2");
    assert_true (planned (s, 2) == 1600);
    assert_int_equal (match_cancel (realm_matcher (f->x), 1), 0);
    expect_starts (s, 1500, "2:n2");
    assert_int_equal (match_cancel (realm_matcher (f->x), 2), 0);
    expect_starts (s, 1701, ""); /* the job would end at 2001 */
    add (s, 4, 100, f->node);
    expect_starts (s, 1701, "4:n2");
}

static void test_too_large (void **state)
{
    struct fixture *f = *state;

    assert_int_equal (realm_open (f->x, f->g), 0);
    assert_int_equal (match_satisfiability (realm_matcher (f->x), f->two, NULL), 0);
    assert_int_equal (match_satisfiability (realm_matcher (f->x), f->three, NULL),
                      -ENOENT);
}

static void test_nodes_change (void **state)
{
    struct fixture *f = *state;
    struct sched *s = realm_sched (f->x);
    struct machine_node_spec n2 = { .name = "n2", .places = IN_RACK ("r"), .cores = 4 };

    assert_int_equal (realm_open (f->x, f->g), 0);
    realm_begin (f->x, f->g);
    machine_node_set_state (f->g, 2, MACHINE_NODE_DRAINED, "disk");
    assert_int_equal (realm_mirror (f->x, f->g, "n2"), 0);
    assert_int_equal (realm_mirror (f->x, f->g, "n0"), 0); /* no node of its own */
    add (s, 1, 10, f->node);
    add (s, 2, 10, f->node);
    expect_starts (s, 1000, "1:n1");
    machine_node_set_state (f->g, 2, MACHINE_NODE_UP, NULL);
    assert_int_equal (realm_mirror (f->x, f->g, "n2"), 0);
    expect_starts (s, 1001, "2:n2");
    /* The node leaves with a job on it, and comes back when the job is over. */
    assert_int_equal (machine_node_remove (f->g, 2), 0);
    assert_int_equal (realm_mirror (f->x, f->g, "n2"), 0);
    add (s, 3, 10, f->node);
    expect_starts (s, 1002, "");
    assert_int_equal (match_cancel (realm_matcher (f->x), 2), 0);
    assert_int_equal (machine_node_find (realm_machine (f->x), "n2"), -ENOENT);
    expect_starts (s, 1003, "");
    machine_node_add (f->g, &n2, NULL);
    assert_int_equal (realm_mirror (f->x, f->g, "n2"), 0);
    expect_starts (s, 1004, "3:n2");
}

/* An earlier job is still on n1 at the begin of the window. */
static void test_late_leaver (void **state)
{
    struct fixture *f = *state;
    struct sched *s = realm_sched (f->x);
    struct error err;
    struct rset *r = NULL;
    struct match_request *n1 =
        build_request ("slot=1>core=1", 0, "{\"hostlist\": [\"n1\"]}", &err);

    assert_int_equal (match_allocate (f->m, 9, n1, 100, 900, &r, NULL), 0);
    rset_destroy (r);
    assert_int_equal (realm_open (f->x, f->g), 0);
    add (s, 1, 10, f->two);
    expect_starts (s, 100, "");
    assert_true (planned (s, 1) == 1000);
    realm_begin (f->x, f->g);
    expect_starts (s, 1000, "");
    assert_int_equal (match_cancel (f->m, 9), 0);
    assert_int_equal (realm_mirror (f->x, f->g, "n1"), 0);
    expect_starts (s, 1001, "1:n2");
    match_request_destroy (n1);
}

/* R names nodes like the whole machine. */
static void test_ranks (void **state)
{
    struct fixture *f = *state;
    struct sched *s = realm_sched (f->x);
    struct sched_decision d;

    assert_int_equal (realm_open (f->x, f->g), 0);
    realm_begin (f->x, f->g);
    add (s, 1, 10, f->two);
    assert_int_equal (sched_next (s, 1000, 0, &d), 1);
    realm_rename (d.r, f->g);
    assert_string_equal (d.r->ranks[0].node, "n2");
    assert_int_equal (d.r->ranks[0].node_index, 2);
    assert_int_equal (d.r->ranks[1].node_index, 1);
    char *text = rset_encode (d.r);
    assert_non_null (text);
    free (text);
    rset_destroy (d.r);
}

/* -- the queue beside it -- */

static void book_window (struct fixture *f)
{
    sched_unplan (f->s);
    assert_int_equal (
        match_window_book (f->m, MATCH_WINDOW_FIRST, "w", f->nodes, 1000, 2000), 0);
}

/* The long job of a shape waits; the short job starts, and so does a job with a minimum
 * time. */
static void test_short_ones_go_on (void **state)
{
    struct fixture *f = *state;
    struct sched_entry least = {
        .id = 4, .priority = 16, .duration = 5000, .time_min = 60, .req = f->node
    };

    book_window (f);
    add (f->s, 1, 5000, f->three);
    add (f->s, 2, 5000, f->three);
    add (f->s, 3, 500, f->three);
    expect_starts (f->s, 100, "3:n0");
    assert_true (planned (f->s, 1) == 2000);
    assert_int_equal (match_cancel (f->m, 3), 0);
    assert_int_equal (sched_enqueue (f->s, &least), 0);
    sched_dequeue (f->s, 1);
    sched_dequeue (f->s, 2);
    add (f->s, 5, 0, f->node);
    add (f->s, 6, 0, f->node);
    least.id = 7;
    assert_int_equal (sched_enqueue (f->s, &least), 0);
    expect_starts (f->s, 100, "4:n0 5:n3 7:n1");
}

/* A plan on the nodes of a new window gives way. */
static void test_planned_give_way (void **state)
{
    struct fixture *f = *state;
    uint64_t job = 0;

    add (f->s, 1, 800, f->two);
    add (f->s, 2, 800, f->two);
    add (f->s, 3, 500, f->three);
    expect_starts (f->s, 100, "1:n0 2:n2");
    assert_true (planned (f->s, 3) == 900);
    assert_int_equal (match_window_check (f->m, "n2", 1000, 2000, 100, &job, NULL),
                      -EBUSY);
    sched_unplan (f->s);
    assert_int_equal (match_window_check (f->m, "n2", 1000, 2000, 100, &job, NULL), 0);
    book_window (f);
    expect_starts (f->s, 100, "");
    assert_true (planned (f->s, 3) == 2000);
    struct sched_reason reason;
    assert_int_equal (sched_reason (f->s, 3, &reason), 0);
    assert_non_null (strstr (reason.text, "; n[2,1] are reserved for w from "));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown (test_too_large, setup, teardown),
        cmocka_unit_test_setup_teardown (test_nodes_change, setup, teardown),
        cmocka_unit_test_setup_teardown (test_late_leaver, setup, teardown),
        cmocka_unit_test_setup_teardown (test_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown (test_short_ones_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown (test_planned_give_way, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

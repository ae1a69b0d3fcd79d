/* Windows: nodes that no job gets for a time. Fails if a job runs into a window, if a
 * job is kept from nodes that it would leave in time, if a window over a running job is
 * not reported, or if sums are wrong for a job under a window. */
#include "common/test/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "match/machine/match_private.h"
#include "match/test/build.h"
#include "match/test/verify.h"

#define WINDOW MATCH_WINDOW_FIRST

struct rig {
    struct machine *g;
    struct matcher *m;
    struct match_request *one, *all; /* a core; four whole nodes */
};

/* n0 to n3 of 4 cores. */
static int setup (void **state)
{
    struct rig *k = calloc (1, sizeof (*k));
    struct error err;

    k->g = machine_create ("cluster");
    k->m = matcher_create (k->g, match_policy_find ("lonode"));
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        struct machine_node_spec spec = { .name = name, .cores = 4, .memory_mib = 100 };
        assert_int_equal (machine_node_add (k->g, &spec, NULL), i);
    }
    k->one = build_request ("slot=1>core=1", 0, NULL, &err);
    k->all = build_request ("node=4!>slot=1>core=1", 0, NULL, &err);
    *state = k;
    return 0;
}

static int teardown (void **state)
{
    struct rig *k = *state;

    match_request_destroy (k->one);
    match_request_destroy (k->all);
    matcher_destroy (k->m);
    machine_destroy (k->g);
    free (k);
    return 0;
}

static void verify (const struct rig *k)
{
    struct error err = { 0 };

    if (planner_verify (k->m->p, &err) < 0)
        fail_msg ("%s", err.text);
}

static int book (struct rig *k, uint64_t id, const char *name, const char *nodes,
                 double start, double end)
{
    struct hostlist *list = hostlist_decode (nodes, HOSTLIST_MAX, NULL);
    int rc = match_window_book (k->m, id, name, list, start, end);

    hostlist_destroy (list);
    verify (k);
    return rc;
}

/* The node on which a core is given, or "". */
static const char *place (struct rig *k, uint64_t job, double now, double duration)
{
    static char name[16];
    struct rset *r = NULL;

    name[0] = '\0';
    if (match_allocate (k->m, job, k->one, now, duration, &r, NULL) == 0)
        snprintf (name, sizeof (name), "%s", r->ranks[0].node);
    rset_destroy (r);
    verify (k);
    return name;
}

static void test_before_in_and_after (void **state)
{
    struct rig *k = *state;
    double start = 0;

    assert_int_equal (book (k, WINDOW, "w", "n[0-2]", 1000, 2000), 0);
    assert_string_equal (place (k, 1, 100, 900), "n0");
    assert_string_equal (place (k, 2, 100, 901), "n3");
    assert_string_equal (place (k, 3, 1500, 10), "n3");
    assert_string_equal (place (k, 4, 2000, 10), "n0"); /* the window is over */
    for (uint64_t job = 1; job <= 4; job++)
        match_cancel (k->m, job);
    assert_int_equal (match_earliest (k->m, k->all, 100, 950, &start, NULL, NULL), 0);
    assert_true (start == 2000);
    assert_int_equal (match_earliest (k->m, k->all, 100, 900, &start, NULL, NULL), 0);
    assert_true (start == 100);
    assert_int_equal (match_cancel (k->m, WINDOW), 0);
    assert_int_equal (match_earliest (k->m, k->all, 100, 950, &start, NULL, NULL), 0);
    assert_true (start == 100);
    verify (k);
}

/* A running job gets more time only up to the promises to other jobs. */
static void test_extend (void **state)
{
    struct rig *k = *state;
    struct planner_job has;
    struct error err = { 0 };

    assert_int_equal (book (k, WINDOW, "w", "n[0-3]", 1000, 2000), 0);
    assert_string_equal (place (k, 1, 100, 100), "n0");
    assert_int_equal (match_extend (k->m, 1, 1000, &err), 0);
    verify (k);
    assert_int_equal (match_extend (k->m, 1, 1001, &err), -EBUSY);
    assert_non_null (strstr (err.text, "n0 is reserved for w"));
    assert_int_equal (match_extend (k->m, 1, 0, &err), -EBUSY); /* without an end */
    assert_true (planner_find (k->m->p, 1, &has) && has.end == match_ticks (1000));
    assert_int_equal (match_extend (k->m, 1, 300, &err), 0);
    verify (k);
    assert_int_equal (match_extend (k->m, 3, 300, &err), -ENOENT);
    assert_int_equal (match_cancel (k->m, WINDOW), 0);
    assert_int_equal (match_extend (k->m, 1, 0, &err), 0);
    verify (k);
}

static void test_who_is_in_the_way (void **state)
{
    struct rig *k = *state;
    struct error err = { 0 };
    uint64_t job = 0;

    assert_string_equal (place (k, 7, 100, 500), "n0"); /* until 600 */
    assert_int_equal (match_window_check (k->m, "n0", 600, 700, 100, &job, &err), 0);
    assert_int_equal (match_window_check (k->m, "n0", 599, 700, 100, &job, &err), -EBUSY);
    assert_int_equal (job, 7);
    assert_non_null (strstr (err.text, "job 7 runs on n0"));
    assert_int_equal (match_window_check (k->m, "n1", 100, 700, 100, NULL, &err), 0);
    assert_int_equal (match_window_check (k->m, "n9", 1, 2, 1, NULL, &err), -ENOENT);
    /* The job should have ended, but has not. */
    assert_int_equal (match_window_check (k->m, "n0", 800, 900, 800, NULL, &err), -EBUSY);
    assert_int_equal (book (k, WINDOW, "w", "n1", 1000, 2000), 0);
    assert_int_equal (match_window_check (k->m, "n1", 1999, 3000, 100, &job, &err),
                      -EBUSY);
    assert_true (job == WINDOW);
    assert_non_null (strstr (err.text, "n1 is reserved for w from "));
    assert_int_equal (match_window_check (k->m, "n1", 2000, 3000, 100, &job, &err), 0);
}

static void test_choose (void **state)
{
    struct rig *k = *state;
    struct hostlist *list = hostlist_create ();
    struct error err = { 0 };

    assert_string_equal (place (k, 7, 100, 500), "n0");
    assert_int_equal (book (k, WINDOW, "w", "n1", 1000, 2000), 0);
    machine_node_set_state (k->g, 2, MACHINE_NODE_DRAINED, "disk");
    assert_int_equal (match_window_choose (k->m, 2, 500, 1500, 100, list, &err), -EBUSY);
    assert_string_equal (err.text, "2 nodes are requested, 1 of 4 are free then");
    assert_int_equal (hostlist_count (list), 0);
    assert_int_equal (match_window_choose (k->m, 2, 600, 1500, 100, list, &err), 0);
    char *text = hostlist_encode (list);
    assert_string_equal (text, "n[0,3]");
    free (text);
    hostlist_destroy (list);
}

/* A running job stays; no other job gets a part of the node, and the rest of the
 * machine is counted correctly. */
static void test_over_a_job (void **state)
{
    struct rig *k = *state;
    double start = 0;
    struct error err;
    struct match_request *three = build_request ("node=3!>slot=1>core=1", 0, NULL, &err);

    assert_string_equal (place (k, 7, 100, 1400), "n0"); /* until 1500 */
    assert_int_equal (book (k, WINDOW, "w", "n0", 1000, 2000), 0);
    assert_true (match_has (k->m, 7));
    assert_string_equal (place (k, 8, 100, 900), "n0");
    assert_int_equal (match_cancel (k->m, 8), 0);
    assert_string_equal (place (k, 8, 1200, 100), "n1");
    assert_int_equal (match_cancel (k->m, 8), 0);
    assert_int_equal (match_earliest (k->m, three, 1200, 100, &start, NULL, NULL), 0);
    assert_true (start == 1200);
    assert_int_equal (match_earliest (k->m, k->all, 100, 100, &start, NULL, NULL), 0);
    assert_true (start == 2000);
    assert_int_equal (match_cancel (k->m, 7), 0);
    verify (k);
    assert_int_equal (match_earliest (k->m, k->all, 1200, 100, &start, NULL, NULL), 0);
    assert_true (start == 2000);
    assert_int_equal (match_cancel (k->m, WINDOW), 0);
    verify (k);
    assert_int_equal (match_earliest (k->m, k->all, 1200, 100, &start, NULL, NULL), 0);
    assert_true (start == 1200);
    match_request_destroy (three);
}

static void test_sentences (void **state)
{
    struct rig *k = *state;
    struct match_window w[3];

    assert_true (isinf (match_window_next (k->m, 0)));
    assert_int_equal (book (k, WINDOW, NULL, "n3", 10, 20), 0);
    assert_int_equal (book (k, WINDOW + 1, "late", "n[0-1,7]", 1000, 2000), 0);
    assert_int_equal (book (k, WINDOW + 2, "early", "n2", 500, 600), 0);
    assert_int_equal (book (k, WINDOW + 2, "again", "n2", 500, 600), -EEXIST);
    assert_true (match_window_next (k->m, 0) == 10);
    assert_true (match_window_next (k->m, 10) == 500);
    assert_true (match_window_next (k->m, 999) == 1000);
    assert_int_equal (match_windows_between (k->m, 0, 500, w, 3), 0);
    assert_int_equal (match_windows_between (k->m, 0, 1001, w, 1), 1);
    assert_int_equal (match_windows_between (k->m, 0, 1001, w, 3), 2);
    assert_string_equal (w[0].name, "early");
    assert_int_equal (match_windows_between (k->m, 600, 5000, w, 3), 1);
    assert_string_equal (w[0].name, "late");
    assert_string_equal (w[0].nodes, "n[0-1]"); /* n7 does not exist */
    assert_int_equal (w[0].nnodes, 2);
}

/* A removed node leaves the window, also a node without jobs. */
static void test_nodes_leave (void **state)
{
    struct rig *k = *state;

    assert_int_equal (book (k, WINDOW, "w", "n[0-1]", 1000, 2000), 0);
    assert_int_equal (machine_node_remove (k->g, 0), 0);
    assert_int_equal (machine_node_find (k->g, "n0"), 0); /* leaving */
    assert_int_equal (match_cancel (k->m, WINDOW), 0);
    assert_int_equal (machine_node_find (k->g, "n0"), -ENOENT);
    assert_int_equal (book (k, WINDOW, "w", "n[0-1]", 1000, 2000), 0);
    assert_string_equal (place (k, 1, 1000, 1), "n2");
    assert_int_equal (book (k, WINDOW + 1, "none", "n[8-9]", 1000, 2000), 0);
    assert_int_equal (match_cancel (k->m, WINDOW + 1), 0);
    verify (k);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_before_in_and_after, setup, teardown),
        cmocka_unit_test_setup_teardown (test_extend, setup, teardown),
        cmocka_unit_test_setup_teardown (test_who_is_in_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown (test_choose, setup, teardown),
        cmocka_unit_test_setup_teardown (test_over_a_job, setup, teardown),
        cmocka_unit_test_setup_teardown (test_sentences, setup, teardown),
        cmocka_unit_test_setup_teardown (test_nodes_leave, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

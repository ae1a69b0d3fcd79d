/* test_giveback.c - the nodes that each malleable job gives back so that
 * another job can start */
#include "common/test/unit.h"

#include <string.h>

#include "sched/giveback.h"

#define NODES 8

static struct machine *machine;
static struct matcher *matcher;
static struct rset *held[4];
static struct jobspec_resource sizes[4];

/* Eight nodes of one core. */
static int set_up (void **state)
{
    char name[16];

    (void)state;
    machine = machine_create ("m");
    for (int i = 0; i < NODES; i++) {
        snprintf (name, sizeof (name), "n%d", i);
        machine_node_add (machine,
                          &(struct machine_node_spec){ .name = name, .cores = 1 }, NULL);
    }
    matcher = matcher_create (machine, match_policy_find ("lonode"));
    return 0;
}

static int tear_down (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (held); i++) {
        rset_destroy (held[i]);
        held[i] = NULL;
    }
    matcher_destroy (matcher);
    machine_destroy (machine);
    return 0;
}

/* The matcher's own copy, as in the broker. */
static struct match_request *nodes_of (const char *count)
{
    char text[512];
    struct error err = { 0 };

    snprintf (
        text, sizeof (text),
        "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":%s,\"with\":[{"
        "\"type\":\"slot\",\"label\":\"t\",\"count\":1,\"with\":[{\"type\":\"core\","
        "\"count\":1}]}]}],\"tasks\":[{\"command\":[\"a\"],\"slot\":\"t\",\"count\":{"
        "\"per_slot\":1}}],\"attributes\":{\"system\":{}}}",
        count);
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);
    struct match_request *req = js ? match_request_create (js, &err) : NULL;
    jobspec_destroy (js);
    if (!req)
        fail_msg ("%s", err.text);
    return req;
}

/* Job i runs on this number of nodes, and may have from min to max in steps. */
static struct giveback_job run (int i, const char *count, int64_t min, int64_t max,
                                int64_t step)
{
    struct match_request *req = nodes_of (count);

    assert_int_equal (
        match_allocate (matcher, (uint64_t)i + 1, req, 100, 1000, &held[i], NULL), 0);
    match_request_destroy (req);
    sizes[i] = (struct jobspec_resource){ .count = { min, max, '+', step } };
    return (
        struct giveback_job){ .id = (uint64_t)i + 1, .r = held[i], .sizes = &sizes[i] };
}

static int plan (struct giveback_job *jobs, size_t n, const char *wanted)
{
    struct growth *x = growth_create (machine, matcher, match_policy_find ("lonode"),
                                      NULL, 0, true, 100);
    struct match_request *req = nodes_of (wanted);
    const struct growth_job job = { 99, req, 500 };

    for (size_t i = 0; i < n; i++)
        assert_int_equal (growth_run (x, jobs[i].id, jobs[i].r), 0);
    int rc = giveback_plan (x, jobs, n, &job, 100);
    match_request_destroy (req);
    growth_destroy (x);
    return rc;
}

static void test_as_few_as_will_do (void **state)
{
    struct giveback_job jobs[] = { run (0, "6", 2, 6, 1) };

    (void)state;
    assert_int_equal (plan (jobs, 1, "2"), 0); /* the job fits already */
    assert_int_equal (plan (jobs, 1, "3"), 1);
    assert_int_equal (jobs[0].nodes, 5);
    assert_int_equal (plan (jobs, 1, "6"), 1);
    assert_int_equal (jobs[0].nodes, 2);
    assert_int_equal (plan (jobs, 1, "7"), 0); /* a job keeps its minimum */
}

static void test_only_its_sizes (void **state)
{
    struct giveback_job jobs[] = { run (0, "8", 2, 8, 3) };

    (void)state;
    assert_int_equal (plan (jobs, 1, "1"), 1);
    assert_int_equal (jobs[0].nodes, 5);
    assert_int_equal (plan (jobs, 1, "4"), 1);
    assert_int_equal (jobs[0].nodes, 2);
}

static void test_first_ones_first (void **state)
{
    struct giveback_job jobs[] = { run (0, "4", 1, 4, 1), run (1, "4", 1, 4, 1) };

    (void)state;
    assert_int_equal (plan (jobs, 2, "2"), 1);
    assert_true (jobs[0].nodes == 2 && jobs[1].nodes == 4);
    assert_int_equal (plan (jobs, 2, "5"), 1);
    assert_true (jobs[0].nodes == 1 && jobs[1].nodes == 2);
}

/* The first job has too few nodes to give; the second alone has enough. */
static void test_nobody_in_vain (void **state)
{
    struct giveback_job jobs[] = { run (0, "2", 1, 2, 1), run (1, "6", 2, 6, 4) };

    (void)state;
    assert_int_equal (plan (jobs, 2, "4"), 1);
    assert_true (jobs[0].nodes == 2 && jobs[1].nodes == 2);
    assert_int_equal (plan (jobs, 2, "6"), 0);
}

/* After a plan without a result the job keeps its place, and no later job gets nodes
 * that would delay it; otherwise everything is unchanged. */
static void test_in_vain (void **state)
{
    struct giveback_job jobs[] = { run (0, "8", 4, 8, 1) };
    struct growth *x = growth_create (machine, matcher, match_policy_find ("lonode"),
                                      NULL, 0, true, 100);
    struct match_request *six = nodes_of ("6"), *three = nodes_of ("3");
    const struct growth_job first = { 98, six, 500 }, late = { 99, three, 5000 },
                            soon = { 100, three, 500 };

    (void)state;
    assert_int_equal (growth_run (x, jobs[0].id, jobs[0].r), 0);
    assert_int_equal (giveback_plan (x, jobs, 1, &first, 100), 0);
    assert_int_equal (jobs[0].nodes, 8);
    assert_int_equal (giveback_plan (x, jobs, 1, &late, 100), 0);
    assert_int_equal (jobs[0].nodes, 8);
    assert_int_equal (giveback_plan (x, jobs, 1, &soon, 100), 1);
    assert_int_equal (jobs[0].nodes, 5);
    match_request_destroy (six);
    match_request_destroy (three);
    growth_destroy (x);
}

static void test_steps (void **state)
{
    struct jobspec_resource s = { .count = { 2, 16, '*', 2 } };

    (void)state;
    assert_int_equal (giveback_larger (&s, 2), 4);
    assert_int_equal (giveback_larger (&s, 5), 8);
    assert_int_equal (giveback_larger (&s, 16), 0);
    assert_int_equal (giveback_larger (&s, 1), 2);
    assert_int_equal (giveback_smaller (&s, 16), 8);
    assert_int_equal (giveback_smaller (&s, 100), 16);
    assert_int_equal (giveback_smaller (&s, 2), 0);
    s = (struct jobspec_resource){ .count = { 1, 7, '+', 1 }, .sizes = idset_create () };
    idset_add (s.sizes, 1);
    idset_add (s.sizes, 3);
    idset_add (s.sizes, 7);
    assert_int_equal (giveback_larger (&s, 3), 7);
    assert_int_equal (giveback_smaller (&s, 7), 3);
    assert_int_equal (giveback_smaller (&s, 1), 0);
    idset_destroy (s.sizes);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_as_few_as_will_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_only_its_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_first_ones_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_nobody_in_vain, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_in_vain, set_up, tear_down),
        cmocka_unit_test (test_steps),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

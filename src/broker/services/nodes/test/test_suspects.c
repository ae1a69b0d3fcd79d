/* test_suspects.c - nodes on which the starts of several jobs failed are drained */
#include "broker/core/inside.h"
#include "broker/core/jobs.h"
#include "broker/core/test/small.h"

#include <string.h>

#define FAILURES 3

static struct small *begin (void)
{
    struct small *s = small_create (2);

    small_set (s, "drain-after-failures", json_integer (FAILURES));
    return s;
}

/* The job of this user failed to start, and the node is at fault. */
static void fail_start (struct small *s, uint64_t id, uint32_t user, const char *node)
{
    const struct exec_start_failure why = {
        .text = "no answer", .retry = true, .nodes = node, .suspects = node
    };

    if (entry_find (s->b, id))
        entry_job (entry_find (s->b, id))->userid = user;
    s->b->host.start_failed (s->b, id, &why);
    small_turn (s);
}

static enum machine_node_state state_of_node (struct small *s, const char *name)
{
    struct machine_node_info info;

    assert_int_equal (machine_node_info (broker_graph (s->b),
                                         machine_node_find (broker_graph (s->b), name),
                                         &info),
                      0);
    return info.state;
}

static uint64_t place_one (struct small *s)
{
    uint64_t id = entry_id (small_submit (s, "duration: 60"));

    small_turn (s);
    assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_RUN);
    return id;
}

/* The node is drained when one of the jobs has started elsewhere, which shows
 * that the node is bad. */
static void test_drained (void **unused)
{
    struct small *s = begin ();
    uint64_t ids[FAILURES];

    (void)unused;
    for (int i = 0; i < FAILURES; i++)
        ids[i] = place_one (s);
    for (int i = 0; i < FAILURES; i++)
        fail_start (s, ids[i], 1000 + (uint32_t)i, "node0");
    assert_int_equal (state_of_node (s, "node0"), MACHINE_NODE_UP);
    small_advance (s, 600); /* the jobs are tried again */
    assert_string_equal (entry_alloc (entry_find (s->b, ids[0]))->ranks[0].node, "node1");
    small_ready (s, ids[0]);
    assert_int_equal (state_of_node (s, "node0"), MACHINE_NODE_DRAINED);
    assert_non_null (
        strstr (small_setting ("drain/node0"), "3 jobs failed to start here"));
    small_destroy (s);
}

/* One user's jobs alone do not drain a node: their agents run as that user. */
static void test_one_user (void **unused)
{
    struct small *s = begin ();
    uint64_t ids[FAILURES];

    (void)unused;
    for (int i = 0; i < FAILURES; i++)
        ids[i] = place_one (s);
    for (int i = 0; i < FAILURES; i++)
        fail_start (s, ids[i], 1000, "node0");
    small_advance (s, 600);
    small_ready (s, ids[0]);
    assert_int_equal (state_of_node (s, "node0"), MACHINE_NODE_UP);
    assert_null (small_setting ("drain/node0"));
    small_destroy (s);
}

/* A successful start on the node resets its count. */
static void test_forgotten (void **unused)
{
    struct small *s = begin ();
    uint64_t ids[FAILURES];

    (void)unused;
    for (int i = 0; i < FAILURES; i++)
        ids[i] = place_one (s);
    for (int i = 0; i < FAILURES - 1; i++)
        fail_start (s, ids[i], 1000 + (uint32_t)i, "node0");
    assert_string_equal (
        entry_alloc (entry_find (s->b, ids[FAILURES - 1]))->ranks[0].node, "node0");
    small_ready (s, ids[FAILURES - 1]);
    uint64_t last = place_one (s);
    fail_start (s, last, 1009, "node0");
    small_advance (s, 600);
    small_ready (s, last);
    assert_int_equal (state_of_node (s, "node0"), MACHINE_NODE_UP);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    small_set (s, "drain-after-failures", json_integer (FAILURES));
    for (int i = 0; i < FAILURES; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    for (uint64_t id = 1; id <= FAILURES; id++)
        fail_start (s, id, 1000 + (uint32_t)id, "node0");
    small_advance (s, 600);
    small_ready (s, 1);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (2, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (2, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_drained),   cmocka_unit_test (test_one_user),
        cmocka_unit_test (test_forgotten), cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

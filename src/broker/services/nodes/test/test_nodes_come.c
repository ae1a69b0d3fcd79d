/* Nodes that come, change and go while jobs wait. What would be wrong: a node that is lost, or
 * stays though it went; a job that waits although its node came; a change that is lost when there
 * is no memory for it. */
#include "broker/core/test/small.h"

#include <stdio.h>

#include "broker/core/inside.h"
#include "match/machine/match.h"

static void tell (struct broker *b, const char *name, enum machine_node_state state)
{
    struct machine_node_spec spec = { .name = name, .cores = 4, .memory_mib = 1024 };

    b->host.node (b, &spec, state, "told");
}

static bool is_there (const struct broker *b, const char *name)
{
    return machine_node_find (broker_graph (b), name) >= 0;
}

static void expect_state (const struct broker *b, const char *name,
                          enum machine_node_state state)
{
    struct machine_node_info info;

    assert_int_equal (machine_node_info (broker_graph (b),
                                         machine_node_find (broker_graph (b), name),
                                         &info),
                      0);
    assert_int_equal (info.state, state);
}

static enum job_state state_of_job (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->state;
}

/* Each pass uses what has come by then, although nodes come and go before each. */
static void test_all_the_time (void **state)
{
    (void)state;
    struct small *s = small_create (100);

    for (int i = 0; i < 20; i++) {
        char name[16], options[64];
        snprintf (name, sizeof (name), "more%d", i);
        snprintf (options, sizeof (options),
                  "duration: 60, constraints: {hostlist: [%s]}", name);
        tell (s->b, name, MACHINE_NODE_UP);
        uint64_t id = entry_id (small_submit (s, options));
        small_turn (s);
        assert_int_equal (state_of_job (s, id), JOB_RUN);
        snprintf (name, sizeof (name), "node%d", 10 + i);
        s->b->host.node_gone (s->b, name);
        assert_false (is_there (s->b, name));
    }
    small_destroy (s);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    tell (s->b, "more", MACHINE_NODE_UP);
    small_turn (s);
    tell (s->b, "later", MACHINE_NODE_UP);
    s->b->host.node_foreign (s->b, "node5", 1, 0, 0, NULL);
    s->b->host.node_gone (s->b, "node6");
    tell (s->b, "node7", MACHINE_NODE_DOWN);
    expect_state (s->b, "node7", MACHINE_NODE_DOWN);
    small_turn (s);
    assert_true (is_there (s->b, "more") && is_there (s->b, "later"));
    assert_false (is_there (s->b, "node6"));
    expect_state (s->b, "node7", MACHINE_NODE_DOWN);
}

static void test_jobs_vanish (void **state)
{
    (void)state;
    small_vanish (100, scenario);
}

static void test_no_memory (void **state)
{
    (void)state;
    small_torture (100, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_all_the_time),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

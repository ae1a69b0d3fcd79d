/* test_avoid.c - a job that failed to start is next tried on other nodes */
#include "broker/core/test/small.h"

#include <string.h>

#include "broker/services/nodes/avoid.h"

extern const struct broker_service service_avoid;

#define A_WHILE 600 /* seconds; more than the pause before a start is tried again */

static void fail_start (struct small *s, uint64_t id, const char *node)
{
    const struct exec_start_failure why = { .text = "no answer",
                                            .retry = true,
                                            .nodes = node };

    s->b->host.start_failed (s->b, id, &why);
    small_turn (s);
}

static void set_node (struct small *s, const char *name, enum machine_node_state state)
{
    const struct machine_node_spec spec = { .name = name,
                                            .cores = 4,
                                            .memory_mib = 1024 };

    s->b->host.node (s->b, &spec, state, NULL);
    small_turn (s);
}

/* The node on which the job runs; NULL if there is none. */
static const char *node_of (struct small *s, uint64_t id)
{
    const struct entry *e = entry_find (s->b, id);

    return e && entry_alloc (e) ? entry_alloc (e)->ranks[0].node : NULL;
}

static uint64_t run_one (struct small *s, const char *system)
{
    uint64_t id = entry_id (small_submit (s, system));

    small_turn (s);
    assert_non_null (node_of (s, id));
    return id;
}

static void test_other_node (void **unused)
{
    struct small *s = small_create (2);
    uint64_t id = run_one (s, "duration: 60");

    (void)unused;
    assert_string_equal (node_of (s, id), "node0");
    fail_start (s, id, "node0");
    assert_null (node_of (s, id));
    assert_string_equal (entry_job (entry_find (s->b, id))->avoid, "node0");
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, id), "node1");
    small_ready (s, id); /* a good start forgets the node */
    assert_null (entry_job (entry_find (s->b, id))->avoid);
    small_destroy (s);
}

/* Each failure adds its nodes; a failure without a particular node adds none. */
static void test_all_nodes_so_far (void **unused)
{
    struct small *s = small_create (3);
    uint64_t id = run_one (s, "duration: 60");

    (void)unused;
    fail_start (s, id, "node0");
    small_advance (s, A_WHILE);
    fail_start (s, id, NULL);
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, id), "node1");
    fail_start (s, id, "node1");
    small_advance (s, A_WHILE);
    assert_string_equal (entry_job (entry_find (s->b, id))->avoid, "node[0-1]");
    assert_string_equal (node_of (s, id), "node2");
    small_destroy (s);
}

/* A node that may fail is better than no node. */
static void test_no_other_node (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = run_one (s, "duration: 60");

    (void)unused;
    fail_start (s, id, "node0");
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, id), "node0");
    small_destroy (s);
}

/* The other node is in use forever: a job without a time limit has all of it. */
static void test_other_node_is_never_free (void **unused)
{
    struct small *s = small_create (2);
    uint64_t id = run_one (s, "duration: 60, constraints: {hostlist: [node0, node1]}");

    (void)unused;
    for (int i = 0; i < 4; i++)
        run_one (s, "duration: 0, constraints: {hostlist: [node1]}");
    fail_start (s, id, "node0");
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, id), "node0");
    small_destroy (s);
}

/* Nodes change while the job waits: the nodes to avoid are chosen again
 * before the next pass. */
static void test_nodes_change (void **unused)
{
    struct small *s = small_create (2);
    uint64_t id = run_one (s, "duration: 60"), second = run_one (s, "duration: 60");

    (void)unused;
    set_node (s, "node1", MACHINE_NODE_DOWN);
    fail_start (s, id, "node0");
    set_node (s, "node1", MACHINE_NODE_UP); /* now there is another node */
    fail_start (s, second, "node0");
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, id), "node1");
    assert_string_equal (node_of (s, second), "node1");
    fail_start (s, id, "node1"); /* would avoid both, so it may use any */
    small_advance (s, A_WHILE);
    assert_non_null (node_of (s, id));
    fail_start (s, second, NULL);
    set_node (s, "node1", MACHINE_NODE_DOWN); /* now there is no other node again */
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, second), "node0");
    small_destroy (s);
}

/* The job's own constraint applies as well. */
static void test_own_constraint (void **unused)
{
    struct small *s = small_create (3);
    uint64_t id = run_one (s, "duration: 60, constraints: {hostlist: [node0, node2]}");

    (void)unused;
    fail_start (s, id, "node0");
    small_advance (s, A_WHILE);
    assert_string_equal (node_of (s, id), "node2");
    small_destroy (s);
}

/* The event of a requeue names the nodes only if the job is to be tried on other
 * nodes. */
static void test_event (void **unused)
{
    struct small *s = small_create (1);
    struct service_requeue how = { .nodes = "node[3,1]", .avoids = true };
    json_t *context = json_object ();

    (void)unused;
    struct entry *e = entry_find (s->b, run_one (s, "duration: 60"));
    service_avoid.requeues (s->b, e, &how, context);
    assert_string_equal (json_string_value (json_object_get (context, "avoid")),
                         "node[3,1]");
    json_object_clear (context);
    how.avoids = false;
    service_avoid.requeues (s->b, e, &how, context);
    how = (struct service_requeue){ .nodes = NULL, .avoids = true };
    service_avoid.requeues (s->b, e, &how, context);
    assert_int_equal (json_object_size (context), 0);
    json_decref (context);
    small_destroy (s);
}

/* After a restart the request comes from the record; while the nodes are not known, the
 * job is queued with its own request. */
static void test_restart (void **unused)
{
    struct small *s = small_create (2);
    struct entry *e = small_submit (s, "duration: 60");

    (void)unused;
    entry_job (e)->avoid = strdup ("node0");
    assert_ptr_equal (avoid_choose (s->b, e), entry_request (e));
    service_avoid.replayed (s->b, e);
    s->b->recovering = true;
    assert_ptr_equal (avoid_choose (s->b, e), entry_request (e));
    s->b->recovering = false;
    service_avoid.nodes_known (s->b);
    small_turn (s);
    assert_string_equal (node_of (s, entry_id (e)), "node1");
    service_avoid.ended (s->b, e); /* frees the request */
    assert_ptr_equal (avoid_choose (s->b, e), entry_request (e));
    small_destroy (s);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 2; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    fail_start (s, 1, "node0");
    fail_start (s, 2, "node0");
    set_node (s, "node1", MACHINE_NODE_DOWN);
    small_advance (s, 1);
    set_node (s, "node1", MACHINE_NODE_UP);
    small_advance (s, A_WHILE);
    fail_start (s, 1, "node1");
    small_ready (s, 2);
    small_finish (s, 2, "ended");
    small_advance (s, A_WHILE);
    small_ready (s, 1);
    small_finish (s, 1, "ended");
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
        cmocka_unit_test (test_other_node),
        cmocka_unit_test (test_all_nodes_so_far),
        cmocka_unit_test (test_no_other_node),
        cmocka_unit_test (test_other_node_is_never_free),
        cmocka_unit_test (test_nodes_change),
        cmocka_unit_test (test_own_constraint),
        cmocka_unit_test (test_event),
        cmocka_unit_test (test_restart),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

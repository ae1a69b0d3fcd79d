/* test_queuenodes.c - queues that select their nodes, and jobs that request fractional
 * CPUs */
#include "broker/core/test/small.h"

#include <errno.h>
#include <string.h>

#include "broker/services/nodes/queuenodes.h"

extern const struct broker_service service_queuenodes;

static struct exec_ops ops; /* the small executor's, with more verbs */
static char told[256];      /* the last sets of queues that the executor got */
static int answer;          /* the executor's answer */

static int hear_queues (struct exec *x, const json_t *sets)
{
    (void)x;
    told[0] = '\0';
    json_dumpb (sets, told, sizeof (told) - 1, JSON_COMPACT | JSON_SORT_KEYS);
    return answer;
}

/* Queue "batch" selects the nodes of pool a, with an executor that supports queues. */
static void select_nodes (struct small *s)
{
    struct error err = { 0 };

    answer = 0;
    memset (told, 0, sizeof (told));
    ops = *broker_ops (s->b);
    ops.queues = hear_queues;
    s->b->ops = &ops;
    s->config->queues[0].pods = json_pack ("{s:{s:s}}", "node-selector", "pool", "a");
    assert_int_equal (service_queuenodes.init (s->b, &err), 0);
}

static void add_node (struct small *s, const char *name, const char *property)
{
    const char *const properties[] = { property, NULL };
    const struct machine_node_spec spec = {
        .name = name, .cores = 4, .memory_mib = 1024, .properties = properties
    };

    s->b->host.node (s->b, &spec, MACHINE_NODE_UP, NULL);
}

static const char *node_of (struct small *s, uint64_t id)
{
    const struct entry *e = entry_find (s->b, id);

    return e && entry_alloc (e) ? entry_alloc (e)->ranks[0].node : NULL;
}

/* If no queue selects nodes, each queue has all nodes, and the executor need
 * not support queues. */
static void test_no_queue_selects (void **unused)
{
    const char *const none[] = { NULL };
    struct small *s = small_create (1);
    struct error err = { 0 };

    (void)unused;
    assert_false (queuenodes_select (s->b));
    assert_true (queuenodes_has_node (s->b, none, "batch"));
    assert_int_equal (service_queuenodes.begin (s->b, &err), 0);
    assert_int_equal (service_queuenodes.check_reload (s->b, s->config, &err), 0);
    uint64_t id = entry_id (small_submit (s, "duration: 60"));
    small_turn (s);
    assert_string_equal (node_of (s, id), "node0");
    small_destroy (s);
}

static void test_selected (void **unused)
{
    const char *const all[] = { "fast", "queue:long", "queue:batch", NULL };
    const char *const some[] = { "fast", "queue:batches", "batch", NULL };
    struct small *s = small_create (1);

    (void)unused;
    select_nodes (s);
    assert_true (queuenodes_select (s->b));
    assert_true (queuenodes_has_node (s->b, all, "batch"));
    assert_false (queuenodes_has_node (s->b, some, "batch"));
    json_t *list = queuenodes_of_node (s->b, all);
    assert_int_equal (json_array_size (list), 1); /* queue "long" is not configured */
    assert_string_equal (json_string_value (json_array_get (list, 0)), "batch");
    json_decref (list);
    list = queuenodes_of_node (s->b, some);
    assert_int_equal (json_array_size (list), 0);
    json_decref (list);
    small_destroy (s);
}

/* The job waits although a node outside its queue is free, and starts on the first
 * node of its queue. */
static void test_job_waits_for_its_nodes (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    select_nodes (s);
    uint64_t id = entry_id (small_submit (s, "duration: 60"));
    uint64_t other = entry_id (small_submit (s, "constraints: {hostlist: [node0]}"));
    small_turn (s);
    assert_null (node_of (s, id));
    add_node (s, "node1", "queue:batch");
    small_turn (s);
    assert_string_equal (node_of (s, id), "node1");
    assert_null (node_of (s, other)); /* its own constraint applies, too */
    small_destroy (s);
}

/* A further constraint of a caller is added to both. */
static void test_further_constraint (void **unused)
{
    struct small *s = small_create (0);
    struct error err = { 0 };
    autojson json_t *more = json_pack ("{s:[{s:[s]}]}", "not", "hostlist", "node1");

    (void)unused;
    select_nodes (s);
    add_node (s, "node1", "queue:batch");
    const struct entry *e = small_submit (s, "duration: 60");
    struct match_request *req =
        queuenodes_request (s->b, entry_jobspec (e), "batch", more, &err);
    assert_non_null (req);
    assert_int_equal (match_satisfiability (broker_matcher (s->b), req, &err), -ENOENT);
    add_node (s, "node2", "queue:batch");
    assert_int_equal (match_satisfiability (broker_matcher (s->b), req, &err), 0);
    match_request_destroy (req);
    small_destroy (s);
}

static void test_executor_is_told (void **unused)
{
    static const char first[] = "{\"batch\":{\"node-selector\":{\"pool\":\"a\"}}}";
    static const char second[] = "{\"batch\":{\"node-selector\":{\"pool\":\"b\"}}}";
    struct small *s = small_create (1);
    struct config *c = config_default (services_settings ());
    struct error err = { 0 };

    (void)unused;
    select_nodes (s);
    assert_int_equal (service_queuenodes.begin (s->b, &err), 0);
    assert_string_equal (told, first);
    /* Removing the last selection needs a restart: the executor keeps its settings. */
    assert_int_equal (service_queuenodes.check_reload (s->b, c, &err), -EINVAL);
    assert_non_null (strstr (err.text, "the end of the last queue that selects nodes"));
    assert_string_equal (told, first);
    c->queues[0].pods = json_pack ("{s:{s:s}}", "node-selector", "pool", "b");
    assert_int_equal (service_queuenodes.check_reload (s->b, c, &err), 0);
    assert_string_equal (told, second);
    answer = -ENOMEM;
    assert_int_equal (service_queuenodes.check_reload (s->b, c, &err), -ENOMEM);
    assert_int_equal (service_queuenodes.begin (s->b, &err), -ENOMEM);
    config_destroy (c);
    small_destroy (s);
}

/* Adding the first selection needs a restart as well. */
static void test_first_selection (void **unused)
{
    struct small *s = small_create (1);
    struct config *c = config_default (services_settings ());
    struct error err = { 0 };

    (void)unused;
    select_nodes (s);
    json_decref (s->config->queues[0].pods);
    s->config->queues[0].pods = NULL;
    assert_int_equal (service_queuenodes.init (s->b, &err), 0);
    assert_false (queuenodes_select (s->b));
    c->queues[0].pods = json_pack ("{s:{s:s}}", "node-selector", "pool", "a");
    assert_int_equal (service_queuenodes.check_reload (s->b, c, &err), -EINVAL);
    assert_non_null (strstr (err.text, "the first queue that selects nodes"));
    config_destroy (c);
    small_destroy (s);
}

static const char *parts_allowed (const json_t *config)
{
    (void)config;
    return NULL;
}

static struct jobspec *half_a_cpu (void)
{
    static const char text[] =
        "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\","
        "\"with\":[{\"type\":\"cpu_milli\",\"count\":500}]}],\"tasks\":[{\"command\":"
        "[\"true\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":"
        "{\"system\":{\"duration\":60}}}";
    struct error err = { 0 };
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);

    if (!js)
        fail_msg ("%s", err.text);
    return js;
}

/* Only executors with this feature can give fractional CPUs. */
static void test_parts (void **unused)
{
    struct small *s = small_create (0);
    struct jobspec *js = half_a_cpu ();
    struct error err = { 0 };

    (void)unused;
    assert_null (queuenodes_request (s->b, js, "batch", NULL, &err));
    assert_int_equal (err.code, ENOTSUP);
    assert_non_null (strstr (err.text, "only on Kubernetes"));
    ops = *broker_ops (s->b);
    ops.no_parts = parts_allowed;
    s->b->ops = &ops;
    assert_int_equal (service_queuenodes.init (s->b, &err), 0);
    add_node (s, "node0", "fast");
    struct match_request *req = queuenodes_request (s->b, js, "batch", NULL, &err);
    assert_non_null (req);
    assert_int_equal (match_satisfiability (broker_matcher (s->b), req, &err), 0);
    match_request_destroy (req);
    jobspec_destroy (js);
    small_destroy (s);
}

/* Jobs of a queue that selects nodes wait, start and end; a reload is checked. */
static void scenario (struct small *s)
{
    struct error err = { 0 };

    select_nodes (s);
    for (int i = 0; i < 2; i++)
        small_submit (s, "duration: 60, constraints: {hostlist: [\"node[1-2]\"]}");
    small_turn (s);
    add_node (s, "node1", "queue:batch");
    add_node (s, "node2", "fast");
    small_turn (s);
    assert_true (!node_of (s, 1) || !strcmp (node_of (s, 1), "node1"));
    assert_true (!node_of (s, 2) || !strcmp (node_of (s, 2), "node1"));
    small_ready (s, 1);
    small_finish (s, 1, "ended");
    assert_int_equal (service_queuenodes.check_reload (s->b, s->config, &err), 0);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_no_queue_selects),
        cmocka_unit_test (test_selected),
        cmocka_unit_test (test_job_waits_for_its_nodes),
        cmocka_unit_test (test_further_constraint),
        cmocka_unit_test (test_executor_is_told),
        cmocka_unit_test (test_first_selection),
        cmocka_unit_test (test_parts),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

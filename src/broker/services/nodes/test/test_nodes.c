/* test_nodes.c - nodes that executors report, and that operators drain */
#include "broker/core/test/small.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/core/test/fake_http.h"
#include "broker/services/nodes/nodes.h"

extern const struct broker_service service_nodes;

static void report (struct small *s, const char *name, uint32_t cores,
                    enum machine_node_state state, const char *reason)
{
    const struct machine_node_spec spec = { .name = name,
                                            .cores = cores,
                                            .memory_mib = 1024 };

    s->b->host.node (s->b, &spec, state, reason);
    small_turn (s);
}

static struct machine_node_info info_of (struct small *s, const char *name)
{
    struct machine_node_info info = { 0 };

    assert_int_equal (
        machine_node_info (s->b->graph, machine_node_find (s->b->graph, name), &info), 0);
    return info;
}

static void drain (struct small *s, const char *name, const char *reason)
{
    struct journal_txn *t = NULL;
    struct error err = { 0 };

    assert_int_equal (nodes_drain (s->b, name, reason, &t, &err), 0);
    assert_int_equal (journal_commit (s->b->journal, t, 0, NULL, NULL), 0);
    small_turn (s);
}

static struct client *ask_resume (struct small *s, const char *name)
{
    char head[64];

    snprintf (head, sizeof (head), "POST /v1/nodes/%s", name);
    return client_call (s, 0, head, "{\"action\":\"resume\"}");
}

static void resume (struct small *s, const char *name)
{
    assert_int_equal (ask_resume (s, name)->status, 200);
}

static uint64_t submit (struct small *s)
{
    uint64_t id = entry_id (small_submit (s, "duration: 60"));

    small_turn (s);
    return id;
}

static bool runs (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->state == JOB_RUN;
}

/* A new or larger node gives its cores to waiting jobs. */
static void test_comes (void **unused)
{
    struct small *s = small_create (0);
    uint64_t id = submit (s), second = submit (s);

    (void)unused;
    assert_false (runs (s, id));
    report (s, "node7", 1, MACHINE_NODE_UP, NULL);
    assert_true (runs (s, id));
    assert_false (runs (s, second));
    report (s, "node7", 2, MACHINE_NODE_UP, NULL);
    assert_true (runs (s, second));
    assert_int_equal (machine_node_count (s->b->graph), 1);
    small_destroy (s);
}

static void test_down (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = submit (s);

    (void)unused;
    report (s, "node0", 4, MACHINE_NODE_DOWN, "no answer");
    assert_string_equal (info_of (s, "node0").reason, "no answer");
    uint64_t second = submit (s);
    assert_true (runs (s, id)); /* the executor reports what becomes of its jobs */
    assert_false (runs (s, second));
    report (s, "node0", 4, MACHINE_NODE_UP, NULL);
    assert_true (runs (s, second));
    small_destroy (s);
}

/* A removed node stays until its jobs have ended. */
static void test_goes (void **unused)
{
    struct small *s = small_create (2);
    uint64_t id = submit (s);

    (void)unused;
    s->b->host.node_gone (s->b, "node1");
    s->b->host.node_gone (s->b, "node0");
    s->b->host.node_gone (s->b, "node9"); /* never existed */
    small_turn (s);
    assert_int_equal (machine_node_find (s->b->graph, "node1"), -ENOENT);
    assert_true (machine_node_find (s->b->graph, "node0") >= 0);
    assert_false (runs (s, submit (s)));
    small_ready (s, id);
    small_finish (s, id, "exited");
    assert_int_equal (machine_node_find (s->b->graph, "node0"), -ENOENT);
    small_destroy (s);
}

/* Programs outside fluxq use cores that jobs then cannot have. */
static void test_foreign (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    s->b->host.node_foreign (s->b, "node0", 3, 0, 0, NULL);
    s->b->host.node_foreign (s->b, "node9", 3, 0, 0, NULL); /* unknown */
    uint64_t id = submit (s), second = submit (s);
    assert_true (runs (s, id));
    assert_false (runs (s, second));
    s->b->host.node_foreign (s->b, "node0", 0, 0, 0, NULL);
    small_turn (s);
    assert_true (runs (s, second));
    small_destroy (s);
}

/* The free cores in the zones of a node limit jobs, too. */
static void test_zones (void **unused)
{
    const struct machine_zone zones[] = { { .id = 0, .cores = 2 },
                                          { .id = 1, .cores = 2 } };
    const struct machine_zone none[] = { { .id = 0 }, { .id = 1 } };
    const struct machine_node_spec spec = {
        .name = "node0", .cores = 4, .memory_mib = 1024, .zones = zones, .nzones = 2
    };
    const struct machine_report full = { .left = none, .nleft = 2, .exact = true };
    const struct machine_report free_again = { .left = zones, .nleft = 2, .exact = true };
    struct small *s = small_create (0);

    (void)unused;
    s->b->host.node (s->b, &spec, MACHINE_NODE_UP, NULL);
    s->b->host.node_zones (s->b, "node0", &full);
    s->b->host.node_zones (s->b, "node9", &full); /* unknown */
    uint64_t id = submit (s);
    assert_false (runs (s, id));
    s->b->host.node_zones (s->b, "node0", &free_again);
    small_turn (s);
    assert_true (runs (s, id));
    small_destroy (s);
}

static void test_drained (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = submit (s);

    (void)unused;
    drain (s, "node0", "new disk");
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_DRAINED);
    assert_string_equal (small_setting ("drain/node0"), "new disk");
    uint64_t second = submit (s);
    assert_true (runs (s, id));
    assert_false (runs (s, second));
    report (s, "node0", 4, MACHINE_NODE_UP, NULL); /* the drain holds */
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_DRAINED);
    drain (s, "node0", "and a new fan");
    assert_string_equal (info_of (s, "node0").reason, "and a new fan");
    resume (s, "node0");
    assert_null (small_setting ("drain/node0"));
    assert_true (runs (s, second));
    small_destroy (s);
}

/* The executor's own reason against a node stays, regardless of operators' drains. */
static void test_drained_while_down (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    report (s, "node0", 4, MACHINE_NODE_DOWN, "no answer");
    drain (s, "node0", "new disk");
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_DOWN);
    resume (s, "node0");
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_DOWN);
    drain (s, "node0", "new disk");
    report (s, "node0", 4, MACHINE_NODE_UP, NULL);
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_DRAINED);
    small_destroy (s);
}

static void test_refused (void **unused)
{
    struct small *s = small_create (1);
    struct journal_txn *t = NULL;
    struct error err = { 0 };

    (void)unused;
    assert_int_equal (nodes_drain (s->b, "node9", "x", &t, &err), -ENOENT);
    assert_int_equal (ask_resume (s, "node9")->status, 404);
    const struct client *c = ask_resume (s, "node0");
    assert_int_equal (c->status, 409);
    assert_non_null (strstr (c->text, "is not drained by an operator (it is up)"));
    assert_null (t);
    small_destroy (s);
}

/* The journal keeps drains, also of nodes that do not exist yet. */
static void test_restart (void **unused)
{
    struct small *s = small_create (1);
    struct journal_txn *t = journal_txn_create ();
    struct error err = { 0 };

    (void)unused;
    journal_txn_setting (t, "drain/node5", "new disk");
    journal_txn_setting (t, "drained/node0", "another setting");
    assert_int_equal (journal_commit (s->b->journal, t, 0, NULL, NULL), 0);
    assert_int_equal (service_nodes.load (s->b, &err), 0);
    report (s, "node5", 4, MACHINE_NODE_UP, NULL);
    assert_int_equal (info_of (s, "node5").state, MACHINE_NODE_DRAINED);
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_UP);
    resume (s, "node5");
    assert_int_equal (info_of (s, "node5").state, MACHINE_NODE_UP);
    small_destroy (s);
}

/* A fault that the administrator's program reports acts like a drain by an operator. */
static void test_node_failed (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    s->b->host.node_failed (s->b, "node0", "prolog: no scratch disk");
    small_turn (s);
    assert_int_equal (info_of (s, "node0").state, MACHINE_NODE_DRAINED);
    assert_non_null (strstr (small_setting ("drain/node0"), "no scratch disk"));
    small_destroy (s);
}

/* True if the answer says that the change was made. */
static bool was_done (const struct client *c)
{
    assert_true (c->status == 200 || c->status == 503 || c->status == 409);
    return c->status == 200 || strstr (c->text, "done, but it will be forgotten");
}

/* Drains and resumes by requests, one of which may get no memory: the node is as the
 * answers say, and no report is lost. */
static void scenario (struct small *s)
{
    enum machine_node_state state = MACHINE_NODE_UP;
    const struct client *c;

    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    c = client_ask (s, 0, "POST /v1/nodes/node0",
                    "{\"action\":\"drain\",\"reason\":\"new disk\"}");
    small_turn (s);
    state = was_done (c) ? MACHINE_NODE_DRAINED : state;
    assert_int_equal (info_of (s, "node0").state, state);
    report (s, "node0", 5, MACHINE_NODE_UP, NULL);
    assert_int_equal (info_of (s, "node0").state, state);
    c = client_ask (s, 0, "POST /v1/nodes/node0", "{\"action\":\"resume\"}");
    small_turn (s);
    state = was_done (c) ? MACHINE_NODE_UP : state;
    assert_int_equal (info_of (s, "node0").state, state);
    report (s, "node1", 4, MACHINE_NODE_DOWN, "no answer");
    assert_int_equal (info_of (s, "node1").state, MACHINE_NODE_DOWN);
    report (s, "node2", 4, MACHINE_NODE_UP, NULL);
    assert_int_equal (info_of (s, "node2").state, MACHINE_NODE_UP);
    s->b->host.node_foreign (s->b, "node2", 3, 0, 0, NULL);
    s->b->host.node_gone (s->b, "node0");
    s->b->host.node_gone (s->b, "node2");
    small_turn (s);
    for (uint64_t id = 1; id <= 3; id++)
        small_finish (s, id, "startfail");
    s->b->host.node_failed (s->b, "node1", "prolog: no scratch disk");
    small_advance (s, 1);
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
        cmocka_unit_test (test_comes),
        cmocka_unit_test (test_down),
        cmocka_unit_test (test_goes),
        cmocka_unit_test (test_foreign),
        cmocka_unit_test (test_zones),
        cmocka_unit_test (test_drained),
        cmocka_unit_test (test_drained_while_down),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_restart),
        cmocka_unit_test (test_node_failed),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

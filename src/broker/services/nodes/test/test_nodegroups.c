/* test_nodegroups.c - nodes that an autoscaler could make, and the jobs that lack them */
#include "broker/core/test/small.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/services/nodes/nodegroups.h"
#include "common/strbuf.h"

#define DELAY 120.0 /* seconds until a new node is there */

static struct exec_ops ops; /* the small executor's, with more verbs */
static struct exec_group group;
static struct exec_need needs[16]; /* the last needs that the executor got */
static size_t nneeds;
static int told;     /* how often the executor got needs */
static double asked; /* when the executor asked for nodes, or 0 */

static void hear_needs (struct exec *x, const struct exec_need *list, size_t n)
{
    (void)x;
    assert_true (n <= ARRAY_SIZE (needs));
    for (size_t i = 0; i < n; i++)
        needs[i] = list[i];
    nneeds = n;
    told++;
}

static void need_state (struct exec *x, uint64_t job, size_t at,
                        struct exec_need_state *ret)
{
    (void)x;
    assert_true (job > 0 && at == 0);
    *ret = (struct exec_need_state){ .asked = asked };
    snprintf (ret->text, sizeof (ret->text), "the cloud is slow");
}

/* An executor that can make this many nodes of four cores, in a group "big". */
static void can_make (struct small *s, uint32_t possible)
{
    if (s->b->ops != &ops) {
        ops = *s->b->ops;
        told = 0;
        nneeds = 0;
        asked = 0;
    }
    ops.needs = hear_needs;
    ops.need_state = need_state;
    s->b->ops = &ops;
    group = (struct exec_group){ .name = "big",
                                 .node = { .cores = 4, .memory_mib = 1024 },
                                 .possible = possible,
                                 .delay = DELAY };
    s->b->host.groups (s->b, &group, 1);
}

static uint64_t submit (struct small *s)
{
    uint64_t id = entry_id (small_submit (s, "duration: 600"));

    small_turn (s);
    return id;
}

static void add_node (struct small *s, const char *name)
{
    const struct machine_node_spec spec = { .name = name,
                                            .cores = 4,
                                            .memory_mib = 1024 };

    s->b->host.node (s->b, &spec, MACHINE_NODE_UP, NULL);
    small_turn (s);
}

/* A job that lacks a node makes the executor ask for one, and runs when the node is
 * there. */
static void test_lacks_a_node (void **unused)
{
    struct small *s = small_create (0);

    (void)unused;
    can_make (s, 2);
    uint64_t id = submit (s);
    small_advance (s, 1);
    assert_int_equal (nneeds, 1);
    assert_true (needs[0].job == id && needs[0].group == 0 && needs[0].nodes == 1);
    assert_int_equal (needs[0].cores, 1);
    add_node (s, "new0");
    assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_RUN);
    small_advance (s, 2);
    assert_int_equal (nneeds, 0); /* the list is sent as a whole */
    small_destroy (s);
}

/* No node is asked for while the machine has room, or when no more nodes can be made. */
static void test_lacks_nothing (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    can_make (s, 0);
    for (int i = 0; i < 5; i++)
        submit (s);
    small_advance (s, 5);
    assert_int_equal (nneeds, 0);
    can_make (s, 1); /* now one more is possible: for the fifth job */
    small_advance (s, 5);
    assert_int_equal (nneeds, 1);
    assert_int_equal (needs[0].job, 5);
    small_destroy (s);
}

/* All jobs together lack at most as many nodes as can be made; later checks
 * are a second apart. */
static void test_limit (void **unused)
{
    struct small *s = small_create (0);

    (void)unused;
    can_make (s, 1);
    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 600, fluxq: {exclusive: true}");
    small_turn (s);
    small_advance (s, 2);
    uint32_t nodes = 0;
    for (size_t i = 0; i < nneeds; i++)
        nodes += needs[i].nodes;
    assert_int_equal (nodes, 1);
    int before = told;
    for (int i = 0; i < 10; i++)
        submit (s); /* one pass each */
    assert_true (told <= before + 1);
    small_destroy (s);
}

static void test_could_run (void **unused)
{
    struct small *s = small_create (0);
    struct error err = { 0 };
    const struct match_request *req = small_submit (s, "duration: 60")->req;

    (void)unused;
    assert_int_equal (nodegroups_could_run (s->b, req, &err), -ENOENT);
    can_make (s, 1);
    assert_int_equal (nodegroups_could_run (s->b, req, &err), 0);
    const struct match_request *named =
        small_submit (s, "duration: 60, constraints: {hostlist: [node9]}")->req;
    assert_int_equal (nodegroups_could_run (s->b, named, &err), -ENOENT);
    assert_non_null (strstr (err.text, "all nodes that could be made"));
    can_make (s, 0);
    assert_int_equal (nodegroups_could_run (s->b, req, &err), -ENOENT);
    add_node (s, "node0"); /* another machine: the model is built again */
    assert_int_equal (nodegroups_could_run (s->b, req, &err), 0);
    small_destroy (s);
}

/* Users see which nodes the job waits for, and the minimum wait. */
static void test_reason (void **unused)
{
    struct small *s = small_create (0);
    autostrbuf struct strbuf sb;

    (void)unused;
    strbuf_init (&sb, 4096);
    can_make (s, 2);
    const struct entry *e = entry_find (s->b, submit (s));
    assert_false (nodegroups_add_reason (s->b, e, &sb)); /* not checked yet */
    assert_true (nodegroups_not_before (s->b, e) <= 0);
    small_advance (s, 1);
    assert_true (nodegroups_add_reason (s->b, e, &sb));
    assert_non_null (strstr (sb.buf,
                             "waits for 1 node of group big to be made (nobody is "
                             "asked for them): the cloud is slow; not before "));
    assert_true (nodegroups_not_before (s->b, e) == small_now () + DELAY);
    asked = small_now () - 100;
    assert_true (nodegroups_not_before (s->b, e) == asked + DELAY);
    asked = small_now () - 1000; /* late: any moment */
    assert_true (nodegroups_not_before (s->b, e) == small_now ());
    strbuf_reset (&sb);
    assert_true (nodegroups_add_reason (s->b, e, &sb));
    assert_non_null (strstr (sb.buf, "(asked for at "));
    small_destroy (s);
}

static void test_forecast (void **unused)
{
    struct small *s = small_create (0);
    struct error why = { .text = "never" };
    struct entry *e = small_submit (s, "duration: 60");

    (void)unused;
    broker_act (s->b, e, JOB_ACT_DEQUEUE); /* the forecast is for another job */
    nodegroups_foresee (s->b, e, e->req, &why);
    assert_string_equal (why.text, "never"); /* no node can be made */
    can_make (s, 1);
    nodegroups_foresee (s->b, e, e->req, &why);
    assert_non_null (strstr (why.text, "needs 1 node of group big"));
    small_destroy (s);
}

static void scenario (struct small *s)
{
    struct error err = { 0 };
    struct entry *e, *next;

    can_make (s, 2);
    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 600");
    small_turn (s);
    small_advance (s, 2);
    HASH_ITER (hh, s->b->table.all, e, next) {
        autostrbuf struct strbuf sb;
        strbuf_init (&sb, 4096);
        nodegroups_add_reason (s->b, e, &sb);
        int rc = e->req ? nodegroups_could_run (s->b, e->req, &err) : 0;
        assert_true (rc == 0 || rc == -ENOMEM);
        if (e->js && e->req)
            nodegroups_foresee (s->b, e, e->req, &err);
    }
    add_node (s, "new0");
    can_make (s, 1);
    small_advance (s, 10);
    small_finish (s, 1, "startfail");
    small_advance (s, 10);
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
        cmocka_unit_test (test_lacks_a_node), cmocka_unit_test (test_lacks_nothing),
        cmocka_unit_test (test_limit),        cmocka_unit_test (test_could_run),
        cmocka_unit_test (test_reason),       cmocka_unit_test (test_forecast),
        cmocka_unit_test (test_jobs_vanish),  cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

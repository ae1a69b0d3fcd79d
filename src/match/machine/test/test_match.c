/* Requests, choices and sentences by example. Fails if a shape is accepted with another
 * meaning, if nodes are chosen in another order, or if a reason misleads. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/test/build.h"
#include "match/test/places.h"

struct rig {
    struct machine *g;
    struct matcher *m;
};

/* `n` nodes n0, n1, ... of 8 cores, 2 gpus, 1000 MiB; racks of two nodes. */
static struct rig rig_create (int n)
{
    struct rig mc;
    mc.g = machine_create ("cluster");
    mc.m = matcher_create (mc.g, match_policy_find ("lonode"));
    for (int i = 0; i < n; i++) {
        char name[16], rack[16];
        snprintf (name, sizeof (name), "n%d", i);
        snprintf (rack, sizeof (rack), "r%d", i / 2);
        struct machine_node_spec spec = { .name = name,
                                          .places = IN_RACK (rack),
                                          .cores = 8,
                                          .gpus = 2,
                                          .memory_mib = 1000 };
        assert_int_equal (machine_node_add (mc.g, &spec, NULL), i);
    }
    return mc;
}

static void rig_destroy (struct rig *mc)
{
    matcher_destroy (mc->m);
    machine_destroy (mc->g);
}

/* "n0:0-3*2 n1:0*1": node, cores and slots of each rank, or the reason. */
static char *ask (struct rig *mc, uint64_t job, const char *tree, int64_t per_node,
                  const char *constraints)
{
    struct error err = { 0 };
    struct match_request *req = build_request (tree, per_node, constraints, &err);
    if (!req)
        return strdup (err.text);
    struct rset *r;
    struct strbuf sb;
    strbuf_init (&sb, 65536);
    if (match_allocate (mc->m, job, req, 100, 60, &r, &err) < 0) {
        strbuf_adds (&sb, err.text);
    } else {
        for (size_t i = 0; i < r->nranks; i++) {
            strbuf_addf (&sb, "%s%s:", i ? " " : "", r->ranks[i].node);
            strbuf_add_idset (&sb, r->ranks[i].cores);
            strbuf_addf (&sb, "*%u", r->ranks[i].slots);
        }
        rset_destroy (r);
    }
    match_request_destroy (req);
    return strbuf_detach (&sb);
}

static void expect (struct rig *mc, uint64_t job, const char *tree, const char *answer)
{
    char *text = ask (mc, job, tree, 0, NULL);
    assert_string_equal (text, answer);
    free (text);
}

static void test_first_fit (void **state)
{
    (void)state;
    struct rig mc = rig_create (4);
    expect (&mc, 1, "slot=1>core=1", "n0:0*1");
    expect (&mc, 2, "slot=3>core=3", "n0:1-6*2 n1:0-2*1");
    expect (&mc, 3, "node=2>slot=2>core=2", "n1:3-6*2 n2:0-3*2");
    assert_int_equal (match_cancel (mc.m, 1), 0);
    expect (&mc, 4, "slot=1>core=2", "n0:0,7*1");
    expect (&mc, 5, "node=1!>slot=1>core=1", "n3:0-7*1");
    expect (&mc, 6, "slot=1>(core=1,gpu=2)", "n1:7*1");
    rig_destroy (&mc);
}

static void test_racks (void **state)
{
    (void)state;
    struct rig mc = rig_create (6);
    expect (&mc, 1, "slot=1>core=1", "n0:0*1");
    expect (&mc, 2, "rack=1>node=2>slot=1>core=8", "n2:0-7*1 n3:0-7*1");
    expect (&mc, 3, "rack=2>node=1>slot=1>core=7", "n0:1-7*1 n4:0-6*1");
    expect (&mc, 4, "rack=1>slot=9>core=1", "n4:7*1 n5:0-7*8");
    expect (&mc, 5, "rack=1>node=3>slot=1>core=1",
            "needs 1 rack with 3 nodes with 1 slot of 1 core each: 0 of 1 rack fit the "
            "machine");
    rig_destroy (&mc);
}

static void test_elastic (void **state)
{
    (void)state;
    struct rig mc = rig_create (4);
    expect (&mc, 1, "node=1-9>slot=1>core=5", "n0:0-4*1 n1:0-4*1 n2:0-4*1 n3:0-4*1");
    assert_int_equal (match_cancel (mc.m, 1), 0);
    expect (&mc, 1, "node=1-9*2>slot=1>core=8", "n0:0-7*1 n1:0-7*1 n2:0-7*1 n3:0-7*1");
    assert_int_equal (match_cancel (mc.m, 1), 0);
    expect (&mc, 1, "node=3>slot=1>core=1-100", "n0:0-7*1 n1:0-7*1 n2:0-7*1");
    expect (&mc, 2, "slot=2-2147483647>core=3", "n3:0-5*2");
    expect (&mc, 3, "node=1-2147483647>slot=1-2147483647>core=1-2147483647", "n3:6-7*2");
    rig_destroy (&mc);
}

/* Tasks spread over 2 to 6 nodes, with as many slots on each as they then need. */
static struct match_request *spread_request (const char *nodes, const char *slots,
                                             int tasks)
{
    char text[512];
    struct error err = { 0 };

    snprintf (
        text, sizeof (text),
        "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":\"%s\",\"with\":["
        "{\"type\":\"slot\",\"label\":\"task\",\"count\":\"%s\",\"with\":[{\"type\":"
        "\"core\",\"count\":1}]}]}],\"tasks\":[{\"command\":[\"a\"],\"slot\":\"task\","
        "\"count\":{\"total\":%d}}],\"attributes\":{\"system\":{}}}",
        nodes, slots, tasks);
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);
    struct match_request *req = js ? match_request_create (js, &err) : NULL;
    if (!req)
        fail_msg ("%s: %s", text, err.text);
    jobspec_destroy (js);
    return req;
}

/* "4x3": 4 nodes with 3 slots each, or the reason. */
static void expect_spread (struct rig *mc, uint64_t job, const char *nodes,
                           const char *slots, int tasks, const char *answer)
{
    struct match_request *req = spread_request (nodes, slots, tasks);
    struct error err = { 0 };
    struct rset *r;
    char text[ERROR_TEXT_MAX];

    if (match_allocate (mc->m, job, req, 100, 60, &r, &err) < 0) {
        snprintf (text, sizeof (text), "%s", err.text);
    } else {
        snprintf (text, sizeof (text), "%zux%u", r->nranks, r->ranks[0].slots);
        for (size_t i = 0; i < r->nranks; i++)
            assert_int_equal (r->ranks[i].slots, r->ranks[0].slots);
        rset_destroy (r);
    }
    assert_string_equal (text, answer);
    match_request_destroy (req);
}

static void test_spread (void **state)
{
    (void)state;
    struct rig mc = rig_create (6); /* of 8 cores each */
    expect_spread (&mc, 1, "2-6", "2-6", 12, "6x2");
    match_cancel (mc.m, 1);
    expect (&mc, 1, "node=2!>slot=1>core=1", "n0:0-7*1 n1:0-7*1");
    expect_spread (&mc, 2, "2-6", "2-6", 12, "4x3"); /* 5 cores are left on each */
    expect_spread (&mc, 3, "2-6", "2-6", 12, "4x3"); /* then 2 */
    expect_spread (&mc, 4, "2-6", "2-6", 12,
                   "needs 12 cores in all, 8 are free now (of 48)");
    match_cancel (mc.m, 1);
    expect_spread (&mc, 4, "2,6", "2-6", 12, "6x2"); /* with the rest there */
    match_cancel (mc.m, 4);
    expect_spread (&mc, 1, "2-6:2", "2-7", 13, "2x7"); /* 4 would need 4 slots on each */
    match_cancel (mc.m, 1);
    match_cancel (mc.m, 2);
    match_cancel (mc.m, 3);
    expect_spread (&mc, 1, "2-6", "2-6:2", 12, "6x2");
    match_cancel (mc.m, 1);
    expect_spread (&mc, 1, "2-4", "6-12:6", 12, "4x6"); /* steps of slots round up */
    match_cancel (mc.m, 1);
    /* on one node they would never fit; nor on 8, because there are only 6 */
    expect_spread (&mc, 1, "1-8", "2-16", 16, "6x3");
    rig_destroy (&mc);
}

/* A reservation has the smallest size that the machine can serve: 16 tasks take two
 * nodes. */
static void test_spread_reserves (void **state)
{
    (void)state;
    struct rig mc = rig_create (6);
    struct match_request *req = spread_request ("1-8", "2-16", 16);
    struct match_request *never = spread_request ("1-2", "50-100", 100);
    struct error err = { 0 };
    struct rset *r;
    double start = 0;

    expect (&mc, 1, "node=6!>slot=1>core=1",
            "n0:0-7*1 n1:0-7*1 n2:0-7*1 n3:0-7*1 n4:0-7*1 n5:0-7*1");
    assert_int_equal (match_reserve (mc.m, 2, req, 100, 60, &start, &err), 0);
    assert_true (start == 160);
    assert_int_equal (match_cancel (mc.m, 2), 0);
    assert_int_equal (match_earliest (mc.m, req, 100, 60, &start, &r, &err), 0);
    assert_int_equal (r->nranks, 2);
    rset_destroy (r);
    assert_int_equal (match_allocate_largest (mc.m, 2, req, 100, 60, &r, &err), -EBUSY);
    assert_int_equal (match_satisfiability (mc.m, req, &err), 0);
    assert_int_equal (match_satisfiability (mc.m, never, &err), -ENOENT);
    assert_int_equal (match_allocate (mc.m, 4, never, 100, 60, &r, &err), -ENOENT);
    assert_non_null (strstr (err.text, "needs 100 cores"));
    match_request_destroy (req);
    match_request_destroy (never);
    rig_destroy (&mc);
}

static void test_exclusive_leaves_foreign (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    assert_int_equal (machine_node_set_foreign (mc.g, 0, 2, 1, 300, NULL), 0);
    struct error err;
    struct match_request *req = build_request ("slot=1>node=1", 0, NULL, &err);
    struct rset *r;
    assert_int_equal (match_allocate (mc.m, 1, req, 100, 0, &r, &err), 0);
    assert_string_equal (r->ranks[0].node, "n0");
    assert_int_equal (idset_count (r->ranks[0].cores), 6);
    assert_int_equal (idset_count (r->ranks[0].gpus), 1);
    assert_int_equal (r->ranks[0].memory_mib, 700);
    assert_true (r->ranks[0].exclusive);
    assert_true (r->starttime == 100 && r->expiration == 0);
    rset_destroy (r);
    match_request_destroy (req);
    expect (&mc, 2, "slot=1>core=1", "n1:0*1");
    expect (&mc, 3, "node=1!>slot=1>core=1", "needs 1 whole node, 0 are free now (of 2)");
    rig_destroy (&mc);
}

static void test_memory (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    char *text = ask (&mc, 1, "slot=3>(core=1,memory=400)", 0, NULL);
    assert_string_equal (text, "n0:0-1*2 n1:0*1");
    free (text);
    text = ask (&mc, 2, "slot=2>core=1", 250, NULL);
    assert_string_equal (text, "n1:1-2*2");
    free (text);
    expect (&mc, 3, "node=1>(slot=2>core=1,memory=1:GiB)",
            "needs 1024 MiB of memory on a node, the largest has 1000");
    expect (&mc, 3, "slot=1>(core=1,memory=201)", "n1:3*1");
    expect (&mc, 4, "node=1>(slot=1>core=1,gpu=2,memory=100)", "n0:2*1");
    expect (&mc, 5, "slot=1>(core=1,memory=1:cores)",
            "resources[0].with[1]: memory has a unit such as MiB or GB");
    rig_destroy (&mc);
}

/* More types than dimensions of the indexes, and names that differ only in characters
 * that a path cannot have. */
static void test_many_gres (void **state)
{
    static const char *const names[] = { "a/b", "a_b", "a:b", "c", "d", "e",
                                         "f",   "g",   "h",   "i", "j", "k" };
    struct rig mc = rig_create (3);
    struct gres_list gres = { 0 };
    struct machine_node_spec spec = {
        .cores = 8, .gpus = 2, .memory_mib = 1000, .gres = &gres
    };
    struct machine_gres_info info;
    char tree[64], why[128];

    (void)state;
    for (int64_t i = 0; i < (int64_t)ARRAY_SIZE (names); i++)
        assert_int_equal (gres_set (&gres, names[i], i + 2), 0);
    spec.name = "n1";
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 1);
    spec.name = "n2";
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 2);
    for (uint64_t i = 0; i < ARRAY_SIZE (names); i++) {
        snprintf (tree, sizeof (tree), "node=1>(slot=1>core=1,%s=%d)", names[i],
                  (int)i + 3);
        char *text = ask (&mc, 99, tree, 0, NULL);
        assert_null (strstr (text, "n1:"));
        free (text);
        snprintf (tree, sizeof (tree), "node=2>(slot=1>gpu=1,%s=%d)", names[i],
                  (int)i + 2);
        expect (&mc, 99, tree, "n1:*1 n2:*1");
        assert_int_equal (machine_node_gres (mc.g, 2, names[i], &info), 0);
        assert_true (info.count == (int64_t)i + 2 && info.used == info.count
                     && info.free == 0);
        snprintf (tree, sizeof (tree), "node=1>(slot=1>core=1,%s=1)", names[i]);
        text = ask (&mc, 98, tree, 0, NULL);
        snprintf (why, sizeof (why), "%s", text);
        assert_true (!strncmp (why, "needs 1", 7));
        free (text);
        assert_int_equal (match_cancel (mc.m, 99), 0);
        expect (&mc, 98, tree, "n1:0*1");
        assert_int_equal (match_cancel (mc.m, 98), 0);
    }
    spec.gres = NULL;
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 2);
    expect (&mc, 1, "node=1>(slot=1>core=1,k=13)", "n1:0*1");
    gres_release (&gres);
    rig_destroy (&mc);
}

static void test_constraints (void **state)
{
    (void)state;
    static const struct {
        const char *constraints, *answer;
    } table[] = {
        { "{}", "n0:0*1" },
        { "{\"hostlist\":[\"n[2-3]\",\"n9\"]}", "n2:0*1" },
        { "{\"ranks\":[\"3\",\"1\"]}", "n1:0*1" },
        { "{\"not\":[{\"ranks\":[\"0-2\"]}]}", "n3:0*1" },
        { "{\"properties\":[\"ssd\"]}", "n3:0*1" },
        { "{\"properties\":[\"^ssd\",\"big\"]}", "n1:0*1" },
        { "{\"properties\":[]}", "n0:0*1" },
        { "{\"or\":[{\"properties\":[\"ssd\"]},{\"hostlist\":[\"n2\"]}]}", "n2:0*1" },
        { "{\"or\":[]}", "n0:0*1" },
        { "{\"and\":[]}", "n0:0*1" },
        { "{\"not\":[]}", "its constraints allow none of the 4 nodes" },
        { "{\"properties\":[\"ssd\"],\"ranks\":[\"1\"]}",
          "its constraints allow none of the 4 nodes" },
        { "{\"properties\":[\"big\",\"hot\"]}",
          "its constraints allow none of the 4 nodes: none has the property hot" },
        { "{\"and\":[{\"ranks\":[\"1\"]},{\"properties\":[\"hot\"]}]}",
          "its constraints allow none of the 4 nodes: none has the property hot" },
        { "{\"hostlist\":[\"m7\"]}",
          "its constraints allow none of the 4 nodes: none is m7" },
        { "{\"hostlist\":[\"m[1-5]\"]}", "its constraints allow none of the 4 nodes: "
                                         "none is one of the 5 that it names" },
        { "{\"or\":[{\"properties\":[\"hot\"]},{\"hostlist\":[\"m7\"]}]}",
          "its constraints allow none of the 4 nodes" },
        { "{\"xor\":[]}", "constraints: unknown operator 'xor' (and, or, not, "
                          "properties, hostlist, ranks)" },
        { "{\"ranks\":[]}", "constraints: ranks: names no node" },
        { "{\"hostlist\":\"n1\"}",
          "constraints: hostlist: expected an array, got a string" },
        { "{\"and\":[1]}", "constraints: and[0]: expected an object, got an integer" },
        { "{\"properties\":[\"a|b\"]}", "constraints: 'a|b' is not a property's name" },
        { "{\"not\":[{},{}]}", "constraints: not: takes one value, got 2" },
    };
    static const char *const ssd[] = { "ssd", NULL }, *const big[] = { "x", "big", NULL };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        struct rig mc = rig_create (4);
        struct machine_node_spec n3 = { .name = "n3", .cores = 8, .properties = ssd };
        struct machine_node_spec n1 = { .name = "n1", .cores = 8, .properties = big };
        assert_int_equal (machine_node_update (mc.g, &n3, NULL), 3);
        assert_int_equal (machine_node_update (mc.g, &n1, NULL), 1);
        char *text = ask (&mc, 1, "slot=1>core=1", 0, table[i].constraints);
        assert_string_equal (text, table[i].answer);
        free (text);
        rig_destroy (&mc);
    }
}

static void test_constraint_limits (void **state)
{
    (void)state;
    struct strbuf sb;
    struct error err = { 0 };
    strbuf_init (&sb, 65536);
    for (int i = 0; i < 40; i++)
        strbuf_adds (&sb, "{\"not\":[");
    for (int i = 0; i < 40; i++)
        strbuf_adds (&sb, "]}");
    assert_null (build_request ("slot=1>core=1", 0, sb.buf, &err));
    assert_int_equal (err.code, E2BIG);
    strbuf_release (&sb);
    assert_null (
        build_request ("slot=1>core=1", 0, "{\"hostlist\":[\"n[0-70000]\"]}", &err));
    assert_int_equal (err.code, ERANGE);
}

static void test_refused_shapes (void **state)
{
    (void)state;
    static const struct {
        const char *tree, *why;
    } table[] = {
        { "node=1>gpu=1", "resources: there is no task slot" },
        { "slot=1>memory=5", "resources[0]: a task slot needs at least one core or gpu" },
        { "node=1>(slot=1>core=1,slot=1>core=1)",
          "resources[0].with[1]: a second slot: a job's tasks run in one kind of slot" },
        { "slot=1>slot=1>core=1", "resources[0].with[0]: a slot in a slot" },
        { "slot=1>(core=1,core=1)", "resources[0].with[1]: a second 'core' beside number "
                                    "[0]: put both into one, or "
                                    "each into a slot" },
        { "slot=1~>core=1", "resources[0]: a slot cannot be shared" },
        { "rack=1!>node=1>slot=1>core=1",
          "resources[0]: a vertex with nodes cannot be exclusive, its nodes can" },
        { "rack=1>(slot=1>core=1,memory=5)",
          "resources[0].with[1]: there is no task slot in it, nor beside it in a node" },
        { "node=1>slot=1>node=1>core=1",
          "resources[0].with[0].with[0]: a node inside of a node" },
        { "slot=1>node=2>core=1", "resources[0].with[0]: a slot is one node" },
        { "slot=1>(node=1,core=1)",
          "resources[0]: a slot is one node with nothing beside or above it" },
        { "slot=1>rack=1>node=1",
          "resources[0]: a slot is one node with nothing beside or above it" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        struct error err = { 0 };
        assert_null (build_request (table[i].tree, 0, NULL, &err));
        assert_string_equal (err.text, table[i].why);
        assert_int_equal (err.code, ENOTSUP);
    }
}

/* A resource that the machine does not have is not an error, and never exists. */
static void test_unknown_types (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    expect (&mc, 1, "socket=1>slot=1>core=1",
            "needs 1 socket with 1 slot of 1 core: the machine has no socket");
    expect (&mc, 1, "slot=1>core=1>pu=2",
            "needs 1 slot of 1 core with 2 pus: the machine has no pu");
    expect (
        &mc, 1, "rack=1>rack=1>slot=1>core=1",
        "needs 1 rack with 1 rack with 1 slot of 1 core: 0 of 1 rack fit the machine");
    expect (&mc, 1, "cluster=1>rack=1>slot=2>core=5", "n0:0-4*1 n1:0-4*1");
    expect (&mc, 2, "slot=1>core=3~", "n0:5-7*1");
    rig_destroy (&mc);
}

static void test_why (void **state)
{
    (void)state;
    struct rig mc = rig_create (16);
    for (uint64_t j = 0; j < 14; j++) {
        char answer[32];
        snprintf (answer, sizeof (answer), "n%d:0-4*1", (int)j);
        expect (&mc, 100 + j, "node=1>slot=1>(core=5,gpu=1)", answer);
    }
    expect (&mc, 1, "node=4>slot=1>core=8",
            "needs 4 nodes with 1 slot of 8 cores each: 2 of 4 nodes fit now (16 nodes "
            "are up)");
    expect (&mc, 1, "node=4-8>slot=2>(core=2,gpu=1)",
            "needs 4 to 8 nodes with 2 slots of 2 cores and 1 gpu each: 2 of 4 nodes fit "
            "now (16 nodes are up)");
    expect (&mc, 1, "slot=9>core=4",
            "needs 9 slots of 4 cores each: 4 of 9 slots fit now (16 nodes are up)");
    expect (&mc, 1, "slot=60>core=1", "needs 60 cores in all, 58 are free now (of 128)");
    expect (&mc, 1, "slot=1>gpu=3", "needs 3 gpus on a node, the largest has 2");
    expect (&mc, 1, "slot=1>core=9", "needs 9 cores on a node, the largest has 8");
    expect (&mc, 1, "slot=129>core=1", "needs 129 cores in all, there are 128");
    expect (&mc, 1, "node=17>slot=1>core=1",
            "needs 17 nodes with 1 slot of 1 core each, there are 16");
    expect (&mc, 1, "slot=25>core=5",
            "needs 25 slots of 5 cores each: 16 of 25 slots fit the machine");
    expect (&mc, 1, "slot=2147483647>(core=2147483647,memory=2147483647:TiB)",
            "needs 2147483647 cores on a node, the largest has 8");
    char *text = ask (&mc, 1, "node=2>slot=1>core=6", 0, "{\"ranks\":[\"13-14\"]}");
    assert_string_equal (text, "needs 2 nodes with 1 slot of 6 cores each: 1 of 2 nodes "
                               "fits now (of the nodes that its constraints allow)");
    free (text);
    rig_destroy (&mc);
}

static void test_down_is_not_never (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    assert_int_equal (machine_node_set_state (mc.g, 0, MACHINE_NODE_DOWN, "gone dark"),
                      0);
    expect (&mc, 1, "node=2>slot=1>core=1",
            "needs 2 nodes with 1 slot of 1 core each, 1 is up");
    assert_int_equal (machine_node_set_state (mc.g, 1, MACHINE_NODE_DRAINED, NULL), 0);
    expect (&mc, 1, "slot=1>core=1", "needs 1 slot of 1 core, no node is up");
    struct error why = { 0 };
    struct match_request *req = build_request ("node=2>slot=1>core=8", 0, NULL, &why);
    assert_int_equal (match_satisfiability (mc.m, req, &why), 0);
    assert_int_equal (machine_node_remove (mc.g, 0), 0);
    assert_int_equal (match_satisfiability (mc.m, req, &why), -ENOENT);
    match_request_destroy (req);
    rig_destroy (&mc);
    mc = rig_create (0);
    expect (&mc, 1, "slot=1>core=1", "the machine has no nodes");
    rig_destroy (&mc);
}

static uint64_t shape_of (const char *tree, int64_t per_node, const char *constraints)
{
    struct error err;
    struct match_request *req = build_request (tree, per_node, constraints, &err);
    uint64_t shape = match_request_shape (req);
    match_request_destroy (req);
    return shape;
}

static void test_shape (void **state)
{
    (void)state;
    uint64_t shape = shape_of ("node=2>slot=1>core=3", 0, NULL);
    assert_true (shape == shape_of ("node=2>slot=1>core=3", 0, NULL));
    assert_true (shape != shape_of ("node=2>slot=1>core=4", 0, NULL));
    assert_true (shape != shape_of ("node=2!>slot=1>core=3", 0, NULL));
    assert_true (shape != shape_of ("node=2>slot=1>core=3", 1, NULL));
    assert_true (shape != shape_of ("node=2>slot=1>core=3", 0, "{\"ranks\":[\"1\"]}"));
    assert_true (shape != shape_of ("node=2-3>slot=1>core=3", 0, NULL));
}

/* A restart on a changed machine: no job is booked in part. */
static void test_update_refuses_whole (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    struct error why = { 0 };
    struct rset *r = rset_create (2);
    struct machine_node_info info;
    r->ranks[0].node = strdup ("n0");
    r->ranks[1].node = strdup ("n9");
    idset_add_range (r->ranks[0].cores, 2, 3);
    assert_int_equal (match_update (mc.m, 1, r, &why), -ENOENT);
    assert_string_equal (why.text, "node n9 is not known");
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_int_equal (info.cores_used + info.njobs, 0);
    r->ranks[1].node[1] = '1';
    idset_add (r->ranks[1].cores, 8);
    assert_int_equal (match_update (mc.m, 1, r, &why), -ENOENT);
    assert_string_equal (why.text, "n1: core 8 is gone (it has 8)");
    idset_remove (r->ranks[1].cores, 8);
    assert_int_equal (match_update (mc.m, 1, r, &why), 0);
    assert_int_equal (match_update (mc.m, 2, r, &why), -EBUSY);
    assert_string_equal (why.text, "/cluster0/r0/n0/core2 is taken by job 1");
    rset_destroy (r);
    expect (&mc, 3, "slot=1>core=3", "n0:0-1,4*1");
    rig_destroy (&mc);
}

static void test_node_leaves_and_returns (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    struct machine_node_info info;
    expect (&mc, 1, "slot=1>core=4", "n0:0-3*1");
    assert_int_equal (machine_node_remove (mc.g, 0), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_true (info.leaving && info.state == MACHINE_NODE_DOWN && info.cores_free == 0);
    expect (&mc, 2, "slot=1>core=1", "n1:0*1");
    struct machine_node_spec spec = { .name = "n0", .cores = 8 };
    assert_int_equal (machine_node_add (mc.g, &spec, NULL), 0);
    expect (&mc, 3, "slot=1>core=1", "n0:4*1");
    assert_int_equal (machine_node_remove (mc.g, 0), 0);
    assert_int_equal (match_cancel (mc.m, 1), 0);
    assert_int_equal (machine_node_count (mc.g), 2);
    assert_int_equal (match_cancel (mc.m, 3), 0);
    assert_int_equal (machine_node_count (mc.g), 1);
    assert_int_equal (machine_node_next (mc.g, -1), 1);
    spec.name = "other";
    assert_int_equal (machine_node_add (mc.g, &spec, NULL), 0);
    rig_destroy (&mc);
}

/* Foreign use reduces the free amount, and more so when a job ends; a node that shrank
 * below its bookings has nothing free. */
static void test_foreign_follows (void **state)
{
    (void)state;
    struct rig mc = rig_create (1);
    struct machine_node_info info;
    expect (&mc, 1, "slot=1>core=6", "n0:0-5*1");
    uint64_t generation = match_generation (mc.m);
    assert_int_equal (machine_node_set_foreign (mc.g, 0, 4, 0, 10, NULL), 0);
    assert_true (match_generation (mc.m) == generation); /* nothing became free */
    assert_int_equal (machine_node_set_foreign (mc.g, 0, 4, 0, 0, NULL), 0);
    assert_true (match_generation (mc.m) > generation);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_int_equal (info.cores_free, 0);
    assert_int_equal (info.cores_foreign, 4);
    assert_int_equal (match_cancel (mc.m, 1), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_int_equal (info.cores_free, 4);
    expect (&mc, 2, "slot=1>core=3", "n0:0-2*1");
    assert_int_equal (machine_node_set_foreign (mc.g, 0, 0, 0, 990, NULL), 0);
    expect (&mc, 3, "slot=1>core=5", "n0:3-7*1");
    assert_int_equal (match_cancel (mc.m, 2), 0);
    struct machine_node_spec spec = { .name = "n0", .cores = 4, .memory_mib = 1000 };
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_int_equal (info.cores, 4);
    assert_int_equal (info.cores_used, 5);
    assert_int_equal (info.cores_free, 0);
    assert_int_equal (match_cancel (mc.m, 3), 0);
    expect (&mc, 4, "slot=1>(core=4,memory=10)", "n0:0-3*1");
    expect (&mc, 5, "slot=1>core=5", "needs 5 cores on a node, the largest has 4");
    rig_destroy (&mc);
}

/* A resource vanishes while some of it is still booked, and comes back. */
static void test_shrinks_to_nothing (void **state)
{
    (void)state;
    struct rig mc = rig_create (1);
    struct machine_node_info info;
    struct machine_node_spec spec = { .name = "n0", .cores = 8 };
    expect (&mc, 1, "slot=1>(core=1,gpu=1,memory=1)", "n0:0*1");
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_int_equal (info.gpus, 0);
    assert_int_equal (info.gpus_used, 1);
    assert_int_equal (info.memory_used, 1);
    expect (&mc, 2, "slot=1>(core=1,gpu=1)", "needs 1 gpu on a node, the largest has 0");
    expect (&mc, 2, "slot=1>(core=1,memory=1)",
            "needs 1 MiB of memory on a node, the largest has 0");
    spec.gpus = 3;
    spec.memory_mib = 5;
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 0);
    expect (&mc, 2, "slot=1>(core=1,gpu=2,memory=4)", "n0:1*1");
    spec.gpus = 0;
    spec.cores = 0;
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 0);
    assert_int_equal (match_cancel (mc.m, 1), 0);
    assert_int_equal (match_cancel (mc.m, 2), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_int_equal (info.cores + info.cores_used + info.gpus + info.gpus_used, 0);
    assert_true (match_nothing_free (mc.m));
    spec.cores = 2;
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 0);
    assert_false (match_nothing_free (mc.m));
    expect (&mc, 3, "slot=1>core=2", "n0:0-1*1");
    rig_destroy (&mc);
}

/* A reservation does not wait for a leaving node. */
static void test_leaving_is_never (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    expect (&mc, 1, "slot=1>core=1", "n0:0*1");
    assert_int_equal (machine_node_remove (mc.g, 0), 0);
    expect (&mc, 2, "node=2>slot=1>core=1",
            "needs 2 nodes with 1 slot of 1 core each, there is 1");
    assert_int_equal (machine_node_set_state (mc.g, 0, MACHINE_NODE_UP, NULL), 0);
    expect (&mc, 2, "slot=1>core=8", "n1:0-7*1");
    expect (&mc, 3, "slot=1>core=1", "needs 1 core in all, 0 are free now (of 8)");
    rig_destroy (&mc);
}

static void test_racks_change (void **state)
{
    (void)state;
    struct rig mc = rig_create (4);
    struct machine_node_spec spec = { .name = "n0",
                                      .places = IN_RACK ("r1"),
                                      .cores = 8 };
    struct machine_node_info info;
    expect (&mc, 1, "slot=1>core=1", "n0:0*1");
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_string_equal (info.places[0].name, "r1");
    expect (&mc, 2, "rack=1>node=3>slot=1>core=7", "n2:0-6*1 n3:0-6*1 n0:1-7*1");
    expect (&mc, 3, "rack=2>node=1>slot=1>core=1", "n1:0*1 n2:7*1");
    assert_int_equal (match_cancel (mc.m, 3), 0);
    spec.name = "n1";
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 1);
    expect (&mc, 3, "rack=2>node=1>slot=1>core=1",
            "needs 2 racks with 1 node with 1 slot of 1 core each: 1 of 2 racks fits the "
            "machine");
    spec.places = IN_RACK ("n2"); /* a rack may have the name of a node */
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 1);
    spec.places = NULL;
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), 1);
    expect (&mc, 3, "node=1>slot=1>core=8", "n1:0-7*1");
    spec.places = IN_RACK ("a/b");
    assert_int_equal (machine_node_update (mc.g, &spec, NULL), -EINVAL);
    assert_int_equal (machine_node_info (mc.g, 1, &info), 0);
    assert_null (info.places[0].level);
    rig_destroy (&mc);
}

static void put (struct rig *mc, const char *name, const struct machine_place *places)
{
    struct machine_node_spec spec = { .name = name, .places = places, .cores = 8 };
    struct error err = { 0 };

    if (machine_node_add (mc->g, &spec, &err) == -EEXIST
        && machine_node_update (mc->g, &spec, &err) < 0)
        fail_msg ("%s", err.text);
}

/* Two zones, each with a rack "r1"; n4 is in a zone but in no rack, n5 nowhere. */
static void test_levels (void **state)
{
    static const struct machine_place a_only[] = { { "zone", "a" }, { NULL, NULL } };
    struct machine_node_info info;

    (void)state;
    struct rig mc = rig_create (0);
    put (&mc, "n0", IN_ZONE ("a", "r1"));
    put (&mc, "n1", IN_ZONE ("b", "r1"));
    put (&mc, "n2", IN_ZONE ("a", "r1"));
    put (&mc, "n3", IN_ZONE ("b", "r1"));
    put (&mc, "n4", a_only);
    put (&mc, "n5", NULL);
    expect (&mc, 1, "rack=1>node=3>slot=1>core=1",
            "needs 1 rack with 3 nodes with 1 slot of 1 core each: 0 of 1 rack fit the "
            "machine");
    expect (&mc, 1, "zone=1>node=3>slot=1>core=1", "n0:0*1 n2:0*1 n4:0*1");
    expect (&mc, 2, "zone=2>rack=1>node=2>slot=1>core=1", "n0:1*1 n2:1*1 n1:0*1 n3:0*1");
    expect (&mc, 3, "rack=2>node=1>slot=1>core=6", "n0:2-7*1 n1:1-6*1");
    assert_int_equal (machine_node_info (mc.g, 4, &info), 0);
    assert_true (machine_places_equal (info.places, a_only));
    rig_destroy (&mc);
}

/* When its label changes the node moves at once, and an empty place vanishes
 * with its last node. */
static void test_levels_change (void **state)
{
    struct machine_node_info info;

    (void)state;
    struct rig mc = rig_create (0);
    put (&mc, "n0", IN_ZONE ("a", "r1"));
    put (&mc, "n1", IN_ZONE ("b", "r1"));
    expect (&mc, 1, "slot=1>core=1", "n0:0*1");
    put (&mc, "n0", IN_ZONE ("b", "r1"));
    expect (&mc, 2, "rack=1>node=2>slot=1>core=1", "n1:0*1 n0:1*1");
    expect (&mc, 3, "zone=2>node=1>slot=1>core=1",
            "needs 2 zones with 1 node with 1 slot of 1 core each: 1 of 2 zones fits the "
            "machine");
    put (&mc, "n1", IN_RACK ("r1"));
    expect (&mc, 3, "rack=2>node=1>slot=1>core=1", "n0:2*1 n1:1*1");
    assert_int_equal (machine_node_info (mc.g, 1, &info), 0);
    assert_true (machine_places_equal (info.places, IN_RACK ("r1")));
    put (&mc, "n1", NULL);
    put (&mc, "n0", NULL);
    expect (&mc, 4, "rack=1>node=1>slot=1>core=1",
            "needs 1 rack with 1 node with 1 slot of 1 core: the machine has no rack");
    rig_destroy (&mc);
}

static void test_levels_refused (void **state)
{
    static const char *const good[] = { "zone", "top-of_rack2", "R" };
    static const char *const bad[] = { "",    "node", "core", "slot",    "numa",  "2nd",
                                       "a.b", "a b",  "a/b",  "cluster", "memory" };
    const struct machine_place twice[] = { { "rack", "a" },
                                           { "rack", "b" },
                                           { NULL, NULL } };
    struct machine_place many[MACHINE_LEVELS_MAX + 2] = { { NULL, NULL } };
    struct machine_node_spec spec = { .name = "n0", .places = twice, .cores = 8 };

    (void)state;
    struct rig mc = rig_create (0);
    for (size_t i = 0; i < ARRAY_SIZE (good); i++)
        assert_true (machine_level_is_valid (good[i]));
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_false (machine_level_is_valid (bad[i]));
    assert_int_equal (machine_node_add (mc.g, &spec, NULL), -EINVAL);
    spec.places = many;
    for (size_t i = 0; i <= MACHINE_LEVELS_MAX; i++)
        many[i] = (struct machine_place){ "l", "x" };
    assert_int_equal (machine_node_add (mc.g, &spec, NULL), -EINVAL);
    assert_int_equal (machine_node_count (mc.g), 0);
    rig_destroy (&mc);
}

static void test_policy (void **state)
{
    (void)state;
    struct rig mc = rig_create (4);
    expect (&mc, 1, "slot=1>core=1", "n0:0*1");
    uint64_t generation = match_generation (mc.m);
    matcher_set_policy (mc.m, match_policy_find ("hinode"));
    assert_true (match_generation (mc.m) != generation);
    expect (&mc, 2, "slot=1>core=1", "n3:7*1");
    matcher_set_policy (mc.m, match_policy_find ("lonodex"));
    expect (&mc, 3, "slot=1>core=1", "n1:0-7*1");
    matcher_set_policy (mc.m, match_policy_find ("bestfit"));
    expect (&mc, 4, "slot=1>core=1", "n0:1*1");
    matcher_set_policy (mc.m, match_policy_find ("spread"));
    expect (&mc, 5, "slot=2>core=1", "n2:0*1 n3:0*1");
    static const char *const slow[] = { "perf_class=7", NULL };
    static const char *const fast[] = { "perf_class=2", NULL };
    struct machine_node_spec n0 = { .name = "n0", .cores = 8, .properties = slow };
    struct machine_node_spec n3 = { .name = "n3", .cores = 8, .properties = fast };
    assert_int_equal (machine_node_update (mc.g, &n0, NULL), 0);
    assert_int_equal (machine_node_update (mc.g, &n3, NULL), 3);
    matcher_set_policy (mc.m, match_policy_find ("variation"));
    expect (&mc, 6, "node=1>slot=1>core=1", "n3:1*1");
    rig_destroy (&mc);
}

/* Inner counts are the same on all nodes, not the maximum of each. */
static void test_one_size (void **state)
{
    (void)state;
    struct rig mc = rig_create (3);
    expect (&mc, 1, "slot=1>core=3", "n0:0-2*1");
    expect (&mc, 2, "node=3>slot=1>core=1-100", "n0:3-7*1 n1:0-4*1 n2:0-4*1");
    assert_int_equal (match_cancel (mc.m, 2), 0);
    expect (&mc, 2, "node=3>slot=1>core=1-100*2", "n0:3-6*1 n1:0-3*1 n2:0-3*1");
    assert_int_equal (match_cancel (mc.m, 2), 0);
    expect (&mc, 2, "node=1-3>slot=2>(core=1-9,memory=100-9999+50)",
            "n0:3-6*2 n1:0-3*2 n2:0-3*2");
    assert_int_equal (match_cancel (mc.m, 2), 0);
    expect (&mc, 2, "rack=1>node=1-5>slot=1>core=1", "n0:3*1 n1:0*1");
    expect (&mc, 3, "node=2-3>slot=1>core=9-12",
            "needs 9 cores on a node, the largest has 8");
    rig_destroy (&mc);
}

static void test_share (void **state)
{
    (void)state;
    struct rig mc = rig_create (1);
    struct match_request *a = build_request ("slot=1>core=1", 0, NULL, NULL);
    struct match_request *b = build_request ("slot=1>core=1", 0, NULL, NULL);
    struct match_request *c = build_request ("slot=1>core=1", 5, NULL, NULL);
    assert_ptr_equal (match_request_share (mc.m, a), a);
    assert_ptr_equal (match_request_share (mc.m, a), a);
    assert_ptr_equal (match_request_share (mc.m, b), a);
    assert_ptr_equal (match_request_share (mc.m, c), c);
    match_request_destroy (a);
    b = build_request ("slot=1>core=1", 0, NULL, NULL);
    assert_ptr_equal (match_request_share (mc.m, b), a);
    match_request_destroy (a);
    match_request_destroy (a);
    b = build_request ("slot=1>core=1", 0, NULL, NULL);
    assert_ptr_equal (match_request_share (mc.m, b), b);
    rig_destroy (&mc); /* requests may outlive the matcher */
    match_request_destroy (b);
    match_request_destroy (c);
}

/* A running exclusive job is booked with the whole node after a restart, in any
 * state of the node. */
static void test_update_whole (void **state)
{
    (void)state;
    struct rig mc = rig_create (2);
    struct error why = { 0 };
    struct rset *r = rset_create (1);
    struct machine_node_info info;
    r->ranks[0].node = strdup ("n0");
    r->ranks[0].exclusive = true;
    r->starttime = 1e9;
    r->expiration = 1; /* in the past */
    idset_add_range (r->ranks[0].cores, 0, 5);
    assert_int_equal (machine_node_set_foreign (mc.g, 0, 2, 0, 0, NULL), 0);
    assert_int_equal (match_update (mc.m, 1, r, &why), 0);
    assert_int_equal (machine_node_info (mc.g, 0, &info), 0);
    assert_true (info.exclusive);
    assert_int_equal (info.cores_used, 6);
    assert_int_equal (info.cores_free, 0);
    expect (&mc, 2, "slot=1>core=1", "n1:0*1");
    idset_add (r->ranks[0].cores, 8);
    assert_int_equal (match_update (mc.m, 3, r, &why), -ENOENT);
    idset_remove (r->ranks[0].cores, 8);
    assert_int_equal (match_update (mc.m, 3, r, &why), -EBUSY);
    free (r->ranks[0].node);
    r->ranks[0].node = strdup ("n1");
    assert_int_equal (match_update (mc.m, 3, r, &why), -EBUSY);
    assert_int_equal (match_cancel (mc.m, 2), 0);
    assert_int_equal (match_update (mc.m, 3, r, &why), 0);
    assert_int_equal (match_cancel (mc.m, 1), 0);
    expect (&mc, 4, "slot=1>core=6", "n0:0-5*1");
    rset_destroy (r);
    rig_destroy (&mc);
}

static void test_bad_specs (void **state)
{
    (void)state;
    struct machine *g = machine_create ("cluster");
    struct machine_node_spec spec = { .name = "", .cores = 1 };
    assert_int_equal (machine_node_add (g, &spec, NULL), -EINVAL);
    spec.name = "a";
    spec.cores = 65537;
    assert_int_equal (machine_node_add (g, &spec, NULL), -EINVAL);
    spec.cores = 1;
    spec.gpus = 1025;
    assert_int_equal (machine_node_add (g, &spec, NULL), -EINVAL);
    spec.gpus = 0;
    spec.memory_mib = -1;
    assert_int_equal (machine_node_add (g, &spec, NULL), -EINVAL);
    spec.memory_mib = 0;
    assert_int_equal (machine_node_update (g, &spec, NULL), -ENOENT);
    assert_int_equal (machine_node_remove (g, 0), -ENOENT);
    assert_int_equal (machine_node_set_state (g, -1, MACHINE_NODE_UP, NULL), -ENOENT);
    assert_int_equal (machine_node_next (g, -1), -1);
    machine_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_first_fit),
        cmocka_unit_test (test_racks),
        cmocka_unit_test (test_elastic),
        cmocka_unit_test (test_spread),
        cmocka_unit_test (test_spread_reserves),
        cmocka_unit_test (test_exclusive_leaves_foreign),
        cmocka_unit_test (test_memory),
        cmocka_unit_test (test_many_gres),
        cmocka_unit_test (test_constraints),
        cmocka_unit_test (test_constraint_limits),
        cmocka_unit_test (test_refused_shapes),
        cmocka_unit_test (test_unknown_types),
        cmocka_unit_test (test_why),
        cmocka_unit_test (test_down_is_not_never),
        cmocka_unit_test (test_shape),
        cmocka_unit_test (test_update_refuses_whole),
        cmocka_unit_test (test_node_leaves_and_returns),
        cmocka_unit_test (test_foreign_follows),
        cmocka_unit_test (test_shrinks_to_nothing),
        cmocka_unit_test (test_leaving_is_never),
        cmocka_unit_test (test_racks_change),
        cmocka_unit_test (test_levels),
        cmocka_unit_test (test_levels_change),
        cmocka_unit_test (test_levels_refused),
        cmocka_unit_test (test_policy),
        cmocka_unit_test (test_one_size),
        cmocka_unit_test (test_share),
        cmocka_unit_test (test_update_whole),
        cmocka_unit_test (test_bad_specs),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

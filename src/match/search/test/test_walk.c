/* The walk, case by case. Fails if a slot takes another slot's units, if an order
 * differs from the policy's, if a fitting request is refused, or if a reason does not
 * name the missing resource. */
#include "match/search/test/walk_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "match/planner/planner_state.h"
#include "match/search/search.h"

/* -- orders -- */

#define FOUR "cluster>node*4>core*4"

/* One-core jobs, one after the other. */
static void expect_order (const char *policy, const char *request, const char *wanted)
{
    struct rig r = rig_make (FOUR, policy);
    char text[256] = "", one[64];

    for (int i = 0; i < 5; i++) {
        autoselection struct selection *s = NULL;
        struct error why;
        uint32_t node;
        assert_int_equal (rig_ask (&r, SEARCH_ALLOCATE, request, &s, &why), 0);
        const struct pick *p = &s->picks[s->n - 1];
        node = graph_node_of (r.g, p->v);
        snprintf (one, sizeof (one), "%s%d:%d", i > 0 ? " " : "",
                  graph_vertex (r.g, node)->id,
                  graph_vertex (r.g, p->v)->id + (int)p->unit);
        strncat (text, one, sizeof (text) - strlen (text) - 1);
    }
    assert_string_equal (text, wanted);
    rig_drop (&r);
}

static void test_orders (void **state)
{
    (void)state;
    expect_order ("low", "slot=1>core=1", "0:0 1:0 2:0 3:0 0:1");
    expect_order ("high", "slot=1>core=1", "0:3 1:3 2:3 3:3 0:2");
    expect_order ("first", "slot=1>core=1", "3:3 2:3 1:3 0:3 3:2");
    expect_order ("lonode", "slot=1>core=1", "0:0 0:1 0:2 0:3 1:0");
    expect_order ("hinode", "slot=1>core=1", "3:3 3:2 3:1 3:0 2:3");

    expect_order ("bestfit", "slot=1>core=1", "0:0 0:1 0:2 0:3 1:0");
    expect_order ("locality", "slot=1>core=1", "0:0 0:1 0:2 0:3 1:0");
    expect_order ("locality", "node=1>slot=1>core=1", "0:0 0:1 0:2 0:3 1:0");
    expect_order ("spread", "slot=1>core=1", "0:0 1:0 2:0 3:0 0:1");
    expect_order ("low", "node=1>slot=1>core=1", "0:0 0:1 0:2 0:3 1:0");
    expect_order ("lonode", "node=1>slot=1>core=1", "0:0 0:1 0:2 0:3 1:0");
    expect_order ("high", "node=1>slot=1>core=1", "3:3 3:2 3:1 3:0 2:3");
    expect_order ("hinode", "node=1>slot=1>core=1", "3:3 3:2 3:1 3:0 2:3");
    expect_order ("first", "node=1>slot=1>core=1", "3:3 2:3 1:3 0:3 3:2");
}

/* -- slots -- */

#define SOCKETS "cluster>node*2>socket*2>core*18"

static void test_slots_across_sockets (void **state)
{
    (void)state;
    struct rig r = rig_make (SOCKETS, "low");

    expect (&r, "node=1>slot=1>core=19", "node0:core0-17,core18");
    expect (&r, "node=1>slot=1>core=19", "node1:core0-17,core18");
    expect (&r, "slot=1>core=18",
            "needs 18 cores on a node, the largest has 17 free now");
    rig_drop (&r);
    /* If possible a slot is in one socket: 12 of 18 in each, the third across both. */
    r = rig_make (SOCKETS, "low");
    expect (&r, "node=1>slot=2>core=12", "node0:core0-11,core18-29");
    expect (&r, "node=1>slot=3>core=12", "node1:core0-17,core18-35");
    rig_drop (&r);
    struct planner_options together = { .together_slots = true };
    r = rig_make_with (SOCKETS, "low", &together);
    expect (&r, "node=1>slot=1>core=19",
            "needs 1 node with 1 slot of 19 cores: 0 of 1 node fit now (2 nodes are up)");
    rig_drop (&r);
}

/* GPUs beside the sockets: the slot belongs to the node. */
static void test_slots_of_parts_apart (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*2>(socket*2>core*4,gpu*2)", "low");

    expect (&r, "node=1>slot=2>(core=3,gpu=1)", "node0:core0-3,core4-5,gpu0-1");
    expect (&r, "slot=1>(core=2,gpu=1)", "node1:core0-1,gpu0");
    rig_drop (&r);
}

static void test_slots_of_nodes (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>node*2>core*4", "low");

    expect (&r, "slot=1>node=2", "node0 node1");
    expect (&r, "slot=1>node=1>core=2", "node2");
    expect (&r, "slot=1>core=1", "node3:core0");
    expect (&r, "slot=1>node=1", "needs 1 whole node, 0 are free now (of 4)");
    rig_drop (&r);
    r = rig_make ("cluster>rack*2>node*2>core*4", "low");
    expect (&r, "slot=1>node=3", "node0 node1 node2"); /* across racks if necessary */
    rig_drop (&r);
    r = rig_make ("cluster>rack*2>node*3>core*4", "high");
    expect (&r, "rack=1>slot=1>node=3", "node3 node4 node5");
    expect (&r, "rack=2>slot=1>node=1",
            "needs 2 racks with 1 slot of 1 node each: 1 of 2 racks fits now (6 nodes "
            "are up)");
    rig_drop (&r);
}

static void test_slots_side_by_side (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*2>(core*4,gpu*1)", "low");

    /* Each slot has cores of its own. */
    expect (&r, "node=1>(slot=1>core=2,slot=1>(core=2,gpu=1))",
            "node0:core0-1,core2-3,gpu0");
    expect (&r, "slot=1>core=3,slot=1>core=1", "node1:core0-2,core3");
    expect (&r, "slot=1>gpu=1,slot=1>core=1",
            "needs 1 core in all, 0 are free now (of 8)");
    rig_drop (&r);
    r = rig_make ("cluster>node*2>core*4", "low");
    expect (&r, "slot=2>core=3,slot=1>core=2",
            "needs 2 slots of 3 cores each, and 1 slot of 2 cores: 0 of 1 slot fit now "
            "(2 nodes are up)");
    expect (&r, "slot=1>node=1,slot=2>core=2", "node0 node1:core0-3");
    rig_drop (&r);
    /* An elastic slot that would leave too little for the next gets its minimum. */
    r = rig_make ("cluster>node>core*8", "low");
    expect (&r, "node=1>(slot=1-8>core=1,slot=1>core=3)", "node0:core0,core1-3");
    expect (&r, "node=1>(slot=1>core=1-4,slot=1>core=3)", "node0:core4,core5-7");
    rig_drop (&r);
}

static void test_slots_in_slots (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*2>(core*8,gpu*2)", "low");

    expect (&r, "node=1>slot=2>slot=3>core=1", "node0:core0-5");
    expect (&r, "node=1>slot=2>(slot=2>core=1,core=2)",
            "node1:core0-1,core2-3,core4-5,core6-7");
    expect (&r, "slot=1>(slot=1>core=2,gpu=1)", "node0:core6-7,gpu0");
    rig_drop (&r);
}

static void test_or_slots (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*2>(core*8,gpu*2)", "low");

    /* The total equals the count: the earlier kind first as long as the total stays the
     * same. */
    expect (&r, "node=1>(or_slot=3>(core=2,gpu=1),or_slot=3>core=2)",
            "node0:core0-5,gpu0-1");
    expect (&r, "node=1>(or_slot=4>(core=6,gpu=1),or_slot=4>core=2)", "node1:core0-7");
    rig_drop (&r);
    r = rig_make ("cluster>node*2>core*8", "low");
    r.flags = SHAPE_OR_SLOTS;
    expect (&r, "node=1>(slot=2>core=5,slot=2>core=3)", "node0:core0-7");
    rig_drop (&r);
    /* Parts with parts: the kinds in order. */
    r = rig_make ("cluster>(rack*2>node>core*2,rack>node>core*8)", "low");
    expect (&r, "or_slot=1>node=1>core=9,or_slot=1>node=1>core=3", "node2");
    expect (&r, "or_slot=2>node=1>core=4,or_slot=2>node=1>core=1", "node0 node1");
    rig_drop (&r);
}

/* The number of its slots on each node is in the answer. */
static void expect_slots (struct rig *r, const char *request, const char *wanted)
{
    autoselection struct selection *s = NULL;
    char text[256] = "", one[64], name[64];
    struct error why;

    assert_int_equal (rig_ask (r, SEARCH_ALLOCATE, request, &s, &why), 0);
    for (size_t i = 0; i < s->n; i++) {
        if (graph_vertex (r->g, s->picks[i].v)->type != GRAPH_NODE)
            continue;
        snprintf (one, sizeof (one), "%s%s*%u", text[0] ? " " : "",
                  graph_name (r->g, s->picks[i].v, 0, name, sizeof (name)),
                  s->picks[i].slots);
        strncat (text, one, sizeof (text) - strlen (text) - 1);
    }
    assert_string_equal (text, wanted);
}

static void test_slots_are_told (void **state)
{
    (void)state;
    struct rig r = rig_make (FOUR, "low");

    expect_slots (&r, "slot=5>core=1", "node0*2 node1*1 node2*1 node3*1");
    expect_slots (&r, "node=2>slot=2>core=1", "node0*2 node1*2");
    rig_drop (&r);
    r = rig_make (FOUR, "low");
    expect_slots (&r, "slot=1>node=2", "node0*1 node1*0"); /* on the first of them */
    rig_drop (&r);
}

/* -- whole vertices -- */

static void test_exclusive_nodes (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*3>(core*4,gpu*1)", "low");
    autoselection struct selection *s = NULL;
    struct error why;

    expect (&r, "slot=1>core=1", "node0:core0");
    expect (&r, "node=1!>slot=1>core=1", "node1");
    expect (&r, "slot=1>core=4", "node2:core0-3");
    expect (&r, "node=1!", "needs 1 whole node, 0 are free now (of 3)");
    expect (&r, "slot=1>core=3", "node0:core1-3");
    planner_cancel (r.p, 2);
    assert_int_equal (rig_ask (&r, SEARCH_ALLOCATE, "node=1!>slot=1>core=1", &s, &why),
                      0);
    for (size_t i = 1; i < s->n; i++) { /* exactly this vertex is booked */
        assert_true (s->picks[i].exclusive);
        assert_int_equal (s->picks[i].claimed,
                          graph_vertex (r.g, s->picks[i].v)->type == GRAPH_NODE);
    }
    assert_int_equal (s->n, 4);
    assert_int_equal (selection_count (s, r.g, GRAPH_CORE), 4);
    rig_drop (&r);
}

static void test_exclusive_racks (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*3>node*2>core*2", "low");

    expect (&r, "slot=1>core=1", "node0:core0");
    expect (&r, "rack=1!>node=1>slot=1>core=1", "rack1");
    expect (&r, "slot=1>node=2", "node4 node5");
    expect (&r, "node=1!", "node1");
    expect (&r, "slot=1>core=2", "needs 2 cores in all, 1 is free now (of 12)");
    expect (&r, "rack=1!",
            "needs 1 exclusive rack: 0 of 1 rack fit now (6 nodes are up)");
    planner_cancel (r.p, 2);
    expect (&r, "slot=2>core=2", "node2:core0-1 node3:core0-1");
    rig_drop (&r);
}

static void test_node_policies (void **state)
{
    (void)state;
    static const struct {
        const char *policy, *first, *second;
    } rows[] = {
        { "lonodex", "node0", "node1 node2" },
        { "hinodex", "node3", "node1 node2" },
        { "firstnodex", "node3", "node1 node2" },
    };

    for (size_t i = 0; i < ARRAY_SIZE (rows); i++) {
        struct rig r = rig_make (FOUR, rows[i].policy);
        expect (&r, "slot=1>core=1", rows[i].first);
        expect (&r, "slot=2>core=3", rows[i].second);
        expect (&r, "slot=5>core=1", "needs 5 cores in all, 4 are free now (of 16)");
        rig_drop (&r);
    }
}

/* -- usable vertices -- */

static void test_constraints (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>node*2>core*4", "low");

    rig_property (&r, "rack0/node1", "fast", "");
    rig_property (&r, "rack1/node2", "fast", "");
    rig_constraint (&r, "{\"properties\": [\"fast\"]}");
    expect (&r, "slot=3>core=2", "node1:core0-3 node2:core0-1");
    expect (
        &r, "node=3>slot=1>core=1",
        "needs 3 nodes with 1 slot of 1 core each: 1 of 3 nodes fits now (of the nodes "
        "that its constraints allow)");
    rig_constraint (&r, "{\"not\": [{\"properties\": [\"fast\"]}]}");
    expect (&r, "node=2>slot=1>core=1", "node0:core0 node3:core0");
    rig_constraint (&r, "{\"hostlist\": [\"node[2-3]\"]}");
    expect (&r, "slot=1>core=1", "node3:core1");
    rig_constraint (&r, "{\"and\": [{\"ranks\": [\"0-2\"]}, {\"ranks\": [\"2-3\"]}]}");
    expect (&r, "slot=1>core=1", "node2:core2");
    rig_constraint (&r, "{\"or\": [{\"ranks\": [\"1\"]}, {\"hostlist\": [\"node0\"]}]}");
    expect (&r, "slot=1>core=1", "node0:core1");
    rig_constraint (&r, "{\"not\": []}");
    expect (
        &r, "slot=1>core=1",
        "needs 1 slot of 1 core: 0 of 1 slot fit now (of the nodes that its constraints "
        "allow)");
    rig_drop (&r);
}

/* The indexes' count of cores on nodes with the requested property number i. */
static void expect_sums (const struct rig *r, unsigned i, const char *name, int64_t free,
                         int64_t ever)
{
    const struct planner *p = r->p;
    const struct index *x = p->upper[0].index;
    struct error why;

    assert_true (i < p->nproperties);
    assert_string_equal (p->properties[i].name, name);
    assert_int_equal (index_sum_free (x, p->ntypes + i), free);
    assert_int_equal (index_sum_ever (x, p->ntypes + i), ever);
    assert_int_equal (planner_verify (p, &why), 0);
}

static void test_property_sums (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>node*4>core*4", "low");
    static const char *const more[] = { "a", "b", "c", "d" };

    rig_property (&r, "rack1/node5", "fast", "");
    rig_property (&r, "rack1/node6", "fast", "");
    for (size_t i = 0; i < ARRAY_SIZE (more); i++)
        rig_property (&r, "rack0/node1", more[i], "");
    rig_constraint (&r, "{\"properties\": [\"fast\", \"^a\"]}");
    expect (&r, "slot=1>core=3", "node5:core0-2");
    expect_sums (&r, 0, "fast", 5, 8);
    expect (&r, "slot=2>core=3",
            "needs 6 cores in all on nodes with fast, 5 are free now (of 8)");
    expect (&r, "slot=1>core=5", "needs 5 cores on a node, the largest has 4 free now");
    expect (&r, "node=1!>slot=1>core=1", "node6");
    expect_sums (&r, 0, "fast", 1, 8);
    expect (&r, "slot=1>core=2",
            "needs 2 cores in all on nodes with fast, 1 is free now (of 8)");
    expect (&r, "node=1!>slot=1>core=1",
            "needs 1 exclusive node with 1 slot of 1 core: 0 of 1 node fit now (of the "
            "nodes that its constraints allow)");
    expect_later (&r, "node=2!>slot=1>core=1", "at 10: node5 node6");
    expect_sums (&r, 0, "fast", 1, 8);
    rig_property (&r, "rack1/node6", "fast", NULL);
    expect (&r, "slot=1>core=1", "node5:core3");
    expect_sums (&r, 0, "fast", 0, 4);
    /* There is room for this many properties; a property that no node has any
     * more frees its place. */
    rig_constraint (&r, "{\"and\": [{\"properties\": [\"a\"]}, {\"properties\": [\"b\", "
                        "\"c\", \"d\"]}]}");
    expect (&r, "slot=1>core=3", "node1:core0-2");
    assert_int_equal (r.p->nproperties, PROPERTIES_MAX);
    expect_sums (&r, 3, "c", 1, 4);
    expect (&r, "slot=1>core=2",
            "needs 2 cores in all on nodes with a, 1 is free now (of 4)");
    rig_property (&r, "rack0/node1", "b", NULL);
    rig_constraint (&r, "{\"properties\": [\"d\"]}");
    expect (&r, "slot=1>core=1", "node1:core3");
    expect_sums (&r, 2, "d", 0, 4);
    rig_constraint (&r,
                    "{\"or\": [{\"properties\": [\"d\"]}, {\"properties\": [\"e\"]}]}");
    expect (
        &r, "slot=1>core=1",
        "needs 1 slot of 1 core: 0 of 1 slot fit now (of the nodes that its constraints "
        "allow)");
    rig_drop (&r);
}

static void test_requires (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>node*2>(core*2,gpu*4)", "low");

    rig_property (&r, "rack1", "cool", "");
    rig_property (&r, "rack1/node3", "big", "");
    rig_property (&r, "rack0/node0/gpu2", "fp", ""); /* separate units */
    rig_property (&r, "rack0/node0/gpu3", "fp", "");
    expect (&r, "rack=1?cool>node=1>slot=1>core=1", "node2:core0");
    expect (&r, "node=1?big>slot=1>core=1", "node3:core0");
    expect (&r, "slot=1>(core=1,gpu=2?fp)", "node0:core0,gpu2-3");
    expect (&r, "slot=1>gpu=1?fp",
            "needs 1 slot of 1 gpu: 0 of 1 slot fit now (4 nodes are up)");
    expect (&r, "slot=1>gpu=2", "node0:gpu0-1");
    rig_drop (&r);
}

static void test_status (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>node*2>core*4", "low");

    rig_flag (&r, "rack0/node0", GRAPH_DOWN, true);
    rig_flag (&r, "rack0/node1/core0", GRAPH_DRAINED, true);
    expect (&r, "node=1>slot=1>core=2", "node1:core1-2");
    rig_flag (&r, "rack1", GRAPH_DRAINED, true);
    expect (&r, "node=1>slot=1>core=2", "needs 2 cores in all, 1 is free now (of 16)");
    rig_flag (&r, "rack0/node0", GRAPH_DOWN, false);
    expect (&r, "node=1>slot=1>core=2", "node0:core0-1");
    rig_flag (&r, "rack0", GRAPH_DOWN, true);
    expect (&r, "slot=1>core=1", "needs 1 slot of 1 core, no node is up");
    /* A drained node could serve the request some day; too large a request is
     * impossible. */
    rig_expect (&r, SEARCH_SATISFIABILITY, "node=4>slot=1>core=4", "", __FILE__,
                __LINE__);
    rig_expect (&r, SEARCH_SATISFIABILITY, "node=5>slot=1>core=4",
                "needs 5 nodes with 1 slot of 4 cores each, there are 4", __FILE__,
                __LINE__);
    rig_drop (&r);
}

/* -- counts -- */

static int64_t granted (struct rig *r, const char *request)
{
    autoselection struct selection *s = NULL;
    struct error why;

    assert_int_equal (rig_ask (r, SEARCH_WITHOUT_ALLOCATING, request, &s, &why), 0);
    return s->granted;
}

static void test_elastic_counts (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*5>core*6", "low");

    assert_int_equal (granted (&r, "node=1-9>slot=1>core=2"), 5);
    assert_int_equal (granted (&r, "node=1-9*2>slot=1>core=2"), 4);
    assert_int_equal (granted (&r, "node={1,3,9}>slot=1>core=2"), 3);
    assert_int_equal (granted (&r, "node=2>slot=1-9>core=2"), 3);
    assert_int_equal (granted (&r, "node=1>slot=1>core=1-5"), 5);
    assert_int_equal (granted (&r, "node=1>slot=1>core=5"), 0);
    expect (&r, "node=1-2>slot=1>core=1-4", "node0:core0-3 node1:core0-3");
    expect (&r, "node=1>slot=1>core={1,2,5}", "node0:core4-5");
    /* The outermost count first: two slots of three cores, not one of five. */
    expect (&r, "node=1>slot=1-2>core=1-5", "node1:core4-5");
    expect (&r, "node=1>slot=1-2>core=1-5", "node2:core0-5");
    expect (&r, "node=1-9>slot=1>core=5", "node3:core0-4 node4:core0-4");
    expect (&r, "node=2-9>slot=1>core=5",
            "needs 10 cores in all, 2 are free now (of 30)");
    rig_drop (&r);
}

static void test_divisible_memory (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*2>(core*8,memory/1000)", "low");

    expect (&r, "node=1>slot=2>(core=1,memory=400)", "node0:core0-1,memory0=800");
    expect (&r, "node=1>slot=1>(core=1,memory=300)", "node1:core0,memory0=300");
    expect (&r, "node=1>slot=1>(core=1,memory=200)", "node0:core2,memory0=200");
    expect (&r, "node=1>slot=1>(core=1,memory=701)",
            "needs 701 of memory in all, 700 are free now (of 2000)");
    expect_later (&r, "node=1>slot=1>(core=1,memory=701)",
                  "at 10: node0:core0,memory0=701");
    /* From now to 10 node1 has 700, and from 10 on node0 has 299. */
    expect_later (&r, "node=2>slot=1>(core=1,memory=300)",
                  "at 20: node0:core0,memory0=300 node1:core0,memory0=300");
    expect (&r, "node=1>slot=1>(core=1,memory=500-1000)", "node1:core1,memory0=700");
    rig_drop (&r);
    /* The minimum on each node, for any request. */
    r = rig_make ("cluster>node*2>(core*8,memory/1000)", "low");
    r.node_memory = 600;
    expect (&r, "node=1>slot=1>core=1", "node0:core0,memory0=600");
    expect (&r, "slot=2>(core=1,memory=400)", "node1:core0-1,memory0=800");
    expect (&r, "slot=1>core=1",
            "needs 600 of memory on a node, the largest has 400 free now");
    rig_drop (&r);
}

/* 16 at a time: a request for 20 has two parts. */
static void test_indivisible_memory (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node>(core*8,memory*4:16)", "low");

    expect (&r, "slot=1>(core=1,memory=20)", "node0:core0,memory0-1");
    expect (&r, "slot=2>(core=1,memory=10)", "node0:core1-2,memory2-3");
    expect (&r, "slot=1>(core=1,memory=1)",
            "needs 1 of memory in all, 0 are free now (of 64)");
    rig_drop (&r);
}

/* -- policies -- */

static void test_spread (void **state)
{
    (void)state;
    struct rig r = rig_make (FOUR, "spread");

    expect (&r, "slot=4>core=1", "node0:core0 node1:core0 node2:core0 node3:core0");
    expect (&r, "slot=6>core=1", "node0:core1-2 node1:core1-2 node2:core1 node3:core1");
    expect (&r, "slot=6>core=1", "node0:core3 node1:core3 node2:core2-3 node3:core2-3");
    rig_drop (&r);
}

static void test_locality (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*3>node*2>core*4", "locality");

    expect (&r, "node=1>slot=1>core=4", "node0:core0-3");
    expect (&r, "slot=8>core=1", "node2:core0-3 node3:core0-3"); /* one rack has room */
    expect (&r, "slot=9>core=1", "node1:core0-3 node4:core0-3 node5:core0");
    expect (&r, "node=2!", "needs 2 whole nodes, 0 are free now (of 6)");
    rig_drop (&r);
    r = rig_make (FOUR, "locality");
    expect (&r, "slot=1>core=3", "node0:core0-2");
    expect (&r, "slot=1>core=2", "node1:core0-1");
    expect (&r, "slot=1>core=1", "node0:core3"); /* the smallest sufficient node */
    expect (&r, "node=1>slot=1>core=2", "node1:core2-3");
    expect (&r, "slot=1>core=3", "node2:core0-2");
    expect (&r, "slot=5>core=1", "node2:core3 node3:core0-3"); /* the fewest nodes */
    rig_drop (&r);
}

static int free_cores (const struct rig *r, int node)
{
    char path[32];
    uint32_t v, unit;

    snprintf (path, sizeof (path), "node%d", node);
    rig_find (r, path, &v, &unit);
    return 7 - (int)planner_used (r->p, v, GRAPH_CORE, 0);
}

/* Two searches: the fewest nodes with room for so many slots of one core, and the
 * smallest rest on a node with room for all. */
static void check_packed (const int *free, int nodes, int slots, const int *took)
{
    int sorted[16], n = 0, used = 0, sum = 0, best = 99;

    memcpy (sorted, free, (size_t)nodes * sizeof (*free));
    for (int i = 0; i < nodes; i++)
        for (int j = i + 1; j < nodes; j++)
            if (sorted[j] > sorted[i]) {
                int x = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = x;
            }
    while (n < nodes && sum < slots)
        sum += sorted[n++];
    for (int i = 0; i < nodes; i++) {
        used += took[i] > 0;
        best = free[i] >= slots && free[i] < best ? free[i] : best;
    }
    assert_int_equal (used, n);
    for (int i = 0; i < nodes; i++)
        if (n == 1 && took[i] > 0)
            assert_int_equal (free[i], best);
}

/* Random jobs, also with several slots, and random ends. */
static void test_locality_packs (void **state)
{
    enum { NODES = 9 };
    uint64_t booked[64] = { 0 };
    uint32_t seed = 11;

    (void)state;
    struct rig r = rig_make ("cluster>node*9>core*7", "locality");
    for (int round = 0; round < 3000; round++) {
        int free[NODES], took[NODES] = { 0 }, sum = 0;
        char request[32];
        seed = seed * 1664525 + 1013904223;
        size_t place = (seed >> 8) % ARRAY_SIZE (booked);
        int slots = (seed >> 20) % 8 ? 1 + (int)(seed >> 16) % 4 : 12;
        if (booked[place]) {
            assert_int_equal (planner_cancel (r.p, booked[place]), 0);
            booked[place] = 0;
            continue;
        }
        for (int i = 0; i < NODES; i++) {
            free[i] = free_cores (&r, i);
            sum += free[i];
        }
        snprintf (request, sizeof (request), "slot=%d>core=1", slots);
        autoselection struct selection *s = NULL;
        struct error why;
        int rc = rig_ask (&r, SEARCH_ALLOCATE, request, &s, &why);
        assert_int_equal (rc, sum >= slots ? 0 : -EBUSY);
        if (rc < 0)
            continue;
        booked[place] = r.job;
        for (int i = 0; i < NODES; i++)
            took[i] = free[i] - free_cores (&r, i);
        check_packed (free, NODES, slots, took);
    }
    rig_drop (&r);
}

/* A down node may come back: no query reports the request as impossible. */
static void test_down_is_not_never (void **state)
{
    static const enum search_op ops[] = { SEARCH_ALLOCATE_WITH_SATISFIABILITY,
                                           SEARCH_ALLOCATE_ORELSE_RESERVE };
    struct rig r = rig_make (FOUR, "first");
    struct error why;

    (void)state;
    for (int down = 0; down < 4; down++) {
        char path[32];
        snprintf (path, sizeof (path), "node%d", down);
        rig_flag (&r, path, GRAPH_DOWN, true);
        assert_int_equal (
            rig_ask (&r, SEARCH_SATISFIABILITY, "node=4>slot=1>core=1", NULL, &why), 0);
        for (size_t i = 0; i < ARRAY_SIZE (ops); i++) {
            assert_int_equal (rig_ask (&r, ops[i], "node=4>slot=1>core=1", NULL, &why),
                              -EBUSY);
            assert_int_equal (rig_ask (&r, ops[i], "node=5>slot=1>core=1", NULL, &why),
                              -ENODEV);
        }
        assert_int_equal (
            rig_ask (&r, SEARCH_SATISFIABILITY, "node=5>slot=1>core=1", NULL, &why),
            -ENODEV);
    }
    rig_drop (&r);
}

static void test_bestfit (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>node*3>(core*4,gpu*2)", "bestfit");

    expect (&r, "node=1>slot=1>core=1", "node0:core0");
    expect (&r, "node=1>slot=1>core=2", "node0:core1-2");
    expect (&r, "node=1>slot=1>core=2", "node1:core0-1");
    expect (&r, "node=1>slot=1>(core=1,gpu=1)", "node0:core3,gpu0");
    expect (&r, "node=1!", "node2");
    expect (&r, "slot=1>gpu=1", "node0:gpu1");
    rig_drop (&r);
}

static void test_variation (void **state)
{
    (void)state;
    struct rig r = rig_make (FOUR, "variation");

    rig_property (&r, "node2", "perf_class", "1");
    rig_property (&r, "node1", "perf_class", "3");
    rig_property (&r, "node3", "perf_class", "1");
    expect (&r, "node=1>slot=1>core=2", "node2:core0-1");
    expect (&r, "node=3!>slot=1>core=1", "node0 node1 node3");
    rig_drop (&r);
}

static void test_order_by_property (void **state)
{
    (void)state;
    struct rig r = rig_make (FOUR, "policy=low node_centric=true order=age");

    rig_property (&r, "node0", "age", "7");
    rig_property (&r, "node3", "age", "2");
    expect (&r, "slot=1>core=3", "node3:core0-2");
    expect (&r, "slot=1>core=3", "node0:core0-2");
    expect (&r, "slot=1>core=3", "node1:core0-2");
    rig_drop (&r);
    r = rig_make (FOUR, "policy=low stop_on_1_matches=true");
    expect (&r, "slot=1>core=3", "node0:core0-2");
    rig_drop (&r);
}

/* -- machines that are not only nodes in racks -- */

static void test_loose_vertices (void **state)
{
    (void)state;
    static const char *const policies[] = { "first",  "low",    "high",
                                            "lonode", "spread", "locality" };

    for (size_t i = 0; i < ARRAY_SIZE (policies); i++) {
        struct rig r =
            rig_make ("cluster>(rack>(node*2>core*2,ssd*2),storage/100)", policies[i]);
        autoselection struct selection *s = NULL;
        struct error why;
        expect (&r, "slot=1>storage=70", "storage0=70");
        expect (&r, "slot=1>ssd=2", "ssd0-1");
        assert_int_equal (
            rig_ask (&r, SEARCH_ALLOCATE, "node=1>slot=1>core=1,storage=30!", &s, &why),
            0);
        assert_int_equal (
            planner_used (r.p, 0, (uint16_t)graph_type_find (r.g, "storage"), 0), 100);
        assert_int_equal (planner_cancel (r.p, 2), 0);
        rig_flag (&r, "rack0", GRAPH_DOWN, true);
        assert_int_equal (rig_ask (&r, SEARCH_ALLOCATE, "slot=1>ssd=1", NULL, &why),
                          -EBUSY);
        assert_int_equal (rig_ask (&r, SEARCH_ALLOCATE, "ssd=1!", NULL, &why), -EBUSY);
        rig_drop (&r);
    }
}

static void test_without_nodes (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>(core*4,gpu*1)", "low");

    expect (&r, "slot=2>(core=2,gpu=1)", "core0-1 gpu0 core4-5 gpu1");
    expect (&r, "rack=1>slot=1>core=2", "core2-3");
    expect (&r, "slot=1>core=3", "needs 3 cores in all, 2 are free now (of 8)");
    expect (&r, "node=1", "needs 1 node: the machine has no node");
    rig_drop (&r);
}

static void test_racks_without_nodes (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>(rack>node*2>core*4,rack>core*8)", "low");

    expect (&r, "rack=1>slot=1>core=6", "core0-5");
    expect (&r, "rack=2>slot=1>core=2", "node0:core0-1 core6-7");
    expect (&r, "slot=1>core=3", "node1:core0-2");
    rig_drop (&r);
    /* Vertices beside nodes further down count as well. */
    r = rig_make ("cluster>zone*2>rack>(node>core*2,core*8)", "low");
    expect (&r, "zone=1>slot=1>core=6", "core0-5");
    expect (&r, "node=2>slot=1>core=1", "node0:core0 node1:core0");
    expect (&r, "core=13!", "needs 13 cores in all, 12 are free now (of 20)");
    expect (&r, "core=12!", "node0:core1 core6-7 node1:core1 core8-15");
    rig_drop (&r);
}

static void test_nodes_alone (void **state)
{
    (void)state;
    struct rig r = rig_make ("node>core*4", "low");

    expect (&r, "slot=1>core=3", "node0:core0-2");
    expect (&r, "slot=1>core=2", "needs 2 cores in all, 1 is free now (of 4)");
    rig_drop (&r);
}

static void test_nodes_in_nodes (void **state)
{
    (void)state;
    static const char *const policies[] = {
        "first", "firstnodex", "low", "high", "lonode", "hinode", "locality", "spread"
    };

    for (size_t i = 0; i < ARRAY_SIZE (policies); i++) {
        struct rig r = rig_make ("cluster>node*2>(core*2,socket*2>(node>core*4,gpu*1))",
                                 policies[i]);
        autoselection struct selection *s = NULL;
        struct error why;
        assert_int_equal (rig_ask (&r, SEARCH_WITHOUT_ALLOCATING,
                                   "node=1>socket=2>node=1>slot=1>core=4", NULL, &why),
                          0);
        assert_int_equal (
            rig_ask (&r, SEARCH_WITHOUT_ALLOCATING, "socket=2>slot=1>gpu=1", NULL, &why),
            0);
        assert_int_equal (
            rig_ask (&r, SEARCH_ALLOCATE, "socket=1>node=1>slot=1>core=3", &s, &why), 0);
        assert_int_equal (selection_count (s, r.g, GRAPH_CORE) >= 3, 1);
        rig_drop (&r);
    }
}

/* -- reasons -- */

static void test_reasons (void **state)
{
    (void)state;
    struct rig r = rig_make ("cluster>rack*2>node*2>(core*8,gpu*2,memory/100)", "low");

    /* the resource, the requested amount, the total, the free amount, and the level */
    expect (&r, "slot=1>core=9", "needs 9 cores on a node, the largest has 8 free now");
    expect (&r, "slot=5>core=8", "needs 40 cores in all, 32 are free now (of 32)");
    expect (&r, "slot=5>(core=1,gpu=2)", "needs 10 gpus in all, 8 are free now (of 8)");
    expect (&r, "slot=1>(core=1,memory=101)",
            "needs 101 of memory on a node, the largest has 100 free now");
    expect (&r, "node=5!", "needs 5 exclusive nodes, 4 are up");
    expect (&r, "rack=3>node=1>slot=1>core=1",
            "needs 3 racks with 1 node with 1 slot of 1 core each: 2 of 3 racks fit now "
            "(4 nodes are up)");
    expect (&r, "rack=1>node=3>slot=1>core=1",
            "needs 1 rack with 3 nodes with 1 slot of 1 core each: 0 of 1 rack fit now "
            "(4 nodes are up)");
    expect (&r, "node=1>slot=1>tape=1",
            "needs 1 node with 1 slot of 1 tape: the machine has no tape");
    rig_expect (&r, SEARCH_ALLOCATE_ORELSE_RESERVE, "slot=1>core=9",
                "needs 9 cores on a node, the largest has 8", __FILE__, __LINE__);
    rig_expect (&r, SEARCH_SATISFIABILITY, "rack=1>slot=17>core=1",
                "needs 1 rack with 17 slots of 1 core each: 0 of 1 rack fit the machine",
                __FILE__, __LINE__);
    rig_drop (&r);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_orders),
        cmocka_unit_test (test_slots_across_sockets),
        cmocka_unit_test (test_slots_of_parts_apart),
        cmocka_unit_test (test_slots_of_nodes),
        cmocka_unit_test (test_slots_side_by_side),
        cmocka_unit_test (test_slots_in_slots),
        cmocka_unit_test (test_or_slots),
        cmocka_unit_test (test_slots_are_told),
        cmocka_unit_test (test_exclusive_nodes),
        cmocka_unit_test (test_exclusive_racks),
        cmocka_unit_test (test_node_policies),
        cmocka_unit_test (test_constraints),
        cmocka_unit_test (test_property_sums),
        cmocka_unit_test (test_requires),
        cmocka_unit_test (test_status),
        cmocka_unit_test (test_elastic_counts),
        cmocka_unit_test (test_divisible_memory),
        cmocka_unit_test (test_indivisible_memory),
        cmocka_unit_test (test_spread),
        cmocka_unit_test (test_locality),
        cmocka_unit_test (test_locality_packs),
        cmocka_unit_test (test_down_is_not_never),
        cmocka_unit_test (test_bestfit),
        cmocka_unit_test (test_variation),
        cmocka_unit_test (test_order_by_property),
        cmocka_unit_test (test_loose_vertices),
        cmocka_unit_test (test_without_nodes),
        cmocka_unit_test (test_racks_without_nodes),
        cmocka_unit_test (test_nodes_alone),
        cmocka_unit_test (test_nodes_in_nodes),
        cmocka_unit_test (test_reasons),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

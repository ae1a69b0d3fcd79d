/* Fractional CPUs beside whole cores.
 *
 * Fails if a node is allocated twice, in cores and in fractions, now or at a planned
 * time, if a core is promised that cannot be had, if a request fits at first and then
 * not, if foreign use is rounded to whole cores, if a restart does not find a booking,
 * or if a sentence has thousandths.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/machine/machine_private.h"
#include "match/test/build.h"
#include "match/test/verify.h"

struct rig {
    struct machine *g;
    struct matcher *m;
};

static struct rig rig_create (int n, uint32_t cores)
{
    struct rig x = { .g = machine_create ("cluster") };

    x.m = matcher_create (x.g, match_policy_find ("lonode"));
    machine_divide_cpus (x.g);
    for (int i = 0; i < n; i++) {
        char name[16];
        struct machine_node_spec spec = {
            .name = name, .cores = cores, .gpus = 1, .memory_mib = 1000
        };
        snprintf (name, sizeof (name), "n%d", i);
        assert_int_equal (machine_node_add (x.g, &spec, NULL), i);
    }
    return x;
}

static void rig_destroy (struct rig *x)
{
    matcher_destroy (x->m);
    machine_destroy (x->g);
}

static struct match_request *request (const char *tree)
{
    struct error err = { 0 };
    struct match_request *req = build_divided (tree, 0, NULL, &err);

    if (!req)
        fail_msg ("%s: %s", tree, err.text);
    return req;
}

static void add_rank (struct strbuf *sb, const struct rset_rank *rank)
{
    strbuf_addf (sb, "%s%s:", sb->len ? " " : "", rank->node);
    if (idset_count (rank->cores) > 0)
        strbuf_add_idset (sb, rank->cores);
    if (rank->gres.n > 0)
        strbuf_add_gres (sb, &rank->gres);
}

/* "n0:0-3 n1:0", "n0:cpu_milli:500": cores or fractions of each node, or the reason. */
static void expect (struct rig *x, uint64_t job, const char *tree, const char *answer)
{
    struct match_request *req = request (tree);
    struct error why = { 0 };
    autostrbuf struct strbuf sb;
    struct rset *r = NULL;

    strbuf_init (&sb, 4096);
    if (match_allocate (x->m, job, req, 100, 60, &r, &why) < 0)
        strbuf_adds (&sb, why.text);
    for (size_t i = 0; r && i < r->nranks; i++)
        add_rank (&sb, &r->ranks[i]);
    assert_string_equal (sb.buf, answer);
    if (planner_verify (x->g->planner, &why) < 0)
        fail_msg ("%s", why.text);
    rset_destroy (r);
    match_request_destroy (req);
}

static void cancel (struct rig *x, uint64_t job)
{
    assert_int_equal (match_cancel (x->m, job), 0);
}

/* The free thousandths of node 0. */
static void expect_free (struct rig *x, uint32_t cores, int64_t milli)
{
    struct machine_node_info info;

    assert_int_equal (machine_node_info (x->g, 0, &info), 0);
    assert_int_equal (info.cores_free, cores);
    assert_int_equal (info.cpu_milli_free, milli);
}

static void test_beside_cores (void **state)
{
    struct rig x = rig_create (1, 2);

    (void)state;
    expect (&x, 1, "slot=1>cpu_milli=500", "n0:cpu_milli:500");
    expect_free (&x, 1, 1500);
    expect (&x, 2, "slot=1>core=2", "needs 2 cpus in all, 1.5 are free now (of 2)");
    expect (&x, 2, "slot=1>core=1", "n0:0");
    expect_free (&x, 0, 500);
    expect (&x, 3, "slot=1>cpu_milli=501",
            "needs 0.501 cpu in all, 0.5 are free now (of 2)");
    expect (&x, 3, "slot=2>cpu_milli=250", "n0:cpu_milli:500");
    expect_free (&x, 0, 0);
    cancel (&x, 1);
    expect (&x, 4, "slot=1>core=1", "needs 1 cpu in all, 0.5 are free now (of 2)");
    cancel (&x, 3);
    expect (&x, 4, "slot=1>core=1", "n0:1");
    expect (&x, 5, "slot=1>cpu_milli=2001",
            "needs 2.001 cpus on a node, the largest has 2");
    cancel (&x, 2);
    cancel (&x, 4);
    expect_free (&x, 2, 2000);
    rig_destroy (&x);
}

/* A node is whole only if no job has a fraction of it. */
static void test_whole_nodes (void **state)
{
    struct rig x = rig_create (2, 4);
    struct machine_node_info info;

    (void)state;
    expect (&x, 1, "slot=1>cpu_milli=1", "n0:cpu_milli:1");
    expect (&x, 2, "slot=1>node=1", "n1:0-3");
    assert_int_equal (machine_node_info (x.g, 1, &info), 0);
    assert_int_equal (info.cpu_milli_used, 4000);
    assert_int_equal (info.cpu_milli_free, 0);
    expect (&x, 3, "node=1!>slot=1>cpu_milli=100",
            "needs 1 whole node, 0 are free now (of 2)");
    cancel (&x, 1);
    expect (&x, 3, "node=1!>slot=1>cpu_milli=100", "n0:0-3");
    cancel (&x, 2);
    expect (&x, 4, "node=1!>slot=1>core=4", "n1:0-3");
    rig_destroy (&x);
}

/* Foreign use counts to the thousandth. */
static void test_foreign (void **state)
{
    struct gres cpus = { (char *)GRES_CPU_MILLI, 1300 };
    const struct gres_list used = { &cpus, 1 };
    struct rig x = rig_create (1, 4);

    (void)state;
    assert_int_equal (machine_node_set_foreign (x.g, 0, 2, 0, 0, &used), 0);
    expect_free (&x, 2, 2700);
    expect (&x, 1, "slot=1>cpu_milli=700", "n0:cpu_milli:700");
    expect_free (&x, 2, 2000);
    expect (&x, 2, "slot=2>core=1", "n0:0-1");
    expect_free (&x, 0, 0);
    /* only whole cores are known */
    cancel (&x, 1);
    cancel (&x, 2);
    assert_int_equal (machine_node_set_foreign (x.g, 0, 1, 0, 0, NULL), 0);
    expect_free (&x, 3, 3000);
    rig_destroy (&x);
}

/* Counts with several sizes keep their sizes. */
static void test_elastic (void **state)
{
    struct rig x = rig_create (2, 8);

    (void)state;
    expect (&x, 1, "slot=1>cpu_milli=2500", "n0:cpu_milli:2500");
    expect (&x, 2, "node=2>slot=1>core=2-64", "n0:0-4 n1:0-4");
    cancel (&x, 2);
    expect (&x, 2, "node=1-4>slot=1-9>core=3", "n0:0-2 n1:0-2");
    cancel (&x, 2);
    expect (&x, 2, "node=1>slot=1>core=1-64*2", "n1:0-7");
    cancel (&x, 2);
    expect (&x, 2, "slot=1-99>core=2", "n0:0-3 n1:0-7");
    cancel (&x, 2);
    expect (&x, 2, "slot=1>cpu_milli=500-9000+250", "n1:cpu_milli:8000");
    rig_destroy (&x);
}

/* The zones of a node have the cores, the node has the fractions. */
static void test_zones (void **state)
{
    static const struct machine_zone zones[] = { { .id = 0, .cores = 4 },
                                                 { .id = 1, .cores = 4 } };
    struct machine_node_spec spec = {
        .name = "z", .cores = 8, .memory_mib = 1, .zones = zones, .nzones = 2
    };
    static const struct machine_zone left[] = { { .id = 0, .memory_mib = 1 } };
    static const uint64_t seen[] = { 1 };
    const struct machine_report report = { left, 1, true, seen, 1 };
    struct rig x = rig_create (0, 0);

    (void)state;
    assert_int_equal (machine_node_add (x.g, &spec, NULL), 0);
    expect (&x, 1, "slot=1>core=4", "z:0-3");
    assert_int_equal (machine_node_report (x.g, 0, &report), 0);
    expect (&x, 2, "node=1>numa=1>(slot=3>core=1)", "z:4-6");
    expect_free (&x, 1, 1000);
    expect (&x, 3, "slot=1>cpu_milli=600", "z:cpu_milli:600");
    expect (&x, 4, "slot=1>core=1", "needs 1 cpu in all, 0.4 are free now (of 8)");
    cancel (&x, 2);
    expect (&x, 4, "node=1>(slot=2>core=1)", "z:4-5");
    rig_destroy (&x);
}

static void test_reserve (void **state)
{
    struct rig x = rig_create (1, 2);
    struct match_request *core = request ("slot=1>core=2"),
                         *half = request ("slot=1>cpu_milli=500");
    struct rset *r = NULL;
    double start = 0;

    (void)state;
    assert_int_equal (match_allocate (x.m, 1, half, 100, 60, &r, NULL), 0);
    rset_destroy (r);
    assert_int_equal (match_reserve (x.m, 2, core, 100, 60, &start, NULL), 0);
    assert_true (start == 160);
    /* a reservation behind: there is room now, but for no longer */
    assert_int_equal (match_allocate (x.m, 3, half, 100, 61, &r, NULL), -EBUSY);
    assert_int_equal (match_allocate (x.m, 3, half, 100, 60, &r, NULL), 0);
    rset_destroy (r);
    match_request_destroy (core);
    match_request_destroy (half);
    rig_destroy (&x);
}

/* R has the fractions, but not the ones that follow from cores: so an older R
 * is booked as well. */
static void test_restart (void **state)
{
    static const char old[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":"
        "{\"core\":\"0-1\"}}],\"nodelist\":[\"n0\"],\"starttime\":100,"
        "\"expiration\":160}}";
    struct rig x = rig_create (1, 4);
    struct match_request *req = request ("slot=3>cpu_milli=250");
    struct error why = { 0 };
    struct rset *r = NULL;

    (void)state;
    assert_int_equal (match_allocate (x.m, 1, req, 100, 60, &r, NULL), 0);
    autofree char *text = rset_encode (r);
    assert_non_null (strstr (text, "\"gres\":{\"cpu_milli\":750}"));
    rset_destroy (r);
    cancel (&x, 1);
    r = rset_decode (text, strlen (text), &why);
    if (!r)
        fail_msg ("%s", why.text);
    assert_int_equal (match_update (x.m, 1, r, &why), 0);
    rset_destroy (r);
    expect_free (&x, 3, 3250);
    r = rset_decode (old, strlen (old), &why);
    if (!r)
        fail_msg ("%s", why.text);
    assert_int_equal (match_update (x.m, 2, r, &why), 0);
    expect_free (&x, 1, 1250);
    cancel (&x, 2);
    expect (&x, 3, "slot=1>cpu_milli=2000", "n0:cpu_milli:2000");
    assert_int_equal (match_update (x.m, 2, r, &why), -EBUSY);
    assert_string_equal (why.text, "n0: parts of its cores are in use");
    rset_destroy (r);
    match_request_destroy (req);
    rig_destroy (&x);
}

/* A node with less than the booked amount has nothing free until the bookings end. */
static void test_shrinks (void **state)
{
    struct machine_node_spec spec = { .name = "n0", .cores = 1, .memory_mib = 1 };
    struct rig x = rig_create (1, 4);
    struct machine_node_info info;

    (void)state;
    expect (&x, 1, "slot=1>cpu_milli=2500", "n0:cpu_milli:2500");
    assert_int_equal (machine_node_update (x.g, &spec, NULL), 0);
    expect_free (&x, 0, 0);
    assert_int_equal (machine_node_info (x.g, 0, &info), 0);
    assert_int_equal (info.cpu_milli_used, 2500);
    cancel (&x, 1);
    expect_free (&x, 1, 1000);
    spec.cores = 0;
    assert_int_equal (machine_node_update (x.g, &spec, NULL), 0);
    expect_free (&x, 0, 0);
    rig_destroy (&x);
}

static void expect_refused (struct match_request *(*create) (const struct jobspec *,
                                                             struct error *),
                            const char *tree, const char *why)
{
    struct error err = { 0 };

    assert_null (build_request_by (create, tree, 0, NULL, &err));
    assert_int_equal (err.code, ENOTSUP);
    assert_non_null (strstr (err.text, why));
}

static void test_refused (void **state)
{
    (void)state;
    expect_refused (match_request_create, "slot=1>cpu_milli=500", "ask for whole cores");
    expect_refused (match_request_create_divided, "slot=1>(cpu_milli=500,core=1)",
                    "ask for one of them");
    expect_refused (match_request_create_divided, "node=1>(slot=1>cpu_milli=500,core=1)",
                    "ask for one of them");
    expect_refused (match_request_create_divided, "slot=1>memory=500",
                    "at least one core or gpu");
}

static void test_words (void **state)
{
    struct rig x = rig_create (2, 2);

    (void)state;
    expect (&x, 1, "node=3>slot=1>cpu_milli=500",
            "needs 3 nodes with 1 slot of 0.5 cpu each, there are 2");
    expect (&x, 1, "node=3>slot=1>core=1",
            "needs 3 nodes with 1 slot of 1 core each, there are 2");
    expect (&x, 1, "slot=1>cpu_milli=1250", "n0:cpu_milli:1250");
    expect (&x, 2, "node=2>(slot=2>(cpu_milli=500,gpu=1))",
            "needs 2 gpus on a node, the largest has 1");
    expect (&x, 2, "node=2>(slot=2>cpu_milli=500)",
            "needs 2 nodes with 2 slots of 0.5 cpu each: 1 of 2 nodes fits now (2 nodes "
            "are up)");
    rig_destroy (&x);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_beside_cores), cmocka_unit_test (test_whole_nodes),
        cmocka_unit_test (test_foreign),      cmocka_unit_test (test_elastic),
        cmocka_unit_test (test_zones),        cmocka_unit_test (test_reserve),
        cmocka_unit_test (test_restart),      cmocka_unit_test (test_shrinks),
        cmocka_unit_test (test_refused),      cmocka_unit_test (test_words),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

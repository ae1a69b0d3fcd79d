/* test_submit_shape.c - options to resources: every shape of submit_options.h goes
 * through the parser and must have the requested sizes */
#include "jobspec/options/test/submit_line.h"

static void add_tree (struct strbuf *sb, const struct jobspec_resource *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        strbuf_addf (sb, "%s%s", i ? "," : "", r[i].type);
        if (r[i].sizes)
            strbuf_add_idset (sb, r[i].sizes);
        else if (r[i].count.min == r[i].count.max)
            strbuf_addf (sb, "%jd", (intmax_t)r[i].count.min);
        else
            strbuf_addf (sb, "%jd-%jd:%jd:%c", (intmax_t)r[i].count.min,
                         (intmax_t)r[i].count.max, (intmax_t)r[i].count.operand,
                         r[i].count.op);
        strbuf_addf (sb, "%s%s", r[i].unit ? r[i].unit : "",
                     r[i].exclusive == JOBSPEC_TRUE ? "!" : "");
        if (r[i].nwith) {
            strbuf_addch (sb, '(');
            add_tree (sb, r[i].with, r[i].nwith);
            strbuf_addch (sb, ')');
        }
    }
}

static const struct {
    const char *options;
    const char *tree;
    int64_t total; /* 0: one task for each slot */
    struct jobspec_sizes s;
} shapes[] = {
    { "", "slot1(core1)", 0, { 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0 } },
    { "-n4", "slot4(core1)", 0, { 1, 4, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-n4 -c2", "slot4(core2)", 0, { 1, 4, 4, 4, 8, 8, 0, 0, 2, 0, 0, 0 } },
    { "-c8", "slot1(core8)", 0, { 1, 1, 1, 1, 8, 8, 0, 0, 8, 0, 0, 0 } },
    { "-N2", "node2(slot1(core1))", 0, { 2, 2, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "-N2 -c4", "node2(slot1(core4))", 0, { 2, 2, 2, 2, 8, 8, 0, 0, 4, 0, 0, 0 } },
    { "-N2 -n4", "node2(slot2(core1))", 0, { 2, 2, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N2 -n2", "node2(slot1(core1))", 0, { 2, 2, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "-N2 -n3", "node2(slot2(core1))", 3, { 2, 2, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N4 -n5 -c3", "node4(slot2(core3))", 5, { 4, 4, 8, 8, 24, 24, 0, 0, 3, 0, 0, 0 } },
    { "-N1 -n1", "node1(slot1(core1))", 0, { 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0 } },
    { "-N1 -n7", "node1(slot7(core1))", 0, { 1, 1, 7, 7, 7, 7, 0, 0, 1, 0, 0, 0 } },
    { "--ntasks-per-node=4",
      "node1(slot4(core1))",
      0,
      { 1, 1, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N3 --ntasks-per-node=4",
      "node3(slot4(core1))",
      0,
      { 3, 3, 12, 12, 12, 12, 0, 0, 1, 0, 0, 0 } },
    { "-n8 --ntasks-per-node=4",
      "node2(slot4(core1))",
      0,
      { 2, 2, 8, 8, 8, 8, 0, 0, 1, 0, 0, 0 } },
    { "-n10 --ntasks-per-node=4",
      "node3(slot4(core1))",
      10,
      { 3, 3, 12, 12, 12, 12, 0, 0, 1, 0, 0, 0 } },
    { "-n2 --ntasks-per-node=4",
      "node1(slot2(core1))",
      0,
      { 1, 1, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "-N2 -n8 --ntasks-per-node=4",
      "node2(slot4(core1))",
      0,
      { 2, 2, 8, 8, 8, 8, 0, 0, 1, 0, 0, 0 } },
    { "-N2 -n5 --ntasks-per-node=4",
      "node2(slot3(core1))",
      5,
      { 2, 2, 6, 6, 6, 6, 0, 0, 1, 0, 0, 0 } },
    { "-N2-4", "node2-4:1:+(slot1(core1))", 0, { 2, 4, 2, 4, 2, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N4-4", "node4(slot1(core1))", 0, { 4, 4, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    /* a number of nodes in each rack, or zone */
    { "-N4 --nodes-per-rack=2",
      "rack2(node2(slot1(core1)))",
      0,
      { 4, 4, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N4 -n7 --nodes-per=zone:4",
      "zone1(node4(slot2(core1)))",
      7,
      { 4, 4, 8, 8, 8, 8, 0, 0, 1, 0, 0, 0 } },
    { "-N4-16:4 --nodes-per=rack:4",
      "rack1-4:1:+(node4(slot1(core1)))",
      0,
      { 4, 16, 4, 16, 4, 16, 0, 0, 1, 0, 0, 0 } },
    { "-N2,8 --nodes-per=rack:2",
      "rack1,4(node2(slot1(core1)))",
      0,
      { 2, 8, 2, 8, 2, 8, 0, 0, 1, 0, 0, 0 } },
    /* several sizes, in steps and as a list */
    { "-N4-16:4",
      "node4-16:4:+(slot1(core1))",
      0,
      { 4, 16, 4, 16, 4, 16, 0, 0, 1, 0, 0, 0 } },
    { "-N4-16:4:+",
      "node4-16:4:+(slot1(core1))",
      0,
      { 4, 16, 4, 16, 4, 16, 0, 0, 1, 0, 0, 0 } },
    { "-N2-16:2:*",
      "node2-16:2:*(slot1(core1))",
      0,
      { 2, 16, 2, 16, 2, 16, 0, 0, 1, 0, 0, 0 } },
    { "-N2-256:2:^",
      "node2-256:2:^(slot1(core1))",
      0,
      { 2, 256, 2, 256, 2, 256, 0, 0, 1, 0, 0, 0 } },
    { "-N1,2,4,8",
      "node1-2,4,8(slot1(core1))",
      0,
      { 1, 8, 1, 8, 1, 8, 0, 0, 1, 0, 0, 0 } },
    { "-N1,2,3", "node1-3:1:+(slot1(core1))", 0, { 1, 3, 1, 3, 1, 3, 0, 0, 1, 0, 0, 0 } },
    { "-N4+",
      "node4-2147483647:1:+(slot1(core1))",
      0,
      { 4, 2147483647, 4, 2147483647, 4, 2147483647, 0, 0, 1, 0, 0, 0 } },
    /* several numbers of tasks */
    { "-n8-64", "slot8-64:1:+(core1)", 0, { 1, 64, 8, 64, 8, 64, 0, 0, 1, 0, 0, 0 } },
    { "-n8-64:8 -c2",
      "slot8-64:8:+(core2)",
      0,
      { 1, 64, 8, 64, 16, 128, 0, 0, 2, 0, 0, 0 } },
    { "-n2,8,32", "slot2,8,32(core1)", 0, { 1, 32, 2, 32, 2, 32, 0, 0, 1, 0, 0, 0 } },
    { "-n8-64 --ntasks-per-node=8",
      "node1-8:1:+(slot8(core1))",
      0,
      { 1, 8, 8, 64, 8, 64, 0, 0, 1, 0, 0, 0 } },
    { "-n8-56:16 --ntasks-per-node=8",
      "node1-7:2:+(slot8(core1))",
      0,
      { 1, 7, 8, 56, 8, 56, 0, 0, 1, 0, 0, 0 } },
    { "-n8,32 --ntasks-per-node=4 --exclusive",
      "node2,8!(slot4(core1))",
      0,
      { 2, 8, 8, 32, 8, 32, 0, 0, 1, 0, 0, 0 } },
    { "-N4 -n8-64",
      "node4(slot2-16:1:+(core1))",
      0,
      { 4, 4, 8, 64, 8, 64, 0, 0, 1, 0, 0, 0 } },
    { "-N4 -n8-64:2:*",
      "node4(slot2-16:2:*(core1))",
      0,
      { 4, 4, 8, 64, 8, 64, 0, 0, 1, 0, 0, 0 } },
    { "-N2-4 -n8-64",
      "node2-4:1:+(slot4-16:1:+(core1))",
      0,
      { 2, 4, 8, 64, 8, 64, 0, 0, 1, 0, 0, 0 } },
    { "-N4-16 -n32-128",
      "node4-16:1:+(slot8(core1))",
      0,
      { 4, 16, 32, 128, 32, 128, 0, 0, 1, 0, 0, 0 } },
    /* one number of tasks, spread over the granted nodes */
    { "-N4-16 -n64",
      "node4-16:1:+(slot4-16:1:+(core1))",
      64,
      { 4, 16, 64, 79, 64, 79, 0, 0, 1, 0, 0, 0 } },
    { "-N2,4 -n6 -c2",
      "node2,4(slot2-3:1:+(core2))",
      6,
      { 2, 4, 6, 9, 12, 18, 0, 0, 2, 0, 0, 0 } },
    { "-N2+ -n6",
      "node2-6:1:+(slot1-3:1:+(core1))",
      6,
      { 2, 6, 6, 11, 6, 11, 0, 0, 1, 0, 0, 0 } },
    { "-N2-4 --ntasks-per-node=3 -c2",
      "node2-4:1:+(slot3(core2))",
      0,
      { 2, 4, 6, 12, 12, 24, 0, 0, 2, 0, 0, 0 } },
    { "--mem=512", "slot1(core1)", 0, { 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0 } },
    { "-N2 --mem=4G",
      "node2(slot1(core1),memory4096MiB)",
      0,
      { 2, 2, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "--ntasks-per-node=2 --mem=1000K",
      "node1(slot2(core1),memory1MiB)",
      0,
      { 1, 1, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "-N2-4 --mem=1T",
      "node2-4:1:+(slot1(core1),memory1048576MiB)",
      0,
      { 2, 4, 2, 4, 2, 4, 0, 0, 1, 0, 0, 0 } },
    { "-G1", "slot1(core1,gpu1)", 0, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0 } },
    { "-n2 -G4", "slot2(core1,gpu2)", 0, { 1, 2, 2, 2, 2, 2, 4, 4, 1, 0, 0, 0 } },
    { "-N2 -G2", "node2(slot1(core1,gpu1))", 0, { 2, 2, 2, 2, 2, 2, 2, 2, 1, 0, 0, 0 } },
    { "-N2 -n4 -G8",
      "node2(slot2(core1,gpu2))",
      0,
      { 2, 2, 4, 4, 4, 4, 8, 8, 1, 0, 0, 0 } },
    { "-N2 -n4 -G2",
      "node2(slot2(core1),gpu1)",
      0,
      { 2, 2, 4, 4, 4, 4, 2, 2, 1, 0, 0, 0 } },
    { "-N2 -n4 -G6 --mem=1",
      "node2(slot2(core1),gpu3,memory1MiB)",
      0,
      { 2, 2, 4, 4, 4, 4, 6, 6, 1, 0, 0, 0 } },
    /* three tasks in four slots: with one GPU for each slot there would be four */
    { "-N2 -n3 -G6",
      "node2(slot2(core1),gpu3)",
      3,
      { 2, 2, 4, 4, 4, 4, 6, 6, 1, 0, 0, 0 } },
    { "-n4 --gpus-per-task=2",
      "slot4(core1,gpu2)",
      0,
      { 1, 4, 4, 4, 4, 4, 8, 8, 1, 0, 0, 0 } },
    { "-N2-3 --gpus-per-task=1",
      "node2-3:1:+(slot1(core1,gpu1))",
      0,
      { 2, 3, 2, 3, 2, 3, 2, 3, 1, 0, 0, 0 } },
    { "--gpus-per-node=2",
      "node1(slot1(core1),gpu2)",
      0,
      { 1, 1, 1, 1, 1, 1, 2, 2, 1, 0, 0, 0 } },
    { "--gres=gpu:2,lic",
      "node1(slot1(core1),gpu2,lic1)",
      0,
      { 1, 1, 1, 1, 1, 1, 2, 2, 1, 0, 0, 0 } },
    { "-N2-3 --gres=rdma/hca:2,gpu:a100 --mem=5",
      "node2-3:1:+(slot1(core1),gpu:a1001,rdma/hca2,memory5MiB)",
      0,
      { 2, 3, 2, 3, 2, 3, 0, 0, 1, 0, 0, 0 } },
    { "-n4 --ntasks-per-node=2 --gres=lic:3",
      "node2(slot2(core1),lic3)",
      0,
      { 2, 2, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-n4 --gres=lic --gres=none",
      "slot4(core1)",
      0,
      { 1, 4, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "--exclusive", "node1!(slot1(core1))", 0, { 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0 } },
    { "-n1 --exclusive",
      "node1!(slot1(core1))",
      0,
      { 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0 } },
    { "-c.5", "slot1(cpu_milli500)", 0, { 1, 1, 1, 1, 1, 1, 0, 0, 1, 500, 500, 500 } },
    { "-N2 -n4 -c1250m --mem=5",
      "node2(slot2(cpu_milli1250),memory5MiB)",
      0,
      { 2, 2, 4, 4, 5, 5, 0, 0, 2, 1250, 5000, 5000 } },
    { "-n3 -c0.5",
      "slot3(cpu_milli500)",
      0,
      { 1, 3, 3, 3, 2, 2, 0, 0, 1, 500, 1500, 1500 } },
    { "-n2-4 -c0.3",
      "slot2-4:1:+(cpu_milli300)",
      0,
      { 1, 4, 2, 4, 1, 2, 0, 0, 1, 300, 600, 1200 } },
    { "-c0.5 -c2000m", "slot1(core2)", 0, { 1, 1, 1, 1, 2, 2, 0, 0, 2, 0, 0, 0 } },
    { "-c0.5 -c3", "slot1(core3)", 0, { 1, 1, 1, 1, 3, 3, 0, 0, 3, 0, 0, 0 } },
    { "-c3 -c0.5",
      "slot1(cpu_milli500)",
      0,
      { 1, 1, 1, 1, 1, 1, 0, 0, 1, 500, 500, 500 } },
    { "-c2.0", "slot1(core2)", 0, { 1, 1, 1, 1, 2, 2, 0, 0, 2, 0, 0, 0 } },
    { "-N2 --exclusive",
      "node2!(slot1(core1))",
      0,
      { 2, 2, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "-n4 --ntasks-per-node=2 --exclusive",
      "node2!(slot2(core1))",
      0,
      { 2, 2, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N2-4 --exclusive",
      "node2-4:1:+!(slot1(core1))",
      0,
      { 2, 4, 2, 4, 2, 4, 0, 0, 1, 0, 0, 0 } },
    { "-N2 --exclusive=no",
      "node2(slot1(core1))",
      0,
      { 2, 2, 2, 2, 2, 2, 0, 0, 1, 0, 0, 0 } },
    { "-N2 -N3 -n9 -n6",
      "node3(slot2(core1))",
      0,
      { 3, 3, 6, 6, 6, 6, 0, 0, 1, 0, 0, 0 } },
    { "-N2147483647 --ntasks-per-node=2147483647 -c2147483647",
      "node2147483647(slot2147483647(core2147483647))",
      0,
      { 2147483647, 2147483647, 4611686014132420609, 4611686014132420609, INT64_MAX,
        INT64_MAX, 0, 0, 2147483647, 0, 0, 0 } },
    { "-n2147483647",
      "slot2147483647(core1)",
      0,
      { 1, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 0, 0, 1, 0, 0,
        0 } },
};

static void test_shapes (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (shapes); i++) {
        struct error err = { 0 };
        autostrbuf struct strbuf tree;
        struct jobspec_sizes s;
        struct jobspec *js;
        json_t *root = make (shapes[i].options, &err);

        if (!root)
            fail_msg ("'%s': %s", shapes[i].options, err.text);
        js = parse (root);
        strbuf_init (&tree, 4096);
        add_tree (&tree, js->resources, js->nresources);
        if (strcmp (tree.buf, shapes[i].tree))
            fail_msg ("'%s' is %s, not %s", shapes[i].options, tree.buf, shapes[i].tree);
        assert_string_equal (js->slot_label, "task");
        assert_int_equal (js->task_count_kind,
                          shapes[i].total ? JOBSPEC_TOTAL : JOBSPEC_PER_SLOT);
        assert_int_equal (js->task_count, shapes[i].total ? shapes[i].total : 1);
        jobspec_get_sizes (js, &s);
        if (memcmp (&s, &shapes[i].s, sizeof (s)))
            fail_msg ("'%s': nodes %jd-%jd slots %jd-%jd cores %jd-%jd gpus %jd-%jd, %jd "
                      "a slot",
                      shapes[i].options, s.min_nodes, s.max_nodes, s.min_slots,
                      s.max_slots, s.min_cores, s.max_cores, s.min_gpus, s.max_gpus,
                      s.cores_per_slot);
        jobspec_destroy (js);
        json_decref (root);
    }
}

/* Memory and cores by the core or GPU, and tasks by the GPU. */
static const struct {
    const char *options, *tree;
    int64_t per_slot;
} by_unit[] = {
    { "-n4 -c2 --mem-per-cpu=100", "slot4(core2,memory200MiB)", 1 },
    { "-c0.5 --mem-per-cpu=101", "slot1(cpu_milli500,memory51MiB)", 1 },
    { "-N2 --gpus-per-node=2 --mem-per-gpu=1G", "node2(slot1(core1),gpu2,memory2048MiB)",
      1 },
    { "-n2 --gpus-per-task=2 --cpus-per-gpu=3 --mem-per-gpu=10",
      "slot2(core6,gpu2,memory20MiB)", 1 },
    { "-N2 -n4 --gpus-per-node=1 --cpus-per-gpu=4", "node2(slot2(core2),gpu1)", 1 },
    { "-G4 --ntasks-per-gpu=2", "slot4(core2,gpu1)", 2 },
    { "-n8 -c2 --ntasks-per-gpu=2", "slot4(core4,gpu1)", 2 },
    { "-n4 -G4 --ntasks-per-gpu=1", "slot4(core1,gpu1)", 1 },
    { "-N2 --gpus-per-node=2 --ntasks-per-gpu=3 --mem-per-cpu=5",
      "node2(slot2(core3,gpu1,memory15MiB))", 3 },
    { "--gpus-per-node=2 --ntasks-per-gpu=2", "node1(slot2(core2,gpu1))", 2 },
    { "-N1 --mem=0", "node1!(slot1(core1))", 1 },
    { "--mem=0", "node1!(slot1(core1))", 1 },
    /* a node is one socket */
    { "-n6 --ntasks-per-socket=2", "node3(slot2(core1))", 1 },
    { "-n5 --ntasks-per-socket=2 --ntasks-per-node=3", "node3(slot2(core1))", 5 },
    { "-N2 --ntasks-per-socket=4", "node2(slot1(core1))", 1 },
    { "--ntasks-per-socket=4", "slot1(core1)", 1 },
    { "-N2 -n2+ --ntasks-per-socket=3", "node2(slot1-3:1:+(core1))", 1 },
    { "-N2 -n6+ --ntasks-per-node=3", "node2(slot3(core1))", 1 },
    { "-n3 --spread-job", "node1-3:1:+(slot1-3:1:+(core1))", 3 },
    { "-n8 --spread-job --ntasks-per-node=4", "node2-8:1:+(slot1-4:1:+(core1))", 8 },
    { "-N2 -n4 --spread-job", "node2(slot2(core1))", 1 },
    { "-n1 --spread-job", "node1(slot1(core1))", 1 },
    { "-N4 --segment=2", "node4(slot1(core1))", 1 },
    { "-N2-8 --segment=2", "node2-8:2:+(slot1(core1))", 1 },
    { "-N2,8 --segment=2", "node2,8(slot1(core1))", 1 },
};

static void test_by_unit (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (by_unit); i++) {
        struct error err = { 0 };
        autostrbuf struct strbuf tree = STRBUF_INIT (4096);
        json_t *root = make (by_unit[i].options, &err);

        if (!root)
            fail_msg ("'%s': %s", by_unit[i].options, err.text);
        struct jobspec *js = parse (root);
        add_tree (&tree, js->resources, js->nresources);
        if (strcmp (tree.buf, by_unit[i].tree) != 0
            || js->task_count != by_unit[i].per_slot)
            fail_msg ("'%s' is %s, %jd a slot", by_unit[i].options, tree.buf,
                      js->task_count);
        jobspec_destroy (js);
        json_decref (root);
    }
}

static void test_by_unit_refused (void **state)
{
    static const struct {
        const char *options, *words;
    } bad[] = {
        { "--mem=5 --mem-per-cpu=1", "--mem and --mem-per-cpu exclude each other" },
        { "-c2 -G2 -n2 --cpus-per-gpu=1", "--cpus-per-task and --cpus-per-gpu exclude" },
        { "--mem-per-gpu=1", "--mem-per-gpu: the job asks for no GPUs" },
        { "--cpus-per-gpu=1", "--cpus-per-gpu: the job asks for no GPUs" },
        { "--ntasks-per-gpu=1", "--ntasks-per-gpu: the job asks for no GPUs" },
        { "-n5 --ntasks-per-gpu=2", "5 tasks (-n) are not 2 for each GPU" },
        { "-n2 -G4 --ntasks-per-gpu=1", "2 tasks (-n) are not 1 for each GPU" },
        { "-n2-4 --ntasks-per-gpu=1", "does not go with several sizes" },
        { "-n2 --gpus-per-task=1 --ntasks-per-gpu=1", "exclude each other" },
        { "-N1 -n3 --gpus-per-node=1 --cpus-per-gpu=4",
          "4 cores on each node do not divide" },
        { "-n2 --mem=0", "--mem=0 needs the number of nodes" },
        { "-N2 -n5 --ntasks-per-socket=2",
          "(--ntasks-per-socket, and a node is one socket)" },
        { "-N2 --ntasks-per-node=2 --ntasks-per-socket=1", "more than 1 on each socket" },
        { "-n5-7 --ntasks-per-socket=2", "2 tasks a node (--ntasks-per-socket)" },
        { "-G2 --ntasks-per-gpu=1 --ntasks-per-socket=1", "exclude each other" },
        { "-n2-4 --spread-job", "does not go with several numbers of tasks" },
        { "-N3 --segment=2", "-N 3 does not divide into segments of 2 nodes" },
        { "-N2-5 --segment=2", "-N 2-5 does not divide into segments of 2 nodes" },
        { "-N2+ --segment=2", "say the largest number" },
        { "-n2 --segment=2", "--segment=2 needs the number of nodes" },
        { "-N2 --spread-segments", "give --segment" },
        { "-N2 --segment=1 --nodes-per-rack=1", "cannot be combined with --nodes-per" },
        { "-N2 --segment=1 --placement=pack", "cannot be combined with --placement" },
        { "-c2147483647 --mem-per-cpu=2147483647", "more than 2147483647 MiB" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        json_t *root = make (bad[i].options, &err);

        if (root || !strstr (err.text, bad[i].words))
            fail_msg ("'%s': '%s' lacks '%s'", bad[i].options, err.text, bad[i].words);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_shapes),
        cmocka_unit_test (test_by_unit),
        cmocka_unit_test (test_by_unit_refused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}

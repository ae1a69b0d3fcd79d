/* Topologies of hwloc as graphs. Fails if the graph has cores or devices that the
 * machine does not have, or those of this machine, or if a text crashes the reader. */
#include "match/test/formats.h"

#include <errno.h>
#include <string.h>

#include "match/readers/reader.h"

/* -- a topology -- */

static void add_object (struct strbuf *sb, const char *type, int gp, const char *cpus,
                        const char *more)
{
    autostrbuf struct strbuf text;

    strbuf_init (&text, 1 << 12);
    strbuf_addf (&text, "<object type='%s' gp_index='%d' %s", type, gp, more);
    if (cpus)
        strbuf_addf (&text,
                     " cpuset='%s' complete_cpuset='%s' nodeset='0x1' "
                     "complete_nodeset='0x1'",
                     cpus, cpus);
    strbuf_adds (&text, ">\n");
    add_quoted (sb, text.buf);
}

static void add_core (struct strbuf *sb, int n, const char *cpus)
{
    char index[32];

    snprintf (index, sizeof (index), "os_index='%d'", n);
    add_object (sb, "Core", 100 + n, cpus, index);
    add_object (sb, "PU", 200 + n, cpus, index);
    strbuf_adds (sb, "</object>\n</object>\n");
}

/* Below a bridge: a PCI device that the drivers (at most two) know by these names. */
struct device {
    const char *class, *driver[2];
    int kind[2]; /* hwloc's number: block 0, gpu 1, coprocessor 5 */
    const char *info;
};

static void add_device (struct strbuf *sb, int n, const struct device *d)
{
    char more[128];

    snprintf (more, sizeof (more),
              "pci_busid='0000:0%d:00.0' pci_type='%s [10de:1db1] [10de:1212] a1' "
              "pci_link_speed='0.0'",
              n, d->class);
    add_object (sb, "PCIDev", 300 + n, NULL, more);
    for (int k = 0; k < 2 && d->driver[k]; k++) {
        snprintf (more, sizeof (more), "name='%s' osdev_type='%d'", d->driver[k],
                  d->kind[k]);
        add_object (sb, "OSDev", 400 + 2 * n + k, NULL, more);
        add_quoted (sb, d->info ? d->info : "");
        strbuf_adds (sb, "</object>\n");
    }
    strbuf_adds (sb, "</object>\n");
}

static void add_bridge (struct strbuf *sb, int domain, const struct device *devices,
                        size_t n)
{
    char more[96];

    snprintf (more, sizeof (more),
              "bridge_type='0-1' depth='0' bridge_pci='000%d:[00-09]'", domain);
    add_object (sb, "Bridge", 500 + domain, NULL, more);
    for (size_t i = 0; i < n; i++)
        add_device (sb, 4 * domain + (int)i, &devices[i]);
    strbuf_adds (sb, "</object>\n");
}

/* Two packages of two cores; below the first a disk, a disk of unknown size and
 * two GPUs (one known to two drivers); below the second two GPUs that are
 * numbered from 0 again. */
static void add_topology (struct strbuf *sb, const char *host)
{
    static const char disk[] = "<info name='Size' value='1562813784'/>\n"
                               "<info name='LinuxDeviceID' value='259:0'/>\n";
    static const struct device first[] = {
        { "0108", { "nvme0n1" }, { 0 }, disk },
        { "0108", { "sda" }, { 0 }, NULL },
        { "0302", { "rsmi0", "opencl0d5" }, { 1, 5 }, NULL },
        { "0302", { "cuda2" }, { 5 }, NULL },
    };
    static const struct device second[] = {
        { "0302", { "opencl0d0" }, { 5 }, NULL },
        { "0302", { "opencl0d2" }, { 5 }, NULL },
    };

    add_quoted (sb, "<?xml version='1.0' encoding='UTF-8'?>\n"
                    "<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n"
                    "<topology version='2.0'>\n");
    add_object (sb, "Machine", 1, "0xf",
                "os_index='0' allowed_cpuset='0xf' allowed_nodeset='0x1'");
    if (host)
        strbuf_addf (sb, "<info name=\"HostName\" value=\"%s\"/>\n", host);
    add_object (sb, "NUMANode", 2, "0xf", "os_index='0' local_memory='1073741824'");
    strbuf_adds (sb, "</object>\n");
    add_object (sb, "Package", 3, "0x3", "os_index='0'");
    add_object (sb, "L3Cache", 4, "0x3",
                "cache_size='8388608' depth='3' cache_linesize='64' "
                "cache_associativity='16' cache_type='0'");
    add_core (sb, 0, "0x1");
    add_core (sb, 1, "0x2");
    strbuf_adds (sb, "</object>\n");
    add_bridge (sb, 0, first, ARRAY_SIZE (first));
    strbuf_adds (sb, "</object>\n");
    add_object (sb, "Package", 5, "0xc", "os_index='1'");
    add_core (sb, 2, "0x4");
    add_core (sb, 3, "0x8");
    add_bridge (sb, 1, second, ARRAY_SIZE (second));
    strbuf_adds (sb, "</object>\n</object>\n</topology>\n");
}

/* -- results -- */

static int read_xml (struct graph *g, const char *text, const char *const *types,
                     struct error *err)
{
    struct match_reader_options opt = { .types = types };
    const struct match_reader *r = match_reader_find ("hwloc");

    assert_non_null (r);
    return r->read (g, text, strlen (text), types ? &opt : NULL, err);
}

static void check (const char *host, const char *const *types, const char *format,
                   const char *expected)
{
    struct graph *g = graph_create ();
    struct error err = { 0 };
    autostrbuf struct strbuf xml;

    strbuf_init (&xml, 1 << 20);
    add_topology (&xml, host);
    if (read_xml (g, xml.buf, types, &err) < 0)
        fail_msg ("%s", err.text);
    check_graph (g, format, expected);
    graph_destroy (g);
}

/* All types of the format. The disk without a size is left out, a GPU that two
 * drivers know is one GPU, and ids of GPUs are unique in the node. */
static void test_all (void **state)
{
    (void)state;
    check ("host07", NULL, "simple",
           "      ------------------pu0[1:x]\n"
           "      ---------------core0[1:x]\n"
           "      ------------------pu1[1:x]\n"
           "      ---------------core1[1:x]\n"
           "      ------------L3cache0[8192:x]\n"
           "      ------------storage0[1562:x]\n"
           "      ------------gpu0[1:x]\n"
           "      ------------gpu2[1:x]\n"
           "      ---------socket0[1:x]\n"
           "      ---------------pu2[1:x]\n"
           "      ------------core2[1:x]\n"
           "      ---------------pu3[1:x]\n"
           "      ------------core3[1:x]\n"
           "      ------------gpu1[1:x]\n"
           "      ------------gpu3[1:x]\n"
           "      ---------socket1[1:x]\n"
           "      ---------numanode0[1:x]\n"
           "      ------host07[1:x]\n"
           "      ---cluster0[1:x]\n");
}

/* Types outside the list are left out, and their children move up. */
static void test_types (void **state)
{
    static const char *const few[] = { "node", "core", "storage", NULL };
    static const char *const flat[] = { "core", "gpu", NULL };
    static const char *const none[] = { "cluster", NULL };

    (void)state;
    check ("host07", few, "simple",
           "      ---------core0[1:x]\n"
           "      ---------core1[1:x]\n"
           "      ---------storage0[1562:x]\n"
           "      ---------core2[1:x]\n"
           "      ---------core3[1:x]\n"
           "      ------host07[1:x]\n"
           "      ---cluster0[1:x]\n");
    check ("host07", flat, "simple",
           "      ------core0[1:x]\n"
           "      ------core1[1:x]\n"
           "      ------gpu0[1:x]\n"
           "      ------gpu2[1:x]\n"
           "      ------core2[1:x]\n"
           "      ------core3[1:x]\n"
           "      ------gpu1[1:x]\n"
           "      ------gpu3[1:x]\n"
           "      ---cluster0[1:x]\n");
    check ("host07", none, "simple", "      ---cluster0[1:x]\n");
}

/* The node has rank 0 and the name of the host; vertices below it have no rank; the
 * device of a disk is a property. */
static void test_words (void **state)
{
    static const char *const few[] = { "node", "storage", NULL };
    autostrbuf struct strbuf nodes;
    autostrbuf struct strbuf edges;
    autostrbuf struct strbuf all;

    (void)state;
    strbuf_init (&nodes, 1 << 12);
    strbuf_init (&edges, 1 << 12);
    strbuf_init (&all, 1 << 12);
    add_node (&nodes, 2,
              "'type': 'storage', 'id': 0, 'rank': -1, 'properties': {'LinuxDeviceID': "
              "'259:0'}, 'exclusive': true, 'size': 1562",
              "/cluster0/host07/storage0");
    add_node (&nodes, 1,
              "'type': 'node', 'basename': 'host', 'name': 'host07', 'id': 7, 'rank': 0, "
              "'exclusive': true",
              "/cluster0/host07");
    add_node (&nodes, 0, "'type': 'cluster', 'id': 0, 'rank': -1, 'exclusive': true",
              "/cluster0");
    add_edge (&edges, 1, 2);
    add_edge (&edges, 0, 1);
    add_graph (&all, &nodes, &edges);
    strbuf_adds (&all, "}\n");
    check ("host07", few, "jgf", all.buf);
}

/* A machine without a name is not a node. */
static void test_unnamed (void **state)
{
    static const char *const few[] = { "node", "socket", NULL };

    (void)state;
    check (NULL, few, "simple",
           "      ------socket0[1:x]\n"
           "      ------socket1[1:x]\n"
           "      ---cluster0[1:x]\n");
}

/* -- refusals, with place or reason -- */

static void check_refused (const char *text, const char *what)
{
    struct graph *g = graph_create ();
    struct error err = { 0 };

    if (read_xml (g, text, NULL, &err) == 0)
        fail_msg ("accepted: %.200s", text);
    if (strncmp (err.text, "hwloc: ", 7) != 0 || !strstr (err.text, what))
        fail_msg ("%.200s: %s", text, err.text);
    graph_destroy (g);
    g = graph_create ();
    assert_int_not_equal (read_xml (g, text, NULL, NULL), 0);
    graph_destroy (g);
}

static void test_refused (void **state)
{
    static const struct {
        const char *text, *what;
    } bad[] = {
        { "", "line 1" },
        { "{}", "line 1" },
        { "<graphml/>", "line 1: graphml: expected <topology>" },
        { "<topology>\n<object>\n</topology>\n", "line 3" },
        { "<topology/>", "no PU" },
        { "<topology version='3.0'/>", "line 1: 3.0: " },
        { "<topology>\n<object type='Hat'/></topology>", "line 2: Hat: not a type" },
    };
    autostrbuf struct strbuf text;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        check_refused (bad[i].text, bad[i].what);
    strbuf_init (&text, 1 << 20);
    add_topology (&text, "n9223372036854775808");
    check_refused (text.buf, "'n9223372036854775808'");
    strbuf_reset (&text);
    strbuf_adds (&text, "<topology version=\"2.0\">");
    for (int i = 0; i < 10000; i++)
        strbuf_adds (&text, "<object type=\"Group\">");
    check_refused (text.buf, "line 1: ");
}

/* Fails if, after a topology was read, an error of libxml2 in the text itself, and not
 * in its XML, calls a function of the unloaded libhwloc. */
static void test_no_text (void **state)
{
    char bytes[120] = "<"; /* as UCS-4, with an invalid character */
    struct graph *g = graph_create ();
    struct error err = { 0 };

    (void)state;
    memcpy (bytes + 108, "\xf0\xb7op", 4);
    assert_int_not_equal (
        match_reader_find ("hwloc")->read (g, bytes, 116, &(struct match_reader_options){ 0 }, &err),
        0);
    assert_memory_equal (err.text, "hwloc: ", 7);
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_all),     cmocka_unit_test (test_types),
        cmocka_unit_test (test_words),   cmocka_unit_test (test_unnamed),
        cmocka_unit_test (test_refused), cmocka_unit_test (test_no_text),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

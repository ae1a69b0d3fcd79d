/* JGF as a graph, as a part to attach, and as an allocation of a job. Fails if
 * vertices or their order differ from the text, if a refused attach leaves half a
 * subgraph, if units are booked that the text does not name, or if a contradictory
 * text is accepted. */
#include "match/readers/test/readers.h"

/* -- documents from lines --
 *
 *     0 cluster /cluster0                            a vertex: id, type, path
 *     1 node /cluster0/node0 'rank': 0, 'id': 0      and more members, with ' for "
 *     2 pdu - 'paths': {'power': '/panel0/pdu0'}     without a path in containment
 *     0>1 1>2@power                                  edges, and of another subsystem
 */

static void add_edges (struct strbuf *sb, const char *line, size_t len)
{
    char text[1024], *rest = text, *edge;

    assert_true (len < sizeof (text));
    memcpy (text, line, len);
    text[len] = '\0';
    while ((edge = strsep (&rest, " "))) {
        char *source = strsep (&edge, ">"), *target = strsep (&edge, "@");
        strbuf_addf (sb, "%s{'source': '%s', 'target': '%s'", sb->len ? ", " : "", source,
                     target);
        if (edge)
            strbuf_addf (sb, ", 'metadata': {'subsystem': '%s'}", edge);
        strbuf_addch (sb, '}');
    }
}

static void add_vertex (struct strbuf *sb, const char *line, size_t len)
{
    autofree char *text = strndup (line, len);
    char *rest = text, *id = strsep (&rest, " "), *type = strsep (&rest, " "),
         *path = strsep (&rest, " ");

    assert_non_null (path);
    strbuf_addf (sb, "%s{'id': '%s', 'metadata': {'type': '%s'", sb->len ? ", " : "", id,
                 type);
    if (strcmp (path, "-") != 0)
        strbuf_addf (sb, ", 'paths': {'containment': '%s'}", path);
    strbuf_addf (sb, "%s%s}}", rest ? ", " : "", rest ? rest : "");
}

/* The caller frees the result. */
static char *jgf_of (const char *lines)
{
    autostrbuf struct strbuf nodes;
    autostrbuf struct strbuf edges;
    struct strbuf all;

    strbuf_init (&nodes, 1 << 24);
    strbuf_init (&edges, 1 << 24);
    strbuf_init (&all, 1 << 26);
    for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
        len = strcspn (lines, "\n");
        if (memchr (lines, '>', strcspn (lines, " \n")))
            add_edges (&edges, lines, len);
        else
            add_vertex (&nodes, lines, len);
    }
    strbuf_addf (&all, "{'graph': {'nodes': [%s], 'edges': [%s]}}", nodes.buf, edges.buf);
    autofree char *text = strbuf_detach (&all);
    assert_non_null (text);
    return quoted (text);
}

static void reads_in (const char *subsystem, const char *lines, const char *expected)
{
    autofree char *text = jgf_of (lines);

    check_reads ("jgf", subsystem, text, expected);
}

static void reads (const char *lines, const char *expected)
{
    reads_in (NULL, lines, expected);
}

static void refused_with (int code, const char *lines, const char *words)
{
    autofree char *text = jgf_of (lines);

    check_refused ("jgf", NULL, text, strlen (text), code, words);
}

static void refused (const char *lines, const char *words)
{
    refused_with (-EINVAL, lines, words);
}

/* Unchanged, except " for '. */
static void refused_text (const char *text, const char *words)
{
    autofree char *copy = quoted (text);

    check_refused ("jgf", NULL, copy, strlen (copy), -EINVAL, words);
}

static struct graph *graph_of (const char *lines)
{
    autofree char *text = jgf_of (lines);

    return graph_in ("jgf", text, strlen (text), NULL);
}

static const char small[] = "0 cluster /cluster0\n"
                            "1 node /cluster0/node0 'id': 0, 'rank': 0\n"
                            "2 core /cluster0/node0/core0 'id': 0\n"
                            "3 core /cluster0/node0/core1 'id': 1\n"
                            "0>1 1>2 1>3";
static const char small_text[] = "cluster0 #0\n"
                                 " node0 #1 r0\n"
                                 "  core0..1 #2..3\n";

/* -- graphs -- */

static void test_defaults (void **state)
{
    (void)state;
    reads ("5 cluster /cluster5\n"
           "7 node /cluster5/fluke-007 'name': 'fluke-007'\n"
           "8 node /cluster5/fluke 'name': 'fluke'\n"
           "9 core /cluster5/fluke/core40 'uniq_id': 40\n"
           "x ssd /cluster5/fluke/disk3 'uniq_id': 41, 'id': 3, 'size': 616, 'rank': 8, "
           "'status': 1, 'unit': 'GiB', 'basename': 'disk', 'exclusive': true, "
           "'properties': {'b': '2', 'a': ''}\n"
           "5>7 5>8 8>9 8>x",
           "cluster5 #5\n"
           " fluke-007 #7\n"
           " fluke #8\n"
           "  core40 #40\n"
           "  disk3 #41 r8 *616 {a=} {b=2} down\n");
}

/* The number of a node comes from its name, the number of other vertices does not. */
static void test_ids (void **state)
{
    struct graph *g = graph_of ("0 cluster /big9 'name': 'big9'\n"
                                "1 node /big9/n0012 'name': 'n0012'\n"
                                "0>1");

    (void)state;
    assert_int_equal (graph_vertex (g, g->root)->id, 0);
    assert_int_equal (graph_vertex (g, graph_find_node (g, "n0012"))->id, 12);
    assert_string_equal (graph_basename (g, graph_find_node (g, "n0012")), "node");
    graph_destroy (g);
}

/* Siblings have the order of their edges; equal neighbours are one group. */
static void test_order (void **state)
{
    (void)state;
    reads ("3 core /cluster0/node0/core1 'id': 1\n"
           "4 gpu /cluster0/node0/gpu0 'id': 0\n"
           "2 core /cluster0/node0/core0 'id': 0\n"
           "1 node /cluster0/node0 'id': 0\n"
           "0 cluster /cluster0\n"
           "1>4 1>2 1>3 0>1",
           "cluster0 #0\n"
           " node0 #1\n"
           "  gpu0 #4\n"
           "  core0..1 #2..3\n");
    reads ("0 cluster /cluster0\n"
           "1 node /cluster0/node0 'id': 0\n"
           "2 core /cluster0/node0/core0 'id': 0\n"
           "3 core /cluster0/node0/core1 'id': 1\n"
           "0>1 1>3 1>2",
           "cluster0 #0\n"
           " node0 #1\n"
           "  core1 #3\n"
           "  core0 #2\n");
}

/* Each subsystem has its own tree over some of the vertices. */
static void test_subsystems (void **state)
{
    static const char lines[] =
        "0 cluster /cluster0\n"
        "1 node - 'id': 0, 'rank': 0, 'paths': {'containment': '/cluster0/node0', "
        "'power': "
        "'/panel0/pdu0/node0'}\n"
        "2 core /cluster0/node0/core0 'id': 0\n"
        "7 panel - 'id': 0, 'paths': {'power': '/panel0'}\n"
        "8 pdu - 'id': 0, 'paths': {'power': '/panel0/pdu0', 'containment': "
        "'/cluster0/pdu0'}\n"
        "0>1 1>2 0>8 7>8@power 8>1@power";

    (void)state;
    reads (lines, "cluster0 #0\n"
                  " node0 #1 r0 power=/panel0/pdu0/node0\n"
                  "  core0 #2\n"
                  " pdu0 #8 power=/panel0/pdu0\n"
                  "power: #8 -> #1\n");
    reads_in ("power", lines,
              "panel0 #7\n"
              " pdu0 #8 containment=/cluster0/pdu0\n"
              "  node0 #1 r0 containment=/cluster0/node0\n");
}

static void test_relationship (void **state)
{
    (void)state;
    autofree char *text = quoted (
        "{'graph': {'nodes': ["
        "{'id': '0', 'metadata': {'type': 'a', 'paths': {'containment': '/a0'}}},"
        "{'id': '1', 'metadata': {'type': 'b', 'paths': {'containment': '/a0/b1'}}}],"
        "'edges': [{'source': '0', 'target': '1'}, {'source': '1', 'target': '0',"
        "'metadata': {'subsystem': 'power', 'relationship': 'supplies_to'}}]}}");
    check_reads ("jgf", NULL, text,
                 "a0 #0\n"
                 " b1 #1\n"
                 "power: #1 -supplies_to> #0\n");
}

/* A vertex with two places is below the first; the other is a further parent. Leaves
 * with several parents do not become units of a group. */
static const char shared[] = "0 cluster /cluster0\n"
                             "1 node /cluster0/node0 'id': 0, 'rank': 0\n"
                             "2 ssd /cluster0/node0/ssd0 'id': 0\n"
                             "3 ssd /cluster0/node0/ssd1 'id': 1\n"
                             "4 ssd /cluster0/node0/ssd2 'id': 2\n"
                             "9 pool /cluster0/pool0 'id': 0\n"
                             "0>1 0>9 1>2 1>3 1>4 9>3 9>4";

static void test_further_parents (void **state)
{
    (void)state;
    reads (shared, "cluster0 #0\n"
                   " node0 #1 r0\n"
                   "  ssd0 #2\n"
                   "  ssd1 #3\n"
                   "  ssd2 #4\n"
                   " pool0 #9\n"
                   "containment: #9 -> #3\n"
                   "containment: #9 -> #4\n");
    refused_with (-EEXIST, "0 x /x\n1 x /x/x\n2 y /x/x/y\n0>1 1>2 0>2 0>2",
                  "jgf: graph.edges[3]: /x0/x1/y2 is below /x0 already");
}

/* Each step doubles the number of ways. */
static void test_too_many_ways (void **state)
{
    autostrbuf struct strbuf sb, edges;

    (void)state;
    strbuf_init (&sb, 1 << 20);
    strbuf_init (&edges, 1 << 20);
    strbuf_adds (&sb, "0 x /x\n");
    for (int i = 0; i < 9; i++) {
        int top = 3 * i;
        strbuf_addf (&sb, "%d a /a%d\n%d b /b%d\n%d x /x%d\n", top + 1, top, top + 2, top,
                     top + 3, top);
        strbuf_addf (&edges, "%s%d>%d %d>%d %d>%d %d>%d", i > 0 ? " " : "", top, top + 1,
                     top, top + 2, top + 1, top + 3, top + 2, top + 3);
    }
    strbuf_addf (&sb, "%s", edges.buf);
    refused_with (-E2BIG, sb.buf, "jgf: graph.edges[35]: ");
    refused_with (-E2BIG, sb.buf, ": more than 256 ways lead to it");
}

static void test_second_parent (void **state)
{
    (void)state;
    reads ("0 cluster /cluster0\n"
           "1 node /cluster0/node0 'id': 0, 'rank': 0\n"
           "9 pool /cluster0/pool0 'id': 0\n"
           "2 ssd /cluster0/node0/ssd0 'id': 0\n"
           "0>1 0>9 9>2 1>2",
           "cluster0 #0\n"
           " node0 #1 r0\n"
           " pool0 #9\n"
           "  ssd0 #2 containment=/cluster0/node0/ssd0\n"
           "containment: #1 -> #2\n");
}

/* Paths that do not consist of names are kept, and not confused with names. */
static const char disks[] = "0 cluster /cluster0\n"
                            "6 ssd /cluster0/ssd0\n"
                            "7 ssd /cluster0/ssd6\n"
                            "0>6 0>7";

static void test_odd_paths (void **state)
{
    static const char *const bad[] = {
        "0 cluster /cluster0\n6 ssd /cluster0/ssd0\n7 ssd /cluster0/ssd0\n0>6 0>7",
        "0 cluster /cluster0\n6 ssd /cluster0/ssd7\n7 ssd /cluster0/ssd7\n0>6 0>7",
    };

    (void)state;
    reads (disks,
           "cluster0 #0\n"
           " ssd6..7 #6..7 containment=/cluster0/ssd0 containment=/cluster0/ssd6\n");
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        refused_with (
            -EEXIST, bad[i],
            "jgf: graph.nodes[1].metadata.paths.containment: another vertex is at "
            "/cluster0/ssd");
}

static void test_shorthand_graph (void **state)
{
    autofree char *text = jgf_of (small);

    (void)state;
    check_reads ("jgf_shorthand", NULL, text, small_text);
}

/* -- refusals -- */

static void test_documents (void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "", "jgf: line 1 column 0" },
        { "{'graph': {'nodes': [], 'edges': []}", "jgf: line 1" },
        { "[]", "jgf: expected an object, got an array" },
        { "{'graph': {'nodes': [], 'edges': []}, 'graph': 1}", "jgf: line 1" },
        { "{}", "jgf.graph: required but missing" },
        { "{'graph': {'edges': []}}", "jgf: graph.nodes: required but missing" },
        { "{'graph': {'nodes': []}}", "jgf: graph.edges: required but missing" },
        { "{'graph': {'nodes': {}, 'edges': []}}",
          "jgf: graph.nodes: expected an array" },
        { "{'graph': {'nodes': [], 'edges': []}}", "jgf: graph.nodes: no vertex" },
        { "{'graph': {'nodes': [7], 'edges': []}}",
          "jgf: graph.nodes[0]: expected an obj" },
        { "{'graph': {'nodes': [], 'edges': [7]}}",
          "jgf: graph.edges[0]: expected an obj" },
        { "{'graph': {'nodes': [], 'edges': [{'target': '0'}]}}",
          "jgf: graph.edges[0].source: required" },
        { "{'free_ranks': 'x', 'graph': {'nodes': [], 'edges': []}}",
          "jgf.free_ranks: " },
        { "{'graph': {'nodes': [{'metadata': {}}], 'edges': []}}",
          "jgf: graph.nodes[0].id: required" },
        { "{'graph': {'nodes': [{'id': 7}], 'edges': []}}",
          "jgf: graph.nodes[0].id: expected a string" },
        { "{'graph': {'nodes': [{'id': '7'}], 'edges': []}}",
          "jgf: graph.nodes[0].metadata: required" },
        { "{'graph': {'nodes': [{'id': '7', 'metadata': {}}], 'edges': []}}",
          "jgf: graph.nodes[0].metadata.type: required" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        refused_text (bad[i].text, bad[i].words);
}

/* One member of the second vertex is wrong. */
static void test_members (void **state)
{
    static const struct {
        const char *members, *words;
        int code;
    } bad[] = {
        { "'size': 0", "size: 0 is not from 1 to 999999999", -ERANGE },
        { "'size': 1000000000", "size: 1000000000 is not from 1 to", -ERANGE },
        { "'size': -1", "size: -1 is not from 1 to", -ERANGE },
        { "'size': 1.5", "size: expected an integer", -EINVAL },
        { "'size': '4'", "size: expected an integer, got a string", -EINVAL },
        { "'rank': 2147483648", "rank: 2147483648 is not from -1 to", -ERANGE },
        { "'id': -2", "id: -2 is not from -1 to", -ERANGE },
        { "'uniq_id': -1", "uniq_id: -1 is not from 0 to", -ERANGE },
        { "'uniq_id': 2147483648", "id: required, as the uniq_id 2147483648", -ERANGE },
        { "'uniq_id': 0", "uniq_id: 0 is also that of graph.nodes[0]", -EINVAL },
        { "'status': 2", "status: 2 is not from 0 to 1", -ERANGE },
        { "'exclusive': 1", "exclusive: expected a boolean", -EINVAL },
        { "'name': ''", "name: is empty", -EINVAL },
        { "'name': 'a/b'", "name: 'a/b' has a '/'", -EINVAL },
        { "'basename': 'a\\u0007'", "basename: byte 0x07 is a control", -EINVAL },
        { "'unit': 7", "unit: expected a string", -EINVAL },
        { "'properties': []", "properties: expected an object", -EINVAL },
        { "'properties': {'a': 1}", "properties.a: expected a string", -EINVAL },
        { "'properties': {'': 'x'}", "properties.key: is empty", -EINVAL },
    };
    char lines[512], words[256];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        snprintf (lines, sizeof (lines),
                  "0 cluster /cluster0\n1 node /cluster0/node1 %s\n0>1", bad[i].members);
        snprintf (words, sizeof (words), "jgf: graph.nodes[1].metadata.%s", bad[i].words);
        refused_with (bad[i].code, lines, words);
    }
}

static void test_identity (void **state)
{
    (void)state;
    refused ("x1 cluster /cluster0", "jgf: graph.nodes[0].metadata.uniq_id: required");
    refused ("0 cluster -", "jgf: graph.nodes[0].metadata.paths: required");
    refused ("0 cluster cluster0",
             "metadata.paths.containment: 'cluster0' does not begin with '/'");
    refused ("0 cluster /cluster0\\n", "is a control character");
    refused ("0 cluster /cluster\\u0000", "jgf: line 1");
    refused ("0 a*b /x", "jgf: graph.nodes[0]: type: ");
    refused ("0 cluster /cluster0\n0 cluster /cluster0",
             "jgf: graph.nodes[1].id: '0' is also that of graph.nodes[0]");
    refused ("0 cluster /cluster0\n00 node /cluster0/node0\n0>00",
             "jgf: graph.nodes[1].metadata.uniq_id: 0 is also that of graph.nodes[0]");
    refused ("0 cluster /cluster0\na node /cluster0/node9 'uniq_id': 9\n"
             "b node /cluster0/node8 'uniq_id': 9\n0>a 0>b",
             "jgf: graph.nodes[2].metadata.uniq_id: 9 is also that of graph.nodes[1]");
}

#define TWO "0 cluster /cluster0\n1 node /cluster0/node0 'id': 0, 'rank': 0\n"

static void test_edges (void **state)
{
    (void)state;
    refused (TWO "0>1 0>7",
             "jgf: graph.edges[1].target: there is no vertex with the id '7'");
    refused (TWO "0>1 0>1@x*",
             "jgf: graph.edges[1].metadata.subsystem: 'x*' is not a name");
    refused (TWO "0>1 0>1", "jgf: graph.edges[1]: is the same as graph.edges[0]");
    refused (TWO, "jgf: graph.nodes[1]: no edge of 'containment' leads to it");
    refused ("1 node /cluster0/node0\n2 core /cluster0/node0/core0\n1>2",
             "jgf: graph.nodes[0]: no edge of 'containment' leads to it");
    refused (
        "0 cluster /cluster0\n1 cluster /cluster1",
        "jgf: graph.nodes[1]: is a second root in 'containment' beside graph.nodes[0]");
    refused ("0 cluster /cluster0\n1 node - 'paths': {'power': '/x'}\n0>1",
             "jgf: graph.nodes[1].metadata.paths.containment: required, as an edge");
    refused_with (
        -EEXIST,
        "0 cluster /cluster0\n2 core /cluster0/core0 'id': 0\n"
        "3 core /cluster0/core1 'id': 1\n9 core /cluster0/x 'id': 1\n0>2 0>3 0>9",
        "jgf: graph.nodes[3]: /cluster0/core1 is there already");
}

static void test_cycles (void **state)
{
    (void)state;
    refused ("0 cluster /cluster0\n0>0",
             "jgf: graph.nodes[0]: edges of 'containment' lead from it back to it");
    refused (TWO "2 core /cluster0/node0/core0\n3 core /cluster0/node0/core1\n"
                 "0>1 1>2 2>3 3>2",
             "edges of 'containment' lead from it back to it, by way of graph.nodes[");
    refused (TWO "2 core /cluster0/node0/core0\n0>1 1>2 2>1",
             "edges of 'containment' lead from it back to it, by way of graph.nodes[");
    refused ("1 node /cluster0/node0\n2 core /cluster0/node0/core0\n1>2 2>1",
             "edges of 'containment' lead from it back to it, by way of graph.nodes[");
}

/* A way of 10,000 vertices, arrays in arrays, and a path of 100,000 bytes. */
static void test_deep (void **state)
{
    autostrbuf struct strbuf text;

    (void)state;
    strbuf_init (&text, 1 << 24);
    strbuf_adds (&text, "0 rack /rack0\n");
    for (int i = 1; i < 10000; i++)
        strbuf_addf (&text, "%d rack /rack0/x\n%d>%d\n", i, i - 1, i);
    refused_with (-E2BIG, text.buf, "jgf: graph.nodes[64]: ");

    strbuf_reset (&text);
    for (int i = 0; i < 10000; i++)
        strbuf_addch (&text, '[');
    refused_text (text.buf, "jgf: line 1");

    strbuf_reset (&text);
    strbuf_adds (&text, "0 cluster ");
    for (int i = 0; i < 100000; i++)
        strbuf_addch (&text, '/');
    refused (text.buf,
             "jgf: graph.nodes[0].metadata.paths.containment: has 100000 bytes");
}

/* -- attach -- */

/* Attaches to `small`; rc 0: the graph is then as expected, otherwise unchanged. */
static void attaches (const char *lines, int expected_rc, const char *expected)
{
    autofree char *more = jgf_of (lines);
    struct graph *g = graph_of (small);
    struct error err = { 0 };
    int rc = reader_of ("jgf")->attach (g, more, strlen (more), NULL, &err);
    autofree char *after = graph_text (g);

    if (rc != expected_rc || (rc < 0 && !strstr (err.text, expected)))
        fail_msg ("%d %s", rc, err.text);
    assert_string_equal (after, rc < 0 ? small_text : expected);
    graph_destroy (g);
}

#define NODE1 "4 node /cluster0/node1 'id': 1, 'rank': 1\n"

static void test_attach (void **state)
{
    (void)state;
    attaches (
        "0 cluster /cluster0\n" NODE1 "5 core /cluster0/node1/core0 'id': 0\n0>4 4>5", 0,
        "cluster0 #0\n"
        " node0 #1 r0\n"
        "  core0..1 #2..3\n"
        " node1 #4 r1\n"
        "  core0 #5\n");
    /* the order of the document does not matter, and existing vertices stay unchanged */
    attaches ("9 core /cluster0/node0/core2 'id': 2\n"
              "1 node /cluster0/node0 'id': 0, 'rank': 0, 'status': 1\n"
              "0 cluster /cluster0\n"
              "2 core /cluster0/node0/core0 'id': 0\n"
              "1>9 1>2 0>1",
              0,
              "cluster0 #0\n"
              " node0 #1 r0\n"
              "  core0..1 #2..3\n"
              "  core2 #9\n");
    attaches (small, 0, small_text);
    /* a part may begin below the root, with its own numbers */
    attaches ("x node /cluster0/node0 'uniq_id': 50, 'id': 0, 'rank': 0\n"
              "3 core /cluster0/node0/core2 'id': 2\n"
              "4 core /cluster0/node0/core3 'id': 3\n"
              "x>3 x>4",
              0,
              "cluster0 #0\n"
              " node0 #1 r0\n"
              "  core0..3 #2..5\n");
    /* below two existing vertices */
    attaches (TWO "9 ssd /cluster0/node0/ssd0 'id': 0\n0>1 1>9 0>9", 0,
              "cluster0 #0\n"
              " node0 #1 r0\n"
              "  core0..1 #2..3\n"
              "  ssd0 #9\n"
              "containment: #0 -> #9\n");
}

static void test_attach_refused (void **state)
{
    (void)state;
    attaches (
        NODE1, -EINVAL,
        "jgf: graph.nodes[0]: no edge of 'containment' leads to it from a vertex that "
        "the graph has");
    attaches ("0 cluster /other0", -EINVAL, "/other0 is not in the graph");
    attaches (
        "0 cluster /cluster0\n1 rack /cluster0/node0\n0>1", -EEXIST,
        "jgf: graph.nodes[1]: is a rack of rank -1, but at /cluster0/node0 is a node "
        "of rank 0 already");
    attaches (TWO
              "2 core /cluster0/node0/core0\n9 x /cluster0/node0/core0/x9\n0>1 1>2 2>9",
              -EINVAL, "one of 2 alike without children");
    attaches (TWO "2 core /cluster0/node0/core0\n9 x /cluster0/node0/x9\n0>1 1>2 1>9 2>9",
              -EINVAL, "is one of a group of 2 leaves: these have no further parents");
    attaches (TWO NODE1 "0>1 0>4 4>1", -EINVAL, "jgf: graph.edges[2]: leads from a new");
    attaches ("0 cluster /cluster0\n" NODE1 "5 x /cluster0/node1/x\n0>4 4>5 5>4", -EINVAL,
              "lead from it back to it");
    /* the last of several vertices cannot be added: the earlier ones are removed
     * again, also one that had joined a group */
    attaches (TWO "4 core /cluster0/node0/core2 'id': 2\n5 rack /cluster0/rack0 'id': 0\n"
                  "6 a*b /cluster0/rack0/ab 'id': 0\n1>4 0>1 0>5 5>6",
              -EINVAL, "jgf: graph.nodes[4]: type: ");
    attaches ("0 cluster /cluster0\n" NODE1 "0>4 4>0@x*", -EINVAL, "jgf: graph.edges[1]");
}

/* -- allocations of jobs -- */

/* One line for each pick: path, last unit, amount, x exclusive, ! claimed, ^ below
 * a further parent. */
static char *selection_text (const struct graph *g, const struct selection *s)
{
    struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    for (size_t k = 0; k < s->n; k++) {
        const struct pick *p = &s->picks[k];
        int64_t last = graph_vertex (g, p->v)->id + p->unit + (int64_t)p->count - 1;
        graph_path (g, p->v, p->unit, &sb);
        if (p->count > 1)
            strbuf_addf (&sb, "..%" PRId64, last);
        strbuf_addf (&sb, "%s%s%s", p->exclusive || p->claimed ? " " : "",
                     p->exclusive ? "x" : "", p->claimed ? "!" : "");
        if (p->amount != 1)
            strbuf_addf (&sb, " %" PRId64, p->amount);
        strbuf_adds (&sb, selection_is_further (s, g, p) ? "^\n" : "\n");
    }
    assert_int_equal (s->start, 0);
    assert_int_equal (s->end, 0);
    char *text = strbuf_detach (&sb);
    assert_non_null (text);
    return text;
}

static void selects_text (const struct graph *g, const char *format, const char *text,
                          int expected_rc, const char *expected)
{
    autoselection struct selection *s = NULL;
    struct error err = { 0 };
    int rc = reader_of (format)->read_selection (g, text, strlen (text), &s, &err);

    if (rc != expected_rc || (rc < 0 && !strstr (err.text, expected)))
        fail_msg ("%d %s", rc, err.text);
    assert_true (rc < 0 ? s == NULL : s != NULL);
    if (rc < 0)
        return;
    autofree char *have = selection_text (g, s);
    assert_string_equal (have, expected);
}

static void selects (const struct graph *g, const char *lines, const char *expected)
{
    autofree char *text = jgf_of (lines);

    selects_text (g, "jgf", text, 0, expected);
}

static void selects_shorthand (const struct graph *g, const char *lines,
                               const char *expected)
{
    autofree char *text = jgf_of (lines);

    selects_text (g, "jgf_shorthand", text, 0, expected);
}

static void selects_not (const struct graph *g, const char *lines, int rc,
                         const char *words)
{
    autofree char *text = jgf_of (lines);

    selects_text (g, "jgf", text, rc, words);
}

/* Two nodes of two cores, a GPU and 16 of memory. */
static struct graph *machine (void)
{
    struct graph *g = graph_create ();
    struct graph_spec cluster = { .type = "cluster", .uniq = -1, .rank = -1 };
    struct graph_spec core = { .type = "core", .count = 2, .uniq = -1, .rank = -1 };
    struct graph_spec gpu = { .type = "gpu", .uniq = -1, .rank = -1 };
    struct graph_spec memory = {
        .type = "memory",
        .size = 16,
        .uniq = -1,
        .rank = -1,
        .flags = GRAPH_DIVISIBLE,
    };

    assert_non_null (g);
    uint32_t root = graph_add (g, GRAPH_NONE, &cluster, NULL);
    for (int i = 0; i < 2; i++) {
        struct graph_spec node = { .type = "node", .id = i, .rank = i, .uniq = -1 };
        uint32_t v = graph_add (g, root, &node, NULL);
        assert_true (graph_add (g, v, &core, NULL) != GRAPH_NONE);
        assert_true (graph_add (g, v, &gpu, NULL) != GRAPH_NONE);
        assert_true (graph_add (g, v, &memory, NULL) != GRAPH_NONE);
    }
    return g;
}

#define X ", 'exclusive': true\n"

static void test_selection (void **state)
{
    struct graph *g = machine ();

    (void)state;
    selects (g,
             "3 core /cluster0/node0/core1 'id': 1" X
             "2 core /cluster0/node0/core0 'id': 0" X
             "7 gpu /cluster0/node0/gpu0 'id': 0" X
             "8 memory /cluster0/node0/memory0 'id': 0, 'size': 5\n" TWO "1>3 1>2 0>1",
             "/cluster0\n"
             "/cluster0/node0\n"
             "/cluster0/node0/core0..1 x!\n"
             "/cluster0/node0/gpu0 x!\n"
             "/cluster0/node0/memory0 ! 5\n");
    /* the ways may be left out; vertices below a claimed vertex are booked with it */
    selects (g,
             "2 core /cluster0/node0/core0 'id': 0" X
             "1 node /cluster0/node0 'id': 0, 'rank': 0" X
             "8 memory /cluster0/node0/memory0 'id': 0, 'size': 16",
             "/cluster0\n"
             "/cluster0/node0 x!\n"
             "/cluster0/node0/core0 x\n"
             "/cluster0/node0/memory0 x 16\n");
    graph_destroy (g);
}

/* Vertices below an exclusive vertex may be in the text or not. */
static void test_shorthand (void **state)
{
    static const char expected[] = "/cluster0\n"
                                   "/cluster0/node1 x!\n"
                                   "/cluster0/node1/core0..1 x\n"
                                   "/cluster0/node1/gpu0 x\n"
                                   "/cluster0/node1/memory0 x 16\n";
    struct graph *g = machine ();

    (void)state;
    selects_shorthand (g,
                       "0 cluster /cluster0\n"
                       "4 node /cluster0/node1 'id': 1, 'rank': 1" X "0>4",
                       expected);
    selects_shorthand (g,
                       "4 node /cluster0/node1 'id': 1, 'rank': 1" X
                       "5 core /cluster0/node1/core1 'id': 1" X,
                       expected);
    selects_shorthand (g, "2 core /cluster0/node0/core0 'id': 0" X TWO,
                       "/cluster0\n"
                       "/cluster0/node0\n"
                       "/cluster0/node0/core0 x!\n");
    selects_shorthand (
        g, "0 cluster /cluster0 'id': 0" X "4 node /cluster0/node1 'id': 1, 'rank': 1" X,
        "/cluster0 x!\n"
        "/cluster0/node0 x\n"
        "/cluster0/node0/core0..1 x\n"
        "/cluster0/node0/gpu0 x\n"
        "/cluster0/node0/memory0 x 16\n"
        "/cluster0/node1 x\n"
        "/cluster0/node1/core0..1 x\n"
        "/cluster0/node1/gpu0 x\n"
        "/cluster0/node1/memory0 x 16\n");
    graph_destroy (g);
}

/* Vertices of other subsystems, and of ranks that were given back. */
static void test_passes_over (void **state)
{
    struct graph *g = machine ();
    autofree char *part = quoted (
        "{'free_ranks': '0,3', 'graph': {'nodes': [{'id': '1', 'metadata': {'type': "
        "'node',"
        "'rank': 0, 'exclusive': true, 'paths': {'containment': '/cluster0/node0'}}},"
        "{'id': '4', 'metadata': {'type': 'node', 'rank': 1, 'exclusive': true, "
        "'paths': {'containment': '/cluster0/node1'}}}], 'edges': []}}");

    (void)state;
    selects (g,
             "2 core /cluster0/node0/core0 'id': 0" X
             "9 pdu - 'paths': {'power': '/p0'}\n9>2@power",
             "/cluster0\n"
             "/cluster0/node0\n"
             "/cluster0/node0/core0 x!\n");
    selects_text (g, "jgf", part, 0,
                  "/cluster0\n"
                  "/cluster0/node1 x!\n");
    graph_destroy (g);
}

static void test_selection_refused (void **state)
{
    struct graph *g = machine ();

    (void)state;
    selects_not (g, "2 core /cluster0/node0/core2", -ENOENT,
                 "jgf: graph.nodes[0].metadata.paths.containment: there is no vertex "
                 "/cluster0/node0/core2");
    selects_not (
        g, "1 rack /cluster0/node0 'rank': 0", -EINVAL,
        "jgf: graph.nodes[0].metadata.type: 'rack', but /cluster0/node0 is a node");
    selects_not (g, "1 node /cluster0/node0", -EINVAL,
                 "jgf: graph.nodes[0].metadata.rank: -1, but /cluster0/node0 has rank 0");
    selects_not (g, "1 core /cluster0/node0/core0 'size': 2", -EINVAL,
                 "jgf: graph.nodes[0].metadata.size: 2, but /cluster0/node0/core0 has 1");
    selects_not (
        g, "1 memory /cluster0/node0/memory0 'size': 17", -EINVAL,
        "jgf: graph.nodes[0].metadata.size: 17, but /cluster0/node0/memory0 has 16");
    selects_not (g, "2 core /cluster0/node0/core0\n" TWO "3 core /cluster0/node0/core0",
                 -EINVAL, "jgf: graph.nodes[3]: has the path of graph.nodes[0]");
    selects_not (g, "", -EINVAL, "no vertex has a path in");
    selects_not (g, "0 cluster /cluster0\n0>1", -EINVAL, "jgf: graph.edges[0].target");
    graph_destroy (g);
}

/* A vertex below a further parent in the text is below this parent in the selection. */
static void test_selection_ways (void **state)
{
    struct graph *g = graph_of (shared);

    (void)state;
    selects (g,
             "3 ssd /cluster0/node0/ssd1 'id': 1" X "9 pool /cluster0/pool0 'id': 0\n"
             "2 ssd /cluster0/node0/ssd0 'id': 0" X "1 node /cluster0/node0 'rank': 0\n"
             "1>2 9>3",
             "/cluster0\n"
             "/cluster0/node0\n"
             "/cluster0/node0/ssd0 x!\n"
             "/cluster0/pool0\n"
             "/cluster0/node0/ssd1 x!^\n");
    selects (g,
             "3 ssd /cluster0/node0/ssd1 'id': 1" X "1 node /cluster0/node0 'rank': 0\n"
             "1>3",
             "/cluster0\n"
             "/cluster0/node0\n"
             "/cluster0/node0/ssd1 x!\n");
    /* a pick that covers the pool does not cover its further children */
    selects (g,
             "9 pool /cluster0/pool0 'id': 0" X "3 ssd /cluster0/node0/ssd1 'id': 1" X
             "9>3",
             "/cluster0\n"
             "/cluster0/pool0 x!\n"
             "/cluster0/node0/ssd1 x!^\n");
    selects_shorthand (g, "9 pool /cluster0/pool0 'id': 0" X,
                       "/cluster0\n"
                       "/cluster0/pool0 x!\n"
                       "/cluster0/node0/ssd1 x!^\n"
                       "/cluster0/node0/ssd2 x!^\n");
    graph_destroy (g);
}

/* Paths from reading the graph take precedence over equal-looking names. */
static void test_selection_odd_paths (void **state)
{
    struct graph *g = graph_of (disks);

    (void)state;
    selects (g, "7 ssd /cluster0/ssd6 'id': 7" X, "/cluster0\n/cluster0/ssd7 x!\n");
    selects (g, "6 ssd /cluster0/ssd0 'id': 6" X, "/cluster0\n/cluster0/ssd6 x!\n");
    selects (g, "6 ssd /cluster0/ssd7 'id': 7" X, "/cluster0\n/cluster0/ssd7 x!\n");
    selects_not (g, "6 ssd /cluster0/ssd5", -ENOENT, "/cluster0/ssd5");
    graph_destroy (g);
}

/* -- data of other programs -- */

static void test_shared_graphs (void **state)
{
    static const struct {
        const char *file;
        unsigned units, handles;
    } files[] = {
        { "resource/jgfs/tiny.json", 100, 20 },
        { "resource/jgfs/power.json", 3537, 657 },
        { "resource/jgfs/rabbit.json", 70, 47 },
        { "resource/jgfs/dyn_explore.json", 23, 13 },
        { "resource/jgfs/tiny_storage.json", 86, 7 },
        { "resource/jgfs/issue1260.json", 88, 9 },
        { "resource/jgfs/elastic/node-add-test-random.json", 41, 41 },
        { "generated/files/5e4386ff-c14.json", 1521, 33 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (files); i++) {
        size_t len = 0;
        autofree char *text = shared_file (files[i].file, &len);
        struct graph *g = graph_in ("jgf", text, len, NULL);
        assert_int_equal (graph_unit_count (g), files[i].units);
        assert_int_equal (g->nv, files[i].handles);
        graph_destroy (g);
    }
}

/* A node is attached to a machine, and found there again. */
static void test_shared_parts (void **state)
{
    size_t len = 0, more_len = 0, again_len = 0;
    autofree char *text = shared_file ("resource/jgfs/elastic/node-test.json", &len);
    autofree char *more =
        shared_file ("resource/jgfs/elastic/node-add-test-random.json", &more_len);
    autofree char *again =
        shared_file ("resource/jgfs/elastic/node-add-test.json", &again_len);
    autoselection struct selection *s = NULL;
    struct graph *g = graph_in ("jgf", text, len, NULL);
    struct error err = { 0 };

    (void)state;
    assert_int_equal (reader_of ("jgf")->attach (g, more, more_len, NULL, &err), 0);
    assert_int_equal (graph_unit_count (g), 80);
    assert_int_equal (reader_of ("jgf")->read_selection (g, again, again_len, &s, &err),
                      0);
    assert_int_equal (selection_count (s, g, GRAPH_CORE), 36);
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_defaults),
        cmocka_unit_test (test_ids),
        cmocka_unit_test (test_order),
        cmocka_unit_test (test_subsystems),
        cmocka_unit_test (test_relationship),
        cmocka_unit_test (test_further_parents),
        cmocka_unit_test (test_too_many_ways),
        cmocka_unit_test (test_second_parent),
        cmocka_unit_test (test_odd_paths),
        cmocka_unit_test (test_shorthand_graph),
        cmocka_unit_test (test_documents),
        cmocka_unit_test (test_members),
        cmocka_unit_test (test_identity),
        cmocka_unit_test (test_edges),
        cmocka_unit_test (test_cycles),
        cmocka_unit_test (test_deep),
        cmocka_unit_test (test_attach),
        cmocka_unit_test (test_attach_refused),
        cmocka_unit_test (test_selection),
        cmocka_unit_test (test_shorthand),
        cmocka_unit_test (test_passes_over),
        cmocka_unit_test (test_selection_refused),
        cmocka_unit_test (test_selection_odd_paths),
        cmocka_unit_test (test_selection_ways),
        cmocka_unit_test (test_shared_graphs),
        cmocka_unit_test (test_shared_parts),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* R as a graph and as an allocation of a job. Fails if vertices differ from R, if units
 * are used that R does not give, or if a text of a few bytes fills the memory. */
#include "match/test/formats.h"

#include <errno.h>
#include <string.h>

#include "match/readers/reader.h"
#include "match/test/inspect.h"

#define R(lite, rest) "{\"version\":1,\"execution\":{\"R_lite\":[" lite "]" rest "}}"
#define RANK(ranks, children) "{\"rank\":\"" ranks "\",\"children\":{" children "}}"
#define NODES(list) ",\"nodelist\":[" list "]"

static int read_r (const char *format, struct graph *g, const char *text,
                   struct error *err)
{
    const struct match_reader *r = match_reader_find (format);

    assert_non_null (r);
    return r->read (g, text, strlen (text), NULL, err);
}

static struct graph *graph_of (const char *format, const char *text)
{
    struct graph *g = graph_create ();
    struct error err = { 0 };

    assert_non_null (g);
    if (read_r (format, g, text, &err) < 0)
        fail_msg ("%s: %s", err.text, text);
    return g;
}

/* -- graphs -- */

/* Children have the order of the text, vertices are numbered in the order of reading,
 * vertices below a node have its rank, hosts are in the order of ranks, and
 * properties are on nodes. */
static void test_graph (void **state)
{
    static const char text[] = R (
        RANK ("7", "\"gpu\":\"1\",\"core\":\"0,2-3\"") "," RANK ("2", ""),
        NODES ("\"foo[1,07]\"") ",\"properties\":{\"fast\":\"2,7-9\",\"a@core\":\"7\"}");
    autostrbuf struct strbuf nodes;
    autostrbuf struct strbuf edges;
    autostrbuf struct strbuf all;

    (void)state;
    strbuf_init (&nodes, 1 << 16);
    strbuf_init (&edges, 1 << 16);
    strbuf_init (&all, 1 << 16);
    add_node (&nodes, 2, "'type': 'gpu', 'id': 1, 'rank': 7, 'exclusive': true",
              "/cluster0/foo07/gpu1");
    add_node (&nodes, 3, "'type': 'core', 'id': 0, 'rank': 7, 'exclusive': true",
              "/cluster0/foo07/core0");
    add_node (&nodes, 4, "'type': 'core', 'id': 2, 'rank': 7, 'exclusive': true",
              "/cluster0/foo07/core2");
    add_node (&nodes, 5, "'type': 'core', 'id': 3, 'rank': 7, 'exclusive': true",
              "/cluster0/foo07/core3");
    add_node (&nodes, 1,
              "'type': 'node', 'basename': 'foo', 'name': 'foo07', 'id': 7, 'rank': 7, "
              "'properties': {'a@core': '', 'fast': ''}, 'exclusive': true",
              "/cluster0/foo07");
    add_node (&nodes, 6,
              "'type': 'node', 'basename': 'foo', 'id': 1, 'rank': 2, "
              "'properties': {'fast': ''}, 'exclusive': true",
              "/cluster0/foo1");
    add_node (&nodes, 0, "'type': 'cluster', 'id': 0, 'rank': -1, 'exclusive': true",
              "/cluster0");
    for (int target = 2; target <= 5; target++)
        add_edge (&edges, 1, target);
    add_edge (&edges, 0, 1);
    add_edge (&edges, 0, 6);
    add_graph (&all, &nodes, &edges);
    strbuf_adds (&all, "}\n");
    struct graph *g = graph_of ("rv1exec", text);
    assert_int_equal (graph_unit_count (g), 7);
    check_graph (g, "jgf", all.buf);
    graph_destroy (g);
}

/* Names without a number, with only digits, and with a number too large for an id. */
static void test_names (void **state)
{
    static const struct {
        const char *host, *basename;
        int32_t id;
    } cases[] = {
        { "login", "login", -1 },
        { "42", "42", 42 },
        { "rack2-n000", "rack2-n", 0 },
        { "ip-10-0-0-17.site", "ip-10-0-0-17.site", -1 },
        { "i2147483647", "i", 2147483647 },
        { "i2147483648", "i", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        autostrbuf struct strbuf sb;
        strbuf_init (&sb, 4096);
        strbuf_addf (&sb, R (RANK ("3", "\"core\":\"0\""), NODES ("\"%s\"")),
                     cases[i].host);
        struct graph *g = graph_of ("rv1exec", sb.buf);
        uint32_t v = graph_find_node (g, cases[i].host);
        assert_int_not_equal (v, GRAPH_NONE);
        assert_int_equal (graph_vertex (g, v)->id, cases[i].id);
        assert_int_equal (graph_vertex (g, v)->rank, 3);
        assert_string_equal (graph_basename (g, v), cases[i].basename);
        graph_destroy (g);
    }
}

/* The writer's R gives the same graph again, and a hundred cores are one group. */
static void test_again (void **state)
{
    autostrbuf struct strbuf text;

    (void)state;
    strbuf_init (&text, 1 << 12);
    add_quoted (&text, "{'version': 1, 'execution': {'R_lite': [{'rank': '0-1,3', "
                       "'children': {'core': '0-99', 'gpu': '0-3'}}], 'nodelist': "
                       "['n[1-3]'], 'properties': {'x': '3'}, 'starttime': 0, "
                       "'expiration': 0}}\n");
    struct graph *g = graph_of ("rv1exec", text.buf);
    check_graph (g, "rv1_nosched", text.buf);
    assert_int_equal (graph_unit_count (g), 1 + 3 * 105);
    assert_int_equal (g->nv, 1 + 3 * 3);
    graph_destroy (g);
}

/* A node with a socket, from the writer. */
static void add_carried (struct strbuf *sb, const char *writer)
{
    autostrbuf struct strbuf nodes;
    autostrbuf struct strbuf edges;

    strbuf_init (&nodes, 1 << 12);
    strbuf_init (&edges, 1 << 12);
    add_node (&nodes, 0, "'type': 'cluster'", "/cluster0");
    add_node (&nodes, 1, "'type': 'node', 'id': 4, 'rank': 0", "/cluster0/node4");
    add_node (&nodes, 2, "'type': 'socket', 'id': 0, 'rank': 0",
              "/cluster0/node4/socket0");
    add_edge (&edges, 0, 1);
    add_edge (&edges, 1, 2);
    add_graph (sb, &nodes, &edges);
    if (writer)
        strbuf_addf (sb, ", \"writer\": \"%s\"", writer);
    strbuf_addch (sb, '}');
}

/* R of one core, with this graph. */
static void add_carrier (struct strbuf *sb, const char *writer, const char *core,
                         const char *nodelist)
{
    strbuf_addf (sb,
                 "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\","
                 "\"children\":{\"core\":\"%s\"}}]%s},\"scheduling\":",
                 core, nodelist);
    add_carried (sb, writer);
    strbuf_addch (sb, '}');
}

/* The graph in R has more detail than its ranks, unless it is another program's graph. */
static void test_scheduling (void **state)
{
    static const struct {
        const char *format, *writer, *type;
    } cases[] = {
        { "rv1exec", NULL, "socket" },
        { "rv1exec", "fluxion", "socket" },
        { "rv1exec", "fluxion:jgf", "socket" },
        { "rv1exec", "fluxion:jgf_shorthand", "socket" },
        { "rv1exec", "other:1", "core" },
        { "rv1exec_force", NULL, "core" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        autostrbuf struct strbuf sb;
        strbuf_init (&sb, 1 << 16);
        add_carrier (&sb, cases[i].writer, "0", NODES ("\"node4\""));
        struct graph *g = graph_of (cases[i].format, sb.buf);
        assert_int_equal (graph_unit_count (g), 3);
        int type = graph_type_find (g, cases[i].type);
        assert_true (type >= 0);
        assert_int_equal (graph_type_count (g, (uint16_t)type), 1);
        graph_destroy (g);
    }
}

/* Each message has the place of the error. */
static void test_refused (void **state)
{
    static const struct {
        const char *text, *place;
    } bad[] = {
        { "", "R: line 1" },
        { "[]", "R: expected an object" },
        { "{\"version\":2,\"execution\":{\"R_lite\":[]}}", "R: version" },
        { "{\"version\":1}", "R: execution" },
        { R ("3", NODES ("\"a\"")), "R_lite[0]: expected an object" },
        { R ("{\"rank\":0,\"children\":{}}", NODES ("\"a\"")), "R_lite[0]: rank" },
        { R (RANK ("0^2", ""), NODES ("\"a\"")), "R_lite[0]: rank" },
        { R (RANK ("-1", ""), NODES ("\"a\"")), "R_lite[0]: rank" },
        { R ("{\"rank\":\"0\"}", NODES ("\"a\"")), "R_lite[0]: children" },
        { R (RANK ("0", "\"core\":3"), NODES ("\"a\"")), "children.core" },
        { R (RANK ("0", "\"core\":\"x\""), NODES ("\"a\"")), "children.core" },
        { R (RANK ("0", "\"co re\":\"0\""), NODES ("\"a\"")), "R_lite[0]: rank 0" },
        { R (RANK ("0", ""), ""), "nodelist" },
        { R (RANK ("0", ""), NODES ("")), "nodelist: 0 names for 1 ranks" },
        { R (RANK ("0", ""), NODES ("\"a,b\"")), "nodelist[0]: hostlist 'a,b': more than 1 name" },
        { R (RANK ("0", ""), NODES ("7")), "nodelist[0]" },
        { R (RANK ("0", ""), NODES ("\"a[\"")), "nodelist[0]" },
        { R (RANK ("0", ""), NODES ("\"fluke9223372036854775808\"")), "rank 0" },
        { R (RANK ("0-2", "") "," RANK ("1", ""), NODES ("\"a[1-4]\"")),
          "rank 1 is there twice" },
        { R (RANK ("0", ""), NODES ("\"a\"") ",\"properties\":{\"p\":0}"),
          "properties.p" },
        { R (RANK ("0", ""), NODES ("\"a\"") ",\"properties\":{\"p\":\"x\"}"),
          "properties.p" },
        { R (RANK ("0", "\"core\":\"0-1048576\""), NODES ("\"a\"")), "children.core" },
        { R (RANK ("0-2147483647", ""), NODES ("\"a\"")), "R_lite[0]" },
        { R (RANK ("0-999999", "\"core\":\"0-1048575\""), NODES ("\"a\"")),
          "R_lite[0]: describes more than" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct graph *g = graph_create ();
        struct error err = { 0 };
        if (read_r ("rv1exec_force", g, bad[i].text, &err) == 0)
            fail_msg ("accepted: %s", bad[i].text);
        if (strncmp (err.text, "R: ", 3) != 0 || !strstr (err.text, bad[i].place))
            fail_msg ("%s: %s", bad[i].text, err.text);
        assert_int_not_equal (read_r ("rv1exec", g, bad[i].text, NULL), 0);
        graph_destroy (g);
    }
}

/* -- selections -- */

/* node0 and node1 (ranks 0, 1) of 2 sockets of 2 cores and a gpu, ids by node. */
static struct graph *sockets (void)
{
    struct graph *g = graph_create ();
    struct error err = { 0 };
    struct graph_spec cluster = { .type = "cluster", .uniq = -1, .rank = -1 };
    uint32_t root = graph_add (g, GRAPH_NONE, &cluster, &err);

    for (int n = 0; n < 2; n++) {
        struct graph_spec node = { .type = "node", .id = n, .rank = n, .uniq = -1 };
        uint32_t v = graph_add (g, root, &node, &err);
        for (int s = 0; s < 2; s++) {
            struct graph_spec socket = {
                .type = "socket", .id = s, .rank = n, .uniq = -1
            };
            struct graph_spec core = { .type = "core",
                                       .id = 2 * s,
                                       .count = 2,
                                       .uniq = -1,
                                       .rank = n,
                                       .leaf = true };
            struct graph_spec gpu = {
                .type = "gpu", .id = s, .uniq = -1, .rank = n, .leaf = true
            };
            uint32_t at = graph_add (g, v, &socket, &err);
            assert_int_not_equal (graph_add (g, at, &core, &err), GRAPH_NONE);
            assert_int_not_equal (graph_add (g, at, &gpu, &err), GRAPH_NONE);
        }
    }
    return g;
}

static int select_r (const struct graph *g, const char *format, const char *text,
                     struct selection **ret, struct error *err)
{
    return match_reader_find (format)->read_selection (g, text, strlen (text), ret, err);
}

static struct selection *selection_of (const struct graph *g, const char *text)
{
    struct selection *s = NULL;
    struct error err = { 0 };

    if (select_r (g, "rv1exec", text, &s, &err) < 0)
        fail_msg ("%s: %s", err.text, text);
    return s;
}

/* A part of node 0 is its cores; node 1 is listed completely and claimed as a whole. */
static void test_selection (void **state)
{
    (void)state;
    struct graph *g = sockets ();
    struct selection *s =
        selection_of (g, R (RANK ("1", "\"gpu\":\"0-1\",\"core\":\"0-3\"") "," RANK (
                                "0", "\"core\":\"1-2\""),
                            NODES ("\"node[0-1]\"")));
    check_text (g, s, "simple", NULL,
                "      ------------core1[1:x]\n"
                "      ---------socket0[1:s]\n"
                "      ------------core2[1:x]\n"
                "      ---------socket1[1:s]\n"
                "      ------node0[1:s]\n"
                "      ------------core0[1:x]\n"
                "      ------------core1[1:x]\n"
                "      ------------gpu0[1:x]\n"
                "      ---------socket0[1:x]\n"
                "      ------------core2[1:x]\n"
                "      ------------core3[1:x]\n"
                "      ------------gpu1[1:x]\n"
                "      ---------socket1[1:x]\n"
                "      ------node1[1:x]\n"
                "      ---cluster0[1:s]\n");
    size_t claimed = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        bool whole = p->v == graph_find_rank (g, 1);
        bool below = !whole && graph_vertex (g, p->v)->rank == 1;
        claimed += p->claimed;
        assert_true (!whole || p->claimed);
        assert_false (below && p->claimed);
        assert_int_equal (p->amount, 1);
    }
    assert_int_equal (claimed, 3);
    assert_int_equal (s->start, 0);
    assert_int_equal (selection_count (s, g, GRAPH_CORE), 6);
    selection_destroy (s);
    graph_destroy (g);
}

/* Without a nodelist; a listed socket covers the vertices below it. */
static void test_selection_inner (void **state)
{
    (void)state;
    struct graph *g = sockets ();
    struct selection *s =
        selection_of (g, R (RANK ("0", "\"socket\":\"1\",\"core\":\"0,3\""), ""));
    check_text (g, s, "simple", NULL,
                "      ------------core0[1:x]\n"
                "      ---------socket0[1:s]\n"
                "      ------------core3[1:x]\n"
                "      ---------socket1[1:x]\n"
                "      ------node0[1:s]\n"
                "      ---cluster0[1:s]\n");
    for (size_t i = 0; i < s->n; i++) {
        const struct graph_vertex *v = graph_vertex (g, s->picks[i].v);
        bool booked = (v->type == GRAPH_CORE && v->id == 0)
                      || (!strcmp (graph_type_name (g, v->type), "socket") && v->id == 1);
        assert_int_equal (s->picks[i].claimed, booked);
    }
    selection_destroy (s);
    s = selection_of (g, R (RANK ("0", "\"core\":\"0-3\",\"gpu\":\"0-1\","
                                       "\"socket\":\"0-1\""),
                            ""));
    assert_int_equal (s->n, 8);
    for (size_t i = 0; i < s->n; i++)
        assert_int_equal (s->picks[i].amount, 1);
    selection_destroy (s);
    graph_destroy (g);
}

/* By the graph in R, if it has one of these vertices; otherwise by rank. */
static void test_selection_scheduling (void **state)
{
    autostrbuf struct strbuf sb;
    struct graph *other = graph_create ();

    (void)state;
    strbuf_init (&sb, 1 << 16);
    add_carrier (&sb, NULL, "1", "");
    struct graph *g = sockets ();
    struct selection *s = selection_of (g, sb.buf);
    assert_int_equal (selection_count (s, g, GRAPH_CORE), 1);
    selection_destroy (s);
    graph_destroy (g);

    strbuf_reset (&sb);
    add_carried (&sb, NULL);
    struct error err = { 0 };
    assert_int_equal (read_r ("jgf", other, sb.buf, &err), 0);
    strbuf_reset (&sb);
    add_carrier (&sb, NULL, "1", "");
    s = selection_of (other, sb.buf);
    assert_int_equal (s->n, 3);
    selection_destroy (s);
    assert_int_equal (select_r (other, "rv1exec_force", sb.buf, &s, &err), -ENOENT);
    graph_destroy (other);
}

static void test_selection_refused (void **state)
{
    static const struct {
        const char *text;
        int rc;
        const char *place;
    } bad[] = {
        { R (RANK ("2", "\"core\":\"0\""), ""), -ENOENT, "rank 2 is not in the graph" },
        { R (RANK ("0-1", "\"core\":\"0,4\""), ""), -ENOENT, "rank 0 has no core4" },
        { R (RANK ("1", "\"core\":\"0,2-9\""), ""), -ENOENT, "rank 1 has no core4" },
        { R (RANK ("0", "\"asic\":\"0\""), ""), -ENOENT, "rank 0 has no asic0" },
        { R (RANK ("0", "\"core\":\"0\""), NODES ("\"node1\"")), -ENOENT,
          "rank 0 is node0 here, not node1" },
        { R ("", ""), -EINVAL, "has no ranks" },
        { "{}", -EINVAL, "R: version" },
    };

    (void)state;
    struct graph *g = sockets ();
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct selection *s = NULL;
        struct error err = { 0 };
        int rc = select_r (g, "rv1exec", bad[i].text, &s, &err);
        if (rc != bad[i].rc || strncmp (err.text, "R: ", 3) != 0
            || !strstr (err.text, bad[i].place))
            fail_msg ("%s: %d %s", bad[i].text, rc, err.text);
        assert_null (s);
    }
    graph_destroy (g);
}

/* Cores numbered by socket: an id occurs twice. */
static void test_selection_ambiguous (void **state)
{
    static const char text[] = R (RANK ("0", "\"core\":\"0-1\""), "");
    struct graph *g = graph_create ();
    struct error err = { 0 };
    struct selection *s = NULL;
    struct graph_spec node = { .type = "node", .uniq = -1, .rank = 0 };
    uint32_t root = graph_add (g, GRAPH_NONE, &node, &err);

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct graph_spec socket = { .type = "socket", .id = i, .uniq = -1, .rank = -1 };
        struct graph_spec core = {
            .type = "core", .count = 2, .uniq = -1, .rank = -1, .leaf = true
        };
        uint32_t at = graph_add (g, root, &socket, &err);
        assert_int_not_equal (graph_add (g, at, &core, &err), GRAPH_NONE);
    }
    assert_int_equal (select_r (g, "rv1exec", text, &s, &err), -EINVAL);
    assert_non_null (strstr (err.text, "core0 in several places"));
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_graph),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_again),
        cmocka_unit_test (test_scheduling),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_selection),
        cmocka_unit_test (test_selection_inner),
        cmocka_unit_test (test_selection_scheduling),
        cmocka_unit_test (test_selection_refused),
        cmocka_unit_test (test_selection_ambiguous),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

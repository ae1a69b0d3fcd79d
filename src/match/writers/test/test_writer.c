/* The writers. Fails if other tools cannot read a text back, or if a text differs
 * from the selection. */
#include "match/test/formats.h"

#include <errno.h>
#include <string.h>

/* -- a small machine: cluster0 > rack0 > node0, node1 > 2 sockets > 2 cores, 1 gpu each,
 * and 16 GB of memory in the node -- */

static uint32_t add (struct graph *g, uint32_t parent, struct graph_spec spec)
{
    struct error err = { 0 };

    if (spec.uniq == 0 && parent != GRAPH_NONE)
        spec.uniq = -1;
    uint32_t v = graph_add (g, parent, &spec, &err);
    if (v == GRAPH_NONE)
        fail_msg ("%s", err.text);
    return v;
}

struct machine {
    struct graph *g;
    uint32_t cluster, rack, node[2], socket[2][2], cores[2][2], gpu[2][2], memory[2];
};

static void machine_make (struct machine *m)
{
    static const char *const tags[] = { "big", "", "speed", "fast", NULL };

    m->g = graph_create ();
    assert_non_null (m->g);
    m->cluster =
        add (m->g, GRAPH_NONE,
             (struct graph_spec){
                 .type = "cluster", .basename = "tiny", .uniq = -1, .rank = -1 });
    m->rack = add (m->g, m->cluster, (struct graph_spec){ .type = "rack", .rank = -1 });
    for (int n = 0; n < 2; n++) {
        m->node[n] = add (
            m->g, m->rack,
            (struct graph_spec){
                .type = "node", .id = n, .rank = n, .properties = n == 1 ? tags : NULL });
        for (int s = 0; s < 2; s++) {
            m->socket[n][s] =
                add (m->g, m->node[n],
                     (struct graph_spec){ .type = "socket", .id = s, .rank = n });
            m->cores[n][s] = add (
                m->g, m->socket[n][s],
                (struct graph_spec){
                    .type = "core", .id = 2 * s, .count = 2, .rank = n, .leaf = true });
            m->gpu[n][s] = add (
                m->g, m->socket[n][s],
                (struct graph_spec){ .type = "gpu", .id = s, .rank = n, .leaf = true });
        }
        m->memory[n] = add (m->g, m->node[n],
                            (struct graph_spec){ .type = "memory",
                                                 .unit = "GB",
                                                 .size = 16,
                                                 .rank = n,
                                                 .flags = GRAPH_DIVISIBLE,
                                                 .leaf = true });
    }
}

enum how { ON_THE_WAY, CLAIMED, COVERED };

/* Appends a pick and returns its index. */
static uint32_t pick (const struct machine *m, struct selection *s, uint32_t v,
                      uint32_t unit, uint32_t count, uint32_t parent, enum how how)
{
    struct pick *p = selection_add (s, m->g, v, unit, count, parent);

    assert_non_null (p);
    p->exclusive = how != ON_THE_WAY;
    p->claimed = how == CLAIMED;
    return (uint32_t)(s->n - 1);
}

/* One core of socket 1 and 4 GB on node 0; node 1 as a whole. */
static struct selection *choose (const struct machine *m)
{
    struct selection *s = selection_create ();

    assert_non_null (s);
    uint32_t top = pick (m, s, m->cluster, 0, 1, GRAPH_NONE, ON_THE_WAY);
    uint32_t rack = pick (m, s, m->rack, 0, 1, top, ON_THE_WAY);
    uint32_t node = pick (m, s, m->node[0], 0, 1, rack, ON_THE_WAY);
    uint32_t socket = pick (m, s, m->socket[0][1], 0, 1, node, ON_THE_WAY);
    pick (m, s, m->cores[0][1], 1, 1, socket, CLAIMED);
    uint32_t memory = pick (m, s, m->memory[0], 0, 1, node, CLAIMED);
    s->picks[memory].amount = 4;
    node = pick (m, s, m->node[1], 0, 1, rack, CLAIMED);
    for (int k = 0; k < 2; k++) {
        socket = pick (m, s, m->socket[1][k], 0, 1, node, COVERED);
        pick (m, s, m->cores[1][k], 0, 2, socket, COVERED);
        pick (m, s, m->gpu[1][k], 0, 1, socket, COVERED);
    }
    return s;
}

static int write_with (const char *format, const struct machine *m,
                       const struct selection *s, const struct match_writer_options *opt,
                       struct strbuf *sb)
{
    static const struct match_writer_options none;
    const struct match_writer *w = match_writer_find (format);

    assert_non_null (w);
    assert_string_equal (w->name, format);
    return w->write (m->g, s, opt ? opt : &none, sb);
}

static void test_lines (void **state)
{
    struct machine m;

    (void)state;
    machine_make (&m);
    struct selection *s = choose (&m);
    check_text (m.g, s, "simple", NULL,
                "      ---------------core3[1:x]\n"
                "      ------------socket1[1:s]\n"
                "      ------------memory0[4:x]\n"
                "      ---------node0[1:s]\n"
                "      ---------------core0[1:x]\n"
                "      ---------------core1[1:x]\n"
                "      ---------------gpu0[1:x]\n"
                "      ------------socket0[1:x]\n"
                "      ---------------core2[1:x]\n"
                "      ---------------core3[1:x]\n"
                "      ---------------gpu1[1:x]\n"
                "      ------------socket1[1:x]\n"
                "      ---------node1[1:x]\n"
                "      ------rack0[1:s]\n"
                "      ---tiny0[1:s]\n");
    check_text (m.g, s, "pretty_simple", NULL,
                "      ---tiny0[1:shared]\n"
                "      ------rack0[1:shared]\n"
                "      ---------node1[1:exclusive]\n"
                "      ------------socket1[1:exclusive]\n"
                "      ---------------gpu1[1:exclusive]\n"
                "      ---------------core3[1:exclusive]\n"
                "      ---------------core2[1:exclusive]\n"
                "      ------------socket0[1:exclusive]\n"
                "      ---------------gpu0[1:exclusive]\n"
                "      ---------------core1[1:exclusive]\n"
                "      ---------------core0[1:exclusive]\n"
                "      ---------node0[1:shared]\n"
                "      ------------memory0[4:exclusive]\n"
                "      ------------socket1[1:shared]\n"
                "      ---------------core3[1:exclusive]\n");
    selection_destroy (s);
    graph_destroy (m.g);
}

/* -- graphs -- */

/* The selection of choose(), as JGF; brief: without the vertices below node 1. */
static void expect_graph (struct strbuf *sb, bool brief)
{
    autostrbuf struct strbuf nodes;
    autostrbuf struct strbuf edges;

    strbuf_init (&nodes, 1 << 16);
    strbuf_init (&edges, 1 << 16);
    add_node (&nodes, 9, "'type': 'core', 'id': 3, 'rank': 0, 'exclusive': true",
              "/tiny0/rack0/node0/socket1/core3");
    add_node (&nodes, 7, "'type': 'socket', 'id': 1, 'rank': 0",
              "/tiny0/rack0/node0/socket1");
    add_node (&nodes, 11,
              "'type': 'memory', 'id': 0, 'rank': 0, 'unit': 'GB', 'exclusive': true, "
              "'size': 4",
              "/tiny0/rack0/node0/memory0");
    add_node (&nodes, 2, "'type': 'node', 'id': 0, 'rank': 0", "/tiny0/rack0/node0");
    add_edge (&edges, 7, 9);
    add_edge (&edges, 2, 7);
    add_edge (&edges, 2, 11);
    add_edge (&edges, 1, 2);
    for (int k = 0; !brief && k < 2; k++) {
        int socket = k == 0 ? 13 : 17;
        char words[128], path[128];
        for (int u = 0; u < 3; u++) {
            const char *type = u < 2 ? "core" : "gpu";
            int id = u < 2 ? 2 * k + u : k;
            snprintf (words, sizeof (words),
                      "'type': '%s', 'id': %d, 'rank': 1, 'exclusive': true", type, id);
            snprintf (path, sizeof (path), "/tiny0/rack0/node1/socket%d/%s%d", k, type,
                      id);
            add_node (&nodes, socket + 1 + u, words, path);
            add_edge (&edges, socket, socket + 1 + u);
        }
        snprintf (words, sizeof (words),
                  "'type': 'socket', 'id': %d, 'rank': 1, 'exclusive': true", k);
        snprintf (path, sizeof (path), "/tiny0/rack0/node1/socket%d", k);
        add_node (&nodes, socket, words, path);
        add_edge (&edges, 12, socket);
    }
    add_node (&nodes, 12,
              "'type': 'node', 'id': 1, 'rank': 1, 'properties': {'big': '', 'speed': "
              "'fast'}, 'exclusive': true",
              "/tiny0/rack0/node1");
    add_node (&nodes, 1, "'type': 'rack', 'id': 0, 'rank': -1", "/tiny0/rack0");
    add_node (&nodes, 0, "'type': 'cluster', 'basename': 'tiny', 'id': 0, 'rank': -1",
              "/tiny0");
    add_edge (&edges, 1, 12);
    add_edge (&edges, 0, 1);
    add_graph (sb, &nodes, &edges);
    add_quoted (sb, brief ? ", 'writer': 'fluxion:jgf_shorthand'}" : "}");
}

static void test_jgf (void **state)
{
    struct machine m;
    autostrbuf struct strbuf all;
    autostrbuf struct strbuf part;

    (void)state;
    strbuf_init (&all, 1 << 16);
    strbuf_init (&part, 1 << 16);
    expect_graph (&all, false);
    expect_graph (&part, true);
    strbuf_addch (&all, '\n');
    strbuf_addch (&part, '\n');
    machine_make (&m);
    struct selection *s = choose (&m);
    check_text (m.g, s, "jgf", NULL, all.buf);
    check_text (m.g, s, "jgf_shorthand", NULL, part.buf);
    /* Without claims, as in the answer of a search, nothing is left out. */
    for (size_t i = 0; i < s->n; i++)
        s->picks[i].claimed = false;
    check_text (m.g, s, "jgf_shorthand", NULL, all.buf);
    s->n = 0;
    check_text (m.g, s, "jgf", NULL, "");
    check_text (m.g, s, "jgf_shorthand", NULL, "");
    selection_destroy (s);
    graph_destroy (m.g);
}

/* Names that differ from type and id, a missing id, and characters that JSON must
 * escape. */
static void test_jgf_names (void **state)
{
    struct machine m = { .g = graph_create () };

    (void)state;
    m.cluster = add (
        m.g, GRAPH_NONE,
        (struct graph_spec){ .type = "cluster", .name = "a\"b", .id = -1, .rank = -1 });
    uint32_t node = add (m.g, m.cluster,
                         (struct graph_spec){ .type = "node",
                                              .basename = "host",
                                              .name = "host007",
                                              .id = 7,
                                              .rank = 7,
                                              .uniq = 40 });
    struct selection *s = selection_create ();
    uint32_t top = pick (&m, s, m.cluster, 0, 1, GRAPH_NONE, ON_THE_WAY);
    pick (&m, s, node, 0, 1, top, CLAIMED);
    check_quoted (m.g, s, "jgf", NULL,
                  "{'graph': {'nodes': [{'id': '40', 'metadata': {'type': 'node', "
                  "'basename': 'host', 'name': 'host007', 'id': 7, 'rank': 7, "
                  "'exclusive': true, 'paths': {'containment': '/a\\'b/host007'}}}, "
                  "{'id': '0', 'metadata': {'type': 'cluster', 'name': 'a\\'b', "
                  "'id': -1, 'rank': -1, 'paths': {'containment': '/a\\'b'}}}], "
                  "'edges': [{'source': '0', 'target': '40'}]}}\n");
    selection_destroy (s);
    graph_destroy (m.g);
}

/* Another subsystem as the main tree: each edge names it, and the path in the
 * containment tree stays known. */
static void test_jgf_subsystem (void **state)
{
    struct machine m = { .g = graph_create () };

    (void)state;
    assert_int_equal (graph_set_subsystem (m.g, "power"), 0);
    m.cluster = add (m.g, GRAPH_NONE, (struct graph_spec){ .type = "panel", .rank = -1 });
    uint32_t node =
        add (m.g, m.cluster, (struct graph_spec){ .type = "node", .id = 3, .rank = 3 });
    assert_int_equal (graph_set_path_in (m.g, node, 0, "containment", "/cluster0/node3"),
                      0);
    struct selection *s = selection_create ();
    uint32_t top = pick (&m, s, m.cluster, 0, 1, GRAPH_NONE, ON_THE_WAY);
    pick (&m, s, node, 0, 1, top, CLAIMED);
    check_quoted (m.g, s, "jgf", NULL,
                  "{'graph': {'nodes': [{'id': '1', 'metadata': {'type': 'node', "
                  "'id': 3, 'rank': 3, 'exclusive': true, 'paths': {'containment': "
                  "'/cluster0/node3', 'power': '/panel0/node3'}}}, "
                  "{'id': '0', 'metadata': {'type': 'panel', 'id': 0, 'rank': -1, "
                  "'paths': {'power': '/panel0'}}}], 'edges': [{'source': '0', "
                  "'target': '1', 'metadata': {'subsystem': 'power'}}]}}\n");
    selection_destroy (s);
    graph_destroy (m.g);
}

/* Paths in other subsystems are written beside the path here; a vertex's stored name
 * in the main tree takes precedence over type and id. */
static void test_jgf_paths (void **state)
{
    struct machine m;

    (void)state;
    machine_make (&m);
    uint32_t gpu = m.gpu[0][0];
    assert_int_equal (graph_set_path_in (m.g, gpu, 0, "power", "/panel0/gpu7"), 0);
    assert_int_equal (graph_set_path_in (m.g, gpu, 0, "net", "/switch1/gpu7"), 0);
    assert_int_equal (graph_set_path_in (m.g, m.rack, 0, "containment", "/tiny/r\"0"), 0);
    struct selection *s = selection_create ();
    uint32_t top = pick (&m, s, m.rack, 0, 1, GRAPH_NONE, ON_THE_WAY);
    pick (&m, s, gpu, 0, 1, top, CLAIMED);
    check_quoted (
        m.g, s, "jgf", NULL,
        "{'graph': {'nodes': [{'id': '6', 'metadata': {'type': 'gpu', 'id': 0, "
        "'rank': 0, 'exclusive': true, 'paths': {'containment': '/rack0/gpu0', "
        "'power': '/panel0/gpu7', 'net': '/switch1/gpu7'}}}, {'id': '1', "
        "'metadata': {'type': 'rack', 'id': 0, 'rank': -1, 'paths': "
        "{'containment': '/tiny/r\\'0'}}}], 'edges': [{'source': '1', 'target': "
        "'6'}]}}\n");
    selection_destroy (s);
    graph_destroy (m.g);
}

/* Paths are those of the tree, edges and depths are those of the ways. */
static void test_ways (void **state)
{
    struct machine m;

    (void)state;
    machine_make (&m);
    assert_int_equal (graph_associate (m.g, m.rack, m.socket[0][0], NULL, NULL), 0);
    struct selection *s = selection_create ();
    assert_int_equal (selection_add_way (s, m.socket[0][0], m.rack), 0);
    pick (&m, s, m.gpu[0][0], 0, 1, GRAPH_NONE, CLAIMED);
    assert_int_equal (selection_complete (s, m.g), 0);
    check_quoted (
        m.g, s, "jgf", NULL,
        "{'graph': {'nodes': [{'id': '6', 'metadata': {'type': 'gpu', 'id': 0, "
        "'rank': 0, 'exclusive': true, 'paths': {'containment': "
        "'/tiny0/rack0/node0/socket0/gpu0'}}}, {'id': '3', 'metadata': {'type': "
        "'socket', 'id': 0, 'rank': 0, 'paths': {'containment': "
        "'/tiny0/rack0/node0/socket0'}}}, {'id': '1', 'metadata': {'type': 'rack', "
        "'id': 0, 'rank': -1, 'paths': {'containment': '/tiny0/rack0'}}}, {'id': '0', "
        "'metadata': {'type': 'cluster', 'basename': 'tiny', 'id': 0, 'rank': -1, "
        "'paths': {'containment': '/tiny0'}}}], 'edges': [{'source': '3', 'target': "
        "'6'}, {'source': '1', 'target': '3'}, {'source': '0', 'target': '1'}]}}\n");
    pick (&m, s, m.gpu[0][1], 0, 1, GRAPH_NONE, CLAIMED);
    assert_int_equal (selection_complete (s, m.g), 0);
    check_text (m.g, s, "simple", NULL,
                "      ---------------gpu1[1:x]\n"
                "      ------------socket1[1:s]\n"
                "      ---------node0[1:s]\n"
                "      ------------gpu0[1:x]\n"
                "      ---------socket0[1:s]\n"
                "      ------rack0[1:s]\n"
                "      ---tiny0[1:s]\n");
    selection_destroy (s);
    graph_destroy (m.g);
}

static json_t *about_unit (const struct pick *p, uint32_t unit, void *arg)
{
    const struct machine *m = arg;

    return p->v == m->cores[0][0] ? json_pack ("{s:i}", "asked", (int)unit) : NULL;
}

static json_t *counts_of (const struct pick *p, uint32_t unit, void *arg)
{
    const struct machine *m = arg;

    (void)unit;
    return p->v == m->cluster ? json_pack ("{s:s, s:s}", "gpu", "used:0, total:4", "core",
                                           "used:1, total:8")
                              : NULL;
}

/* Labels come from the request, other texts from the caller. */
static void test_jgf_words (void **state)
{
    struct machine m;
    struct shape_vertex wanted[] = { { .type = "slot", .label = "task" },
                                     { .type = "core", .label = "work" } };
    struct shape shape = { .v = wanted, .nv = 2 };
    struct match_writer_options opt = {
        .shape = &shape, .about = about_unit, .counts = counts_of, .arg = &m
    };
    autostrbuf struct strbuf sb;

    (void)state;
    machine_make (&m);
    struct selection *s = selection_create ();
    uint32_t top = pick (&m, s, m.cluster, 0, 1, GRAPH_NONE, ON_THE_WAY);
    top = pick (&m, s, m.rack, 0, 1, top, ON_THE_WAY);
    top = pick (&m, s, m.node[0], 0, 1, top, ON_THE_WAY);
    top = pick (&m, s, m.socket[0][0], 0, 1, top, ON_THE_WAY);
    uint32_t cores = pick (&m, s, m.cores[0][0], 0, 2, top, CLAIMED);
    uint32_t gpu = pick (&m, s, m.gpu[0][0], 0, 1, top, CLAIMED);
    s->picks[cores].label = 2;
    s->picks[gpu].label = 3; /* a label of no vertex of the shape */
    strbuf_init (&sb, 1 << 20);
    assert_int_equal (write_with ("jgf", &m, s, &opt, &sb), 0);
    assert_non_null (strstr (sb.buf, "core0\"}, \"ephemeral\": {\"asked\": 0, "
                                     "\"label\": \"work\"}}}"));
    assert_non_null (strstr (sb.buf, "core1\"}, \"ephemeral\": {\"asked\": 1, "
                                     "\"label\": \"work\"}}}"));
    assert_non_null (strstr (sb.buf, "gpu0\"}}}"));
    assert_non_null (strstr (sb.buf, "/tiny0\"}, \"agfilter\": {\"core\": \"used:1, "
                                     "total:8\", \"gpu\": \"used:0, total:4\"}}}"));
    json_t *o = json_loads (sb.buf, 0, NULL);
    assert_non_null (o);
    json_decref (o);
    selection_destroy (s);
    graph_destroy (m.g);
}

/* -- R -- */

static const char lite[] = "[{'rank': '1', 'children': {'core': '0-3', 'gpu': '0-1'}}, "
                           "{'rank': '0', 'children': {'core': '3'}}]";

/* The selection of choose() as R, with the graph under "scheduling" or without. */
static void expect_r (struct strbuf *sb, bool scheduling, bool brief)
{
    add_quoted (sb, "{'version': 1, 'execution': {'R_lite': ");
    add_quoted (sb, lite);
    add_quoted (sb, ", 'nodelist': ['node[0-1]'], 'properties': {'big': '1', "
                    "'speed=fast': '1'}, 'starttime': 100, 'expiration': 3153600000}");
    if (scheduling) {
        add_quoted (sb, ", 'scheduling': ");
        expect_graph (sb, brief);
    }
    strbuf_adds (sb, "}\n");
}

static void test_r (void **state)
{
    static const struct {
        const char *format;
        bool scheduling, brief;
    } formats[] = {
        { "rv1", true, false },
        { "rv1_nosched", false, false },
        { "rv1_shorthand", true, true },
    };
    struct machine m;
    struct match_writer_options opt = { .start = 100, .end = 3153600000 };
    autostrbuf struct strbuf text;

    (void)state;
    strbuf_init (&text, 1 << 16);
    machine_make (&m);
    struct selection *s = choose (&m);
    add_quoted (&text, lite);
    strbuf_addch (&text, '\n');
    check_text (m.g, s, "rlite", &opt, text.buf);
    for (size_t i = 0; i < ARRAY_SIZE (formats); i++) {
        strbuf_reset (&text);
        expect_r (&text, formats[i].scheduling, formats[i].brief);
        check_text (m.g, s, formats[i].format, &opt, text.buf);
    }
    selection_destroy (s);
    graph_destroy (m.g);
}

/* Ranks with the same children are one entry; ids come in any order; a rabbit has a
 * rank of its own beside the nodes; cores outside nodes belong to no rank. */
static void test_r_merge (void **state)
{
    static const int numbers[] = { 2, 0, 1, 3 };
    struct machine m = { .g = graph_create () };
    struct selection *s = selection_create ();

    (void)state;
    m.cluster =
        add (m.g, GRAPH_NONE, (struct graph_spec){ .type = "cluster", .rank = -1 });
    uint32_t top = pick (&m, s, m.cluster, 0, 1, GRAPH_NONE, ON_THE_WAY);
    uint32_t loose =
        add (m.g, m.cluster,
             (struct graph_spec){ .type = "core", .id = 90, .rank = -1, .leaf = true });
    pick (&m, s, loose, 0, 1, top, CLAIMED);
    for (size_t i = 0; i < 4; i++) {
        int n = numbers[i];
        uint32_t node =
            add (m.g, m.cluster,
                 (struct graph_spec){ .type = n == 3 ? "storage_node" : "node",
                                      .basename = "host",
                                      .id = n,
                                      .rank = n });
        uint32_t at = pick (&m, s, node, 0, 1, top, ON_THE_WAY);
        for (int id = 5; id >= 3; id--) {
            uint32_t core = add (
                m.g, node,
                (struct graph_spec){ .type = "core", .id = id, .rank = n, .leaf = true });
            pick (&m, s, core, 0, 1, at, CLAIMED);
        }
        if (n == 1) {
            uint32_t gpu = add (
                m.g, node,
                (struct graph_spec){ .type = "gpu", .id = 8, .rank = n, .leaf = true });
            pick (&m, s, gpu, 0, 1, at, CLAIMED);
        }
    }
    check_quoted (m.g, s, "rv1_nosched", NULL,
                  "{'version': 1, 'execution': {'R_lite': [{'rank': '1', 'children': "
                  "{'core': '3-5', 'gpu': '8'}}, {'rank': '0,2-3', 'children': "
                  "{'core': '3-5'}}], 'nodelist': ['host[0-3]'], 'starttime': 0, "
                  "'expiration': 0}}\n");
    selection_destroy (s);
    graph_destroy (m.g);
}

/* A selection that R cannot express: nothing is written, and only rlite makes this an
 * error. */
static void test_r_nothing (void **state)
{
    static const char *const formats[] = { "rv1", "rv1_nosched", "rv1_shorthand" };
    struct machine m;
    autostrbuf struct strbuf sb;

    (void)state;
    machine_make (&m);
    strbuf_init (&sb, 1 << 20);
    struct selection *s = choose (&m);
    s->n = 3; /* down to node 0 only */
    for (size_t i = 0; i < ARRAY_SIZE (formats); i++)
        check_text (m.g, s, formats[i], NULL, "");
    assert_int_equal (write_with ("rlite", &m, s, NULL, &sb), -EINVAL);
    s->n = 0;
    for (size_t i = 0; i < ARRAY_SIZE (formats); i++)
        check_text (m.g, s, formats[i], NULL, "");
    assert_int_equal (write_with ("rlite", &m, s, NULL, &sb), -EINVAL);
    assert_int_equal (sb.len, 0);
    selection_destroy (s);
    graph_destroy (m.g);
}

/* A node without a rank, a core without an id, an invalid host name. */
static void test_r_impossible (void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        struct machine m = { .g = graph_create () };
        struct selection *s = selection_create ();
        autostrbuf struct strbuf sb;
        m.cluster =
            add (m.g, GRAPH_NONE, (struct graph_spec){ .type = "cluster", .rank = -1 });
        uint32_t node = add (m.g, m.cluster,
                             (struct graph_spec){ .type = "node",
                                                  .name = wrong == 2 ? "a b" : "a",
                                                  .id = 0,
                                                  .rank = wrong == 0 ? -1 : 0 });
        uint32_t core = add (
            m.g, node,
            (struct graph_spec){
                .type = "core", .id = wrong == 1 ? -1 : 0, .rank = -1, .leaf = true });
        uint32_t top = pick (&m, s, m.cluster, 0, 1, GRAPH_NONE, ON_THE_WAY);
        top = pick (&m, s, node, 0, 1, top, ON_THE_WAY);
        pick (&m, s, core, 0, 1, top, CLAIMED);
        strbuf_init (&sb, 1 << 20);
        strbuf_adds (&sb, "before");
        assert_int_equal (write_with ("rv1", &m, s, NULL, &sb), -EINVAL);
        assert_string_equal (sb.buf, "before");
        selection_destroy (s);
        graph_destroy (m.g);
    }
}

/* Each format reports a full buffer. */
static void test_full (void **state)
{
    struct machine m;

    (void)state;
    machine_make (&m);
    struct selection *s = choose (&m);
    for (size_t i = 0; match_writers[i]; i++) {
        autostrbuf struct strbuf sb;
        strbuf_init (&sb, 40);
        assert_int_equal (write_with (match_writers[i]->name, &m, s, NULL, &sb), -E2BIG);
    }
    assert_null (match_writer_find ("xml"));
    selection_destroy (s);
    graph_destroy (m.g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_lines),        cmocka_unit_test (test_jgf),
        cmocka_unit_test (test_jgf_names),    cmocka_unit_test (test_jgf_subsystem),
        cmocka_unit_test (test_jgf_paths),    cmocka_unit_test (test_ways),
        cmocka_unit_test (test_jgf_words),    cmocka_unit_test (test_r),
        cmocka_unit_test (test_r_merge),      cmocka_unit_test (test_r_nothing),
        cmocka_unit_test (test_r_impossible), cmocka_unit_test (test_full),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* GRUG recipes. Fails if vertices, ids, numbers or ranks differ from Fluxion's for the
 * same recipe (jobs' allocations name them), if a recipe of a few bytes fills the
 * memory, or if a part of a recipe is lost silently. */
#include "match/readers/test/readers.h"

#include "common/json.h"

/* -- recipes from lines --
 *
 *     cluster root=1                      a node: id (its type, unless told) and attributes
 *     rack
 *     cluster>rack multi_scale=4          an edge
 *
 * All attributes are declared, without defaults but for those of others' recipes.
 */
#define HEAD "<?xml version='1.0'?>\n<graphml>\n"

static const struct {
    const char *name, *owner, *preset;
} keys[] = {
    { "root", "node", "0" },
    { "type", "node", "" },
    { "basename", "node", NULL },
    { "size", "node", NULL },
    { "unit", "node", NULL },
    { "subsystem", "node", "containment" },
    { "e_subsystem", "edge", NULL },
    { "relation", "edge", "contains" },
    { "rrelation", "edge", "in" },
    { "gen_method", "edge", "MULTIPLY" },
    { "multi_scale", "edge", NULL },
    { "id_scope", "edge", NULL },
    { "id_start", "edge", NULL },
    { "id_stride", "edge", NULL },
    { "as_tgt_subsystem", "edge", "containment" },
    { "as_tgt_uplvl", "edge", NULL },
    { "as_src_uplvl", "edge", NULL },
};

static void add_data (struct strbuf *sb, char *words)
{
    for (char *word; (word = strsep (&words, " "));) {
        char *key = strsep (&word, "=");
        strbuf_addf (sb, "<data key='%s'> %s\n</data>", key, word);
    }
}

static void add_line (struct strbuf *sb, const char *line, size_t len)
{
    autofree char *text = strndup (line, len);
    char *words = text, *source = strsep (&words, " "), *target = source;

    assert_non_null (text);
    strsep (&target, ">");
    if (target) {
        strbuf_addf (sb, "<edge id='%s2%s' source='%s' target='%s'>", source, target,
                     source, target);
        add_data (sb, words);
        strbuf_adds (sb, "</edge>\n");
        return;
    }
    strbuf_addf (sb, "<node id='%s'>", source);
    if (!words || !strstr (words, "type="))
        strbuf_addf (sb, "<data key='type'>%s</data>", source);
    add_data (sb, words);
    strbuf_adds (sb, "</node>\n");
}

/* The caller frees the result. */
static char *recipe_of (const char *lines)
{
    struct strbuf sb;

    strbuf_init (&sb, 1 << 24);
    strbuf_adds (&sb, HEAD);
    for (size_t i = 0; i < ARRAY_SIZE (keys); i++) {
        strbuf_addf (&sb, "<key id='%s' for='%s' attr.name='%s' attr.type='string'>",
                     keys[i].name, keys[i].owner, keys[i].name);
        if (keys[i].preset)
            strbuf_addf (&sb, "<default>%s</default>", keys[i].preset);
        strbuf_adds (&sb, "</key>\n");
    }
    strbuf_adds (&sb, "<graph id='g' edgedefault='directed'>\n");
    for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
        len = strcspn (lines, "\n");
        add_line (&sb, lines, len);
    }
    strbuf_adds (&sb, "</graph>\n</graphml>\n");
    char *text = strbuf_detach (&sb);
    assert_non_null (text);
    return text;
}

static void makes_in (const char *subsystem, const char *lines, const char *expected)
{
    autofree char *text = recipe_of (lines);

    check_reads ("grug", subsystem, text, expected);
}

static void makes (const char *lines, const char *expected)
{
    makes_in (NULL, lines, expected);
}

static void refused_in (const char *subsystem, const char *lines, int code,
                        const char *words)
{
    autofree char *text = recipe_of (lines);

    check_refused ("grug", subsystem, text, strlen (text), code, words);
}

static void refused (const char *lines, const char *words)
{
    refused_in (NULL, lines, -EINVAL, words);
}

static void refused_text (const char *text, const char *words)
{
    check_refused ("grug", NULL, text, strlen (text), -EINVAL, words);
}

/* -- results -- */

/* Numbers go edge by edge, ranks go over all nodes, leaves are groups. */
static void test_tree (void **state)
{
    (void)state;
    makes ("cluster root=1 basename=tiny\n"
           "rack\n"
           "node\n"
           "core\n"
           "memory size=2 unit=GB\n"
           "cluster>rack multi_scale=2\n"
           "rack>node multi_scale=2 id_scope=1\n"
           "node>core multi_scale=3\n"
           "node>memory multi_scale=2",
           "tiny0 #0\n"
           " rack0 #1\n"
           "  node0 #3 r0\n"
           "   core0..2 #7..9\n"
           "   memory0..1 #19..20 *2 [GB]\n"
           "  node1 #4 r1\n"
           "   core0..2 #10..12\n"
           "   memory0..1 #21..22 *2 [GB]\n"
           " rack1 #2\n"
           "  node2 #5 r2\n"
           "   core0..2 #13..15\n"
           "   memory0..1 #23..24 *2 [GB]\n"
           "  node3 #6 r3\n"
           "   core0..2 #16..18\n"
           "   memory0..1 #25..26 *2 [GB]\n");
}

/* Ids begin again with each parent, grandparent, ...; with a start and a stride. */
static void test_ids (void **state)
{
    (void)state;
    makes ("cluster root=1\n"
           "rack\n"
           "node\n"
           "core\n"
           "gpu\n"
           "ssd\n"
           "cluster>rack multi_scale=2 id_start=5\n"
           "rack>node multi_scale=2\n"
           "node>core multi_scale=2 id_scope=1\n"
           "node>gpu multi_scale=2 id_scope=2 id_stride=10 id_start=3\n"
           "node>ssd id_scope=-1",
           "cluster0 #0\n"
           " rack5 #1\n"
           "  node0 #3 r0\n"
           "   core0..1 #7..8\n"
           "   gpu3 #15\n"
           "   gpu13 #16\n"
           "   ssd #23\n"
           "  node1 #4 r1\n"
           "   core2..3 #9..10\n"
           "   gpu23 #17\n"
           "   gpu33 #18\n"
           "   ssd #24\n"
           " rack6 #2\n"
           "  node0 #5 r2\n"
           "   core0..1 #11..12\n"
           "   gpu43 #19\n"
           "   gpu53 #20\n"
           "   ssd #25\n"
           "  node1 #6 r3\n"
           "   core2..3 #13..14\n"
           "   gpu63 #21\n"
           "   gpu73 #22\n"
           "   ssd #26\n");
}

/* The first edge to a node makes it; the order is that of the recipe. */
static void test_order (void **state)
{
    (void)state;
    makes ("cluster root=1\n"
           "cluster>b\n"
           "cluster>a\n"
           "a\n"
           "b\n"
           "b>a multi_scale=2",
           "cluster0 #0\n"
           " b0 #1\n"
           "  a0..1 #2..3\n");
    makes ("cluster root=1\n"
           "a\n"
           "b\n"
           "c\n"
           "cluster>a multi_scale=0\n"
           "a>b multi_scale=2\n"
           "cluster>c",
           "cluster0 #0\n"
           " c0 #1\n");
}

#define POWER                                                                            \
    "cluster root=1\n"                                                                   \
    "rack\n"                                                                             \
    "pdu\n"                                                                              \
    "node\n"                                                                             \
    "cluster>rack multi_scale=2\n"                                                       \
    "rack>pdu id_scope=1\n"                                                              \
    "rack>node multi_scale=2 id_scope=1\n"                                               \
    "panel root=1 subsystem=power\n"                                                     \
    "pdu_p type=pdu subsystem=power\n"                                                   \
    "node_p type=node subsystem=power\n"                                                 \
    "cap type=power subsystem=power size=10 unit=KW\n"                                   \
    "panel>pdu_p e_subsystem=power gen_method=ASSOCIATE_IN relation=supplies_to\n"       \
    "pdu_p>node_p e_subsystem=power gen_method=ASSOCIATE_BY_PATH_IN "                    \
    "as_tgt_uplvl=1 as_src_uplvl=1\n"                                                    \
    "node_p>cap e_subsystem=power multi_scale=2\n"

/* The same vertices in two trees: by racks, and by power supply. */
static void test_associations (void **state)
{
    (void)state;
    makes (POWER, "cluster0 #0\n"
                  " rack0 #1\n"
                  "  pdu0 #3 power=/panel0/pdu0\n"
                  "  node0 #5 r0 power=/panel0/pdu0/node0\n"
                  "  node1 #6 r1 power=/panel0/pdu0/node1\n"
                  " rack1 #2\n"
                  "  pdu1 #4 power=/panel0/pdu1\n"
                  "  node2 #7 r2 power=/panel0/pdu1/node2\n"
                  "  node3 #8 r3 power=/panel0/pdu1/node3\n"
                  "power: #3 -contains> #5\n"
                  "power: #3 -contains> #6\n"
                  "power: #4 -contains> #7\n"
                  "power: #4 -contains> #8\n");
    makes_in ("power", POWER,
              "panel0 #9\n"
              " pdu0 #3 containment=/cluster0/rack0/pdu0\n"
              "  node0 #5 r0 containment=/cluster0/rack0/node0\n"
              "   power0..1 #10..11 *10 [KW]\n"
              "  node1 #6 r1 containment=/cluster0/rack0/node1\n"
              "   power0..1 #12..13 *10 [KW]\n"
              " pdu1 #4 containment=/cluster0/rack1/pdu1\n"
              "  node2 #7 r2 containment=/cluster0/rack1/node2\n"
              "   power0..1 #14..15 *10 [KW]\n"
              "  node3 #8 r3 containment=/cluster0/rack1/node3\n"
              "   power0..1 #16..17 *10 [KW]\n");
}

/* The number of path components that must be equal. */
static void test_levels (void **state)
{
    static const char lines[] =
        "cluster root=1\n"
        "rack\n"
        "node\n"
        "switch\n"
        "cluster>rack multi_scale=2\n"
        "rack>node multi_scale=2 id_scope=1\n"
        "rack>switch id_scope=1\n"
        "switch_n type=switch subsystem=network root=1\n"
        "node_n type=node\n"
        "net root=1 subsystem=network\n"
        "net>switch_x gen_method=ASSOCIATE_IN e_subsystem=network\n"
        "switch_x type=switch\n"
        "switch_x>node_x e_subsystem=network "
        "gen_method=ASSOCIATE_BY_PATH_IN as_tgt_uplvl=%d "
        "as_src_uplvl=%d\n"
        "node_x type=node";
    static const struct {
        int target, source;
        unsigned edges;
    } levels[] = {
        { 1, 1, 4 },                           /* the same rack */
        { 2, 2, 8 },                           /* the same cluster */
        { 2, 1, 0 }, { 0, 0, 0 }, { 3, 4, 8 }, /* neither has that many components */
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (levels); i++) {
        struct graph_edge e;
        snprintf (text, sizeof (text), lines, levels[i].target, levels[i].source);
        autofree char *recipe = recipe_of (text);
        struct graph *g = graph_in ("grug", recipe, strlen (recipe), NULL);
        unsigned n = levels[i].edges;
        assert_true (n == 0 || graph_edge_at (g, "network", n - 1, &e));
        assert_false (graph_edge_at (g, "network", n, &e));
        graph_destroy (g);
    }
}

/* A vertex with a further parent in the same tree; leaves with several
 * parents are not grouped. */
static void test_second_parent (void **state)
{
    (void)state;
    makes ("cluster root=1\n"
           "rack\n"
           "store\n"
           "ssd\n"
           "pool\n"
           "cluster>rack multi_scale=2\n"
           "rack>store id_scope=1\n"
           "store>ssd multi_scale=2\n"
           "cluster>pool\n"
           "link type=store\n"
           "pool>link gen_method=ASSOCIATE_IN relation=shares",
           "cluster0 #0\n"
           " rack0 #1\n"
           "  store0 #3 containment=/cluster0/pool0/store0\n"
           "   ssd0..1 #5..6\n"
           " rack1 #2\n"
           "  store1 #4 containment=/cluster0/pool0/store1\n"
           "   ssd0..1 #7..8\n"
           " pool0 #9\n"
           "containment: #9 -shares> #3\n"
           "containment: #9 -shares> #4\n");
    makes ("cluster root=1\n"
           "store\n"
           "ssd\n"
           "pool\n"
           "cluster>store\n"
           "store>ssd multi_scale=2\n"
           "cluster>pool\n"
           "link type=ssd\n"
           "pool>link gen_method=ASSOCIATE_IN",
           "cluster0 #0\n"
           " store0 #1\n"
           "  ssd0 #2 containment=/cluster0/pool0/ssd0\n"
           "  ssd1 #3 containment=/cluster0/pool0/ssd1\n"
           " pool0 #4\n"
           "containment: #4 -contains> #2\n"
           "containment: #4 -contains> #3\n");
}

/* Defaults of keys apply, and the reader's own defaults for undeclared keys. */
static void test_presets (void **state)
{
    (void)state;
    check_reads (
        "grug", NULL,
        "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
        "<!-- a comment --><key id='r' for='node' attr.name='root'/>"
        "<key id='t' for='node' attr.name='type'><default>thing</default></key>"
        "<key id='b' for='node' attr.name='basename'/>"
        "<key id='t' for='edge' attr.name='multi_scale'><default>3</default></key>"
        "<graph id='g'><edge source='a' target='b'/><desc>two</desc>"
        "<node id='a'><data key='r'>1</data></node>"
        "<node id='b'><data "
        "key='b'>x&amp;<![CDATA[&<y]]></data></node></graph></graphml>",
        "thing0 #0\n"
        " x&&<y0..2 #1..3\n");
}

/* -- refusals -- */

static void test_xml (void **state)
{
    (void)state;
    refused_text ("", "grug: line 1: ");
    refused_text ("{}", "grug: line 1: Start tag expected");
    refused_text (HEAD "<graph>", "grug: line 3: ");
    refused_text (HEAD "</graphml>", "grug: there is no graph in it");
    refused_text (HEAD "<graph/><graph/></graphml>", "grug: line 3: a second graph");
    refused_text ("<graph/>", "grug: the outermost element is not 'graphml'");
    refused_text (HEAD "<graph edgedefault='undirected'/></graphml>",
                  "grug: line 3: graph: edgedefault: edges have a direction");
    refused_text (HEAD "<graph><node/></graph></graphml>",
                  "grug: line 3: node: has no attribute 'id'");
    refused_text (HEAD "<graph><hyperedge/></graph></graphml>",
                  "grug: line 3: 'hyperedge' has no meaning");
    refused_text (HEAD "<graph><node id='a'><graph/></node></graph></graphml>",
                  "grug: line 3: 'graph' has no meaning");
    refused_text (
        HEAD "<key id='a' for='node' attr.name='multi_scale'/></graphml>",
        "grug: line 3: key 'a': a recipe has no attribute 'multi_scale' of node");
    refused_text (HEAD "<key id='a' for='all' attr.name='type'/></graphml>",
                  "grug: line 3: key 'a': a recipe has no attribute 'type' of all");
    refused_text (HEAD "<key id='a' for='node' attr.name='type'/>"
                       "<key id='a' for='node' attr.name='unit'/></graphml>",
                  "grug: line 3: key 'a': there is such a key already");
    refused_text (HEAD
                  "<key id='a' for='node' attr.name='size'><default>x</default></key>"
                  "</graphml>",
                  "grug: line 3: size: 'x' is not an integer");
    refused_text (HEAD "<key/></graphml>", "grug: line 3: key: has no attribute 'id'");
}

/* A document type cannot include anything. */
static void test_doctype (void **state)
{
    (void)state;
    refused_text ("<!DOCTYPE graphml [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>"
                  "<!ENTITY c '&b;&b;&b;&b;'>]><graphml><graph id='&c;'/></graphml>",
                  "grug: it has a document type");
    refused_text ("<!DOCTYPE graphml SYSTEM 'http://localhost/graphml.dtd'>\n"
                  "<graphml><graph/></graphml>",
                  "grug: it has a document type");
    refused_text (HEAD "<graph id='&x;'/></graphml>", "grug: line 3: ");
}

static void test_recipes (void **state)
{
    (void)state;
    refused ("a root=1\nb\na>c", "grug: line 24: edge: target: there is no node 'c'");
    refused ("a root=1\na", "node 'a': there is one already, on line 21");
    refused ("a root=1\nb type=\na>b", "grug: line 23: node 'b': has no type");
    refused_in (NULL, "a root=1\nb\na>b multi_scale=-1", -ERANGE, "multi_scale: ");
    refused ("a root=1\nb\na>b multi_scale=x", "multi_scale: 'x' is not an integer");
    refused_in (NULL, "a root=1 size=0", -ERANGE, "size: ");
    refused_in (NULL, "a root=1 size=1000000000", -ERANGE, "size: ");
    refused_in (NULL, "a root=2", -ERANGE, "root: ");
    refused ("a root=1 basename=x/y", "basename: byte 0x2f cannot be part of a name");
    refused ("a root=1 colour=red", "data: no key has the id 'colour'");
    refused ("a root=1\nb\na>b gen_method=ADD",
             "edge 'a2b': gen_method: 'ADD' is not one of MULTIPLY, ASSOCIATE_IN");
    refused ("a root=1\nb type=b*\na>b", "node 'b': type: ");
    refused ("a root=1\nb\na>b id_start=-2", "node 'b': id: -2");
    refused ("a root=1\nb\na>b id_start=2147483647 multi_scale=2", "node 'b': id: ");
    refused_in (NULL, "a root=1\nb\na>b id_scope=-1 multi_scale=2", -EEXIST,
                "node 'b': /a0/b is there already");
}

static void test_no_root (void **state)
{
    (void)state;
    refused ("", "the recipe has no root in subsystem 'containment'");
    refused ("a root=1", "the recipe has no root in subsystem 'containment'");
    refused ("a\nb\na>b", "the recipe has no root in subsystem 'containment'");
    refused_in ("power", "a root=1\nb\na>b", -EINVAL,
                "the recipe has no root in subsystem 'power'");
    refused_in ("a*b", "a root=1 subsystem=a*b\nb subsystem=a*b\na>b e_subsystem=a*b",
                -EINVAL, "grug: 'a*b' cannot be the main subsystem");
}

static void test_circles (void **state)
{
    (void)state;
    refused ("a root=1\nb\nc\na>b\nb>c\nx type=b\nc>x gen_method=ASSOCIATE_IN",
             "edges of 'containment' would lead in a circle");
    refused ("a root=1\nb\nx type=a\na>b\nb>x gen_method=ASSOCIATE_IN",
             "edges of 'containment' would lead in a circle");
    refused ("a root=1\nb\na>b\nx type=b\nb>x gen_method=ASSOCIATE_IN e_subsystem=power",
             "edge 'b2x' would lead from vertices to themselves");
}

/* Detected before memory is used: the numbers are far beyond a machine. */
static void test_too_large (void **state)
{
    (void)state;
    refused_in (NULL, "a root=1\nb\na>b multi_scale=50000000", -E2BIG,
                "with the 50000000 of node 'b' the recipe makes 50000001 vertices, more "
                "than 50000000");
    refused_in (NULL,
                "a root=1\nb\nc\nd\na>b multi_scale=7000\nb>c multi_scale=7000\n"
                "c>d multi_scale=2147483647",
                -E2BIG, "of node 'd' the recipe makes ");
    refused_in (NULL,
                "a root=1\nb\na>b multi_scale=40000000\nc root=1 subsystem=power\n"
                "d type=b\nc>d gen_method=ASSOCIATE_IN e_subsystem=power",
                -E2BIG, "40000000 vertices of type b are too many to be associated");
    refused_in (NULL,
                "a root=1\nb\nc\na>c multi_scale=3000\na>b multi_scale=3000\nd type=c\n"
                "b>d gen_method=ASSOCIATE_IN e_subsystem=power",
                -E2BIG, "edge 'b2d': more than 4194304 associations");
}

/* 70 levels, and more nodes than a recipe may have. */
static void test_deep (void **state)
{
    autostrbuf struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1 << 20);
    strbuf_adds (&sb, "n0 root=1\n");
    for (int i = 1; i < 70; i++)
        strbuf_addf (&sb, "n%d\nn%d>n%d\n", i, i - 1, i);
    refused_in (NULL, sb.buf, -E2BIG, "node 'n64': ");
    for (int i = 0; i < 10000; i++)
        strbuf_addf (&sb, "x%d\n", i);
    refused_in (NULL, sb.buf, -E2BIG, "more than 1024 of node");
}

/* The maximum number of units in a group. */
static void test_large_group (void **state)
{
    autofree char *text =
        recipe_of ("a root=1\nnode\ncore\na>node multi_scale=2\nnode>core "
                   "multi_scale=3000000");
    struct graph *g = graph_in ("grug", text, strlen (text), NULL);

    (void)state;
    assert_int_equal (graph_unit_count (g), 6000003);
    assert_int_equal (graph_type_count (g, GRAPH_CORE), 6000000);
    assert_true (g->nv < 20);
    graph_destroy (g);
}

/* -- data of other programs -- */

/* All vertices of a graph that Fluxion printed are in this graph, with the same
 * numbers. */
static void check_printed (const struct graph *g, const char *file)
{
    size_t len = 0;
    autofree char *text = shared_file (file, &len);
    size_t n = 0;

    for (char *rest = text, *line; (line = strsep (&rest, "\n"));) {
        autoselection struct selection *s = NULL;
        struct error err = { 0 };
        json_t *nodes, *node;
        size_t i;
        if (line[0] != '{')
            continue;
        if (reader_of ("jgf")->read_selection (g, line, strlen (line), &s, &err) < 0)
            fail_msg ("%s: %s", file, err.text);
        autojson json_t *root = json_parse (line, strlen (line), "printed", &err);
        nodes = json_object_get (json_object_get (root, "graph"), "nodes");
        json_array_foreach (nodes, i, node) {
            json_t *paths = json_object_get (json_object_get (node, "metadata"), "paths");
            const char *id = json_string_value (json_object_get (node, "id"));
            const char *path =
                json_string_value (json_object_get (paths, graph_subsystem (g)));
            uint32_t v, unit;
            char number[24];
            assert_int_equal (graph_find_path (g, path, &v, &unit), 0);
            snprintf (number, sizeof (number), "%" PRId64,
                      graph_vertex (g, v)->uniq + unit);
            assert_string_equal (number, id);
            n++;
        }
    }
    assert_true (n > 0);
}

static void test_shared_printed (void **state)
{
    static const struct {
        const char *recipe, *subsystem, *printed;
    } cases[] = {
        { "resource/grugs/power.graphml", "containment",
          "generated/expected/b257eef8-t3023-01a.out" },
        { "resource/grugs/power.graphml", "power",
          "generated/expected/df65b886-t3023-02a.out" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        size_t len = 0;
        autofree char *text = shared_file (cases[i].recipe, &len);
        struct graph *g = graph_in ("grug", text, len, cases[i].subsystem);
        check_printed (g, cases[i].printed);
        graph_destroy (g);
    }
}

/* Lines without insignificant parts: in the printed graphs vertices below a node have
 * the node's rank, and edges have no relation. */
static char *without (char *text)
{
    char *to = text;

    for (const char *from = text; *from;) {
        size_t rank = from[0] == ' ' && from[1] == 'r' && strchr ("0123456789", from[2])
                          ? 2 + strspn (from + 2, "0123456789")
                          : 0;
        size_t arrow = from[0] == '-' ? strcspn (from, ">\n") : 0;
        if (rank > 0 && strchr (" \n", from[rank]))
            from += rank;
        else if (arrow > 0 && from[arrow] == '>')
            from += arrow;
        else
            *to++ = *from++;
    }
    *to = '\0';
    return text;
}

/* Fluxion's own graphs of two recipes, vertex by vertex. JGF has no units. */
static void test_shared_whole (void **state)
{
    static const struct {
        const char *recipe, *printed, *subsystem, *unit;
    } cases[] = {
        { "resource/grugs/tiny.graphml", "resource/jgfs/tiny.json", NULL, " [GB]" },
        { "resource/grugs/power.graphml", "resource/jgfs/power.json", NULL, " [GB]" },
        { "resource/grugs/power.graphml", "resource/jgfs/power.json", "power", " [KW]" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        size_t len = 0, printed_len = 0;
        autofree char *text = shared_file (cases[i].recipe, &len);
        autofree char *printed = shared_file (cases[i].printed, &printed_len);
        struct graph *g = graph_in ("grug", text, len, cases[i].subsystem);
        struct graph *other = graph_in ("jgf", printed, printed_len, cases[i].subsystem);
        autofree char *have = without (graph_text (g));
        autofree char *want = without (graph_text (other));
        for (char *unit; (unit = strstr (have, cases[i].unit));)
            memmove (unit, unit + 5, strlen (unit + 5) + 1);
        assert_string_equal (have, want);
        graph_destroy (g);
        graph_destroy (other);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_tree),         cmocka_unit_test (test_ids),
        cmocka_unit_test (test_order),        cmocka_unit_test (test_associations),
        cmocka_unit_test (test_levels),       cmocka_unit_test (test_second_parent),
        cmocka_unit_test (test_presets),      cmocka_unit_test (test_xml),
        cmocka_unit_test (test_doctype),      cmocka_unit_test (test_recipes),
        cmocka_unit_test (test_no_root),      cmocka_unit_test (test_circles),
        cmocka_unit_test (test_too_large),    cmocka_unit_test (test_deep),
        cmocka_unit_test (test_large_group),  cmocka_unit_test (test_shared_printed),
        cmocka_unit_test (test_shared_whole),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* dump.c - see dump.h */
#include "tools/match/dump.h"

#include <inttypes.h>

struct dump {
    const struct graph *g;
    const struct session *s;
    FILE *out;
    uint64_t edges;
};

static int64_t number_of (const struct graph *g, uint32_t v, uint32_t unit)
{
    return graph_vertex (g, v)->uniq + unit;
}

/* Text in double quotes, for dot. */
static void put_quoted (FILE *out, const char *text)
{
    putc ('"', out);
    for (; *text; text++) {
        if (strchr ("\"\\", *text))
            putc ('\\', out);
        putc (*text, out);
    }
    putc ('"', out);
}

static void put_xml (FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs ("&lt;", out);
            break;
        case '>':
            fputs ("&gt;", out);
            break;
        case '&':
            fputs ("&amp;", out);
            break;
        default:
            putc (*text, out);
        }
    }
}

/* -- a vertex, an edge, in either format -- */

static void put_data (FILE *out, const char *key, const char *value)
{
    fprintf (out, "      <data key=\"%s\">", key);
    put_xml (out, value);
    fputs ("</data>\n", out);
}

static void put_number (FILE *out, const char *key, int64_t value)
{
    fprintf (out, "      <data key=\"%s\">%" PRId64 "</data>\n", key, value);
}

static void put_properties (struct dump *d, uint32_t v, uint32_t unit)
{
    const char *key, *value;

    if (!graph_property_at (d->g, v, unit, 0, &key, &value))
        return;
    fputs ("      <data key=\"properties\">", d->out);
    for (size_t i = 0; graph_property_at (d->g, v, unit, i, &key, &value); i++) {
        if (i > 0)
            putc (',', d->out);
        put_xml (d->out, key);
        putc ('=', d->out);
        put_xml (d->out, value);
    }
    fputs ("</data>\n", d->out);
}

static int put_node (struct dump *d, uint32_t v, uint32_t unit)
{
    const struct graph_vertex *x = graph_vertex (d->g, v);
    autostrbuf struct strbuf path = STRBUF_INIT (1 << 20);
    char name[1024];

    graph_name (d->g, v, unit, name, sizeof (name));
    if (d->s->opt->dump_format == DUMP_DOT) {
        fprintf (d->out, "  %" PRId64 " [label=", number_of (d->g, v, unit));
        put_quoted (d->out, name);
        fputs ("];\n", d->out);
        return 0;
    }
    graph_path (d->g, v, unit, &path);
    fprintf (d->out, "    <node id=\"n%" PRId64 "\">\n", number_of (d->g, v, unit));
    put_data (d->out, "type", graph_type_name (d->g, x->type));
    put_data (d->out, "basename", graph_basename (d->g, v));
    put_data (d->out, "name", name);
    put_number (d->out, "id", x->id < 0 ? x->id : x->id + (int64_t)unit);
    put_number (d->out, "rank", x->rank);
    put_number (d->out, "size", x->size);
    put_data (d->out, "unit", graph_unit_name (d->g, v));
    put_data (d->out, "path", path.buf);
    put_data (d->out, "status", graph_is_up (d->g, v, unit) ? "up" : "down");
    put_properties (d, v, unit);
    fputs ("    </node>\n", d->out);
    return path.err;
}

static void put_edge (struct dump *d, const struct graph_edge *e)
{
    int64_t from = number_of (d->g, e->from, e->from_unit);
    int64_t to = number_of (d->g, e->to, e->to_unit);

    if (d->s->opt->dump_format == DUMP_DOT) {
        fprintf (d->out, "  %" PRId64 " -> %" PRId64 " [label=", from, to);
        put_quoted (d->out, e->subsystem);
        fputs ("];\n", d->out);
        return;
    }
    fprintf (d->out,
             "    <edge id=\"e%" PRIu64 "\" source=\"n%" PRId64 "\" target=\"n%" PRId64
             "\">\n",
             d->edges++, from, to);
    put_data (d->out, "subsystem", e->subsystem);
    if (e->type)
        put_data (d->out, "relation", e->type);
    fputs ("    </edge>\n", d->out);
}

/* -- top level -- */

/* Depth is bounded by GRAPH_DEPTH_MAX. */
static int put_nodes (struct dump *d, uint32_t v)
{
    int rc = 0;

    for (uint32_t unit = 0; unit < graph_vertex (d->g, v)->n && rc == 0; unit++)
        rc = put_node (d, v, unit);
    GRAPH_CHILDREN (d->g, v, child)
    {
        if (rc == 0)
            rc = put_nodes (d, child);
    }
    return rc;
}

static void put_tree (struct dump *d, uint32_t v)
{
    struct graph_edge e = { .subsystem = graph_subsystem (d->g), .from = v };

    GRAPH_CHILDREN (d->g, v, child)
    {
        e.to = child;
        for (e.to_unit = 0; e.to_unit < graph_vertex (d->g, child)->n; e.to_unit++)
            put_edge (d, &e);
        put_tree (d, child);
    }
}

static int put_graph (struct dump *d)
{
    struct graph_edge e;
    int rc = put_nodes (d, d->g->root);

    put_tree (d, d->g->root);
    for (const char *const *name = d->s->opt->subsystems; *name; name++) {
        for (size_t i = 0; graph_edge_at (d->g, *name, i, &e); i++)
            put_edge (d, &e);
    }
    return rc;
}

static const struct {
    const char *name, *domain, *type;
} keys[] = {
    { "type", "node", "string" },      { "basename", "node", "string" },
    { "name", "node", "string" },      { "id", "node", "long" },
    { "rank", "node", "long" },        { "size", "node", "long" },
    { "unit", "node", "string" },      { "path", "node", "string" },
    { "status", "node", "string" },    { "properties", "node", "string" },
    { "subsystem", "edge", "string" }, { "relation", "edge", "string" },
};

static void put_head (FILE *out)
{
    fputs ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
           out);
    for (size_t i = 0; i < ARRAY_SIZE (keys); i++)
        fprintf (out, "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n",
                 keys[i].name, keys[i].domain, keys[i].name, keys[i].type);
    fputs ("  <graph id=\"G\" edgedefault=\"directed\">\n", out);
}

int dump_graph (const struct session *s, struct error *err)
{
    bool dot = s->opt->dump_format == DUMP_DOT;
    struct dump d = { .g = s->graph, .s = s };
    autofree char *path = NULL;

    if (asprintf (&path, "%s.%s", s->opt->dump_base, dot ? "dot" : "graphml") < 0)
        return error_set (err, ENOMEM, "no memory");
    d.out = fopen (path, "we");
    if (!d.out)
        return error_errno (err, errno, "%s", path);
    if (dot)
        fputs ("digraph G {\n", d.out);
    else
        put_head (d.out);
    int rc = d.g->root == GRAPH_NONE ? 0 : put_graph (&d);
    fputs (dot ? "}\n" : "  </graph>\n</graphml>\n", d.out);
    if (ferror (d.out) || rc < 0)
        rc = error_set (err, rc < 0 ? -rc : EIO, "%s: could not be written", path);
    if (fclose (d.out) != 0 && rc == 0)
        rc = error_errno (err, errno, "%s", path);
    return rc;
}

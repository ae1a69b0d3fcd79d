/* formats.h - shared functions of the tests of readers and writers: texts in JSON and
 * XML with ' for ", and the whole of a graph as a selection
 */
#pragma once

#include "common/test/unit.h"

#include "match/writers/writer.h"

/* Appends the text with " for each '. */
static inline void add_quoted (struct strbuf *sb, const char *text)
{
    for (; *text; text++)
        strbuf_addch (sb, *text == '\'' ? '"' : *text);
}

/* Elements of JGF, with a comma before all but the first. members: without the braces. */
static inline void add_element (struct strbuf *sb, const char *members)
{
    if (sb->len > 0)
        strbuf_adds (sb, ", ");
    add_quoted (sb, "{");
    add_quoted (sb, members);
    add_quoted (sb, "}");
}

static inline void add_node (struct strbuf *sb, int id, const char *words,
                             const char *path)
{
    struct strbuf text;

    strbuf_init (&text, 1 << 16);
    strbuf_addf (&text, "'id': '%d', 'metadata': {%s, 'paths': {'containment': '%s'}}",
                 id, words, path);
    add_element (sb, text.buf);
    strbuf_release (&text);
}

static inline void add_edge (struct strbuf *sb, int source, int target)
{
    char text[80];

    snprintf (text, sizeof (text), "'source': '%d', 'target': '%d'", source, target);
    add_element (sb, text);
}

/* {"graph": ...} of these elements. */
static inline void add_graph (struct strbuf *sb, const struct strbuf *nodes,
                              const struct strbuf *edges)
{
    strbuf_addf (sb, "{\"graph\": {\"nodes\": [%s], \"edges\": [%s]}", nodes->buf,
                 edges->buf);
}

static inline void pick_all (const struct graph *g, struct selection *s, uint32_t v,
                             uint32_t parent)
{
    struct pick *p = selection_add (s, g, v, 0, graph_vertex (g, v)->n, parent);

    assert_non_null (p);
    p->exclusive = true;
    uint32_t self = (uint32_t)(s->n - 1);
    GRAPH_CHILDREN (g, v, c)
    pick_all (g, s, c, self);
}

static inline void check_text (const struct graph *g, const struct selection *s,
                               const char *format, const struct match_writer_options *opt,
                               const char *expected)
{
    static const struct match_writer_options none;
    const struct match_writer *w = match_writer_find (format);
    autostrbuf struct strbuf sb;

    assert_non_null (w);
    strbuf_init (&sb, 1 << 20);
    assert_int_equal (w->write (g, s, opt ? opt : &none, &sb), 0);
    assert_string_equal (sb.buf, expected);
}

/* The same, with ' for " in the expected text. */
static inline void check_quoted (const struct graph *g, const struct selection *s,
                                 const char *format,
                                 const struct match_writer_options *opt,
                                 const char *expected)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    add_quoted (&sb, expected);
    check_text (g, s, format, opt, sb.buf);
}

/* The whole graph, exclusive. */
static inline void check_graph (const struct graph *g, const char *format,
                                const char *expected)
{
    struct selection *s = selection_create ();

    assert_non_null (s);
    pick_all (g, s, g->root, GRAPH_NONE);
    check_text (g, s, format, NULL, expected);
    selection_destroy (s);
}

/* fuzz_rv1exec.c - any bytes as an R (RFC 20); an accepted graph is written as R again,
 * and this R gives the same graph and selects all of it
 *
 * Parser: match/readers/rv1exec.c match/readers/rv1_document.c
 * Parser: match/readers/rv1_selection.c
 */
#include "fuzz_json.h"

#include "match/readers/reader.h"
#include "match/writers/writer.h"

/* A few bytes describe millions of vertices: keeps each try short. */
static bool is_large (const char *text, size_t len)
{
    size_t digits = 0;

    for (size_t i = 0; i < len; i++) {
        digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
        if (digits > 3)
            return true;
    }
    return len > 4096;
}

static struct graph *read_graph (const char *format, const char *text, size_t len)
{
    struct graph *g = graph_create ();
    struct error err = { 0 };

    assert (g);
    if (match_reader_find (format)->read (g, text, len, NULL, &err) == 0)
        return g;
    assert (err.code && !strncmp (err.text, "R: ", 3) && !strchr (err.text, '\n'));
    graph_destroy (g);
    return NULL;
}

static void pick_all (const struct graph *g, struct selection *s, uint32_t v,
                      uint32_t parent)
{
    struct pick *p = selection_add (s, g, v, 0, graph_vertex (g, v)->n, parent);

    assert (p);
    p->exclusive = true;
    uint32_t self = (uint32_t)(s->n - 1);
    GRAPH_CHILDREN (g, v, c)
    pick_all (g, s, c, self);
}

/* The text, or NULL if the format cannot express the graph. */
static char *write_selection (const char *format, const struct graph *g,
                              const struct selection *s)
{
    struct match_writer_options opt = { 0 };
    struct strbuf sb;

    strbuf_init (&sb, (size_t)1 << 30);
    int rc = match_writer_find (format)->write (g, s, &opt, &sb);
    if (rc < 0)
        strbuf_release (&sb);
    return rc < 0 ? NULL : strbuf_detach (&sb);
}

static char *write_graph (const char *format, const struct graph *g)
{
    struct selection *s = selection_create ();

    assert (s);
    pick_all (g, s, g->root, GRAPH_NONE);
    char *text = write_selection (format, g, s);
    selection_destroy (s);
    return text;
}

/* R of the whole graph selects the whole graph. */
static void check_selection (const struct graph *g, const char *text)
{
    struct selection *s = NULL;
    struct error err = { 0 };
    int rc = match_reader_find ("rv1exec_force")
                 ->read_selection (g, text, strlen (text), &s, &err);

    assert (rc == 0);
    char *again = write_selection ("rv1_nosched", g, s);
    assert (again && !strcmp (again, text));
    free (again);
    selection_destroy (s);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    if (is_large (text, size))
        return 0;
    struct graph *g = read_graph ("rv1exec", text, size), *again;
    graph_destroy (g);
    if (!(g = read_graph ("rv1exec_force", text, size)))
        return 0;
    char *jgf = write_graph ("jgf", g), *r = write_graph ("rv1_nosched", g), *same;
    assert (jgf);
    if (r && r[0]) {
        again = read_graph ("rv1exec", r, strlen (r));
        assert (again);
        same = write_graph ("rv1_nosched", again);
        assert (same && !strcmp (r, same));
        check_selection (g, r);
        free (same);
        graph_destroy (again);
    }
    free (jgf);
    free (r);
    graph_destroy (g);
    return 0;
}

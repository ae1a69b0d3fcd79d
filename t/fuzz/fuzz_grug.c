/* fuzz_grug.c - any bytes as a GRUG recipe; the graph is written as JGF, and the JGF
 * gives as many vertices, unless associations put several at one path
 *
 * Parser: match/readers/grug.c match/readers/grug_recipe.c match/readers/grug_plan.c
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "match/readers/reader.h"
#include "match/writers/writer.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A few bytes make millions of vertices: keeps each try short. */
static bool is_large (const char *text, size_t len)
{
    size_t digits = 0;

    for (size_t i = 0; i < len; i++) {
        digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
        if (digits > 2)
            return true;
    }
    return len > 8192;
}

static void pick_all (const struct graph *g, struct selection *s, uint32_t v,
                      uint32_t parent)
{
    struct pick *p = selection_add (s, g, v, 0, graph_vertex (g, v)->n, parent);

    assert (p);
    uint32_t self = (uint32_t)(s->n - 1);
    GRAPH_CHILDREN (g, v, c)
    pick_all (g, s, c, self);
}

static void check_jgf (const struct graph *g, const struct match_reader_options *opt)
{
    struct match_writer_options none = { 0 };
    struct selection *s = selection_create ();
    struct graph *again = graph_create ();
    struct error err = { 0 };
    struct strbuf sb;

    assert (s && again);
    strbuf_init (&sb, (size_t)1 << 30);
    pick_all (g, s, g->root, GRAPH_NONE);
    assert (match_writer_find ("jgf")->write (g, s, &none, &sb) == 0);
    int rc = match_reader_find ("jgf")->read (again, sb.buf, sb.len, opt, &err);
    assert (rc == 0 || (rc == -EEXIST && strstr (err.text, "another vertex is at")));
    assert (rc < 0 || graph_unit_count (again) == graph_unit_count (g));
    strbuf_release (&sb);
    selection_destroy (s);
    graph_destroy (again);
}

static void try (const char *text, size_t len, const char *subsystem)
{
    struct match_reader_options opt = { .subsystem = subsystem };
    struct graph *g = graph_create ();
    struct error err = { 0 };
    int rc;

    assert (g);
    rc = match_reader_find ("grug")->read (g, text, len, &opt, &err);
    if (rc < 0)
        assert (err.code == -rc && !strncmp (err.text, "grug: ", 6)
                && !strchr (err.text, '\n'));
    else if (graph_unit_count (g) <= 2000)
        check_jgf (g, &opt);
    graph_destroy (g);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (is_large ((const char *)data, size))
        return 0;
    try ((const char *)data, size, NULL);
    try ((const char *)data, size, "power");
    return 0;
}

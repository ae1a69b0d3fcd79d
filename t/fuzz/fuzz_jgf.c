/* fuzz_jgf.c - any bytes as a graph in JGF (RFC 40), and, after a line "---",
 * as a part to attach to it; the graph reads its own text back, and is
 * unchanged if the part is refused
 *
 * Parser: match/readers/jgf.c match/readers/jgf_document.c match/readers/jgf_tree.c
 * Parser: match/readers/jgf_paths.c match/readers/jgf_selection.c
 */
#include "fuzz_json.h"

#include <inttypes.h>

#include "match/readers/reader.h"

static const struct match_reader *reader (const char *format)
{
    return match_reader_find (format);
}

static void check_error (const struct error *err, int rc)
{
    assert (err->code == -rc && !strncmp (err->text, "jgf", 3)
            && !strchr (err->text, '\n'));
}

static uint64_t hash_text (uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash * 31 + 7;
}

static uint64_t hash_number (uint64_t hash, uint64_t number)
{
    return (hash ^ number) * 1099511628211u;
}

/* A hash of everything in the graph. */
static uint64_t hash_graph (const struct graph *g)
{
    uint64_t hash = graph_unit_count (g);
    struct graph_edge e;
    char name[512];

    for (uint32_t v = 0; v < g->nv; v++) {
        const struct graph_vertex *x = graph_vertex (g, v);
        if (x->n == 0)
            continue;
        hash = hash_text (hash, graph_name (g, v, x->n - 1, name, sizeof (name)));
        hash = hash_number (hash, x->parent);
        hash = hash_number (hash, (uint64_t)x->uniq);
        hash = hash_number (hash, (uint64_t)x->size);
        hash = hash_number (hash, (uint64_t)x->n << 32 | (uint32_t)x->rank);
        for (uint32_t unit = 0; unit < x->n; unit++) {
            hash = hash_text (hash, graph_path_in (g, v, unit, "containment"));
            hash = hash_text (hash, graph_path_in (g, v, unit, "power"));
        }
    }
    for (size_t i = 0; graph_edge_at (g, "power", i, &e); i++)
        hash = hash_number (hash, (uint64_t)e.from << 32 | e.to);
    return hash;
}

static bool select_from (const struct graph *g, const char *format, const char *text,
                         size_t len)
{
    struct selection *s = NULL;
    struct error err = { 0 };
    int rc = reader (format)->read_selection (g, text, len, &s, &err);

    if (rc < 0) {
        check_error (&err, rc);
        assert (!s);
        return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        assert (p->unit + p->count <= graph_vertex (g, p->v)->n);
        assert (p->amount > 0 && p->amount <= graph_vertex (g, p->v)->size);
        assert (i == 0 ? p->parent == GRAPH_NONE : p->parent < i);
        assert (i == 0 || !s->picks[p->parent].exclusive || !p->claimed);
    }
    selection_destroy (s);
    return true;
}

static void attach_to (struct graph *g, const char *text, size_t len)
{
    uint64_t before = hash_graph (g);
    struct error err = { 0 };
    int rc = reader ("jgf")->attach (g, text, len, NULL, &err);

    if (rc == 0)
        return;
    check_error (&err, rc);
    assert (hash_graph (g) == before);
}

static void try (const char *text, size_t len, const char *part, size_t part_len,
                 const char *subsystem)
{
    struct match_reader_options opt = { .subsystem = subsystem };
    struct graph *g = graph_create ();
    struct error err = { 0 };
    int rc;

    assert (g);
    rc = reader ("jgf")->read (g, text, len, &opt, &err);
    if (rc < 0) {
        check_error (&err, rc);
        graph_destroy (g);
        return;
    }
    uint64_t before = hash_graph (g);
    assert (select_from (g, "jgf", text, len));
    assert (select_from (g, "jgf_shorthand", text, len));
    attach_to (g, text, len);
    assert (hash_graph (g) == before);
    select_from (g, "jgf_shorthand", part, part_len);
    attach_to (g, part, part_len);
    graph_destroy (g);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static const char line[] = "\n---\n";
    const char *text = (const char *)data;
    const char *part = memmem (text, size, line, 5);
    size_t len = part ? (size_t)(part - text) : size;

    part = part ? part + 5 : text;
    try (text, len, part, size - (size_t)(part - text), NULL);
    try (text, len, part, size - (size_t)(part - text), "power");
    return 0;
}

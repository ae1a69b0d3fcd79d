/* readers.h - shared functions of the readers' tests: a graph as lines of text
 *
 *     cluster0 #0
 *      node0 #1 r0
 *       core0..3 #2..5
 *       memory0 #6 *16 [GB]
 *     power: #8 -supplies_to> #1
 *
 * One line for each vertex or group, indented by its depth: names and numbers of its first
 * and last unit, then rank, size, unit, status, further paths and properties if it has any.
 * The edges of the requested subsystems come last.
 */
#pragma once

#include "common/test/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "match/readers/reader.h"
#include "match/test/inspect.h"

static const char *const subsystems[] = { "containment", "power", "network", NULL };

static inline void add_unit_text (const struct graph *g, uint32_t v, uint32_t unit,
                                  struct strbuf *sb)
{
    const char *key, *value;

    for (size_t i = 0; subsystems[i]; i++) {
        const char *path = graph_path_in (g, v, unit, subsystems[i]);
        if (path)
            strbuf_addf (sb, " %s=%s", subsystems[i], path);
    }
    for (size_t i = 0; graph_property_at (g, v, unit, i, &key, &value); i++)
        strbuf_addf (sb, " {%s=%s}", key, value);
    if (!graph_is_up (g, v, unit))
        strbuf_adds (sb, " down");
}

static inline void add_vertex_text (const struct graph *g, uint32_t v, struct strbuf *sb)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    char name[512];
    int64_t last = x->n - 1;

    for (unsigned i = 0; i < x->depth; i++)
        strbuf_addch (sb, ' ');
    strbuf_adds (sb, graph_name (g, v, 0, name, sizeof (name)));
    if (last > 0)
        strbuf_addf (sb, "..%" PRId64, x->id + last);
    strbuf_addf (sb, " #%" PRId64, x->uniq);
    if (last > 0)
        strbuf_addf (sb, "..%" PRId64, x->uniq + last);
    if (x->rank >= 0)
        strbuf_addf (sb, " r%d", x->rank);
    if (x->size != 1)
        strbuf_addf (sb, " *%" PRId64, x->size);
    if (graph_unit_name (g, v)[0])
        strbuf_addf (sb, " [%s]", graph_unit_name (g, v));
    for (uint32_t unit = 0; unit < x->n; unit++)
        add_unit_text (g, v, unit, sb);
    strbuf_addch (sb, '\n');
}

static inline void add_edge_text (const struct graph *g, const struct graph_edge *e,
                                  struct strbuf *sb)
{
    strbuf_addf (sb, "%s: #%" PRId64 " -%s> #%" PRId64 "\n", e->subsystem,
                 graph_vertex (g, e->from)->uniq + e->from_unit, e->type ? e->type : "",
                 graph_vertex (g, e->to)->uniq + e->to_unit);
}

/* Depth first, without recursion, because some tests are deep. */
static inline char *graph_text (const struct graph *g)
{
    struct strbuf sb;
    uint32_t v = g->root;
    struct graph_edge e;

    strbuf_init (&sb, 1 << 26);
    while (v != GRAPH_NONE) {
        const struct graph_vertex *x = graph_vertex (g, v);
        add_vertex_text (g, v, &sb);
        if (x->first != GRAPH_NONE) {
            v = x->first;
            continue;
        }
        while (v != GRAPH_NONE && graph_vertex (g, v)->next == GRAPH_NONE)
            v = graph_vertex (g, v)->parent;
        v = v == GRAPH_NONE ? v : graph_vertex (g, v)->next;
    }
    for (size_t i = 0; subsystems[i]; i++) {
        for (size_t k = 0; graph_edge_at (g, subsystems[i], k, &e); k++)
            add_edge_text (g, &e, &sb);
    }
    char *text = strbuf_detach (&sb);
    assert_non_null (text);
    return text;
}

/* Replaces each ' by ". The caller frees the result. */
static inline char *quoted (const char *text)
{
    char *copy = strdup (text);

    assert_non_null (copy);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

static inline const struct match_reader *reader_of (const char *format)
{
    const struct match_reader *r = match_reader_find (format);

    assert_non_null (r);
    return r;
}

static inline struct graph *graph_in (const char *format, const char *text, size_t len,
                                      const char *subsystem)
{
    struct match_reader_options opt = { .subsystem = subsystem };
    struct graph *g = graph_create ();
    struct error err = { 0 };

    assert_non_null (g);
    if (reader_of (format)->read (g, text, len, &opt, &err) < 0)
        fail_msg ("%s: %.200s", err.text, text);
    return g;
}

/* The text gives this graph. */
static inline void check_reads (const char *format, const char *subsystem,
                                const char *text, const char *expected)
{
    struct graph *g = graph_in (format, text, strlen (text), subsystem);
    autofree char *have = graph_text (g);

    assert_string_equal (have, expected);
    graph_destroy (g);
}

/* The text is refused with this code, and the reason contains these words;
 * words may be NULL. */
static inline void check_refused (const char *format, const char *subsystem,
                                  const char *text, size_t len, int code,
                                  const char *words)
{
    struct match_reader_options opt = { .subsystem = subsystem };
    struct error err = { 0 };

    for (int i = 0; i < 2; i++) {
        struct graph *g = graph_create ();
        assert_non_null (g);
        int rc = reader_of (format)->read (g, text, len, &opt, i == 0 ? &err : NULL);
        if (rc != code || !strstr (err.text, words))
            fail_msg ("%d '%s' where %d '%s' was expected: %.200s", rc, err.text, code,
                      words, text);
        graph_destroy (g);
    }
    assert_int_equal (err.code, -code);
    assert_null (strchr (err.text, '\n'));
}

/* A file of the shared data; the caller frees it. Without the file the test is
 * skipped. */
static inline char *shared_file (const char *path, size_t *ret_len)
{
    const char *shared = getenv ("FLUXQ_SHARED_DIR");
    char name[4096];
    FILE *f;
    struct strbuf sb;

    snprintf (name, sizeof (name), "%s/conformance/fluxion/data/%s", shared ? shared : "",
              path);
    f = shared ? fopen (name, "r") : NULL;
    if (!f)
        skip ();
    strbuf_init (&sb, 1 << 26);
    for (size_t n = 1; n > 0;) {
        assert_int_equal (strbuf_reserve (&sb, 1 << 16), 0);
        n = fread (sb.buf + sb.len, 1, 1 << 16, f);
        strbuf_advance (&sb, n);
    }
    fclose (f);
    *ret_len = sb.len;
    return strbuf_detach (&sb);
}

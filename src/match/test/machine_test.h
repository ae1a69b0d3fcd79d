/* machine_test.h - short forms of graphs, selections and requests for tests of the
 * planner */
#pragma once

#include "common/test/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobspec/parse/request.h"
#include "match/search/search.h"
#include "match/test/inspect.h"
#include "match/test/verify.h"

#define UNUSED_HELPER __attribute__ ((unused)) static inline

UNUSED_HELPER uint32_t machine_add (struct graph *g, uint32_t parent, const char *type,
                                    int64_t id, uint32_t count, int64_t size,
                                    uint8_t flags)
{
    struct graph_spec spec = { .type = type,
                               .id = id,
                               .count = count,
                               .size = size,
                               .flags = flags,
                               .uniq = -1,
                               .rank = -1 };
    struct error err = { 0 };
    uint32_t v = graph_add (g, parent, &spec, &err);
    if (v == GRAPH_NONE)
        fail_msg ("%s: %s", type, err.text);
    return v;
}

/* A cluster with racks of nodes with 4 cores, 2 GPUs and 16 of divisible memory each. */
UNUSED_HELPER struct graph *machine_of (int racks, int nodes)
{
    struct graph *g = graph_create ();
    uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);

    for (int r = 0; r < racks; r++) {
        uint32_t rack = machine_add (g, root, "rack", r, 1, 1, 0);
        for (int n = 0; n < nodes; n++) {
            uint32_t node = machine_add (g, rack, "node", r * nodes + n, 1, 1, 0);
            machine_add (g, node, "core", 0, 4, 1, 0);
            machine_add (g, node, "gpu", 0, 2, 1, 0);
            machine_add (g, node, "memory", 0, 1, 16, GRAPH_DIVISIBLE);
        }
    }
    return g;
}

UNUSED_HELPER uint32_t machine_find (const struct graph *g, const char *path)
{
    uint32_t v, unit;

    if (graph_find_path (g, path, &v, &unit) < 0)
        fail_msg ("there is no %s", path);
    return v;
}

/* Appends a claimed exclusive pick: units of the vertex with this path, from the given
 * unit on; amount 0: its size. */
UNUSED_HELPER void machine_pick (struct selection *s, const struct graph *g,
                                 const char *path, uint32_t count, int64_t amount)
{
    uint32_t v, unit;

    if (graph_find_path (g, path, &v, &unit) < 0)
        fail_msg ("there is no %s", path);
    struct pick *p = selection_add (s, g, v, unit, count, GRAPH_NONE);
    assert_non_null (p);
    p->claimed = p->exclusive = true;
    if (amount)
        p->amount = amount;
}

/* A selection of one such pick. */
UNUSED_HELPER struct selection *machine_select (const struct graph *g, const char *path,
                                                uint32_t count, int64_t amount,
                                                int64_t start, int64_t end)
{
    struct selection *s = selection_create ();

    machine_pick (s, g, path, count, amount);
    assert_int_equal (selection_complete (s, g), 0);
    s->start = start;
    s->end = end;
    return s;
}

/* The verdict of planner_update() with such a selection. */
UNUSED_HELPER int machine_book (struct planner *p, uint64_t job, bool reserved,
                                const char *path, uint32_t count, int64_t amount,
                                int64_t start, int64_t end)
{
    autoselection struct selection *s =
        machine_select (planner_graph (p), path, count, amount, start, end);
    struct error err = { 0 };

    return planner_update (p, job, s, reserved, &err);
}

/* Parses resources as YAML flow: "{type: node, count: 2, ...}". */
UNUSED_HELPER struct shape *machine_shape (const char *resources)
{
    char text[4096];
    struct error err = { 0 };
    autorequest struct jobspec_request *q = NULL;
    struct shape *s;

    snprintf (text, sizeof (text),
              "version: 1\nresources: [%s]\ntasks: []\nattributes: {system: {}}\n",
              resources);
    if (jobspec_resources_parse (text, strlen (text), "request", &q, &err) < 0)
        fail_msg ("%s", err.text);
    if (!(s = shape_compile (q->resources, q->nresources, q->constraints, 0, &err)))
        fail_msg ("%s", err.text);
    return s;
}

UNUSED_HELPER void machine_verify (const struct planner *p)
{
    struct error err = { 0 };

    if (planner_verify (p, &err) < 0)
        fail_msg ("%s", err.text);
}

/* A planner over the whole time. */
UNUSED_HELPER struct planner *machine_planner (struct graph *g, const char *policy)
{
    static const struct planner_options always = { 0 };
    struct planner *p = planner_create (g, match_policy_find (policy), &always);

    assert_non_null (p);
    return p;
}

/* Destroys planner and graph; no data of a booking may be left in the graph. */
UNUSED_HELPER void machine_done (struct planner *p)
{
    struct graph *g = planner_graph (p);

    machine_verify (p);
    planner_destroy (p);
    for (uint32_t v = 0; v < g->nv; v++) {
        if (g->v[v].n == 0)
            continue; /* free entry */
        assert_int_equal (g->v[v].nclaims, 0);
        assert_int_equal (g->v[v].claims, GRAPH_NONE);
        assert_int_equal (g->v[v].used, 0);
        if (g->v[v].n <= 64)
            assert_int_equal (g->v[v].busy.bits, 0);
    }
    graph_destroy (g);
}

/* The example policy of doc/matcher.md: it compiles, does what the page says, and
 * equals the text of the page. */
#include "match/policies/policy.h"

/* Dimension of GPUs in the index: after whole nodes (0) and cores (1). */
#define GPUS 2

static int64_t few_gpus (const struct match_policy *p, const int64_t *free,
                         const int64_t *ever, unsigned dims)
{
    (void)p;
    (void)ever;
    return dims > GPUS ? -free[GPUS] : 0;
}

const struct match_policy match_policy_fewgpus = {
    .name = "fewgpus",
    .summary = "nodes with the fewest free gpus first",
    .node_centric = true,
    .measure = few_gpus,
};

/* -- the page's text ends here, and the test begins -- */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"
#include "match/planner/planner.h"
#include "match/search/search.h"

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int64_t id,
                     uint32_t count)
{
    struct graph_spec spec = {
        .type = type, .id = id, .count = count, .uniq = -1, .rank = -1
    };
    uint32_t v = graph_add (g, parent, &spec, NULL);
    assert_true (v != GRAPH_NONE);
    return v;
}

static const char request[] =
    "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"t\","
    "\"with\":"
    "[{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"true\"],\"slot\":"
    "\"t\","
    "\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{\"duration\":60}}}";

/* Nodes with 4, 1 and 2 GPUs: a job without GPUs goes to the node with one. */
static void takes_nodes_with_few_gpus (void **state)
{
    static const uint32_t gpus[3] = { 4, 1, 2 };
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0, 1);
    struct selection *sel = NULL;
    struct error err;

    (void)state;
    for (int i = 0; i < 3; i++) {
        uint32_t node = add (g, root, "node", i, 1);
        add (g, node, "core", 0, 4);
        add (g, node, "gpu", 0, gpus[i]);
    }
    struct jobspec *js = jobspec_parse (request, strlen (request), &err);
    assert_non_null (js);
    struct shape *s = shape_compile (js->resources, js->nresources, NULL, 0, &err);
    assert_non_null (s);
    struct planner *p =
        planner_create (g, &match_policy_fewgpus, &(struct planner_options){ 0 });
    assert_int_equal (search_match (p, SEARCH_ALLOCATE, 1, s, 0, 60, &sel, &err), 0);
    uint32_t node = graph_node_of (g, sel->picks[sel->n - 1].v);
    assert_int_equal (graph_vertex (g, node)->id, 1);
    selection_destroy (sel);
    planner_destroy (p);
    shape_destroy (s);
    jobspec_destroy (js);
    graph_destroy (g);
}

static char *read_file (const char *name)
{
    const char *dir = getenv ("FLUXQ_SOURCE_DIR");
    char path[4096], *text;
    long size;

    snprintf (path, sizeof (path), "%s/%s", dir ? dir : ".", name);
    FILE *f = fopen (path, "r");
    assert_non_null (f);
    assert_int_equal (fseek (f, 0, SEEK_END), 0);
    assert_true ((size = ftell (f)) > 0);
    rewind (f);
    text = calloc (1, (size_t)size + 1);
    assert_non_null (text);
    assert_int_equal (fread (text, 1, (size_t)size, f), (size_t)size);
    fclose (f);
    return text;
}

static void stands_in_the_page (void **state)
{
    char *page = read_file ("doc/matcher.md");
    char *here = read_file ("src/match/policies/test/test_policy_example.c");
    char *block = strstr (page, "```c\n");

    (void)state;
    assert_non_null (block);
    block += strlen ("```c\n");
    *strstr (block, "```") = '\0';
    assert_non_null (strstr (here, block));
    free (page);
    free (here);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (takes_nodes_with_few_gpus),
        cmocka_unit_test (stands_in_the_page),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* variation.c - nodes of the same performance class together, the best classes first
 *
 * The property "perf_class" of a vertex is its class, 0 (best) to 9999. Sources: Marathe et
 * al., An empirical survey of performance and energy efficiency variation on Intel
 * processors, 2017.
 */
#include "common/parse.h"
#include "match/policies/policy.h"

#define CLASS_WORST 9999

static int64_t class_of (const struct match_policy *p, const struct graph *g, uint32_t v,
                         uint32_t unit)
{
    int64_t class;

    (void)p;
    if (graph_vertex (g, v)->first == GRAPH_NONE
        && graph_vertex (g, v)->type != GRAPH_NODE)
        return (int64_t)graph_vertex (g, v)->id + (int64_t)unit + 1;
    const char *text = graph_property (g, v, unit, "perf_class");
    if (!text || parse_int (text, 0, CLASS_WORST, &class, "perf_class", NULL) < 0)
        return CLASS_WORST;
    return class;
}

const struct match_policy match_policy_variation = {
    .name = "variation",
    .summary = "best performance class (property perf_class) first",
    .node_centric = true,
    .score = class_of,
};

/* policy.h - which of several fitting vertices a match takes
 *
 * This folder holds the policies, one file for each. A vertex of the graph, or the free
 * amounts of a node, come in; a score goes to the planner and the search, which order
 * vertices by it. Policies see no bookings and no requests.
 *
 *     const struct match_policy *p = match_policy_find ("low");
 *     struct match_policy own;
 *     if (match_policy_parse ("policy=low node_centric=true", &own, &err) == 0) ...
 *
 * A policy gives each vertex a score that does not depend on bookings, and says whether
 * low or high scores go first; the order of the graph decides between equals. If
 * `measure` is set, nodes are ordered by the measure instead, which may depend on what is
 * free. Each policy has a file in policies/ that ends with `const struct match_policy
 * match_policy_NAME`; the build makes the table of policies. doc/matcher.md develops an
 * example.
 */
#pragma once

#include "match/graph/graph.h"

struct match_policy {
    const char *name;
    const char *summary; /* one line for help: "lowest ids first" */
    bool high;           /* the greatest score first, else the least */
    bool node_centric;   /* a node's score takes precedence over the scores of its
                          * parts */
    bool node_exclusive; /* a node is given as a whole, whatever the request wants in
                          * it */
    bool first; /* takes the first vertices that fit, in the order of the measure, and
                 * searches no further; the score only orders the vertices taken */
    /* Score of a unit, 0 .. 2^31; NULL: its id + 1. */
    int64_t (*score) (const struct match_policy *p, const struct graph *g, uint32_t v,
                      uint32_t unit);
    /* The measure of a node, from the free and the existing amount of each dimension of
     * the index (index.h); the greatest goes first. INT64_MIN: do not use the node. NULL:
     * nodes go by score. */
    int64_t (*measure) (const struct match_policy *p, const int64_t *free,
                        const int64_t *ever, unsigned dims);
    char property[64]; /* of custom policies: "order=PROPERTY", the number in the property
                        * is the score */
    bool spread;       /* one slot on each node before a second slot on any */
    /* Choose nodes that are close together: fewest vertices of the level above. */
    bool together;
};

extern const struct match_policy *const match_policies[]; /* NULL-terminated, by name */

const struct match_policy *match_policy_find (const char *name);
/* Parses a name, or "KEY=VALUE ...": policy=low|high|NAME, node_centric=,
 * node_exclusive=, stop_on_1_matches=true|false, order=PROPERTY. 0, or -EINVAL that names
 * the wrong word. */
int match_policy_parse (const char *text, struct match_policy *ret, struct error *err);
static inline int64_t match_policy_score (const struct match_policy *p,
                                          const struct graph *g, uint32_t v,
                                          uint32_t unit)
{
    return p->score ? p->score (p, g, v, unit)
                    : (int64_t)graph_vertex (g, v)->id + (int64_t)unit + 1;
}

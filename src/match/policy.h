/* policy.h - which of several fitting vertices a match takes
 *
 *     const struct match_policy *p = match_policy_find ("low");
 *     struct match_policy own;
 *     if (match_policy_parse ("policy=low node_centric=true", &own, &err) == 0) ...
 *
 * A policy gives each vertex a score, which does not depend on what is booked, and says
 * whether low or high scores go first; among equals the order of the graph decides. Where
 * `measure` is set nodes are taken by that instead, which may depend on what is free. One
 * file each in policies/, which ends in `const struct match_policy match_policy_NAME`; the
 * build makes the table of them. doc/matcher.md makes one as an example.
 */
#ifndef FLUXQ_MATCH_POLICY_H
#define FLUXQ_MATCH_POLICY_H

#include "match/graph.h"

struct match_policy {
    const char *name;
    const char *summary; /* one line for help: "lowest ids first" */
    bool high;           /* the greatest score first, else the least */
    bool node_centric;   /* the node's score counts before that of what is in it */
    bool node_exclusive; /* nodes are given as a whole, whatever was asked for in them */
    bool first; /* take the first that do, in the order of the measure, and look no
                          * further; the score only orders these */
    /* Score of a unit, 0 .. 2^31; NULL: its id + 1. */
    int64_t (*score) (const struct match_policy *p, const struct graph *g, uint32_t v,
                      uint32_t unit);
    /* Of a node, from what is free and what there is of each dimension of the index
     * (index.h); greatest first. INT64_MIN: do not take. NULL: nodes go by score. */
    int64_t (*measure) (const struct match_policy *p, const int64_t *free,
                        const int64_t *ever, unsigned dims);
    char property[64]; /* of custom policies: "order=PROPERTY", its number is the score */
    bool spread;       /* slots: one for each node before a second on any */
    /* Choose groups of nodes that lie together: fewest vertices of the level above. */
    bool together;
};

extern const struct match_policy *const match_policies[]; /* NULL-terminated, by name */

const struct match_policy *match_policy_find (const char *name);
/* A name, or "KEY=VALUE ...": policy=low|high|NAME, node_centric=, node_exclusive=,
 * stop_on_1_matches=true|false, order=PROPERTY. 0, or -EINVAL which names the word. */
int match_policy_parse (const char *text, struct match_policy *ret, struct error *err);
static inline int64_t match_policy_score (const struct match_policy *p,
                                          const struct graph *g, uint32_t v,
                                          uint32_t unit)
{
    return p->score ? p->score (p, g, v, unit)
                    : (int64_t)graph_vertex (g, v)->id + (int64_t)unit + 1;
}

#endif

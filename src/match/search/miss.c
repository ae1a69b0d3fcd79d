/* miss.c - sentences for people whose request does not fit
 *
 * The most helpful fact comes first: there are too few nodes. For "never": every node of
 * the machine is too small; the whole machine is too small. For "not now": too little is
 * free in total; on one node. Else: how many of the requested units fit, at that level.
 */
#include <inttypes.h>

#include "common/gres.h"
#include "common/thousandths.h"
#include "match/planner/levels.h"
#include "match/planner/sums.h"
#include "match/search/walk_private.h"

static const char *plural (int64_t n)
{
    return n == 1 ? "" : "s";
}

struct reason {
    const struct planner *p;
    struct walker *k;
    const struct index *x;
    bool never;
};

/* Unit of memory: that of the request, else that of the graph. */
static const char *unit_of (const struct reason *w, uint16_t type)
{
    for (size_t i = 0; i < w->k->s->nv; i++)
        if (w->k->type[i] == type && w->k->s->v[i].unit)
            return w->k->s->v[i].unit;
    uint32_t node = levels_first (w->p);
    if (node == GRAPH_NONE)
        return "";
    GRAPH_CHILDREN (w->p->g, node, c)
    {
        if (graph_vertex (w->p->g, c)->type == type)
            return graph_unit_name (w->p->g, c);
    }
    return "";
}

/* Type of a dimension; those of properties count cores. */
static uint16_t type_of (const struct reason *w, unsigned dim)
{
    return w->p->dims[dim < w->p->ntypes ? dim : CORES];
}

/* " with PROPERTY", for the nodes of such a dimension. */
static void add_property (const struct reason *w, const char *nodes, unsigned dim,
                          struct strbuf *sb)
{
    if (dim >= w->p->ntypes)
        strbuf_addf (sb, "%s with %s", nodes, w->p->properties[dim - w->p->ntypes].name);
}

/* True if the dimension counts CPU thousandths. */
static bool is_cpus (const struct reason *w, unsigned dim)
{
    return strcmp (graph_type_name (w->p->g, type_of (w, dim)), GRES_CPU_MILLI) == 0;
}

/* Adds a number as sentences count it. */
static void add_number (const struct reason *w, unsigned dim, int64_t n,
                        struct strbuf *sb)
{
    if (is_cpus (w, dim))
        strbuf_add_thousandths (sb, n);
    else
        strbuf_addf (sb, "%" PRId64, n);
}

/* "9 gpus", "1 whole node", "4096 MiB of memory", "0.5 cpu" */
static void add_amount (const struct reason *w, unsigned dim, int64_t n,
                        struct strbuf *sb)
{
    const char *type = graph_type_name (w->p->g, type_of (w, dim));
    const char *unit =
        type_of (w, dim) == GRAPH_MEMORY ? unit_of (w, GRAPH_MEMORY) : NULL;

    if (is_cpus (w, dim)) {
        strbuf_add_thousandths (sb, n);
        strbuf_adds (sb, n > 1000 ? " cpus" : " cpu");
    } else if (strcmp (type, GRES_TMP_DISK) == 0)
        strbuf_addf (sb, "%" PRId64 " MiB of temporary disk", n);
    else if (unit)
        strbuf_addf (sb, "%" PRId64 " %s%sof %s", n, unit, *unit ? " " : "", type);
    else
        strbuf_addf (sb, "%" PRId64 " %s%s%s", n, dim == 0 ? "whole " : "", type,
                     strpbrk (type, "/:") ? "" : plural (n)); /* "3 rdma/hca" */
}

static int64_t most (const struct reason *w, unsigned d)
{
    return w->never ? index_most_ever (w->x, d) : index_most_free (w->x, d);
}

/* The sum of the index, which has what is in nodes; anything outside is counted. */
static int64_t sum_of (const struct reason *w, unsigned d, bool ever)
{
    if (w->x && (d == 0 || !w->p->any_loose))
        return ever ? index_sum_ever (w->x, d) : index_sum_free (w->x, d);
    return sums_of_type (w->p, w->p->g->root, type_of (w, d),
                         ever ? SUMS_EVER : SUMS_FREE);
}

static int64_t sum (const struct reason *w, unsigned d)
{
    return sum_of (w, d, w->never);
}

/* True if the need for cores comes from a property: the request asks for nodes, not for
 * their cores. */
static bool is_derived (const struct reason *w, uint16_t r, unsigned d)
{
    return d >= w->p->ntypes && w->k->type[r] == GRAPH_NODE;
}

/* Says that something of r that must be in one node does not fit in any. */
static bool say_node_too_small (const struct reason *w, uint16_t r, struct strbuf *sb)
{
    if (!w->x)
        return false;
    if (!walk_within_node (w->k, r)) {
        for (uint16_t c = walk_req (w->k, r)->first; c != SHAPE_NONE;
             c = walk_req (w->k, c)->next)
            if (say_node_too_small (w, c, sb))
                return true;
        return false;
    }
    for (unsigned d = 1; d < w->p->ndims; d++) {
        int64_t one = walk_least_in_node (w->k, r, d);
        if (one <= most (w, d) || w->p->type_loose[type_of (w, d)]
            || is_derived (w, r, d))
            continue;
        strbuf_adds (sb, "needs ");
        add_amount (w, d, one, sb);
        strbuf_adds (sb, " on a node");
        add_property (w, "", d, sb);
        strbuf_adds (sb, ", the largest has ");
        add_number (w, d, most (w, d), sb);
        strbuf_adds (sb, w->never ? "" : " free now");
        return true;
    }
    return false;
}

static bool say_sum_too_small (const struct reason *w, uint16_t top, struct strbuf *sb)
{
    int64_t n = shape_count_least (walk_req (w->k, top));

    for (unsigned d = w->x ? 0 : 1; d < w->p->ndims; d++) {
        int64_t all, one = w->k->bound[top].dim[d];
        if (__builtin_mul_overflow (n, one, &all) || one == 0 || all <= sum (w, d)
            || is_derived (w, top, d))
            continue;
        strbuf_adds (sb, "needs ");
        add_amount (w, d, all, sb);
        strbuf_adds (sb, d > 0 || w->never ? " in all" : "");
        add_property (w, " on nodes", d, sb);
        strbuf_adds (sb, w->never ? ", there are " : ", ");
        add_number (w, d, sum (w, d), sb);
        if (!w->never) {
            strbuf_addf (sb, " %s free now (of ", sum (w, d) == 1 ? "is" : "are");
            add_number (w, d, sum_of (w, d, true), sb);
            strbuf_adds (sb, ")");
        }
        return true;
    }
    return false;
}

static bool say_nothing_is_up (const struct reason *w, struct strbuf *sb)
{
    if (w->p->total[0] > 0 || levels_first (w->p) == GRAPH_NONE)
        return false;
    strbuf_adds (sb, "needs ");
    shape_describe (w->k->s, sb);
    strbuf_adds (sb, ", no node is up");
    return true;
}

/* Says that the request needs more nodes than exist, or are up. */
static bool say_too_few_nodes (const struct reason *w, uint16_t top, struct strbuf *sb)
{
    if (!w->x || w->k->type[top] != GRAPH_NODE)
        return false;
    int64_t have = w->never ? index_sum_ever (w->x, 0) : w->p->total[0];
    if (shape_count_least (walk_req (w->k, top)) <= have)
        return false;
    strbuf_adds (sb, "needs ");
    shape_describe (w->k->s, sb);
    if (w->never)
        strbuf_addf (sb, ", there %s %" PRId64, have == 1 ? "is" : "are", have);
    else
        strbuf_addf (sb, ", %" PRId64 " %s up", have, have == 1 ? "is" : "are");
    return true;
}

/* A sum of properties tells that there are too few nodes, but not how many. */
static int64_t found_of (const struct reason *w, const struct walk_miss *miss)
{
    struct index_need need;
    int64_t n = 0;

    if (!w->x || !miss->known_early || !w->k->properties
        || w->k->type[miss->wanted] != GRAPH_NODE)
        return miss->found;
    walk_need (w->k, miss->wanted, &need);
    for (ptrdiff_t i = index_next (w->x, 0, &need); i >= 0 && n < miss->asked; n++)
        i = index_next (w->x, (size_t)i + 1, &need);
    return n;
}

static void say_count (const struct reason *w, const struct walk_miss *miss,
                       struct strbuf *sb)
{
    char name[128];

    strbuf_adds (sb, "needs ");
    shape_describe (w->k->s, sb);
    if (miss->wanted == SHAPE_NONE) {
        strbuf_addf (sb, ", which %s", w->never ? "is not there" : "is not free now");
        return;
    }
    const struct shape_vertex *r = walk_req (w->k, miss->wanted);
    int32_t type = w->k->type[miss->wanted];
    if (r->kind == SHAPE_RESOURCE
        && (type < 0 || graph_type_count (w->p->g, (uint16_t)type) == 0)) {
        strbuf_addf (sb, ": the machine has no %s",
                     gres_is_reserved (r->type) ? "temporary disk" : r->type);
        return;
    }
    int64_t found = found_of (w, miss);
    strbuf_addf (sb, ": %" PRId64 " of %" PRId64 " %s%s fit%s %s", found, miss->asked,
                 r->type, plural (miss->asked), found == 1 ? "s" : "",
                 w->never ? "the machine" : "now");
    if (miss->at != GRAPH_NONE && miss->at != w->p->g->root)
        strbuf_addf (sb, " in %s",
                     graph_name (w->p->g, miss->at, 0, name, sizeof (name)));
    if (w->k->s->constraint)
        strbuf_adds (sb, " (of the nodes that its constraints allow)");
    else if (!w->never && levels_first (w->p) != GRAPH_NONE)
        strbuf_addf (sb, " (%" PRId64 " node%s up)", w->p->total[0],
                     w->p->total[0] == 1 ? " is" : "s are");
}

int search_why (const struct planner *p, const struct shape *s,
                const struct walk_miss *miss, bool never, struct error *why)
{
    struct window w = { .now = !never, .ever = never };
    struct walk_miss unused;
    struct walker k = { .p = (struct planner *)p,
                        .g = p->g,
                        .s = s,
                        .policy = &p->policy,
                        .w = &w,
                        .miss = &unused };
    struct strbuf sb = STRBUF_INIT (4096);
    int code = never ? ENODEV : EBUSY, rc;

    if (p->g->root == GRAPH_NONE)
        return error_set (why, code, "the machine has no nodes");
    if (p->stale || walk_bind (&k) < 0) {
        walk_release (&k);
        return error_set (why, code,
                          "it does not fit, and there is no memory to tell why");
    }
    const struct upper *a = levels_upper (p, p->g->root);
    struct reason r = { p, &k, a ? a->index : NULL, never };
    bool said = !never && say_nothing_is_up (&r, &sb);
    for (uint16_t top = s->top; top != SHAPE_NONE && !said; top = s->v[top].next)
        said =
            walk_req (&k, top)->kind != SHAPE_OR_SLOT
            && (say_too_few_nodes (&r, top, &sb)
                || (!never && say_sum_too_small (&r, top, &sb))
                || say_node_too_small (&r, top, &sb) || say_sum_too_small (&r, top, &sb));
    if (!said)
        say_count (&r, miss, &sb);
    rc = error_set (why, code, "%s", sb.buf);
    strbuf_release (&sb);
    walk_release (&k);
    return rc;
}

/* shape_places.c - the places of a job's nodes: --nodes-per and --segment */
#include "jobspec/options/shape.h"
#include "jobspec/options/submit_size.h"

/* --nodes-per: the nodes are cut into places of so many. */
static int cut_into_places (const struct submit_options *so, struct submit_shape *s,
                            struct error *err)
{
    const struct nodes_per *per = &so->nodes_per;

    if (per->count == 0)
        return 0;
    if (so->js.switches.count > 0 || so->js.placement.kind > PLACEMENT_ANY)
        return error_set (
            err, EINVAL,
            "--nodes-per=%s:%jd places the nodes and cannot be combined with %s",
            per->level, (intmax_t)per->count,
            so->js.switches.count > 0 ? "--switches" : "--placement");
    if (!s->nodes.count.min)
        return error_set (err, EINVAL,
                          "--nodes-per=%s:%jd needs the number of nodes: give -N",
                          per->level, (intmax_t)per->count);
    if (size_is_elastic (&s->nodes) && s->total)
        return error_set (err, EINVAL,
                          "--nodes-per=%s:%jd does not go with -n %jd spread over -N %s; "
                          "say --ntasks-per-node",
                          per->level, (intmax_t)per->count, (intmax_t)s->total,
                          size_text (&s->nodes).s);
    if (!size_divide (&s->nodes, per->count, &s->places))
        return error_set (err, EINVAL,
                          "-N %s does not divide into %jd nodes a %s (--nodes-per); say "
                          "multiples of %jd",
                          size_text (&s->nodes).s, (intmax_t)per->count, per->level,
                          (intmax_t)per->count);
    return 0;
}

/* --segment: the broker places the nodes in segments of so many. */
static int check_segments (const struct submit_options *so, struct submit_shape *s,
                           struct error *err)
{
    const intmax_t n = so->js.segment;
    struct submit_size segments = { 0 };
    const char *other = so->js.switches.count > 0               ? "--switches"
                        : so->js.placement.kind > PLACEMENT_ANY ? "--placement"
                        : so->nodes_per.count > 0               ? "--nodes-per"
                                                                : NULL;

    if (n == 0)
        return so->js.spread_segments
                   ? error_set (err, EINVAL,
                                "--spread-segments needs the nodes of a segment: give "
                                "--segment")
                   : 0;
    if (other)
        return error_set (err, EINVAL,
                          "--segment=%jd places the nodes and cannot be combined with %s",
                          n, other);
    if (!s->nodes.count.min)
        return error_set (err, EINVAL, "--segment=%jd needs the number of nodes: give -N",
                          n);
    if (size_is_open (&s->nodes))
        return error_set (err, EINVAL,
                          "--segment=%jd does not go with -N %s; say the largest number "
                          "of nodes, too",
                          n, size_text (&s->nodes).s);
    if (!size_divide (&s->nodes, n, &segments))
        return error_set (err, EINVAL,
                          "-N %s does not divide into segments of %jd nodes (--segment); "
                          "say multiples of %jd",
                          size_text (&s->nodes).s, n, n);
    idset_destroy (segments.list);
    if (size_is_elastic (&s->nodes) && size_is_plain (&s->nodes))
        s->nodes.count.operand = n;
    return 0;
}

int submit_shape_places (const struct submit_options *so, struct submit_shape *s,
                         struct error *err)
{
    int rc = cut_into_places (so, s, err);

    return rc == 0 ? check_segments (so, s, err) : rc;
}

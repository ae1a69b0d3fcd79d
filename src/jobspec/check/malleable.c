/* malleable.c - checks of malleable jobs, which can get and lose nodes while they run
 *
 * All nodes of a malleable job are alike and interchangeable: only the count of nodes is
 * elastic, nothing below it. The job's own task is the script on the first node, which
 * the job never loses. The script starts steps on the other nodes.
 */
#include <errno.h>
#include <string.h>

#include "jobspec/jobspec_private.h"

static bool has_sizes (const struct jobspec_resource *r)
{
    return r->count.min != r->count.max || r->sizes;
}

static bool has_sizes_below (const struct jobspec_resource *r)
{
    for (size_t i = 0; i < r->nwith; i++)
        if (has_sizes (&r->with[i]) || has_sizes_below (&r->with[i]))
            return true;
    return false;
}

/* Why the request is not an elastic count of alike nodes; NULL: it is one. */
static const char *unfit_request (const struct jobspec *js)
{
    const struct jobspec_resource *node = &js->resources[0];

    if (js->nresources != 1 || strcmp (node->type, "node") != 0)
        return "needs several numbers of nodes: -N MIN-MAX";
    if (!has_sizes (node))
        return "needs several numbers of nodes, and there is one: -N MIN-MAX";
    if (node->count.max > JOBSPEC_MALLEABLE_NODES)
        return "is for at most 512 nodes: -N MIN-MAX";
    if (has_sizes_below (node) || js->task_count_kind == JOBSPEC_TOTAL)
        return "needs the same number of tasks on each node, however many these are: "
               "--ntasks-per-node";
    return NULL;
}

static const char *unfit (const struct jobspec *js)
{
    const char *why = unfit_request (js);

    if (why)
        return why;
    if (!jobspec_is_batch (js))
        return "needs a script that runs its programs on the nodes with fluxq-run";
    if (js->array.tasks)
        return "does not go with --array: submit the tasks one by one";
    if (js->stage_in.n > 0 || js->stage_out.n > 0)
        return "does not go with --stage-in and --stage-out: copy in the script";
    if (js->placement.kind > PLACEMENT_ANY || js->switches.count > 0 || js->segment > 0)
        return "does not go with --placement, --switches and --segment: nodes that are "
               "free come from anywhere";
    return NULL;
}

int jobspec_check_malleable (const struct jobspec *js, struct error *err)
{
    const char *why = js->malleable ? unfit (js) : NULL;

    return why ? error_set (err, EINVAL,
                            "jobspec: attributes.system.fluxq.malleable: %s",
                            why)
               : 0;
}

const struct jobspec_resource *jobspec_malleable (const struct jobspec *js)
{
    return js->malleable ? &js->resources[0] : NULL;
}

int jobspec_malleable_size (const struct jobspec_resource *nodes, int64_t n,
                            struct error *err)
{
    autostrbuf struct strbuf sizes = STRBUF_INIT (64 * 1024);
    bool fits = n >= nodes->count.min && n <= nodes->count.max;

    if (fits && nodes->sizes)
        fits = idset_has (nodes->sizes, (uint32_t)n);
    else if (fits)
        fits = jobspec_count_fit (&nodes->count, n) == n;
    if (fits)
        return 0;
    jobspec_count_add (&sizes, &nodes->count, nodes->sizes);
    return error_set (err, EINVAL, "%jd nodes is not one of its sizes, which are %s (-N)",
                      (intmax_t)n, sizes.buf ? sizes.buf : "");
}

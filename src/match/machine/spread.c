/* spread.c - a fixed number of tasks on several possible numbers of nodes: -N 4-16 -n 64
 *
 * On n nodes, each node has tasks / n slots, rounded up: the fewer nodes, the more slots
 * on each. So the request is not one shape but one for each number of slots, with the run
 * of numbers of nodes that need so many. The shapes are tried from the most nodes on;
 * within a run the walk takes as many nodes as possible.
 */
#include <errno.h>
#include <string.h>

#include "match/machine/match_private.h"

#define RUNS_MAX 200 /* each is a walk, and all of them are one try of a pass */

static int64_t divide_up (int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Returns the least allowed size of v that is >= n; 0: none. */
static int64_t fit_up (const struct shape_vertex *v, int64_t n)
{
    int64_t low = n, high = v->count.max;

    if (shape_count_fit (v, high) < n)
        return 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (shape_count_fit (v, middle) >= n)
            high = middle;
        else
            low = middle + 1;
    }
    return shape_count_fit (v, low);
}

bool spread_next (const struct match_request *req, int64_t *limit, struct spread_run *ret)
{
    const struct shape_vertex *node = &req->shape->v[req->spread.node];
    const struct shape_vertex *slot = &req->shape->v[req->spread.slot];
    int64_t most = shape_count_fit (node, *limit), least = most;

    if (most == 0)
        return false;
    ret->slots = fit_up (slot, divide_up (req->spread.tasks, most));
    if (ret->slots == 0)
        return false; /* fewer nodes would need more slots */
    if (!node->sizes)
        least = fit_up (node, divide_up (req->spread.tasks, ret->slots));
    ret->nodes =
        (struct jobspec_count){ least, most, node->count.op, node->count.operand };
    *limit = least - 1;
    return true;
}

int spread_shape (const struct match_request *req, const struct spread_run *run,
                  struct shape *ret)
{
    const struct shape *s = req->shape;

    *ret = *s;
    if (!(ret->v = malloc (s->nv * sizeof (*s->v))))
        return -ENOMEM;
    memcpy (ret->v, s->v, s->nv * sizeof (*s->v));
    ret->v[req->spread.node].count = run->nodes;
    ret->v[req->spread.node].sizes = NULL;
    ret->v[req->spread.slot].count =
        (struct jobspec_count){ run->slots, run->slots, '+', 1 };
    ret->v[req->spread.slot].sizes = NULL;
    cpus_follow (ret);
    return 0;
}

int spread_compile (const struct jobspec *js, struct match_request *req,
                    struct error *err)
{
    const struct shape *s = req->shape;
    struct spread_run run;
    int64_t limit = INT64_MAX;
    size_t n = 0;

    if (!jobspec_spread (js, NULL))
        return 0;
    req->spread.tasks = js->task_count;
    req->spread.node = s->top;
    for (uint16_t i = 0; i < s->nv; i++)
        if (s->v[i].kind == SHAPE_SLOT)
            req->spread.slot = i;
    while (spread_next (req, &limit, &run))
        if (++n > RUNS_MAX)
            return error_set (err, ENOTSUP,
                              "resources: %jd tasks on %jd to %jd nodes are too many to "
                              "choose from; name fewer numbers of nodes",
                              (intmax_t)js->task_count, (intmax_t)s->v[s->top].count.min,
                              (intmax_t)s->v[s->top].count.max);
    return 0;
}

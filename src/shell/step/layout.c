/* layout.c - deals the tasks of a step to its ranks, see layout.h
 *
 * The functions that deal in turn walk a list of the ranks that still take tasks and
 * remove the others from it, so that many ranks with little room cost nothing later.
 */
#include "shell/step/layout.h"

/* State of one layout. */
struct deal {
    const struct layout_request *req;
    uint32_t *rank;   /* [ntasks] the result */
    uint32_t *count;  /* [nranks] tasks of each rank */
    uint32_t *active; /* [nranks] space for a list of ranks */
    uint32_t n;       /* tasks dealt */
};

/* Most tasks on a rank; shared: tasks may share cores. */
static uint32_t most (const struct layout_request *req, uint32_t rank, bool shared)
{
    uint32_t n = shared ? UINT32_MAX : req->room[rank];

    return req->per_rank > 0 ? MIN (n, req->per_rank) : n;
}

static const char *plural (uint32_t n)
{
    return n == 1 ? "" : "s";
}

static int check_room (const struct layout_request *req, struct error *err)
{
    unsigned long long total = 0, cores = 0;

    for (uint32_t rank = 0; rank < req->nranks; rank++) {
        total += most (req, rank, req->overcommit);
        cores += req->room[rank];
    }
    if (total >= req->ntasks)
        return 0;
    if (req->overcommit || cores >= req->ntasks)
        return error_set (err, ENOSPC,
                          "%u task%s need room on %u node%s, there is room for %llu "
                          "with at most %u a node",
                          req->ntasks, plural (req->ntasks), req->nranks,
                          plural (req->nranks), total, req->per_rank);
    return error_set (err, ENOSPC,
                      "%u task%s need room on %u node%s, there is room for %llu; ask for "
                      "fewer tasks or cores a task, or for --overcommit",
                      req->ntasks, plural (req->ntasks), req->nranks,
                      plural (req->nranks), total);
}

/* -- block, cyclic, plane -- */

/* Deals one task to each rank in turn, until all are dealt or no rank can take one. */
static void deal_in_turn (struct deal *d, bool shared)
{
    uint32_t n = d->req->nranks;

    for (uint32_t rank = 0; rank < n; rank++)
        d->active[rank] = rank;
    while (n > 0 && d->n < d->req->ntasks) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n && d->n < d->req->ntasks; i++) {
            uint32_t rank = d->active[i];
            if (d->count[rank] >= most (d->req, rank, shared))
                continue;
            d->rank[d->n++] = rank;
            d->count[rank]++;
            d->active[kept++] = rank;
        }
        n = kept;
    }
}

/* Deals one task to each rank, then fills rank by rank. */
static void deal_packed (struct deal *d)
{
    for (uint32_t rank = 0; rank < d->req->nranks && d->n < d->req->ntasks; rank++) {
        d->count[rank] = MIN (most (d->req, rank, false), 1);
        d->n += d->count[rank];
    }
    for (uint32_t rank = 0; rank < d->req->nranks; rank++) {
        uint32_t more =
            MIN (most (d->req, rank, false) - d->count[rank], d->req->ntasks - d->n);
        d->count[rank] += more;
        d->n += more;
    }
}

/* Assigns consecutive tasks to the ranks, by their counts. */
static void number_block (struct deal *d)
{
    uint32_t task = 0;

    for (uint32_t rank = 0; rank < d->req->nranks; rank++)
        for (uint32_t i = 0; i < d->count[rank]; i++)
            d->rank[task++] = rank;
}

/* Assigns blocks of the plane's size in turn; uses up the counts, and counts again. */
static void number_plane (struct deal *d)
{
    uint32_t n = d->req->nranks, task = 0;

    for (uint32_t rank = 0; rank < n; rank++)
        d->active[rank] = rank;
    while (task < d->req->ntasks) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t rank = d->active[i];
            uint32_t block = MIN (d->req->plane, d->count[rank]);
            d->count[rank] -= block;
            while (block-- > 0)
                d->rank[task++] = rank;
            if (d->count[rank] > 0)
                d->active[kept++] = rank;
        }
        n = kept;
    }
    for (task = 0; task < d->req->ntasks; task++)
        d->count[d->rank[task]]++;
}

static int deal_by_room (struct deal *d, enum layout_kind kind, struct error *err)
{
    int rc = check_room (d->req, err);

    if (rc < 0)
        return rc;
    if (d->req->pack && kind == LAYOUT_BLOCK)
        deal_packed (d);
    else
        deal_in_turn (d, false);
    if (d->req->overcommit)
        deal_in_turn (d, true);
    if (kind == LAYOUT_BLOCK)
        number_block (d);
    else if (kind == LAYOUT_PLANE)
        number_plane (d);
    return 0;
}

/* -- arbitrary and task maps -- */

/* Uses the given rank of each task, if the rank has room. */
static int deal_as_told (struct deal *d, const uint32_t *ranks, struct error *err)
{
    const struct layout_request *req = d->req;

    for (uint32_t task = 0; task < req->ntasks; task++) {
        uint32_t rank = ranks[task];
        if (rank >= req->nranks)
            return error_set (err, EINVAL, "task %u: node %u, nodes are 0 to %u", task,
                              rank, req->nranks - 1);
        if (d->count[rank] >= most (req, rank, req->overcommit))
            return error_set (err, ENOSPC,
                              "task %u needs room on node %u, which has room for %u",
                              task, rank, d->count[rank]);
        d->count[rank]++;
        d->rank[task] = rank;
    }
    return 0;
}

static int deal_by_map (struct deal *d, struct error *err)
{
    autofree uint32_t *ranks = NULL;
    uint32_t ntasks;
    int rc = taskmap_decode (d->req->taskmap, d->req->nranks, &ranks, &ntasks, err);

    if (rc < 0)
        return rc;
    if (ntasks != d->req->ntasks)
        return error_set (err, EINVAL, "taskmap: it has %u task%s, the step %u", ntasks,
                          plural (ntasks), d->req->ntasks);
    return deal_as_told (d, ranks, err);
}

/* -- all -- */

static int check_request (const struct layout_request *req, struct error *err)
{
    if (req->nranks == 0 || req->nranks > TASKMAP_RANKS_MAX)
        return error_set (err, EINVAL, "%u nodes: from 1 to %u are possible", req->nranks,
                          TASKMAP_RANKS_MAX);
    if (req->ntasks == 0 || req->ntasks > TASKMAP_TASKS_MAX)
        return error_set (err, EINVAL, "%u tasks: from 1 to %u are possible", req->ntasks,
                          TASKMAP_TASKS_MAX);
    if (req->kind == LAYOUT_PLANE && req->plane == 0)
        return error_set (err, EINVAL, "a plane of 0 tasks: it has at least 1");
    return 0;
}

static int deal_tasks (struct deal *d, struct error *err)
{
    const struct layout_request *req = d->req;

    switch (req->kind) {
    case LAYOUT_ARBITRARY:
        return deal_as_told (d, req->arbitrary, err);
    case LAYOUT_MAP:
        return deal_by_map (d, err);
    case LAYOUT_DEFAULT:
        return deal_by_room (d, req->ntasks > req->nranks ? LAYOUT_BLOCK : LAYOUT_CYCLIC,
                             err);
    case LAYOUT_BLOCK:
    case LAYOUT_CYCLIC:
    case LAYOUT_PLANE:
        break;
    }
    return deal_by_room (d, req->kind, err);
}

int layout_make (const struct layout_request *req, struct layout *l, struct error *err)
{
    int rc = check_request (req, err);

    if (rc < 0)
        return rc;
    autofree uint32_t *rank = malloc (req->ntasks * sizeof (*rank));
    autofree uint32_t *count = calloc (req->nranks, sizeof (*count));
    autofree uint32_t *active = malloc (req->nranks * sizeof (*active));
    struct deal d = { .req = req, .rank = rank, .count = count, .active = active };

    if (!rank || !count || !active)
        return error_errno (err, ENOMEM, "the layout of %u tasks", req->ntasks);
    if ((rc = deal_tasks (&d, err)) < 0)
        return rc;
    *l = (struct layout){ .ntasks = req->ntasks, .rank = rank, .count = count };
    rank = count = NULL;
    return 0;
}

void layout_release (struct layout *l)
{
    free (l->rank);
    free (l->count);
    *l = (struct layout){ 0 };
}

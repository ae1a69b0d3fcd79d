/* growth.c - see growth.h */
#include "sched/growth.h"

#include <math.h>

#include "common/thousandths.h"

#define WINDOWS_MAX 256

struct kind {
    int *nodes;        /* their indexes in the model */
    uint32_t possible; /* number of these nodes */
    /* the first ones of these, requested for a planned job; they are up */
    uint32_t asked;
    double delay;
};

struct growth {
    struct machine *machine;
    struct matcher *m;
    struct kind kinds[GROWTH_KINDS_MAX];
    size_t nkinds;
};

/* -- the model -- */

static int add_existing (struct growth *x, const struct machine_node_info *n,
                         bool as_it_is)
{
    struct machine_node_spec spec = { .name = n->name,
                                      .places = n->places,
                                      .cores = n->cores,
                                      .gpus = n->gpus,
                                      .memory_mib = n->memory_mib,
                                      .gres = n->gres,
                                      .properties = n->properties };
    int index = machine_node_add (x->machine, &spec, NULL);

    if (index < 0 || !as_it_is)
        return index;
    int rc =
        machine_node_set_foreign (x->machine, index, n->cores_foreign, n->gpus_foreign,
                                  n->memory_foreign, n->gres_foreign);
    return rc < 0 ? rc : machine_node_set_state (x->machine, index, n->state, NULL);
}

static int add_all_existing (struct growth *x, const struct machine *g, bool as_it_is)
{
    struct machine_node_info n;
    int rc = 0;

    for (int i = machine_node_next (g, -1); i >= 0 && rc >= 0;
         i = machine_node_next (g, i)) {
        if (machine_node_info (g, i, &n) == 0 && !n.leaving)
            rc = add_existing (x, &n, as_it_is);
    }
    return rc < 0 ? rc : 0;
}

/* No node of a cluster has a name with "_". */
static int add_possible (struct growth *x, size_t number, const struct growth_kind *from,
                         bool as_it_is)
{
    struct kind *kind = &x->kinds[number];
    struct machine_node_spec spec = *from->node;
    char name[64];

    kind->delay = from->delay;
    if (!(kind->nodes =
              calloc (MIN (from->possible, GROWTH_NODES_MAX) + 1, sizeof (int))))
        return -ENOMEM;
    spec.name = name;
    while (kind->possible < MIN (from->possible, GROWTH_NODES_MAX)) {
        snprintf (name, sizeof (name), "possible_%zu_%u", number, kind->possible);
        int index = machine_node_add (x->machine, &spec, NULL);
        if (index < 0)
            return index;
        if (as_it_is
            && machine_node_set_state (x->machine, index, MACHINE_NODE_DOWN, NULL) < 0)
            return -ENOMEM;
        kind->nodes[kind->possible++] = index;
    }
    return 0;
}

static int copy_windows (struct growth *x, const struct matcher *m, double now)
{
    struct match_window list[WINDOWS_MAX];
    size_t n = match_windows_between (m, now, INFINITY, list, WINDOWS_MAX);
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct hostlist *nodes = hostlist_decode (list[i].nodes, HOSTLIST_MAX, NULL);
        rc = nodes ? match_window_book (x->m, MATCH_WINDOW_FIRST + i, NULL, nodes,
                                        list[i].start, list[i].end)
                   : -ENOMEM;
        hostlist_destroy (nodes);
    }
    return rc;
}

/* Blocks the nodes until the time at which they can be there. */
static int close_until_there (struct growth *x, size_t number, double now)
{
    const struct kind *k = &x->kinds[number];
    struct machine_node_info n;
    struct hostlist *nodes = hostlist_create ();
    int rc = nodes ? 0 : -ENOMEM;

    for (uint32_t i = 0; i < k->possible && rc == 0; i++)
        if (machine_node_info (x->machine, k->nodes[i], &n) < 0
            || hostlist_append (nodes, n.name) < 0)
            rc = -ENOMEM;
    if (rc == 0 && k->possible > 0 && k->delay > 0)
        rc = match_window_book (x->m, MATCH_WINDOW_FIRST + WINDOWS_MAX + number, NULL,
                                nodes, now, now + k->delay);
    hostlist_destroy (nodes);
    return rc;
}

/* A machine like g, without nodes. */
static struct machine *machine_like (const struct machine *g)
{
    struct machine *x = machine_create (machine_name (g));

    if (x && machine_divides_cpus (g))
        machine_divide_cpus (x);
    return x;
}

struct growth *growth_create (const struct machine *g, const struct matcher *m,
                              const struct match_policy *policy,
                              const struct growth_kind *kinds, size_t nkinds,
                              bool as_it_is, double now)
{
    struct growth *x = calloc (1, sizeof (*x));
    int rc = 0;

    if (!x)
        return NULL;
    if (!(x->machine = machine_like (g)) || !(x->m = matcher_create (x->machine, policy))
        || add_all_existing (x, g, as_it_is) < 0)
        rc = -ENOMEM;
    for (size_t i = 0; i < nkinds && i < GROWTH_KINDS_MAX && rc == 0; i++) {
        x->nkinds++;
        rc = add_possible (x, i, &kinds[i], as_it_is);
        if (rc == 0 && as_it_is)
            rc = close_until_there (x, i, now);
    }
    if (rc == 0 && as_it_is)
        rc = copy_windows (x, m, now);
    if (rc == 0)
        return x;
    growth_destroy (x);
    return NULL;
}

void growth_destroy (struct growth *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->nkinds; i++)
        free (x->kinds[i].nodes);
    matcher_destroy (x->m);
    machine_destroy (x->machine);
    free (x);
}

int growth_run (struct growth *x, uint64_t id, const struct rset *r)
{
    int rc = match_update (x->m, id, r, NULL);

    return rc == -ENOMEM ? rc : 0;
}

int growth_run_again (struct growth *x, uint64_t id, const struct rset *r)
{
    match_cancel (x->m, id);
    return growth_run (x, id, r);
}

bool growth_fits (struct growth *x, const struct growth_job *job, double now)
{
    struct rset *r = NULL;
    int rc = match_without_allocating (x->m, job->req, now, job->duration, &r, NULL);

    rset_destroy (r);
    return rc == 0;
}

int growth_could_run (struct growth *x, const struct match_request *req,
                      struct error *why)
{
    return match_satisfiability (x->m, req, why);
}

/* -- a job -- */

/* Sets so many nodes of that kind up, in addition to those requested before. */
static int set_up (struct growth *x, struct kind *k, uint32_t *count, uint32_t to)
{
    uint32_t low = k->asked + MIN (*count, to), high = k->asked + MAX (*count, to);
    enum machine_node_state state = to > *count ? MACHINE_NODE_UP : MACHINE_NODE_DOWN;
    int rc = 0;

    for (uint32_t i = low; i < high && rc == 0; i++)
        rc = machine_node_set_state (x->machine, k->nodes[i], state, NULL);
    *count = to;
    return rc;
}

static int set_up_all (struct growth *x, uint32_t *counts, bool up)
{
    int rc = 0;

    for (size_t i = 0; i < x->nkinds && rc == 0; i++) {
        struct kind *k = &x->kinds[i];
        rc = set_up (x, k, &counts[i], up ? k->possible - k->asked : 0);
    }
    return rc;
}

/* *start: INFINITY if there is no such time. *ret (may be NULL): the resources of the job
 * then. */
static int find_start (struct growth *x, const struct growth_job *job, double now,
                       double *start, struct rset **ret)
{
    int rc = match_earliest (x->m, job->req, now, job->duration, start, ret, NULL);

    if (rc < 0)
        *start = INFINITY;
    return rc == -ENOMEM ? rc : 0;
}

/* Finds the least number of this kind, up to *count, with which the job starts by
 * then. */
static int find_least (struct growth *x, const struct growth_job *job, double now,
                       double by, struct kind *k, uint32_t *count)
{
    uint32_t low = 0, high = *count;
    double start;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set_up (x, k, count, middle) < 0
            || find_start (x, job, now, &start, NULL) < 0)
            return -ENOMEM;
        if (start <= by)
            high = middle;
        else
            low = middle + 1;
    }
    return set_up (x, k, count, high);
}

/* Counts the nodes of each kind that the job lacks to start then; saves the last kinds
 * first. */
static int count_lacking (struct growth *x, const struct growth_job *job, double now,
                          double by, uint32_t *counts)
{
    int rc = 0;

    for (size_t i = x->nkinds; i-- > 0 && rc == 0;)
        rc = find_least (x, job, now, by, &x->kinds[i], &counts[i]);
    return rc;
}

/* Returns the time at which the last of these nodes would be there. */
static double all_there (const struct growth *x, const uint32_t *counts, double now)
{
    double delay = 0;

    for (size_t i = 0; i < x->nkinds; i++)
        if (counts[i] > 0)
            delay = fmax (delay, x->kinds[i].delay);
    return now + delay;
}

static bool is_new (const struct kind *k, uint32_t count, int index)
{
    for (uint32_t i = k->asked; i < k->asked + count; i++)
        if (k->nodes[i] == index)
            return true;
    return false;
}

static void measure (const struct kind *k, uint32_t count, const struct rset *r,
                     struct growth_need *need)
{
    for (size_t i = 0; i < r->nranks; i++) {
        const struct rset_rank *rank = &r->ranks[i];

        if (!is_new (k, count, rank->node_index))
            continue;
        need->cores =
            MAX (need->cores, (uint32_t)milli_whole (rset_rank_cpu_milli (rank)));
        need->gpus = MAX (need->gpus, idset_count (rank->gpus));
        need->memory_mib = MAX (need->memory_mib, rank->memory_mib);
    }
}

/* Requests the nodes that the job uses in r, its future resources; they belong to it from
 * now on. */
static int ask (struct growth *x, const struct growth_job *job, const struct rset *r,
                const uint32_t *counts, struct growth_need *needs)
{
    int n = 0;

    for (size_t i = 0; i < x->nkinds; i++) {
        struct kind *k = &x->kinds[i];
        if (counts[i] == 0)
            continue;
        needs[n] = (struct growth_need){ .job = job->id, .kind = i, .nodes = counts[i] };
        measure (k, counts[i], r, &needs[n++]);
        k->asked += counts[i];
    }
    return n;
}

/* Gives the job its future place in the model. */
static int settle (struct growth *x, const struct growth_job *job, double now)
{
    struct rset *r = NULL;
    double start;
    int rc = match_reserve (x->m, job->id, job->req, now, job->duration, &start, NULL);

    if (rc == -EAGAIN)
        rc = match_allocate (x->m, job->id, job->req, now, job->duration, &r, NULL);
    rset_destroy (r);
    return rc == -ENOMEM ? rc : 0;
}

/* With all nodes up the job would start at `by`: is that worthwhile, and with how few
 * nodes? */
static int lacking (struct growth *x, const struct growth_job *job, double now, double by,
                    uint32_t *counts, struct growth_need *needs)
{
    struct rset *r = NULL;
    double start;
    int n = 0;

    if (count_lacking (x, job, now, by, counts) < 0)
        return -ENOMEM;
    if (by > all_there (x, counts, now)) /* the job waits for other jobs as well */
        return set_up_all (x, counts, false);
    if (find_start (x, job, now, &start, &r) < 0)
        return -ENOMEM;
    if (r)
        n = ask (x, job, r, counts, needs);
    rset_destroy (r);
    return n;
}

int growth_plan (struct growth *x, const struct growth_job *job, double now,
                 struct growth_need *needs, bool *ret_waits)
{
    uint32_t counts[GROWTH_KINDS_MAX] = { 0 };
    double without, with;
    int n = 0;

    if (find_start (x, job, now, &without, NULL) < 0)
        return -ENOMEM;
    *ret_waits = without > now;
    if (*ret_waits) {
        if (set_up_all (x, counts, true) < 0 || find_start (x, job, now, &with, NULL) < 0)
            return -ENOMEM;
        n = with < without ? lacking (x, job, now, with, counts, needs)
                           : set_up_all (x, counts, false);
    }
    if (n >= 0 && settle (x, job, now) < 0)
        n = -ENOMEM;
    return n;
}

/* match.c - the planner (planner.h) for jobs: seconds, R, and one size for all nodes
 *
 * A walk sizes elastic counts node by node, as they fit there. The tasks of a job are
 * alike, so here each elastic count gets one size for the whole job: first the outermost,
 * with all others at their least, then each of the others in turn, by bisection.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "match/machine/match_private.h"
#include "match/planner/bookings.h"
#include "match/planner/levels.h"
#include "match/request/constraint.h"
#include "match/search/search.h"
#include "match/search/walk.h"

#define TICKS 1e6 /* per second */
#define SECONDS_MAX 1e12
#define NO_LIMIT (365 * 86400.0) /* seconds: plan of a job without a limit */

struct matcher *matcher_create (struct machine *g, const struct match_policy *policy)
{
    const struct planner_options opt = { .any_depth = true };
    struct matcher *m = calloc (1, sizeof (*m));

    if (!m || !(m->p = planner_create (g->graph, policy, &opt))) {
        free (m);
        return NULL;
    }
    m->g = g;
    g->planner = m->p;
    return m;
}

void matcher_destroy (struct matcher *m)
{
    if (!m)
        return;
    struct match_request *req, *next;
    HASH_ITER (hh, m->requests, req, next) {
        HASH_DELETE (hh, m->requests, req);
        req->all = NULL;
    }
    while (m->windows)
        match_window_forget (m, match_window_first (m));
    m->g->planner = NULL;
    planner_destroy (m->p);
    for (size_t i = 0; i < MATCH_VERDICTS; i++)
        free (m->verdicts[i].never);
    free (m);
}

void matcher_set_policy (struct matcher *m, const struct match_policy *policy)
{
    planner_set_policy (m->p, policy);
}

static bool same_groups (const struct shape_groups *a, const struct shape_groups *b)
{
    return a->spread == b->spread && a->most == b->most && a->segment == b->segment
           && a->apart == b->apart && !strcmp (a->level, b->level);
}

struct match_request *match_request_share (struct matcher *m, struct match_request *req)
{
    struct match_request *known;

    m->of_parts = m->of_parts || req->of_parts;
    HASH_FIND (hh, m->requests, &req->key, sizeof (req->key), known);
    if (!known) {
        HASH_ADD (hh, m->requests, key, sizeof (req->key), req);
        req->all = req->hh.tbl ? &m->requests : NULL;
        return req;
    }
    if (known == req || known->shape->node_memory != req->shape->node_memory
        || known->spread.tasks != req->spread.tasks
        || !same_groups (&known->shape->groups, &req->shape->groups)
        || !shape_equal (known->shape, req->shape))
        return req;
    match_request_destroy (req);
    known->refs++;
    return known;
}

bool match_has (const struct matcher *m, uint64_t job)
{
    const struct booking *b = booking_find (m->p, job);

    return b && !b->reserved;
}

uint64_t match_generation (const struct matcher *m)
{
    return planner_generation (m->p) - m->g->lost;
}

/* Cores need CPU thousandths, too. */
static bool no_cpu_is_free (const struct matcher *m)
{
    int type = graph_type_find (m->g->graph, GRES_CPU_MILLI);
    bool none = planner_free (m->p, GRAPH_CORE) == 0;

    if (type < 0)
        return none;
    return (none && !m->of_parts) || planner_free (m->p, (uint16_t)type) == 0;
}

bool match_nothing_free (const struct matcher *m)
{
    levels_update (m->p); /* makes the sums available; otherwise they are counted */
    return no_cpu_is_free (m) && planner_free (m->p, GRAPH_GPU) == 0;
}

/* -- times -- */

int64_t match_ticks (double seconds)
{
    return (int64_t)ceil (MIN (MAX (seconds, 0), SECONDS_MAX) * TICKS);
}

int64_t match_ticks_of_duration (double seconds)
{
    return MAX (match_ticks (seconds <= 0 ? NO_LIMIT : MIN (seconds, NO_LIMIT)), 1);
}

double match_seconds (int64_t ticks)
{
    return (double)ticks / TICKS;
}

static double microseconds (double t)
{
    return round (t * 1e6) / 1e6;
}

/* -- sizes -- */

static bool is_elastic (const struct shape_vertex *v)
{
    return shape_count_fit (v, v->count.max) > shape_count_least (v);
}

static void set_size (struct shape_vertex *v, int64_t size)
{
    v->count = (struct jobspec_count){ size, size, '+', 1 };
    v->sizes = NULL;
}

/* True if a count inside another one is elastic. */
static bool is_elastic_inside (const struct shape *s)
{
    for (size_t i = 0; s->elastic && i < s->nv; i++)
        if (s->v[i].parent != SHAPE_NONE && is_elastic (&s->v[i]))
            return true;
    return false;
}

static int sized_shape (const struct shape *s, bool most, struct shape *ret)
{
    size_t bytes = s->nv * sizeof (*s->v);

    *ret = *s;
    ret->v = malloc (bytes);
    if (!ret->v)
        return -ENOMEM;
    memcpy (ret->v, s->v, bytes);
    for (size_t i = 0; i < s->nv; i++)
        set_size (&ret->v[i], most ? shape_count_fit (&s->v[i], s->v[i].count.max)
                                   : shape_count_least (&s->v[i]));
    cpus_follow (ret);
    return 0;
}

bool match_request_is_elastic (const struct match_request *req)
{
    return req->shape->elastic;
}

bool match_request_has_largest (const struct match_request *req)
{
    for (size_t i = 0; i < req->shape->nv; i++)
        if (is_elastic (&req->shape->v[i])
            && req->shape->v[i].count.max == JOBSPEC_COUNT_MAX)
            return false;
    return true;
}

struct sizing {
    struct planner *p;
    const struct window *w;
    const struct shape *asked;
    struct shape sized; /* copy of `asked` with narrower counts; owns its vertices */
    struct selection *s;
    struct walk_miss miss;
};

/* Sets all counts to their least, except the outermost ones if `outermost`. */
static int sizing_start (struct sizing *z, bool outermost)
{
    int rc = sized_shape (z->asked, false, &z->sized);

    for (size_t i = 0; i < z->asked->nv && rc == 0 && outermost; i++)
        if (z->asked->v[i].parent == SHAPE_NONE)
            z->sized.v[i] = z->asked->v[i];
    return rc;
}

static void sizing_end (struct sizing *z)
{
    selection_destroy (z->s);
    free (z->sized.v);
}

static int sizing_try (struct sizing *z)
{
    selection_destroy (z->s);
    return walk (z->p, &z->sized, z->w, &z->s, &z->miss);
}

/* Finds the largest size of vertex i that still fits. */
static int sizing_grow (struct sizing *z, size_t i)
{
    const struct shape_vertex *v = &z->asked->v[i];
    int64_t best = shape_count_least (v), low = best, high = v->count.max;
    int rc = 0;

    while (low < high && rc != -ENOMEM) {
        int64_t middle = low + (high - low + 1) / 2;
        int64_t size = shape_count_fit (v, middle);
        if (size <= best) {
            low = middle;
            continue;
        }
        set_size (&z->sized.v[i], size);
        cpus_follow (&z->sized);
        if ((rc = sizing_try (z)) == 0)
            low = best = size;
        else
            high = size - 1;
    }
    set_size (&z->sized.v[i], best);
    cpus_follow (&z->sized);
    return rc == -ENOMEM ? rc : 0;
}

/* Finds sizes that fit in the window: 0, -EBUSY, -ENOMEM. */
static int sizing_find (struct sizing *z)
{
    int rc = sizing_start (z, true);

    if (rc == 0)
        rc = sizing_try (z);
    if (rc < 0)
        return rc;
    struct shape_vertex *top = &z->sized.v[z->sized.top];
    if (is_elastic (top))
        set_size (top, z->s->granted);
    for (size_t i = 0; i < z->sized.nv && rc == 0; i++)
        if (z->asked->v[i].parent != SHAPE_NONE && is_elastic (&z->asked->v[i])
            && !z->asked->v[i].follows)
            rc = sizing_grow (z, i);
    return rc;
}

/* -- allocate -- */

static int place_sized (struct matcher *m, enum search_op op, uint64_t job,
                        const struct shape *s, int64_t at, int64_t length,
                        struct selection **ret, struct error *why)
{
    struct window w = { .at = at, .now = true };
    struct sizing z = { .p = m->p, .w = &w, .asked = s };

    w.end = length > INT64_MAX - at ? INT64_MAX : at + length;
    int rc = sizing_find (&z);
    if (rc == 0)
        rc = search_match (m->p, op, job, &z.sized, at, length, ret, why);
    else if (rc == -EBUSY)
        search_why (m->p, s, &z.miss, false, why);
    else
        error_no_memory (why, NULL);
    sizing_end (&z);
    return rc;
}

static int place_shape (struct matcher *m, enum search_op op, uint64_t job,
                        const struct shape *s, int64_t at, int64_t length,
                        struct selection **ret, struct error *why)
{
    return is_elastic_inside (s) ? place_sized (m, op, job, s, at, length, ret, why)
                                 : search_match (m->p, op, job, s, at, length, ret, why);
}

/* Tries the runs from the most nodes on. */
static int place_spread (struct matcher *m, enum search_op op, uint64_t job,
                         const struct match_request *req, int64_t at, int64_t length,
                         struct selection **ret, struct error *why)
{
    struct spread_run run;
    struct shape s;
    int64_t limit = INT64_MAX;
    int rc = -EBUSY;

    while (rc == -EBUSY && spread_next (req, &limit, &run)) {
        if (spread_shape (req, &run, &s) < 0)
            return error_no_memory (why, NULL);
        rc = place_shape (m, op, job, &s, at, length, ret, why);
        free (s.v);
    }
    return rc;
}

static int find_place (struct matcher *m, enum search_op op, uint64_t job,
                       const struct match_request *req, double now, double duration,
                       struct rset **ret, struct error *why)
{
    int64_t at = match_ticks (now), length = match_ticks_of_duration (duration);
    autoselection struct selection *s = NULL;
    int rc = req->spread.tasks > 0
                 ? place_spread (m, op, job, req, at, length, &s, why)
                 : place_shape (m, op, job, req->shape, at, length, &s, why);

    if (rc == -EBUSY && match_satisfiability (m, req, NULL) == -ENOENT)
        return match_satisfiability (m, req, why);
    if (rc < 0)
        return rc;
    if (!(*ret = rset_of_selection (m->g, s, req->shape))) {
        if (op == SEARCH_ALLOCATE)
            planner_cancel (m->p, job);
        return error_no_memory (why, NULL);
    }
    (*ret)->starttime = microseconds (now);
    (*ret)->expiration = duration > 0 ? microseconds (now + duration) : 0;
    return 0;
}

int match_without_allocating (struct matcher *m, const struct match_request *req,
                              double now, double duration, struct rset **ret,
                              struct error *why)
{
    return find_place (m, SEARCH_WITHOUT_ALLOCATING, 0, req, now, duration, ret, why);
}

/* Counts the job on the node with that index. */
static void book (struct matcher *m, uint64_t job, int index,
                  const struct rset_rank *rank)
{
    struct machine_amounts given = rset_rank_amounts (rank);
    struct machine_node *n = machine_node_at (m->g, index);

    zones_book (m->g, n, job, &given);
    if (rank->exclusive)
        machine_book (m->g, n, &given, &rank->gres);
    else if (given.cores > 0 || given.gpus > 0 || given.memory > 0 || rank->gres.n > 0)
        machine_book (m->g, n, NULL, NULL);
}

static int refuse_again (uint64_t job, struct error *why)
{
    return error_set (why, EEXIST, "job %llu has resources already",
                      (unsigned long long)job);
}

int match_allocate (struct matcher *m, uint64_t job, const struct match_request *req,
                    double now, double duration, struct rset **ret, struct error *why)
{
    if (booking_find (m->p, job))
        return refuse_again (job, why);
    int rc = find_place (m, SEARCH_ALLOCATE, job, req, now, duration, ret, why);
    for (size_t i = 0; rc == 0 && i < (*ret)->nranks; i++)
        book (m, job, (*ret)->ranks[i].node_index, &(*ret)->ranks[i]);
    return rc;
}

int match_allocate_largest (struct matcher *m, uint64_t job,
                            const struct match_request *req, double now, double duration,
                            struct rset **ret, struct error *why)
{
    struct match_request largest = *req;
    struct shape most;

    if (match_sized_shape (m, req, true, &most) < 0)
        return error_no_memory (why, NULL);
    largest.spread.tasks = 0;
    most.elastic = false;
    largest.shape = &most;
    largest.key = ~req->key; /* a different key for the stored verdicts */
    int rc = match_allocate (m, job, &largest, now, duration, ret, why);
    free (most.v);
    return rc == -ENOENT ? -EBUSY : rc; /* too large now, but a smaller size may fit */
}

/* -- satisfiability -- */

static bool allows_some (const struct constraint *c, const void *arg)
{
    const struct machine *g = arg;

    for (size_t i = 0; i < g->size; i++)
        if (g->nodes[i] && !g->nodes[i]->leaving
            && constraint_allows_vertex (c, g->graph, g->nodes[i]->v, 0))
            return true;
    return false;
}

static int say_none_allowed (const struct machine *g, const struct constraint *c,
                             struct error *why)
{
    autostrbuf struct strbuf term = STRBUF_INIT (256);

    constraint_add_why (c, allows_some, g, &term);
    return error_set (why, ENOENT, "its constraints allow none of the %zu nodes%s",
                      g->count, term.err ? "" : term.buf);
}

/* True if the reason is that there are no nodes for the request. */
static bool say_no_nodes (const struct machine *g, const struct shape *s,
                          struct error *why)
{
    if (g->count == 0)
        return error_set (why, ENOENT, "the machine has no nodes");
    if (!s->constraint || allows_some (s->constraint, g))
        return false;
    return say_none_allowed (g, s->constraint, why);
}

static int ask_ever (struct matcher *m, const struct shape *s, struct error *why)
{
    const struct window w = { .at = INT64_MAX, .end = INT64_MAX, .ever = true };
    struct sizing z = { .p = m->p, .w = &w, .asked = s };
    int rc = sizing_start (&z, false);

    if (rc == 0)
        rc = sizing_try (&z);
    sizing_end (&z);
    if (rc == -EBUSY && !say_no_nodes (m->g, s, why))
        search_why (m->p, s, &z.miss, true, why);
    return rc;
}

/* *least (may be NULL): the last run, with the fewest nodes, that the machine could ever
 * serve; unchanged if there is none. 0, -EBUSY, -ENOMEM. */
static int ask_ever_spread (struct matcher *m, const struct match_request *req,
                            struct spread_run *least, struct error *why)
{
    struct spread_run run;
    struct shape s;
    int64_t limit = INT64_MAX;
    int found = -EBUSY, rc = -EBUSY;

    while (rc != -ENOMEM && (least || rc != 0) && spread_next (req, &limit, &run)) {
        if (spread_shape (req, &run, &s) < 0)
            return -ENOMEM;
        rc = ask_ever (m, &s, why);
        free (s.v);
        if (rc == 0 && least)
            *least = run;
        if (rc == 0)
            found = 0;
    }
    return rc == -ENOMEM ? rc : found;
}

int match_sized_shape (struct matcher *m, const struct match_request *req, bool most,
                       struct shape *ret)
{
    struct spread_run run;
    struct shape s;
    int64_t limit = INT64_MAX;

    if (req->spread.tasks == 0 || !spread_next (req, &limit, &run))
        return sized_shape (req->shape, most, ret);
    if ((!most && ask_ever_spread (m, req, &run, NULL) == -ENOMEM)
        || spread_shape (req, &run, &s) < 0)
        return -ENOMEM;
    int rc = sized_shape (&s, most, ret);
    free (s.v);
    return rc;
}

int match_satisfiability (struct matcher *m, const struct match_request *req,
                          struct error *why)
{
    struct verdict *v = &m->verdicts[req->key & (MATCH_VERDICTS - 1)];
    if (v->layout == m->g->layout && v->key == req->key)
        return v->never ? error_set (why, ENOENT, "%s", v->never) : 0;
    struct error text = { 0 };
    int rc = req->spread.tasks > 0 ? ask_ever_spread (m, req, NULL, &text)
                                   : ask_ever (m, req->shape, &text);
    char *never = rc == -EBUSY ? strdup (text.text) : NULL;
    if (rc == -ENOMEM || (rc < 0 && !never))
        return error_no_memory (why, NULL);
    free (v->never);
    *v = (struct verdict){ req->key, m->g->layout, never };
    return never ? error_set (why, ENOENT, "%s", never) : 0;
}

/* -- update and cancel -- */

int match_update (struct matcher *m, uint64_t job, const struct rset *r,
                  struct error *why)
{
    autoselection struct selection *s = NULL;

    if (booking_find (m->p, job))
        return refuse_again (job, why);
    int rc = rset_to_selection (m->g, r, &s, why);
    if (rc < 0)
        return rc;
    s->start = match_ticks (r->starttime);
    s->end = r->expiration > 0 ? MAX (match_ticks (r->expiration), s->start + 1)
                               : s->start + match_ticks_of_duration (0);
    rc = planner_update (m->p, job, s, false, why);
    for (size_t i = 0; rc == 0 && i < r->nranks; i++)
        book (m, job, machine_node_find (m->g, r->ranks[i].node), &r->ranks[i]);
    return rc;
}

/* Returns the nodes on which the booking has something, as a list. */
static struct machine_node *nodes_of (const struct matcher *m, const struct booking *b)
{
    struct machine_node *list = NULL;

    CLAIMS_OF_JOB (m->p, b, c) /* the claims of a node are consecutive */
    {
        struct machine_node *n = machine_node_of (m->g, m->p->claims[c].v);
        if (!n || n == list)
            continue;
        n->next = list;
        list = n;
    }
    return list;
}

int match_cancel (struct matcher *m, uint64_t job)
{
    const struct booking *b = booking_find (m->p, job);

    if (!b)
        return -ENOENT;
    if (job >= MATCH_WINDOW_FIRST)
        match_window_forget (m, job);
    struct machine_node *next, *list = nodes_of (m, b);
    bool reserved = b->reserved;
    planner_cancel (m->p, job);
    for (; list; list = next) {
        next = list->next;
        zones_unbook (list, job);
        if (reserved)
            machine_tidy (m->g, list);
        else
            machine_unbook (m->g, list);
    }
    return 0;
}

/* Replaces the reason by one that names the window, as the planner knows only the numbers
 * of windows. */
static void name_window (struct matcher *m, uint64_t job, const struct planner_job *had,
                         double end, struct error *why)
{
    struct machine_node *n = nodes_of (m, booking_find (m->p, job));
    struct error named = { 0 };
    uint64_t by = 0;

    for (; n && by < MATCH_WINDOW_FIRST; n = n->next) {
        match_window_check (m, n->name, match_seconds (had->end), end, 0, &by, &named);
        if (by < MATCH_WINDOW_FIRST) /* the window may be behind a job's reservation */
            match_window_check (m, n->name, end - 1 / TICKS, end, 0, &by, &named);
    }
    if (by >= MATCH_WINDOW_FIRST && why)
        *why = named;
}

int match_extend (struct matcher *m, uint64_t job, double end, struct error *why)
{
    struct planner_job had;

    if (!planner_find (m->p, job, &had) || had.reserved)
        return error_set (why, ENOENT, "job %llu has no resources",
                          (unsigned long long)job);
    int64_t at = end > 0 ? match_ticks (end) : had.start + match_ticks_of_duration (0);
    at = MAX (at, had.start + 1);
    int rc = planner_extend (m->p, job, at, why);
    if (rc == -EBUSY)
        name_window (m, job, &had, match_seconds (at), why);
    return rc;
}

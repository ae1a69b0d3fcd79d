/* nodegroups.c - nodes that an autoscaler could make
 *
 *     executor: groups() --> what could be made
 *         |                      |
 *         |        at submit: could a job run on the machine and these?
 *         |                      |
 *         |        after a pass, once a second at most: the first jobs of the queue on a
 *         |        model of the machine and these (sched/growth.h) --> missing nodes
 *         |                      |
 *         +-- needs() <----------+
 *
 * The executor asks the autoscaler for the nodes. They become nodes of the machine when
 * they exist, so no job is placed on a node that does not. The needs are listed again
 * each time, and sent as a whole.
 */
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/depend/array.h"
#include "broker/services/nodes/nodegroups.h"

#include <utlist.h>

#include "common/clock.h"
#include "common/parse.h"
#include "sched/growth.h"

#define EVERY_SECONDS 1.0 /* a model costs O(nodes) */
#define DEPTH 16          /* of the queue; later jobs ask when their turn comes */

struct nodegroups {
    const struct exec_group *list; /* the executor's */
    size_t n;
    struct growth *empty; /* model for satisfiability, or NULL; made for: */
    uint64_t layout;
    struct exec_need needs[DEPTH * EXEC_GROUPS_MAX];
    size_t nneeds;
    double looked;             /* clock_mono(), 0: never */
    bool told;                 /* a list of needs was sent */
    struct broker_timer timer; /* looks for jobs that lack nodes */
};

static struct service_place place;
SERVICE_STATE_OF (struct nodegroups)

static void release (struct broker *b)
{
    growth_destroy (state_of (b)->empty);
}

static void pass_ends (struct broker *b);

static void host_groups (void *arg, const struct exec_group *list, size_t n)
{
    struct broker *b = arg;
    struct nodegroups *x = state_of (b);

    if (broker_is_dead (b))
        return;
    x->list = list;
    x->n = MIN (n, EXEC_GROUPS_MAX);
    growth_destroy (x->empty);
    x->empty = NULL;
    pass_ends (b);
}

static void host_init (struct broker *b, struct exec_host *host)
{
    (void)b;
    host->groups = host_groups;
}

/* -- models -- */

static struct growth *model (const struct broker *b, bool as_it_is)
{
    const struct nodegroups *x = state_of (b);
    struct growth_kind kinds[EXEC_GROUPS_MAX];

    for (size_t i = 0; i < x->n; i++)
        kinds[i] = (struct growth_kind){ &x->list[i].node, x->list[i].possible,
                                         x->list[i].delay };
    return growth_create (broker_graph (b), broker_matcher (b),
                          broker_config (b)->match_policy, kinds, x->n, as_it_is,
                          clock_wall ());
}

static bool any_possible (const struct nodegroups *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->list[i].possible > 0)
            return true;
    return false;
}

int nodegroups_could_run (struct broker *b, const struct match_request *req,
                          struct error *err)
{
    struct nodegroups *x = state_of (b);
    int rc = match_satisfiability (broker_matcher (b), req, err);

    if (rc != -ENOENT || !any_possible (x))
        return rc;
    if (!x->empty || x->layout != match_layout (broker_matcher (b))) {
        growth_destroy (x->empty);
        x->empty = model (b, false);
        x->layout = match_layout (broker_matcher (b));
    }
    if (!x->empty)
        return error_set (err, ENOMEM, "out of memory");
    rc = growth_could_run (x->empty, req, err);
    if (rc == -ENOENT)
        error_prefix (err, "even with all nodes that could be made");
    return rc;
}

static int book_running (struct broker *b, struct growth *g)
{
    struct entry *e;
    int rc = 0;

    entries_each (ENTRIES_ACTIVE, b, e) {
        if (entry_alloc (e) && (rc = growth_run (g, entry_id (e), entry_alloc (e))) < 0)
            break;
    }
    return rc;
}

static void take_needs (struct nodegroups *x, const struct growth_need *needs, int n)
{
    for (int i = 0; i < n; i++)
        x->needs[x->nneeds++] = (struct exec_need){ .job = needs[i].job,
                                                    .group = needs[i].kind,
                                                    .nodes = needs[i].nodes,
                                                    .cores = needs[i].cores,
                                                    .gpus = needs[i].gpus,
                                                    .memory_mib = needs[i].memory_mib };
}

/* Plans the first jobs of the queue, in order; x: gets what they lack, or NULL. */
static int plan_front (struct broker *b, struct growth *g, struct nodegroups *x)
{
    const struct sched_entry *front[DEPTH];
    size_t n = sched_front (broker_sched (b), front, DEPTH);
    struct growth_need needs[GROWTH_KINDS_MAX];
    bool waits = false;
    int rc = book_running (b, g);

    for (size_t i = 0; i < n && rc >= 0; i++) {
        struct growth_job job = { front[i]->id, front[i]->req, front[i]->duration };
        if (waits && !sched_may_pass (broker_sched (b), front[i]))
            continue;
        rc = growth_plan (g, &job, clock_wall (), needs, &waits);
        if (x)
            take_needs (x, needs, rc);
        waits = waits && rc == 0;
    }
    return MIN (rc, 0);
}

/* -- jobs that lack nodes -- */

static void look (struct broker *b)
{
    struct nodegroups *x = state_of (b);
    const struct sched_entry *first;
    bool some = any_possible (x) && sched_front (broker_sched (b), &first, 1) > 0;
    struct growth *g = some ? model (b, true) : NULL;

    x->looked = clock_mono ();
    if (!some && x->nneeds == 0 && x->told)
        return;
    x->nneeds = 0;
    if (some && (!g || plan_front (b, g, x) < 0)) {
        log_error ("node groups: out of memory");
        growth_destroy (g);
        return;
    }
    growth_destroy (g);
    x->told = true;
    broker_ops (b)->needs (broker_exec (b), x->needs, x->nneeds);
}

static void pass_ends (struct broker *b)
{
    struct nodegroups *x = state_of (b);

    if (x->n == 0 || !broker_ops (b)->needs || broker_is_recovering (b)
        || x->timer.is_set)
        return;
    double wait = x->looked + EVERY_SECONDS - clock_mono ();
    broker_timer_set (&x->timer, x->looked > 0 ? MAX (wait, 0) : 0);
}

/* -- in words -- */

static const struct exec_need *find_need (const struct nodegroups *x, uint64_t job)
{
    for (size_t i = 0; i < x->nneeds; i++)
        if (x->needs[i].job == job)
            return &x->needs[i];
    return NULL;
}

static bool is_of (const struct nodegroups *x, const struct exec_need *need, uint64_t job)
{
    return need < x->needs + x->nneeds && need->job == job && need->group < x->n;
}

static void add_nodes (struct strbuf *sb, uint32_t nodes, const char *group)
{
    strbuf_addf (sb, "%u node%s of group %s", nodes, nodes == 1 ? "" : "s", group);
}

static void add_need (struct strbuf *sb, const struct nodegroups *x,
                      const struct exec_need *need, const struct exec_need_state *state)
{
    strbuf_adds (sb, sb->len == 0 ? "waits for " : "; and for ");
    add_nodes (sb, need->nodes, x->list[need->group].name);
    strbuf_adds (sb, " to be made (");
    strbuf_adds (sb, state->asked > 0 ? "asked for at " : "nobody is asked for them");
    if (state->asked > 0)
        strbuf_add_time (sb, state->asked);
    strbuf_adds (sb, ")");
    if (state->text[0])
        strbuf_addf (sb, ": %s", state->text);
}

bool nodegroups_add_reason (struct broker *b, const struct entry *e, struct strbuf *sb)
{
    const struct nodegroups *x = state_of (b);
    uint64_t job = array_queued_id (e);
    const struct exec_need *need = find_need (x, job);
    struct exec_need_state state;

    for (; need && is_of (x, need, job); need++) {
        broker_ops (b)->need_state (broker_exec (b), job, need->group, &state);
        add_need (sb, x, need, &state);
    }
    double start = nodegroups_not_before (b, e);
    if (start > 0) {
        strbuf_adds (sb, "; not before ");
        strbuf_add_time (sb, start);
    }
    return start > 0;
}

double nodegroups_not_before (struct broker *b, const struct entry *e)
{
    const struct nodegroups *x = state_of (b);
    uint64_t job = array_queued_id (e);
    const struct exec_need *need = find_need (x, job);
    double now = clock_wall (), start = 0;
    struct exec_need_state state;

    for (; need && is_of (x, need, job); need++) {
        broker_ops (b)->need_state (broker_exec (b), job, need->group, &state);
        double from = state.asked > 0 ? state.asked : now;
        start = MAX (start, MAX (now, from + x->list[need->group].delay));
    }
    return start;
}

void nodegroups_foresee (struct broker *b, const struct entry *e,
                         const struct match_request *req, struct error *why)
{
    const struct nodegroups *x = state_of (b);
    struct growth *g = any_possible (x) ? model (b, true) : NULL;
    struct growth_job job = { UINT64_C (1) << 61, req, entry_jobspec (e)->duration };
    struct growth_need needs[GROWTH_KINDS_MAX];
    autostrbuf struct strbuf sb = STRBUF_INIT (sizeof (why->text));
    double delay = 0;
    bool waits;
    int n = g && plan_front (b, g, NULL) == 0
                ? growth_plan (g, &job, clock_wall (), needs, &waits)
                : 0;

    for (int i = 0; i < n; i++) {
        strbuf_adds (&sb, i == 0 ? "needs " : " and ");
        add_nodes (&sb, needs[i].nodes, x->list[needs[i].kind].name);
        delay = MAX (delay, x->list[needs[i].kind].delay);
    }
    growth_destroy (g);
    if (n <= 0)
        return;
    strbuf_adds (&sb, " that would have to be made: not before ");
    strbuf_add_time (&sb, clock_wall () + delay);
    snprintf (why->text, sizeof (why->text), "%s", sb.buf);
}

const struct broker_service service_nodegroups = {
    .name = "nodegroups",
    .place = &place,
    .state_size = sizeof (struct nodegroups),
    .timer = offsetof (struct nodegroups, timer),
    .on_timer = look,
    .release = release,
    .host = host_init,
    .pass_ends = pass_ends,
};

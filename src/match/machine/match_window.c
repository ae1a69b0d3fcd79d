/* match_window.c - windows: whole nodes that no job gets for a time
 *
 * A window is one booking in the planner, reserved from start to end, of the vertices of
 * its nodes. Its name and other data are in a list, sorted by start.
 */
#include <math.h>
#include <utlist.h>

#include "common/parse.h"
#include "match/machine/match_private.h"
#include "match/planner/claims.h"
#include "match/request/constraint.h"

struct window_of {
    uint64_t id;
    char *name, *nodes;
    size_t nnodes;
    double start, end;
    struct window_of *prev, *next;
};

static struct window_of *find (const struct matcher *m, uint64_t id)
{
    struct window_of *w;

    DL_SEARCH_SCALAR (m->windows, w, id, id);
    return w;
}

static void destroy (struct window_of *w)
{
    if (!w)
        return;
    free (w->name);
    free (w->nodes);
    free (w);
}

uint64_t match_window_first (const struct matcher *m)
{
    return m->windows ? m->windows->id : 0;
}

void match_window_forget (struct matcher *m, uint64_t id)
{
    struct window_of *w = find (m, id);

    if (w)
        DL_DELETE (m->windows, w);
    destroy (w);
}

/* -- jobs in the way of a window -- */

/* If running jobs must be gone already, the window is now; otherwise their limits
 * count. */
static struct window window_of_time (double start, double end, double now)
{
    return (struct window){ .at = match_ticks (start),
                            .end = match_ticks (end),
                            .now = start <= now };
}

static const struct booking *in_way (const struct matcher *m, uint32_t v,
                                     const struct window *w)
{
    uint32_t c = claims_below (m->p, v, w, GRAPH_NONE);

    return c == GRAPH_NONE ? NULL : claims_booking (m->p, &m->p->claims[c]);
}

static int refuse_window (const struct window_of *w, const char *node, struct error *why)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (128);

    strbuf_adds (&sb, "from ");
    strbuf_add_time (&sb, w->start);
    strbuf_adds (&sb, " to ");
    strbuf_add_time (&sb, w->end);
    return error_set (why, EBUSY, "%s is reserved for %s %s", node,
                      w->name ? w->name : "something else", sb.buf);
}

static int refuse_job (const struct booking *b, const char *node, struct error *why)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64);

    strbuf_add_time (&sb, match_seconds (b->end));
    return error_set (why, EBUSY, "job %llu %s %s, maybe until %s",
                      (unsigned long long)b->job,
                      b->reserved ? "is planned on" : "runs on", node, sb.buf);
}

int match_window_check (const struct matcher *m, const char *node, double start,
                        double end, double now, uint64_t *ret_job, struct error *why)
{
    const struct machine_node *n = machine_node_at (m->g, machine_node_find (m->g, node));
    struct window w = window_of_time (start, end, now);
    const struct booking *b = n ? in_way (m, n->v, &w) : NULL;
    const struct window_of *other = b ? find (m, b->job) : NULL;

    if (!n)
        return error_set (why, ENOENT, "no node is named %s; fluxq-info lists them",
                          node);
    if (ret_job)
        *ret_job = b ? b->job : 0;
    if (!b)
        return 0;
    return other ? refuse_window (other, node, why) : refuse_job (b, node, why);
}

int match_window_choose (const struct matcher *m, size_t n, double start, double end,
                         double now, struct hostlist *ret, struct error *why)
{
    struct window w = window_of_time (start, end, now);
    size_t found = 0;
    autofree size_t *chosen = calloc (n + 1, sizeof (*chosen));
    int rc = chosen ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < m->g->size && found < n; i++) {
        const struct machine_node *node = m->g->nodes[i];
        if (node && !node->leaving && node->state == MACHINE_NODE_UP
            && !in_way (m, node->v, &w))
            chosen[found++] = i;
    }
    if (rc == 0 && found < n)
        return error_set (why, EBUSY, "%zu nodes are requested, %zu of %zu are free then",
                          n, found, m->g->count);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = hostlist_append (ret, m->g->nodes[chosen[i]]->name);
    return rc < 0 ? error_set (why, ENOMEM, "out of memory") : 0;
}

/* -- booking -- */

static struct window_of *create (uint64_t id, const char *name,
                                 const struct hostlist *present, double start, double end)
{
    struct window_of *w = calloc (1, sizeof (*w));

    if (!w || (name && !(w->name = strdup (name)))
        || !(w->nodes = hostlist_encode (present))) {
        destroy (w);
        return NULL;
    }
    w->id = id;
    w->nnodes = hostlist_count (present);
    w->start = start;
    w->end = end;
    return w;
}

/* Selects the existing nodes, as claims and by name. A leaving node gets no jobs anyway,
 * and goes when its jobs do. */
static int select_nodes (const struct matcher *m, const struct hostlist *nodes,
                         struct selection *s, struct hostlist *present)
{
    for (size_t i = 0; i < hostlist_count (nodes); i++) {
        const char *name = hostlist_nth (nodes, i);
        const struct machine_node *n =
            machine_node_at (m->g, machine_node_find (m->g, name));
        if (!n || n->leaving)
            continue;
        struct pick *p = selection_add (s, m->g->graph, n->v, 0, 1, GRAPH_NONE);
        if (!p || hostlist_append (present, name) < 0)
            return -ENOMEM;
        p->exclusive = p->claimed = true;
    }
    return selection_complete (s, m->g->graph);
}

static int by_start (const struct window_of *a, const struct window_of *b)
{
    return a->start < b->start ? -1 : a->start > b->start;
}

int match_window_book (struct matcher *m, uint64_t id, const char *name,
                       const struct hostlist *nodes, double start, double end)
{
    autoselection struct selection *s = selection_create ();
    struct hostlist *present = hostlist_create ();
    struct window_of *w = NULL;
    int rc = s && present ? select_nodes (m, nodes, s, present) : -ENOMEM;

    if (rc == 0 && !(w = create (id, name, present, start, end)))
        rc = -ENOMEM;
    if (rc == 0) {
        s->start = match_ticks (start);
        s->end = MAX (match_ticks (end), s->start + 1);
        rc = planner_reserve_over (m->p, id, s, NULL);
    }
    if (rc == 0)
        DL_INSERT_INORDER (m->windows, w, by_start);
    else
        destroy (w);
    hostlist_destroy (present);
    return rc;
}

/* -- queries for reasons -- */

size_t match_windows_between (const struct matcher *m, double from, double until,
                              struct match_window *list, size_t room)
{
    struct window_of *w;
    size_t n = 0;

    DL_FOREACH (m->windows, w) {
        if (!w->name || w->nnodes == 0 || w->start >= until || w->end <= from)
            continue;
        if (n == room)
            break;
        list[n++] = (struct match_window){ .id = w->id,
                                           .name = w->name,
                                           .nodes = w->nodes,
                                           .nnodes = w->nnodes,
                                           .start = w->start,
                                           .end = w->end };
    }
    return n;
}

size_t match_drained (const struct matcher *m, const struct match_request *req,
                      struct match_drained *list, size_t room)
{
    const struct machine_node *node;
    size_t n = 0;

    for (node = m->g->drained; node && n < room; node = node->drained_next)
        if (!node->leaving
            && constraint_allows_vertex (req->shape->constraint, m->g->graph, node->v, 0))
            list[n++] = (struct match_drained){ node->name, node->reason };
    return n;
}

double match_window_next (const struct matcher *m, double t)
{
    struct window_of *w;

    DL_FOREACH (m->windows, w) {
        if (w->start > t)
            return w->start;
    }
    return INFINITY;
}

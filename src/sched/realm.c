/* realm.c - see realm.h */
#include "sched/realm.h"

#define BEFORE MATCH_WINDOW_FIRST
#define AFTER (MATCH_WINDOW_FIRST + 1)
#define LONG_AFTER (20 * 365 * 86400.0) /* no request is for a later time */

struct realm {
    struct hostlist *nodes;
    double start, end;
    bool open, begun;
    struct machine *machine;
    struct matcher *matcher;
    struct sched *sched;
};

struct realm *realm_create (const struct hostlist *nodes, double start, double end,
                            const struct match_policy *match,
                            const struct queue_policy *queue, unsigned depth)
{
    struct realm *x = calloc (1, sizeof (*x));
    int rc = 0;

    if (!x)
        return NULL;
    x->start = start;
    x->end = end;
    if (!(x->nodes = hostlist_create ()) || !(x->machine = machine_create ("reservation"))
        || !(x->matcher = matcher_create (x->machine, match))
        || !(x->sched = sched_create (x->matcher, queue, depth)))
        rc = -ENOMEM;
    for (size_t i = 0; rc == 0 && i < hostlist_count (nodes); i++)
        rc = hostlist_append (x->nodes, hostlist_nth (nodes, i));
    if (rc == 0)
        return x;
    realm_destroy (x);
    return NULL;
}

void realm_destroy (struct realm *x)
{
    if (!x)
        return;
    sched_destroy (x->sched);
    matcher_destroy (x->matcher);
    machine_destroy (x->machine);
    hostlist_destroy (x->nodes);
    free (x);
}

struct sched *realm_sched (struct realm *x)
{
    return x->sched;
}

struct matcher *realm_matcher (struct realm *x)
{
    return x->matcher;
}

const struct machine *realm_machine (const struct realm *x)
{
    return x->machine;
}

int realm_queue_set (struct realm *x, unsigned queue, bool started)
{
    return sched_queue_set (x->sched, queue, started);
}

/* -- windows: all but its time -- */

static void unbook (struct realm *x)
{
    if (!x->open)
        return;
    sched_unplan (x->sched);
    match_cancel (x->matcher, BEFORE);
    match_cancel (x->matcher, AFTER);
}

static int book (struct realm *x)
{
    int rc = 0;

    if (x->open && !x->begun)
        rc = match_window_book (x->matcher, BEFORE, NULL, x->nodes, 0, x->start);
    return rc < 0 || !x->open ? rc
                              : match_window_book (x->matcher, AFTER, NULL, x->nodes,
                                                   x->end, x->end + LONG_AFTER);
}

/* -- nodes -- */

/* Adding or removing a node renews the bookings that cover all nodes. */
static int add (struct realm *x, const struct machine_node_spec *spec)
{
    unbook (x);
    int index = machine_node_add (x->machine, spec, NULL);
    int rc = book (x);
    return rc < 0 ? rc : index;
}

static int drop (struct realm *x, int index)
{
    unbook (x);
    machine_node_remove (x->machine, index); /* the node goes when its jobs are gone */
    return book (x);
}

static bool same_node (const struct machine_node_info *a,
                       const struct machine_node_info *b)
{
    const char *const *x = a->properties, *const *y = b->properties;

    while (*x && *y && !strcmp (*x, *y)) {
        x++;
        y++;
    }
    return !*x && !*y && machine_places_equal (a->places, b->places)
           && a->cores == b->cores && a->gpus == b->gpus && a->memory_mib == b->memory_mib
           && gres_equal (a->gres, b->gres);
}

/* Copies the differences of a node. A change of its size changes the plan. */
static int take_over (struct realm *x, int index, const struct machine_node_info *n)
{
    struct machine_node_spec spec = { .name = n->name,
                                      .places = n->places,
                                      .cores = n->cores,
                                      .gpus = n->gpus,
                                      .memory_mib = n->memory_mib,
                                      .gres = n->gres,
                                      .properties = n->properties };
    struct machine_node_info here;

    if (machine_node_info (x->machine, index, &here) < 0 || here.leaving)
        return add (x, &spec);
    return same_node (n, &here) ? index : machine_node_update (x->machine, &spec, NULL);
}

static int set_foreign (struct realm *x, int index, const struct machine_node_info *n)
{
    struct machine_node_info here;

    machine_node_info (x->machine, index, &here);
    if (n->cores_foreign == here.cores_foreign && n->gpus_foreign == here.gpus_foreign
        && n->memory_foreign == here.memory_foreign
        && gres_equal (n->gres_foreign, here.gres_foreign))
        return 0;
    return machine_node_set_foreign (x->machine, index, n->cores_foreign, n->gpus_foreign,
                                     n->memory_foreign, n->gres_foreign);
}

static int mirror (struct realm *x, const struct machine *whole, const char *name)
{
    int there = machine_node_find (whole, name);
    int here = machine_node_find (x->machine, name);
    struct machine_node_info n;

    if (machine_node_info (whole, there, &n) < 0 || n.leaving)
        return here >= 0 ? drop (x, here) : 0;
    if ((here = take_over (x, here, &n)) < 0)
        return here;
    if (x->begun && n.njobs > 0 && n.state == MACHINE_NODE_UP)
        machine_node_set_state (x->machine, here, MACHINE_NODE_DOWN,
                                "a job that started before the reservation still runs "
                                "there");
    else
        machine_node_set_state (x->machine, here, n.state, n.reason);
    return set_foreign (x, here, &n);
}

int realm_mirror (struct realm *x, const struct machine *whole, const char *name)
{
    bool some_gone = machine_node_count (x->machine) < hostlist_count (x->nodes);
    bool ours = machine_node_find (x->machine, name) >= 0
                || (x->open && some_gone && hostlist_find (x->nodes, name) >= 0);

    return ours ? mirror (x, whole, name) : 0;
}

static int mirror_all (struct realm *x, const struct machine *whole)
{
    int rc = 0;

    for (size_t i = 0; i < hostlist_count (x->nodes) && rc >= 0; i++)
        rc = mirror (x, whole, hostlist_nth (x->nodes, i));
    return MIN (rc, 0);
}

int realm_open (struct realm *x, const struct machine *whole)
{
    int rc = mirror_all (x, whole);

    if (rc < 0)
        return rc;
    x->open = true;
    return book (x);
}

void realm_begin (struct realm *x, const struct machine *whole)
{
    if (x->begun)
        return;
    x->begun = true;
    match_cancel (x->matcher, BEFORE);
    mirror_all (x, whole);
}

void realm_rename (struct rset *r, const struct machine *whole)
{
    for (size_t i = 0; i < r->nranks; i++)
        r->ranks[i].node_index = machine_node_find (whole, r->ranks[i].node);
}

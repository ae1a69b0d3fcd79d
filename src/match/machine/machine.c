/* machine.c - adds, changes and removes nodes, in the list and in the graph */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/gputype.h"
#include "match/machine/machine_private.h"

#define CORES_MAX 65536
#define GPUS_MAX 1024
#define NODES_MAX (1 << 24)
#define NAME_MAX_LEN 253
#define PROPERTIES_MAX 512 /* each becomes up to two of the graph's */

static const char *const state_names[] = {
    [MACHINE_NODE_UP] = "up",
    [MACHINE_NODE_DRAINED] = "drained",
    [MACHINE_NODE_DOWN] = "down",
};

const char *machine_node_state_name (enum machine_node_state state)
{
    return (size_t)state < ARRAY_SIZE (state_names) ? state_names[state] : "unknown";
}

/* -- strings -- */

static void strings_free (char **list)
{
    for (char **p = list; p && *p; p++)
        free (*p);
    free (list);
}

static size_t strings_count (const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static char **strings_copy (const char *const *list)
{
    size_t n = strings_count (list);
    char **copy = calloc (n + 1, sizeof (*copy));
    for (size_t i = 0; copy && i < n; i++) {
        if (!(copy[i] = strdup (list[i]))) {
            strings_free (copy);
            return NULL;
        }
    }
    return copy;
}

/* Properties as the graph has them: each name with the value "", and KEY=VALUE also as
 * KEY with that value. */
struct pairs {
    const char **list; /* key, value, ..., NULL */
    char **keys;       /* keys cut from KEY=VALUE */
};

static int pairs_make (const char *const *names, struct pairs *ret)
{
    size_t n = strings_count (names), keys = 0, at = 0;
    ret->list = calloc (4 * n + 1, sizeof (*ret->list));
    ret->keys = calloc (n + 1, sizeof (*ret->keys));
    for (size_t i = 0; ret->list && ret->keys && i < n; i++) {
        const char *equals = strchr (names[i], '=');
        ret->list[at++] = names[i];
        ret->list[at++] = "";
        if (!equals || equals == names[i])
            continue;
        size_t len = (size_t)(equals - names[i]);
        if (!(ret->keys[keys] = strndup (names[i], len)))
            return -ENOMEM;
        ret->list[at++] = ret->keys[keys++];
        ret->list[at++] = equals + 1;
    }
    return ret->list && ret->keys ? 0 : -ENOMEM;
}

static void pairs_release (struct pairs *p)
{
    free (p->list);
    strings_free (p->keys);
}

/* -- nodes -- */

static void node_destroy (struct machine_node *n)
{
    if (!n)
        return;
    free (n->name);
    free (n->reason);
    strings_free (n->properties);
    free (n->gpu_type);
    for (size_t i = 0; i < n->npools; i++)
        free (n->pools[i].name);
    free (n->pools);
    gres_release (&n->gres);
    gres_release (&n->gres_foreign);
    gres_release (&n->gres_taken);
    zones_destroy (n);
    free (n);
}

struct machine_node *machine_node_of (const struct machine *g, uint32_t v)
{
    v = graph_node_of (g->graph, v);
    return v == GRAPH_NONE ? NULL : machine_node_at (g, graph_vertex (g->graph, v)->rank);
}

static int gres_check (const struct machine_node_spec *spec, struct error *err)
{
    const struct gres_list *l = spec->gres;

    if (l && l->n > GRES_LIST_MAX + GRES_RESERVED)
        return error_set (err, EINVAL, "node %s: more than %d generic resources",
                          spec->name, GRES_LIST_MAX);
    for (size_t i = 0; l && i < l->n; i++)
        if (!gres_is_reserved (l->v[i].name)
            && (!gres_name_is_valid (l->v[i].name) || l->v[i].count > GRES_COUNT_MAX))
            return error_set (err, EINVAL, "node %s: '%.80s' is not a generic resource",
                              spec->name, l->v[i].name);
    return 0;
}

static int spec_check (const struct machine_node_spec *spec, struct error *err)
{
    size_t len = spec->name ? strlen (spec->name) : 0;
    if (len == 0 || len > NAME_MAX_LEN)
        return error_set (err, EINVAL, "node: a name has 1 to %d characters",
                          NAME_MAX_LEN);
    if (spec->cores > CORES_MAX)
        return error_set (err, EINVAL, "node %s: %u cores are more than %d", spec->name,
                          spec->cores, CORES_MAX);
    if (spec->gpus > GPUS_MAX)
        return error_set (err, EINVAL, "node %s: %u gpus are more than %d", spec->name,
                          spec->gpus, GPUS_MAX);
    if (spec->memory_mib < 0 || spec->memory_mib > GRAPH_SIZE_MAX)
        return error_set (err, EINVAL, "node %s: %lld MiB of memory cannot be",
                          spec->name, (long long)spec->memory_mib);
    if (strings_count (spec->properties) > PROPERTIES_MAX)
        return error_set (err, EINVAL, "node %s: more than %d properties", spec->name,
                          PROPERTIES_MAX);
    int rc = gres_check (spec, err);
    if (rc == 0)
        rc = zones_check (spec, err);
    return rc < 0 ? rc : places_check (spec, err);
}

/* Returns the lowest vacant index, and makes room for it. */
static int index_reserve (struct machine *g)
{
    while (g->vacant < g->size && g->nodes[g->vacant])
        g->vacant++;
    size_t i = g->vacant;
    if (i >= NODES_MAX)
        return -ENOMEM;
    if (array_reserve (&g->nodes, &g->alloc, i + 1, sizeof (struct machine_node *)) < 0)
        return -ENOMEM;
    return (int)i;
}

/* The properties and the names of the type of GPUs in one list, whose strings are
 * borrowed; *ret_names goes with it. NULL: no memory. */
static const char **with_gpu_type (const char *const *properties, const char *type,
                                   char ***ret_names)
{
    size_t n = strings_count (properties), extra = 0;
    const char **all;

    *ret_names = type ? gpu_type_names (type) : NULL;
    if (type && !*ret_names)
        return NULL;
    while (*ret_names && (*ret_names)[extra])
        extra++;
    if (!(all = calloc (n + extra + 1, sizeof (*all))))
        return NULL;
    for (size_t i = 0; i < n; i++)
        all[i] = properties[i];
    for (size_t i = 0; i < extra; i++)
        all[n + i] = (*ret_names)[i];
    return all;
}

static int set_properties (struct machine *g, struct machine_node *n,
                           const struct machine_node_spec *spec, struct error *err)
{
    struct error why = { ENOMEM, "out of memory" };
    struct pairs pairs = { NULL, NULL };
    char **names, **copy = strings_copy (spec->properties);
    const char **all = with_gpu_type (spec->properties, spec->gpu_type, &names);
    char *type = spec->gpu_type ? strdup (spec->gpu_type) : NULL;
    int rc = -ENOMEM;

    if (copy && all && (type || !spec->gpu_type) && pairs_make (all, &pairs) == 0)
        rc = graph_set_properties (g->graph, n->v, pairs.list, &why);
    pairs_release (&pairs);
    free (all);
    free (names);
    if (rc < 0) {
        strings_free (copy);
        free (type);
        return error_set (err, why.code, "node %s: %s", n->name, why.text);
    }
    strings_free (n->properties);
    free (n->gpu_type);
    n->properties = copy;
    n->gpu_type = type;
    machine_changed (g, n->v);
    return 0;
}

static int move_node (struct machine *g, struct machine_node *n,
                      const struct machine_place *places, struct error *err)
{
    struct place *to;
    struct error why = { 0 };

    if (place_get (g, places, &to) < 0)
        return error_set (err, ENOMEM, "node %s: out of memory", n->name);
    if (to == n->place)
        return 0;
    uint32_t parent = place_vertex (g, to, &why);
    int rc = parent == GRAPH_NONE ? -why.code : 0;
    machine_begin_change (g, n->v);
    if (rc == 0)
        rc = graph_move (g->graph, n->v, parent, &why);
    machine_end_change (g, n->v);
    if (rc < 0) {
        place_tidy (g, to);
        return error_set (err, why.code, "node %s: %s", n->name, why.text);
    }
    node_set_place (g, n, to);
    return 0;
}

/* Applies everything in spec except the name. */
static int node_configure (struct machine *g, struct machine_node *n,
                           const struct machine_node_spec *spec, struct error *err)
{
    struct machine_amounts size = { spec->cores, spec->gpus, spec->memory_mib };
    int rc = set_properties (g, n, spec, err);

    if (rc == 0)
        rc = move_node (g, n, spec->places, err);
    if (rc == 0 && (n->zones || spec->nzones > 0))
        rc = zones_resize (g, n, spec, err);
    else if (rc == 0)
        rc = node_resize (g, n, &size, err);
    if (rc == 0)
        rc = node_set_gres (g, n, spec->gres, err);
    if (rc == 0 && node_withhold (g, n) < 0)
        rc = error_set (err, ENOMEM, "node %s: out of memory", n->name);
    g->layout++;
    return rc;
}

/* Sets the graph's flags from the state. */
static int show_state (struct machine *g, const struct machine_node *n)
{
    const struct {
        uint8_t flag;
        bool on;
    } flags[] = { { GRAPH_DOWN, n->leaving || n->state == MACHINE_NODE_DOWN },
                  { GRAPH_DRAINED, n->state == MACHINE_NODE_DRAINED } };

    for (size_t i = 0; i < ARRAY_SIZE (flags); i++) {
        bool is = (graph_vertex (g->graph, n->v)->flags & flags[i].flag) != 0;
        if (is == flags[i].on)
            continue;
        int rc = graph_set_flag (g->graph, n->v, GRAPH_NONE, flags[i].flag, flags[i].on);
        if (rc < 0)
            return rc;
        machine_changed (g, n->v);
    }
    return 0;
}

static void set_state (struct machine *g, struct machine_node *n,
                       enum machine_node_state state)
{
    if (n->state == MACHINE_NODE_DRAINED)
        DL_DELETE2 (g->drained, n, drained_prev, drained_next);
    n->state = state;
    if (state == MACHINE_NODE_DRAINED)
        DL_APPEND2 (g->drained, n, drained_prev, drained_next);
}

/* Deletes a node on which nothing is booked. */
static int node_delete (struct machine *g, struct machine_node *n)
{
    machine_begin_change (g, n->v);
    int rc = graph_remove (g->graph, n->v, NULL);
    machine_end_change (g, rc < 0 ? n->v : GRAPH_NONE);
    if (rc < 0)
        return rc;
    node_set_place (g, n, NULL);
    set_state (g, n, MACHINE_NODE_DOWN);
    g->nodes[n->index] = NULL;
    g->vacant = MIN (g->vacant, (size_t)n->index);
    g->count--;
    g->layout++;
    node_destroy (n);
    return 0;
}

static int node_return (struct machine *g, struct machine_node *n,
                        const struct machine_node_spec *spec, struct error *err)
{
    int rc = node_configure (g, n, spec, err);
    if (rc < 0)
        return rc;
    graph_set_leaving (g->graph, n->v, false);
    machine_changed (g, n->v);
    n->leaving = false;
    set_state (g, n, MACHINE_NODE_UP);
    free (n->reason);
    n->reason = NULL;
    show_state (g, n);
    return n->index;
}

/* Adds the vertex of the node in its place; the caller configures the rest. */
static int node_enter (struct machine *g, struct machine_node *n,
                       const struct machine_place *places, struct error *err)
{
    struct place *place;
    struct error why = { ENOMEM, "out of memory" };
    struct graph_spec spec = {
        .type = "node", .name = n->name, .id = n->index, .rank = n->index, .uniq = -1
    };
    uint32_t parent =
        place_get (g, places, &place) < 0 ? GRAPH_NONE : place_vertex (g, place, &why);

    machine_begin_change (g, GRAPH_NONE);
    if (parent != GRAPH_NONE)
        n->v = graph_add (g->graph, parent, &spec, &why);
    machine_end_change (g, n->v);
    if (parent == GRAPH_NONE || n->v == GRAPH_NONE) {
        place_tidy (g, place);
        return error_set (err, why.code, "node %s: %s", n->name, why.text);
    }
    if ((size_t)n->index == g->size)
        g->size++;
    g->nodes[n->index] = n;
    g->count++;
    node_set_place (g, n, place);
    return 0;
}

int machine_node_add (struct machine *g, const struct machine_node_spec *spec,
                      struct error *err)
{
    int rc = spec_check (spec, err);
    if (rc < 0)
        return rc;
    int index = machine_node_find (g, spec->name);
    if (index >= 0)
        return g->nodes[index]->leaving
                   ? node_return (g, g->nodes[index], spec, err)
                   : error_set (err, EEXIST, "node %s is there already", spec->name);
    struct machine_node *n = calloc (1, sizeof (*n));
    if (!n || (index = index_reserve (g)) < 0 || !(n->name = strdup (spec->name))) {
        node_destroy (n);
        return error_set (err, ENOMEM, "node %s: out of memory", spec->name);
    }
    n->index = index;
    n->v = n->core = n->gpu = n->memory = GRAPH_NONE;
    if ((rc = node_enter (g, n, spec->places, err)) < 0) {
        node_destroy (n);
        return rc;
    }
    if ((rc = node_configure (g, n, spec, err)) < 0) {
        node_delete (g, n);
        return rc;
    }
    return index;
}

int machine_node_update (struct machine *g, const struct machine_node_spec *spec,
                         struct error *err)
{
    int rc = spec_check (spec, err);
    if (rc < 0)
        return rc;
    int index = machine_node_find (g, spec->name);
    if (index < 0)
        return error_set (err, ENOENT, "node %s is not known", spec->name);
    rc = node_configure (g, g->nodes[index], spec, err);
    return rc < 0 ? rc : index;
}

int machine_node_remove (struct machine *g, int index)
{
    struct machine_node *n = machine_node_at (g, index);
    if (!n)
        return -ENOENT;
    if (n->leaving || (n->njobs == 0 && node_delete (g, n) == 0))
        return 0;
    n->leaving = true;
    g->layout++;
    int rc = graph_set_leaving (g->graph, n->v, true);
    machine_changed (g, n->v);
    return rc;
}

int machine_node_set_state (struct machine *g, int index, enum machine_node_state state,
                            const char *reason)
{
    struct machine_node *n = machine_node_at (g, index);
    if (!n)
        return -ENOENT;
    char *copy = reason ? strdup (reason) : NULL;
    if (reason && !copy)
        return -ENOMEM;
    free (n->reason);
    n->reason = copy;
    set_state (g, n, state);
    return show_state (g, n);
}

int machine_node_set_foreign (struct machine *g, int index, uint32_t cores, uint32_t gpus,
                              int64_t memory_mib, const struct gres_list *gres)
{
    struct machine_node *n = machine_node_at (g, index);
    struct gres_list copy = { 0 };
    if (!n)
        return -ENOENT;
    if (gres && gres_copy (&copy, gres) < 0)
        return -ENOMEM;
    if (node_pool (n, GRES_CPU_MILLI) != GRAPH_NONE && cores > 0
        && gres_get (&copy, GRES_CPU_MILLI) == 0
        && gres_set (&copy, GRES_CPU_MILLI, CPU_MILLI * (int64_t)cores) < 0) {
        gres_release (&copy);
        return -ENOMEM;
    }
    gres_release (&n->gres_foreign);
    n->gres_foreign = copy;
    n->foreign = (struct machine_amounts){ cores, gpus, MAX (memory_mib, 0) };
    return node_withhold (g, n);
}

/* -- bookings -- */

void machine_book (struct machine *g, struct machine_node *n,
                   const struct machine_amounts *taken, const struct gres_list *gres)
{
    n->njobs++;
    n->exclusive = taken != NULL;
    if (taken)
        n->taken = *taken;
    gres_release (&n->gres_taken);
    if (taken && gres) /* without memory the amounts are only not shown */
        gres_copy (&n->gres_taken, gres);
    node_withhold (g, n); /* after a restart, withheld units may be booked */
}

void machine_unbook (struct machine *g, struct machine_node *n)
{
    n->njobs--;
    n->exclusive = false; /* if it was, this was the only booking */
    machine_tidy (g, n);
}

void machine_tidy (struct machine *g, struct machine_node *n)
{
    if (n->leaving && n->njobs == 0 && node_delete (g, n) == 0)
        return;
    node_tidy (g, n);
    zones_tidy (g, n);
    node_withhold (g, n);
}

/* -- the machine -- */

struct machine *machine_create (const char *cluster_name)
{
    struct graph_spec root = { .type = "cluster", .rank = -1, .uniq = -1 };
    struct machine *g = calloc (1, sizeof (*g));
    if (!g)
        return NULL;
    g->layout = 1;
    g->name = strdup (cluster_name);
    g->graph = graph_create ();
    if (!g->name || !g->graph
        || graph_add (g->graph, GRAPH_NONE, &root, NULL) == GRAPH_NONE) {
        machine_destroy (g);
        return NULL;
    }
    return g;
}

void machine_divide_cpus (struct machine *g)
{
    g->divides_cpus = true;
}

bool machine_divides_cpus (const struct machine *g)
{
    return g->divides_cpus;
}

void machine_destroy (struct machine *g)
{
    if (!g)
        return;
    places_destroy (g);
    for (size_t i = 0; i < g->size; i++)
        node_destroy (g->nodes[i]);
    free (g->nodes);
    graph_destroy (g->graph);
    free (g->name);
    free (g);
}

const char *machine_name (const struct machine *g)
{
    return g->name;
}

size_t machine_node_count (const struct machine *g)
{
    return g->count;
}

int machine_node_find (const struct machine *g, const char *name)
{
    uint32_t v = graph_find_node (g->graph, name);
    return v == GRAPH_NONE ? -ENOENT : graph_vertex (g->graph, v)->rank;
}

int machine_node_next (const struct machine *g, int after)
{
    for (size_t i = after < 0 ? 0 : (size_t)after + 1; i < g->size; i++) {
        if (g->nodes[i])
            return (int)i;
    }
    return -1;
}

static bool takes_jobs (const struct machine_node *n)
{
    return n->state == MACHINE_NODE_UP && !n->leaving && !n->exclusive;
}

/* Amounts of used and free CPUs, including parts of cores. */
static void info_of_cpus (const struct machine *g, const struct machine_node *n,
                          struct machine_node_info *ret)
{
    uint32_t pool = node_pool (n, GRES_CPU_MILLI);

    ret->cpu_milli_used = CPU_MILLI * (int64_t)ret->cores_used;
    ret->cpu_milli_foreign = CPU_MILLI * (int64_t)ret->cores_foreign;
    ret->cpu_milli_free = CPU_MILLI * (int64_t)ret->cores_free;
    if (gres_get (&n->gres_foreign, GRES_CPU_MILLI) > 0)
        ret->cpu_milli_foreign = gres_get (&n->gres_foreign, GRES_CPU_MILLI);
    if (pool == GRAPH_NONE)
        return;
    if (!n->exclusive)
        ret->cpu_milli_used = pool_used (g->graph, pool);
    if (takes_jobs (n))
        ret->cpu_milli_free = pool_free (g->graph, pool);
    ret->cores_free = (uint32_t)MIN (ret->cores_free, ret->cpu_milli_free / CPU_MILLI);
}

int machine_node_info (const struct machine *g, int index, struct machine_node_info *ret)
{
    static const struct machine_place no_places[] = { { NULL, NULL } };
    const struct machine_node *n = machine_node_at (g, index);
    if (!n)
        return -ENOENT;
    bool takes = takes_jobs (n);
    struct machine_amounts used = n->exclusive ? n->taken : node_used (g, n);
    struct machine_amounts free_now =
        takes ? node_left (g, n) : (struct machine_amounts){ 0 };
    *ret = (struct machine_node_info){
        .name = n->name,
        .places = n->place ? n->place->path : no_places,
        .reason = n->leaving ? "removed from the machine" : n->reason,
        .properties = (const char *const *)n->properties,
        .gpu_type = n->gpu_type,
        .state = n->leaving ? MACHINE_NODE_DOWN : n->state,
        .leaving = n->leaving,
        .cores = n->size.cores,
        .cores_used = used.cores,
        .cores_foreign = n->foreign.cores,
        .cores_free = free_now.cores,
        .gpus = n->size.gpus,
        .gpus_used = used.gpus,
        .gpus_foreign = n->foreign.gpus,
        .gpus_free = free_now.gpus,
        .memory_mib = n->size.memory,
        .memory_used = used.memory,
        .memory_foreign = n->foreign.memory,
        .memory_free = free_now.memory,
        .gres = &n->gres,
        .gres_foreign = &n->gres_foreign,
        .njobs = n->njobs,
        .exclusive = n->exclusive,
    };
    info_of_cpus (g, n, ret);
    return 0;
}

int machine_node_gres (const struct machine *g, int index, const char *name,
                       struct machine_gres_info *ret)
{
    const struct machine_node *n = machine_node_at (g, index);
    if (!n)
        return -ENOENT;
    uint32_t v = node_pool (n, name);
    *ret = (struct machine_gres_info){
        .count = gres_get (&n->gres, name),
        .used = n->exclusive ? gres_get (&n->gres_taken, name) : pool_used (g->graph, v),
        .foreign = v == GRAPH_NONE ? 0 : gres_get (&n->gres_foreign, name),
        .free = takes_jobs (n) ? pool_free (g->graph, v) : 0,
    };
    return 0;
}

#include <errno.h>
#include <string.h>

#include "match/machine_private.h"

#define CORES_MAX 65536
#define GPUS_MAX 1024
#define NODES_MAX (1 << 24)
#define NAME_MAX_LEN 253

static const char *const state_names[] = {
    [MACHINE_NODE_UP] = "up",
    [MACHINE_NODE_DRAINED] = "drained",
    [MACHINE_NODE_DOWN] = "down",
};

const char *machine_node_state_name (enum machine_node_state state)
{
    return (size_t)state < ARRAY_SIZE (state_names) ? state_names[state] : "unknown";
}

/* -- what a node has, and the summaries over it -- */

static bool node_takes_jobs (const struct machine_node *n)
{
    return n->state == MACHINE_NODE_UP && !n->leaving;
}

static int64_t left (int64_t all, int64_t used, int64_t foreign)
{
    return MAX (all - used - foreign, 0);
}

struct room machine_room_now (const struct machine_node *n)
{
    if (!node_takes_jobs (n) || n->exclusive)
        return (struct room){ -1, 0, 0 };
    return (struct room){
        .cores = left (n->cores, n->cores_used, n->cores_foreign),
        .gpus = left (n->gpus, n->gpus_used, n->gpus_foreign),
        .memory = left (n->memory, n->memory_used, n->memory_foreign),
    };
}

struct room machine_room_ever (const struct machine_node *n)
{
    if (n->leaving)
        return (struct room){ -1, 0, 0 };
    return (struct room){ n->cores, n->gpus, n->memory };
}

bool machine_node_has_property (const struct machine_node *n, const char *property)
{
    for (char **p = n->properties; *p; p++) {
        if (strcmp (*p, property) == 0)
            return true;
    }
    return false;
}

/* Add (sign 1) or take away (-1) a node's part of the totals; its leaf of the summary
 * is the record of what was added. */
static void totals_add (struct machine_totals *t, const struct summary_key *key, int sign)
{
    if (key->cores < 0)
        return;
    t->cores += sign * key->cores;
    t->gpus += sign * key->gpus;
    t->memory += sign * key->memory;
    t->idle += sign * (key->idle_cores >= 0);
}

/* Bring summaries up to date after a change of node i. */
static void node_changed (struct machine *g, size_t i)
{
    const struct machine_node *n = g->nodes[i];
    struct summary_key key = summary_nothing;
    struct room room = n ? machine_room_now (n) : (struct room){ -1, 0, 0 };
    if (room.cores >= 0) {
        key.cores = room.cores;
        key.gpus = room.gpus;
        key.memory = room.memory;
        key.idle_cores = n->njobs == 0 ? room.cores : -1;
    }
    totals_add (&g->totals, summary_get (g->summary, i), -1);
    totals_add (&g->totals, &key, 1);
    summary_set (g->summary, i, &key);
}

/* -- racks -- */

/* array, or where it is now that it has room for `need` elements; NULL: no memory,
 * array is as it was. */
static void *array_reserve (void *array, size_t *alloc, size_t need, size_t size)
{
    if (need <= *alloc)
        return array;
    size_t more = MAX (2 * *alloc, MAX (need, 16));
    void *p = realloc (array, more * size);
    if (p)
        *alloc = more;
    return p;
}

static struct machine_rack *rack_get (struct machine *g, const char *name)
{
    struct machine_rack *rack;
    HASH_FIND_STR (g->racks_by_name, name, rack);
    if (rack)
        return rack;
    struct machine_rack **racks = array_reserve (g->racks, &g->racks_alloc, g->nracks + 1,
                                                 sizeof (struct machine_rack *));
    if (!racks)
        return NULL;
    g->racks = racks;
    if (!(rack = calloc (1, sizeof (*rack))) || !(rack->name = strdup (name))) {
        free (rack);
        return NULL;
    }
    HASH_ADD_KEYPTR (hh, g->racks_by_name, rack->name, strlen (rack->name), rack);
    if (!rack->hh.tbl) {
        free (rack->name);
        free (rack);
        return NULL;
    }
    g->racks[g->nracks++] = rack;
    return rack;
}

static int rack_reserve (struct machine_rack *rack)
{
    if (!rack)
        return 0;
    uint32_t *nodes =
        array_reserve (rack->nodes, &rack->alloc, rack->nnodes + 1, sizeof (uint32_t));
    if (!nodes)
        return -ENOMEM;
    rack->nodes = nodes;
    return 0;
}

/* Room was reserved. */
static void rack_add (struct machine_rack *rack, uint32_t index)
{
    if (!rack)
        return;
    size_t i = rack->nnodes++;
    for (; i > 0 && rack->nodes[i - 1] > index; i--)
        rack->nodes[i] = rack->nodes[i - 1];
    rack->nodes[i] = index;
}

static void rack_remove (struct machine_rack *rack, uint32_t index)
{
    if (!rack)
        return;
    size_t i = 0;
    while (i < rack->nnodes && rack->nodes[i] != index)
        i++;
    if (i == rack->nnodes)
        return;
    memmove (&rack->nodes[i], &rack->nodes[i + 1],
             (rack->nnodes - i - 1) * sizeof (*rack->nodes));
    rack->nnodes--;
}

/* -- nodes -- */

static void strings_free (char **list)
{
    for (char **p = list; p && *p; p++)
        free (*p);
    free (list);
}

static char **strings_copy (const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    char **copy = calloc (n + 1, sizeof (*copy));
    for (size_t i = 0; copy && i < n; i++) {
        if (!(copy[i] = strdup (list[i]))) {
            strings_free (copy);
            return NULL;
        }
    }
    return copy;
}

static void node_free (struct machine_node *n)
{
    if (!n)
        return;
    free (n->name);
    free (n->reason);
    strings_free (n->properties);
    bitmap_destroy (n->core_map);
    bitmap_destroy (n->gpu_map);
    free (n);
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
    if (spec->memory_mib < 0)
        return error_set (err, EINVAL, "node %s: memory is negative", spec->name);
    return 0;
}

/* A map of at least `size` ids with old's members; NULL: no memory. */
static struct bitmap *map_grow (const struct bitmap *old, size_t size)
{
    size_t old_size = old ? bitmap_size (old) : 0;
    struct bitmap *map = bitmap_create (MAX (MAX (size, old_size), 1));
    if (!map || !old)
        return map;
    for (ssize_t i = bitmap_next (old, 0); i >= 0; i = bitmap_next (old, (size_t)i + 1))
        bitmap_set (map, (size_t)i);
    return map;
}

/* All of spec but the name; the node is unchanged on failure. */
static int node_configure (struct machine *g, struct machine_node *n, uint32_t index,
                           const struct machine_node_spec *spec, struct error *err)
{
    struct machine_rack *rack = NULL;
    if (spec->rack && !(rack = rack_get (g, spec->rack)))
        return error_set (err, ENOMEM, "out of memory");
    char **properties = strings_copy (spec->properties);
    struct bitmap *core_map = map_grow (n->core_map, spec->cores);
    struct bitmap *gpu_map = map_grow (n->gpu_map, spec->gpus);
    if (!properties || !core_map || !gpu_map || rack_reserve (rack) < 0) {
        strings_free (properties);
        bitmap_destroy (core_map);
        bitmap_destroy (gpu_map);
        return error_set (err, ENOMEM, "out of memory");
    }
    strings_free (n->properties);
    bitmap_destroy (n->core_map);
    bitmap_destroy (n->gpu_map);
    n->properties = properties;
    n->core_map = core_map;
    n->gpu_map = gpu_map;
    n->cores = spec->cores;
    n->gpus = spec->gpus;
    n->memory = spec->memory_mib;
    if (n->rack != rack) {
        rack_remove (n->rack, index);
        rack_add (rack, index);
        n->rack = rack;
    }
    return 0;
}

static struct machine_node *node_at (const struct machine *g, int index)
{
    return index >= 0 && (size_t)index < g->size ? g->nodes[index] : NULL;
}

/* The lowest vacant index, with room made for it. */
static int index_reserve (struct machine *g)
{
    size_t i = 0;
    if (g->count == g->size)
        i = g->size;
    while (i < g->size && g->nodes[i])
        i++;
    if (i >= NODES_MAX || summary_reserve (g->summary, i + 1) < 0)
        return -ENOMEM;
    struct machine_node **nodes =
        array_reserve (g->nodes, &g->alloc, i + 1, sizeof (struct machine_node *));
    if (!nodes)
        return -ENOMEM;
    g->nodes = nodes;
    return (int)i;
}

static int node_return (struct machine *g, int index,
                        const struct machine_node_spec *spec, struct error *err)
{
    struct machine_node *n = g->nodes[index];
    int rc = node_configure (g, n, (uint32_t)index, spec, err);
    if (rc < 0)
        return rc;
    n->leaving = false;
    n->state = MACHINE_NODE_UP;
    free (n->reason);
    n->reason = NULL;
    g->totals.up++;
    g->generation++;
    g->layout++;
    node_changed (g, (size_t)index);
    return index;
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
                   ? node_return (g, index, spec, err)
                   : error_set (err, EEXIST, "node %s is there already", spec->name);
    struct machine_node *n = calloc (1, sizeof (*n));
    if (!n || (index = index_reserve (g)) < 0 || !(n->name = strdup (spec->name))) {
        node_free (n);
        return error_set (err, ENOMEM, "node %s: out of memory", spec->name);
    }
    HASH_ADD_KEYPTR (hh, g->by_name, n->name, strlen (n->name), n);
    if (!n->hh.tbl) {
        node_free (n);
        return error_set (err, ENOMEM, "node %s: out of memory", spec->name);
    }
    if ((rc = node_configure (g, n, (uint32_t)index, spec, err)) < 0) {
        HASH_DEL (g->by_name, n);
        node_free (n);
        return rc;
    }
    if ((size_t)index == g->size)
        g->size++;
    g->nodes[index] = n;
    n->index = index;
    g->count++;
    g->totals.up++;
    g->generation++;
    g->layout++;
    node_changed (g, (size_t)index);
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
    if ((rc = node_configure (g, g->nodes[index], (uint32_t)index, spec, err)) < 0)
        return rc;
    g->generation++;
    g->layout++;
    node_changed (g, (size_t)index);
    return index;
}

static void node_delete (struct machine *g, int index)
{
    struct machine_node *n = g->nodes[index];
    rack_remove (n->rack, (uint32_t)index);
    HASH_DEL (g->by_name, n);
    g->nodes[index] = NULL;
    g->count--;
    node_changed (g, (size_t)index);
    node_free (n);
}

int machine_node_remove (struct machine *g, int index)
{
    struct machine_node *n = node_at (g, index);
    if (!n)
        return -ENOENT;
    if (n->leaving)
        return 0;
    g->totals.up -= node_takes_jobs (n);
    n->leaving = true;
    g->generation++;
    g->layout++;
    if (n->njobs == 0)
        node_delete (g, index);
    else
        node_changed (g, (size_t)index);
    return 0;
}

int machine_node_set_state (struct machine *g, int index, enum machine_node_state state,
                            const char *reason)
{
    struct machine_node *n = node_at (g, index);
    if (!n)
        return -ENOENT;
    char *copy = reason ? strdup (reason) : NULL;
    if (reason && !copy)
        return -ENOMEM;
    free (n->reason);
    n->reason = copy;
    g->totals.up -= node_takes_jobs (n);
    n->state = state;
    g->totals.up += node_takes_jobs (n);
    g->generation++;
    node_changed (g, (size_t)index);
    return 0;
}

int machine_node_set_foreign (struct machine *g, int index, uint32_t cores, uint32_t gpus,
                              int64_t memory_mib)
{
    struct machine_node *n = node_at (g, index);
    if (!n)
        return -ENOENT;
    memory_mib = MAX (memory_mib, 0);
    if (cores < n->cores_foreign || gpus < n->gpus_foreign
        || memory_mib < n->memory_foreign)
        g->generation++;
    n->cores_foreign = cores;
    n->gpus_foreign = gpus;
    n->memory_foreign = memory_mib;
    node_changed (g, (size_t)index);
    return 0;
}

/* -- bookings -- */

static void map_set (struct bitmap *map, const struct idset *ids, bool booked)
{
    IDSET_FOREACH (ids, id)
    {
        if (booked)
            bitmap_set (map, id);
        else
            bitmap_clear (map, id);
    }
}

void machine_book (struct machine *g, int index, const struct idset *cores,
                   const struct idset *gpus, int64_t memory, bool exclusive)
{
    struct machine_node *n = g->nodes[index];
    map_set (n->core_map, cores, true);
    map_set (n->gpu_map, gpus, true);
    n->cores_used = (uint32_t)bitmap_count (n->core_map);
    n->gpus_used = (uint32_t)bitmap_count (n->gpu_map);
    n->memory_used += memory;
    n->exclusive = exclusive;
    n->njobs++;
    node_changed (g, (size_t)index);
}

void machine_unbook (struct machine *g, int index, const struct idset *cores,
                     const struct idset *gpus, int64_t memory)
{
    struct machine_node *n = g->nodes[index];
    map_set (n->core_map, cores, false);
    map_set (n->gpu_map, gpus, false);
    n->cores_used = (uint32_t)bitmap_count (n->core_map);
    n->gpus_used = (uint32_t)bitmap_count (n->gpu_map);
    n->memory_used -= memory;
    n->exclusive = false; /* if it was, this was the only booking */
    n->njobs--;
    g->generation++;
    if (n->leaving && n->njobs == 0)
        node_delete (g, index);
    else
        node_changed (g, (size_t)index);
}

/* -- the graph -- */

struct machine *machine_create (const char *cluster_name)
{
    struct machine *g = calloc (1, sizeof (*g));
    if (!g)
        return NULL;
    g->generation = 1;
    g->layout = 1;
    g->name = strdup (cluster_name);
    g->summary = summary_create ();
    if (!g->name || !g->summary) {
        machine_destroy (g);
        return NULL;
    }
    return g;
}

void machine_destroy (struct machine *g)
{
    if (!g)
        return;
    HASH_CLEAR (hh, g->by_name);
    HASH_CLEAR (hh, g->racks_by_name);
    for (size_t i = 0; i < g->size; i++)
        node_free (g->nodes[i]);
    for (size_t i = 0; i < g->nracks; i++) {
        free (g->racks[i]->name);
        free (g->racks[i]->nodes);
        free (g->racks[i]);
    }
    free (g->nodes);
    free (g->racks);
    summary_destroy (g->summary);
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
    struct machine_node *n;
    HASH_FIND_STR (g->by_name, name, n);
    return n ? n->index : -ENOENT;
}

int machine_node_next (const struct machine *g, int after)
{
    for (size_t i = after < 0 ? 0 : (size_t)after + 1; i < g->size; i++) {
        if (g->nodes[i])
            return (int)i;
    }
    return -1;
}

int machine_node_info (const struct machine *g, int index, struct machine_node_info *ret)
{
    const struct machine_node *n = node_at (g, index);
    if (!n)
        return -ENOENT;
    struct room room = machine_room_now (n);
    *ret = (struct machine_node_info){
        .name = n->name,
        .rack = n->rack ? n->rack->name : NULL,
        .reason = n->leaving ? "removed from the machine" : n->reason,
        .properties = (const char *const *)n->properties,
        .state = n->leaving ? MACHINE_NODE_DOWN : n->state,
        .leaving = n->leaving,
        .cores = n->cores,
        .cores_used = n->cores_used,
        .cores_foreign = n->cores_foreign,
        .cores_free = (uint32_t)MAX (room.cores, 0),
        .gpus = n->gpus,
        .gpus_used = n->gpus_used,
        .gpus_foreign = n->gpus_foreign,
        .gpus_free = (uint32_t)room.gpus,
        .memory_mib = n->memory,
        .memory_used = n->memory_used,
        .memory_foreign = n->memory_foreign,
        .memory_free = room.memory,
        .njobs = n->njobs,
        .exclusive = n->exclusive,
    };
    return 0;
}

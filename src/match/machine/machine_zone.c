/* machine_zone.c - NUMA zones of nodes that take a job only if one zone has room for it
 *
 * A zone is a vertex between the node and its leaves, marked for the walk (zoned.c),
 * which looks for a job's resources on the node in one zone at a time. Cores and gpus are
 * numbered through all zones, so R is as for a node without zones.
 *
 * The node (the kubelet's topology manager) chooses the real zone of a job, and reports
 * later and only in sums, see machine_node_report(). Until then the job is "loose". So
 * each zone withholds what the books have free beyond what the last report has left, less
 * the needs of all loose jobs, which may be there. The rule is that of "over-reserving",
 * see the document on the reserve plugin of kubernetes-sigs/scheduler-plugins. Zones of
 * equal size are interchangeable, so the zones with the most free in the books are
 * matched with those with the most free in the report: otherwise a job that is in the
 * other zone would count in both.
 *
 * Zones are laid out again only while nothing is booked on the node; an earlier change is
 * postponed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/machine/machine_private.h"

struct node_zone {
    uint32_t v;
    struct node_leaves leaves;
    struct machine_amounts size;
    int id;
};

struct loose {
    uint64_t job;
    struct machine_amounts needs;
    int id; /* of its zone; -1: any */
    struct loose *next;
};

struct layout {
    struct machine_zone zone[MACHINE_ZONES_MAX];
    size_t n;
    struct machine_amounts all;           /* size of the node */
    bool has_cores, has_gpus, has_memory; /* in the zones */
};

struct node_zones {
    struct node_zone *list; /* in the graph */
    size_t n;
    bool has_cores, has_gpus, has_memory;
    struct layout *later; /* postponed layout, or NULL */
    struct machine_zone *left;
    size_t nleft;
    bool exact;
    struct loose *loose;
};

/* -- specs -- */

int zones_check (const struct machine_node_spec *spec, struct error *err)
{
    if (spec->nzones > MACHINE_ZONES_MAX)
        return error_set (err, EINVAL, "node %s: %zu zones are more than %d", spec->name,
                          spec->nzones, MACHINE_ZONES_MAX);
    for (size_t i = 0; i < spec->nzones; i++) {
        const struct machine_zone *z = &spec->zones[i];
        if (z->id < 0 || z->id >= MACHINE_ZONES_MAX
            || (i > 0 && z->id <= spec->zones[i - 1].id) || z->memory_mib < 0)
            return error_set (err, EINVAL, "node %s: zone %d cannot be", spec->name,
                              z->id);
    }
    return 0;
}

static uint32_t cut (uint32_t *left, uint32_t n)
{
    n = MIN (n, *left);
    *left -= n;
    return n;
}

/* Lays out zones with no more in total than the node has. */
static void lay_out (const struct machine_node_spec *spec, struct layout *to)
{
    struct machine_amounts left = { spec->cores, spec->gpus, spec->memory_mib };

    *to = (struct layout){ .n = spec->nzones, .all = left };
    for (size_t i = 0; i < spec->nzones; i++) {
        const struct machine_zone *z = &spec->zones[i];
        to->has_cores = to->has_cores || z->cores > 0;
        to->has_gpus = to->has_gpus || z->gpus > 0;
        to->has_memory = to->has_memory || z->memory_mib > 0;
        to->zone[i] =
            (struct machine_zone){ .id = z->id,
                                   .cores = cut (&left.cores, z->cores),
                                   .gpus = cut (&left.gpus, z->gpus),
                                   .memory_mib = MIN (left.memory, z->memory_mib) };
        left.memory -= to->zone[i].memory_mib;
    }
    to->all.cores -= to->has_cores ? left.cores : 0;
    to->all.gpus -= to->has_gpus ? left.gpus : 0;
    to->all.memory -= to->has_memory ? left.memory : 0;
}

/* Amounts of the node outside its zones. */
static struct machine_amounts outside (const struct layout *to)
{
    return (struct machine_amounts){ to->has_cores ? 0 : to->all.cores,
                                     to->has_gpus ? 0 : to->all.gpus,
                                     to->has_memory ? 0 : to->all.memory };
}

static bool is_laid_out (const struct node_zones *z, const struct layout *to)
{
    if (z->n != to->n || z->has_cores != to->has_cores || z->has_gpus != to->has_gpus
        || z->has_memory != to->has_memory)
        return false;
    for (size_t i = 0; i < z->n; i++) {
        const struct machine_amounts *size = &z->list[i].size;
        const struct machine_zone *zone = &to->zone[i];
        if (z->list[i].id != zone->id || size->cores != zone->cores
            || size->gpus != zone->gpus || size->memory != zone->memory_mib)
            return false;
    }
    return true;
}

/* -- the graph -- */

static bool is_untouched (const struct graph *g, uint32_t v)
{
    if (graph_vertex (g, v)->nclaims > 0 || graph_vertex (g, v)->claims != GRAPH_NONE)
        return false;
    GRAPH_CHILDREN (g, v, c)
    {
        if (!is_untouched (g, c))
            return false;
    }
    return true;
}

static uint32_t zone_leaf (struct machine *g, const struct machine_node *n, uint32_t v,
                           const char *type, uint32_t first, uint32_t count, int64_t size,
                           struct error *err)
{
    bool memory = strcmp (type, "memory") == 0;
    struct graph_spec spec = { .type = type,
                               .unit = memory ? "MiB" : NULL,
                               .id = first,
                               .count = count,
                               .size = size,
                               .rank = n->index,
                               .uniq = -1,
                               .flags = memory ? GRAPH_DIVISIBLE : 0,
                               .leaf = true };
    return graph_add (g->graph, v, &spec, err);
}

/* Adds a zone whose ids start with these. */
static int zone_enter (struct machine *g, struct machine_node *n, struct node_zone *to,
                       const struct machine_zone *zone,
                       const struct machine_amounts *first, struct error *err)
{
    struct graph_spec spec = {
        .type = "numa", .id = zone->id, .rank = n->index, .uniq = -1
    };
    bool ok = (to->v = graph_add (g->graph, n->v, &spec, err)) != GRAPH_NONE;

    if (!ok)
        return -ENOMEM;
    graph_vertex (g->graph, to->v)->flags |= GRAPH_ZONE;
    if (zone->cores > 0)
        ok = (to->leaves.core =
                  zone_leaf (g, n, to->v, "core", first->cores, zone->cores, 1, err))
             != GRAPH_NONE;
    if (ok && zone->gpus > 0)
        ok = (to->leaves.gpu =
                  zone_leaf (g, n, to->v, "gpu", first->gpus, zone->gpus, 1, err))
             != GRAPH_NONE;
    if (ok && zone->memory_mib > 0)
        ok = (to->leaves.memory = zone_leaf (g, n, to->v, "memory", (uint32_t)zone->id, 1,
                                             zone->memory_mib, err))
             != GRAPH_NONE;
    to->id = zone->id;
    to->size = (struct machine_amounts){ zone->cores, zone->gpus, zone->memory_mib };
    return ok ? 0 : -ENOMEM;
}

/* Removes the zones; nothing is booked there. */
static void remove_zones (struct machine *g, struct machine_node *n)
{
    struct node_zones *z = n->zones;

    for (size_t i = 0; i < z->n; i++)
        if (z->list[i].v != GRAPH_NONE)
            graph_remove (g->graph, z->list[i].v, NULL);
    free (z->list);
    z->list = NULL;
    z->n = 0;
    z->has_cores = z->has_gpus = z->has_memory = false;
    graph_vertex (g->graph, n->v)->flags &= (uint16_t)~GRAPH_ZONED;
}

static int enter_zones (struct machine *g, struct machine_node *n,
                        const struct layout *to, struct error *err)
{
    struct node_zones *z = n->zones;
    struct machine_amounts first = { 0 };

    if (to->n == 0)
        return 0;
    if (!(z->list = calloc (to->n, sizeof (*z->list))))
        return error_set (err, ENOMEM, "node %s: out of memory", n->name);
    for (size_t i = 0; i < to->n; i++) {
        struct node_zone *zone = &z->list[z->n++];
        zone->v = zone->leaves.core = zone->leaves.gpu = zone->leaves.memory = GRAPH_NONE;
        if (zone_enter (g, n, zone, &to->zone[i], &first, err) < 0)
            return -ENOMEM;
        first.cores += to->zone[i].cores;
        first.gpus += to->zone[i].gpus;
    }
    z->has_cores = to->has_cores;
    z->has_gpus = to->has_gpus;
    z->has_memory = to->has_memory;
    graph_vertex (g->graph, n->v)->flags |= GRAPH_ZONED;
    return 0;
}

static int apply (struct machine *g, struct machine_node *n, const struct layout *to,
                  struct error *err)
{
    struct machine_amounts rest = outside (to);
    const struct machine_amounts none = { 0 };
    int rc = 0;

    if (!is_laid_out (n->zones, to)) {
        machine_begin_change (g, n->v);
        remove_zones (g, n);
        if ((rc = node_resize (g, n, &none, err)) == 0)
            rc = enter_zones (g, n, to, err);
        if (rc < 0)
            remove_zones (g, n);
        machine_end_change (g, n->v);
        g->layout++;
    }
    if (rc == 0)
        rc = node_resize (g, n, &rest, err);
    if (rc == 0)
        n->size = to->all;
    return rc;
}

static int put_off (struct machine_node *n, const struct layout *to, struct error *err)
{
    if (!(n->zones->later = malloc (sizeof (*to))))
        return error_set (err, ENOMEM, "node %s: out of memory", n->name);
    *n->zones->later = *to;
    return 0;
}

int zones_resize (struct machine *g, struct machine_node *n,
                  const struct machine_node_spec *spec, struct error *err)
{
    struct machine_amounts flat = { spec->cores, spec->gpus, spec->memory_mib };
    struct layout to;

    if (!n->zones && !(n->zones = calloc (1, sizeof (*n->zones))))
        return error_set (err, ENOMEM, "node %s: out of memory", n->name);
    lay_out (spec, &to);
    free (n->zones->later);
    n->zones->later = NULL;
    if (is_laid_out (n->zones, &to) || is_untouched (g->graph, n->v))
        return apply (g, n, &to, err);
    int rc = put_off (n, &to, err);
    if (rc == 0 && n->zones->n == 0)
        rc = node_resize (g, n, &flat, err);
    return rc;
}

void zones_tidy (struct machine *g, struct machine_node *n)
{
    struct layout *to = n->zones ? n->zones->later : NULL;

    if (!to || !is_untouched (g->graph, n->v) || apply (g, n, to, NULL) < 0)
        return;
    free (to);
    n->zones->later = NULL;
}

bool node_leaves_at (const struct machine_node *n, size_t i, struct node_leaves *ret)
{
    if (i == 0) {
        *ret = (struct node_leaves){ n->core, n->gpu, n->memory };
        return true;
    }
    if (!n->zones || i > n->zones->n)
        return false;
    *ret = n->zones->list[i - 1].leaves;
    return true;
}

bool zones_are_there (const struct machine_node *n)
{
    return n->zones && n->zones->n > 0;
}

void zones_destroy (struct machine_node *n)
{
    struct node_zones *z = n->zones;

    while (z && z->loose)
        zones_unbook (n, z->loose->job);
    if (z) {
        free (z->list);
        free (z->later);
        free (z->left);
    }
    free (z);
    n->zones = NULL;
}

/* -- resources outside of zones -- */

static struct machine_amounts minus (struct machine_amounts a, struct machine_amounts b)
{
    return (struct machine_amounts){ a.cores - MIN (a.cores, b.cores),
                                     a.gpus - MIN (a.gpus, b.gpus),
                                     MAX (a.memory - b.memory, 0) };
}

/* Amounts left in the zone by the report, less the needs of all jobs that may be there
 * and are not in the report. */
static struct machine_amounts left_in (const struct node_zones *z,
                                       const struct node_zone *zone)
{
    struct machine_amounts left = zone->size;

    for (size_t i = 0; i < z->nleft; i++)
        if (z->left[i].id == zone->id)
            left = (struct machine_amounts){ z->left[i].cores, z->left[i].gpus,
                                             z->left[i].memory_mib };
    for (const struct loose *l = z->loose; l; l = l->next)
        if (l->id < 0 || l->id == zone->id)
            left = minus (left, l->needs);
    return left;
}

static bool could_have (const struct node_zones *z, struct machine_amounts left,
                        const struct machine_amounts *needs)
{
    return (!z->has_cores || left.cores >= needs->cores)
           && (!z->has_gpus || left.gpus >= needs->gpus)
           && (!z->has_memory || left.memory >= needs->memory);
}

/* Returns the only zone that the job can be in, by the report; -1: several zones are
 * possible, or the report does not cover everything. */
static int only_zone (const struct node_zones *z, const struct machine_amounts *needs)
{
    int id = -1;

    if (!z->exact)
        return -1;
    for (const struct loose *l = z->loose; l; l = l->next)
        if (l->id < 0)
            return -1;
    for (size_t i = 0; i < z->n; i++) {
        if (!could_have (z, left_in (z, &z->list[i]), needs))
            continue;
        if (id >= 0)
            return -1;
        id = z->list[i].id;
    }
    return id;
}

void zones_book (struct machine *g, struct machine_node *n, uint64_t job,
                 const struct machine_amounts *given)
{
    struct loose *l = n->zones ? malloc (sizeof (*l)) : NULL;

    (void)g;
    if (!l)
        return;
    *l = (struct loose){ .job = job,
                         .needs = *given,
                         .id = only_zone (n->zones, given),
                         .next = n->zones->loose };
    n->zones->loose = l;
}

void zones_unbook (struct machine_node *n, uint64_t job)
{
    struct loose **at = n->zones ? &n->zones->loose : NULL, *l;

    while (at && (l = *at)) {
        if (l->job == job) {
            *at = l->next;
            free (l);
        } else
            at = &l->next;
    }
}

int machine_node_report (struct machine *g, int index, const struct machine_report *r)
{
    struct machine_node *n = machine_node_at (g, index);
    struct machine_zone *copy;

    if (!n)
        return -ENOENT;
    if (r->nleft > MACHINE_ZONES_MAX)
        return -EINVAL;
    if (!n->zones && !(n->zones = calloc (1, sizeof (*n->zones))))
        return -ENOMEM;
    struct node_zones *z = n->zones;
    if (!(copy = calloc (MAX (r->nleft, 1), sizeof (*copy))))
        return -ENOMEM;
    for (size_t i = 0; i < r->nleft; i++)
        copy[i] = r->left[i];
    free (z->left);
    z->left = copy;
    z->nleft = r->nleft;
    z->exact = r->exact;
    for (size_t i = 0; i < r->nseen; i++)
        zones_unbook (n, r->seen[i]);
    return node_withhold (g, n);
}

/* -- withholding -- */

struct balance { /* of one zone of the graph */
    const struct node_zone *zone;
    struct machine_amounts unbooked, withheld;
};

static int64_t compare (struct machine_amounts a, struct machine_amounts b)
{
    return a.cores != b.cores ? (int64_t)a.cores - b.cores
           : a.gpus != b.gpus ? (int64_t)a.gpus - b.gpus
                              : a.memory - b.memory;
}

/* Larger zones first; between equal sizes the one with more free. */
static int by_size (const struct machine_amounts *size_a,
                    const struct machine_amounts *free_a,
                    const struct machine_amounts *size_b,
                    const struct machine_amounts *free_b)
{
    int64_t d = compare (*size_b, *size_a);

    if (d == 0)
        d = compare (*free_b, *free_a);
    return d < 0 ? -1 : d > 0;
}

static int by_unbooked (const void *a, const void *b)
{
    const struct balance *x = a, *y = b;
    int d = by_size (&x->zone->size, &x->unbooked, &y->zone->size, &y->unbooked);

    return d ? d : (x->zone->id > y->zone->id) - (x->zone->id < y->zone->id);
}

struct told {
    struct machine_amounts size, left;
};

static int by_left (const void *a, const void *b)
{
    const struct told *x = a, *y = b;

    return by_size (&x->size, &x->left, &y->size, &y->left);
}

static struct machine_amounts unbooked_of (const struct graph *g,
                                           const struct node_leaves *l)
{
    int64_t memory = 0;

    if (l->memory != GRAPH_NONE)
        memory = graph_vertex (g, l->memory)->size - graph_vertex (g, l->memory)->used;
    return (struct machine_amounts){ leaf_unbooked (g, l->core),
                                     leaf_unbooked (g, l->gpu), MAX (memory, 0) };
}

/* Foreign use on the node is not in the report of any zone: it is taken where least is
 * left, so that jobs that fit in one zone still do. */
static void take_foreign (struct balance *b, size_t n, const struct machine_amounts *all)
{
    struct machine_amounts more = *all;

    for (size_t i = 0; i < n; i++)
        more = minus (more, b[i].withheld);
    for (size_t turn = 0; turn < n; turn++) {
        size_t c = 0, g = 0, m = 0;
        struct machine_amounts left[MACHINE_ZONES_MAX];
        for (size_t i = 0; i < n; i++) {
            left[i] = minus (b[i].unbooked, b[i].withheld);
            c = left[c].cores == 0 || (left[i].cores && left[i].cores < left[c].cores)
                    ? i
                    : c;
            g = left[g].gpus == 0 || (left[i].gpus && left[i].gpus < left[g].gpus) ? i
                                                                                   : g;
            m = left[m].memory == 0 || (left[i].memory && left[i].memory < left[m].memory)
                    ? i
                    : m;
        }
        b[c].withheld.cores += cut (&more.cores, left[c].cores);
        b[g].withheld.gpus += cut (&more.gpus, left[g].gpus);
        int64_t part = MIN (more.memory, left[m].memory);
        b[m].withheld.memory += part;
        more.memory -= part;
    }
}

int zones_withhold (struct machine *g, struct machine_node *n)
{
    const struct node_zones *z = n->zones;
    struct balance b[MACHINE_ZONES_MAX];
    struct told told[MACHINE_ZONES_MAX];
    int rc = 0;

    if (!zones_are_there (n))
        return 0;
    for (size_t i = 0; i < z->n; i++) {
        b[i] = (struct balance){ .zone = &z->list[i],
                                 .unbooked = unbooked_of (g->graph, &z->list[i].leaves) };
        told[i] = (struct told){ z->list[i].size, left_in (z, &z->list[i]) };
    }
    qsort (b, z->n, sizeof (*b), by_unbooked);
    qsort (told, z->n, sizeof (*told), by_left);
    for (size_t i = 0; i < z->n; i++)
        b[i].withheld = minus (b[i].unbooked, told[i].left);
    take_foreign (b, z->n, &n->foreign);
    for (size_t i = 0; i < z->n && rc == 0; i++)
        rc = leaves_withhold (g, &b[i].zone->leaves, &b[i].withheld);
    return rc;
}

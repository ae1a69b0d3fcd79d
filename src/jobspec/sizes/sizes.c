/* sizes.c - the size of a request: counts, sums over the tree, units of memory
 */

#include "common/gres.h"
#include "common/thousandths.h"
#include "jobspec/jobspec_private.h"

static int64_t add (int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow (a, b, &sum) ? INT64_MAX : sum;
}

static int64_t multiply (int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow (a, b, &product) ? INT64_MAX : product;
}

/* The size after v, saturating; the steps of '*' and '^' at least double it. */
static int64_t next_size (const struct jobspec_count *count, int64_t v)
{
    int64_t power = v;

    if (count->op == '*')
        return multiply (v, count->operand);
    for (int64_t i = 1; i < count->operand && power < INT64_MAX; i++)
        power = multiply (power, v);
    return power;
}

int64_t jobspec_count_fit (const struct jobspec_count *count, int64_t limit)
{
    int64_t top = MIN (limit, count->max);
    int64_t v = count->min;

    if (top < v)
        return 0;
    if (count->op == '+')
        return v + (top - v) / count->operand * count->operand;
    for (int64_t next = next_size (count, v); next <= top; next = next_size (count, v))
        v = next;
    return v;
}

/* The number of parents of a vertex, in all. sum() adds a vertex and its subtree. */
struct range {
    int64_t min, max;
};

static void sum (const struct jobspec *js, const struct jobspec_resource *r,
                 struct range mult, struct jobspec_sizes *s)
{
    mult.min = multiply (mult.min, r->count.min);
    mult.max = multiply (mult.max, jobspec_count_fit (&r->count, r->count.max));
    if (!strcmp (r->type, "node")) {
        s->min_nodes = add (s->min_nodes, mult.min);
        s->max_nodes = add (s->max_nodes, mult.max);
    } else if (!strcmp (r->type, "slot")) {
        if (!strcmp (r->label, js->slot_label)) {
            s->min_slots = add (s->min_slots, mult.min);
            s->max_slots = add (s->max_slots, mult.max);
        }
    } else if (!strcmp (r->type, "core")) {
        s->min_cores = add (s->min_cores, mult.min);
        s->max_cores = add (s->max_cores, mult.max);
    } else if (!strcmp (r->type, GRES_CPU_MILLI)) {
        s->min_cpu_milli = add (s->min_cpu_milli, mult.min);
        s->max_cpu_milli = add (s->max_cpu_milli, mult.max);
    } else if (!strcmp (r->type, "gpu")) {
        s->min_gpus = add (s->min_gpus, mult.min);
        s->max_gpus = add (s->max_gpus, mult.max);
    }
    for (size_t i = 0; i < r->nwith; i++)
        sum (js, &r->with[i], mult, s);
}

/* The smallest number of vertices of a type below r. */
static int64_t units_below (const struct jobspec_resource *r, const char *type)
{
    int64_t n = 0;

    for (size_t i = 0; i < r->nwith; i++) {
        const struct jobspec_resource *child = &r->with[i];
        bool found = !strcmp (child->type, type);

        n = add (n, multiply (child->count.min, found ? 1 : units_below (child, type)));
    }
    return n;
}

static int64_t cores_below (const struct jobspec_resource *r)
{
    return units_below (r, "core");
}

static bool is_elastic (const struct jobspec_resource *r)
{
    return r->count.min != r->count.max;
}

const struct jobspec_resource *jobspec_spread (const struct jobspec *js,
                                               const struct jobspec_resource **slot)
{
    const struct jobspec_resource *node = &js->resources[0], *found = NULL;

    if (js->task_count_kind != JOBSPEC_TOTAL || js->nresources != 1
        || strcmp (node->type, "node") != 0 || !is_elastic (node))
        return NULL;
    for (size_t i = 0; i < node->nwith; i++)
        if (!strcmp (node->with[i].type, "slot")
            && !strcmp (node->with[i].label, js->slot_label))
            found = &node->with[i];
    if (!found || !is_elastic (found)
        || multiply (node->count.max, found->count.max) < js->task_count)
        return NULL;
    if (slot)
        *slot = found;
    return node;
}

/* Spread tasks use n * ceil (tasks / n) slots on n nodes. Resources of a node beside its
 * slots stay unchanged. */
static void bound_by_tasks (const struct jobspec *js, const struct jobspec_resource *slot,
                            struct jobspec_sizes *s)
{
    int64_t least = MAX (s->min_slots, js->task_count);
    int64_t most = MIN (s->max_slots, add (js->task_count, s->max_nodes - 1));
    int64_t cores = cores_below (slot), milli = units_below (slot, GRES_CPU_MILLI);

    s->min_cpu_milli = add (s->min_cpu_milli, multiply (least - s->min_slots, milli));
    if (s->max_cpu_milli < INT64_MAX)
        s->max_cpu_milli -= (s->max_slots - most) * milli;
    s->min_cores = add (s->min_cores, multiply (least - s->min_slots, cores));
    if (s->max_cores < INT64_MAX)
        s->max_cores -= (s->max_slots - most) * cores;
    s->min_slots = least;
    s->max_slots = most;
}

int64_t jobspec_slot_gpus (const struct jobspec *js)
{
    const struct jobspec_resource *slot = jobspec_find_slot (js, js->slot_label);

    return slot ? units_below (slot, "gpu") : 0;
}

void jobspec_get_component_sizes (const struct jobspec *js, struct jobspec_sizes *ret)
{
    const struct jobspec_resource *slot = jobspec_find_slot (js, js->slot_label);

    memset (ret, 0, sizeof (*ret));
    for (size_t i = 0; i < js->nresources; i++)
        sum (js, &js->resources[i], (struct range){ 1, 1 }, ret);
    if (ret->min_nodes == 0) {
        ret->min_nodes = 1;
        ret->max_nodes = ret->max_slots;
    }
    ret->cpu_milli_per_slot = slot ? units_below (slot, GRES_CPU_MILLI) : 0;
    ret->cores_per_slot =
        slot ? add (cores_below (slot), milli_whole (ret->cpu_milli_per_slot)) : 0;
    if (jobspec_spread (js, &slot))
        bound_by_tasks (js, slot, ret);
    ret->min_cores = add (ret->min_cores, milli_whole (ret->min_cpu_milli));
    ret->max_cores = add (ret->max_cores, milli_whole (ret->max_cpu_milli));
}

void jobspec_get_sizes (const struct jobspec *js, struct jobspec_sizes *ret)
{
    jobspec_get_component_sizes (js, ret);
    for (size_t i = 0; i < js->ncomponents; i++) {
        struct jobspec_sizes more;

        jobspec_get_component_sizes (js->components[i], &more);
        ret->min_nodes = add (ret->min_nodes, more.min_nodes);
        ret->max_nodes = add (ret->max_nodes, more.max_nodes);
        ret->min_slots = add (ret->min_slots, more.min_slots);
        ret->max_slots = add (ret->max_slots, more.max_slots);
        ret->min_cores = add (ret->min_cores, more.min_cores);
        ret->max_cores = add (ret->max_cores, more.max_cores);
        ret->min_gpus = add (ret->min_gpus, more.min_gpus);
        ret->max_gpus = add (ret->max_gpus, more.max_gpus);
        ret->min_cpu_milli = add (ret->min_cpu_milli, more.min_cpu_milli);
        ret->max_cpu_milli = add (ret->max_cpu_milli, more.max_cpu_milli);
    }
}

/* The only node vertex, if each vertex above it has count 1; else NULL. */
static const struct jobspec_resource *only_node (const struct jobspec_resource *r,
                                                 size_t n)
{
    if (n != 1)
        return NULL;
    if (!strcmp (r->type, "node"))
        return r;
    return r->count.max == 1 ? only_node (r->with, r->nwith) : NULL;
}

static bool has_node (const struct jobspec_resource *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp (r[i].type, "node") || has_node (r[i].with, r[i].nwith))
            return true;
    return false;
}

bool jobspec_add_nodes (const struct jobspec *js, struct strbuf *sb)
{
    const struct jobspec_resource *node = only_node (js->resources, js->nresources);
    struct jobspec_sizes s;

    if (!has_node (js->resources, js->nresources))
        return false;
    if (node) {
        jobspec_count_add (sb, &node->count, node->sizes);
        return true;
    }
    jobspec_get_sizes (js, &s);
    jobspec_count_add (sb, &(struct jobspec_count){ s.min_nodes, s.max_nodes, '+', 1 },
                       NULL);
    return true;
}

/* The job's slot, if each vertex above it is a node or has count 1; else NULL. */
static const struct jobspec_resource *
lone_slot (const struct jobspec *js, const struct jobspec_resource *r, size_t n)
{
    const struct jobspec_resource *found = NULL;

    for (size_t i = 0; i < n && !found; i++) {
        if (!strcmp (r[i].type, "slot") && !strcmp (r[i].label, js->slot_label))
            return &r[i];
        if (!strcmp (r[i].type, "node") || r[i].count.max == 1)
            found = lone_slot (js, r[i].with, r[i].nwith);
    }
    return found;
}

bool jobspec_add_slots (const struct jobspec *js, struct strbuf *sb)
{
    const struct jobspec_resource *slot = lone_slot (js, js->resources, js->nresources);

    if (!slot || has_node (slot->with, slot->nwith))
        return false;
    jobspec_count_add (sb, &slot->count, slot->sizes);
    return true;
}

bool jobspec_add_slot_cores (const struct jobspec *js, struct strbuf *sb)
{
    const struct jobspec_resource *slot = jobspec_find_slot (js, js->slot_label);

    for (size_t i = 0; slot && i < slot->nwith; i++) {
        const struct jobspec_resource *r = &slot->with[i];
        if (strcmp (r->type, "core") != 0 || r->count.min != cores_below (slot))
            continue;
        jobspec_count_add (sb, &r->count, r->sizes);
        return true;
    }
    return false;
}

int64_t jobspec_task_total (const struct jobspec *js, int64_t nslots)
{
    if (js->task_count_kind == JOBSPEC_TOTAL)
        return js->task_count;
    return multiply (nslots, js->task_count);
}

int64_t jobspec_tasks (const struct jobspec *js)
{
    int64_t n = 0;

    for (size_t i = 0; i <= js->ncomponents; i++) {
        const struct jobspec *c = jobspec_component (js, i);
        struct jobspec_sizes z;

        jobspec_get_component_sizes (c, &z);
        n = add (n, jobspec_task_total (c, z.min_slots));
    }
    return n;
}

int jobspec_memory_mib (const char *unit, int64_t count, int64_t *ret_mib)
{
    static const struct {
        const char *unit;
        int64_t bytes;
    } units[] = {
        { "B", 1 },
        { "kB", 1000 },
        { "KB", 1000 },
        { "MB", 1000000 },
        { "GB", 1000000000 },
        { "TB", 1000000000000 },
        { "PB", 1000000000000000 },
        { "KiB", 1LL << 10 },
        { "MiB", 1LL << 20 },
        { "GiB", 1LL << 30 },
        { "TiB", 1LL << 40 },
        { "PiB", 1LL << 50 },
    };
    const __int128 mib = 1 << 20;

    for (size_t i = 0; i < ARRAY_SIZE (units); i++) {
        __int128 n;

        if (strcmp (unit ? unit : "MiB", units[i].unit))
            continue;
        n = ((__int128)count * units[i].bytes + mib - 1) / mib;
        if (n > (__int128)1 << 40)
            return -ERANGE;
        *ret_mib = (int64_t)n;
        return 0;
    }
    return -EINVAL;
}

/* match_request.c - compiles jobspecs that a job can run by
 *
 * The planner takes any tree of RFC 14 (shape.h). A job needs more: tasks run in slots on
 * nodes, so there is one kind of slot, which contains cores or gpus or a node, and all
 * requested resources are on nodes with slots. The components of a heterogeneous job are
 * the outermost vertices of one request, in their order.
 */
#include <errno.h>
#include <string.h>

#include "match/machine/match_private.h"

#define PLACE_MAX 512
#define LEVELS_MAX JOBSPEC_DEPTH_MAX

struct compiler {
    unsigned slots; /* in the jobspec, or in the component */
    bool divided;   /* the request may ask for parts of CPUs */
    bool apart;     /* each outermost vertex is a component */
    struct error *err;
};

/* Position in the tree. */
struct context {
    const struct context *up;
    size_t index;
    bool in_node, in_slot;
};

static int refuse (const struct compiler *cc, const struct context *at, const char *why)
{
    char place[PLACE_MAX] = "";
    const struct context *way[LEVELS_MAX + 1];
    size_t n = 0, len;

    for (; at && n < ARRAY_SIZE (way); at = at->up)
        way[n++] = at;
    len = (size_t)snprintf (place, sizeof (place), "resources");
    for (size_t i = n; i-- > 0 && len < sizeof (place) - 32;)
        len += (size_t)snprintf (place + len, sizeof (place) - len, "%s[%zu]",
                                 i + 1 < n ? ".with" : "", way[i]->index);
    return error_set (cc->err, ENOTSUP, "%.200s: %s", place, why);
}

static bool is_type (const struct jobspec_resource *v, const char *type)
{
    return strcmp (v->type, type) == 0;
}

static bool is_slot (const struct jobspec_resource *v)
{
    return is_type (v, "slot") || is_type (v, "or_slot") || is_type (v, "xor_slot");
}

static bool holds (const struct jobspec_resource *v, const char *type)
{
    if (is_type (v, type))
        return true;
    for (size_t i = 0; i < v->nwith; i++)
        if (holds (&v->with[i], type))
            return true;
    return false;
}

/* -- memory in MiB -- */

/* Amounts that no machine has are kept: the answer is "never". */
static int to_mib (const char *unit, int64_t *count)
{
    int rc = jobspec_memory_mib (unit, *count, count);
    if (rc == -EINVAL)
        return rc;
    if (rc == -ERANGE || *count > JOBSPEC_COUNT_MAX)
        *count = JOBSPEC_COUNT_MAX;
    return 0;
}

/* Steps of "+" are amounts and are converted; those of "*" and "^" are factors. */
static int count_in_mib (struct jobspec_resource *v)
{
    struct jobspec_count *c = &v->count;

    if (v->sizes)
        return v->unit && strcmp (v->unit, "MiB") != 0 ? -ENOTSUP : 0;
    if (to_mib (v->unit, &c->min) < 0 || to_mib (v->unit, &c->max) < 0
        || (c->op == '+' && to_mib (v->unit, &c->operand) < 0))
        return -EINVAL;
    if (c->min == c->max) {
        c->op = '+';
        c->operand = 1;
    }
    v->unit = (char *)"MiB";
    return 0;
}

/* -- checks -- */

static int check_slot (struct compiler *cc, const struct jobspec_resource *v,
                       const struct context *at)
{
    if (!is_type (v, "slot"))
        return refuse (cc, at, "a job's tasks run in one kind of slot ('slot')");
    if (v->exclusive == JOBSPEC_FALSE)
        return refuse (cc, at, "a slot cannot be shared");
    if (at->in_slot)
        return refuse (cc, at, "a slot in a slot");
    if (cc->slots++ > 0)
        return refuse (cc, at, "a second slot: a job's tasks run in one kind of slot");
    if (holds (v, "node") && (v->nwith != 1 || !is_type (&v->with[0], "node")))
        return refuse (cc, at, "a slot is one node with nothing beside or above it");
    if (!holds (v, "node") && !holds (v, "core") && !holds (v, "gpu")
        && !holds (v, GRES_CPU_MILLI))
        return refuse (cc, at, "a task slot needs at least one core or gpu");
    return 0;
}

static int check_node (struct compiler *cc, const struct jobspec_resource *v,
                       const struct context *at)
{
    if (at->in_node)
        return refuse (cc, at, "a node inside of a node");
    if (at->in_slot && (v->count.min != 1 || v->count.max != 1))
        return refuse (cc, at, "a slot is one node");
    return 0;
}

/* A job has either whole cores or parts of CPUs on all its nodes, as its tasks must
 * know. */
static int check_parts (const struct compiler *cc, const struct jobspec_resource *list,
                        size_t n)
{
    bool parts = cpus_asks_for_parts (list, n), cores = false;

    for (size_t i = 0; i < n; i++)
        cores = cores || holds (&list[i], "core");
    if (parts && !cc->divided)
        return error_set (cc->err, ENOTSUP,
                          "resources: parts of a CPU (" GRES_CPU_MILLI
                          ") cannot be had here; ask for whole cores");
    if (parts && cores)
        return error_set (cc->err, ENOTSUP,
                          "resources: there are cores beside parts of a CPU "
                          "(" GRES_CPU_MILLI "); ask for one of them");
    return 0;
}

static int check_vertex (struct compiler *cc, const struct jobspec_resource *v,
                         const struct context *at)
{
    if (is_slot (v))
        return check_slot (cc, v, at);
    if (is_type (v, "node"))
        return check_node (cc, v, at);
    if (!at->in_slot && !at->in_node && !holds (v, "slot"))
        return refuse (cc, at, "there is no task slot in it, nor beside it in a node");
    if (v->exclusive == JOBSPEC_TRUE && (holds (v, "node") || !at->in_node)
        && !at->in_slot)
        return refuse (cc, at, "a vertex with nodes cannot be exclusive, its nodes can");
    return 0;
}

/* -- the copy to compile -- */

static void list_free (struct jobspec_resource *list, size_t n)
{
    for (size_t i = 0; list && i < n; i++)
        list_free (list[i].with, list[i].nwith);
    free (list);
}

static int copy_list (struct compiler *cc, const struct jobspec_resource *from, size_t n,
                      const struct context *up, struct jobspec_resource **ret);

/* A whole node without described contents must have a core. */
static int add_core (struct compiler *cc, struct jobspec_resource *v)
{
    static const struct jobspec_resource core = { .type = (char *)"core",
                                                  .count = { 1, 1, '+', 1 },
                                                  .exclusive = JOBSPEC_UNSET };
    if (!(v->with = malloc (sizeof (core))))
        return error_set (cc->err, ENOMEM, "resources: out of memory");
    v->with[0] = core;
    v->nwith = 1;
    return 0;
}

static int copy_vertex (struct compiler *cc, const struct jobspec_resource *from,
                        const struct context *at, struct jobspec_resource *v)
{
    int rc = check_vertex (cc, from, at);

    *v = *from;
    v->with = NULL;
    v->nwith = 0;
    if (rc < 0)
        return rc;
    if (is_type (v, "memory") && (rc = count_in_mib (v)) < 0)
        return refuse (cc, at,
                       rc == -ENOTSUP ? "a list of amounts of memory is one in MiB"
                                      : "memory has a unit such as MiB or GB");
    if (is_type (v, "node") && from->nwith == 0 && at->in_slot)
        return add_core (cc, v);
    struct context below = { .up = at,
                             .in_node = at->in_node || is_type (v, "node"),
                             .in_slot = at->in_slot || is_slot (v) };
    rc = copy_list (cc, from->with, from->nwith, &below, &v->with);
    v->nwith = rc < 0 ? 0 : from->nwith;
    return rc;
}

/* `up` is the context of the list: that of its parent, except for the index. */
static int copy_list (struct compiler *cc, const struct jobspec_resource *from, size_t n,
                      const struct context *up, struct jobspec_resource **ret)
{
    struct jobspec_resource *list = calloc (MAX (n, 1), sizeof (*list));
    int rc = 0;

    if (!list)
        return error_set (cc->err, ENOMEM, "resources: out of memory");
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct context at = *up;
        at.index = i;
        if (cc->apart && !up->up && !up->in_node && !up->in_slot)
            cc->slots = 0;
        rc = copy_vertex (cc, &from[i], &at, &list[i]);
    }
    if (rc < 0) {
        list_free (list, n);
        return rc;
    }
    *ret = list;
    return 0;
}

/* -- requests -- */

/* The outermost vertices of all components, each with the constraints of its nodes. They
 * borrow from js. */
static size_t outermost (const struct jobspec *js, struct jobspec_resource *list)
{
    for (size_t i = 0; i <= js->ncomponents; i++) {
        const struct jobspec *c = jobspec_component (js, i);

        list[i] = c->resources[0];
        list[i].requires = c->constraints;
    }
    return js->ncomponents + 1;
}

static struct shape *compile_list (struct compiler *cc, struct jobspec_resource *copy,
                                   size_t n, const json_t *constraints)
{
    if (cc->slots == 0) {
        error_set (cc->err, ENOTSUP, "resources: there is no task slot");
        return NULL;
    }
    if (cc->divided && cpus_add (copy, n) < 0)
        return error_null (error_no_memory (cc->err, "resources"));
    return shape_compile (copy, n, cc->apart ? NULL : constraints,
                          SHAPE_BOOK_LEAVES | (cc->apart ? SHAPE_APART : 0), cc->err);
}

static struct shape *compile (const struct jobspec *js, bool divided, struct error *err)
{
    struct compiler cc = { .err = err, .divided = divided, .apart = js->ncomponents > 0 };
    struct jobspec_resource tops[JOBSPEC_COMPONENTS_MAX], *list = js->resources, *copy;
    struct context above = { .up = NULL };
    size_t n = js->nresources;

    if (cc.apart) {
        n = outermost (js, tops);
        list = tops;
    }
    if (check_parts (&cc, list, n) < 0 || copy_list (&cc, list, n, &above, &copy) < 0)
        return NULL;
    struct shape *s = compile_list (&cc, copy, n, js->constraints);
    list_free (copy, n);
    if (s && divided)
        cpus_mark (s);
    if (s)
        s->node_memory = js->memory_per_node;
    return s;
}

/* 64-bit finalizer of MurmurHash3, so that small amounts change all bits. */
static uint64_t mixed (uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C (0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C (0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static struct match_request *create (const struct jobspec *js, bool divided,
                                     struct error *err)
{
    struct match_request *req = calloc (1, sizeof (*req));

    if (!req)
        return error_null (error_no_memory (err, "resources"));
    if (!(req->shape = compile (js, divided, err))) {
        free (req);
        return NULL;
    }
    req->of_parts = match_asks_for_parts (js);
    if (spread_compile (js, req, err) < 0) {
        match_request_destroy (req);
        return NULL;
    }
    req->key = req->shape->key ^ mixed ((uint64_t)js->memory_per_node)
               ^ mixed ((uint64_t)req->spread.tasks << 1);
    return req;
}

struct match_request *match_request_create (const struct jobspec *js, struct error *err)
{
    return create (js, false, err);
}

struct match_request *match_request_create_divided (const struct jobspec *js,
                                                    struct error *err)
{
    return create (js, true, err);
}

bool match_asks_for_parts (const struct jobspec *js)
{
    bool any = false;

    for (size_t i = 0; i <= js->ncomponents && !any; i++) {
        const struct jobspec *c = jobspec_component (js, i);
        any = cpus_asks_for_parts (c->resources, c->nresources);
    }
    return any;
}

/* True if vertices above nodes are at the top, rather than nodes or slots. */
static bool asks_for_places (const struct shape *s)
{
    const struct shape_vertex *top = &s->v[s->top];

    return top->kind == SHAPE_RESOURCE && strcmp (top->type, "node") != 0;
}

int match_request_place (struct match_request *req, const struct placement *p,
                         int64_t most, struct error *err)
{
    struct shape *s = req->shape;
    uint64_t h = mixed ((uint64_t)most << 2 | (p->kind == PLACEMENT_SPREAD) << 1 | 1);

    if (asks_for_places (s))
        return error_set (err, ENOTSUP,
                          "resources[0]: it asks for places (%s) itself; leave out the "
                          "placement and the number of switches",
                          s->v[s->top].type);
    snprintf (s->groups.level, sizeof (s->groups.level), "%s", p->level);
    s->groups.spread = p->kind == PLACEMENT_SPREAD && most == 0;
    s->groups.most = most;
    for (const char *c = p->level; *c; c++)
        h = mixed (h ^ (uint8_t)*c);
    req->key ^= h;
    return 0;
}

/* True if each number of the outermost vertex is a multiple of n. */
static bool all_divide (const struct shape_vertex *v, int64_t n)
{
    const struct jobspec_count *c = &v->count;

    if (v->sizes) {
        IDSET_FOREACH (v->sizes, size)
        {
            if (size % n != 0)
                return false;
        }
        return true;
    }
    if (c->min % n != 0)
        return false;
    return c->min == c->max || c->op != '+' || c->operand % n == 0;
}

int match_request_segment (struct match_request *req, const char *level, int64_t n,
                           bool apart, struct error *err)
{
    struct shape *s = req->shape;
    const struct shape_vertex *top = &s->v[s->top];
    struct placement pack = { .kind = PLACEMENT_PACK };

    if (strcmp (top->type, "node") != 0)
        return error_set (err, ENOTSUP,
                          "resources[0]: segments are of nodes, and it asks for a %s",
                          top->type);
    if (!all_divide (top, n))
        return error_set (err, EINVAL,
                          "resources[0].count: some number of nodes is no multiple of "
                          "the segment's %jd",
                          (intmax_t)n);
    snprintf (pack.level, sizeof (pack.level), "%s", level);
    int rc = match_request_place (req, &pack, 0, err);
    if (rc < 0)
        return rc;
    s->groups.segment = n;
    s->groups.apart = apart;
    req->key ^= mixed ((uint64_t)n << 3 | apart << 2);
    return 0;
}

struct match_request *match_request_ref (struct match_request *req)
{
    req->refs++;
    return req;
}

void match_request_destroy (struct match_request *req)
{
    if (!req || req->refs-- > 0)
        return;
    if (req->all)
        HASH_DELETE (hh, *req->all, req);
    shape_destroy (req->shape);
    free (req);
}

uint64_t match_request_shape (const struct match_request *req)
{
    return req->key;
}

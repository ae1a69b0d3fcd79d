#include <errno.h>
#include <string.h>

#include "common/sha256.h"
#include "match/request.h"

#define PLACE_MAX 128

struct compiler {
    struct match_request *req;
    struct error *err;
};

int64_t request_times (int64_t a, int64_t b)
{
    int64_t product;
    if (__builtin_mul_overflow (a, b, &product) || product > INT64_MAX / 4)
        return INT64_MAX / 4;
    return product;
}

struct room request_need (const struct match_request *req, const int64_t size[DIM_COUNT],
                          int64_t slots)
{
    int64_t memory = size[DIM_MEMORY];
    return (struct room){
        .cores = request_times (slots, size[DIM_CORE]),
        .gpus = request_times (slots, size[DIM_GPU]) + req->node_gpus,
        .memory =
            MAX (request_times (slots, memory) + req->node_memory, req->memory_per_node),
    };
}

static int refuse (struct compiler *cc, const char *place, const char *what)
{
    return error_set (cc->err, ENOTSUP, "%s: %s", place, what);
}

/* Three levels are the most, so nothing is ever cut. */
static void place_of_child (char child[PLACE_MAX], const char *place, size_t i)
{
    snprintf (child, PLACE_MAX, "%.96s.with[%zu]", place, i);
}

/* Amounts that no machine has are kept as such: the answer is "never", with the amount. */
static int to_mib (const char *unit, int64_t *count)
{
    int rc = jobspec_memory_mib (unit, *count, count);
    if (rc == -ERANGE)
        *count = INT64_MAX / 4;
    return rc == -ERANGE ? 0 : rc;
}

/* A memory vertex with its count in MiB, whatever its unit. Steps of "+" are amounts, those of
 * "*" and "^" are factors. */
static int in_mib (const struct jobspec_resource *v, struct jobspec_resource *ret)
{
    struct jobspec_count *c = &ret->count;

    *ret = *v;
    if (to_mib (v->unit, &c->min) < 0 || to_mib (v->unit, &c->max) < 0)
        return -EINVAL;
    return v->count.op == '+' ? to_mib (v->unit, &c->operand) : 0;
}

static int set_count (struct compiler *cc, enum dim dim, const struct jobspec_resource *v,
                      const char *place)
{
    if (cc->req->count[dim].min > 0)
        return refuse (cc, place, "a second vertex of the same type beside or above it");
    if (v->count.min < 1 || v->count.max < v->count.min || v->count.operand < 1)
        return refuse (cc, place, "a count is at least 1 and its max at least its min");
    cc->req->count[dim] = v->count;
    return 0;
}

static int compile_slot_child (struct compiler *cc, const struct jobspec_resource *v,
                               const char *place)
{
    if (v->nwith > 0)
        return refuse (cc, place, "what a slot holds has nothing below it");
    bool core = strcmp (v->type, "core") == 0;
    if (core || strcmp (v->type, "gpu") == 0) {
        if (v->exclusive == JOBSPEC_FALSE)
            return refuse (cc, place, "cores and gpus of a slot cannot be shared");
        return set_count (cc, core ? DIM_CORE : DIM_GPU, v, place);
    }
    if (strcmp (v->type, "memory") != 0)
        return refuse (cc, place, "not a type that a slot can hold (core, gpu, memory)");
    struct jobspec_resource memory;
    if (in_mib (v, &memory) < 0)
        return refuse (cc, place, "memory has a unit such as MiB or GB");
    return set_count (cc, DIM_MEMORY, &memory, place);
}

static int compile_slot_children (struct compiler *cc,
                                  const struct jobspec_resource *slot, const char *place)
{
    for (size_t i = 0; i < slot->nwith; i++) {
        char child[PLACE_MAX];
        place_of_child (child, place, i);
        int rc = compile_slot_child (cc, &slot->with[i], child);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* slot[S] > node[1]: S whole nodes. */
static int compile_slot_of_node (struct compiler *cc, const struct jobspec_resource *slot,
                                 const char *place)
{
    const struct jobspec_resource *node = &slot->with[0];
    char child[PLACE_MAX];
    place_of_child (child, place, 0);
    if (cc->req->count[DIM_NODE].min > 0)
        return refuse (cc, child, "a node inside of a node");
    if (slot->nwith > 1 || node->count.min != 1 || node->count.max != 1)
        return refuse (cc, child, "a slot is one node with nothing beside it");
    int rc = set_count (cc, DIM_NODE, slot, place);
    if (rc < 0 || (rc = set_count (cc, DIM_SLOT, node, child)) < 0)
        return rc;
    cc->req->exclusive = node->exclusive != JOBSPEC_FALSE;
    return compile_slot_children (cc, node, child);
}

static int compile_slot (struct compiler *cc, const struct jobspec_resource *slot,
                         const char *place)
{
    if (slot->exclusive == JOBSPEC_FALSE)
        return refuse (cc, place, "a slot cannot be shared");
    if (slot->nwith > 0 && strcmp (slot->with[0].type, "node") == 0)
        return compile_slot_of_node (cc, slot, place);
    int rc = set_count (cc, DIM_SLOT, slot, place);
    return rc < 0 ? rc : compile_slot_children (cc, slot, place);
}

/* memory and gpu beside a node's slot. */
static int compile_beside_slot (struct compiler *cc, const struct jobspec_resource *v,
                                const char *place)
{
    bool memory = strcmp (v->type, "memory") == 0;
    if (!memory && strcmp (v->type, "gpu") != 0)
        return refuse (cc, place, "not a type that can stand here (slot, memory, gpu)");
    if (v->nwith > 0 || v->count.min < 1 || v->count.min != v->count.max)
        return refuse (cc, place, "beside a slot it has one count and nothing below it");
    int64_t *amount = memory ? &cc->req->node_memory : &cc->req->node_gpus;
    if (*amount > 0)
        return refuse (cc, place, "a second vertex of the same type beside it");
    *amount = v->count.min;
    if (memory && to_mib (v->unit, amount) < 0)
        return refuse (cc, place, "memory has a unit such as MiB or GB");
    return 0;
}

static int compile_node (struct compiler *cc, const struct jobspec_resource *node,
                         const char *place)
{
    int rc = set_count (cc, DIM_NODE, node, place);
    cc->req->exclusive = node->exclusive == JOBSPEC_TRUE;
    for (size_t i = 0; rc == 0 && i < node->nwith; i++) {
        char child[PLACE_MAX];
        place_of_child (child, place, i);
        const struct jobspec_resource *v = &node->with[i];
        rc = strcmp (v->type, "slot") == 0 ? compile_slot (cc, v, child)
                                           : compile_beside_slot (cc, v, child);
    }
    return rc;
}

static int compile_top (struct compiler *cc, const struct jobspec_resource *v,
                        const char *place)
{
    if (strcmp (v->type, "node") == 0)
        return compile_node (cc, v, place);
    if (strcmp (v->type, "slot") == 0)
        return compile_slot (cc, v, place);
    return error_set (
        cc->err, ENOTSUP,
        "%s: type '%s' cannot be placed here (rack, node and slot, in this order)", place,
        v->type);
}

static int compile_resources (struct compiler *cc, const struct jobspec *js)
{
    const struct jobspec_resource *top = js->resources;
    if (js->nresources != 1)
        return refuse (cc, "resources", "exactly one vertex at the top can be placed");
    if (strcmp (top->type, "rack") != 0)
        return compile_top (cc, top, "resources[0]");
    if (top->exclusive == JOBSPEC_TRUE)
        return refuse (cc, "resources[0]", "a rack cannot be exclusive, its nodes can");
    if (top->nwith != 1)
        return refuse (cc, "resources[0]", "a rack has exactly one vertex below it");
    int rc = set_count (cc, DIM_RACK, top, "resources[0]");
    return rc < 0 ? rc : compile_top (cc, &top->with[0], "resources[0].with[0]");
}

static int check_whole (struct compiler *cc)
{
    struct match_request *req = cc->req;
    if (req->count[DIM_SLOT].min == 0)
        return refuse (cc, "resources", "there is no task slot");
    if (req->count[DIM_CORE].min == 0 && req->exclusive)
        req->count[DIM_CORE] = (struct jobspec_count){ 1, 1, '+', 1 };
    if (req->count[DIM_CORE].min == 0 && req->count[DIM_GPU].min == 0)
        return refuse (cc, "resources", "a task slot needs at least one core or gpu");
    req->unit = req->count[DIM_RACK].min > 0   ? DIM_RACK
                : req->count[DIM_NODE].min > 0 ? DIM_NODE
                                               : DIM_SLOT;
    return 0;
}

/* The first eight bytes of a SHA-256 over everything that decides the verdict. */
static int set_shape (struct match_request *req, const json_t *constraints)
{
    struct sha256 ctx;
    uint8_t digest[SHA256_SIZE];
    sha256_init (&ctx);
    for (size_t d = 0; d < DIM_COUNT; d++) {
        const struct jobspec_count *c = &req->count[d];
        int64_t row[4] = { c->min, c->max, c->op, c->operand };
        sha256_update (&ctx, row, sizeof (row));
    }
    int64_t rest[] = { req->exclusive, req->node_gpus, req->node_memory,
                       req->memory_per_node };
    sha256_update (&ctx, rest, sizeof (rest));
    if (constraints) {
        autofree char *text = json_dumps (constraints, JSON_COMPACT | JSON_SORT_KEYS);
        if (!text)
            return -ENOMEM;
        sha256_update (&ctx, text, strlen (text));
    }
    sha256_final (&ctx, digest);
    memcpy (&req->shape, digest, sizeof (req->shape));
    return 0;
}

static int compile (struct compiler *cc, const struct jobspec *js)
{
    int rc;
    cc->req->memory_per_node = js->memory_per_node;
    if ((rc = compile_resources (cc, js)) < 0 || (rc = check_whole (cc)) < 0)
        return rc;
    if (js->constraints
        && !(cc->req->constraint = constraint_compile (js->constraints, cc->err)))
        return -EINVAL;
    return set_shape (cc->req, js->constraints) < 0
               ? error_set (cc->err, ENOMEM, "resources: out of memory")
               : 0;
}

struct match_request *match_request_create (const struct jobspec *js, struct error *err)
{
    struct compiler cc = { .req = calloc (1, sizeof (*cc.req)), .err = err };
    if (!cc.req) {
        error_set (err, ENOMEM, "resources: out of memory");
        return NULL;
    }
    if (compile (&cc, js) < 0) {
        match_request_destroy (cc.req);
        return NULL;
    }
    return cc.req;
}

void match_request_destroy (struct match_request *req)
{
    if (req) {
        constraint_destroy (req->constraint);
        free (req);
    }
}

uint64_t match_request_shape (const struct match_request *req)
{
    return req->shape;
}

size_t match_request_memory (const struct match_request *req)
{
    return sizeof (*req) + constraint_memory (req->constraint);
}

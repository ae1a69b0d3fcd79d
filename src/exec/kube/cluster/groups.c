/* groups.c - see groups.h */
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/cluster/groups.h"

#include "exec/kube/core/knode.h"

struct kgroups {
    struct kgroup {
        struct knode like; /* the description of each node for the broker */
        uint32_t existing;
    } list[EXEC_GROUPS_MAX];
    struct exec_group told[EXEC_GROUPS_MAX];
    bool changed;
};

int groups_start (struct exec *x)
{
    if (x->cfg.groups.n == 0)
        return 0;
    x->groups = calloc (1, sizeof (*x->groups));
    if (!x->groups)
        return -ENOMEM;
    groups_queues_changed (x);
    return 0;
}

void groups_stop (struct exec *x)
{
    for (size_t i = 0; x->groups && i < x->cfg.groups.n; i++)
        node_release (&x->groups->list[i].like);
    free (x->groups);
    x->groups = NULL;
}

void groups_queues_changed (struct exec *x)
{
    for (size_t i = 0; x->groups && i < x->cfg.groups.n; i++) {
        struct knode *n = &x->groups->list[i].like;
        autojson json_t *node = groupconfig_node (&x->cfg.groups.list[i]);

        n->offered = node && node_read (x, n, node) == 0 && n->offered;
        x->groups->changed = true;
    }
    if (x->groups)
        exec_soon (x);
}

static void count (struct exec *x, struct knode *n, int group)
{
    if (n->group == group)
        return;
    if (n->group > 0)
        x->groups->list[n->group - 1].existing--;
    if (group > 0)
        x->groups->list[group - 1].existing++;
    n->group = group;
    x->groups->changed = true;
    exec_soon (x);
}

void groups_see (struct exec *x, struct knode *n, const json_t *node)
{
    if (!x->groups)
        return;
    n->was_ready |= n->state != MACHINE_NODE_DOWN;
    json_t *labels = json_object_get (json_object_get (node, "metadata"), "labels");
    count (x, n, n->was_ready ? groupconfig_find (&x->cfg.groups, labels) + 1 : 0);
}

void groups_lose (struct exec *x, struct knode *n)
{
    n->was_ready = false;
    if (x->groups)
        count (x, n, 0);
}

uint32_t groups_below_min (const struct exec *x, size_t group)
{
    uint32_t min = x->cfg.groups.list[group].min,
             existing = x->groups->list[group].existing;

    return min > existing ? min - existing : 0;
}

void groups_tell (struct exec *x)
{
    struct kgroups *g = x->groups;

    if (!g || !g->changed)
        return;
    g->changed = false;
    for (size_t i = 0; i < x->cfg.groups.n; i++) {
        const struct groupconfig *c = &x->cfg.groups.list[i];
        const struct knode *n = &g->list[i].like;
        uint32_t existing = g->list[i].existing;

        g->told[i] = (struct exec_group){
            .name = c->name,
            .node = { .places = n->places,
                      .cores = n->cores,
                      .gpus = n->gpus,
                      .memory_mib = n->memory_mib,
                      .properties = (const char *const *)n->properties,
                      .gpu_type = n->gpu_type },
            .possible = n->offered && c->max > existing ? c->max - existing : 0,
            .delay = c->delay
        };
    }
    x->host.groups (x->host.arg, g->told, x->cfg.groups.n);
}

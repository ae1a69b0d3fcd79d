/* taskplaces.c - reads the tasks of each node, see taskplaces.h */
#include "pmix/taskplaces.h"

void taskplaces_destroy (struct taskplaces *places)
{
    if (!places)
        return;
    free (places->node_of);
    free (places->local_of);
    free (places->count);
    free (places);
}

static struct taskplaces *create (uint32_t nnodes, uint32_t ntasks)
{
    struct taskplaces *p = calloc (1, sizeof (*p));

    if (!p)
        return NULL;
    *p = (struct taskplaces){ .nnodes = nnodes,
                              .ntasks = ntasks,
                              .node_of = calloc (ntasks, sizeof (uint32_t)),
                              .local_of = calloc (ntasks, sizeof (uint32_t)),
                              .count = calloc (nnodes, sizeof (uint32_t)) };
    if (p->node_of && p->local_of && p->count)
        return p;
    taskplaces_destroy (p);
    return NULL;
}

/* Fills the places; node_of is nnodes where no task was. */
static int fill (struct taskplaces *p, const char *text, struct error *err)
{
    uint32_t node = 0, found = 0;

    for (uint32_t i = 0; i < p->ntasks; i++)
        p->node_of[i] = p->nnodes;
    for (const char *at = text; *at; at += *at == ',') {
        char *end;
        unsigned long task = strtoul (at, &end, 10);
        if (at[0] < '0' || at[0] > '9' || task >= p->ntasks || node >= p->nnodes
            || p->node_of[task] != p->nnodes)
            return error_set (err, EINVAL, "PMIx: tasks of the nodes: '%.40s'", at);
        p->node_of[task] = node;
        p->local_of[task] = p->count[node]++;
        found++;
        for (at = end; *at == ';'; at++)
            node++;
        if (*at && *at != ',' && at == end)
            return error_set (err, EINVAL, "PMIx: tasks of the nodes: '%.40s'", at);
    }
    if (found != p->ntasks)
        return error_set (err, EINVAL, "PMIx: %u of %u tasks have a node", found,
                          p->ntasks);
    return 0;
}

struct taskplaces *taskplaces_parse (const char *text, uint32_t nnodes, uint32_t ntasks,
                                     struct error *err)
{
    struct taskplaces *p = create (nnodes, ntasks);

    if (!p) {
        error_no_memory (err, NULL);
        return NULL;
    }
    if (fill (p, text, err) == 0)
        return p;
    taskplaces_destroy (p);
    return NULL;
}

/* acct_components.c - rows of the components of heterogeneous jobs; see acct.h */
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"
#include "common/hostlist.h"

#define HOSTS_MAX 1000000

json_t *acct_components (const struct acct_row *row)
{
    json_t *list = acct_has (row, ACCT_COMPONENTS)
                       ? json_loads (row->values[ACCT_COMPONENTS], 0, NULL)
                       : NULL;

    if (json_array_size (list) > 0)
        return list;
    json_decref (list);
    return NULL;
}

/* Sizes are fixed: a component has got what it asked for. */
static const struct {
    enum acct_value value;
    const char *key;
} own[] = {
    { ACCT_NAME, "name" },         { ACCT_NODES, "nodes" },
    { ACCT_ASKED_NODES, "nodes" }, { ACCT_NTASKS, "ntasks" },
    { ACCT_NCORES, "ncores" },     { ACCT_ASKED_NCORES, "ncores" },
    { ACCT_GPUS, "gpus" },         { ACCT_ASKED_GPUS, "gpus" },
    { ACCT_MEMORY, "memory_mib" }, { ACCT_NODE_GRES, "gres_per_node" },
    { ACCT_NODELIST, "nodelist" }, { ACCT_FEATURES, "features" },
};

void acct_row_narrow (struct acct_row *row, const json_t *components, size_t n)
{
    const json_t *o = json_array_get (components, n);
    double memory = strtod (json_text (o, "memory_per_node"), NULL);
    double nodes = strtod (json_text (o, "nodes"), NULL);

    for (size_t i = 0; i < ARRAY_SIZE (own); i++)
        row->values[own[i].value] = json_text (o, own[i].key);
    snprintf (row->asked_memory, sizeof (row->asked_memory), "%.0f", memory * nodes);
    row->values[ACCT_ASKED_MEMORY] = row->asked_memory;
    row->values[ACCT_NODE_MEMORY] =
        acct_has (row, ACCT_MEMORY) ? "" : json_text (o, "memory_per_node");
    row->values[ACCT_CPU_MILLI] = row->values[ACCT_ASKED_CPU_MILLI] = "";
    if (n > 0)
        row->values[ACCT_LICENSES] = "";
    snprintf (row->component, sizeof (row->component), "%zu", n);
}

/* Whether the lists of nodes have one in common. */
static bool share_node (const char *a, const char *b)
{
    struct hostlist *ha = *a ? hostlist_decode (a, HOSTS_MAX, NULL) : NULL;
    struct hostlist *hb = *b ? hostlist_decode (b, HOSTS_MAX, NULL) : NULL;
    bool found = false;

    for (size_t i = 0; ha && hb && i < hostlist_count (ha) && !found; i++)
        found = hostlist_find (hb, hostlist_nth (ha, i)) >= 0;
    hostlist_destroy (ha);
    hostlist_destroy (hb);
    return found;
}

bool acct_step_is_here (const struct acct_row *row, const json_t *step)
{
    const json_t *list = json_object_get (step, "components"), *n;
    const char *nodes = json_text (step, "nodes"); /* of a step that runs */
    double component = strtod (row->component, NULL);
    size_t i;

    if (!*row->component)
        return true;
    json_array_foreach (list, i, n)
        if (json_number_value (n) == component)
            return true;
    if (*nodes)
        return share_node (nodes, row->values[ACCT_NODELIST]);
    return json_array_size (list) == 0 && component == 0;
}

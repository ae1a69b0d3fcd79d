/* components.c - see components.h */
#include "broker/api/components.h"

#include "common/hostlist.h"
#include "job/details.h"
#include "match/machine/rset.h"

static void set_number (json_t *o, const char *key, uint64_t n)
{
    char text[24];

    snprintf (text, sizeof (text), "%ju", (uintmax_t)n);
    json_object_set_new (o, key, json_string (text));
}

/* Adds the allocation of the component. */
static void add_allocation (json_t *o, const struct rset *r, size_t component)
{
    size_t first, n = rset_component (r, component, &first);
    struct hostlist *names = hostlist_create ();
    uint64_t cores = 0, gpus = 0, memory = 0;

    for (size_t i = first; names && i < first + n; i++) {
        hostlist_append (names, r->ranks[i].node);
        cores += idset_count (r->ranks[i].cores);
        gpus += idset_count (r->ranks[i].gpus);
        memory += (uint64_t)r->ranks[i].memory_mib;
    }
    autofree char *list = names ? hostlist_encode (names) : NULL;
    hostlist_destroy (names);
    json_object_set_new (o, "nodelist", json_string (list ? list : ""));
    set_number (o, "nodes", n);
    set_number (o, "ncores", cores);
    set_number (o, "gpus", gpus);
    set_number (o, "memory_mib", memory);
}

json_t *components_json (const struct job *job)
{
    const char *text =
        job->heterogeneous ? details_get (job->details, "components") : NULL;
    json_t *list = text ? json_loads (text, 0, NULL) : NULL, *o;
    struct rset *r = list && job->r ? rset_decode (job->r, strlen (job->r), NULL) : NULL;
    size_t i;

    json_array_foreach (list, i, o)
        if (r)
            add_allocation (o, r, i);
    rset_destroy (r);
    return list;
}

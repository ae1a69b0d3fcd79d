/* jobview_components.c - a heterogeneous job as one description for each component
 */
#include "cmd/print/print.h"
#include "cmd/slurm/jobs/jobview.h"

/* The ranks of component n. */
static json_t *ranks_of (const json_t *job, size_t n)
{
    const json_t *ranks = json_object_get (job, "ranks");
    json_t *list = json_array (), *rank;
    size_t i;

    json_array_foreach (ranks, i, rank)
        if (answer_number (rank, "component") == (double)n)
            json_array_append (list, rank);
    return list;
}

static json_t *component_of (const json_t *job, const json_t *component, size_t n)
{
    static const char *const numbers[] = { "nodes", "ntasks", "ncores" };
    json_t *o = json_copy ((json_t *)job);
    int rc = o ? 0 : -1;

    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++)
        rc |= json_object_set_new (
            o, numbers[i], json_real (strtod (json_text (component, numbers[i]), NULL)));
    rc |= json_object_set_new (o, "name", json_string (json_text (component, "name")));
    rc |= json_object_set_new (o, "nodelist",
                               json_string (json_text (component, "nodelist")));
    rc |= json_object_set (o, "request", json_object_get (component, "request"));
    rc |= json_object_set_new (o, "ranks", ranks_of (job, n));
    rc |= json_object_set_new (o, "component", json_integer ((json_int_t)n));
    if (n > 0) {
        rc |= json_object_set_new (o, "batch", json_false ());
        rc |= json_object_set_new (o, "licenses", json_string (""));
    }
    if (rc == 0)
        return o;
    json_decref (o);
    return NULL;
}

json_t *jobview_components (json_t *job)
{
    const json_t *components = json_object_get (job, "components"), *component;
    size_t i;

    if (json_array_size (components) == 0)
        return json_pack ("[O]", job);
    json_t *list = json_array ();
    json_array_foreach (components, i, component)
        json_array_append_new (list, component_of (job, component, i));
    return list;
}

void jobview_add_component (struct strbuf *sb, const json_t *job)
{
    if (json_object_get (job, "component"))
        strbuf_addf (sb, "%.0f", answer_number (job, "component"));
}

void jobview_add_het_job (struct strbuf *sb, const json_t *job)
{
    if (json_object_get (job, "component"))
        strbuf_addf (sb, "%.0f", answer_number (job, "id"));
}

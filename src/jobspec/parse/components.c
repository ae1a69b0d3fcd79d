/* components.c - the components of a heterogeneous job, see jobspec.h
 *
 * Each further component is a jobspec of its own, so that sizes and shapes are computed by
 * the same functions for all components.
 */
#include <errno.h>
#include <string.h>

#include "jobspec/jobspec_private.h"

#define WHERE "jobspec: attributes.system.fluxq.components"

static bool is_elastic (const struct jobspec_resource *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].count.min != r[i].count.max || r[i].sizes
            || is_elastic (r[i].with, r[i].nwith))
            return true;
    return false;
}

/* Why a component, also the first one, is not allowed; NULL: it is. */
static const char *unfit (const struct jobspec *js)
{
    if (js->nresources != 1)
        return "has one vertex at the top of its resources";
    if (is_elastic (js->resources, js->nresources))
        return "has fixed numbers of nodes and tasks: name one number";
    if (js->memory_per_node > 0)
        return "has memory on each node only with a number of nodes: say -N too, or "
               "--mem-per-cpu";
    if (js->placement.kind > PLACEMENT_ANY || js->switches.count > 0 || js->segment > 0)
        return "does not go with --placement, --switches and --segment";
    return NULL;
}

/* Why the component says something that only the job can say; NULL: it does not. */
static const char *unfit_further (const struct jobspec *js)
{
    if (js->ncomponents > 0)
        return "has no components itself";
    if (js->script)
        return "has no script: the first component runs it";
    if (js->array.tasks || js->depend.n > 0 || js->queue || js->stage_in.n > 0
        || js->stage_out.n > 0 || js->licenses || js->malleable)
        return "has no array, dependencies, queue, files, licenses or resize: the job "
               "has them";
    if (js->image || js->pods)
        return "has no image and no choices for its pods: those of the job hold for all";
    return NULL;
}

static const char *unfit_job (const struct jobspec *js)
{
    if (js->array.tasks)
        return "an array has no components: submit its tasks one by one";
    if (js->malleable)
        return "a malleable job has no components";
    return NULL;
}

static int parse_component (struct jobspec *js, size_t i, json_t *root, struct error *err)
{
    struct error inner;
    struct jobspec *c = jobspec_from_json (root, &inner);
    const char *why;

    if (!c && inner.code == ENOMEM)
        return error_no_memory (err, "jobspec");
    if (!c)
        return error_set (err, EINVAL, WHERE "[%zu]: %.300s", i, inner.text);
    js->components[js->ncomponents++] = c;
    if ((why = unfit_further (c)) || (why = unfit (c)))
        return error_set (err, EINVAL, WHERE "[%zu]: a component %s", i, why);
    return 0;
}

int jobspec_parse_components (struct jobspec *js, struct error *err)
{
    json_t *system = json_object_get (json_object_get (js->root, "attributes"), "system");
    json_t *list = json_object_get (json_object_get (system, "fluxq"), "components");
    const char *why;

    if (!list)
        return 0;
    size_t n = json_array_size (list);
    if (!json_is_array (list) || n == 0 || n >= JOBSPEC_COMPONENTS_MAX)
        return error_set (err, EINVAL, WHERE ": expected a list of 1 to %d jobspecs",
                          JOBSPEC_COMPONENTS_MAX - 1);
    if ((why = unfit_job (js)))
        return error_set (err, EINVAL, WHERE ": %s", why);
    if ((why = unfit (js)))
        return error_set (err, EINVAL, WHERE ": the first component %s", why);
    if (!(js->components = calloc (n, sizeof (struct jobspec *))))
        return error_no_memory (err, "jobspec");
    for (size_t i = 0; i < n; i++) {
        int rc = parse_component (js, i, json_array_get (list, i), err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

void jobspec_release_components (struct jobspec *js)
{
    for (size_t i = 0; i < js->ncomponents; i++)
        jobspec_destroy (js->components[i]);
    free (js->components);
}

const struct jobspec *jobspec_component (const struct jobspec *js, size_t i)
{
    return i == 0 ? js : js->components[i - 1];
}

/* jgf_paths.c - see jgf_paths.h */
#include "match/readers/jgf_paths.h"

#define TWICE (-1) /* in odd: no place, as several vertices have the path */

static int gather_one (struct jgf_paths *p, const char *path, uint32_t v, uint32_t unit)
{
    json_int_t place = json_object_get (p->odd, path) ? TWICE : (json_int_t)p->n;

    if (array_reserve (&p->units, &p->alloc, p->n + 1, sizeof (*p->units)) < 0)
        return -ENOMEM;
    if (json_object_set_new_nocheck (p->odd, path, json_integer (place)) < 0)
        return -ENOMEM;
    p->units[p->n++] = (struct jgf_unit){ v, unit };
    return 0;
}

static int gather (struct jgf_paths *p)
{
    const struct graph *g = p->g;
    const char *subsystem = graph_subsystem (g);

    p->odd = json_object ();
    if (!p->odd)
        return -ENOMEM;
    for (uint32_t v = 0; v < g->nv; v++) {
        for (uint32_t unit = 0; unit < graph_vertex (g, v)->n; unit++) {
            const char *path = graph_path_in (g, v, unit, subsystem);
            int rc = path ? gather_one (p, path, v, unit) : 0;
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

int jgf_paths_find (struct jgf_paths *p, const char *path, uint32_t *ret_v,
                    uint32_t *ret_unit)
{
    int rc = graph_find_path (p->g, path, ret_v, ret_unit), rc2 = 0;

    if (rc == 0 && !graph_path_in (p->g, *ret_v, *ret_unit, graph_subsystem (p->g)))
        return 0;
    if (!p->odd)
        rc2 = gather (p);
    const json_t *place = json_object_get (p->odd, path);
    if (rc2 < 0 || !place)
        return rc2 < 0 ? rc2 : rc;
    if (json_integer_value (place) == TWICE)
        return -EEXIST;
    *ret_v = p->units[json_integer_value (place)].v;
    *ret_unit = p->units[json_integer_value (place)].unit;
    return 0;
}

void jgf_paths_release (struct jgf_paths *p)
{
    json_decref (p->odd);
    free (p->units);
    *p = (struct jgf_paths){ .g = p->g };
}

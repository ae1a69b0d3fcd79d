/* paths.c - see paths.h */
#include "tools/match/paths.h"

#include "common/parse.h"

void paths_release (struct paths *p)
{
    free (p->found);
    *p = (struct paths){ .found = NULL };
}

static int add (struct paths *p, uint32_t v, uint32_t unit)
{
    if (array_reserve (&p->found, &p->alloc, p->n + 1, sizeof (*p->found)) < 0)
        return -ENOMEM;
    p->found[p->n++] = (struct path_place){ v, unit };
    return 0;
}

/* True if a unit of v has that name. */
static bool has_name (const struct graph *g, uint32_t v, const char *name, size_t len,
                      uint32_t *ret_unit)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    size_t front = strlen (graph_basename (g, v));
    char buf[1024];
    int64_t id;

    *ret_unit = 0;
    if (x->n > 1) {
        if (len <= front || len - front > 10)
            return false;
        snprintf (buf, sizeof (buf), "%.*s", (int)(len - front), name + front);
        if (parse_int (buf, x->id, (int64_t)x->id + x->n - 1, &id, "id", NULL) < 0)
            return false;
        *ret_unit = (uint32_t)(id - x->id);
    }
    graph_name (g, v, *ret_unit, buf, sizeof (buf));
    return strlen (buf) == len && !memcmp (buf, name, len);
}

/* path: the rest after the way to v; depth is bounded by GRAPH_DEPTH_MAX. */
static int look (struct paths *p, const struct graph *g, uint32_t v, const char *path)
{
    size_t len = strcspn (path, "/");
    uint32_t unit;
    int rc = 0;

    if (!has_name (g, v, path, len, &unit))
        return 0;
    if (!path[len])
        return add (p, v, unit);
    GRAPH_CHILDREN (g, v, child)
    {
        if (rc == 0)
            rc = look (p, g, child, path + len + 1);
    }
    return rc;
}

int paths_find (struct paths *p, const struct graph *g, const char *path)
{
    uint32_t v, unit;
    int rc = graph_find_path (g, path, &v, &unit);

    *p = (struct paths){ .found = NULL };
    if (rc == 0)
        rc = look (p, g, g->root, path + 1);
    if (rc < 0)
        paths_release (p);
    return rc;
}

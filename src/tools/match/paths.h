/* paths.h - all vertices of a path: several ranks on one host are nodes with equal names
 *
 *     struct paths p;
 *     rc = paths_find (&p, g, "/cluster0/node3/core1");   // 0, -ENOENT, -ENOMEM
 *     for (size_t i = 0; i < p.n; i++)
 *         p.found[i].v, p.found[i].unit
 *     paths_release (&p);
 */
#pragma once

#include "match/graph/graph.h"

struct path_place {
    uint32_t v, unit;
};

struct paths {
    struct path_place *found;
    size_t n, alloc;
};

/* O(children of the vertices on the way). p is empty after an error. */
int paths_find (struct paths *p, const struct graph *g, const char *path);
void paths_release (struct paths *p);

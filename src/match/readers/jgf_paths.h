/* jgf_paths.h - vertices of a graph by the paths that their documents gave them
 *
 *     struct jgf_paths p = { .g = g };
 *     rc = jgf_paths_find (&p, "/tiny0/rack0/node1", &v, &unit);
 *     jgf_paths_release (&p);
 *
 * JGF states a path in addition to the names. If a path does not consist of the names on
 * the way (a disk "ssd22" at /mini/chassis1/ssd3), the reader keeps it as graph_path_in()
 * the main subsystem, and that path takes precedence: names decide only if no vertex has
 * the path. The kept paths are gathered at the first look-up that names do not answer;
 * most graphs have none.
 */
#pragma once

#include "common/json.h"
#include "match/graph/graph.h"

struct jgf_paths {
    const struct graph *g;
    json_t *odd; /* index in units by path, or NULL: not gathered */
    struct jgf_unit {
        uint32_t v, unit;
    } * units;
    size_t n, alloc;
};

/* 0, -ENOENT, -ENOMEM; -EEXIST: two vertices have the path. */
int jgf_paths_find (struct jgf_paths *p, const char *path, uint32_t *ret_v,
                    uint32_t *ret_unit);
void jgf_paths_release (struct jgf_paths *p);

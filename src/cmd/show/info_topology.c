/* info_topology.c - see info_topology.h */
#include "cmd/show/info_topology.h"

#include <utlist.h>

#include "cmd/print/nodegroup.h"

struct place {
    const char *level, *name; /* borrowed from the answer */
    struct node_group all;    /* includes the places inside */
    struct hostlist *own;     /* directly in it */
    struct place *inside, *next;
};

static struct place *place_in (struct place *up, const char *level, const char *name)
{
    struct place *x;

    LL_FOREACH (up->inside, x)
        if (!strcmp (x->level, level) && !strcmp (x->name, name))
            return x;
    if (!(x = calloc (1, sizeof (*x))))
        return up; /* its nodes are shown one level further out */
    x->level = level;
    x->name = name;
    x->own = hostlist_create ();
    LL_APPEND (up->inside, x);
    return x;
}

static void place_free (struct place *x)
{
    struct place *in, *next;

    LL_FOREACH_SAFE (x->inside, in, next)
    place_free (in);
    hostlist_destroy (x->own);
    free (x);
}

static void add_node (struct place *root, const json_t *node)
{
    struct place *x = root;
    const char *level;
    json_t *name;

    json_object_foreach (json_object_get (node, "places"), level, name) {
        x = place_in (x, level, json_is_string (name) ? json_string_value (name) : "?");
        node_group_add (&x->all, node);
    }
    if (x == root)
        node_group_add (&x->all, node);
    if (x->own)
        hostlist_append (x->own, json_text (node, "name"));
}

static void add_row (struct grid *grid, const struct place *x, int depth)
{
    autofree char *names =
        x->own && hostlist_count (x->own) > 0 ? hostlist_encode (x->own) : NULL;

    if (x->level)
        grid_add (grid, "%*s%s %s", 2 * depth, "", x->level, x->name);
    else
        grid_add (grid, "no place");
    grid_add (grid, "%zu", x->all.n);
    node_group_cells (grid, &x->all);
    grid_add (grid, "%s", names ? names : "-");
}

static void add_rows (struct grid *grid, const struct place *up, int depth)
{
    const struct place *x;

    LL_FOREACH (up->inside, x) {
        add_row (grid, x, depth);
        add_rows (grid, x, depth + 1);
    }
}

void show_topology (const json_t *nodes)
{
    static const char *const headings[] = {
        "PLACE", ">NODES",  ">CORES(used/free/all)", ">MEMORY(used/all)",
        ">GPUS", "NODELIST"
    };
    struct place *root = calloc (1, sizeof (*root));
    struct grid grid;

    if (!root)
        return;
    root->own = hostlist_create ();
    for (size_t i = 0; i < json_array_size (nodes); i++)
        add_node (root, json_array_get (nodes, i));
    grid_init (&grid, headings, ARRAY_SIZE (headings));
    add_rows (&grid, root, 0);
    if (root->all.n > 0)
        add_row (&grid, root, 0);
    grid_print (&grid, stdout);
    grid_release (&grid);
    place_free (root);
}

/* machine_place.c - places of nodes: the zones, racks, ... above them
 *
 * A place is identified by its level, its name and its outer place: rack r1 of zone a is
 * not rack r1 of zone b. A place is never forgotten, as its id is its position in the
 * order; its vertex is in the graph while something is in it.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "match/machine/machine_private.h"

#define LEVEL_MAX 63 /* characters, as for any type of the graph */
#define NAME_MAX_LEN 255

/* -- levels and lists of places -- */

bool machine_level_is_valid (const char *level)
{
    static const char *const taken[] = { "cluster",  "node",   "slot",   "or_slot",
                                         "xor_slot", "socket", "numa",   "core",
                                         "pu",       "gpu",    "memory", "storage_node" };
    size_t len = strlen (level);

    if (!isalpha ((unsigned char)level[0]) || len > LEVEL_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum ((unsigned char)level[i]) && level[i] != '-' && level[i] != '_')
            return false;
    for (size_t i = 0; i < ARRAY_SIZE (taken); i++)
        if (!strcmp (level, taken[i]))
            return false;
    return true;
}

static size_t count (const struct machine_place *list)
{
    size_t n = 0;

    while (list && list[n].level)
        n++;
    return n;
}

bool machine_places_equal (const struct machine_place *a, const struct machine_place *b)
{
    size_t n = count (a);

    if (n != count (b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp (a[i].level, b[i].level) != 0 || strcmp (a[i].name, b[i].name) != 0)
            return false;
    return true;
}

/* Appends text at *at, which advances. */
static const char *put (char **at, const char *text)
{
    size_t bytes = strlen (text) + 1;
    char *copy = memcpy (*at, text, bytes);

    *at += bytes;
    return copy;
}

struct machine_place *machine_places_copy (const struct machine_place *list)
{
    size_t n = count (list), bytes = (n + 1) * sizeof (*list);

    for (size_t i = 0; i < n; i++)
        bytes += strlen (list[i].level) + strlen (list[i].name) + 2;
    struct machine_place *copy = calloc (1, bytes);
    if (!copy)
        return NULL;
    char *at = (char *)(copy + n + 1);
    for (size_t i = 0; i < n; i++) {
        copy[i].level = put (&at, list[i].level);
        copy[i].name = put (&at, list[i].name);
    }
    return copy;
}

int places_check (const struct machine_node_spec *spec, struct error *err)
{
    size_t n = count (spec->places);

    if (n > MACHINE_LEVELS_MAX)
        return error_set (err, EINVAL, "node %s: it is in %zu places, at most %d can be",
                          spec->name, n, MACHINE_LEVELS_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct machine_place *p = &spec->places[i];
        if (!machine_level_is_valid (p->level))
            return error_set (err, EINVAL, "node %s: '%.63s' is not a level", spec->name,
                              p->level);
        if (strlen (p->name) > NAME_MAX_LEN)
            return error_set (err, EINVAL, "node %s: the name of its %s is too long",
                              spec->name, p->level);
        for (size_t k = 0; k < i; k++)
            if (!strcmp (p->level, spec->places[k].level))
                return error_set (err, EINVAL, "node %s: it is in two of %s", spec->name,
                                  p->level);
    }
    return 0;
}

/* -- places -- */

static void place_free (struct place *x)
{
    if (!x)
        return;
    free (x->path);
    free (x->key);
    free (x);
}

/* Adds the innermost of the first n places of the list. */
static struct place *place_add (struct machine *g, struct place *up, const char *key,
                                const struct machine_place *list, size_t n)
{
    struct machine_place path[MACHINE_LEVELS_MAX + 1] = { { NULL, NULL } };
    struct place *x = calloc (1, sizeof (*x));

    memcpy (path, list, n * sizeof (*list));
    if (!x || !(x->key = strdup (key)) || !(x->path = machine_places_copy (path))) {
        place_free (x);
        return NULL;
    }
    x->up = up;
    x->own = &x->path[n - 1];
    x->v = GRAPH_NONE;
    x->id = (int)HASH_COUNT (g->places);
    HASH_ADD_KEYPTR (hh, g->places, x->key, strlen (x->key), x);
    if (x->hh.tbl)
        return x;
    place_free (x);
    return NULL;
}

int place_get (struct machine *g, const struct machine_place *list, struct place **ret)
{
    char key[LEVEL_MAX + NAME_MAX_LEN + 32];

    *ret = NULL;
    for (size_t n = 0; list && list[n].level; n++) {
        struct place *up = *ret;
        snprintf (key, sizeof (key), "%d %s %s", up ? up->id : -1, list[n].level,
                  list[n].name);
        HASH_FIND_STR (g->places, key, *ret);
        if (!*ret && !(*ret = place_add (g, up, key, list, n + 1)))
            return -ENOMEM;
    }
    return 0;
}

uint32_t place_vertex (struct machine *g, struct place *x, struct error *err)
{
    if (!x)
        return g->graph->root;
    if (x->v != GRAPH_NONE)
        return x->v;
    uint32_t parent = place_vertex (g, x->up, err);
    if (parent == GRAPH_NONE)
        return GRAPH_NONE;
    struct graph_spec spec = {
        .type = x->own->level, .name = x->own->name, .id = x->id, .rank = -1, .uniq = -1
    };
    x->v = graph_add (g->graph, parent, &spec, err);
    if (x->v == GRAPH_NONE && err->code == EEXIST) { /* a sibling has its name */
        spec.name = NULL;
        x->v = graph_add (g->graph, parent, &spec, err);
    }
    if (x->v == GRAPH_NONE)
        place_tidy (g, x->up);
    else if (x->up)
        x->up->inside++;
    machine_changed (g, GRAPH_NONE);
    return x->v;
}

void place_tidy (struct machine *g, struct place *x)
{
    while (x && x->inside == 0 && x->v != GRAPH_NONE) {
        graph_remove (g->graph, x->v, NULL);
        x->v = GRAPH_NONE;
        machine_changed (g, GRAPH_NONE);
        if ((x = x->up))
            x->inside--;
    }
}

void node_set_place (struct machine *g, struct machine_node *n, struct place *to)
{
    struct place *old = n->place;

    if (to)
        to->inside++;
    if (old)
        old->inside--;
    n->place = to;
    place_tidy (g, old);
}

void places_destroy (struct machine *g)
{
    struct place *x, *next;

    HASH_ITER (hh, g->places, x, next) {
        HASH_DEL (g->places, x);
        place_free (x);
    }
}

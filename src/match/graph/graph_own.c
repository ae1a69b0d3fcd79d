/* graph_own.c - data of single units of a group, and paths
 *
 * Few vertices have such a record (flag GRAPH_OWN_UNITS); an empty record is dropped.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

struct own *own_find (const struct graph *g, uint32_t v)
{
    struct own *own = NULL;
    if (graph_vertex (g, v)->flags & GRAPH_OWN_UNITS)
        HASH_FIND (hh, g->p->own, &v, sizeof (v), own);
    return own;
}

struct own *own_get (struct graph *g, uint32_t v)
{
    struct own *own = own_find (g, v);
    if (own || !(own = calloc (1, sizeof (*own))))
        return own;
    own->v = v;
    HASH_ADD (hh, g->p->own, v, sizeof (own->v), own);
    if (!own->hh.tbl) {
        free (own);
        return NULL;
    }
    graph_vertex (g, v)->flags |= GRAPH_OWN_UNITS;
    return own;
}

void own_drop (struct graph *g, uint32_t v)
{
    struct own *own = own_find (g, v);
    if (!own)
        return;
    own_cut (g, v, 0);
    HASH_DELETE (hh, g->p->own, own);
    graph_vertex (g, v)->flags &= (uint16_t)~GRAPH_OWN_UNITS;
    free (own->down);
    free (own->drained);
    free (own->sets);
    free (own->paths);
    free (own);
}

void own_tidy (struct graph *g, uint32_t v)
{
    const struct own *own = own_find (g, v);
    if (own && !own->want && !own->leaving && !own->withheld && !own->nsets
        && !own->npaths && !own->down && !own->drained)
        own_drop (g, v);
}

int own_want (struct graph *g, uint32_t v, uint32_t want)
{
    struct own *own = want ? own_get (g, v) : own_find (g, v);
    if (own)
        own->want = want;
    own_tidy (g, v);
    return want && !own ? -ENOMEM : 0;
}

void own_withhold_at_most (struct graph *g, uint32_t v, int64_t amount)
{
    struct own *own = own_find (g, v);
    if (own)
        own->withheld = MIN (own->withheld, amount);
}

/* Clears the bits from n on; frees a map that is then empty. */
static void bits_cut (uint64_t **bits, size_t nwords, uint32_t n)
{
    bool any = false;
    for (size_t i = 0; *bits && i < nwords; i++) {
        if (i * 64 >= n)
            (*bits)[i] = 0;
        else if (n - i * 64 < 64)
            (*bits)[i] &= (UINT64_C (1) << n % 64) - 1;
        any = any || (*bits)[i];
    }
    if (!any) {
        free (*bits);
        *bits = NULL;
    }
}

void own_cut (struct graph *g, uint32_t v, uint32_t n)
{
    struct own *own = own_find (g, v);
    if (!own)
        return;
    bits_cut (&own->down, own->nwords, n);
    bits_cut (&own->drained, own->nwords, n);
    while (own->nsets > 0 && own->sets[own->nsets - 1].unit >= n)
        set_put (g->p, own->sets[--own->nsets].properties);
    while (own->npaths > 0 && own->paths[own->npaths - 1].unit >= n) {
        const struct own_path *last = &own->paths[--own->npaths];
        text_put (g->p, last->subsystem);
        free (last->path);
    }
}

static int bits_grow (uint64_t **bits, size_t had, size_t need)
{
    if (!*bits)
        return 0;
    uint64_t *more = realloc (*bits, need * sizeof (*more));
    if (!more)
        return -ENOMEM;
    memset (more + had, 0, (need - had) * sizeof (*more));
    *bits = more;
    return 0;
}

int own_grow (struct graph *g, uint32_t v, uint32_t n)
{
    struct own *own = own_find (g, v);
    size_t need = words_of (n);
    if (!own || need <= own->nwords)
        return 0;
    if (bits_grow (&own->down, own->nwords, need) < 0
        || bits_grow (&own->drained, own->nwords, need) < 0)
        return -ENOMEM;
    own->nwords = need;
    return 0;
}

uint64_t *own_bits (struct graph *g, uint32_t v, uint8_t flag)
{
    struct own *own = own_get (g, v);
    if (!own)
        return NULL;
    if (!own->down && !own->drained)
        own->nwords = words_of (graph_vertex (g, v)->n);
    uint64_t **bits = flag == GRAPH_DOWN ? &own->down : &own->drained;
    if (!*bits)
        *bits = calloc (own->nwords, sizeof (**bits));
    if (*bits)
        return *bits;
    own_tidy (g, v);
    return NULL;
}

size_t own_memory (const struct graph_private *p)
{
    size_t sum = 0;
    const struct own *own, *next;
    HASH_ITER (hh, p->own, own, next) {
        sum += sizeof (*own) + own->sets_alloc * sizeof (*own->sets)
               + own->paths_alloc * sizeof (*own->paths);
        sum += (!!own->down + !!own->drained) * own->nwords * sizeof (uint64_t);
        for (size_t i = 0; i < own->npaths; i++)
            sum += strlen (own->paths[i].path) + 1;
    }
    return sum;
}

/* -- sets -- */

static size_t sets_search (const struct own *own, uint32_t unit)
{
    size_t low = 0, high = own->nsets;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (own->sets[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct own_set *own_set_find (const struct graph *g, uint32_t v, uint32_t unit)
{
    const struct own *own = own_find (g, v);
    size_t i = own ? sets_search (own, unit) : 0;
    return own && i < own->nsets && own->sets[i].unit == unit ? &own->sets[i] : NULL;
}

int own_set_put (struct graph *g, uint32_t v, uint32_t unit, uint32_t set)
{
    struct own *own = own_get (g, v);
    if (!own)
        return -ENOMEM;
    size_t i = sets_search (own, unit);
    if (i < own->nsets && own->sets[i].unit == unit) {
        set_put (g->p, own->sets[i].properties);
        own->sets[i].properties = set;
        return 0;
    }
    if (array_reserve (&own->sets, &own->sets_alloc, own->nsets + 1, sizeof (*own->sets))
        < 0) {
        own_tidy (g, v);
        return -ENOMEM;
    }
    struct own_set *sets = own->sets;
    memmove (sets + i + 1, sets + i, (own->nsets++ - i) * sizeof (*sets));
    sets[i] = (struct own_set){ unit, set };
    return 0;
}

void own_sets_join (struct graph *g, uint32_t v, uint32_t set)
{
    struct own *own = own_find (g, v);
    size_t kept = 0;
    for (size_t i = 0; own && i < own->nsets; i++) {
        if (own->sets[i].properties == set)
            set_put (g->p, set);
        else
            own->sets[kept++] = own->sets[i];
    }
    if (own)
        own->nsets = kept;
    own_tidy (g, v);
}

/* -- paths in further subsystems -- */

static size_t paths_search (const struct own *own, uint32_t unit, uint32_t subsystem,
                            bool *ret_found)
{
    size_t low = 0, high = own->npaths;
    *ret_found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct own_path *x = &own->paths[middle];
        if (x->unit < unit || (x->unit == unit && x->subsystem < subsystem)) {
            low = middle + 1;
            continue;
        }
        high = middle;
        *ret_found = *ret_found || (x->unit == unit && x->subsystem == subsystem);
    }
    return low;
}

const char *graph_path_in (const struct graph *g, uint32_t v, uint32_t unit,
                           const char *subsystem)
{
    bool found = false;
    const struct own *own = own_find (g, v);
    size_t i = own ? paths_search (own, unit, text_find (g->p, subsystem), &found) : 0;
    return found ? own->paths[i].path : NULL;
}

/* Takes over text and copy, also on failure. */
static int path_put (struct graph *g, uint32_t v, uint32_t unit, uint32_t text,
                     char *copy)
{
    bool found = false;
    struct own *own = text != GRAPH_NONE && copy ? own_get (g, v) : NULL;
    size_t i = own ? paths_search (own, unit, text, &found) : 0;
    if (found) {
        free (own->paths[i].path);
        own->paths[i].path = copy;
        text_put (g->p, text); /* the entry has a reference */
        return 0;
    }
    if (!own
        || array_reserve (&own->paths, &own->paths_alloc, own->npaths + 1,
                          sizeof (*own->paths))
               < 0) {
        text_put (g->p, text);
        free (copy);
        own_tidy (g, v);
        return -ENOMEM;
    }
    struct own_path *paths = own->paths;
    memmove (paths + i + 1, paths + i, (own->npaths++ - i) * sizeof (*paths));
    paths[i] = (struct own_path){ unit, text, copy };
    return 0;
}

static void path_remove (struct graph *g, uint32_t v, uint32_t unit,
                         const char *subsystem)
{
    bool found = false;
    struct own *own = own_find (g, v);
    size_t i = own ? paths_search (own, unit, text_find (g->p, subsystem), &found) : 0;
    if (!found)
        return;
    struct own_path *x = &own->paths[i];
    text_put (g->p, x->subsystem);
    free (x->path);
    memmove (x, x + 1, (--own->npaths - i) * sizeof (*x));
    own_tidy (g, v);
}

int graph_set_path_in (struct graph *g, uint32_t v, uint32_t unit, const char *subsystem,
                       const char *path)
{
    if (!graph_is_live (g, v) || unit >= graph_vertex (g, v)->n
        || check_word ("subsystem", subsystem, NULL) < 0
        || (path && strlen (path) > GRAPH_PATH_MAX))
        return -EINVAL;
    if (path)
        return path_put (g, v, unit, text_get (g->p, subsystem), strdup (path));
    path_remove (g, v, unit, subsystem);
    return 0;
}

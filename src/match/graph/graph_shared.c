/* graph_shared.c - equal data of many vertices of a graph, stored once
 *
 * Three shelves: texts (basenames, units, keys, values), sets of properties, and extras
 * that combine these. A thing is found by its contents, has a number, and counts its
 * references.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

/* -- shelves -- */

/* Makes room for one more thing. */
static int shelf_reserve (struct shelf *s)
{
    if (table_reserve (&s->by_hash, 1) < 0)
        return -ENOMEM;
    if (s->vacant || s->n < s->alloc)
        return 0;
    size_t alloc = s->alloc;
    if (array_reserve (&s->items, &alloc, MAX (s->n, 1) + 1, sizeof (*s->items)) < 0)
        return -ENOMEM;
    s->alloc = (uint32_t)MIN (alloc, UINT32_MAX);
    s->n = MAX (s->n, 1);
    return 0;
}

static struct shared *shelf_new (struct shelf *s, uint32_t hash, uint32_t *ret)
{
    *ret = s->vacant ? s->vacant : s->n++;
    struct shared *x = &s->items[*ret];
    if (s->vacant)
        s->vacant = x->hash;
    *x = (struct shared){ .refs = 1, .hash = hash };
    table_add (&s->by_hash, hash, *ret);
    return x;
}

/* Drops a reference; true: it was the last, and the caller drops the contents and calls
 * shelf_vacate(). */
static bool shelf_unref (struct shelf *s, uint32_t number)
{
    return --s->items[number].refs == 0;
}

static void shelf_vacate (struct shelf *s, uint32_t number)
{
    table_replace (&s->by_hash, s->items[number].hash, number, GRAPH_NONE);
    s->items[number] = (struct shared){ .hash = s->vacant };
    s->vacant = number;
}

/* -- texts -- */

static uint32_t text_look (const struct graph_private *p, const char *s, uint32_t hash)
{
    uint32_t i;
    for (size_t at = SIZE_MAX;
         (i = table_next (&p->texts.by_hash, hash, &at)) != GRAPH_NONE;) {
        if (strcmp (p->texts.items[i].text, s) == 0)
            return i;
    }
    return 0;
}

uint32_t text_find (const struct graph_private *p, const char *s)
{
    return text_look (p, s, graph_hash (p->seed, s, strlen (s)));
}

uint32_t text_get (struct graph_private *p, const char *s)
{
    if (!s)
        return 0;
    uint32_t hash = graph_hash (p->seed, s, strlen (s)), i = text_look (p, s, hash);
    if (i) {
        p->texts.items[i].refs++;
        return i;
    }
    if (shelf_reserve (&p->texts) < 0)
        return GRAPH_NONE;
    char *copy = strdup (s);
    if (!copy)
        return GRAPH_NONE;
    shelf_new (&p->texts, hash, &i)->text = copy;
    p->heap += strlen (copy) + 1;
    return i;
}

void text_put (struct graph_private *p, uint32_t text)
{
    if (text == 0 || text == GRAPH_NONE || !shelf_unref (&p->texts, text))
        return;
    autofree char *s = p->texts.items[text].text;
    shelf_vacate (&p->texts, text);
    p->heap -= strlen (s) + 1;
}

const char *text_of (const struct graph_private *p, uint32_t text)
{
    return text ? p->texts.items[text].text : NULL;
}

/* -- sets of properties -- */

static size_t set_size (uint32_t n)
{
    return sizeof (struct property_set) + 2 * n * sizeof (uint32_t);
}

const struct property_set *set_of (const struct graph_private *p, uint32_t set)
{
    return set ? p->sets.items[set].set : NULL;
}

static void set_free (struct graph_private *p, struct property_set *s)
{
    for (uint32_t i = 0; i < 2 * s->n; i++)
        text_put (p, s->pair[i]);
    free (s);
}

void set_put (struct graph_private *p, uint32_t set)
{
    if (set == 0 || set == GRAPH_NONE || !shelf_unref (&p->sets, set))
        return;
    struct property_set *s = p->sets.items[set].set;
    shelf_vacate (&p->sets, set);
    p->heap -= set_size (s->n);
    set_free (p, s);
}

/* Returns the number of a set with these contents; takes over s, also on failure. */
static int set_keep (struct graph_private *p, struct property_set *s, uint32_t *ret)
{
    *ret = 0;
    if (s->n == 0) {
        set_free (p, s);
        return 0;
    }
    size_t bytes = 2 * s->n * sizeof (uint32_t);
    uint32_t hash = graph_hash (p->seed, s->pair, bytes), i;
    for (size_t at = SIZE_MAX;
         (i = table_next (&p->sets.by_hash, hash, &at)) != GRAPH_NONE;) {
        const struct property_set *other = p->sets.items[i].set;
        if (other->n == s->n && memcmp (other->pair, s->pair, bytes) == 0) {
            p->sets.items[i].refs++;
            set_free (p, s);
            *ret = i;
            return 0;
        }
    }
    if (shelf_reserve (&p->sets) < 0) {
        set_free (p, s);
        return -ENOMEM;
    }
    shelf_new (&p->sets, hash, ret)->set = s;
    p->heap += set_size (s->n);
    return 0;
}

struct property {
    const char *key, *value;
};

static int property_compare (const void *a, const void *b)
{
    return strcmp (((const struct property *)a)->key, ((const struct property *)b)->key);
}

/* Checked, sorted, without duplicates; the caller frees the array. */
static int properties_sorted (const char *const *properties, struct property **ret,
                              size_t *ret_n, struct error *err)
{
    size_t n = 0, kept = 0;
    for (; properties[2 * n]; n++) {
        if (!properties[2 * n + 1])
            return error_set (err, EINVAL, "properties: '%.64s' has no value",
                              properties[2 * n]);
        if (n >= GRAPH_PROPERTIES_MAX)
            return error_set (err, EINVAL, "properties: more than %d of them",
                              GRAPH_PROPERTIES_MAX);
    }
    struct property *list = malloc (MAX (n, 1) * sizeof (*list));
    if (!list)
        return error_set (err, ENOMEM, "properties: out of memory");
    for (size_t i = 0; i < n; i++)
        list[i] = (struct property){ properties[2 * i], properties[2 * i + 1] };
    qsort (list, n, sizeof (*list), property_compare);
    for (size_t i = 0; i < n; i++) {
        const struct property *x = &list[i], *last = kept ? &list[kept - 1] : NULL;
        bool again = last && strcmp (last->key, x->key) == 0;
        size_t len = strlen (x->key);
        if (len < 1 || len > GRAPH_KEY_MAX || strlen (x->value) > GRAPH_VALUE_MAX
            || (again && strcmp (last->value, x->value) != 0)) {
            error_set (err, EINVAL,
                       again ? "properties: '%.64s' has two values"
                             : "properties: '%.64s' is empty or too long",
                       x->key);
            free (list);
            return -EINVAL;
        }
        if (!again)
            list[kept++] = *x;
    }
    *ret = list;
    *ret_n = kept;
    return 0;
}

static int set_build (struct graph_private *p, const struct property *list, size_t n,
                      uint32_t *ret)
{
    struct property_set *s = malloc (set_size ((uint32_t)n));
    if (!s)
        return -ENOMEM;
    s->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t key = text_get (p, list[i].key);
        uint32_t value = key == GRAPH_NONE ? key : text_get (p, list[i].value);
        if (value == GRAPH_NONE) {
            text_put (p, key);
            set_free (p, s);
            return -ENOMEM;
        }
        s->pair[2 * s->n] = key;
        s->pair[2 * s->n++ + 1] = value;
    }
    return set_keep (p, s, ret);
}

int set_get (struct graph_private *p, const char *const *properties, uint32_t *ret,
             struct error *err)
{
    *ret = 0;
    if (!properties || !properties[0])
        return 0;
    struct property *list = NULL;
    size_t n = 0;
    int rc = properties_sorted (properties, &list, &n, err);
    if (rc < 0)
        return rc;
    if ((rc = set_build (p, list, n, ret)) < 0)
        error_set (err, ENOMEM, "properties: out of memory");
    free (list);
    return rc;
}

/* Index of the first pair whose key is not less. */
static uint32_t set_search (const struct graph_private *p, const struct property_set *s,
                            const char *key, bool *ret_found)
{
    uint32_t low = 0, high = s ? s->n : 0;
    *ret_found = false;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strcmp (text_of (p, s->pair[2 * middle]), key);
        if (order < 0) {
            low = middle + 1;
            continue;
        }
        high = middle;
        *ret_found = *ret_found || order == 0;
    }
    return low;
}

const char *set_value (const struct graph_private *p, uint32_t set, const char *key)
{
    bool found;
    const struct property_set *s = set_of (p, set);
    uint32_t i = set_search (p, s, key, &found);
    return found ? text_of (p, s->pair[2 * i + 1]) : NULL;
}

int set_change (struct graph_private *p, uint32_t set, const char *key, const char *value,
                uint32_t *ret)
{
    bool found;
    const struct property_set *s = set_of (p, set);
    uint32_t at = set_search (p, s, key, &found), n = s ? s->n : 0;
    if (!found && value && n >= GRAPH_PROPERTIES_MAX)
        return -EINVAL;
    struct property *list = malloc ((n + 1) * sizeof (*list));
    if (!list)
        return -ENOMEM;
    size_t m = 0;
    for (uint32_t i = 0; i <= n; i++) {
        if (i == at && value)
            list[m++] = (struct property){ key, value };
        if (i < n && !(found && i == at))
            list[m++] = (struct property){ text_of (p, s->pair[2 * i]),
                                           text_of (p, s->pair[2 * i + 1]) };
    }
    int rc = set_build (p, list, m, ret);
    free (list);
    return rc;
}

/* -- extras -- */

const struct extra *extra_of (const struct graph_private *p, uint32_t extra)
{
    static const struct extra none = { 0 };
    return extra ? &p->extras.items[extra].extra : &none;
}

static void extra_free (struct graph_private *p, struct extra e)
{
    text_put (p, e.basename);
    text_put (p, e.name);
    text_put (p, e.unit);
    set_put (p, e.properties);
}

int extra_get (struct graph_private *p, const struct extra *e, uint32_t *ret)
{
    *ret = 0;
    if (!e->basename && !e->name && !e->unit && !e->properties)
        return 0;
    uint32_t hash = graph_hash (p->seed, e, sizeof (*e)), i;
    for (size_t at = SIZE_MAX;
         (i = table_next (&p->extras.by_hash, hash, &at)) != GRAPH_NONE;) {
        if (memcmp (&p->extras.items[i].extra, e, sizeof (*e)) == 0) {
            p->extras.items[i].refs++;
            extra_free (p, *e);
            *ret = i;
            return 0;
        }
    }
    if (shelf_reserve (&p->extras) < 0) {
        extra_free (p, *e);
        return -ENOMEM;
    }
    shelf_new (&p->extras, hash, ret)->extra = *e;
    return 0;
}

void extra_put (struct graph_private *p, uint32_t extra)
{
    if (extra == 0 || !shelf_unref (&p->extras, extra))
        return;
    struct extra e = p->extras.items[extra].extra;
    shelf_vacate (&p->extras, extra);
    extra_free (p, e);
}

struct extra extra_copy (struct graph_private *p, uint32_t extra)
{
    struct extra e = *extra_of (p, extra);
    uint32_t texts[] = { e.basename, e.name, e.unit };
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        if (texts[i])
            p->texts.items[texts[i]].refs++;
    }
    e.properties = 0;
    return e;
}

/* -- all -- */

void shared_release (struct graph_private *p)
{
    for (uint32_t i = 1; i < p->texts.n; i++)
        free (p->texts.items[i].refs ? p->texts.items[i].text : NULL);
    for (uint32_t i = 1; i < p->sets.n; i++)
        free (p->sets.items[i].refs ? p->sets.items[i].set : NULL);
    struct shelf *shelves[] = { &p->texts, &p->sets, &p->extras };
    for (size_t i = 0; i < ARRAY_SIZE (shelves); i++) {
        free (shelves[i]->items);
        table_release (&shelves[i]->by_hash);
    }
}

size_t shared_memory (const struct graph_private *p)
{
    const struct shelf *shelves[] = { &p->texts, &p->sets, &p->extras };
    size_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE (shelves); i++)
        sum += shelves[i]->alloc * sizeof (struct shared)
               + shelves[i]->by_hash.size * sizeof (struct table_slot);
    return sum;
}

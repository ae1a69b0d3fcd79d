/* Random changes of a graph, compared with a slow, obvious model: a list of units, each
 * with its name, its parent and all its properties. Fails if a path, rank or name leads
 * elsewhere after a history of adds, removals and resizes, if properties or status
 * belong to a wrong unit, if a group joins unlike units, or if links, orders, sums or
 * marks disagree. Prints its seed on failure; FLUXQ_TEST_SEED repeats a run. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/graph/graph.h"

#define MOST 260 /* units */
#define STREAMS 20
#define STEPS 400
#define KEYS 4

struct unit {
    uint32_t v, unit;
    char name[64];
    struct unit *parent;
    unsigned depth, age; /* age: when it was added, in vertices */
    char kind[12];       /* type */
    const char *base;    /* basename */
    const char *measure; /* unit or NULL */
    bool named, leaf;
    bool said; /* its name was given, even the default name */
    int64_t id, size, uniq;
    int32_t rank;
    bool divisible, down, drained, busy;
    char value[KEYS]; /* of properties "a", "b", ...: 0: none */
    /* of the group, in its first unit */
    bool all_down, all_drained;
    char all_value[KEYS];
    uint32_t want;
};

struct model {
    struct unit *u[MOST]; /* children after parents, vertices in their order */
    size_t n;
    int64_t next_uniq;
    unsigned age;
};

struct world {
    struct graph *g;
    struct model m;
    uint64_t random;
};

static uint32_t below (struct world *w, uint32_t n)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)((w->random >> 33) % n);
}

/* -- the model -- */

static struct unit *first_of (const struct model *m, uint32_t v)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->u[i]->v == v && m->u[i]->unit == 0)
            return m->u[i];
    }
    return NULL;
}

static uint32_t count_of (const struct model *m, uint32_t v)
{
    uint32_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->u[i]->v == v;
    return n;
}

static bool has_children (const struct model *m, const struct unit *u)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->u[i]->parent == u)
            return true;
    }
    return false;
}

static bool name_taken (const struct model *m, const struct unit *parent,
                        const char *name)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->u[i]->parent == parent && strcmp (m->u[i]->name, name) == 0)
            return true;
    }
    return false;
}

static struct unit *last_child (const struct model *m, const struct unit *parent)
{
    struct unit *last = NULL;
    for (size_t i = 0; i < m->n; i++) {
        struct unit *u = m->u[i];
        bool later =
            !last || u->age > last->age || (u->age == last->age && u->unit > last->unit);
        if (u->parent == parent && later)
            last = u;
    }
    return last;
}

static void model_name (struct unit *u)
{
    if (!u->named && u->id >= 0)
        snprintf (u->name, sizeof (u->name), "%s%d", u->base, (int)u->id);
    else if (!u->named)
        snprintf (u->name, sizeof (u->name), "%s", u->base);
}

static struct unit *model_append (struct model *m, const struct unit *like)
{
    struct unit *u = malloc (sizeof (*u));
    assert_non_null (u);
    *u = *like;
    m->u[m->n++] = u;
    return u;
}

/* Unit number k of the group of `first`. */
static void model_grow (struct model *m, const struct unit *first, uint32_t k)
{
    struct unit *u = model_append (m, first);
    u->unit = k;
    u->id = first->id + k;
    u->uniq = first->uniq + k;
    u->busy = false;
    u->down = first->all_down;
    u->drained = first->all_drained;
    memcpy (u->value, first->all_value, KEYS);
    model_name (u);
}

static void model_drop (struct model *m, size_t i)
{
    free (m->u[i]);
    memmove (&m->u[i], &m->u[i + 1], (--m->n - i) * sizeof (m->u[0]));
}

/* -- the graph compared with the model -- */

static void model_path (const struct unit *u, char *buf, size_t size)
{
    size_t n = 0;
    if (u->parent) {
        model_path (u->parent, buf, size);
        n = strlen (buf);
    }
    snprintf (buf + n, size - n, "/%s", u->name);
}

static void check_unit (const struct world *w, const struct unit *u)
{
    const struct graph *g = w->g;
    const struct graph_vertex *x = graph_vertex (g, u->v);
    char path[2048], name[64];
    uint32_t v, unit;
    model_path (u, path, sizeof (path));
    assert_int_equal (graph_find_path (g, path, &v, &unit), 0);
    assert_true (v == u->v && unit == u->unit);
    autostrbuf struct strbuf sb;
    strbuf_init (&sb, 4096);
    assert_int_equal (graph_path (g, v, unit, &sb), 0);
    assert_string_equal (sb.buf, path);
    assert_string_equal (graph_name (g, v, unit, name, sizeof (name)), u->name);
    assert_string_equal (graph_type_name (g, x->type), u->kind);
    assert_string_equal (graph_basename (g, v), u->base);
    assert_string_equal (graph_unit_name (g, v), u->measure ? u->measure : "");
    assert_true (x->id < 0 ? u->id < 0 : x->id + (int64_t)unit == u->id);
    assert_int_equal (x->uniq + unit, u->uniq);
    assert_int_equal (x->size, u->size);
    assert_int_equal (x->rank, u->rank);
    assert_int_equal (x->depth, u->depth);
    assert_int_equal (!!(x->flags & GRAPH_DIVISIBLE), u->divisible);
    const struct unit *first = first_of (&w->m, v);
    bool up = !u->down && !u->drained && (!first->want || unit < first->want);
    assert_int_equal (graph_is_up (g, v, unit), up);
    const uint64_t *busy = x->n > 64 ? x->busy.map : &x->busy.bits;
    assert_int_equal (busy[unit / 64] >> unit % 64 & 1, u->busy);
    size_t nth = 0;
    for (int k = 0; k < KEYS; k++) {
        char key[] = { (char)('a' + k), 0 }, value[] = { u->value[k], 0 };
        const char *is = graph_property (g, v, unit, key), *key_is, *value_is;
        assert_true (is ? strcmp (is, value) == 0 : !u->value[k]);
        if (!is)
            continue;
        assert_true (graph_property_at (g, v, unit, nth++, &key_is, &value_is));
        assert_string_equal (key_is, key);
        assert_string_equal (value_is, value);
    }
    assert_false (graph_property_at (g, v, unit, nth, &(const char *){ NULL },
                                     &(const char *){ NULL }));
}

/* The children of v in the graph are those of the model, in the same order. */
static void check_children (const struct world *w, const struct unit *parent)
{
    const struct model *m = &w->m;
    const struct graph_vertex *x = graph_vertex (w->g, parent->v);
    uint32_t c = x->first, before = GRAPH_NONE;
    int64_t order = -1;
    bool nodes = false;
    for (size_t i = 0; i < m->n; i++) {
        if (m->u[i]->parent != parent || m->u[i]->unit > 0)
            continue;
        assert_int_equal (c, m->u[i]->v);
        const struct graph_vertex *y = graph_vertex (w->g, c);
        assert_true (y->parent == parent->v && y->prev == before && y->order > order);
        order = y->order;
        nodes = nodes || y->type == GRAPH_NODE || (y->flags & GRAPH_UPPER);
        before = c;
        c = y->next;
    }
    assert_int_equal (c, GRAPH_NONE);
    assert_int_equal (x->last, before);
    assert_int_equal (!!(x->flags & GRAPH_UPPER), nodes);
}

static uint32_t node_expected (const struct model *m, const char *name)
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < m->n; i++) {
        const struct unit *u = m->u[i];
        if (strcmp (u->kind, "node") == 0 && strcmp (u->name, name) == 0
            && (!best || u->age < best->age))
            best = u;
    }
    return best ? best->v : GRAPH_NONE;
}

static uint32_t rank_expected (const struct model *m, int32_t rank)
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < m->n; i++) {
        const struct unit *u = m->u[i];
        if (u->rank != rank)
            continue;
        unsigned class = strcmp (u->kind, "node") == 0 ? 0 : u->depth + 1;
        unsigned least = !best                              ? UINT32_MAX
                         : strcmp (best->kind, "node") == 0 ? 0
                                                            : best->depth + 1;
        if (class < least || (class == least && u->age < best->age))
            best = u;
    }
    return best ? best->v : GRAPH_NONE;
}

static void check (const struct world *w)
{
    const struct model *m = &w->m;
    uint64_t cores = 0;
    char name[16];
    for (size_t i = 0; i < m->n; i++) {
        check_unit (w, m->u[i]);
        check_children (w, m->u[i]);
        if (m->u[i]->unit == 0)
            assert_int_equal (graph_vertex (w->g, m->u[i]->v)->n,
                              count_of (m, m->u[i]->v));
        cores += strcmp (m->u[i]->kind, "core") == 0;
    }
    assert_int_equal (graph_unit_count (w->g), m->n);
    assert_int_equal (graph_type_count (w->g, GRAPH_CORE), cores);
    assert_int_equal (graph_type_find (w->g, "straw"), -1);
    for (int32_t r = -1; r < 6; r++)
        assert_int_equal (graph_find_rank (w->g, r),
                          r < 0 ? GRAPH_NONE : rank_expected (m, r));
    for (int i = -1; i < 12; i++) {
        snprintf (name, sizeof (name), i < 0 ? "n" : "node%d", i);
        assert_int_equal (graph_find_node (w->g, name), node_expected (m, name));
    }
}

/* -- changes -- */

static struct unit *any_unit (struct world *w)
{
    return w->m.n ? w->m.u[below (w, (uint32_t)w->m.n)] : NULL;
}

static struct unit *any_parent (struct world *w)
{
    if (w->m.n && below (w, 3) == 0)
        return w->m.u[0]; /* the root gets many children */
    for (int i = 0; w->m.n && i < 20; i++) {
        struct unit *u = any_unit (w);
        if (u->depth < 6)
            return u;
    }
    return NULL;
}

static void any_spec (struct world *w, struct unit *u, uint32_t *ret_count)
{
    static const char *const types[] = { "core", "core", "core1", "node", "socket" };
    static const char *const bases[] = { "core", "core1", "x" };
    *u = (struct unit){ .rank = (int32_t)below (w, 12) - 6, .size = 1, .leaf = true };
    u->rank = u->rank < 0 ? -1 : u->rank;
    snprintf (u->kind, sizeof (u->kind), "%s", types[below (w, 5)]);
    u->base = below (w, 4) ? u->kind : bases[below (w, 3)];
    u->measure = below (w, 6) ? NULL : "GB";
    u->id = (int64_t)below (w, 130) - 1;
    u->size = below (w, 5) ? 1 : 4;
    u->leaf = below (w, 3);
    u->divisible = below (w, 6) == 0;
    u->down = u->all_down = below (w, 9) == 0;
    u->named = below (w, 8) == 0;
    for (int k = 0; k < KEYS; k++)
        u->value[k] = u->all_value[k] = below (w, 6) ? 0 : (char)('v' + below (w, 2));
    u->said = u->named;
    if (u->named)
        snprintf (u->name, sizeof (u->name), "core%u", below (w, 130));
    if (u->named && u->id >= 0 && below (w, 2))
        snprintf (u->name, sizeof (u->name), "%s%d", u->base, (int)u->id);
    bool several = !u->divisible && !u->named && u->id >= 0 && strcmp (u->kind, "node");
    *ret_count = several && below (w, 4) == 0 ? 1 + below (w, 20) : 1;
}

/* Like the last child with the next id, so that it may join the group. */
static void continue_last (struct world *w, const struct unit *last, struct unit *u)
{
    const struct unit *first = first_of (&w->m, last->v);
    *u = *first;
    u->said = false;
    u->base = strcmp (u->base, u->kind) ? u->base : NULL;
    u->id = last->id + 1;
    u->down = first->all_down;
    u->drained = first->all_drained;
    memcpy (u->value, first->all_value, KEYS);
}

static bool joins (const struct world *w, const struct unit *parent, const struct unit *u,
                   int64_t uniq)
{
    const struct unit *last = parent ? last_child (&w->m, parent) : NULL;
    if (!last || !u->leaf || u->named || u->divisible || !strcmp (u->kind, "node"))
        return false;
    const struct unit *x = first_of (&w->m, last->v);
    return x->leaf && !x->named && !x->want && !has_children (&w->m, x) && x->id >= 0
           && !strcmp (x->kind, u->kind) && !strcmp (x->base, u->base)
           && !x->measure == !u->measure && x->size == u->size && x->rank == u->rank
           && x->all_down == u->down && x->all_drained == u->drained && !x->divisible
           && !memcmp (x->all_value, u->value, KEYS) && u->id == last->id + 1
           && uniq == last->uniq + 1;
}

static uint32_t graph_add_unit (struct graph *g, const struct unit *parent,
                                const struct unit *u, uint32_t count, int64_t uniq,
                                struct error *err)
{
    const char *properties[2 * KEYS + 1];
    char texts[KEYS][4];
    size_t n = 0;
    for (int k = KEYS; k-- > 0;) {
        texts[k][0] = (char)('a' + k);
        texts[k][1] = texts[k][3] = 0;
        texts[k][2] = u->value[k];
        if (!u->value[k])
            continue;
        properties[n++] = texts[k];
        properties[n++] = texts[k] + 2;
    }
    properties[n] = NULL;
    struct graph_spec s = { .type = u->kind,
                            .basename = u->base == u->kind ? NULL : u->base,
                            .name = u->said ? u->name : NULL,
                            .unit = u->measure,
                            .id = u->id,
                            .count = count,
                            .size = u->size,
                            .uniq = uniq,
                            .rank = u->rank,
                            .leaf = u->leaf,
                            .properties = properties };
    s.flags = (uint8_t)((u->divisible ? GRAPH_DIVISIBLE : 0) | (u->down ? GRAPH_DOWN : 0)
                        | (u->drained ? GRAPH_DRAINED : 0));
    return graph_add (g, parent ? parent->v : GRAPH_NONE, &s, err);
}

/* The required refusal of the graph: an errno, or 0. */
static int add_refused (const struct world *w, const struct unit *parent,
                        const struct unit *u, uint32_t count)
{
    if (!parent && w->m.n)
        return EEXIST;
    if (!parent && count > 1)
        return EINVAL;
    if (parent && count_of (&w->m, parent->v) > 1)
        return EINVAL;
    for (uint32_t k = 0; k < count; k++) {
        struct unit other = *u;
        other.id += k;
        other.base = u->base == u->kind ? other.kind : u->base;
        model_name (&other);
        if (parent && name_taken (&w->m, parent, other.name))
            return EEXIST;
    }
    return 0;
}

static void do_add (struct world *w)
{
    struct model *m = &w->m;
    struct unit u, *parent = any_parent (w);
    struct unit *last = parent ? last_child (m, parent) : NULL;
    uint32_t count;
    any_spec (w, &u, &count);
    if (last && !last->named && last->id >= 0 && below (w, 2)) {
        continue_last (w, last, &u);
        count = 1;
    }
    if (!u.base || !strcmp (u.base, u.kind))
        u.base = u.kind;
    if (u.named && u.id >= 0) {
        char usual[64];
        snprintf (usual, sizeof (usual), "%s%d", u.base, (int)u.id);
        u.named = strcmp (u.name, usual) != 0;
    }
    if (m->n + count > MOST)
        return;
    int64_t uniq = below (w, 4) ? -1 : m->next_uniq + below (w, 2);
    int64_t number = uniq < 0 ? m->next_uniq : uniq;
    struct error err = { 0 };
    int refused = add_refused (w, parent, &u, count);
    bool join = !refused && joins (w, parent, &u, number);
    uint64_t layout = w->g->layout;
    uint32_t v = graph_add_unit (w->g, parent, &u, count, uniq, &err);
    assert_int_equal (err.code, refused);
    assert_int_equal (v == GRAPH_NONE, refused != 0);
    if (refused) {
        assert_int_equal (w->g->layout, layout);
        return;
    }
    assert_true (w->g->layout > layout);
    m->next_uniq = MAX (m->next_uniq, number + count);
    if (join) {
        assert_int_equal (v, last->v);
        for (uint32_t k = 0; k < count; k++)
            model_grow (m, first_of (m, v), last->unit + 1 + k);
        return;
    }
    if (parent)
        parent->leaf = false;
    struct unit *first = model_append (m, &u);
    first->base = u.base == u.kind ? first->kind : u.base;
    first->v = v;
    first->parent = parent;
    first->depth = parent ? parent->depth + 1 : 0;
    first->age = m->age++;
    first->uniq = number;
    first->unit = first->want = 0;
    first->busy = false;
    first->all_down = u.down;
    first->all_drained = u.drained;
    memcpy (first->all_value, u.value, KEYS);
    first->leaf = u.leaf || count > 1;
    model_name (first);
    for (uint32_t k = 1; k < count; k++)
        model_grow (m, first, k);
}

static bool is_below (const struct unit *u, uint32_t v)
{
    while (u && u->v != v)
        u = u->parent;
    return u != NULL;
}

static void do_remove (struct world *w)
{
    struct model *m = &w->m;
    struct unit *u = any_unit (w);
    if (!u || (u->depth < 2 && below (w, 12)))
        return;
    uint32_t v = u->v;
    bool busy = false;
    for (size_t i = 0; i < m->n; i++)
        busy = busy || (m->u[i]->busy && is_below (m->u[i], v));
    uint64_t layout = w->g->layout;
    assert_int_equal (graph_remove (w->g, v, NULL), busy ? -EBUSY : 0);
    assert_int_equal (w->g->layout > layout, !busy);
    for (size_t i = m->n; i-- > 0 && !busy;) { /* children come after their parents */
        if (is_below (m->u[i], v))
            model_drop (m, i);
    }
}

/* Trailing unwanted units are removed, up to the first busy one. */
static void model_trim (struct model *m, uint32_t v)
{
    struct unit *first = first_of (m, v);
    for (size_t i = m->n; i-- > 0 && first->want;) {
        if (m->u[i]->v != v)
            continue;
        if (m->u[i]->unit < first->want || m->u[i]->busy)
            break;
        model_drop (m, i);
    }
    if (count_of (m, v) <= first->want)
        first->want = 0;
}

static bool can_be_several (const struct world *w, const struct unit *u)
{
    return strcmp (u->kind, "node") && !u->divisible && !u->named && u->id >= 0
           && !has_children (&w->m, u) && u->parent;
}

static void model_regrow (struct model *m, struct unit *first, uint32_t n, uint32_t count)
{
    bool move = first->uniq + n != m->next_uniq;
    if (move)
        first->uniq = m->next_uniq;
    for (uint32_t k = n; k < count; k++)
        model_grow (m, first, k);
    for (size_t i = 0; i < m->n; i++) {
        if (m->u[i]->v == first->v)
            m->u[i]->uniq = first->uniq + m->u[i]->unit;
    }
    m->next_uniq = first->uniq + count;
    first->leaf = true;
    first->want = 0;
}

static void do_resize (struct world *w)
{
    struct model *m = &w->m;
    struct unit *u = any_unit (w), *first = u ? first_of (m, u->v) : NULL;
    if (!first)
        return;
    uint32_t n = count_of (m, first->v);
    uint32_t count = below (w, 3) ? 1 + below (w, n + 20) : 1 + below (w, 140);
    int64_t size = first->divisible ? 1 + below (w, 9) : first->size;
    int expected = 0;
    if (m->n + count > MOST)
        return;
    if (count > 1 && !can_be_several (w, first))
        expected = -EINVAL;
    for (uint32_t k = n; k < count && expected == 0; k++) {
        struct unit other = *first;
        other.id += k;
        model_name (&other);
        if (name_taken (m, first->parent, other.name))
            expected = -EEXIST;
    }
    assert_int_equal (graph_resize (w->g, first->v, count, size, NULL), expected);
    if (expected < 0)
        return;
    first->size = size;
    first->want = count < n ? count : 0;
    if (count > n)
        model_regrow (m, first, n, count);
    else
        model_trim (m, first->v);
}

static void do_book (struct world *w)
{
    struct unit *u = any_unit (w);
    if (!u)
        return;
    struct graph_vertex *x = graph_vertex (w->g, u->v);
    uint64_t *busy = x->n > 64 ? x->busy.map : &x->busy.bits;
    busy[u->unit / 64] ^= UINT64_C (1) << u->unit % 64;
    u->busy = !u->busy;
    x->nclaims += u->busy ? 1 : UINT32_MAX;
    uint32_t v = u->v;
    graph_trim (w->g, v);
    if (first_of (&w->m, v)->want)
        model_trim (&w->m, v);
}

static void do_flag (struct world *w)
{
    struct unit *u = any_unit (w);
    if (!u)
        return;
    bool on = below (w, 2), down = below (w, 2), all = below (w, 4) == 0;
    struct unit *first = first_of (&w->m, u->v);
    bool *group = down ? &first->all_down : &first->all_drained;
    assert_int_equal (graph_set_flag (w->g, u->v, all ? GRAPH_NONE : u->unit,
                                      down ? GRAPH_DOWN : GRAPH_DRAINED, on),
                      0);
    if (all || count_of (&w->m, u->v) == 1 || !on)
        *group = on;
    for (size_t i = 0; i < w->m.n; i++) {
        struct unit *x = w->m.u[i];
        if (x->v == u->v && (all || x == u))
            *(down ? &x->down : &x->drained) = on;
    }
}

static void do_property (struct world *w)
{
    struct unit *u = any_unit (w);
    if (!u)
        return;
    bool all = below (w, 4) == 0 || count_of (&w->m, u->v) == 1;
    uint32_t k = below (w, KEYS);
    char key[] = { (char)('a' + k), 0 }, value[] = { 0, 0 };
    value[0] = below (w, 3) ? (char)('v' + below (w, 2)) : 0;
    const char *was = graph_property (w->g, u->v, u->unit, key);
    bool same = was ? !strcmp (was, value) : !value[0];
    uint64_t layout = w->g->layout;
    assert_int_equal (graph_set_property (w->g, u->v, all ? GRAPH_NONE : u->unit, key,
                                          value[0] ? value : NULL),
                      0);
    assert_true (same || w->g->layout > layout);
    if (all)
        first_of (&w->m, u->v)->all_value[k] = value[0];
    for (size_t i = 0; i < w->m.n; i++) {
        if (w->m.u[i]->v == u->v && (all || w->m.u[i] == u))
            w->m.u[i]->value[k] = value[0];
    }
}

static void step (struct world *w)
{
    static void (*const verbs[]) (struct world *) = {
        do_add,  do_add,  do_add,  do_add,      do_add,      do_remove, do_resize,
        do_book, do_book, do_flag, do_property, do_property, do_resize,
    };
    verbs[below (w, ARRAY_SIZE (verbs))](w);
}

static void stream (uint64_t seed)
{
    static struct world w;
    w = (struct world){ .g = graph_create (), .random = seed };
    for (int i = 0; i < STEPS; i++) {
        step (&w);
        check (&w);
    }
    while (w.m.n > 0)
        model_drop (&w.m, w.m.n - 1);
    graph_destroy (w.g);
}

static void test_random (void **state)
{
    (void)state;
    const char *given = getenv ("FLUXQ_TEST_SEED");
    uint64_t seed = given ? strtoull (given, NULL, 0) : UINT64_C (0x2545f4914f6cdd1d);
    for (int i = 0; i < STREAMS; i++) {
        print_message ("FLUXQ_TEST_SEED=0x%jx\n", (uintmax_t)seed);
        stream (seed);
        seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407u;
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_random) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}

/* graph_names.c - names of vertices, and vertices by name, path or rank
 *
 * The children of a vertex with few children are searched one by one. Those of a vertex
 * with many are in the table `kids`: a single vertex by its name, a group of 2^L ..
 * 2^(L+1) - 1 units by its basename, L, and each number id >> L of its units: three at
 * most. So a name "core17" is looked up as it is, then as number 17 of "core" and 7 of
 * "core1" on each level L that occurs.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

#define FEW 16       /* children that are searched one by one */
#define DIGITS 10    /* of INT32_MAX */
#define GROUP_KEYS 3 /* of one group in the table */

/* -- titles -- */

struct title title_of (const struct graph *g, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    const char *name = text_of (g->p, extra_of (g->p, x->extra)->name);
    const char *text = name ? name : graph_basename (g, v);
    return (struct title){ text, strlen (text), name ? -1 : x->id, x->n };
}

/* Returns the number in s: only digits, not too many; -1: not a number. */
static int64_t number_of (const char *s, size_t len)
{
    if (len < 1 || len > DIGITS || (len > 1 && s[0] == '0'))
        return -1;
    int64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        n = 10 * n + (s[i] - '0');
    }
    return n;
}

/* True if one of the units has that name. */
static bool title_has (const struct title *t, const char *name, size_t len,
                       uint32_t *ret_unit)
{
    *ret_unit = 0;
    if (t->id < 0)
        return len == t->len && memcmp (name, t->text, len) == 0;
    if (len <= t->len || memcmp (name, t->text, t->len) != 0)
        return false;
    int64_t unit = number_of (name + t->len, len - t->len) - t->id;
    if (unit < 0 || unit >= t->n)
        return false;
    *ret_unit = (uint32_t)unit;
    return true;
}

static bool overlap (int64_t a_first, int64_t a_last, int64_t b_first, int64_t b_last)
{
    return a_first <= b_last && b_first <= a_last;
}

/* True if some units of a and b have equal names. */
static bool titles_clash (const struct title *a, const struct title *b)
{
    uint32_t unit;
    if (a->len > b->len) {
        const struct title *swap = a;
        a = b;
        b = swap;
    }
    if (memcmp (a->text, b->text, a->len) != 0)
        return false;
    if (b->id < 0)
        return title_has (a, b->text, b->len, &unit);
    if (a->id < 0)
        return title_has (b, a->text, a->len, &unit);
    int64_t a_last = a->id + a->n - 1, b_last = b->id + b->n - 1;
    if (a->len == b->len)
        return overlap (a->id, a_last, b->id, b_last);
    /* "core" with 17 and "core1" with 7: by the number of digits of the second */
    int64_t front = number_of (b->text + a->len, b->len - a->len);
    for (int64_t low = 0, ten = 10; front > 0 && front * ten <= INT32_MAX;
         low = ten, ten *= 10) {
        int64_t first = MAX (low, b->id), last = MIN (ten - 1, b_last);
        if (first <= last
            && overlap (a->id, a_last, front * ten + first, front * ten + last))
            return true;
    }
    return false;
}

/* -- the table of children -- */

static uint32_t name_key (const struct graph_private *p, uint32_t parent,
                          const char *name, size_t len)
{
    return graph_hash_numbers (p->seed, parent, graph_hash (p->seed, name, len));
}

static uint32_t group_key (const struct graph_private *p, uint32_t parent,
                           const char *text, size_t len, unsigned level, int64_t number)
{
    uint64_t who = (uint64_t)parent << 32 | graph_hash (p->seed, text, len);
    return graph_hash_numbers (p->seed + 1, who,
                               (uint64_t)level << 32 | (uint64_t)number);
}

/* Computes the keys of v in the table; returns their number. */
static unsigned kid_keys (const struct graph *g, uint32_t v, uint32_t keys[GROUP_KEYS],
                          unsigned *ret_level)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    *ret_level = 0;
    if (x->n == 1) {
        char name[GRAPH_NAME_SIZE];
        graph_name (g, v, 0, name, sizeof (name));
        keys[0] = name_key (g->p, x->parent, name, strlen (name));
        return 1;
    }
    struct title t = title_of (g, v);
    unsigned n = 0, level = 31u - (unsigned)__builtin_clz (x->n);
    for (int64_t i = t.id >> level; i <= (t.id + t.n - 1) >> level; i++)
        keys[n++] = group_key (g->p, x->parent, t.text, t.len, level, i);
    *ret_level = level;
    return n;
}

static bool parent_is_indexed (const struct graph *g, uint32_t v)
{
    uint32_t parent = graph_vertex (g, v)->parent;
    return parent != GRAPH_NONE && (graph_vertex (g, parent)->flags & GRAPH_OWN_INDEX);
}

int names_reserve_group (struct graph *g)
{
    return table_reserve (&g->p->kids, GROUP_KEYS);
}

void names_list (struct graph *g, uint32_t v)
{
    if (!parent_is_indexed (g, v))
        return;
    uint32_t keys[GROUP_KEYS];
    unsigned level, n = kid_keys (g, v, keys, &level);
    for (unsigned i = 0; i < n; i++)
        table_add (&g->p->kids, keys[i], v);
    if (level > 0)
        g->p->kid_levels |= 1u << level;
}

void names_unlist (struct graph *g, uint32_t v)
{
    if (!parent_is_indexed (g, v))
        return;
    uint32_t keys[GROUP_KEYS];
    unsigned level, n = kid_keys (g, v, keys, &level);
    for (unsigned i = 0; i < n; i++)
        table_replace (&g->p->kids, keys[i], v, GRAPH_NONE);
}

static uint32_t kid_with_key (const struct graph *g, uint32_t parent, uint32_t key,
                              const char *name, size_t len, uint32_t *ret_unit)
{
    uint32_t c;
    for (size_t at = SIZE_MAX; (c = table_next (&g->p->kids, key, &at)) != GRAPH_NONE;) {
        if (graph_vertex (g, c)->parent != parent)
            continue;
        struct title t = title_of (g, c);
        if (title_has (&t, name, len, ret_unit))
            return c;
    }
    return GRAPH_NONE;
}

static uint32_t kid_find (const struct graph *g, uint32_t parent, const char *name,
                          size_t len, uint32_t *ret_unit)
{
    const struct graph_private *p = g->p;
    uint32_t c =
        kid_with_key (g, parent, name_key (p, parent, name, len), name, len, ret_unit);
    for (size_t cut = len - 1; c == GRAPH_NONE && p->kid_levels && cut > 0; cut--) {
        int64_t number = number_of (name + cut, len - cut);
        if (name[cut] < '0' || name[cut] > '9' || len - cut > DIGITS)
            break;
        for (uint32_t left = number < 0 ? 0 : p->kid_levels; left && c == GRAPH_NONE;
             left &= left - 1) {
            unsigned level = (unsigned)__builtin_ctz (left);
            uint32_t key = group_key (p, parent, name, cut, level, number >> level);
            c = kid_with_key (g, parent, key, name, len, ret_unit);
        }
    }
    return c;
}

static uint32_t child_find (const struct graph *g, uint32_t parent, const char *name,
                            size_t len, uint32_t *ret_unit)
{
    if (len < 1)
        return GRAPH_NONE;
    if (graph_vertex (g, parent)->flags & GRAPH_OWN_INDEX)
        return kid_find (g, parent, name, len, ret_unit);
    GRAPH_CHILDREN (g, parent, c)
    {
        struct title t = title_of (g, c);
        if (title_has (&t, name, len, ret_unit))
            return c;
    }
    return GRAPH_NONE;
}

/* "core", 17 -> "core17", cut to size. */
static size_t name_put (char *buf, size_t size, const char *text, size_t len,
                        int64_t number)
{
    char digits[20];
    size_t n = 0, at = 0;
    for (int64_t left = number; number >= 0 && (n == 0 || left > 0); left /= 10)
        digits[n++] = (char)('0' + left % 10);
    while (at < len && at + 1 < size) {
        buf[at] = text[at];
        at++;
    }
    while (n > 0 && at + 1 < size)
        buf[at++] = digits[--n];
    if (size > 0)
        buf[at] = 0;
    return at;
}

uint32_t names_clash (const struct graph *g, uint32_t parent, const struct title *t)
{
    char name[GRAPH_NAME_SIZE];
    uint32_t c = graph_vertex (g, parent)->first, unit;
    bool indexed = graph_vertex (g, parent)->flags & GRAPH_OWN_INDEX;
    /* search the children while they are fewer than the names */
    for (uint32_t i = 0; c != GRAPH_NONE && !(indexed && i >= t->n); i++) {
        struct title other = title_of (g, c);
        if (titles_clash (&other, t))
            return c;
        c = graph_vertex (g, c)->next;
    }
    if (c == GRAPH_NONE)
        return GRAPH_NONE;
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t id = t->id < 0 ? -1 : t->id + i;
        size_t len = name_put (name, sizeof (name), t->text, t->len, id);
        uint32_t found = kid_find (g, parent, name, len, &unit);
        if (found != GRAPH_NONE)
            return found;
    }
    return GRAPH_NONE;
}

/* -- nodes and ranks -- */

static uint32_t node_key (const struct graph_private *p, const char *name)
{
    return graph_hash (p->seed + 2, name, strlen (name));
}

static uint32_t node_head (const struct graph *g, const char *name)
{
    uint32_t v, unit, key = node_key (g->p, name);
    size_t len = strlen (name);
    for (size_t at = SIZE_MAX;
         (v = table_next (&g->p->nodes.heads, key, &at)) != GRAPH_NONE;) {
        struct title t = title_of (g, v);
        if (title_has (&t, name, len, &unit))
            return v;
    }
    return GRAPH_NONE;
}

/* Vertices of one rank are in classes: nodes first, then the outermost. */
static unsigned rank_class (uint16_t type, unsigned depth)
{
    return type == GRAPH_NODE ? 0 : depth + 1;
}

static uint32_t rank_key (const struct graph_private *p, int32_t rank, unsigned class)
{
    return graph_hash_numbers (p->seed + 3, (uint64_t)rank, class);
}

static uint32_t rank_head (const struct graph *g, int32_t rank, unsigned class)
{
    uint32_t v;
    for (size_t at = SIZE_MAX;
         (v = table_next (&g->p->ranks.heads, rank_key (g->p, rank, class), &at))
         != GRAPH_NONE;) {
        const struct graph_vertex *x = graph_vertex (g, v);
        if (x->rank == rank && rank_class (x->type, x->depth) == class)
            return v;
    }
    return GRAPH_NONE;
}

/* Except for nodes, a vertex whose parent has the same rank is never the answer. */
static bool rank_counts (const struct graph *g, uint32_t parent, uint16_t type,
                         int32_t rank)
{
    return rank >= 0
           && (type == GRAPH_NODE || parent == GRAPH_NONE
               || graph_vertex (g, parent)->rank != rank);
}

/* -- enter and take out -- */

/* True if parent has n children or more. `order` is never less than the position. */
static bool has_children (const struct graph *g, uint32_t parent, uint32_t n)
{
    const struct graph_vertex *x = graph_vertex (g, parent);
    uint32_t c = x->first;
    if (x->last == GRAPH_NONE || graph_vertex (g, x->last)->order + 1 < n)
        return false;
    for (; c != GRAPH_NONE && n > 0; n--)
        c = graph_vertex (g, c)->next;
    return n == 0;
}

int names_reserve_child (struct graph *g, uint32_t parent)
{
    size_t kids = GROUP_KEYS;
    if (parent != GRAPH_NONE && !(graph_vertex (g, parent)->flags & GRAPH_OWN_INDEX)
        && has_children (g, parent, FEW))
        kids *= FEW + 1;
    return table_reserve (&g->p->kids, kids);
}

void names_add_child (struct graph *g, uint32_t v)
{
    uint32_t parent = graph_vertex (g, v)->parent;
    if (parent == GRAPH_NONE)
        return;
    if (graph_vertex (g, parent)->flags & GRAPH_OWN_INDEX) {
        names_list (g, v);
    } else if (has_children (g, parent, FEW + 1)) {
        graph_vertex (g, parent)->flags |= GRAPH_OWN_INDEX;
        GRAPH_CHILDREN (g, parent, c)
        {
            names_list (g, c);
        }
    }
}

int names_reserve (struct graph *g, uint32_t parent, const struct title *t, uint16_t type,
                   int32_t rank)
{
    struct graph_private *p = g->p;
    unsigned depth = parent == GRAPH_NONE ? 0 : graph_vertex (g, parent)->depth + 1u;
    if (names_reserve_child (g, parent) < 0)
        return -ENOMEM;
    if (type == GRAPH_NODE) {
        char name[GRAPH_NAME_SIZE];
        name_put (name, sizeof (name), t->text, t->len, t->id);
        if (roster_reserve (&p->nodes, g->alloc, node_head (g, name) != GRAPH_NONE) < 0)
            return -ENOMEM;
    }
    if (!rank_counts (g, parent, type, rank))
        return 0;
    return roster_reserve (&p->ranks, g->alloc,
                           rank_head (g, rank, rank_class (type, depth)) != GRAPH_NONE);
}

void names_add (struct graph *g, uint32_t v)
{
    struct graph_private *p = g->p;
    const struct graph_vertex *x = graph_vertex (g, v);
    names_add_child (g, v);
    if (x->type == GRAPH_NODE) {
        char name[GRAPH_NAME_SIZE];
        graph_name (g, v, 0, name, sizeof (name));
        roster_add (&p->nodes, node_key (p, name), node_head (g, name), v);
    }
    if (!rank_counts (g, x->parent, x->type, x->rank))
        return;
    unsigned class = rank_class (x->type, x->depth);
    roster_add (&p->ranks, rank_key (p, x->rank, class), rank_head (g, x->rank, class),
                v);
}

void names_remove (struct graph *g, uint32_t v)
{
    struct graph_private *p = g->p;
    const struct graph_vertex *x = graph_vertex (g, v);
    names_unlist (g, v);
    if (x->type == GRAPH_NODE) {
        char name[GRAPH_NAME_SIZE];
        graph_name (g, v, 0, name, sizeof (name));
        roster_remove (&p->nodes, node_key (p, name), v);
    }
    if (rank_counts (g, x->parent, x->type, x->rank)) {
        unsigned class = rank_class (x->type, x->depth);
        roster_remove (&p->ranks, rank_key (p, x->rank, class), v);
    }
}

/* -- public functions -- */

const char *graph_basename (const struct graph *g, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    const char *basename = text_of (g->p, extra_of (g->p, x->extra)->basename);
    return basename ? basename : graph_type_name (g, x->type);
}

const char *graph_unit_name (const struct graph *g, uint32_t v)
{
    const char *unit = text_of (g->p, extra_of (g->p, graph_vertex (g, v)->extra)->unit);
    return unit ? unit : "";
}

const char *graph_name (const struct graph *g, uint32_t v, uint32_t unit, char *buf,
                        size_t size)
{
    struct title t = title_of (g, v);
    name_put (buf, size, t.text, t.len, t.id < 0 ? -1 : t.id + unit);
    return buf;
}

int graph_path (const struct graph *g, uint32_t v, uint32_t unit, struct strbuf *sb)
{
    uint32_t way[GRAPH_DEPTH_MAX];
    size_t n = 0;
    for (uint32_t u = v; u != GRAPH_NONE; u = graph_vertex (g, u)->parent)
        way[n++] = u;
    while (n-- > 0) {
        char name[GRAPH_NAME_SIZE];
        graph_name (g, way[n], n == 0 ? unit : 0, name, sizeof (name));
        strbuf_addch (sb, '/');
        if (strbuf_adds (sb, name) < 0)
            return sb->err;
    }
    return 0;
}

const char *names_path (const struct graph *g, uint32_t v, struct strbuf *sb)
{
    strbuf_init (sb, GRAPH_PATH_MAX);
    return graph_path (g, v, 0, sb) < 0 ? graph_basename (g, v) : sb->buf;
}

int graph_find_path (const struct graph *g, const char *path, uint32_t *ret_v,
                     uint32_t *ret_unit)
{
    uint32_t v = GRAPH_NONE, unit = 0;
    const char *s = path;
    do {
        if (*s++ != '/')
            return -ENOENT;
        size_t len = strcspn (s, "/");
        if (v == GRAPH_NONE && g->root != GRAPH_NONE) {
            struct title t = title_of (g, g->root);
            v = title_has (&t, s, len, &unit) ? g->root : GRAPH_NONE;
        } else if (v != GRAPH_NONE) {
            v = child_find (g, v, s, len, &unit);
        }
        if (v == GRAPH_NONE)
            return -ENOENT;
        s += len;
    } while (*s);
    *ret_v = v;
    *ret_unit = unit;
    return 0;
}

uint32_t graph_find_rank (const struct graph *g, int32_t rank)
{
    for (unsigned class = 0; rank >= 0 && class <= GRAPH_DEPTH_MAX; class ++) {
        uint32_t v = rank_head (g, rank, class);
        if (v != GRAPH_NONE)
            return v;
    }
    return GRAPH_NONE;
}

uint32_t graph_find_node (const struct graph *g, const char *name)
{
    return node_head (g, name);
}

uint32_t graph_node_of (const struct graph *g, uint32_t v)
{
    while (v != GRAPH_NONE && graph_vertex (g, v)->type != GRAPH_NODE)
        v = graph_vertex (g, v)->parent;
    return v;
}

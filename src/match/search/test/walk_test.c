/* walk_test.c - see walk_test.h */
#include "match/search/test/walk_test.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPES 16

/* -- texts -- */

static bool has (const char **p, char c)
{
    bool found = **p == c;

    *p += found;
    return found;
}

static int64_t number (const char **p)
{
    char *end;
    int64_t n = strtoll (*p, &end, 10);

    if (end == *p)
        fail_msg ("a number is expected at '%s'", *p);
    *p = end;
    return n;
}

static char *word (const char **p)
{
    size_t len = 0;

    while (isalpha ((unsigned char)(*p)[len]) || (*p)[len] == '_')
        len++;
    if (len == 0)
        fail_msg ("a word is expected at '%s'", *p);
    *p += len;
    return strndup (*p - len, len);
}

/* -- machines -- */

struct ids { /* the next id of each type */
    char *type[TYPES];
    int64_t next[TYPES];
    int n;
};

struct builder {
    struct graph *g;
    struct ids all, in_node;
    int32_t rank;
};

static int64_t *id_of (struct ids *ids, const char *type)
{
    for (int i = 0; i < ids->n; i++)
        if (strcmp (ids->type[i], type) == 0)
            return &ids->next[i];
    if (ids->n == TYPES)
        fail_msg ("more than %d types", TYPES);
    ids->type[ids->n] = strdup (type);
    return &ids->next[ids->n++];
}

static void ids_drop (struct ids *ids)
{
    for (int i = 0; i < ids->n; i++)
        free (ids->type[i]);
    *ids = (struct ids){ 0 };
}

static const char *add_items (struct builder *b, uint32_t parent, const char *p,
                              bool in_node);

static const char *add_item (struct builder *b, uint32_t parent, const char *p,
                             bool in_node)
{
    char *type = word (&p);
    int64_t n = has (&p, '*') ? number (&p) : 1;
    bool divisible = *p == '/', node = strcmp (type, "node") == 0;
    int64_t size = has (&p, ':') || has (&p, '/') ? number (&p) : 1;
    int64_t *id = id_of (in_node ? &b->in_node : &b->all, type);
    const char *below = p, *end = p;
    bool leaf = *p != '>';
    struct error err;

    for (int64_t i = 0; i < (leaf ? 1 : n); i++) {
        struct graph_spec spec = { .type = type,
                                   .id = *id,
                                   .count = leaf ? (uint32_t)n : 1,
                                   .size = size,
                                   .uniq = -1,
                                   .rank = node ? b->rank++ : -1,
                                   .flags = divisible ? GRAPH_DIVISIBLE : 0 };
        *id += leaf ? n : 1;
        if (leaf && node && n > 1)
            fail_msg ("nodes are not a group: node*1");
        uint32_t v = graph_add (b->g, parent, &spec, &err);
        if (v == GRAPH_NONE)
            fail_msg ("%s: %s", type, err.text);
        if (node)
            ids_drop (&b->in_node);
        if (!leaf)
            end = add_items (b, v, below + 1, in_node || node);
    }
    free (type);
    return end;
}

static const char *add_items (struct builder *b, uint32_t parent, const char *p,
                              bool in_node)
{
    bool list = has (&p, '(');

    do
        p = add_item (b, parent, p, in_node);
    while (list && has (&p, ','));
    if (list && !has (&p, ')'))
        fail_msg (") is expected at '%s'", p);
    return p;
}

struct rig rig_make_with (const char *machine, const char *policy,
                          const struct planner_options *opt)
{
    struct match_policy parsed;
    struct error err = { 0 };
    struct builder b = { .g = graph_create () };
    const char *end = add_items (&b, GRAPH_NONE, machine, false);

    if (*end)
        fail_msg ("unexpected text '%s'", end);
    ids_drop (&b.all);
    ids_drop (&b.in_node);
    if (match_policy_parse (policy, &parsed, &err) < 0)
        fail_msg ("%s", err.text);
    return (struct rig){ .g = b.g, .p = planner_create (b.g, &parsed, opt) };
}

struct rig rig_make (const char *machine, const char *policy)
{
    return rig_make_with (machine, policy, &(struct planner_options){ 0 });
}

void rig_drop (struct rig *r)
{
    struct error err = { 0 };

    if (planner_verify (r->p, &err) < 0)
        fail_msg ("%s", err.text);
    planner_destroy (r->p);
    graph_destroy (r->g);
    json_decref (r->constraint);
}

void rig_find (const struct rig *r, const char *path, uint32_t *ret_v, uint32_t *ret_unit)
{
    char full[256], root[64];

    graph_name (r->g, r->g->root, 0, root, sizeof (root));
    snprintf (full, sizeof (full), "/%s/%s", root, path);
    if (graph_find_path (r->g, full, ret_v, ret_unit) < 0)
        fail_msg ("there is no %s", full);
}

static uint32_t find_all (const struct rig *r, const char *path, uint32_t *ret_unit)
{
    uint32_t v;

    rig_find (r, path, &v, ret_unit);
    return v;
}

void rig_flag (struct rig *r, const char *path, uint8_t flag, bool on)
{
    uint32_t unit, v = find_all (r, path, &unit);

    assert_int_equal (graph_set_flag (r->g, v, unit, flag, on), 0);
    planner_changed (r->p, v);
}

void rig_property (struct rig *r, const char *path, const char *key, const char *value)
{
    uint32_t unit, v = find_all (r, path, &unit);

    assert_int_equal (graph_set_property (r->g, v, unit, key, value), 0);
    planner_changed (r->p, v);
}

void rig_constraint (struct rig *r, const char *json)
{
    json_decref (r->constraint);
    r->constraint = json ? json_loads (json, 0, NULL) : NULL;
    assert_true (!json || r->constraint);
}

/* -- requests -- */

static void read_count (const char **p, struct jobspec_resource *v)
{
    char set[64];
    size_t len;

    v->count = (struct jobspec_count){ .op = '+', .operand = 1 };
    if (has (p, '{')) {
        len = strcspn (*p, "}");
        snprintf (set, sizeof (set), "%.*s", (int)len, *p);
        *p += len + 1;
        v->sizes = idset_decode (set, SIZE_MAX, NULL);
        assert_non_null (v->sizes);
        v->count.min = idset_first (v->sizes);
        IDSET_FOREACH (v->sizes, id)
        {
            v->count.max = id;
        }
        return;
    }
    v->count.min = v->count.max = number (p);
    if (has (p, '-'))
        v->count.max = number (p);
    if (has (p, '*')) {
        v->count.op = '*';
        v->count.operand = number (p);
    }
}

static struct jobspec_resource read_vertex (const char **p)
{
    struct jobspec_resource v = { .exclusive = JOBSPEC_UNSET, .type = word (p) };

    if (!has (p, '='))
        fail_msg ("= is expected at '%s'", *p);
    read_count (p, &v);
    if (has (p, '!'))
        v.exclusive = JOBSPEC_TRUE;
    if (has (p, '?')) {
        char *property = word (p);
        v.requires = json_pack ("{s:[s]}", "properties", property);
        free (property);
    }
    if (!has (p, '>'))
        return v;
    bool list = has (p, '(');
    do {
        v.with = realloc (v.with, (v.nwith + 1) * sizeof (*v.with));
        v.with[v.nwith++] = read_vertex (p);
    } while (list && has (p, ','));
    if (list && !has (p, ')'))
        fail_msg (") is expected at '%s'", *p);
    return v;
}

static void release_vertex (struct jobspec_resource *v)
{
    for (size_t i = 0; i < v->nwith; i++)
        release_vertex (&v->with[i]);
    free (v->with);
    free (v->type);
    idset_destroy (v->sizes);
    json_decref (v->requires);
}

struct shape *rig_shape (const struct rig *r, const char *request)
{
    struct jobspec_resource top[80];
    struct error err = { 0 };
    const char *p = request;
    size_t n = 0;

    do
        top[n++] = read_vertex (&p);
    while (has (&p, ',') && n < 80);
    if (*p)
        fail_msg ("unexpected text '%s'", p);
    struct shape *s = shape_compile (top, n, r->constraint, r->flags, &err);
    for (size_t i = 0; i < n; i++)
        release_vertex (&top[i]);
    if (!s)
        fail_msg ("%s", err.text);
    s->node_memory = r->node_memory;
    return s;
}

int rig_ask (struct rig *r, enum search_op op, const char *request,
             struct selection **ret, struct error *why)
{
    struct shape *s = rig_shape (r, request);
    int rc = search_match (r->p, op, ++r->job, s, r->now, 10, ret, why);
    struct error err = { 0 };

    shape_destroy (s);
    if (planner_verify (r->p, &err) < 0)
        fail_msg ("%s", err.text);
    return rc;
}

/* -- answers -- */

static void tell_pick (const struct rig *r, const struct pick *p, struct strbuf *sb)
{
    const struct graph_vertex *x = graph_vertex (r->g, p->v);
    char name[256];

    strbuf_adds (sb, graph_name (r->g, p->v, p->unit, name, sizeof (name)));
    if (p->count > 1)
        strbuf_addf (sb, "-%" PRId64, x->id + (int64_t)p->unit + p->count - 1);
    if (x->flags & GRAPH_DIVISIBLE)
        strbuf_addf (sb, "=%" PRId64, p->amount);
}

void rig_tell (const struct rig *r, const struct selection *s, char *buf, size_t size)
{
    uint32_t last = GRAPH_NONE;
    struct strbuf sb;
    char name[256];

    strbuf_init (&sb, 4096);
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        uint32_t node = graph_node_of (r->g, p->v);
        if (!p->claimed)
            continue;
        if (node != GRAPH_NONE && node == last) {
            strbuf_addch (&sb, ',');
        } else {
            strbuf_adds (&sb, sb.len > 0 ? " " : "");
            if (node != GRAPH_NONE && node != p->v)
                strbuf_addf (&sb, "%s:", graph_name (r->g, node, 0, name, sizeof (name)));
        }
        tell_pick (r, p, &sb);
        last = node;
    }
    snprintf (buf, size, "%s", sb.buf);
    strbuf_release (&sb);
}

void rig_expect (struct rig *r, enum search_op op, const char *request,
                 const char *answer, const char *file, int line)
{
    autoselection struct selection *s = NULL;
    char text[4096] = "";
    struct error why = { 0 };
    int rc = rig_ask (r, op, request, &s, &why);

    if (rc < 0)
        snprintf (text, sizeof (text), "%s", why.text);
    else if (s && s->start > r->now)
        snprintf (text, sizeof (text), "at %" PRId64 ": ", s->start);
    if (rc == 0 && s)
        rig_tell (r, s, text + strlen (text), sizeof (text) - strlen (text));
    if (strcmp (text, answer) == 0)
        return;
    print_error ("%s\n  is:     %s\n  wanted: %s\n", request, text, answer);
    _fail (file, line);
}
